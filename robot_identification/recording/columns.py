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
"""Columns and arrays of a file as the signals of a recording, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.recording_block import JOINT
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.recording.infer_columns import (
    ColumnSource,
    infer_columns,
    recording_line,
)
from robot_identification.recording.signal_names import (
    distinct_names,
    missing_signal,
    signal_names,
    SignalName,
)

SIGNALS = ('q', 'v', 'tau', 'current', 'command')
Names = Mapping[str, tuple[SignalName, ...]]
Groups = dict[str, tuple[SignalName, list[str]]]    # of each signal: its name and columns
Block = dict[str, Array]


@dataclass(frozen=True)
class SignalBlocks:
    """
    The signals of a file, read in blocks of consecutive samples.

    Parameters
    ----------
    name
        Name of the recording.
    joint_names
        Names of the n joints.
    blocks
        For each block `t`, (N,) [s], and the signals, (N, n) in SI units, by name. They can be
        read once; the file is open until then.
    remarks
        Returns the remarks on the blocks that were read so far.

    """

    name: str
    joint_names: tuple[str, ...]
    blocks: Iterator[Block]
    remarks: Callable[[], tuple[str, ...]]


class ArraySource:
    """
    Arrays as columns: the columns of `x`, (N, m), are `x[0]` to `x[m - 1]`.

    Parameters
    ----------
    arrays
        Arrays by name, (N,) or (N, m). Other arrays have no columns.
    label
        Name of the file in error messages.
    kind
        What the file consists of: 'array', or 'column' for tables.

    """

    def __init__(self, arrays: Mapping[str, np.ndarray], label: str, kind: str = 'array') -> None:
        self.arrays, self.label, self.kind = arrays, label, kind
        self.remarks: list[str] = []
        self._columns: dict[str, tuple[str, int | None]] = {}
        for name, values in arrays.items():
            if values.ndim == 1 or (values.ndim == 2 and 1 in values.shape):
                self._columns[name] = name, None
            elif values.ndim == 2:
                self._columns.update({f'{name}[{k}]': (name, k) for k in range(values.shape[1])})
        self.names: Sequence[str] = [column for column, (name, _) in self._columns.items()
                                     if arrays[name].dtype.kind in 'fiub']

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def array(self, name: str) -> np.ndarray:
        """Return an array, whatever its type."""
        return self.arrays[name]

    def columns_of(self, name: str) -> list[str]:
        """
        Return the columns of an array of numbers.

        Raises
        ------
        RecordingError
            It has no columns.

        """
        columns = [column for column in self.names if self._columns[column][0] == name]
        if not columns:
            array = self.array(name)
            raise RecordingError(f"{self.label}: the array '{name}' of {array.dtype} has the "
                                 f'shape {array.shape}, not (N,) or (N, n) of numbers')
        return columns

    def blocks(self, columns: Sequence[str]) -> Iterator[Array]:
        """Yield consecutive rows of columns, (N, len(columns))."""
        chosen = [self._columns[column] for column in columns]
        names = list(dict.fromkeys(name for name, _ in chosen))
        samples = {self.arrays[name].size if k is None else len(self.arrays[name])
                   for name, k in chosen}
        if len(samples) > 1:
            raise RecordingError(f'{self.label}: {", ".join(columns[:3])} ... have {min(samples)} '
                                 f'to {max(samples)} samples; they must have the same number')
        for block in self.array_blocks(names):
            yield np.column_stack([block[name].ravel() if k is None else block[name][:, k]
                                   for name, k in chosen]).astype(float, copy=False)

    def array_blocks(self, names: Sequence[str]) -> Iterator[Mapping[str, np.ndarray]]:
        """Yield consecutive rows of arrays of the same length."""
        yield {name: self.arrays[name] for name in names}


def signal_blocks(source: ColumnSource, name: str, arm: Arm | None,
                  block: Mapping[str, Any] | None = None) -> SignalBlocks:
    """
    Return the signals of a file with columns or arrays.

    Signals have the names in `block` or the robot YAML, else the standard ones. If neither are in
    the file and its columns have only one interpretation, that is used and stated in a remark.

    Parameters
    ----------
    source
        The columns. Of an `ArraySource` a signal may also be one array of all joints, (N, n).
    name
        Name of the recording.
    arm
        The arm, whose joints are read.
    block
        A block `recording` that overrides the robot YAML's.

    Raises
    ------
    RecordingError
        A column, array or joint is missing, or the columns have several interpretations.

    """
    label = f"the recording '{name}'"
    names: Names = signal_names(arm, block)
    remarks: list[str] = []
    if isinstance(source, ArraySource) and (
            any(each.name in source and JOINT not in each.name for each in names['q'])
            if arm is not None else source.kind == 'array'):
        joints, groups = _array_groups(source, names, arm, label)
    else:
        if arm is not None and not block and not arm.recording_keys and not _present(
                source, names['q'], arm.joint_names):
            names, remarks = _inferred_names(source, arm, names, label)
        joints = arm.joint_names if arm is not None else _joints(source, names['q'], label)
        groups = _column_groups(source, names, joints, label)
    return SignalBlocks(name, joints, _read(source, groups, joints, arm),
                        lambda: (*remarks, *source.remarks))


def merge_blocks(blocks: list[Block]) -> Block:
    """
    Return the concatenation of blocks, read-only; `blocks` is emptied.

    Each signal is released as soon as it is copied, so that only one is in memory twice.
    """
    merged: Block = {}
    for signal in list(blocks[0]) if blocks else ():
        merged[signal] = np.concatenate([block.pop(signal) for block in blocks])
        merged[signal].flags.writeable = False
    blocks.clear()
    return merged


def _read(source: ColumnSource, groups: Groups, joints: tuple[str, ...],
          arm: Arm | None) -> Iterator[Block]:
    (stamps, (stamp_column,)), first = groups['t'], None
    signals = {signal: each for signal, each in groups.items() if signal != 't'}
    columns = [column for _, group in signals.values() for column in group]
    for table in source.blocks([stamp_column, *columns]):
        if first is None and len(table):
            first = table[0, 0]
        block, start = {'t': stamps.seconds(table[:, 0], first or 0.0)}, 1
        for signal, (name, group) in signals.items():
            block[signal] = name.to_si(table[:, start:start + len(group)], joints, arm)
            start += len(group)
        yield block


def _inferred_names(source: ColumnSource, arm: Arm, names: Names,
                    label: str) -> tuple[Names, list[str]]:
    """Return the names that the columns suggest, with the remark; `names` where there are none."""
    inferred = infer_columns(source, arm)
    if inferred is None:
        return names, []
    line, notes = recording_line(inferred.block), '; '.join(inferred.notes)
    if not inferred.certain:
        raise RecordingError(f'{label} may be read as `{line}`; put this line into the '
                             f'robot YAML, or a corrected one ({notes})')
    remark = (f'{label} is read as `{line}`; put this line into the robot YAML, or a '
              'corrected one' + (f' ({notes})' if notes else ''))
    return signal_names(arm, inferred.block), [remark]


def _column_groups(source: ColumnSource, names: Names, joints: tuple[str, ...],
                   label: str) -> Groups:
    """Return the columns of the stamps and of each signal, one for each joint."""
    stamps = [each for each in names['t'] if each.name in source.names]
    if not stamps:
        raise missing_signal(label, source.kind, distinct_names(names['t']), source.names, 't')
    groups: Groups = {'t': (stamps[0], [stamps[0].name])}
    own_file = False    # the positions have the standard name: this package wrote the file
    for signal in SIGNALS:
        present = _present(source, names[signal], joints)
        if not present and signal != 'q' and (own_file or len(distinct_names(names[signal])) == 1):
            continue
        first = names[signal][0]
        name, columns = present[0] if present else (first, first.columns(source.names, joints))
        absent = [column for column in columns if column not in source.names]
        if absent:
            raise missing_signal(label, source.kind, absent, source.names, signal)
        groups[signal] = name, columns
        own_file = own_file or (signal == 'q' and name is not first)
    return groups


def _present(source: ColumnSource, names: Sequence[SignalName],
             joints: Sequence[str]) -> list[tuple[SignalName, list[str]]]:
    """Return the names of which the file has at least one column, with their columns."""
    candidates = [(name, name.columns(source.names, joints)) for name in names]
    return [(name, columns) for name, columns in candidates
            if any(column in source.names for column in columns)]


def _joints(source: ColumnSource, names: Sequence[SignalName], label: str) -> tuple[str, ...]:
    """Return the joints' names: the ends of the names of the position columns."""
    for name in names:
        joints = tuple(column[len(name.name) + 1:] for column in source.names
                       if column.startswith(f'{name.name}_'))
        if joints:
            return joints
        if name.name in source.names:
            return (name.name,)
    raise missing_signal(label, source.kind, [f'{name.name}_<joint>' for name in names],
                         source.names, 'q')


