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
"""Reads the signals of a recording from the columns of a file, block by block."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.robot_keys import JOINT, SIGNAL_KEYS, unit_factor
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.recording.column_source import ColumnSource
from robot_identification.recording.infer_columns import infer_columns, recording_line

SIGNALS = ('q', 'v', 'tau', 'current', 'command')
LISTED_NAMES = 20    # maximum column names in an error message; LeRobot datasets have fewer
Block = dict[str, Array]


@dataclass(frozen=True)
class SignalName:
    """
    Name and unit of a signal in a file.

    Parameters
    ----------
    name
        Name of an array of all joints, or the first part of column names: `q` of `q_<joint>`. A
        name with `{joint}` is the full name of each joint's column.
    aliases
        Names of the arm's joints in the file, by joint. Joints that are missing have their own
        name.
    factors
        Factors from the unit in the file to SI, by joint; 1 for joints that are missing.

    """

    name: str
    aliases: Mapping[str, str] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)

    def columns(self, source: ColumnSource, joints: Sequence[str]) -> list[str]:
        """
        Return the name that each joint's column must have; the file may lack the column.

        Parameters
        ----------
        source
            The file.
        joints
            Names of the joints.

        """
        aliases = [self.aliases.get(joint, joint) for joint in joints]
        if JOINT in self.name:
            return [self.name.replace(JOINT, alias) for alias in aliases]
        if self.name in source.widths:    # an array of all joints
            return [f'{self.name}[{alias if alias.isdecimal() else k}]'
                    for k, alias in enumerate(aliases)]
        columns = [f'{self.name}_{alias}' for alias in aliases]
        if len(joints) == 1 and self.name in source.names and columns[0] not in source.names:
            return [self.name]
        return columns

    def to_si(self, values: Array, joints: Sequence[str]) -> Array:
        """
        Return values in SI units, (N, n).

        Parameters
        ----------
        values
            Recorded values, (N, n).
        joints
            Names of the n joints.

        """
        if not self.factors:
            return values
        return values * np.array([self.factors.get(joint, 1.0) for joint in joints])


Names = dict[str, SignalName]


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
        Iterator over the blocks. A block is a dict with the stamps `t`, (N,) [s], and the values
        of each recorded signal, (N, n) in SI units. The file is open until the last block is read.
    remarks
        Function that returns the remarks on the blocks read so far.

    """

    name: str
    joint_names: tuple[str, ...]
    blocks: Iterator[Block]
    remarks: Callable[[], tuple[str, ...]]


def signal_blocks(source: ColumnSource, arm: Arm | None) -> SignalBlocks:
    """
    Return the signals of a file.

    Columns are searched for under the names in the robot YAML, then under the names that this
    package writes. If the file has neither, the meaning of its columns is inferred from their
    names: a unique interpretation is used and stated in a remark, an ambiguous one is an error.

    Parameters
    ----------
    source
        The columns.
    arm
        The arm whose joints are read; None for all joints of the file.

    Raises
    ------
    RecordingError
        A column or joint is missing, or the meaning of the columns is ambiguous.

    """
    source.name_for(arm)
    names, standard = signal_names(arm), signal_names(None)
    remarks: tuple[str, ...] = ()
    if arm is not None:
        present = _present(source, names, arm.joint_names)
        if len(present) < 2 == len(_present(source, standard, arm.joint_names)):
            names = standard
        elif len(present) < 2 and not arm.recording_keys:
            names, remarks = _infer_names(source, arm)
    joints = arm.joint_names if arm is not None else ()
    stored = source.joint_names(names['joint_names'].name)
    if stored:
        joint_of = {alias: joint for joint, alias in names['q'].aliases.items()}
        joints = tuple(joint_of.get(name, name) for name in stored)
        names = {signal: replace(name, aliases={}) for signal, name in names.items()}
    joints = joints or _joints(source)
    columns = _columns(source, names, joints)
    return SignalBlocks(source.name, joints, _read(source, columns, names, joints),
                        lambda: (*remarks, *source.remarks))


def signal_names(arm: Arm | None, block: Mapping[str, Any] | None = None) -> dict[str, SignalName]:
    """
    Return the name and unit of each signal, by its key in the block `recording`.

    Parameters
    ----------
    arm
        The arm; angular units do not apply to its prismatic joints. None for the standard names,
        which this package writes, and SI units.
    block
        The block `recording`. Default: that of the robot YAML. A signal that it does not name has
        its standard name.

    Raises
    ------
    ConfigurationError
        A unit is not known.

    """
    if arm is None:
        return {signal: SignalName(signal) for signal in SIGNAL_KEYS}
    block = arm.recording_keys if block is None else block
    units = block.get('units', {})
    aliases = {joint: str(name) for joint, name in block.get('names', {}).items()}
    result = {}
    for signal in SIGNAL_KEYS:
        unit = units.get(signal, units.get('q') if signal == 'command' else None)
        angular = isinstance(unit, str) and signal in ('q', 'v', 'command')
        own = unit if isinstance(unit, Mapping) else {} if unit is None else {
            joint: unit for joint, slides in zip(arm.joint_names, arm.prismatic)
            if not (slides and angular)}
        result[signal] = SignalName(block.get(signal, signal), aliases, {
            joint: unit_factor(signal, each, '`recording: {units: ...}`')
            for joint, each in own.items()})
    return result


