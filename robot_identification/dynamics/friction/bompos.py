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
"""The friction model of Bompos."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.friction import FrictionModel

SLOWEST = 1e-300


class Bompos(FrictionModel):
    """
    Friction [f1 - f2 exp(-|v|/f3) - f4 exp(-1/(f5 |v|))] sgn(v) + Fv v + offset.

    Two exponentials: one that fades with speed, one that comes with it.

    References
    ----------
    N. A. Bompos, P. K. Artemiadis, A. S. Oikonomopoulos, K. J. Kyriakopoulos, "Modeling, full
    identification and control of the Mitsubishi PA-10 robot arm", IEEE/ASME AIM 2007.

    """

    name = 'bompos'
    parameters = ('f1', 'f2', 'f4', 'viscous', 'offset')
    units = ('N m', 'N m', 'N m', 'N m s/rad', 'N m')
    passive = (True, False, False, True, False)
    shape = ('f3', 'f5')
    shape_units = ('rad/s', 's/rad')
    shape_bounds = ((0.005, 2.0), (0.1, 100.0))
    formula = '[f1 - f2 exp(-|v|/f3) - f4 exp(-1/(f5 |v|))] sgn(v) + Fv v + offset'

    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """Return the columns of f1, f2, f4, Fv and the offset, (..., 5)."""
        f3, f5 = self.numbers(shape)
        sign, speed = np.sign(v), np.maximum(np.abs(v), SLOWEST)
        return np.stack([sign, -sign * np.exp(-speed / f3), -sign * np.exp(-1 / (f5 * speed)),
                         v, np.ones_like(v)], axis=-1)

    def moving_columns(self, v: Array, shapes: Array) -> dict[int, Array]:
        """Return the columns of f2 and f4 for many (f3, f5)."""
        sign, speed = np.sign(v), np.maximum(np.abs(v), SLOWEST)
        return {1: -sign * np.exp(-speed / shapes[:, :1]),
                2: -sign * np.exp(-1 / (shapes[:, 1:] * speed))}

    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return d columns / d v, (..., 5)."""
        f3, f5 = self.numbers(shape)
        speed, zero = np.abs(v), np.zeros_like(v)
        return np.stack([zero, np.exp(-speed / f3) / f3, -_rise(f5, speed, speed ** 2 * f5),
                         np.ones_like(v), zero], axis=-1)

    def shape_gradient(self, v: Array, shape: ArrayLike | None = None,
                       load: Array | None = None) -> Array:
        """Return d columns / d (f3, f5), (..., 5, 2)."""
        f3, f5 = self.numbers(shape)
        sign, speed = np.sign(v), np.abs(v)
        out = np.zeros((*np.shape(v), 5, 2))
        out[..., 1, 0] = -sign * np.exp(-speed / f3) * speed / f3 ** 2
        out[..., 2, 1] = -sign * _rise(f5, speed, speed * f5 ** 2)
        return out

    def passivity(self, shape: ArrayLike | None = None) -> Array:
        """Return dissipation at many speeds, in the limit of high speed, and the viscous part."""
        limit = np.array([[1.0, 0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]])
        return np.vstack([self.sampled_passivity(shape), limit])


def _rise(f5: float, speed: Array, divisor: Array) -> Array:
    """Return exp(-1/(f5 speed)) / divisor, which goes to zero at rest."""
    moving = speed > 1e-3 / f5
    safe = np.where(moving, speed, 1.0)
    rise: Array = np.where(moving, np.exp(-1 / (f5 * safe)) / np.where(moving, divisor, 1.0), 0.0)
    return rise
