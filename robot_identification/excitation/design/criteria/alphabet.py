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
"""Criteria of optimal experimental design that are named by letters."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.design.criteria.criterion import Criterion, soft_maximum


class AOptimality(Criterion):
    """
    Trace of the inverse of W'W on the row space: the sum of the parameters' variances.

    The merit is half its logarithm.

    References
    ----------
    F. Pukelsheim, "Optimal design of experiments", SIAM, 2006, chapter 6.

    """

    name: ClassVar[str] = 'a_optimal'

    def value(self, eigenvalues: Array) -> float:
        """Return the trace of the inverse."""
        return float(np.sum(1.0 / eigenvalues))

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return half the logarithm and its derivative; it is smooth, whatever the sharpness."""
        total = self.value(eigenvalues)
        return 0.5 * float(np.log(total)), -0.5 / (total * eigenvalues ** 2)


class EOptimality(Criterion):
    """
    Largest eigenvalue of the inverse of W'W: the variance of the worst combination of parameters.

    The merit is half its logarithm, that of `SmallestSingularValue`.

    References
    ----------
    F. Pukelsheim, "Optimal design of experiments", SIAM, 2006, chapter 6.

    """

    name: ClassVar[str] = 'e_optimal'

    def value(self, eigenvalues: Array) -> float:
        """Return one over the smallest eigenvalue."""
        return float(1.0 / eigenvalues[0])

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return half the logarithm, smoothed, and its derivative; see `Criterion.merit`."""
        largest, weights = soft_maximum(-np.log(eigenvalues), sharpness)
        return 0.5 * largest, -0.5 * weights / eigenvalues
