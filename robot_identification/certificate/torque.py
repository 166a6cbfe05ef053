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

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.certificate.requirements import (
    nominal_inertial,
    nominal_rotor_inertia,
    Requirements,
)
from robot_identification.certificate.state_constraint import StateConstraint
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.errors import ExcitationError
from robot_identification.motion import Series

RESERVE = 5e-3    # of the limits, for what happens between the times of the grid


class NominalTorque:
    """
    Torque of the nominal model: rigid bodies of the URDF, known rotor inertias, payload.

    Friction is not in it; the margin is for that.

    Parameters
    ----------
    arm
        The arm.
    requirements
        For the payload.

    """

    def __init__(self, arm: Arm, requirements: Requirements) -> None:
        from robot_identification.dynamics.kernels import inverse_dynamics_rows

        self._fill, self.tree = inverse_dynamics_rows, Kinematics.of(arm)
        self.inertial = nominal_inertial(arm, requirements.payload)
        self.rotor = nominal_rotor_inertia(arm)
        self._model = pin.Model(arm.model)
        for i, parameters in enumerate(self.inertial):
            self._model.inertias[i + 1] = pin.Inertia.FromDynamicParameters(parameters)

    def torque(self, q: Array, v: Array, a: Array) -> Array:
        """Return torques, (N, n) [N m or N]; runs on the calling thread."""
        out = np.empty(q.shape)
        self._fill(q, v, a, *self.tree, self.inertial, out)
        out += a @ self.rotor
        return out

    def derivatives(self, q: Array, v: Array, a: Array) -> Array:
        """Return derivatives of the torques by q, v and a, (3, N, n, n)."""
        data = self._model.createData()
        out = np.empty((3, *q.shape, q.shape[1]))
        for k in range(len(q)):
            for d, block in enumerate(pin.computeRNEADerivatives(
                    self._model, data, q[k], v[k], a[k])):
                out[d, k] = block
        # only the upper triangle of the mass matrix is filled in some versions
        upper = np.triu(out[2])
        out[2] = upper + np.triu(upper, 1).transpose(0, 2, 1) + self.rotor
        return out


def torque_range(arm: Arm, margin: float) -> Array:
    """
    Return the torques that may be used, (n,), infinite where no rating is known.

    Raises
    ------
    ExcitationError
        No joint has a rating.

    """
    if not np.any(np.isfinite(arm.limits.torque)):
        raise ExcitationError(f"no joint of '{arm.name}' has a torque limit; give it in the robot "
                              f'YAML (`joints: {{{arm.joint_names[0]}: {{torque: ...}}}}`), or '
                              f'design without looking at torques (--no-torque)')
    values: Array = arm.limits.torque * (1.0 - margin)
    return values


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

    def __init__(self, arm: Arm, series: Series, requirements: Requirements,
                 reserve: float = RESERVE) -> None:
        super().__init__(series, 3)
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
        return f'{-slack * limit:.3g} {unit} (allowed are {limit:.3g} {unit})'


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

    def __init__(self, arm: Arm, series: Series, requirements: Requirements,
                 reserve: float = RESERVE) -> None:
        super().__init__(series, 3)
        self.nominal = NominalTorque(arm, requirements)
        self.range = float(requirements.power or np.inf) * (1.0 - reserve)

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

    def describe(self, index: int) -> str:
        """Return in words what slack number `index` limits."""
        return 'the power limit'

    def excess(self, index: int, slack: float) -> str:
        """Return in words by how much a negative slack breaks the limit."""
        return f'{-slack * self.range:.3g} W (allowed are {self.range:.3g} W)'