def merge_blocks(blocks: list[Block]) -> Block:
    """
    Return the concatenated, read-only arrays of blocks, and empty the list of blocks.

    The blocks of a signal are released once they are joined, so that only one signal at a time
    is in memory twice.
    """
    merged: Block = {}
    for signal in list(blocks[0]) if blocks else ():
        merged[signal] = np.concatenate([block.pop(signal) for block in blocks])
        merged[signal].flags.writeable = False
    blocks.clear()
    return merged


def _present(source: ColumnSource, names: Names, joints: Sequence[str]) -> list[str]:
    """Return which of 't' and 'q' are in a file under these names."""
    columns = {'t': [names['t'].name], 'q': names['q'].columns(source, joints)}
    return [signal for signal, group in columns.items() if set(group) & set(source.names)]


def _infer_names(source: ColumnSource, arm: Arm) -> tuple[Names, tuple[str, ...]]:
    """Return the inferred names and a remark on them; the configured names if there are none."""
    inferred = infer_columns(source, arm)
    if inferred is None:
        return signal_names(arm), ()
    remark = (f'{source.label} {"is" if inferred.certain else "may be"} read as '
              f'`{recording_line(inferred.block)}`; put this line into the robot YAML, or a '
              f'corrected one{": " if inferred.notes else ""}{"; ".join(inferred.notes)}')
    if not inferred.certain:
        raise RecordingError(remark)
    return signal_names(arm, inferred.block), (remark,)


def _joints(source: ColumnSource) -> tuple[str, ...]:
    """Return the joint names in the position columns `q_<joint>` of a file."""
    joints = tuple(column[2:] for column in source.names if column.startswith('q_'))
    if joints or 'q' in source.names:
        return joints or ('q',)
    if 'q' in source.widths:
        raise RecordingError(f'{source.label} does not name its joints; add an array of strings '
                             '`joint_names`, or read it with its arm')
    raise _missing_signal(source, ['q_<joint>'], 'q')


def _columns(source: ColumnSource, names: Names, joints: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the names of the columns of 't' and of each recorded signal, one per joint."""
    result = {}
    for signal in ('t', *SIGNALS):
        name = names[signal]
        columns = [name.name] if signal == 't' else name.columns(source, joints)
        absent = [column for column in columns if column not in source.names]
        if absent == columns and name.name == signal and signal not in ('t', 'q'):
            continue    # not recorded
        width = source.widths.get(name.name, len(joints))
        if width != len(joints) and not name.aliases:
            raise RecordingError(
                f"{source.label}: the array '{name.name}' has {width} columns for the "
                f'{len(joints)} joints {", ".join(joints)}; lock joints that were not recorded, '
                f"add an array 'joint_names' of {width} strings, or number the columns of the "
                'joints in the robot YAML: `recording: {names: [0, 1, ...]}`')
        if absent:
            raise _missing_signal(source, absent, signal)
        result[signal] = columns
    return result


def _read(source: ColumnSource, columns: dict[str, list[str]], names: Names,
          joints: tuple[str, ...]) -> Iterator[Block]:
    """Yield blocks in SI units; stamps that are converted to seconds start at zero."""
    first: float | None = None
    factor = next(iter(names['t'].factors.values()), 1.0)
    for table in source.blocks([column for group in columns.values() for column in group]):
        if first is None and len(table):
            first = table[0, 0]
        stamps = table[:, 0] if factor == 1.0 or first is None else (table[:, 0] - first) * factor
        block, start = {'t': stamps}, 1
        for signal in list(columns)[1:]:
            stop = start + len(columns[signal])
            block[signal], start = names[signal].to_si(table[:, start:stop], joints), stop
        yield block


def _missing_signal(source: ColumnSource, names: Sequence[str], signal: str) -> RecordingError:
    """Return the error for a signal whose columns are not in a file."""
    listed = ', '.join(name[:60] for name in source.names[:LISTED_NAMES])
    if len(source.names) > LISTED_NAMES:
        listed += f' and {len(source.names) - LISTED_NAMES} more'
    quoted = ', '.join(f"'{name}'" for name in names)
    return RecordingError('; '.join([
        f'{source.label} has no column {quoted}; it has: {listed}. Rename it, or name it '
        f'in the robot YAML: `recording: {{{signal}: NAME}}` (`init --recording` proposes the '
        'block)', *source.remarks]))
