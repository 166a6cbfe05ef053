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
"""Smooth Stribeck-like friction of hyperbolic functions."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class SechTanh(FrictionTerm):
    """
    Friction (f1 + f2 sech(f3 v)) tanh(f4 v).

    The curve is smooth; f2 is the excess of the static over the Coulomb friction.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, "Parameter estimation survey for multi-joint robot dynamic
    calibration case study", Science China Information Sciences, 2018, eq. (6).

    """

    name = 'sech_tanh'
    formula = '(f1 + f2 sech(f3 v)) tanh(f4 v)'
    parameters = ('f1', 'f2')
    units = ('N m', 'N m')
    nonnegative = (True, False)
    nonlinear = ('f3', 'f4')
    shape_units = ('s/rad', 's/rad')
    shape_powers = (-1.0, -1.0)
    shape_bounds = ((0.5, 200.0), (5.0, 1000.0))
    ambiguous = True
    contains = ('coulomb',)

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return tanh(f4 v) and sech(f3 v) tanh(f4 v), (..., 2)."""
        step = np.tanh(shape[..., 1] * motion.v)
        return np.stack([step, _sech(shape[..., 0] * motion.v) * step], axis=-1)


def _sech(x: Array) -> Array:
    """Return 1 / cosh(x) without overflow at large |x|."""
    e = np.exp(-np.abs(x))
    return 2 * e / (1 + e * e)