def _array_groups(source: ArraySource, names: Names, arm: Arm | None,
                  label: str) -> tuple[tuple[str, ...], Groups]:
    """Return the joints, and the columns of the arrays (N, n) of all joints."""
    groups: Groups = {}
    for signal in ('t', *SIGNALS):
        present = [each for each in names[signal] if each.name in source]
        if present:
            groups[signal] = present[0], source.columns_of(present[0].name)
        elif signal in ('t', 'q') or len(distinct_names(names[signal])) > 1:
            raise missing_signal(label, source.kind, distinct_names(names[signal]),
                                 sorted(source.arrays), signal)
    count = len(groups['q'][1])
    for signal, (_, columns) in groups.items():
        if len(columns) != (1 if signal == 't' else count):
            raise RecordingError(f'{label}: {signal} has {len(columns)} columns, the positions '
                                 f'have {count}')
    aliases = names['q'][0].aliases
    stored = [name for name in distinct_names(names['joint_names']) if name in source]
    if arm is not None and aliases and not stored:
        picked = _column_numbers(aliases, arm, count, label)
        return arm.joint_names, {signal: (name, columns if signal == 't' else [
            columns[k] for k in picked]) for signal, (name, columns) in groups.items()}
    if stored:
        joints = _stored_joint_names(source, stored[0], count)
        joint_of = {alias: joint for joint, alias in aliases.items()}
        return tuple(joint_of.get(name, name) for name in joints), groups
    key = distinct_names(names['joint_names'])[-1]
    if arm is None:
        raise RecordingError(f"{label} does not name its joints; add an array '{key}' of "
                             f'{count} strings, or read it with its arm')
    if count != arm.n:
        raise RecordingError(
            f"{label} has {count} joints without names, the arm '{arm.name}' has {arm.n}: "
            f"{', '.join(arm.joint_names)}; add an array '{key}' of {count} strings, or lock "
            f'the joints that were not recorded')
    return arm.joint_names, groups


def _column_numbers(aliases: Mapping[str, str], arm: Arm, count: int, label: str) -> list[int]:
    """Return the columns of the arm's joints in arrays without names."""
    numbers = [aliases.get(joint, '') for joint in arm.joint_names]
    if not all(number.isdecimal() and int(number) < count for number in numbers):
        raise RecordingError(
            f'{label} does not name its joints, and has {count} columns; give in the robot YAML '
            f'the number of each joint, 0 to {count - 1}: `recording: {{names: '
            f'{{{arm.joint_names[0]}: 0, ...}}}}`')
    return [int(number) for number in numbers]


def _stored_joint_names(source: ArraySource, name: str, count: int) -> tuple[str, ...]:
    values = source.array(name)
    if values.dtype.kind not in 'US':
        raise RecordingError(f"{source.label}: '{name}' must be text, the names of the joints")
    try:
        names = tuple(np.ravel(values).astype(str).tolist())
        ''.join(names).encode()
    except ValueError as error:    # bytes beyond ASCII, code points that are not characters
        raise RecordingError(f"{source.label}: '{name}' is not valid text") from error
    if len(names) != count:
        raise RecordingError(f"{source.label}: '{name}' names {len(names)} joints, its positions "
                             f'have {count} columns')
    return names
