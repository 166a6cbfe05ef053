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
"""Finite Fourier series (FFS), and two variants that start and end at rest."""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.excitation.motion.series import DEGREE, Series


class FourierSeries(Series):
    """
    Finite Fourier series q = x_0 + sum_k a_k / (w k) sin(w k t) - b_k / (w k) cos(w k t).

    The coefficients of a joint are x_0 [rad or m], a_1, b_1, ..., a_K, b_K [rad/s or m/s]: the
    amplitudes of the velocity.

    References
    ----------
    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and
    Automation 13(5), 1997; in this form equation (27) of Zhang et al., 2018.

    """

    name: ClassVar[str] = 'ffs'
    rests_at_ends: ClassVar[bool] = False

    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Return a derivative of the basis functions, (N, size); see `Series.basis`."""
        times = np.asarray(t, dtype=float)
        columns = np.empty((len(times), 2 * self.harmonics + 1))
        columns[:, 0] = 1.0 if derivative == 0 else 0.0
        frequencies = self.angular_frequency * np.arange(1, self.harmonics + 1)
        phase = np.multiply.outer(times, frequencies) + derivative * np.pi / 2
        size = frequencies ** (derivative - 1)
        columns[:, 1::2] = size * np.sin(phase)
        columns[:, 2::2] = -size * np.cos(phase)
        return columns

    def bounds(self, derivative: int) -> Array:
        """Return bounds of the basis functions' derivative, (size,)."""
        frequencies = self.angular_frequency * np.arange(1, self.harmonics + 1)
        constant = 1.0 if derivative == 0 else 0.0
        return np.concatenate([[constant], np.repeat(frequencies ** (derivative - 1.0), 2)])


class ModifiedFourierSeries(FourierSeries):
    """
    Fourier series plus a quintic polynomial, so that it starts and ends at rest.

    q = FFS(t) + sum_j c_j t^j. The six c_j follow from q(0) = q(period) = x_0 and from zero
    velocity and acceleration at both ends. The coefficients are those of `FourierSeries`, except
    that x_0 is the start position. The acceleration is continuous where periods join; the jerk
    jumps there.

    References
    ----------
    W. Wu, S. Zhu, X. Wang, H. Liu, "Closed-loop dynamic parameter identification of robot
    manipulators using modified Fourier series", Int. J. Advanced Robotic Systems 9, 2012. The
    polynomial, which the paper omits, is derived from the conditions above.

    """

    name: ClassVar[str] = 'mfs'
    rests_at_ends: ClassVar[bool] = True

    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Return a derivative of the basis functions, (N, size); see `Series.basis`."""
        times = np.mod(np.asarray(t, dtype=float), self.period)
        powers = _monomials(times / self.period, derivative) / self.period ** derivative
        return super().basis(times, derivative) + powers @ self._polynomial()

    def bounds(self, derivative: int) -> Array:
        """Return bounds of the basis functions' derivative, (size,)."""
        polynomial = (_monomials(np.ones(1), derivative)[0] @ np.abs(self._polynomial())
                      / self.period ** derivative)
        return super().bounds(derivative) + polynomial

    def _polynomial(self) -> Array:
        """Return the quintic added to each basis function, by powers of t / period, (6, size)."""
        ends = np.array([0.0, 1.0])
        conditions = np.concatenate([_monomials(ends, order) for order in range(3)])
        series = np.concatenate([super(ModifiedFourierSeries, self).basis(
            ends * self.period, order) * self.period ** order for order in range(3)])
        series[:, 0] = 0.0
        return np.linalg.solve(conditions, -series)


class RestingFourierSeries(FourierSeries):
    """
    Fourier series whose velocity and acceleration vanish where periods join.

    The first harmonic cancels velocity and acceleration of the others where periods join:

        q = x_0 + sum_k>1 a_k (sin(w k t) - k sin(w t)) / (w k^2)
                          - b_k (cos(w k t) - 1 - k^2 (cos(w t) - 1)) / (w k^3).

    Unlike `ModifiedFourierSeries`, every derivative is continuous and the spectrum ends at
    harmonic K. K harmonics leave 2 K - 1 coefficients per joint.
    """

    name: ClassVar[str] = 'ffs_rest'
    rests_at_ends: ClassVar[bool] = True

    @property
    def size(self) -> int:
        """Number of coefficients of a joint."""
        return 2 * self.harmonics - 1

    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Return a derivative of the basis functions, (N, size); see `Series.basis`."""
        return super().basis(t, derivative) @ self._combinations()

    def bounds(self, derivative: int) -> Array:
        """Return bounds of the basis functions' derivative, (size,)."""
        return super().bounds(derivative) @ np.abs(self._combinations())

    def _combinations(self) -> Array:
        """Return the matrix that combines Fourier basis functions to these, (2 K + 1, size)."""
        k, w = np.arange(2, self.harmonics + 1), self.angular_frequency
        result = np.eye(2 * self.harmonics + 1)[:, [0, *range(3, 2 * self.harmonics + 1)]]
        result[3:] /= np.column_stack([k, k ** 2]).reshape(-1, 1)
        result[1, 1::2] = -1 / k
        result[2, 2::2] = -1 / k
        result[0, 2::2] = (1 / k - k) / (k ** 2 * w)
        return result


def _monomials(s: Array, derivative: int) -> Array:
    """Return a derivative of the monomials 1, s, ..., s^5, (N, 6)."""
    columns = np.zeros((len(s), DEGREE + 1))
    for power in range(derivative, DEGREE + 1):
        columns[:, power] = math.perm(power, derivative) * s ** (power - derivative)
    return columns
