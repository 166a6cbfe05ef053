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
"""Coulomb and viscous friction with an offset."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.friction import FrictionModel


class CoulombViscous(FrictionModel):
    """
    Friction Fc sgn(v) + Fv v + offset.

    The offset takes up asymmetric friction and a constant error of the torque sensor.

    References
    ----------
    B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, "A survey of models, analysis tools and
    compensation methods for the control of machines with friction", Automatica 30(7), 1994.

    """

    name = 'coulomb_viscous'
    parameters = ('coulomb', 'viscous', 'offset')
    units = ('N m', 'N m s/rad', 'N m')
    passive = (True, True, False)
    formula = 'Fc sgn(v) + Fv v + offset'

    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """Return sgn(v), v and 1, (..., 3)."""
        self.numbers(shape)
        return np.stack([np.sign(v), v, np.ones_like(v)], axis=-1)

    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return 0, 1 and 0, (..., 3)."""
        zero = np.zeros_like(v)
        return np.stack([zero, np.ones_like(v), zero], axis=-1)
