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
"""Recognises text files that are not one line of names and a line of numbers per sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from robot_identification.errors import RecordingError
from robot_identification.files import HEAD
from robot_identification.log_formats.dates import DatedCsv, is_moment
from robot_identification.log_formats.echo_text import (
    echo_csv_source,
    echo_text_source,
    is_echo_text,
)
from robot_identification.log_formats.long_table import key_columns, long_source
from robot_identification.log_formats.numbered_columns import headerless_source
from robot_identification.recording.column_source import ColumnSource
from robot_identification.recording.csv_file import CsvSource
from robot_identification.recording.load import READERS


def text_layout(path: Path) -> Callable[[Path], ColumnSource] | None:
    """
    Return the function that reads a text file of an unusual layout; None for other files.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        The layout is ambiguous.

    """
    with path.open('rb') as file:
        raw = file.read(HEAD)
    try:
        head = raw.decode('utf-8-sig', 'strict' if len(raw) < HEAD else 'ignore')
    except UnicodeDecodeError:
        return None
    if '\0' in head or not head.strip() or head.lstrip().startswith('<'):    # a URDF or page
        return None
    if is_echo_text(head):
        return echo_text_source
    lines = head.splitlines()[:-1 if len(raw) == HEAD else None]
    source = _without_names(path, lines) or _with_names(path)
    if source is None and path.suffix.lower() not in READERS:
        source = CsvSource(path)    # such as .dat or .log
        source = source if len(source.names) > 2 else None
    return None if source is None else lambda path: source


def _without_names(path: Path, lines: list[str]) -> ColumnSource | None:
    """Return the columns of a file whose first line has values; None for other files."""
    return (echo_csv_source(path, lines) or headerless_source(path, lines[0])) if lines else None


def _with_names(path: Path) -> ColumnSource | None:
    """Return the columns of a file with dates, quotation marks or long lines; None for others."""
    try:
        table = CsvSource(path)
    except RecordingError:
        return None
    first = next(table.line_blocks(), b'').split(b'\n')[0].decode('utf-8', 'replace')
    cells = [cell.strip(' "\r') for cell in first.split(table.delimiter)]
    moments = [k for k, cell in enumerate(cells) if is_moment(cell) and (
        ':' in cell or not cell.replace('.', '', 1).isdigit())]
    if len(cells) == len(table.names) and (moments or '"' in first):
        table = DatedCsv(path, moments)
    keys = key_columns(table)
    if keys:
        return long_source(table, keys)
    return table if isinstance(table, DatedCsv) else None
