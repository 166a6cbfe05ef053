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
"""Linear least squares with bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from scipy.linalg import lapack
from scipy.optimize import lsq_linear

_TOLERANCE = 1e-13
_ROUNDS, _PATIENCE = 60, 3
"""Largest number of exchanges, and of those in a row that do not reduce the violations."""


class Box:
    """
    Bounds of r parameters, and the active set of the last problem solved within them.

    Consecutive problems of a search mostly have the same active set, so each starts from that of
    the last one, which saves time and does not change the result.

    Parameters
    ----------
    lower, upper
        (r,)

    Attributes
    ----------
    active
        -1 for parameters on the lower bound, 1 on the upper one, 0 between them, (r,) int.

    """

    def __init__(self, lower: Array, upper: Array) -> None:
        self.lower, self.upper = lower, upper
        self.active: NDArray[np.int64] = np.zeros(len(lower), dtype=np.int64)

    def outside(self, values: Array) -> bool:
        """Return whether any of the values (r,) is outside."""
        return bool(np.any((values < self.lower) | (values > self.upper)))

    def solve(self, matrix: Array, target: Array) -> Array:
        """
        Return x (r,) that minimises |matrix @ x - target|^2 within the bounds.

        Block principal pivoting; single pivots if it cycles or the matrix is rank deficient.

        Parameters
        ----------
        matrix, target
            (rows, r) and (rows,) with rows >= r; a triangular factor is enough.

        References
        ----------
        L. F. Portugal, J. J. Judice, L. N. Vicente, "A comparison of block pivoting and
        interior-point algorithms for linear least squares problems with nonnegative variables",
        Mathematics of Computation 63, 1994.
        P. B. Stark, R. L. Parker, "Bounded-variable least-squares: an algorithm and applications",
        Computational Statistics 10, 1995 (scipy's `lsq_linear`).

        """
        norms = np.linalg.norm(matrix, axis=0)
        norms[norms == 0] = 1.0
        size = max(float(np.linalg.norm(target)), np.finfo(float).tiny)
        unit, goal = matrix / norms, target / size
        lower, upper = self.lower * norms / size, self.upper * norms / size
        found = _pivot(unit, goal, lower, upper, self.active)
        if found is None:
            slow = lsq_linear(unit, goal, (lower, upper), method='bvls', tol=_TOLERANCE,
                              lsq_solver='exact')
            found = slow.x, slow.active_mask.astype(np.int64)
        values, self.active = found
        between = np.clip(values / norms * size, self.lower, self.upper)
        return np.choose(self.active + 1, (self.lower, between, self.upper))


def _pivot(matrix: Array, target: Array, lower: Array, upper: Array,
           active: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]] | None:
    """Return x and its active set, or None if pivoting does not terminate."""
    fewest, patience = len(lower) + 1, _PATIENCE
    active = active.copy()
    for _ in range(_ROUNDS):
        free = active == 0
        x = np.where(active < 0, lower, upper)
        count = int(free.sum())
        if count:
            columns = matrix[:, free]
            factor, solution, info = lapack.dgels(columns, target - matrix[:, ~free] @ x[~free])
            diagonal = np.abs(np.diag(factor)[:count])
            if info != 0 or np.min(diagonal) < _TOLERANCE ** 0.75 * np.max(diagonal):
                return None
            x[free] = solution[:count]
        gradient = matrix.T @ (matrix @ x - target)
        low, high = free & (x < lower), free & (x > upper)
        leave = gradient * active > _TOLERANCE
        wrong = int(low.sum() + high.sum() + leave.sum())
        if wrong == 0:
            return x, active
        if wrong < fewest:
            fewest, patience = wrong, _PATIENCE
        elif patience == 0:
            return None
        else:
            patience -= 1
        active[low], active[high], active[leave] = -1, 1, 0
    return None
