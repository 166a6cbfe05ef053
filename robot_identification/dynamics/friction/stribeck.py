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
"""Stribeck friction: the static curve of the LuGre model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.friction import FrictionModel


class Stribeck(FrictionModel):
    """
    Friction [Fc + (Fs - Fc) exp(-(v/vs)^2)] sgn(v) + Fv v + offset.

    References
    ----------
    C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, "A new model for control of systems
    with friction", IEEE Trans. Automatic Control 40(3), 1995.

    """

    name = 'stribeck'
    parameters = ('coulomb', 'static', 'viscous', 'offset')
    units = ('N m', 'N m', 'N m s/rad', 'N m')
    passive = (True, True, True, False)
    shape = ('vs',)
    shape_units = ('rad/s',)
    shape_bounds = ((0.005, 2.0),)
    formula = '[Fc + (Fs - Fc) exp(-(v/vs)^2)] sgn(v) + Fv v + offset'

    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """Return (1 - e) sgn(v), e sgn(v), v and 1 with e = exp(-(v/vs)^2), (..., 4)."""
        vs, = self.numbers(shape)
        sign, e = np.sign(v), np.exp(-(v / vs) ** 2)
        return np.stack([(1 - e) * sign, e * sign, v, np.ones_like(v)], axis=-1)

    def moving_columns(self, v: Array, shapes: Array) -> dict[int, Array]:
        """Return (1 - e) sgn(v) and e sgn(v) for many vs."""
        sign, e = np.sign(v), np.exp(-(v / shapes) ** 2)
        part = e * sign
        return {0: sign - part, 1: part}

    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return d columns / d v, (..., 4)."""
        vs, = self.numbers(shape)
        change = -2 * np.abs(v) / vs ** 2 * np.exp(-(v / vs) ** 2)
        return np.stack([-change, change, np.ones_like(v), np.zeros_like(v)], axis=-1)

    def shape_gradient(self, v: Array, shape: ArrayLike | None = None,
                       load: Array | None = None) -> Array:
        """Return d columns / d vs, (..., 4, 1)."""
        vs, = self.numbers(shape)
        change = np.sign(v) * 2 * v ** 2 / vs ** 3 * np.exp(-(v / vs) ** 2)
        zero = np.zeros_like(v)
        return np.stack([-change, change, zero, zero], axis=-1)[..., None]
