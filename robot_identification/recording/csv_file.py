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
"""Reads the columns of CSV files."""

from collections import Counter
from collections.abc import Iterator, Sequence
import csv
from itertools import islice
from pathlib import Path
import re
from typing import Any

import numpy as np
from robot_identification.errors import RecordingError
from robot_identification.files import NOT_UTF8
from robot_identification.recording.column_source import COLUMNS, ColumnSource, stored_size
from robot_identification.yaml_file import truncated_repr

DELIMITERS = ',;\t'
BLOCK_BYTES = 1 << 21    # size of a block of lines [bytes]
LINE = 1_000_000    # largest number of bytes in a line
_COMMENTS = 100    # largest number of comment lines before the header
KEY_NAMES = {'joint', 'joint_name', 'joint_id', 'name', 'id', 'axis', 'motor', 'variable',
             'signal', 'field', 'channel', 'key'}
"""Names of a column that states what the other cells of its line belong to."""


class CsvSource(ColumnSource):
    """
    The columns of a CSV file, read on request.

    The header line names the columns: t, q_<joint> and, if recorded, v_<joint>, tau_<joint>,
    current_<joint> and command_<joint>, or the names in the block `recording` of the robot YAML.
    Cells are separated by commas, semicolons, tabs or spaces. Decimal commas are accepted unless
    commas separate the cells. Comments before the header and a line of units below it are skipped.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        The file cannot be read, or has no header.

    """

    def __init__(self, path: str | Path) -> None:
        stored = stored_size(path)
        label = f"the recording '{path}'"
        try:
            with Path(path).open('rb') as file:
                head = [*islice(iter(lambda: file.readline(LINE + 1), b''), _COMMENTS + 2)]
        except OSError as error:
            raise RecordingError(f'{label} cannot be read: {error.strerror}') from error
        head, lines = [*head, b'', b''], 1    # lines before the first sample
        while head[lines - 1].lstrip().startswith(b'#') and lines < len(head) - 2 and _are_names(
                re.split(r'[,;\t ]+', _decode(head[lines]))):
            lines += 1    # a comment, because another comment or the header follows
        names, self.delimiter = _header(head[lines - 1], label)
        super().__init__(path, dict.fromkeys(names, np.zeros(0)), self._arrays, stored)
        units = _decode(head[lines]).split(None if self.delimiter == ' ' else self.delimiter)
        if len(units) == len(names) and _are_names(units):
            lines += 1
            self.add_remark(
                f'{label}, line {lines} contains no numbers (units?) and is left out: '
                f'{truncated_repr(", ".join(unit.strip() for unit in units[:3]))} ...')
        self._path, self._start = Path(path), sum(map(len, head[:lines]))
        self._first_line = lines + 1
        sample = _decode(head[lines]).split(self.delimiter)
        self.plain = not KEY_NAMES & {name.strip('_ ').lower() for name in names} and not any(
            cell.strip() and number_in(cell.strip().replace(',', '.')) is None for cell in sample)

    def _arrays(self, columns: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """
        Yield the values of columns, by name, in blocks of consecutive lines.

        Lines with nothing but a stamp in the requested columns are skipped: logs with several
        topics have such lines. pyarrow parses the blocks if it is installed; blocks that it
        rejects are parsed line by line. Both parsers return exactly the same values.

        Parameters
        ----------
        columns
            Names of the columns, that of the stamps first.

        Raises
        ------
        RecordingError
            A cell is not a number, or the number of cells in a line differs from the header.

        """
        indices = [[*self._rows].index(name) for name in columns]
        line, left_out, point = self._first_line, 0, ''    # point: decimal mark so far
        for text in self.line_blocks():
            if self.delimiter == ' ':    # several spaces are one separator
                text = b'\n'.join(b' '.join(row.split()) for row in text.split(b'\n'))
            for mark in point or ('.' if self.delimiter == ',' else '.,'):
                table = _parse(text, self.delimiter, len(self.names), indices, mark)
                if table:
                    point = mark if mark.encode() in text else point
                    break
            else:
                rows, blank, point = self._parse_lines(text, line, indices, point)
                table, left_out = [*np.reshape(rows, (-1, len(indices))).T], left_out + blank
            line += text.count(b'\n') + 1
            yield dict(zip(columns, table))
        if line == self._first_line:
            raise RecordingError(f'{self.label} has a header and no samples')
        if left_out:
            self.remarks.append(f'{self.label}: {left_out} lines have nothing but a stamp in the '
                                'columns that are read, and are left out')
        if point == ',':
            self.remarks.append(f'{self.label} has decimal commas; they are read as points')

    def line_blocks(self) -> Iterator[bytes]:
        """Yield blocks of consecutive lines below the header, each without its last break."""
        with self._path.open('rb') as file:
            file.seek(self._start)
            while block := file.read(BLOCK_BYTES):
                block = (block + file.readline(LINE + 1)).removesuffix(b'\n')
                if len(block) - block.rfind(b'\n') > LINE + 1:
                    raise RecordingError(f'{self.label} has a line of more than {LINE // 1000} '
                                         'kB; is it a recording?')
                yield block

    def _parse_lines(self, text: bytes, first: int, indices: Sequence[int],
                     point: str) -> tuple[list[list[float]], int, str]:
        """
        Return the values in lines, the number of skipped lines, and the decimal mark so far.

        Parameters
        ----------
        text
            The lines.
        first
            Number of the first line in the file, for messages.
        indices
            Indices of the columns, that of the stamps first.
        point
            Decimal mark of the preceding lines; '' if they have none.

        Raises
        ------
        RecordingError
            As for `_arrays`.

        """
        rows, left_out = [], 0
        for line, raw in enumerate(text.split(b'\n'), first):
            cells = raw.decode('utf-8', 'replace').split(self.delimiter)
            if not raw.strip():
                continue
            label = f'{self.label}, line {line}'
            if len(cells) != len(self.names):
                raise RecordingError(
                    f'{label}: {len(cells)} cells, but the header names {len(self.names)} '
                    'columns; decimal commas must be points where commas separate')
            chosen = [cells[k].strip() for k in indices]
            if len(chosen) > 1 and not any(chosen[1:]):
                left_out += 1
                continue
            row: list[Any] = [number_in(cell.replace(',', '.')) for cell in chosen]
            if None in row:
                k = row.index(None)
                raise RecordingError(
                    f"{label}, column '{truncated_repr(self.names[indices[k]])}': "
                    f"'{truncated_repr(chosen[k])}' is not a number; write seconds, not the time "
                    'of day, no quotation marks, and leave out the lines that were not measured')
            point = ''.join(mark for mark in '.,' if mark in ''.join([point, *chosen]))
            if len(point) > 1:
                raise RecordingError(f'{label}: decimal points and commas are mixed; use points')
            rows.append(row)
        return rows, left_out, point


def _parse(text: bytes, delimiter: str, width: int, indices: Sequence[int],
           point: str) -> list[np.ndarray]:
    """
    Return the columns of lines, (N,) each, parsed by pyarrow; [] if pyarrow rejects them.

    Parameters
    ----------
    text
        The lines.
    delimiter
        Character that separates the cells.
    width
        Number of cells of each line.
    indices
        Indices of the columns.
    point
        Decimal mark.

    """
    try:
        from pyarrow import ArrowException, BufferReader, float64
        import pyarrow.csv as arrow
    except ImportError:
        return []
    chosen = [str(k) for k in indices]
    try:
        table = arrow.read_csv(
            BufferReader(text), arrow.ReadOptions(column_names=[str(k) for k in range(width)]),
            arrow.ParseOptions(delimiter=delimiter, quote_char=False),
            arrow.ConvertOptions(column_types=dict.fromkeys(chosen, float64()),
                                 include_columns=chosen, null_values=[], decimal_point=point))
    except ArrowException:
        return []
    return [np.asarray(table.column(k)) for k in range(len(indices))]


def _decode(raw: bytes) -> str:
    """Return a line as text without surrounding white space."""
    return raw.decode('utf-8', 'replace').strip()


def _are_names(cells: Sequence[str]) -> bool:
    """Return whether no cell is blank, a number, or begins with a digit; quotes are ignored."""
    return all(cell and not cell[0].isdigit() and number_in(cell.replace(',', '.')) is None
               for cell in (cell.strip(' "') for cell in cells))


def _header(raw: bytes, label: str) -> tuple[list[str], str]:
    """Return the names of the columns, and the delimiter, from the header line."""
    try:
        line = raw.decode('utf-8-sig')
    except UnicodeDecodeError:
        line = '\0'
    if '\0' in line:
        raise RecordingError(f'{label} cannot be read: {NOT_UTF8}')
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
    if None not in map(number_in, columns):
        raise RecordingError(f'{label} has no header: its first line contains numbers; put a line '
                             'with the names of the columns before it, such as t,q_<joint>,...,'
                             'tau_<joint>,...')
    name, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise RecordingError(f"{label} has two columns '{truncated_repr(name)}'")
    return columns, delimiter


def number_in(cell: str) -> float | None:
    """Return the number in a cell, None if the cell is not a number."""
    try:
        return float(cell) if '_' not in cell and cell.isascii() else None
    except ValueError:
        return None
