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
"""Motors, gears and their coupling, and what effort and position signals mean."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from robot_identification.arrays import Array, IndexArray, read_only
from robot_identification.errors import ArmError, ConfigurationError
from robot_identification.yaml_file import check_fields


@dataclass(frozen=True)
class Effort:
    """
    Meaning of the effort signal; there is no default, drivers differ.

    Parameters
    ----------
    quantity
        'torque' [N m or N] or 'current' [A], which needs the drives' gains.
    side
        'joint' when it is given behind the gear (and coupling), 'motor' when before it.
    sign
        1 when a positive effort accelerates the joint in its positive direction, else -1.
    gravity_compensated
        True when the driver has already taken the gravity torque away.

    Raises
    ------
    ConfigurationError
        Another value.

    """

    quantity: Literal['torque', 'current']
    side: Literal['joint', 'motor']
    sign: Literal[1, -1]
    gravity_compensated: bool

    def __post_init__(self) -> None:
        check_fields(self, ConfigurationError)


@dataclass(frozen=True)
class PositionSignal:
    """
    Meaning of the position signal.

    Parameters
    ----------
    side
        'joint', or 'motor' when angles before the gear are recorded.
    offset
        Added to the joint positions, (n,) [rad or m].

    """

    side: Literal['joint', 'motor']
    offset: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, 'offset', read_only(self.offset))


@dataclass(frozen=True)
class Drives:
    """
    Drives of an arm with n joints.

    With motor angles theta, joint positions q and `motor_from_joint` M = diag(reduction) coupling:
    theta = M q, and the torque at the joints is M' times the torque at the motors.

    Parameters
    ----------
    gains
        Torque per current, (n,) [N m/A], on the side that the effort signal is given for; NaN
        where unknown.
    reduction
        Turns of the motor per turn of the drive's output, (n,) [-]; negative where it reverses.
    rotor_inertia
        Nominal inertia of the rotor, seen at the drive's output, (n,) [kg m^2]; NaN where unknown.
    coupling
        (n, n) [-]; row k says how the output of drive k turns with the joints. Identity when
        every drive turns its own joint only.

    """

    gains: Array
    reduction: Array
    rotor_inertia: Array
    coupling: Array

    def __post_init__(self) -> None:
        for name in ('gains', 'reduction', 'rotor_inertia', 'coupling'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def direct(cls, n: int) -> Drives:
        """Return drives of n joints of which nothing is known but that they are not coupled."""
        return cls(np.full(n, np.nan), np.ones(n), np.full(n, np.nan), np.eye(n))

    def check(self, joint_names: tuple[str, ...]) -> None:
        """
        Refuse drives that cannot be.

        Raises
        ------
        ArmError
            A reduction or a gain of zero, a negative rotor inertia, a singular coupling.

        """
        for i, joint in enumerate(joint_names):
            if self.reduction[i] == 0 or not np.isfinite(self.reduction[i]):
                raise ArmError(f"drive of '{joint}': the reduction is {self.reduction[i]:g}")
            if self.gains[i] == 0:
                raise ArmError(f"drive of '{joint}': the gain is zero; give N m/A or leave it out")
            if self.rotor_inertia[i] < 0:
                raise ArmError(f"drive of '{joint}': the rotor inertia is negative")
        if abs(np.linalg.det(self.coupling)) < 1e-9:
            raise ArmError('the coupling between drives and joints is singular: '
                           'no motion of the motors belongs to some motion of the joints')

    @property
    def motor_from_joint(self) -> Array:
        """The matrix M with theta = M q, (n, n)."""
        return self.reduction[:, None] * self.coupling

    @cached_property
    def transmission(self) -> Array:
        """
        Directions in joint space along which friction and rotor inertia act, (m, n).

        The first n rows are the joints themselves; one more row follows for each drive that turns
        with several joints (the TX40's wrist: friction and inertia of v5 + v6 act on both).
        """
        n = len(self.gains)
        return read_only(np.vstack([np.eye(n), self.coupling[self.owners[n:]]]))

    @cached_property
    def owners(self) -> IndexArray:
        """The joint whose torque each row of `transmission` transmits, (m,)."""
        n = len(self.gains)
        coupled = [k for k, row in enumerate(self.coupling)
                   if not np.array_equal(row, np.eye(n)[k])]
        return np.array([*range(n), *coupled], dtype=np.intp)
