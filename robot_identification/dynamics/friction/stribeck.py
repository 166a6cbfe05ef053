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
"""Stribeck friction: the steady-state curve of the LuGre model."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class Stribeck(FrictionTerm):
    """
    Friction [Fc + (Fs - Fc) exp(-(v/vs)^2)] sgn(v).

    References
    ----------
    C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, "A new model for control of systems
    with friction", IEEE Trans. Automatic Control 40(3), 1995.

    """

    name = 'stribeck'
    formula = '[Fc + (Fs - Fc) exp(-(v/vs)^2)] sgn(v)'
    parameters = ('coulomb', 'static')
    units = ('N m', 'N m')
    nonnegative = (True, True)
    nonlinear = ('vs',)
    shape_units = ('rad/s',)
    shape_powers = (1.0,)
    shape_bounds = ((0.005, 2.0),)
    abrupt = True
    contains = ('coulomb',)

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return (1 - e) sgn(v) and e sgn(v) with e = exp(-(v/vs)^2), (..., 2)."""
        static = np.exp(-(motion.v / shape[..., 0]) ** 2) * np.sign(motion.v)
        return np.stack([np.sign(motion.v) - static, static], axis=-1)
