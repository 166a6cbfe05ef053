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
"""Modified Fourier series (MFS): starts and ends at rest."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.excitation.motion.fourier import FourierSeries

DEGREE = 5


class ModifiedFourierSeries(FourierSeries):
    """
    Fourier series plus the quintic that makes it start and end at rest.

    q = FFS(t) + sum_j c_j t^j, the six c_j fixed by q(0) = q(period) = x_0, zero velocity and zero
    acceleration at both ends. Coefficients as `FourierSeries`, x_0 being the start. The motion
    repeats period after period with continuous acceleration; its jerk jumps at the joins.

    References
    ----------
    W. Wu, S. Zhu, X. Wang, H. Liu, "Closed-loop dynamic parameter identification of robot
    manipulators using modified Fourier series", Int. J. Advanced Robotic Systems 9, 2012 (the
    polynomial restored, the paper's text lost it).

    """

    name: ClassVar[str] = 'mfs'
    rests_at_ends: ClassVar[bool] = True

    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Return the derivative of the columns, (N, size); see `Series.basis`."""
        times = np.mod(np.asarray(t, dtype=float), self.period)
        powers = _monomials(times / self.period, derivative) / self.period ** derivative
        columns: Array = super().basis(times, derivative) + powers @ self._polynomial()
        return columns

    def bounds(self, derivative: int) -> Array:
        """Return bounds of the columns' derivative, (size,)."""
        polynomial = (_monomials(np.ones(1), derivative)[0] @ np.abs(self._polynomial())
                      / self.period ** derivative)
        result: Array = super().bounds(derivative) + polynomial
        return result

    def _polynomial(self) -> Array:
        """Coefficients in powers of t / period of each column's quintic, (6, size)."""
        ends = np.array([0.0, 1.0])
        conditions = np.concatenate([_monomials(ends, order) for order in range(3)])
        series = np.concatenate([super(ModifiedFourierSeries, self).basis(
            ends * self.period, order) * self.period ** order for order in range(3)])
        series[:, 0] = 0.0
        result: Array = np.linalg.solve(conditions, -series)
        return result


def _monomials(s: Array, derivative: int) -> Array:
    """Return a derivative of 1, s, ..., s^5, (N, 6)."""
    columns = np.zeros((len(s), DEGREE + 1))
    for power in range(derivative, DEGREE + 1):
        columns[:, power] = math.perm(power, derivative) * s ** (power - derivative)
    return columns
