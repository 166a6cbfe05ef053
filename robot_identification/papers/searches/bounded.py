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
"""Linear least squares with bounds on the parameters."""

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from scipy.linalg import lapack
from scipy.optimize import lsq_linear

_TOLERANCE = 1e-13    # of gradients, for columns and target of unit norm: rounding errors
_ROUNDS, _PATIENCE = 60, 3
"""Largest number of pivots, and of consecutive pivots that do not reduce the violations."""


class Box:
    """
    Bounded least squares that starts from the active set of the previous problem.

    Consecutive problems of a search usually have the same active set, so this start saves time. It
    does not change the result.

    Parameters
    ----------
    lower, upper
        Bounds of the parameters, (r,).

    Attributes
    ----------
    active
        -1 for parameters at the lower bound, 1 at the upper bound, 0 in between, (r,) int.

    """

    def __init__(self, lower: Array, upper: Array) -> None:
        self.lower, self.upper = lower, upper
        self.active: NDArray[np.int64] = np.zeros(len(lower), dtype=np.int64)

    def outside(self, values: Array) -> bool:
        """Return whether any of the values (r,) is out of bounds."""
        return bool(np.any((values < self.lower) | (values > self.upper)))

    def solve(self, matrix: Array, target: Array) -> Array:
        """
        Return x (r,) that minimises |matrix @ x - target|^2 within the bounds.

        The method is block principal pivoting. If it cycles or the matrix is rank deficient,
        `lsq_linear` with single pivots takes over.

        Parameters
        ----------
        matrix, target
            Regressor (rows, r) with rows >= r and right-hand side (rows,), or their R factor.

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
        solution = _pivot(unit, goal, lower, upper, self.active)
        if solution is None:
            slow = lsq_linear(unit, goal, (lower, upper), method='bvls', tol=_TOLERANCE,
                              lsq_solver='exact')
            solution = slow.x, slow.active_mask.astype(np.int64)
        values, self.active = solution
        between = np.clip(values / norms * size, self.lower, self.upper)
        return np.choose(self.active + 1, (self.lower, between, self.upper))


def _pivot(matrix: Array, target: Array, lower: Array, upper: Array,
           active: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]] | None:
    """Return the solution and its active set, or None if block pivoting does not terminate."""
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
