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
"""Quintic splines and polynomials that start and end at rest."""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.excitation.motion.series import DEGREE, Series
from scipy.interpolate import BSpline


class QuinticSpline(Series):
    """
    Quintic spline with evenly spaced knots that starts and ends at rest at the same position.

    The coefficients of a joint are its start x_0 and the weights of 2 K free B-splines, with K the
    number of `harmonics`. The weights are divided by the knot spacing, so they are velocities.
    Jerk and snap are continuous within a period; position, velocity and acceleration also where
    periods join.

    References
    ----------
    J. Rackl, R. Lampariello, G. Hirzinger, "Robot excitation trajectories for dynamic parameter
    estimation using optimized B-splines", IEEE Int. Conf. Robotics and Automation, 2012.

    """

    name: ClassVar[str] = 'spline'
    rests_at_ends: ClassVar[bool] = True

    @property
    def resolution(self) -> int:
        """Number of harmonics that time grids must resolve."""
        return max(1, math.ceil(self.harmonics / 4))

    @property
    def spacing(self) -> float:
        """Time between knots [s]."""
        return self.period / self.size

    @property
    def knots(self) -> Array:
        """Knots of the spline; the first and the last one are repeated six times [s]."""
        return np.pad(self.spacing * np.arange(1, self.size), DEGREE + 1,
                      constant_values=(0.0, self.period))

    def motion(self, t: ArrayLike, coefficients: Array, derivative: int = 0) -> Array:
        """Return a time derivative of the motion, (N, n); see `Series.motion`."""
        times = np.mod(np.asarray(t, dtype=float), self.period)
        return self._spline(coefficients, derivative == 0)(times, nu=derivative)

    def _spline(self, coefficients: Array, with_start: bool) -> BSpline:
        """Return the motion as a SciPy spline, with or without its start position."""
        pulls = np.zeros((len(self.knots) - DEGREE - 1, coefficients.shape[1]))
        pulls[3:-3] = coefficients[1:] * self.spacing
        return BSpline(self.knots, pulls + coefficients[0] if with_start else pulls, DEGREE)

    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Return a derivative of the basis functions, (N, size); see `Series.basis`."""
        return self.motion(t, np.eye(self.size), derivative)

    def bounds(self, derivative: int) -> Array:
        """Return bounds of the basis functions' derivative, (size,)."""
        return self.largest(np.eye(self.size), derivative)

    def largest(self, coefficients: Array, derivative: int) -> Array:
        """Return the largest B-spline coefficient of each joint, which bounds the derivative."""
        if derivative > DEGREE:
            return np.zeros(coefficients.shape[1])
        spline = self._spline(coefficients, derivative == 0).derivative(derivative)
        return np.abs(spline.c).max(axis=0)


def rest_to_rest(t: Array, duration: float) -> tuple[Array, Array, Array]:
    """
    Return a smooth rise from 0 to 1 that begins and ends at rest, with its derivatives, (N,) each.

    With u = t / T, it is 10 u^3 - 15 u^4 + 6 u^5.

    Parameters
    ----------
    t
        Times, 0 to T, (N,) [s].
    duration
        Duration T [s].

    """
    u = t / duration
    return (u ** 3 * (10 - 15 * u + 6 * u ** 2), 30 * u ** 2 * (1 - u) ** 2 / duration,
            60 * u * (1 - u) * (1 - 2 * u) / duration ** 2)


def shortest_duration(distance: Array, velocity: Array, acceleration: Array) -> float:
    """
    Return the shortest duration in which joints move by `rest_to_rest` within their limits [s].

    The largest velocity of a rise is 1.875 / T, and its largest acceleration is 5.7735 / T^2.

    Parameters
    ----------
    distance
        Distances of the joints, (n,) [rad or m].
    velocity, acceleration
        Limits, (n,).

    """
    return float(np.max(np.maximum(distance * 1.875 / velocity,
                                   np.sqrt(distance * 5.7736 / acceleration))))
