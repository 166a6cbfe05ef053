# Copyright 2026 The robot_identification authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""
Program that converts a table of an Excel workbook to CSV: python excel_to_csv.py IN OUT LIMIT.

The first line is the first row with two or more cells, the names of the columns. A workbook of
more than LIMIT bytes uncompressed is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
import csv
import datetime
from itertools import chain, islice
import re
from typing import Any
import zipfile

from openpyxl import load_workbook
from robot_identification.log_formats.program import run_program

_TITLES = 50    # largest number of rows before the names of the columns


def cell_text(value: Any) -> str:
    """Return a cell as text without separators; dates as 2026-05-03 12:00:00.1."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(' ')
    if isinstance(value, datetime.timedelta):
        return repr(value.total_seconds())
    return '' if value is None else re.sub(r'[\s,"]+', ' ', str(value)).strip()


def rows_of(sheet: Any) -> Iterator[list[str]]:
    """Yield the rows of a sheet from the names of its columns on; none without a table."""
    rows = ([cell_text(value) for value in row] for row in sheet.iter_rows(values_only=True))
    for row in islice(rows, _TITLES):
        if sum(map(bool, row)) > 1:
            width = max(k + 1 for k, cell in enumerate(row) if cell)
            first = next((k for k, cell in enumerate(row) if cell), 0)
            yield from ((line + [''] * width)[first:width] for line in chain([row], rows))
            return


def main(source: str, target: str, limit: int) -> int | None:
    """Convert a workbook, or return its size if it is too large."""
    with zipfile.ZipFile(source) as archive:
        size = sum(info.file_size for info in archive.infolist())
    if size > limit:
        return size
    book = load_workbook(source, read_only=True, data_only=True)
    for sheet in book.worksheets:
        count = 0
        with open(target, 'w', newline='', encoding='utf-8') as file:
            writer = csv.writer(file, lineterminator='\n')
            for count, row in enumerate(rows_of(sheet), 1):    # noqa: B007 (used below)
                writer.writerow(row)
        if count > 1:
            return None
    raise ValueError('none of its sheets has a row of column names and rows below it')


if __name__ == '__main__':
    run_program(main)
