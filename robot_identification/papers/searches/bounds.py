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
"""Lower and upper bounds of the parameters of a search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, read_only
from robot_identification.errors import EstimationError


@dataclass(frozen=True, eq=False)
class Bounds:
    """
    Lower and upper bounds of d parameters.

    Parameters
    ----------
    lower, upper
        Finite bounds, (d,), lower < upper.
    names
        Names of the parameters for messages; may be empty.

    Raises
    ------
    EstimationError
        A bound is not finite, or a lower bound is not below the upper one.

    """

    lower: Array
    upper: Array
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, 'lower', read_only(self.lower))
        object.__setattr__(self, 'upper', read_only(self.upper))
        if self.lower.ndim != 1 or self.lower.shape != self.upper.shape:
            raise EstimationError(f'lower and upper bounds must be two vectors of one length, not '
                                  f'{self.lower.shape} and {self.upper.shape}')
        fine = np.isfinite(self.lower) & np.isfinite(self.upper) & (self.lower < self.upper)
        for i in np.flatnonzero(~fine).tolist():
            raise EstimationError(f"the range of parameter '{self._label(i)}' is "
                                  f'{self.lower[i]:g} to {self.upper[i]:g}; give finite bounds, '
                                  f'the lower one first')

    @classmethod
    def around(cls, values: ArrayLike, relative: float, floor: ArrayLike = 0.0,
               names: tuple[str, ...] = ()) -> Bounds:
        """
        Return bounds centred at given values, for instance at CAD values as in the papers.

        Parameters
        ----------
        values
            Centres, (d,).
        relative
            Half width as a fraction of the absolute value, for instance 0.6.
        floor
            Smallest half width, (d,) or one number.
        names
            Names of the parameters.

        """
        values = np.asarray(values, dtype=float)
        half = np.maximum(relative * np.abs(values), floor)
        return cls(values - half, values + half, names)

    @property
    def dimension(self) -> int:
        """Number of parameters d."""
        return len(self.lower)

    def from_unit(self, unit: Array) -> Array:
        """Map points of the unit cube (..., d) to parameters (..., d)."""
        values = self.lower + unit * (self.upper - self.lower)
        limited: Array = np.minimum(np.maximum(values, self.lower), self.upper)    # rounding
        return limited

    def to_unit(self, values: ArrayLike) -> Array:
        """
        Map parameters (..., d) to points of the unit cube (..., d).

        Raises
        ------
        EstimationError
            A value lies outside its range.

        """
        unit: Array = (np.asarray(values, dtype=float) - self.lower) / (self.upper - self.lower)
        outside = np.argwhere((unit < -1e-9) | (unit > 1 + 1e-9))
        if len(outside):
            i = int(outside[0][-1])
            raise EstimationError(f"the start value of parameter '{self._label(i)}' lies outside "
                                  f'its range of {self.lower[i]:g} to {self.upper[i]:g}')
        return np.clip(unit, 0.0, 1.0)

    def at_edge(self, values: Array, fraction: float = 1e-3) -> tuple[str, ...]:
        """Return the names of parameters at a bound, within a fraction of their range."""
        unit = (np.asarray(values) - self.lower) / (self.upper - self.lower)
        near = np.flatnonzero((unit < fraction) | (unit > 1 - fraction))
        return tuple(self._label(i) for i in near.tolist())

    def _label(self, index: int) -> str:
        """Return the name of a parameter, or its number if there are no names."""
        return self.names[index] if self.names else f'number {index}'
