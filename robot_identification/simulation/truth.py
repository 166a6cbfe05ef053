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
"""True parameters of a plant, the reference for identified parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import ModelStructure
from robot_identification.errors import ConfigurationError, SimulationError
from robot_identification.simulation.options import PlantOptions


@dataclass(frozen=True)
class PlantFriction(ReadOnlyArrays):
    """
    Friction of m actuators (joints and coupled drives).

    F(v) = [Fc + (Fs - Fc) exp(-(v / vs)^2)] sign(v) + Fv v, which is Coulomb and viscous friction
    if Fs = Fc.

    Parameters
    ----------
    coulomb, static
        Coulomb friction Fc and static friction Fs, (m,) [N m or N].
    viscous
        Viscous friction Fv, (m,) [N m s/rad or N s/m].
    stribeck_velocity
        Stribeck velocity vs [rad/s or m/s].

    """

    coulomb: Array
    static: Array
    viscous: Array
    stribeck_velocity: float

    @staticmethod
    def dry(v: Any, coulomb: Any, static: Any, stribeck_velocity: float) -> Any:
        """Return the dry friction Fc + (Fs - Fc) exp(-(v / vs)^2); the kernel compiles it too."""
        return coulomb + (static - coulomb) * np.exp(-(v / stribeck_velocity) ** 2)

    def torque(self, v: Array) -> Array:
        """
        Return the friction torque of actuators that slide, (..., m) [N m or N].

        Parameters
        ----------
        v
            Actuator velocities, (..., m) [rad/s or m/s]; dry friction at zero velocity is zero.

        """
        return self.dry(v, self.coulomb, self.static, self.stribeck_velocity) * np.sign(
            v) + self.viscous * v


@dataclass(frozen=True)
class PlantTruth(ReadOnlyArrays):
    """
    Parameters of a plant with n joints and m actuators (joints and coupled drives).

    Parameters
    ----------
    inertial
        Inertial parameters of the bodies about the joint frames in Pinocchio's order, (n, 10); a
        body includes the links that are fixed to it.
    rotor_inertia
        Rotor inertias, (m,) [kg m^2 or kg].
    friction
        Friction of the actuators.
    rated_torque, rated_velocity
        Rated torques [N m or N] and velocities [rad/s or m/s] of the joints, (n,).

    """

    inertial: Array
    rotor_inertia: Array
    friction: PlantFriction
    rated_torque: Array
    rated_velocity: Array

    def standard_parameters(self, structure: ModelStructure) -> Array:
        """
        Return the standard parameters of a model of this plant, (count,).

        Friction parameters that the plant does not have, such as an offset, are zero.

        Parameters
        ----------
        structure
            The model, with nonlinear friction parameters of the plant if it has them.

        """
        standard = np.zeros(structure.count)
        standard[structure.inertial_slice] = self.inertial.ravel()
        standard[structure.rotor_slice] = self.rotor_inertia
        zero = np.zeros(len(self.rotor_inertia))
        standard[structure.friction_slice] = np.column_stack([
            getattr(self.friction, name) if name in ('coulomb', 'static', 'viscous') else zero
            for name in structure.friction.parameters]).ravel()
        return standard


def rated(arm: Arm, name: str) -> Array:
    """
    Return the rated torque or velocity of every joint, (n,) [N m or N], [rad/s or m/s].

    Parameters
    ----------
    arm
        The arm, whose limits are the rated values.
    name
        'torque' or 'velocity'.

    Raises
    ------
    SimulationError
        The limit of a joint is unknown.

    """
    values: Array = getattr(arm.limits, name)
    unknown = [joint for joint, value in zip(arm.joint_names, values)
               if not (np.isfinite(value) and value > 0)]
    if unknown:
        raise SimulationError(
            f"the {name} limit of '{', '.join(unknown)}' is unknown, but determines "
            f'friction, noise and saturation; give `{name}:` in the robot YAML or in the URDF')
    return values


def draw_drives(arm: Arm, options: PlantOptions, torque: Array, velocity: Array,
                rng: np.random.Generator) -> tuple[Array, PlantFriction]:
    """
    Return random rotor inertias and friction of the m actuators (joints and coupled drives).

    Parameters
    ----------
    arm, options
        The arm and the options of its plant.
    torque, velocity
        Rated torques and velocities of the joints, (n,).
    rng
        Random generator.

    Returns
    -------
    tuple
        Rotor inertias, (m,) [kg m^2 or kg], and the friction.

    """
    owner = arm.drives.owners
    m = len(owner)
    rotor = torque[owner] / (rng.uniform(200, 400, m) * np.where(arm.prismatic[owner], 0.1, 1.0))
    nominal = arm.drives.rotor_inertia[owner]
    change = 1 + options.inertia_error * rng.uniform(-1, 1, m)
    rotor = np.where(np.isfinite(nominal), nominal * change, rotor)
    if options.rotor_inertia is not None:
        rotor = np.array(options.rotor_inertia, dtype=float)
        if rotor.shape != (m,) or not np.all(rotor >= 0):
            raise ConfigurationError(
                f'plant option `rotor_inertia` must be {m} values that are not negative, one for '
                f'each of: {", ".join(arm.actuator_names)}')
    coulomb = rng.uniform(*options.coulomb, m) * torque[owner]
    viscous = rng.uniform(*options.viscous, m) * torque[owner] / velocity[owner]
    return rotor, PlantFriction(coulomb, options.stribeck_ratio * coulomb, viscous,
                                options.stribeck_velocity)
