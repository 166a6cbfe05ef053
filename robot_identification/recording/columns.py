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
"""Recordings out of columns, whatever file they came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.recording.keys import Key, missing, named, signal_keys
from robot_identification.recording.propose import Named, propose, recording_line
from robot_identification.recording.recording import Recording, SIGNALS


class Columns(Named, Protocol):
    """A file that has one number a sample in each of its columns."""

    what: str
    """What a column is called in sentences: 'column' or 'array'."""
    remarks: list[str]


class ArrayColumns:
    """
    Arrays as columns: of `x`, (N, m), the columns are `x[0]` to `x[m - 1]`.

    Parameters
    ----------
    arrays
        Arrays by name, (N,) or (N, m); others are left out.
    place
        How to call the file in an error.

    """

    what = 'array'

    def __init__(self, arrays: Mapping[str, np.ndarray], place: str) -> None:
        self._columns: dict[str, np.ndarray] = {}
        self._place = place
        self.remarks: list[str] = []
        for name, values in arrays.items():
            if values.dtype.kind not in 'fiub':
                continue
            if values.ndim == 2 and 1 in values.shape:
                values = values.ravel()
            if values.ndim == 1:
                self._columns[name] = values
            elif values.ndim == 2:
                self._columns.update({f'{name}[{k}]': column
                                      for k, column in enumerate(values.T)})
        self.names = list(self._columns)

    def read(self, wanted: Sequence[str]) -> Array:
        """Return columns, (N, len(wanted))."""
        columns = [self._columns[name] for name in wanted]
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise RecordingError(f'{self._place}: {", ".join(wanted[:3])} ... have '
                                 f'{min(lengths)} to {max(lengths)} samples; they must have as '
                                 'many')
        return np.column_stack(columns).astype(float)


def recording_of_columns(source: Columns, name: str, arm: Arm | None,
                         keys: Mapping[str, Any] | None = None) -> Recording:
    """
    Build a recording from the columns of a file.

    Names come from `keys` or the robot YAML, else they are the standard ones. Where neither fits
    and the columns can be read in one way only, they are read so, and a remark says how.

    Parameters
    ----------
    source
        The columns.
    name
        How to call the recording.
    arm
        Its joints are read, in its order.
    keys
        A block `recording` before that of the arm.

    Raises
    ------
    RecordingError
        A column is missing, or the columns can be read in several ways.

    """
    place = f"the recording '{name}'"
    chosen, remarks = signal_keys(arm, keys), []
    if arm is not None and not keys and not arm.recording_keys and not _found(
            source, chosen['q'], arm.joint_names):
        proposal = propose(source, arm)
        if proposal is not None:
            line, doubts = recording_line(proposal.block), '; '.join(proposal.notes)
            if not proposal.certain:
                raise RecordingError(f'{place} may be read as `{line}`; put this line into the '
                                     f'robot YAML, or a corrected one ({doubts})')
            chosen = signal_keys(arm, proposal.block)
            remarks.append(f'{place} is read as `{line}`; put this line into the robot YAML, or a '
                           'corrected one' + (f' ({doubts})' if doubts else ''))
    joints = arm.joint_names if arm is not None else _joints(source, chosen['q'], place)
    stamps = [key for key in chosen['t'] if key.name in source.names]
    if not stamps:
        raise missing(place, source.what, named(chosen['t']), source.names, 't')
    groups: dict[str, tuple[Key, list[str]]] = {}
    ours = False
    for signal in SIGNALS:
        found = _found(source, chosen[signal], joints)
        if not found and signal != 'q' and (ours or len(named(chosen[signal])) == 1):
            continue
        first = chosen[signal][0]
        key, columns = found[0] if found else (first, first.columns(source.names, joints))
        absent = [column for column in columns if column not in source.names]
        if absent:
            raise missing(place, source.what, absent, source.names, signal)
        groups[signal] = key, columns
        ours = ours or (signal == 'q' and key is not first)    # written by the suite, not the log
    table = source.read([stamps[0].name, *(name for _, columns in groups.values()
                                           for name in columns)])
    values, at = {}, 1
    for signal, (key, columns) in groups.items():
        values[signal] = key.to_si(table[:, at:at + len(columns)], joints, arm)
        at += len(columns)
    return Recording(stamps[0].seconds(table[:, 0]), joint_names=joints, name=name,
                     remarks=(*remarks, *source.remarks), **values)


def _found(source: Columns, keys: Sequence[Key], joints: Sequence[str]
           ) -> list[tuple[Key, list[str]]]:
    """Return the keys of which the file has a column, with their columns."""
    wanted = [(key, key.columns(source.names, joints)) for key in keys]
    return [(key, columns) for key, columns in wanted
            if any(column in source.names for column in columns)]


def _joints(source: Columns, keys: Sequence[Key], place: str) -> tuple[str, ...]:
    """Return the names that stand behind the key of the positions."""
    for key in keys:
        joints = tuple(column[len(key.name) + 1:] for column in source.names
                       if column.startswith(f'{key.name}_'))
        if joints:
            return joints
        if key.name in source.names:
            return (key.name,)
    raise missing(place, source.what, [f'{key.name}_<joint>' for key in keys], source.names, 'q')
