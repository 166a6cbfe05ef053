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
"""Coulomb, viscous and arctangent friction."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.friction import FrictionModel


class Atan(FrictionModel):
    """
    Friction fc sgn(v) + fv v + fa atan(fb v) + offset.

    The arctangent bends the curve at low speed, in either direction.

    References
    ----------
    L. Ding, X. Li, Q. Li, Y. Chao, "Nonlinear friction and dynamical identification for a robot
    manipulator with improved cuckoo search algorithm", J. Robotics, 2018, eq. (5) (the ICS paper).

    """

    name = 'atan'
    parameters = ('coulomb', 'viscous', 'atan', 'offset')
    units = ('N m', 'N m s/rad', 'N m', 'N m')
    passive = (True, True, False, False)
    shape = ('fb',)
    shape_units = ('s/rad',)
    shape_bounds = ((0.5, 300.0),)
    formula = 'fc sgn(v) + fv v + fa atan(fb v) + offset'

    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """Return sgn(v), v, atan(fb v) and 1, (..., 4)."""
        fb, = self.numbers(shape)
        return np.stack([np.sign(v), v, np.arctan(fb * v), np.ones_like(v)], axis=-1)

    def moving_columns(self, v: Array, shapes: Array) -> dict[int, Array]:
        """Return atan(fb v) for many fb."""
        return {2: np.arctan(shapes * v)}

    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return d columns / d v, (..., 4)."""
        fb, = self.numbers(shape)
        zero = np.zeros_like(v)
        return np.stack([zero, np.ones_like(v), fb / (1 + (fb * v) ** 2), zero], axis=-1)

    def shape_gradient(self, v: Array, shape: ArrayLike | None = None,
                       load: Array | None = None) -> Array:
        """Return d columns / d fb, (..., 4, 1)."""
        fb, = self.numbers(shape)
        zero = np.zeros_like(v)
        return np.stack([zero, zero, v / (1 + (fb * v) ** 2), zero], axis=-1)[..., None]

    def passivity(self, shape: ArrayLike | None = None) -> Array:
        """Return rows for low speeds, high speeds, and the viscous part."""
        return np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, np.pi / 2, 0.0], [0.0, 1.0, 0.0, 0.0]])
