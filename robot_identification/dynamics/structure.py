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
"""Model structure: which parameters the torque of an arm is linear in, and their columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics.friction import FrictionModel, get_friction
from robot_identification.dynamics.inertial import INERTIAL_NAMES, INERTIAL_UNITS
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.dynamics.regressor import joint_torque_regressor


@dataclass(frozen=True, eq=False)
class ModelStructure:
    """
    The standard parameters of an arm and the columns that belong to them.

    tau = [W_inertial, W_rotor, W_friction] [pi; rotor inertias; friction], with 10 parameters for
    each of the n links, then one rotor inertia and k friction parameters for each of the m rows of
    `arm.transmission` (joints, then coupled drives).

    Parameters
    ----------
    arm
        The arm.
    friction
        Friction model of every joint and drive.
    backend
        Regressor backend, None for what is installed.
    """

    arm: Arm
    friction: FrictionModel
    backend: str | None = None

    @classmethod
    def of(cls, arm: Arm, friction: str = 'coulomb_viscous',
           backend: str | None = None) -> ModelStructure:
        """Return the structure with the friction model of that name."""
        return cls(arm, get_friction(friction), backend)

    @property
    def inertial(self) -> slice:
        """Place of the inertial parameters among the standard parameters."""
        return slice(0, 10 * self.arm.n)

    @property
    def rotor(self) -> slice:
        """Place of the rotor inertias."""
        return slice(10 * self.arm.n, 10 * self.arm.n + len(self.arm.transmission))

    @property
    def friction_part(self) -> slice:
        """Place of the friction parameters, all of one element after the other."""
        return slice(self.rotor.stop, self.count)

    @property
    def count(self) -> int:
        """Number of standard parameters."""
        return self.rotor.stop + len(self.arm.transmission) * len(self.friction.parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the standard parameters, 'joint.parameter'."""
        elements = self.arm.element_names
        return (*(f'{joint}.{name}' for joint in self.arm.joint_names for name in INERTIAL_NAMES),
                *(f'{element}.rotor_inertia' for element in elements),
                *(f'{element}.{name}' for element in elements
                  for name in self.friction.parameters))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the standard parameters."""
        slides = [bool(np.any(self.arm.prismatic[row != 0])) for row in self.arm.transmission]
        return (*(INERTIAL_UNITS * self.arm.n),
                *('kg' if linear else 'kg m^2' for linear in slides),
                *(_linear(unit) if linear else unit
                  for linear in slides for unit in self.friction.units))

    @property
    def support(self) -> Array:
        """Whether parameter c can act on joint j, (n, count) bool at [j, c]."""
        carries = np.repeat(Kinematics.of(self.arm).beyond(), 10, axis=1)
        acts = (self.arm.transmission != 0).T
        k = len(self.friction.parameters)
        return read_only(np.hstack([carries, acts, np.repeat(acts, k, axis=1)]), dtype=bool)

    def columns(self, q: Array, v: Array, a: Array) -> Array:
        """
        Return all columns, (N, n, count), for states of shape (N, n).

        Parameters
        ----------
        q, v, a
            Positions, velocities, accelerations [rad or m, per s, per s^2].
        """
        out = np.empty((len(q), self.arm.n, self.count))
        out[:, :, self.inertial] = joint_torque_regressor(self.arm, q, v, a, backend=self.backend)
        out[:, :, self.rotor.start:] = self.drive_columns(v, a)
        return out

    def drive_columns(self, v: Array, a: Array) -> Array:
        """Return the columns of rotor inertias and friction, (N, n, m + m k)."""
        transmission = self.arm.transmission
        rotor = (a @ transmission.T)[:, None, :] * transmission.T
        friction = self.friction.columns(v @ transmission.T)           # (N, m, k)
        spread = transmission.T[None, :, :, None] * friction[:, None]  # (N, n, m, k)
        return np.concatenate([rotor, spread.reshape(len(v), self.arm.n, -1)], axis=2)


def _linear(unit: str) -> str:
    return unit.replace('N m', 'N').replace('rad', 'm')
