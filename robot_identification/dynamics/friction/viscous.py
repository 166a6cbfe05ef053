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
"""Viscous friction."""

from __future__ import annotations

from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm


class Viscous(FrictionTerm):
    """Viscous friction Fv v."""

    name = 'viscous'
    formula = 'Fv v'
    parameters = ('viscous',)
    units = ('N m s/rad',)
    nonnegative = (True,)
    basic = True
    candidate = False
    by_direction = True

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return v, (..., 1)."""
        return motion.v[..., None]
