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
from collections.abc import Iterator, Mapping
import csv
from itertools import chain
from pathlib import Path
from typing import Any, IO

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.files import encoding_of, regular_size, written_whole
from robot_identification.recording.keys import missing, signal_keys
from robot_identification.recording.recording import Recording, SIGNALS
from robot_identification.yaml_file import shown

DELIMITERS = ',;\t'
SIZE = 1_000_000_000    # bytes: an hour of seven joints at 1 kHz; memory stays below 2 GB
LINE = 1_000_000    # bytes of a line
COLUMNS = 10_000


def read_csv(path: str | Path, arm: Arm | None = None,
             keys: Mapping[str, str] | None = None) -> Recording:
    """
    Read a recording from a CSV file.

    Parameters
    ----------
    path
        A file with a header; columns t, q_<joint>, and v_<joint>, tau_<joint>, current_<joint> as
        far as recorded, separated by commas, semicolons or tabs. Other columns are ignored. With
        one joint its name may be left out.
    arm
        Its joints are read, in its order; its `recording_keys` name the prefixes of the columns.
    keys
        Prefixes by signal, before those of the arm.

    Raises
    ------
    RecordingError
        The file cannot be read, or lacks a column, or a cell is not a number.

    """
    path = Path(path)
    place = f"the recording '{path}'"
    columns, table = _table(path, place)
    chosen = signal_keys(arm, keys)
    names = arm.joint_names if arm is not None else _joints(columns, chosen['q'], place)
    stamp = [name for name in chosen['t'] if name in columns]
    if not stamp:
        raise missing(place, 'column', chosen['t'], columns, 't')
    values: dict[str, Any] = {}
    place_of = {column: i for i, column in enumerate(columns)}
    for signal in SIGNALS:
        wanted = [_columns_of(columns, key, names) for key in chosen[signal]]
        found = [group for group in wanted if any(column in columns for column in group)]
        if not found and signal != 'q' and len(wanted) == 1:
            continue
        group = (found or wanted)[0]
        absent = [column for column in group if column not in columns]
        if absent:
            raise missing(place, 'column', absent, columns, signal)
        values[signal] = table[:, [place_of[column] for column in group]]
    return Recording(table[:, place_of[stamp[0]]], values.pop('q'), values.pop('tau', None),
                     joint_names=names, name=str(path), **values)


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


def _table(path: Path, place: str) -> tuple[list[str], np.ndarray]:
    size = regular_size(path, 'recording', RecordingError)
    if size > SIZE:
        raise RecordingError(f'{place} has {size / 1e6:.0f} MB, more than the {SIZE / 1e6:.0f} MB '
                             'that are read; split it, or write it as NPZ')
    try:
        with path.open('rb') as file:
            columns, delimiter = _header(file.readline(LINE + 1), place)
            fast = _fast_table(file, delimiter, len(columns))
            if fast is not None:
                return columns, fast
            rows = (row for _, row in _rows(file, delimiter, len(columns), place))
            first = next(rows, None)
            if first is None:
                raise RecordingError(f'{place} has a header and no samples')
            table = np.loadtxt(chain([first], rows), delimiter=delimiter, ndmin=2, comments=None)
    except OSError as error:
        raise RecordingError(f'{place} cannot be read: {error.strerror}') from error
    except ValueError as error:
        raise _bad_cell(path, delimiter, columns, place) from error
    return columns, table


def _fast_table(file: IO[bytes], delimiter: str, columns: int) -> np.ndarray | None:
    """
    Return the table by pyarrow, on all cores and with every bit as `np.loadtxt` has it.

    None, with the file where it was, where pyarrow is not installed or refuses anything: then the
    slow way reads it, or finds the line and the words for what is wrong.
    """
    try:
        from pyarrow import ArrowException, csv as arrow, float64
    except ImportError:
        return None
    names = [str(column) for column in range(columns)]
    begin = file.tell()
    try:
        table = arrow.read_csv(
            file, arrow.ReadOptions(column_names=names),
            arrow.ParseOptions(delimiter=delimiter, quote_char=False),
            arrow.ConvertOptions(column_types=dict.fromkeys(names, float64()), null_values=[]))
    except (ArrowException, ValueError):
        file.seek(begin)
        return None
    if not table.num_rows:
        file.seek(begin)
        return None
    values = np.empty((table.num_rows, columns))
    for column in range(columns):
        values[:, column] = table.column(column)
    return values


def _header(raw: bytes, place: str) -> tuple[list[str], str]:
    """Return the names of the columns and what separates them."""
    try:
        line = raw.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise RecordingError(f'{place} cannot be read: {encoding_of(raw)}') from error
    if '\0' in line:
        raise RecordingError(f'{place} is not text: it has bytes of zero; '
                             + encoding_of(raw).replace('it is', 'perhaps it is'))
    delimiter = max(DELIMITERS, key=line.count)
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
    if len(columns) == 1 and len(columns[0].split()) > 1:
        raise RecordingError(f'{place}: its columns are separated by spaces; separate them by '
                             'commas, semicolons or tabs')
    name, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise RecordingError(f"{place} has two columns '{shown(name)}'")
    return columns, delimiter


def _rows(file: IO[bytes], delimiter: str, columns: int, place: str) -> Iterator[tuple[int, str]]:
    """Yield numbers and text of the lines behind the header, each with as many cells."""
    mark = delimiter.encode()
    for number, raw in enumerate(iter(lambda: file.readline(LINE + 1), b''), start=2):
        if raw.count(mark) + 1 == columns and len(raw) <= LINE:
            yield number, raw.decode('utf-8', 'replace')
        elif raw.strip():
            cells = raw.count(mark) + 1
            hint = ('; numbers with decimal commas? write points'
                    if delimiter == ',' and cells == 2 * columns else '')
            raise RecordingError(f'{place}, line {number}: {cells} cells, but the header names '
                                 f'{columns} columns{hint}')


def _bad_cell(path: Path, delimiter: str, columns: list[str], place: str) -> RecordingError:
    with path.open('rb') as file:
        file.readline(LINE + 1)
        for number, line in _rows(file, delimiter, len(columns), place):
            for name, cell in zip(columns, line.split(delimiter)):
                if not _is_number(cell):
                    hint = ('write decimal points, not commas' if _is_number(
                        cell.replace(',', '.')) else 'leave out the lines that were not measured, '
                        'gaps are dealt with')
                    return RecordingError(f"{place}, line {number}, column '{shown(name)}': "
                                          f"'{shown(cell.strip())}' is not a number; {hint}")
    return RecordingError(f'{place} is not a table of numbers')


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return '_' not in cell


def _joints(columns: list[str], keys: tuple[str, ...], place: str) -> tuple[str, ...]:
    for key in keys:
        names = tuple(column[len(key) + 1:] for column in columns if column.startswith(f'{key}_'))
        if names:
            return names
        if key in columns:
            return (key,)
    raise missing(place, 'column', [f'{key}_<joint>' for key in keys], columns, 'q')


def _columns_of(columns: list[str], key: str, names: tuple[str, ...]) -> list[str]:
    wanted = [f'{key}_{name}' for name in names]
    if len(names) == 1 and key in columns and wanted[0] not in columns:
        return [key]
    return wanted
