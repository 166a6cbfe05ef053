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
"""Motions that are linear in their coefficients: the family's base."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ExcitationError


@dataclass(frozen=True)
class Series(ABC):
    """
    A parametrisation of periodic motions, the same for every joint.

    A joint moves as q(t) = sum_c basis_c(t) x_c. Column 0 is the constant 1; in a series that
    rests at the ends of its period, every other column vanishes there, so x_0 is the start.

    Parameters
    ----------
    period
        Length of one period [s].
    harmonics
        Number of harmonics of the base frequency 1 / period.

    """

    period: float
    harmonics: int

    name: ClassVar[str]
    rests_at_ends: ClassVar[bool]

    def __post_init__(self) -> None:
        if not (np.isfinite(self.period) and self.period > 0):
            raise ExcitationError(f'the period must be positive, not {self.period!r} s')
        if int(self.harmonics) != self.harmonics or self.harmonics < 1:
            raise ExcitationError(f'the number of harmonics must be a whole number from 1 on, '
                                  f'not {self.harmonics!r}')

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of coefficients of a joint."""

    @abstractmethod
    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """
        Time derivative of the columns.

        Parameters
        ----------
        t
            Times, (N,) [s], any; the motion repeats itself.
        derivative
            Its order: 0 position, 1 velocity, 2 acceleration, 3 jerk and so on.

        Returns
        -------
        Array
            (N, size).

        """

    @abstractmethod
    def bounds(self, derivative: int) -> Array:
        """Return for each column an upper bound of the derivative's magnitude, (size,)."""

    def largest(self, coefficients: Array, derivative: int) -> Array:
        """
        Return an upper bound of the magnitude of the derivative of a motion, (n,).

        Parameters
        ----------
        coefficients
            (size, n).
        derivative
            As for `basis`.

        """
        result: Array = self.bounds(derivative) @ np.abs(coefficients)
        return result

    @property
    def resolution(self) -> int:
        """Number of harmonics that grids of times are made for."""
        return self.harmonics

    def motion(self, t: ArrayLike, coefficients: Array, derivative: int = 0) -> Array:
        """
        Return the derivative of the motion of some coefficients, (N, n).

        Parameters
        ----------
        t
            Times, (N,) [s].
        coefficients
            (size, n).
        derivative
            As for `basis`.

        """
        result: Array = self.basis(t, derivative) @ coefficients
        return result

    @property
    def angular_frequency(self) -> float:
        """Base frequency [rad/s]."""
        return 2 * np.pi / self.period

    def to_mapping(self) -> dict[str, Any]:
        """Return what a file needs to build the series again."""
        return {'kind': self.name, 'period': float(self.period), 'harmonics': int(self.harmonics)}


@dataclass(frozen=True, eq=False)
class Trajectory:
    """
    A series with its coefficients: a motion of n joints, exact at any time.

    Parameters
    ----------
    series
        The parametrisation.
    coefficients
        (size, n), columns by joint.

    Raises
    ------
    ExcitationError
        Coefficients of another shape, or not finite.

    """

    series: Series
    coefficients: Array

    def __post_init__(self) -> None:
        values = read_only(self.coefficients)
        if values.ndim != 2 or len(values) != self.series.size:
            raise ExcitationError(
                f'{self.series.name} with {self.series.harmonics} harmonics needs '
                f'{self.series.size} coefficients a joint, not an array of shape {values.shape}')
        if not np.all(np.isfinite(values)):
            raise ExcitationError('the coefficients of the trajectory are not all finite')
        object.__setattr__(self, 'coefficients', values)

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.coefficients.shape[1])

    @property
    def period(self) -> float:
        """Length of one period [s]."""
        return self.series.period

    def derivative(self, t: ArrayLike, order: int) -> Array:
        """Return one time derivative of the motion, (N, n)."""
        return self.series.motion(t, self.coefficients, order)

    def evaluate(self, t: ArrayLike, derivatives: int = 3) -> tuple[Array, ...]:
        """
        Return the motion and its time derivatives.

        Parameters
        ----------
        t
            Times, (N,) [s].
        derivatives
            Highest order: 3 gives q, v, a, jerk.

        Returns
        -------
        tuple of Array
            (N, n) each [rad or m, per s, per s^2, per s^3].

        """
        return tuple(self.derivative(t, order) for order in range(derivatives + 1))
