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
"""Coulomb friction that depends on the position of a linear axis."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class Position(FrictionTerm):
    """Friction (c1 q + c2 q^2) sgn(v), as in a linear guide with uneven preload."""

    name = 'position'
    formula = '(c1 q + c2 q^2) sgn(v)'
    parameters = ('slope', 'bend')
    units = ('N m/rad', 'N m/rad^2')
    nonnegative = (False, False)
    needs_position = True
    slides_only = True

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return q sgn(v) and q^2 sgn(v), (..., 2)."""
        sign = np.sign(motion.v)
        return np.stack([motion.q * sign, motion.q ** 2 * sign], axis=-1)
