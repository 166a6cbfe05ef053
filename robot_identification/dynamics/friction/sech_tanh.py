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
"""Friction of hyperbolic functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.friction import FrictionModel


class SechTanh(FrictionModel):
    """
    Friction (f1 + f2 sech(f3 v)) tanh(f4 v) + Fv v + offset.

    Smooth everywhere; f2 is the excess of static friction.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, "Parameter estimation survey for multi-joint robot dynamic
    calibration case study", Science China Information Sciences, 2018, eq. (6).

    """

    name = 'sech_tanh'
    parameters = ('f1', 'f2', 'viscous', 'offset')
    units = ('N m', 'N m', 'N m s/rad', 'N m')
    passive = (True, False, True, False)
    shape = ('f3', 'f4')
    shape_units = ('s/rad', 's/rad')
    shape_bounds = ((0.5, 200.0), (5.0, 1000.0))
    formula = '(f1 + f2 sech(f3 v)) tanh(f4 v) + Fv v + offset'

    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """Return tanh(f4 v), sech(f3 v) tanh(f4 v), v and 1, (..., 4)."""
        f3, f4 = self.numbers(shape)
        step = np.tanh(f4 * v)
        return np.stack([step, _sech(f3 * v) * step, v, np.ones_like(v)], axis=-1)

    def moving_columns(self, v: Array, shapes: Array) -> dict[int, Array]:
        """Return tanh(f4 v) and sech(f3 v) tanh(f4 v) for many (f3, f4)."""
        step = np.tanh(shapes[:, 1:] * v)
        return {0: step, 1: _sech(shapes[:, :1] * v) * step}

    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return d columns / d v, (..., 4)."""
        f3, f4 = self.numbers(shape)
        step, peak = np.tanh(f4 * v), _sech(f3 * v)
        slope = f4 * _sech(f4 * v) ** 2
        fall = -f3 * np.tanh(f3 * v) * peak
        return np.stack([slope, fall * step + peak * slope, np.ones_like(v), np.zeros_like(v)],
                        axis=-1)

    def shape_gradient(self, v: Array, shape: ArrayLike | None = None,
                       load: Array | None = None) -> Array:
        """Return d columns / d (f3, f4), (..., 4, 2)."""
        f3, f4 = self.numbers(shape)
        step, peak = np.tanh(f4 * v), _sech(f3 * v)
        slope = v * _sech(f4 * v) ** 2
        out = np.zeros((*np.shape(v), 4, 2))
        out[..., 1, 0] = -v * np.tanh(f3 * v) * peak * step
        out[..., 0, 1] = slope
        out[..., 1, 1] = peak * slope
        return out

    def passivity(self, shape: ArrayLike | None = None) -> Array:
        """Return f1 >= 0, f1 + f2 >= 0 and Fv >= 0."""
        return np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])


def _sech(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    value: Array = 2 * e / (1 + e * e)
    return value
