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
"""Any friction model with parameters of its own for each direction of motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.dynamics.friction.friction import FrictionModel

SUFFIX = '_asymmetric'


class Asymmetric(FrictionModel):
    """
    A friction model whose linear parameters differ between the two directions.

    There is no offset: it is half the difference between the two directions' Coulomb friction. For
    the same reason only the mean of both directions has to dissipate, since a constant error of
    the torque sensor cannot be told from the difference.

    Parameters
    ----------
    symmetric
        The model of each direction.

    """

    def __init__(self, symmetric: FrictionModel) -> None:
        self.symmetric = symmetric
        self._kept = [i for i, name in enumerate(symmetric.parameters) if name != 'offset']
        ends = ('positive', 'negative')
        self.parameters = tuple(f'{symmetric.parameters[i]}_{end}'
                                for end in ends for i in self._kept)
        self.units = tuple(symmetric.units[i] for _ in ends for i in self._kept)
        self.passive = (False,) * len(self.parameters)
        self.formula = symmetric.formula.replace(' + offset', '') + ', parameters by direction'
        self.shape = symmetric.shape                    # type: ignore[misc]
        self.shape_units = symmetric.shape_units        # type: ignore[misc]
        self.shape_bounds = symmetric.shape_bounds      # type: ignore[misc]
        self.needs_load = symmetric.needs_load          # type: ignore[misc]

    @property
    def key(self) -> str:
        """The name that `get_friction` makes this model of."""
        return self.symmetric.name + SUFFIX

    def columns(self, v: Array, shape: ArrayLike | None = None,
                load: Array | None = None) -> Array:
        """Return the columns of forward motion, then those of backward motion, (..., k)."""
        return self._split(v, self.symmetric.columns(v, shape, load)[..., self._kept])

    def velocity_gradient(self, v: Array, shape: ArrayLike | None = None,
                          load: Array | None = None) -> Array:
        """Return d columns / d v, (..., k)."""
        return self._split(v, self.symmetric.velocity_gradient(v, shape, load)[..., self._kept])

    def shape_gradient(self, v: Array, shape: ArrayLike | None = None,
                       load: Array | None = None) -> Array:
        """Return d columns / d shape, (..., k, s)."""
        gradient = self.symmetric.shape_gradient(v, shape, load)[..., self._kept, :]
        forward = (v > 0)[..., None, None]
        return np.concatenate([gradient * forward, gradient * (v < 0)[..., None, None]], axis=-2)

    def passivity(self, shape: ArrayLike | None = None) -> Array:
        """Return rows that ask the mean of both directions to dissipate."""
        rows = self.symmetric.passivity(shape)[:, self._kept]
        return np.hstack([rows, rows]) / 2

    def _split(self, v: Array, columns: Array) -> Array:
        forward, backward = (v > 0)[..., None], (v < 0)[..., None]
        return np.concatenate([columns * forward, columns * backward], axis=-1)
