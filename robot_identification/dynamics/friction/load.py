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
"""Friction that grows with the torque that a joint transmits."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class Load(FrictionTerm):
    """
    Load-dependent Coulomb friction f1 |load| sgn(v).

    References
    ----------
    N. Kammerer, P. Garrec, "Dry friction modeling in dynamic identification for robot
    manipulators: theory and experiments", IEEE Int. Conf. Mechatronics, 2013.

    """

    name = 'load'
    formula = 'f1 |tau_load| sgn(v)'
    parameters = ('load',)
    units = ('1',)
    nonnegative = (True,)
    needs_load = True

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return |load| sgn(v), (..., 1)."""
        return (np.abs(motion.load) * np.sign(motion.v))[..., None]


class LoadLiteral(Load):
    """
    Friction f1 load, as printed in the survey; kept for comparison, it cannot be identified.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, "Parameter estimation survey for multi-joint robot dynamic
    calibration case study", Science China Information Sciences, 2018, eq. (9).

    """

    name = 'load_literal'
    formula = 'f1 tau_load'
    nonnegative = (False,)
    candidate = False
    not_identifiable_because = (
        "with the model's own load it only rescales a joint's torque, and with the measured "
        "torque f1 = 1 explains everything; use the term 'load'")

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return the load, (..., 1)."""
        return motion.load[..., None]
