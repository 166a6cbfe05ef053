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
"""Limits of the joints of an arm, and those of MoveIt, which may be smaller."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.errors import (
    ArmError,
    ConfigurationError,
    RobotIdentificationError,
)
from robot_identification.yaml_file import Quantity, read_typed, read_yaml

FASTEST = 50.0    # [rad] and [rad/s]: larger position and velocity limits are probably in degrees
MAGNITUDES = ('velocity', 'acceleration', 'jerk', 'torque')
"""Limits that are one positive number for each joint."""
JOINT = {
    'has_velocity_limits': bool | None, 'has_acceleration_limits': bool | None,
    **dict.fromkeys(('max_velocity', 'max_acceleration'),
                    Annotated[float, Quantity(above=0)] | None)}
"""Keys of a joint in a joint_limits.yaml of MoveIt that are read, and their types."""


@dataclass(frozen=True)
class Limits(ReadOnlyArrays):
    """
    Limits of n joints; unknown limits are infinite.

    Parameters
    ----------
    lower, upper
        Position limits, (n,) [rad or m].
    velocity, acceleration, jerk
        Largest magnitudes, (n,) [rad/s or m/s, and their derivatives].
    torque
        Rated torques at the joints, (n,) [N m or N].

    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    torque: Array

    def check(self, joint_names: tuple[str, ...], error: type[RobotIdentificationError] = ArmError,
              remedy: str = 'correct the URDF or give `{name}:` in the robot YAML') -> None:
        """
        Raise an error if limits contradict each other.

        Parameters
        ----------
        joint_names
            Names of the joints, for the message.
        error
            Class of the error to raise.
        remedy
            What to do about a magnitude, in which `{name}` stands for that of the magnitude.

        Raises
        ------
        RobotIdentificationError
            An error of the class `error`: a lower limit is not below the upper one, or a magnitude
            is not positive.

        """
        for i, joint in enumerate(joint_names):
            if not self.lower[i] < self.upper[i]:
                raise error(
                    f"joint '{joint}': the lower position limit {self.lower[i]:g} is not below "
                    f'the upper one {self.upper[i]:g}; give them with: robot-identification '
                    f'init --repair --position {joint}=LOWER:UPPER')
            for name in MAGNITUDES:
                value = getattr(self, name)[i]
                if not value > 0:
                    raise error(
                        f"joint '{joint}': the {name} limit must be positive, but is {value:g}; "
                        f'{remedy.format(name=name)}')

    def to_mapping(self, joint_names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """Return the limits by joint, as in a robot YAML and in an excitation file."""
        return {joint: {'position': (self.lower[i], self.upper[i]),
                        **{name: getattr(self, name)[i] for name in MAGNITUDES}}
                for i, joint in enumerate(joint_names)}


def apply_moveit_limits(path: Path, joint_names: tuple[str, ...],
                        limits: Limits) -> tuple[Limits, tuple[str, ...]]:
    """
    Return limits reduced to those of a joint_limits.yaml, and a note on larger ones in the file.

    Parameters
    ----------
    path
        The file joint_limits.yaml of a MoveIt configuration.
    joint_names
        Names of the joints, which are looked up in the file.
    limits
        Limits from elsewhere; the smaller of two values is used.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or has no limits of these joints.

    """
    label, count = f"MoveIt's joint limits '{path}'", 0
    content = read_typed(
        {'joint_limits': {str: Any}}, read_yaml(path, 'joint limits', ConfigurationError), label,
        ConfigurationError)['joint_limits']
    smaller = {name: np.array(getattr(limits, name)) for name in ('velocity', 'acceleration')}
    unused: list[str] = []
    for i, joint in enumerate(joint_names):
        config = read_typed(JOINT, content.get(joint, {}), f'{label}, {joint}',
                            ConfigurationError)
        for name, values in smaller.items():
            value = config[f'max_{name}']
            if config[f'has_{name}_limits'] and value is not None:
                if value > values[i]:
                    unused.append(f'{name} of {joint} {value:g} instead of {values[i]:g}')
                values[i] = min(value, values[i])
                count += 1
    if not count:
        raise ConfigurationError(f"'{path}' has no limits of {', '.join(joint_names)}")
    note = f"'{path}' has larger limits than the URDF or the options, which are kept: "
    return replace(limits, **smaller), (note + ', '.join(unused),) if unused else ()
