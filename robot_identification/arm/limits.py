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

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ArmError

FASTEST = 50.0    # [rad] and [rad/s]: no joint of an arm turns so far or so fast; degrees do


@dataclass(frozen=True)
class Limits:
    """
    Joint limits, one value per joint; infinite where nothing is known.

    Parameters
    ----------
    lower, upper
        Positions, (n,) [rad or m].
    velocity, acceleration, jerk
        Largest magnitudes, (n,) [rad/s or m/s, and their derivatives].
    torque
        Rated magnitude at the joint, (n,) [N m or N].

    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    torque: Array

    def __post_init__(self) -> None:
        for name in ('lower', 'upper', 'velocity', 'acceleration', 'jerk', 'torque'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def check(self, joint_names: tuple[str, ...]) -> None:
        """
        Refuse limits that contradict themselves.

        Raises
        ------
        ArmError
            A lower limit that is not below the upper one, or a magnitude that is not positive.

        """
        for i, joint in enumerate(joint_names):
            if not self.lower[i] < self.upper[i]:
                raise ArmError(
                    f"joint '{joint}': the lower position limit {self.lower[i]:g} is not below "
                    f'the upper one {self.upper[i]:g}; correct the URDF or give `position: '
                    '[lower, upper]` in the robot YAML')
            for name in ('velocity', 'acceleration', 'jerk', 'torque'):
                value = getattr(self, name)[i]
                if not value > 0:
                    raise ArmError(
                        f"joint '{joint}': the {name} limit is {value:g}, it must be positive; "
                        f'correct the URDF or give `{name}:` in the robot YAML')

    def warnings(self, joint_names: tuple[str, ...], prismatic: Array) -> tuple[str, ...]:
        """Return sentences about limits that no joint that turns has, as those in degrees."""
        found = []
        for i, joint in enumerate(joint_names):
            far = max(abs(x) for x in (self.lower[i], self.upper[i], 0.0) if np.isfinite(x))
            fast = self.velocity[i] if np.isfinite(self.velocity[i]) else 0.0
            words = [f'{value:g} {unit}' for value, unit in ((far, 'rad'), (fast, 'rad/s'))
                     if value > FASTEST]
            if words and not prismatic[i]:
                found.append(f"joint '{joint}' may turn by {' and at '.join(words)}: if these are "
                             'degrees, correct the URDF; else give less under `joints` in the '
                             'robot YAML')
        return tuple(found)

    def missing(self, name: str, joint_names: tuple[str, ...]) -> list[str]:
        """Return the joints for which the limit `name` is not known."""
        known = np.isfinite(getattr(self, name))
        return [joint for joint, is_known in zip(joint_names, known) if not is_known]
