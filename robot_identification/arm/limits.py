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
"""Limits of the joints of an arm."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.errors import ArmError
from robot_identification.html_table import html_table

FASTEST = 50.0    # [rad] and [rad/s]: larger position and velocity limits are probably in degrees
MAGNITUDES = ('velocity', 'acceleration', 'jerk', 'torque')
"""Limits that are one positive number for each joint."""


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

    def html(self, caption: str, joint_names: tuple[str, ...], units: tuple[str, ...]) -> str:
        """Return a table of the limits for notebooks; infinite ones are empty."""
        return html_table(
            caption, ('joint', 'unit', 'lower', 'upper', *MAGNITUDES),
            zip(joint_names, units, self.lower, self.upper,
                *(getattr(self, name) for name in MAGNITUDES)))

    def check(self, joint_names: tuple[str, ...]) -> None:
        """
        Raise an error if limits contradict each other.

        Raises
        ------
        ArmError
            A lower limit is not below the upper one, or a magnitude is not positive.

        """
        for i, joint in enumerate(joint_names):
            if not self.lower[i] < self.upper[i]:
                raise ArmError(
                    f"joint '{joint}': the lower position limit {self.lower[i]:g} is not below "
                    f'the upper one {self.upper[i]:g}; give them with: robot-identification '
                    f'init --repair --position {joint}=LOWER:UPPER')
            for name in MAGNITUDES:
                value = getattr(self, name)[i]
                if not value > 0:
                    raise ArmError(
                        f"joint '{joint}': the {name} limit must be positive, but is {value:g}; "
                        f'correct the URDF or give `{name}:` in the robot YAML')
