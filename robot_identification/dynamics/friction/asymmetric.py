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
"""Friction terms with separate parameters for each direction of motion."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm

SUFFIX = '_asymmetric'


class Asymmetric(FrictionTerm):
    """
    Friction term with separate linear parameters for positive and negative velocity.

    The dissipation constraint applies to the mean of both directions. A stricter one would be
    wrong, because a constant error of the torque sensor looks like a difference of Coulomb
    friction between the directions.

    Parameters
    ----------
    symmetric
        The term that is applied to each direction.

    """

    basic = True
    candidate = False

    def __init__(self, symmetric: FrictionTerm) -> None:
        self.symmetric = symmetric
        ends = ('positive', 'negative')
        self.parameters = tuple(f'{name}_{end}' for end in ends for name in symmetric.parameters)
        self.units = tuple(symmetric.units) * 2
        self.nonnegative = (False,) * len(self.parameters)
        self.formula = f'{symmetric.formula} by direction'
        self.contains = (symmetric.key,)
        for name in ('nonlinear', 'shape_units', 'shape_powers', 'shape_bounds', 'needs_load',
                     'needs_position', 'has_state', 'state', 'sliding_state', 'abrupt',
                     'not_identifiable_because'):
            setattr(self, name, getattr(symmetric, name))

    @property
    def key(self) -> str:
        """Name of the term in the name of a friction model, such as 'viscous_asymmetric'."""
        return self.symmetric.key + SUFFIX

    @property
    def signs(self) -> Array:
        """Matrix (c, 2 k) of the sign constraints on the mean of both directions."""
        rows = self.symmetric.signs
        return np.hstack([rows, rows]) / 2

    @property
    def curved(self) -> bool:
        """Whether dissipation must be checked along the friction curve, see `FrictionTerm`."""
        return self.symmetric.curved

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return the columns for positive velocity, then for negative velocity, (..., 2 k)."""
        columns = self.symmetric.columns(motion, shape)
        forward, backward = (motion.v > 0)[..., None], (motion.v < 0)[..., None]
        return np.concatenate([columns * forward, columns * backward], axis=-1)
