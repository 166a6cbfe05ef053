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
"""Quintic splines through waypoints."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.excitation.motion.series import Series
from scipy.interpolate import BSpline

DEGREE = 5


class QuinticSpline(Series):
    """
    Spline of degree five with evenly spaced knots, which starts and ends at rest at one position.

    The coefficients of a joint are its start x_0 and how far the free B-splines pull it away,
    divided by the knots' spacing, which makes them velocities. Jerk and snap are continuous within
    a period; where periods join, position, velocity and acceleration are. With K `harmonics` there
    are 2 K free waypoints.

    References
    ----------
    J. Rackl, R. Lampariello, G. Hirzinger, "Robot excitation trajectories for dynamic parameter
    estimation using optimized B-splines", IEEE Int. Conf. Robotics and Automation, 2012.

    """

    name: ClassVar[str] = 'spline'
    rests_at_ends: ClassVar[bool] = True

    @property
    def size(self) -> int:
        """Number of coefficients of a joint."""
        return 2 * self.harmonics + 1

    @property
    def resolution(self) -> int:
        """Number of harmonics that grids of times are made for."""
        return max(1, math.ceil(self.harmonics / 4))

    @property
    def spacing(self) -> float:
        """Time between knots [s]."""
        return self.period / (2 * self.harmonics + 1)

    @property
    def knots(self) -> Array:
        """The knots, those at the ends six times, [s]."""
        pieces = 2 * self.harmonics + 1
        inner = self.spacing * np.arange(1, pieces)
        ends = np.ones(DEGREE + 1)
        knots: Array = np.concatenate([0.0 * ends, inner, self.period * ends])
        return knots

    def motion(self, t: ArrayLike, coefficients: Array, derivative: int = 0) -> Array:
        """Return the derivative of the motion of some coefficients, (N, n)."""
        times = np.mod(np.asarray(t, dtype=float), self.period)
        if derivative > DEGREE:
            return np.zeros((len(times), coefficients.shape[1]))
        result: Array = BSpline(self.knots, self._pulls(coefficients, derivative == 0), DEGREE)(
            times, nu=derivative)
        return result

    def _pulls(self, coefficients: Array, with_start: bool) -> Array:
        """Return the coefficients of the B-splines, (size + 5, n)."""
        free = np.zeros((len(self.knots) - DEGREE - 1, coefficients.shape[1]))
        free[3:-3] = coefficients[1:] * self.spacing
        return free + coefficients[0] if with_start else free

    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Return the derivative of the columns, (N, size); see `Series.basis`."""
        return self.motion(t, np.eye(self.size), derivative)

    def bounds(self, derivative: int) -> Array:
        """Return for each column an upper bound of the derivative's magnitude, (size,)."""
        return self.largest(np.eye(self.size), derivative)

    def largest(self, coefficients: Array, derivative: int) -> Array:
        """Return an upper bound of a motion: a B-spline lies in its coefficients' hull, (n,)."""
        pulls, knots = self._pulls(coefficients, derivative == 0), self.knots
        for degree in range(DEGREE, DEGREE - derivative, -1):
            if degree == 0:
                return np.zeros(pulls.shape[1])
            steps = knots[degree + 1:-1] - knots[1:-degree - 1]
            pulls, knots = degree * np.diff(pulls, axis=0) / steps[:, None], knots[1:-1]
        result: Array = np.abs(pulls).max(axis=0)
        return result
