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
"""Fourier series (FFS), divided form."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.excitation.motion.series import Series


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

    @property
    def size(self) -> int:
        """Number of coefficients of a joint."""
        return 2 * self.harmonics + 1

    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Return the derivative of the columns, (N, size); see `Series.basis`."""
        times = np.asarray(t, dtype=float)
        columns = np.empty((len(times), self.size))
        columns[:, 0] = 1.0 if derivative == 0 else 0.0
        frequencies = self.angular_frequency * np.arange(1, self.harmonics + 1)
        phase = np.multiply.outer(times, frequencies) + derivative * np.pi / 2
        size = frequencies ** (derivative - 1)
        columns[:, 1::2] = size * np.sin(phase)
        columns[:, 2::2] = -size * np.cos(phase)
        return columns

    def bounds(self, derivative: int) -> Array:
        """Return bounds of the columns' derivative, (size,)."""
        frequencies = self.angular_frequency * np.arange(1, self.harmonics + 1)
        constant = 1.0 if derivative == 0 else 0.0
        return np.concatenate([[constant], np.repeat(frequencies ** (derivative - 1.0), 2)])
