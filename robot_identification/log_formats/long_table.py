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
"""Long tables: a line has one value, or the values of one joint, and a stamp that repeats."""

from array import array
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from robot_identification.errors import RecordingError
from robot_identification.recording.column_source import COLUMNS, ColumnSource
from robot_identification.recording.csv_file import CsvSource, KEY_NAMES, number_in
from robot_identification.recording.infer_columns import STAMPS

VALUE_NAMES = {'value', 'val', 'data', 'wert', 'y'}
"""Names of a column of values that says nothing about them."""
COMPLETE = 0.5    # smallest part of the stamps at which all requested values exist


def key_columns(table: CsvSource) -> tuple[int, list[int]] | None:
    """
    Return the indices of the column of stamps, and of those that name the joint or signal.

    None comes back for a table that is not long.

    Such columns hold text, or have a name in `KEY_NAMES`. At least one has such a name, or
    stamps repeat while the names change.

    Parameters
    ----------
    table
        The table.

    """
    names = [name.strip('_ ').lower() for name in table.names]
    rows = list(islice(split_lines(table, next(table.line_blocks(), b'')), 2000))
    if not rows or len(names) < 3 or {*map(len, rows)} != {len(names)}:
        return None
    keys = [k for k, name in enumerate(names) if name in KEY_NAMES or any(
        row[k] and number_in(row[k]) is None for row in rows)]
    words = {k: set(name.replace('_', ' ').split()) for k, name in enumerate(names)
             if k not in keys}
    stamp = min((k for k, parts in words.items() if parts & STAMPS), default=None,
                key=lambda k: len(words[k]))
    if stamp is None or not keys or len(keys) > len(names) - 2:
        return None
    combined = [tuple(row[k] for k in keys) for row in rows]
    stamps = [row[stamp] for row in rows]
    repeats = len(set(stamps)) < len(rows) and len(set(zip(stamps, combined))) == len(rows)
    named = {names[k] for k in keys} & KEY_NAMES
    return (stamp, keys) if len(set(combined)) <= COLUMNS and (repeats or named) else None


def long_source(table: CsvSource, stamp: int, keys: Sequence[int]) -> ColumnSource:
    """
    Return the columns of a long table: one for each value column and combination of names.

    The column of the value `position` of the joint `a` is `position_a`; values without a name of
    their own have only those in the line.

    Parameters
    ----------
    table
        The table.
    stamp, keys
        Indices of the column of stamps, and of those that name the joint or signal of a line.

    Raises
    ------
    RecordingError
        A cell is not a number, a stamp has two values of one signal, or the signals have stamps
        of their own.

    """
    values = [k for k in range(len(table.names)) if k not in keys and k != stamp]
    codes: dict[tuple[str, ...], int] = {}
    code, t, cells = array('q'), array('d'), {k: array('d') for k in values}
    for block in table.line_blocks():
        for row in split_lines(table, block):
            if len(row) != len(table.names):
                raise RecordingError(f'{table.label}, line {len(t) + 2}: {len(row)} cells, but '
                                     f'the header names {len(table.names)} columns')
            code.append(codes.setdefault(tuple(row[k] for k in keys), len(codes)))
            for k, column in ((stamp, t), *cells.items()):
                number = number_in(row[k].replace(',', '.')) if row[k] else np.nan
                if number is None:
                    raise RecordingError(f'{table.label}, line {len(t) + 2}, column '
                                         f"'{table.names[k]:.60}': '{row[k]:.60}' is not a number")
                column.append(number)
    constant = [k for k in range(len(keys)) if len({key[k] for key in codes}) == 1 < len(codes)]
    labels = ['_'.join(part for k, part in enumerate(key) if k not in constant) for key in codes]
    stamps, rows = np.unique(np.asarray(t), return_inverse=True)
    if len(stamps) * len(codes) > 20 * len(t) + 1000:
        raise _own_stamps(table.label)
    if len(set(zip(rows.tolist(), code))) < len(t):
        raise RecordingError(f'{table.label} has two values of one signal at one stamp; write '
                             'stamps with all their digits')
    arrays: dict[str, np.ndarray] = {table.names[stamp]: stamps}
    for k, column in cells.items():
        wide = np.full((len(stamps), len(codes)), np.nan)
        wide[rows, np.asarray(code)] = np.asarray(column)
        plain = table.names[k].strip('_ ').lower() in VALUE_NAMES
        arrays |= {label if plain else f'{table.names[k]}_{label}': wide[:, number]
                   for number, label in enumerate(labels)}
    source = ColumnSource(table.name, arrays, lambda names: _complete_rows(source, arrays, names))
    return source


def _complete_rows(source: ColumnSource, arrays: dict[str, np.ndarray],
                   names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
    """Yield the values at the stamps at which all requested columns have one."""
    present = np.isfinite([arrays[name] for name in names])
    rows = np.all(present, axis=0)
    kept, most = int(np.sum(rows)), int(np.max(np.sum(present[1:] if len(names) > 1
                                                      else present, axis=1)))
    if kept < COMPLETE * most:
        raise _own_stamps(source.label)
    if kept < most:
        source.remarks.append(f'{source.label}: {most - kept} of {most} stamps lack a value of a '
                              'joint, and are left out')
    yield {name: arrays[name][rows] for name in names}


def _own_stamps(label: str) -> RecordingError:
    """Return the error for signals that were not sampled together."""
    return RecordingError(f'{label} is a long table in which each joint has stamps of its '
                          'own; resample it so that all joints have values at each stamp')


def split_lines(table: CsvSource, block: bytes) -> Iterator[list[str]]:
    """Yield the cells of the lines of a block, without quotation marks and blank lines."""
    for line in block.decode('utf-8', 'replace').split('\n'):
        if line.strip():
            yield [cell.strip(' "\r') for cell in line.split(
                None if table.delimiter == ' ' else table.delimiter)]
