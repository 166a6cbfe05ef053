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
"""Finite Fourier series that start and end at rest."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.excitation.motion.fourier import FourierSeries


class RestingFourierSeries(FourierSeries):
    """
    The Fourier series whose velocity and acceleration vanish where periods join.

    The first harmonic makes up for the others: q = x_0 + sum_k>1 a_k (sin(w k t) - k sin(w t)) /
    (w k^2) - b_k (cos(w k t) - 1 - k^2 (cos(w t) - 1)) / (w k^3). Every derivative is continuous
    and the spectrum ends at harmonic K, other than with the quintic of `ModifiedFourierSeries`; K
    harmonics leave 2 K - 1 coefficients a joint.
    """

    name: ClassVar[str] = 'ffs_rest'
    rests_at_ends: ClassVar[bool] = True

    @property
    def size(self) -> int:
        """Number of coefficients of a joint."""
        return 2 * self.harmonics - 1

    def basis(self, t: ArrayLike, derivative: int = 0) -> Array:
        """Return the derivative of the columns, (N, size); see `Series.basis`."""
        full = FourierSeries(self.period, self.harmonics).basis(t, derivative)
        columns = np.empty((len(full), self.size))
        columns[:, 0] = full[:, 0]
        k = np.arange(2, self.harmonics + 1)
        constant = full[:, :1] / self.angular_frequency
        columns[:, 1::2] = (full[:, 3::2] - full[:, 1:2]) / k
        columns[:, 2::2] = (full[:, 4::2] + constant / k
                            - k * (full[:, 2:3] + constant)) / k ** 2
        return columns

    def bounds(self, derivative: int) -> Array:
        """Return bounds of the columns' derivative, (size,)."""
        full = FourierSeries(self.period, self.harmonics).bounds(derivative)
        k = np.arange(2, self.harmonics + 1)
        constant = full[0] / self.angular_frequency
        columns = np.empty(self.size)
        columns[0] = full[0]
        columns[1::2] = (full[3::2] + full[1]) / k
        columns[2::2] = (full[4::2] + constant / k + k * (full[2] + constant)) / k ** 2
        return columns
