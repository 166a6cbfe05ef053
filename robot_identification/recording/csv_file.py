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
"""Columns of CSV files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
import csv
from functools import partial
from itertools import islice
from pathlib import Path
import re
from typing import IO

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.files import encoding_of, regular_size
from robot_identification.yaml_file import truncated_repr

DELIMITERS = ',;\t'
SIZE = 4_000_000_000    # bytes: four hours of seven joints at 1 kHz
_LINES = 50_000    # lines parsed at once where pyarrow does not read the file
_BYTES = 1 << 18    # bytes parsed at once by pyarrow, which reads up to 32 such blocks ahead
LINE = 1_000_000    # largest number of bytes in a line
COLUMNS = 10_000
_COMMENTS = 100    # largest number of comment lines before the header
_COMMAS = 'has decimal commas, which are read as points'


class CsvSource:
    """
    The columns of a CSV file, read on request.

    The file has a header line with the columns t, q_<joint>, and v_<joint>, tau_<joint>,
    current_<joint> as far as recorded, or names from the block `recording`; separated by commas,
    semicolons, tabs or spaces. Decimal commas are read where no comma separates.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        The file cannot be read, or has no header.

    """

    kind = 'column'

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self.label = f"the recording '{path}'"
        self.remarks: list[str] = []
        size = regular_size(self._path, 'recording', RecordingError)
        if size > SIZE:
            raise RecordingError(f'{self.label} has {size / 1e6:.0f} MB, more than the '
                                 f'{SIZE / 1e6:.0f} MB that are read; split it, or write it as '
                                 'NPZ')
        self.names: Sequence[str]
        try:
            with self._path.open('rb') as file:
                raw, self._head = _names_line(file)
                self.names, self._delimiter = _header(raw, self.label)
                after = _cells(file.readline(LINE + 1), self._delimiter)
        except OSError as error:
            raise RecordingError(f'{self.label} cannot be read: {error.strerror}') from error
        self._unit_remark: list[str] = []
        if len(after) == len(self.names) and not any(map(_like_number, after)):
            self._head += 1
            self._unit_remark = [f'{self.label}, line {self._head} holds no numbers (units?) and '
                                 f'is left out: {truncated_repr(", ".join(after[:3]))} ...']

    def blocks(self, columns: Sequence[str]) -> Iterator[Array]:
        """
        Yield consecutive rows of columns, (N, len(columns)); the first is that of the stamps.

        Lines in which all other columns are blank belong to other topics and are left out. pyarrow
        parses the file where it is installed; from a line that it refuses on, NumPy does, and
        where NumPy refuses a block, every cell is checked. All three give the same bits.

        Raises
        ------
        RecordingError
            A cell is not a number, or a line has not as many cells as the header.

        """
        at = [self.names.index(name) for name in columns]
        readers: list[Callable[[], Iterator[Array]]] = [
            partial(self._arrow_blocks, at, point)
            for point in (('.',) if self._delimiter == ',' else ('.', ','))]
        readers.append(partial(self._text_blocks, at))
        done = 0    # rows that were yielded
        for read in readers:
            self.remarks = list(self._unit_remark)
            known = done
            try:
                for block in read():
                    new, known = block[known:], max(0, known - len(block))
                    done += len(new)
                    yield new
            except ValueError as error:
                refusal = error
                continue
            if done:
                return
        raise RecordingError(f'{self.label} is not a table of numbers') from refusal

    def _arrow_blocks(self, at: Sequence[int], point: str) -> Iterator[Array]:
        """Yield blocks by pyarrow; nothing where it is not installed or blanks separate."""
        try:
            from pyarrow import ArrowException, float64
            import pyarrow.csv as arrow
        except ImportError:
            return
        if self._delimiter == ' ':
            return
        names, chosen = [str(k) for k in range(len(self.names))], [str(k) for k in at]
        if point == ',':
            self.remarks.append(f'{self.label} {_COMMAS}')
        try:
            with self._path.open('rb') as file:
                self._skip_head(file)
                with arrow.open_csv(
                        file, arrow.ReadOptions(column_names=names, block_size=_BYTES),
                        arrow.ParseOptions(delimiter=self._delimiter, quote_char=False),
                        arrow.ConvertOptions(column_types=dict.fromkeys(chosen, float64()),
                                             include_columns=chosen, null_values=[],
                                             decimal_point=point)) as reader:
                    for batch in reader:
                        yield np.column_stack([batch.column(k) for k in range(len(at))])
        except (ArrowException, OSError) as error:
            raise ValueError(str(error)) from error

    def _text_blocks(self, at: Sequence[int]) -> Iterator[Array]:
        """Yield blocks parsed by NumPy; check every cell of the blocks that it refuses."""
        left_out: list[int] = []
        marks: set[str] = set()
        lines = self._lines()
        block = list(islice(lines, _LINES))
        if not block:
            raise RecordingError(f'{self.label} has a header and no samples')
        while block:
            try:
                yield np.loadtxt((line for _, line in block), usecols=at, ndmin=2, comments=None,
                                 delimiter=None if self._delimiter == ' ' else self._delimiter)
                marks.update('.' if any('.' in line for _, line in block) else '')
            except ValueError:
                yield np.reshape(list(self._checked_rows(block, at, left_out, marks)),
                                 (-1, len(at))).astype(float, copy=False)
            block = list(islice(lines, _LINES))
        if left_out:
            self.remarks.append(f'{self.label}: {len(left_out)} lines have nothing but a stamp in '
                                'the columns that are read, and are left out')
        if ',' in marks:
            self.remarks.append(f'{self.label} {_COMMAS}')

    def _lines(self) -> Iterator[tuple[int, str]]:
        try:
            with self._path.open('rb') as file:
                self._skip_head(file)
                yield from _rows(file, self._delimiter, len(self.names), self.label,
                                 self._head + 1)
        except OSError as error:
            raise RecordingError(f'{self.label} cannot be read: {error.strerror}') from error

    def _skip_head(self, file: IO[bytes]) -> None:
        for _ in range(self._head):
            file.readline(LINE + 1)

    def _checked_rows(self, lines: Iterable[tuple[int, str]], at: Sequence[int],
                      left_out: list[int], marks: set[str]) -> Iterator[list[float]]:
        """
        Yield the numbers of the lines with measurements; refuse cells without a number.

        `left_out` collects the numbers of the other lines, `marks` the decimal marks, points or
        commas, which must not mix.
        """
        for number, line in lines:
            cells = line.split(None if self._delimiter == ' ' else self._delimiter)
            if len(at) > 1 and not any(cells[k].strip() for k in at[1:]):
                left_out.append(number)
                continue
            row = []
            for k in at:
                comma = self._delimiter != ',' and cells[k].count(',') == 1
                value = _number(cells[k].replace(',', '.') if comma else cells[k])
                if value is None:
                    raise _bad_cell(cells[k], number, self.names[k], self.label)
                row.append(value)
                marks.update(mark for mark in ',.' if mark in cells[k])
                if len(marks) > 1:
                    raise RecordingError(
                        f"{self.label}, line {number}, column '{truncated_repr(self.names[k])}': "
                        'decimal points and commas mix '
                        f"('{truncated_repr(cells[k].strip())}'); write points")
            yield row


def _names_line(file: IO[bytes]) -> tuple[bytes, int]:
    """Return the header line, which follows the comments, and its number."""
    raw, number = file.readline(LINE + 1), 1
    while raw.lstrip().startswith(b'#') and number < _COMMENTS:
        at = file.tell()
        following = file.readline(LINE + 1)
        cells = re.split(r'[,;\t ]+', following.decode('utf-8', 'replace').strip())
        if not following.strip() or any(map(_like_number, cells)):
            file.seek(at)
            break
        raw, number = following, number + 1
    return raw, number


def _cells(raw: bytes, delimiter: str) -> list[str]:
    text = raw.decode('utf-8', 'replace').strip()
    return [cell.strip() for cell in text.split(None if delimiter == ' ' else delimiter)]


def _like_number(cell: str) -> bool:
    """Return whether a cell is blank, a number, or one with a decimal comma or in quotes."""
    bare = cell.strip(' "')
    return not bare or bare[:1].isdigit() or _number(bare.replace(',', '.')) is not None


def _header(raw: bytes, label: str) -> tuple[list[str], str]:
    """Return the names of the columns and the delimiter."""
    try:
        line = raw.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise RecordingError(f'{label} cannot be read: {encoding_of(raw)}') from error
    if '\0' in line:
        raise RecordingError(f'{label} is not text: it has bytes of zero; '
                             + encoding_of(raw).replace('it is', 'perhaps it is'))
    if '\r' in line.rstrip('\r\n'):
        raise RecordingError(f'{label}: its lines end with a carriage return alone; save it with '
                             'the line ends of Linux or Windows')
    delimiter = max(DELIMITERS, key=line.count)
    line = re.sub(r'^#+\s*', '', line)
    if delimiter not in line and len(line.split()) > 1:
        delimiter, line = ' ', ' '.join(line.split())
    if len(raw) > LINE or line.count(delimiter) >= COLUMNS:
        raise RecordingError(f'{label}: its first line names more than {COLUMNS} columns or is '
                             f'longer than {LINE // 1000} kB; is it a recording?')
    try:
        columns = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        raise RecordingError(f'{label}: its first line cannot be read: {error}') from error
    if not any(columns):
        raise RecordingError(f'{label} is empty; its first line must name the columns')
    if None not in map(_number, columns):
        raise RecordingError(f'{label} has no header: its first line holds numbers; put a line '
                             'with the names of the columns before it, as t,q_<joint>,...,'
                             'tau_<joint>,...')
    name, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise RecordingError(f"{label} has two columns '{truncated_repr(name)}'")
    return columns, delimiter


def _rows(file: IO[bytes], delimiter: str, columns: int, label: str, first: int
          ) -> Iterator[tuple[int, str]]:
    """Yield numbers and text of the lines behind the header, each with as many cells."""
    mark = delimiter.encode()
    for number, raw in enumerate(iter(lambda: file.readline(LINE + 1), b''), start=first):
        cells = len(raw.split()) if delimiter == ' ' else raw.count(mark) + 1
        if cells == columns and len(raw) <= LINE:
            yield number, raw.decode('utf-8', 'replace')
        elif raw.strip():
            hint = ('; numbers with decimal commas? write points'
                    if delimiter == ',' and cells == 2 * columns else '')
            raise RecordingError(f'{label}, line {number}: {cells} cells, but the header names '
                                 f'{columns} columns{hint}')


def _bad_cell(cell: str, number: int, column: str, label: str) -> RecordingError:
    hint = ('write decimal points, not commas' if _number(cell.replace(',', '.')) is not None
            else 'write numbers without quotation marks' if _number(cell.strip(' "')) is not None
            else 'write seconds, not the time of day' if ':' in cell
            else 'leave out the lines that were not measured, gaps are dealt with')
    return RecordingError(f"{label}, line {number}, column '{truncated_repr(column)}': "
                          f"'{truncated_repr(cell.strip())}' is not a number; {hint}")


def _number(cell: str) -> float | None:
    """Return the number in a cell, None where it has none."""
    try:
        return float(cell) if '_' not in cell and cell.isascii() else None
    except ValueError:
        return None
