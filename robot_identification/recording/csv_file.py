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

from collections.abc import Mapping
import csv
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import RecordingError
from robot_identification.files import written_whole
from robot_identification.recording.keys import missing, signal_keys
from robot_identification.recording.recording import Recording, SIGNALS

DELIMITERS = ',;\t'


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
    for signal in SIGNALS:
        wanted = [_columns_of(columns, key, names) for key in chosen[signal]]
        found = [group for group in wanted if any(column in columns for column in group)]
        if not found and signal != 'q' and len(wanted) == 1:
            continue
        group = (found or wanted)[0]
        absent = [column for column in group if column not in columns]
        if absent:
            raise missing(place, 'column', absent, columns, signal)
        values[signal] = table[:, [columns.index(column) for column in group]]
    return Recording(table[:, columns.index(stamp[0])], values.pop('q'), values.pop('tau', None),
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
    try:
        with path.open(newline='', encoding='utf-8-sig') as file:
            line = file.readline()
            delimiter = max(DELIMITERS, key=line.count)
            columns = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
            for name in columns:
                if columns.count(name) > 1:
                    raise RecordingError(f"{place} has two columns '{name}'")
            if not columns:
                raise RecordingError(f'{place} is empty; its first line must name the columns')
            body = file.readlines()
    except FileNotFoundError as error:
        raise RecordingError(f"there is no recording '{path}'") from error
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f'{place} cannot be read: {error}') from error
    if not any(row.strip() for row in body):
        raise RecordingError(f'{place} has a header and no samples')
    try:
        return columns, np.loadtxt(body, delimiter=delimiter, ndmin=2, comments=None,
                                   usecols=range(len(columns)))
    except ValueError as error:
        raise _bad_cell(body, delimiter, columns, place) from error


def _bad_cell(body: list[str], delimiter: str, columns: list[str], place: str) -> RecordingError:
    for number, row in enumerate(csv.reader(body, delimiter=delimiter), start=2):
        if len(row) != len(columns) and any(cell.strip() for cell in row):
            return RecordingError(f'{place}, line {number}: {len(row)} cells, but the header '
                                  f'names {len(columns)} columns')
        for name, cell in zip(columns, row):
            try:
                float(cell)
            except ValueError:
                return RecordingError(f"{place}, line {number}, column '{name}': '{cell.strip()}' "
                                      'is '
                                      f'not a number; leave out the lines that were not measured, '
                                      f'gaps are dealt with')
    return RecordingError(f'{place} is not a table of numbers')


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
