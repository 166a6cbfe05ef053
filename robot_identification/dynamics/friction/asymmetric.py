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
"""Any term with parameters of its own for each direction of motion."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.term import FrictionInput, FrictionTerm

SUFFIX = '_asymmetric'


class Asymmetric(FrictionTerm):
    """
    A term whose linear parameters differ between the two directions.

    Only the mean of both directions has to dissipate: a constant error of the torque sensor
    cannot be told from the difference of Coulomb friction.

    Parameters
    ----------
    symmetric
        The term of each direction.

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
                     'needs_position', 'has_state', 'abrupt', 'not_identifiable_because'):
            setattr(self, name, getattr(symmetric, name))

    @property
    def key(self) -> str:
        """The name by which a sum calls the term."""
        return self.symmetric.key + SUFFIX

    @property
    def signs(self) -> Array:
        """Rows that ask the mean of both directions not to be negative."""
        rows = self.symmetric.signs
        return np.hstack([rows, rows]) / 2

    @property
    def curved(self) -> bool:
        """Whether only the whole curve over speed says if the term dissipates."""
        return self.symmetric.curved

    def columns(self, motion: FrictionInput, shape: Array) -> Array:
        """Return the columns of forward motion, then those of backward motion, (..., 2 k)."""
        columns = self.symmetric.columns(motion, shape)
        forward, backward = (motion.v > 0)[..., None], (motion.v < 0)[..., None]
        return np.concatenate([columns * forward, columns * backward], axis=-1)

    def shape_gradient(self, motion: FrictionInput, shape: Array) -> Array:
        """Return d columns / d shape, (..., 2 k, s)."""
        gradient = self.symmetric.shape_gradient(motion, shape)
        forward, backward = (motion.v > 0)[..., None, None], (motion.v < 0)[..., None, None]
        return np.concatenate([gradient * forward, gradient * backward], axis=-2)

    def state(self, q: Array, shape: Array, start: float = 0.0) -> Array:
        """Return the state of the term of either direction, (N,)."""
        return self.symmetric.state(q, shape, start)

    def sliding_state(self, v: Array) -> Array:
        """Return that of the term of either direction, of the shape of v."""
        return self.symmetric.sliding_state(v)
