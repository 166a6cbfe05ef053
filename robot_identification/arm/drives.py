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
"""Drives (motors, gears, couplings), and the meaning of the effort and position signals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from robot_identification.arrays import Array, IndexArray, read_only, ReadOnlyArrays
from robot_identification.errors import ArmError, ConfigurationError
from robot_identification.yaml_file import check_fields


@dataclass(frozen=True)
class Effort:
    """
    Meaning of the effort signal. There is no default, because ROS drivers differ.

    Parameters
    ----------
    quantity
        'torque' [N m or N] or 'current' [A], which needs the drives' gains.
    side
        'joint' for efforts at the joint, after gear and coupling; 'motor' for efforts at the motor
        shaft.
    sign
        1 if a positive effort accelerates the joint in its positive direction, else -1.
    gravity_compensated
        True if the driver has already subtracted the gravity torque.

    Raises
    ------
    ConfigurationError
        A field has a value other than these.

    """

    quantity: Literal['torque', 'current']
    side: Literal['joint', 'motor']
    sign: Literal[1, -1]
    gravity_compensated: bool

    def __post_init__(self) -> None:
        check_fields(self, ConfigurationError)


@dataclass(frozen=True)
class PositionSignal(ReadOnlyArrays):
    """
    Meaning of the position signal.

    Parameters
    ----------
    side
        'joint' for positions of the joint, 'motor' for angles of the motor shaft.
    offset
        Offset that is added to the joint positions, (n,) [rad or m].

    """

    side: Literal['joint', 'motor']
    offset: Array


@dataclass(frozen=True)
class Drives(ReadOnlyArrays):
    """
    Motors, gears and couplings of an arm with n joints.

    The motor angles are theta = M q with M = diag(reduction) coupling (`motor_from_joint`). The
    torque at the joints is M' times the torque at the motors.

    Parameters
    ----------
    gains
        Torque per current, (n,) [N m/A], at the side (joint or motor) of the effort signal; NaN
        where unknown.
    reduction
        Turns of the motor per turn of the gear output, (n,) [-]; negative if the gear reverses the
        direction.
    rotor_inertia
        Nominal inertia of the rotor, reflected to the gear output, (n,) [kg m^2]; NaN where
        unknown.
    coupling
        Speed of each gear output (rows) per speed of each joint (columns), (n, n) [-]; the
        identity if every drive moves only its own joint.

    """

    gains: Array
    reduction: Array
    rotor_inertia: Array
    coupling: Array

    @classmethod
    def direct(cls, n: int) -> Drives:
        """Return n uncoupled drives with unknown gains and rotor inertias."""
        return cls(np.full(n, np.nan), np.ones(n), np.full(n, np.nan), np.eye(n))

    def check(self, joint_names: tuple[str, ...]) -> None:
        """
        Raise an error if a drive has an impossible value.

        Raises
        ------
        ArmError
            A reduction or a gain is zero, a rotor inertia is negative, or the coupling is
            singular.

        """
        for i, joint in enumerate(joint_names):
            if self.reduction[i] == 0 or not np.isfinite(self.reduction[i]):
                raise ArmError(f"drive of '{joint}': invalid reduction {self.reduction[i]:g}")
            if self.gains[i] == 0:
                raise ArmError(f"drive of '{joint}': the gain is zero; give N m/A or leave it out")
            if self.rotor_inertia[i] < 0:
                raise ArmError(f"drive of '{joint}': the rotor inertia is negative")
        if abs(np.linalg.det(self.coupling)) < 1e-9:
            raise ArmError('the coupling between drives and joints is singular: '
                           'the motors do not determine all joint positions')

    @property
    def motor_from_joint(self) -> Array:
        """The matrix M with theta = M q, (n, n)."""
        return self.reduction[:, None] * self.coupling

    @cached_property
    def transmission(self) -> Array:
        """
        Matrix (m, n) from joint velocities to the velocities at which friction and inertia act.

        Its transpose maps torques of friction and rotor inertia to joint torques. The first n rows
        are the joints. One row follows for each drive whose output moves with several joints. For
        instance, a drive at the wrist of the Staubli TX40 turns at v5 + v6, and its friction and
        rotor inertia load both joints.
        """
        n = len(self.gains)
        return read_only(np.vstack([np.eye(n), self.coupling[self.owners[n:]]]))

    @cached_property
    def owners(self) -> IndexArray:
        """Index of the joint whose torque each actuator (row of `transmission`) carries, (m,)."""
        n = len(self.gains)
        coupled = np.flatnonzero(np.any(self.coupling != np.eye(n), axis=1))
        return np.concatenate([np.arange(n), coupled])
