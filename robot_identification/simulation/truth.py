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
"""The truth about a plant: what an identification is compared with, and never given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ConfigurationError, SimulationError
from robot_identification.simulation.options import PlantOptions


@dataclass(frozen=True)
class PlantFriction:
    """
    Friction of m elements of a transmission.

    F(v) = [Fc + (Fs - Fc) exp(-(v / vs)^2)] sign(v) + Fv v; it is not the identified model's
    friction unless Fs = Fc.

    Parameters
    ----------
    coulomb, static
        Fc and Fs, (m,) [N m or N].
    viscous
        Fv, (m,) [N m s/rad or N s/m].
    stribeck_velocity
        vs [rad/s or m/s].

    """

    coulomb: Array
    static: Array
    viscous: Array
    stribeck_velocity: float

    def __post_init__(self) -> None:
        for name in ('coulomb', 'static', 'viscous'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def level(self, v: Array) -> Array:
        """
        Return the magnitude of dry friction at element velocities v, (..., m) [N m or N].

        Parameters
        ----------
        v
            Velocities, (..., m) [rad/s or m/s].

        """
        level: Array = self.dry(v, self.coulomb, self.static, self.stribeck_velocity)
        return level

    @staticmethod
    def dry(v: Any, coulomb: Any, static: Any, stribeck_velocity: float) -> Any:
        """Return Fc + (Fs - Fc) exp(-(v / vs)^2), of arrays, or of numbers in compiled code."""
        return coulomb + (static - coulomb) * np.exp(-(v / stribeck_velocity) ** 2)

    def torque(self, v: Array) -> Array:
        """
        Return the friction while sliding at element velocities v, (..., m) [N m or N].

        Parameters
        ----------
        v
            Velocities, (..., m) [rad/s or m/s]; dry friction at exactly zero is taken as zero.

        """
        torque: Array = self.level(v) * np.sign(v) + self.viscous * v
        return torque


@dataclass(frozen=True)
class PlantTruth:
    """
    Parameters of a plant with n joints and m elements of the transmission.

    Parameters
    ----------
    inertial
        (n, 10), Pinocchio's order, about the joint frames, links fixed to a joint folded in.
    rotor_inertia
        (m,) [kg m^2 or kg].
    friction
        Friction of the m elements.
    rated_torque, rated_velocity
        Rated values of the joints, (n,) [N m or N], [rad/s or m/s].

    """

    inertial: Array
    rotor_inertia: Array
    friction: PlantFriction
    rated_torque: Array
    rated_velocity: Array

    def __post_init__(self) -> None:
        for name in ('inertial', 'rotor_inertia', 'rated_torque', 'rated_velocity'):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def rated(arm: Arm, options: PlantOptions, name: str) -> Array:
    """
    Return the rated torque or velocity of every joint, (n,).

    Parameters
    ----------
    arm
        The arm, whose limits are used where the options have none.
    options
        Options of the plant.
    name
        'torque' or 'velocity'.

    Raises
    ------
    SimulationError
        Neither the arm nor the options know it.
    ConfigurationError
        The options give another number of values than there are joints.

    """
    given = getattr(options, f'rated_{name}')
    values = np.array(getattr(arm.limits, name) if given is None else given, dtype=float)
    if values.shape != (arm.n,):
        raise ConfigurationError(f'plant option `rated_{name}` has {values.size} values for '
                                 f'{arm.n} joints')
    unknown = [joint for joint, value in zip(arm.joint_names, values)
               if not (np.isfinite(value) and value > 0)]
    if unknown:
        raise SimulationError(
            f"the {name} limit of '{', '.join(unknown)}' is not known, and with it the size of "
            f'friction, noise and saturation; give `{name}:` in the robot YAML, the URDF or '
            f'`rated_{name}` in the plant options')
    return values


def draw_drives(arm: Arm, options: PlantOptions, torque: Array, velocity: Array,
                rng: np.random.Generator) -> tuple[Array, PlantFriction]:
    """
    Draw rotor inertias and friction of the m elements of the transmission.

    Parameters
    ----------
    arm, options
        The arm and the options of its plant.
    torque, velocity
        Rated values of the joints, (n,).
    rng
        Source of the draws.

    Returns
    -------
    tuple
        Rotor inertias (m,) [kg m^2 or kg], and the friction.

    """
    owner = arm.drives.owners
    m = len(owner)
    acceleration = rng.uniform(200, 400, m) * np.where(arm.prismatic[owner], 0.1, 1.0)
    rotor = torque[owner] / acceleration
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
