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
"""Names of the signals in files, and their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.recording_block import (
    JOINT,
    RECORDING_KEYS,
    SIGNAL_KEYS,
    unit_factor,
)
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError, UnknownNameError

LISTED_NAMES = 20    # names of a file that an error message lists; LeRobot datasets have fewer


@dataclass(frozen=True)
class SignalName:
    """
    A name that a signal may have in a file, and its unit there.

    Parameters
    ----------
    name
        Name of the column or array, or its beginning: `q` of `q_<joint>`. With `{joint}` in it,
        the full name of each joint's column.
    aliases
        Names of the joints in the file, by joint.
    factor
        Factor from the unit of the file to SI; by joint where each has its own.
    angular
        Whether the unit is an angle, which does not apply to prismatic joints.

    """

    name: str
    aliases: Mapping[str, str]
    factor: float | Mapping[str, float] = 1.0
    angular: bool = False

    def columns(self, present: Sequence[str], joints: Sequence[str]) -> list[str]:
        """
        Return the name of each joint's column, whether the file has it or not.

        Parameters
        ----------
        present
            Columns of the file.
        joints
            Names of the joints.

        """
        called = [self.aliases.get(joint, joint) for joint in joints]
        if JOINT in self.name:
            return [self.name.replace(JOINT, alias) for alias in called]
        columns = [f'{self.name}_{alias}' for alias in called]
        if len(joints) == 1 and self.name in present and columns[0] not in present:
            return [self.name]
        return columns

    def to_si(self, values: Array, joints: Sequence[str], arm: Arm | None) -> Array:
        """
        Return values in SI units, (N, n).

        Parameters
        ----------
        values
            As recorded, (N, n), or (N,) of one joint.
        joints
            Names of the n joints.
        arm
            The arm; angular units do not apply to its prismatic joints.

        """
        if self.factor == 1.0:
            return values
        if isinstance(self.factor, Mapping):
            return values * np.array([self.factor[joint] for joint in joints])
        prismatic = set() if arm is None or not self.angular else {
            joint for joint, slides in zip(arm.joint_names, arm.prismatic) if slides}
        return values * np.array([1.0 if joint in prismatic else self.factor for joint in joints])

    def seconds(self, stamps: Array, first: float) -> Array:
        """
        Return stamps in seconds.

        Stamps in other units count from the first one, which preserves their precision.

        Parameters
        ----------
        stamps
            As recorded, (N,).
        first
            The first stamp of the file.

        """
        factor = self.factor
        if not isinstance(factor, float) or factor == 1.0:
            return stamps
        return (stamps - first) * factor


def signal_names(arm: Arm | None,
                 block: Mapping[str, Any] | None) -> dict[str, tuple[SignalName, ...]]:
    """
    Return the names that each signal may have in a file, in the order of preference.

    A name in the robot YAML or in `block` precedes the standard one, under which this package
    writes its own files.

    Parameters
    ----------
    arm
        Its robot YAML may name the signals, under `recording`.
    block
        A block `recording` that overrides the robot YAML's, key by key.

    Raises
    ------
    UnknownNameError
        The block names a signal that recordings do not have.
    ConfigurationError
        A unit is not known.

    """
    merged: dict[str, Any] = {}
    for each in (arm.recording_keys if arm is not None else {}, block or {}):
        for signal in each:
            if signal not in RECORDING_KEYS:
                raise UnknownNameError('signal of a recording', signal, SIGNAL_KEYS)
        merged.update(each)
    units, names = merged.get('units', {}), merged.get('names', {})
    if arm is not None and not isinstance(names, Mapping):
        names = dict(zip(arm.joint_names, names, strict=True))
    aliases = {joint: str(name) for joint, name in names.items()}
    result: dict[str, tuple[SignalName, ...]] = {}
    for signal in SIGNAL_KEYS:
        unit = units.get(signal, units.get('q') if signal == 'command' else None)
        factor = {joint: _factor(signal, own) for joint, own in unit.items()} if isinstance(
            unit, Mapping) else _factor(signal, unit)
        own = SignalName(merged.get(signal, signal), aliases, factor,
                         signal in ('q', 'v', 'command') and isinstance(unit, str))
        standard = SignalName(signal, {})
        result[signal] = (own,) if own == standard else (own, standard)
    return result


def _factor(signal: str, unit: Any) -> float:
    return 1.0 if unit is None else unit_factor(signal, unit, '`recording: {units: ...}`')


def distinct_names(names: Iterable[SignalName]) -> list[str]:
    """Return the names as text, each once."""
    return list(dict.fromkeys(each.name for each in names))


def missing_signal(label: str, kind: str, names: Iterable[str], present: Sequence[str],
                   signal: str) -> RecordingError:
    """
    Return the error for a signal that is not in a file.

    Parameters
    ----------
    label, kind
        The file and what it consists of, for the message: 'array' or 'column'.
    names, present
        The names that were looked up, and those in the file.
    signal
        Key of the signal in the block `recording`.

    """
    listed = ', '.join(name[:60] for name in present[:LISTED_NAMES])
    if len(present) > LISTED_NAMES:
        listed += f' and {len(present) - LISTED_NAMES} more'
    quoted = ', '.join(f"'{name}'" for name in names)
    return RecordingError(
        f'{label} has no {kind} {quoted}; it has: {listed}. Rename it, or name it in '
        f'the robot YAML: `recording: {{{signal}: NAME}}` (`init --recording` proposes the block)')
