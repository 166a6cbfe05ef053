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
"""Arctangent friction."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class Atan(FrictionTerm):
    """
    Friction fa atan(fb v): raises (fa > 0) or lowers (fa < 0) the friction curve at low speed.

    References
    ----------
    L. Ding, X. Li, Q. Li, Y. Chao, "Nonlinear friction and dynamical identification for a robot
    manipulator with improved cuckoo search algorithm", J. Robotics, 2018, eq. (5).

    """

    name = 'atan'
    formula = 'fa atan(fb v)'
    parameters = ('atan',)
    units = ('N m',)
    nonnegative = (False,)
    nonlinear = ('fb',)
    shape_units = ('s/rad',)
    shape_powers = (-1.0,)
    shape_bounds = ((0.5, 300.0),)

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return atan(fb v), (..., 1)."""
        return np.arctan(shape[..., 0] * motion.v)[..., None]
