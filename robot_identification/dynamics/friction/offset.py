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
"""Constant torque offset."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class Offset(FrictionTerm):
    """Constant torque: asymmetry of Coulomb friction, or offset of the torque sensor."""

    name = 'offset'
    formula = 'offset'
    parameters = ('offset',)
    units = ('N m',)
    nonnegative = (False,)
    constant = True
    basic = True
    scale = 0.01
    """Sensors and drives are off by a small fraction of their range. A wide prior lets offsets
    replace gravity where the motion is short: the error on left-out blocks of a KR300 was 17.9 %
    with 1, 16.2 % with 0.03, and 15.3 % with 0.01 or without offsets. Those of a UR10e, TX40, and
    of an LWR4+ and EMPS, which need theirs, changed by 0.04 % at most."""
    candidate = False

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return 1, (..., 1)."""
        return np.ones_like(motion.v)[..., None]
