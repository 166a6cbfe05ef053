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
"""Friction that grows with the cube root of speed."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class CubeRoot(FrictionTerm):
    """
    Friction f1 cbrt(v), linear in its parameter.

    References
    ----------
    M. Grotjahn, M. Daemi, B. Heimann, "Friction and rigid body identification of robot dynamics",
    Int. J. Solids and Structures 38, 2001.

    """

    name = 'cube_root'
    formula = 'f1 cbrt(v)'
    parameters = ('cube_root',)
    units = ('N m (s/rad)^(1/3)',)
    nonnegative = (False,)

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return cbrt(v), (..., 1)."""
        return np.cbrt(motion.v)[..., None]
