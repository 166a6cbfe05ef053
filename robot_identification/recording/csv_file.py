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
"""Recordings as CSV files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
import csv
from itertools import chain, islice
from pathlib import Path
import re
from typing import Any, IO

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.files import encoding_of, regular_size, written_whole
from robot_identification.recording.columns import recording_of_columns
from robot_identification.recording.recording import Recording, SIGNALS
from robot_identification.scratch import Gathered
from robot_identification.yaml_file import shown

DELIMITERS = ',;\t'
SIZE = 4_000_000_000    # bytes: four hours of seven joints at 1 kHz
_LINES = 50_000    # that are read at once where pyarrow does not read the file
LINE = 1_000_000    # bytes of a line
COLUMNS = 10_000
_COMMENTS = 100    # lines before the header
_COMMAS = 'has decimal commas, which are read as points'


def read_csv(path: str | Path, arm: Arm | None = None,
             keys: Mapping[str, Any] | None = None) -> Recording:
    """
    Read a recording from a CSV file.

    Parameters
    ----------
    path
        A file with a header; columns t, q_<joint>, and v_<joint>, tau_<joint>, current_<joint> as
        far as recorded, separated by commas, semicolons, tabs or spaces. Decimal commas are read
        where no comma separates. Other columns are ignored, and lines in which only the stamp and
        other columns are filled. With one joint its name may be left out.
    arm
        Its joints are read, in its order; its `recording_keys` name the columns.
    keys
        A block of the same kind, before that of the arm.

    Raises
    ------
    RecordingError
        The file cannot be read, or lacks a column, or a cell is not a number.

    """
    return recording_of_columns(CsvColumns(path), str(path), arm, keys)


class CsvColumns:
    """
    The columns of a CSV file, read when they are asked for.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        It cannot be read, or has no header.

    """

    what = 'column'

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._place = f"the recording '{path}'"
        self.remarks: list[str] = []
        size = regular_size(self._path, 'recording', RecordingError)
        if size > SIZE:
            raise RecordingError(f'{self._place} has {size / 1e6:.0f} MB, more than the '
                                 f'{SIZE / 1e6:.0f} MB that are read; split it, or write it as '
                                 'NPZ')
        try:
            with self._path.open('rb') as file:
                raw, self._head = _names_line(file)
                self.names, self._delimiter = _header(raw, self._place)
                after = _cells(file.readline(LINE + 1), self._delimiter)
        except OSError as error:
            raise RecordingError(f'{self._place} cannot be read: {error.strerror}') from error
        self._told: list[str] = []
        if len(after) == len(self.names) and not any(map(_like_number, after)):
            self._head += 1
            self._told = [f'{self._place}, line {self._head} holds no numbers (units?) and is '
                          f'left out: {shown(", ".join(after[:3]))} ...']

    def read(self, wanted: Sequence[str]) -> Array:
        """
        Return columns, (N, len(wanted)); the first is that of the stamps.

        Lines in which all columns but the first are blank are of other topics, and left out.

        Raises
        ------
        RecordingError
            A cell is not a number, or a line has not as many as the header.

        """
        at = [self.names.index(name) for name in wanted]
        for point in ('.',) if self._delimiter == ',' else ('.', ','):
            fast = self._fast(at, point)
            if fast is not None:
                self.remarks = self._told + [f'{self._place} {_COMMAS}'] * (point == ',')
                return fast
        self.remarks = self._told
        try:
            return self._numbers(at, (line for _, line in self._lines()))
        except ValueError:
            pass    # look at every cell
        left_out: list[int] = []
        marks: set[str] = set()
        try:
            table = self._numbers(at, self._filled(at, left_out, marks))
        except ValueError as error:
            raise RecordingError(f'{self._place} is not a table of numbers') from error
        self.remarks = [*self._told, *(
            [f'{self._place}: {len(left_out)} lines have nothing but a stamp in the columns that '
             'are read, and are left out'] if left_out else []),
            *([f'{self._place} {_COMMAS}'] * (',' in marks))]
        return table

    def _fast(self, at: Sequence[int], point: str) -> Array | None:
        """
        Return the columns by pyarrow, piece by piece, with every bit as `np.loadtxt` has it.

        None where pyarrow is not installed or refuses anything: then the slow way reads the file,
        or finds the line and the words for what is wrong.
        """
        try:
            from pyarrow import ArrowException, float64
            import pyarrow.csv as arrow
        except ImportError:
            return None
        if self._delimiter == ' ':
            return None
        names, wanted = [str(k) for k in range(len(self.names))], [str(k) for k in at]
        rows = Gathered()
        try:
            with self._path.open('rb') as file:
                self._pass_head(file)
                with arrow.open_csv(
                        file, arrow.ReadOptions(column_names=names),
                        arrow.ParseOptions(delimiter=self._delimiter, quote_char=False),
                        arrow.ConvertOptions(column_types=dict.fromkeys(wanted, float64()),
                                             include_columns=wanted, null_values=[],
                                             decimal_point=point)) as reader:
                    for batch in reader:
                        rows.add(np.column_stack([batch.column(k) for k in range(len(at))]))
            values = rows.whole()
        except (ArrowException, OSError, ValueError):
            return None
        return values if len(values) else None

    def _numbers(self, at: Sequence[int], lines: Iterator[str]) -> Array:
        first = next(lines, None)
        if first is None:
            raise RecordingError(f'{self._place} has a header and no samples')
        rows = Gathered()
        while first is not None:
            rows.add(np.loadtxt(chain([first], islice(lines, _LINES - 1)), usecols=at, ndmin=2,
                                comments=None,
                                delimiter=None if self._delimiter == ' ' else self._delimiter))
            first = next(lines, None)
        return rows.whole()

    def _lines(self) -> Iterator[tuple[int, str]]:
        try:
            with self._path.open('rb') as file:
                self._pass_head(file)
                yield from _rows(file, self._delimiter, len(self.names), self._place,
                                 self._head + 1)
        except OSError as error:
            raise RecordingError(f'{self._place} cannot be read: {error.strerror}') from error

    def _pass_head(self, file: IO[bytes]) -> None:
        for _ in range(self._head):
            file.readline(LINE + 1)

    def _filled(self, at: Sequence[int], left_out: list[int], marks: set[str]) -> Iterator[str]:
        """
        Yield the lines with measurements, with decimal points; refuse what is no number.

        `marks` collects what stands before decimals: points or commas, which must not mix.
        """
        for number, line in self._lines():
            cells = line.split(None if self._delimiter == ' ' else self._delimiter)
            if len(at) > 1 and not any(cells[k].strip() for k in at[1:]):
                left_out.append(number)
                continue
            for k in at:
                comma = self._delimiter != ',' and cells[k].count(',') == 1
                if not _is_number(cells[k].replace(',', '.') if comma else cells[k]):
                    raise _bad_cell(cells[k], number, self.names[k], self._place)
                marks.update(mark for mark in ',.' if mark in cells[k])
                if len(marks) > 1:
                    raise RecordingError(
                        f"{self._place}, line {number}, column '{shown(self.names[k])}': decimal "
                        f"points and commas mix ('{shown(cells[k].strip())}'); write points")
            yield line.replace(',', '.') if ',' in marks else line


def write_csv(recording: Recording, path: str | Path) -> None:
    """
    Write a recording that `read_csv` reads back to the last bit, whole or not at all.

    Parameters
    ----------
    recording
        What to write.
    path
        The file.

    """
    signals = [signal for signal in SIGNALS if getattr(recording, signal) is not None]
    header = ['t', *(f'{signal}_{name}' for signal in signals for name in recording.joint_names)]
    table = np.column_stack([recording.t, *(getattr(recording, signal) for signal in signals)])
    with written_whole(path) as whole, whole.open('w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(header)
        writer.writerows(table.tolist())


def _names_line(file: IO[bytes]) -> tuple[bytes, int]:
    """Return the line that names the columns, behind comments, and its number."""
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
    return not bare or bare[:1].isdigit() or _is_number(bare.replace(',', '.'))


def _header(raw: bytes, place: str) -> tuple[list[str], str]:
    """Return the names of the columns and what separates them."""
    try:
        line = raw.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise RecordingError(f'{place} cannot be read: {encoding_of(raw)}') from error
    if '\0' in line:
        raise RecordingError(f'{place} is not text: it has bytes of zero; '
                             + encoding_of(raw).replace('it is', 'perhaps it is'))
    if '\r' in line.rstrip('\r\n'):
        raise RecordingError(f'{place}: its lines end with a carriage return alone; save it with '
                             'the line ends of Linux or Windows')
    delimiter = max(DELIMITERS, key=line.count)
    line = re.sub(r'^#+\s*', '', line)
    if delimiter not in line and len(line.split()) > 1:
        delimiter, line = ' ', ' '.join(line.split())
    if len(raw) > LINE or line.count(delimiter) >= COLUMNS:
        raise RecordingError(f'{place}: its first line names more than {COLUMNS} columns or is '
                             f'longer than {LINE // 1000} kB; is it a recording?')
    try:
        columns = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error as error:
        raise RecordingError(f'{place}: its first line cannot be read: {error}') from error
    if not any(columns):
        raise RecordingError(f'{place} is empty; its first line must name the columns')
    if all(map(_is_number, columns)):
        raise RecordingError(f'{place} has no header: its first line holds numbers; put a line '
                             'with the names of the columns before it, as t,q_<joint>,...,'
                             'tau_<joint>,...')
    name, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise RecordingError(f"{place} has two columns '{shown(name)}'")
    return columns, delimiter


def _rows(file: IO[bytes], delimiter: str, columns: int, place: str, first: int
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
            raise RecordingError(f'{place}, line {number}: {cells} cells, but the header names '
                                 f'{columns} columns{hint}')


def _bad_cell(cell: str, number: int, column: str, place: str) -> RecordingError:
    hint = ('write decimal points, not commas' if _is_number(cell.replace(',', '.'))
            else 'write numbers without quotation marks' if _is_number(cell.strip(' "'))
            else 'write seconds, not the time of day' if ':' in cell
            else 'leave out the lines that were not measured, gaps are dealt with')
    return RecordingError(f"{place}, line {number}, column '{shown(column)}': "
                          f"'{shown(cell.strip())}' is not a number; {hint}")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return '_' not in cell and cell.isascii()
