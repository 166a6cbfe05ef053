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
"""Coulomb, viscous and cube-root friction."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.friction import FrictionModel


class CubeRoot(FrictionModel):
    """
    Friction Fc sgn(v) + Fv v + f1 cbrt(v) + offset, linear in all of its parameters.

    References
    ----------
    M. Grotjahn, M. Daemi, B. Heimann, "Friction and rigid body identification of robot dynamics",
    Int. J. Solids and Structures 38, 2001.

    """

    name = 'cube_root'
    parameters = ('coulomb', 'viscous', 'cube_root', 'offset')
    units = ('N m', 'N m s/rad', 'N m (s/rad)^(1/3)', 'N m')
    passive = (True, True, False, False)
    formula = 'Fc sgn(v) + Fv v + f1 cbrt(v) + offset'

    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """Return sgn(v), v, cbrt(v) and 1, (..., 4)."""
        self.numbers(shape)
        return np.stack([np.sign(v), v, np.cbrt(v), np.ones_like(v)], axis=-1)

    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return d columns / d v, (..., 4); the cube root's is infinite at rest."""
        zero = np.zeros_like(v)
        with np.errstate(divide='ignore'):
            slope = 1 / (3 * np.cbrt(v) ** 2)
        return np.stack([zero, np.ones_like(v), slope, zero], axis=-1)

    def passivity(self, shape: ArrayLike | None = None) -> Array:
        """Return dissipation at many speeds and Fv >= 0."""
        return self.sampled_passivity(shape)
