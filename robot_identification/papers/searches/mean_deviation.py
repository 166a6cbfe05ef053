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
"""Objective of Zhang et al. 2018: mean and standard deviation of the torque error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.papers.searches.objective import Objective
from robot_identification.papers.searches.problem import SearchProblem


class MeanAndDeviation(Objective):
    """
    Sum over the joints of |mean torque error| + k_e (standard deviation of the torque error).

    Parameters
    ----------
    problem, weights
        As for `Objective`.
    factor
        Factor k_e of the standard deviation.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (25).

    """

    name = 'mean_deviation'
    summary = 'absolute mean and standard deviation of the torque error (25)'

    def __init__(self, problem: SearchProblem, weights: ArrayLike | None = None,
                 factor: float = 1.0) -> None:
        super().__init__(problem, weights)
        self.factor = factor

    def __call__(self, population: Array) -> Array:
        """Return the costs (P,) of unknowns (P, d), from R factors if the problem is linear."""
        if not self.problem.linear:
            return super().__call__(population)
        if not hasattr(self, '_sums'):
            unit = np.vstack([np.zeros(self.problem.dimension), np.eye(self.problem.dimension)])
            sums, _ = self.problem.reduce(unit, lambda residuals: residuals.sum(axis=2))
            self._sums = sums[:, 0], sums[:, 1:] - sums[:, :1]
        normal, (offset, slope) = self.problem.regression.normal, self._sums
        squares = []
        for joint in range(normal.joints):
            matrix, target = normal.joint_rows(joint)
            squares.append(np.sum((population @ matrix.T - target) ** 2, axis=1))
        return self.combine(np.stack([offset[:, None] + slope @ population.T,
                                      np.array(squares)]), int(normal.rows.max()))

    def terms(self, residuals: Array) -> Array:
        """Return the sums of the residuals and of their squares over the rows, (2, n, P)."""
        return np.stack([residuals.sum(axis=2), np.einsum('jpr,jpr->jp', residuals, residuals)])

    def combine(self, sums: Array, rows: int) -> Array:
        """Return the costs (P,) from the sums (2, n, P) over a number of rows."""
        mean, square = sums / rows
        std = np.sqrt(np.maximum(square - mean ** 2, 0.0))
        cost: Array = self.weights @ (np.abs(mean) + self.factor * std)
        return cost
