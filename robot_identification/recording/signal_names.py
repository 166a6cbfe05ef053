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
"""Names and units of the signals in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.robot_keys import JOINT, SIGNAL_KEYS, unit_factor
from robot_identification.arrays import Array
from robot_identification.recording.column_source import ColumnSource


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
