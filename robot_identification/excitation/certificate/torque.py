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
"""Torque and power of the nominal model."""

from __future__ import annotations

import dataclasses

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.excitation.certificate.claim import (
    CertificateClaim,
    describe_critical_joint,
)
from robot_identification.excitation.certificate.nominal_torque import NominalTorque, torque_range
from robot_identification.excitation.certificate.requirements import Requirements
from robot_identification.excitation.certificate.state_constraint import StateConstraint
from robot_identification.excitation.certificate.torque_proof import METHOD, prove_torque
from robot_identification.excitation.motion import Series, Trajectory

RESERVE = 5e-3    # of the limits, for what happens between the times of the grid


class TorqueLimits(StateConstraint):
    """
    Torques of the nominal model stay within a part of the rated ones.

    Parameters
    ----------
    arm
        The arm; joints without a rated torque are not limited.
    series
        The parametrisation.
    requirements
        Margin and payload.
    reserve
        Part of the limits that is kept free beyond the margin.

    """

    hint = ('allow a smaller `torque_margin` or a lighter --payload, correct the masses or torque '
            'limits of the URDF, or design without torque checks (--no-torque)')

    def __init__(self, arm: Arm, series: Series, requirements: Requirements,
                 reserve: float = RESERVE) -> None:
        super().__init__(series, 3)
        self.arm, self.requirements = arm, dataclasses.replace(requirements, power=None)
        self.nominal, self.names = NominalTorque(arm, requirements), arm.joint_names
        self.units = ['N' if slides else 'N m' for slides in arm.prismatic]
        self.range = torque_range(arm, requirements.torque_margin or 0.0) * (1.0 - reserve)

    def at(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks to the upper, then to the lower limits, (N, 2 n)."""
        relative = self.nominal.torque(*states) / self.range
        return np.concatenate([1.0 - relative, 1.0 + relative], axis=1)

    def derivatives(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks' derivatives, (3, N, 2 n, n)."""
        relative = self.nominal.derivatives(*states) / self.range[:, None]
        return np.concatenate([-relative, relative], axis=2)

    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return the claim for the joint that uses most of its rated torque."""
        usage, _ = prove_torque(self.arm, trajectory, self.requirements)
        worst, allowed = int(np.argmax(usage)), 1.0 - (self.requirements.torque_margin or 0.0)
        return (CertificateClaim(
            'torque', float(usage[worst]), allowed, 'of the rated torque',
            METHOD + self.nominal.words, bool(usage[worst] <= allowed),
            describe_critical_joint(self.names[worst], self.arm.wider_limits)),)

    def describe(self, index: int) -> str:
        """Return in words what slack number `index` limits."""
        n = len(self.names)
        _, number = self.place(index, 2 * n)
        return f"the torque limit of joint '{self.names[number % n]}'"

    def excess(self, index: int, slack: float) -> str:
        """Return in words by how much a negative slack breaks the limit."""
        n = len(self.names)
        _, number = self.place(index, 2 * n)
        limit, unit = self.range[number % n], self.units[number % n]
        return f'{-slack * limit:.3g} {unit} (limit {limit:.3g} {unit})'


class PowerLimit(StateConstraint):
    """
    Mechanical power of all joints together stays within a bound, of either sign.

    Parameters
    ----------
    arm, series, reserve
        As `TorqueLimits`.
    requirements
        Power and payload.

    """

    hint = 'allow more `power`, or a lighter --payload'

    def __init__(self, arm: Arm, series: Series, requirements: Requirements,
                 reserve: float = RESERVE) -> None:
        super().__init__(series, 3)
        self.arm, self.requirements = arm, requirements
        self.nominal, self.limit = NominalTorque(arm, requirements), requirements.power or np.inf
        self.range = self.limit * (1.0 - reserve)

    def at(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks to the upper and the lower limit, (N, 2)."""
        relative = np.sum(self.nominal.torque(*states) * states[1], axis=1) / self.range
        return np.column_stack([1.0 - relative, 1.0 + relative])

    def derivatives(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks' derivatives, (3, N, 2, n)."""
        by_state = np.einsum('kj,dkji->dki', states[1], self.nominal.derivatives(*states))
        by_state[1] += self.nominal.torque(*states)
        relative = by_state[:, :, None] / self.range
        return np.concatenate([-relative, relative], axis=2)

    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return the claim for all joints together."""
        _, power = prove_torque(self.arm, trajectory, self.requirements)
        return (CertificateClaim('power', power, self.limit, 'W', METHOD + self.nominal.words,
                                 bool(power <= self.limit)),)

    def describe(self, index: int) -> str:
        """Return in words what slack number `index` limits."""
        return 'the power limit'

    def excess(self, index: int, slack: float) -> str:
        """Return in words by how much a negative slack breaks the limit."""
        return f'{-slack * self.range:.3g} W (limit {self.range:.3g} W)'
