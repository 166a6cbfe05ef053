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
"""Smallest non-zero singular value of the regressor."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.design.criteria.criterion import Criterion, soft_maximum


class SmallestSingularValue(Criterion):
    """
    Smallest non-zero singular value, to be made large; the merit is minus its logarithm.

    References
    ----------
    B. Armstrong, "On finding exciting trajectories for identification experiments involving
    systems with nonlinear dynamics", Int. J. Robotics Research 8(6), 1989.

    """

    name: ClassVar[str] = 'sigma_min'
    larger_is_better: ClassVar[bool] = True

    def value(self, eigenvalues: Array) -> float:
        """Return the smallest singular value."""
        return float(np.sqrt(eigenvalues[0]))

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return -log sigma_min, smoothed, and its derivative; see `Criterion.merit`."""
        smallest, fall = soft_maximum(-np.log(eigenvalues), sharpness)
        return 0.5 * smallest, -0.5 * fall / eigenvalues
