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
"""Friction of the plant: Coulomb, Stribeck and viscous, along each element of the transmission."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array, read_only


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
