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
"""Friction curve of Bompos, Artemiadis, Oikonomopoulos and Kyriakopoulos."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm

SLOWEST = 1e-300
"""[rad/s or m/s] Lower bound of |v| in 1/(f5 |v|), which would divide by zero at rest."""


class Bompos(FrictionTerm):
    """
    Friction [f1 - f2 exp(-|v|/f3) - f4 exp(-1/(f5 |v|))] sgn(v).

    The term with f2 vanishes at high speed, the term with f4 at rest.

    References
    ----------
    N. A. Bompos, P. K. Artemiadis, A. S. Oikonomopoulos, K. J. Kyriakopoulos, "Modeling, full
    identification and control of the Mitsubishi PA-10 robot arm", IEEE/ASME AIM 2007.

    """

    name = 'bompos'
    formula = '[f1 - f2 exp(-|v|/f3) - f4 exp(-1/(f5 |v|))] sgn(v)'
    parameters = ('f1', 'f2', 'f4')
    units = ('N m', 'N m', 'N m')
    nonnegative = (True, False, False)
    nonlinear = ('f3', 'f5')
    shape_units = ('rad/s', 's/rad')
    shape_powers = (1.0, -1.0)
    shape_bounds = ((0.005, 2.0), (0.1, 100.0))
    abrupt = True
    ambiguous = True
    contains = ('coulomb',)
    candidate = False

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return the columns of f1, f2 and f4, (..., 3)."""
        f3, f5 = shape[..., 0], shape[..., 1]
        sign, speed = np.sign(motion.v), np.maximum(np.abs(motion.v), SLOWEST)
        fade = -sign * np.exp(-speed / f3)
        return np.stack([np.broadcast_to(sign, fade.shape), fade,
                         -sign * np.exp(-1 / (f5 * speed))], axis=-1)
