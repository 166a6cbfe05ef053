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
"""Linear least squares within a box."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from scipy.linalg import lapack
from scipy.optimize import lsq_linear

TOLERANCE = 1e-13
ROUNDS, PATIENCE = 60, 3
"""Exchanges, and how many of them in a row may leave as many numbers on the wrong side."""


class Box:
    """
    Bounds of r numbers, and which of them lay on a bound the last time.

    A sequence of similar problems mostly ends with the same numbers on their bounds, so each
    begins with those of the last one. That saves time and changes no result.

    Parameters
    ----------
    lower, upper
        (r,)

    Attributes
    ----------
    active
        -1 on the lower bound, 1 on the upper one, 0 between them, (r,) int.

    """

    def __init__(self, lower: Array, upper: Array) -> None:
        self.lower, self.upper = lower, upper
        self.active: NDArray[np.int64] = np.zeros(len(lower), dtype=np.int64)

    def outside(self, values: Array) -> bool:
        """Return whether any of the values (r,) is outside."""
        return bool(np.any((values < self.lower) | (values > self.upper)))


def least_squares_within(matrix: Array, target: Array, box: Box) -> Array:
    """
    Minimise the squared norm of matrix @ x - target with x in a box.

    All numbers that are on the wrong side are exchanged at once, which mostly ends after a few
    rounds; where it does not, or the matrix has no full rank, one after the other.

    Parameters
    ----------
    matrix, target
        (rows, r) and (rows,), no fewer rows than numbers; a triangular factor will do.
    box
        The bounds.

    Returns
    -------
    numpy.ndarray
        x, (r,); `box.active` says which of its numbers lie on a bound.

    References
    ----------
    L. F. Portugal, J. J. Judice, L. N. Vicente, "A comparison of block pivoting and interior-point
    algorithms for linear least squares problems with nonnegative variables", Mathematics of
    Computation 63, 1994.
    P. B. Stark, R. L. Parker, "Bounded-variable least-squares: an algorithm and applications",
    Computational Statistics 10, 1995 (scipy's `lsq_linear`).

    """
    norms = np.linalg.norm(matrix, axis=0)
    norms[norms == 0] = 1.0
    size = max(float(np.linalg.norm(target)), np.finfo(float).tiny)
    unit, goal = matrix / norms, target / size
    lower, upper = box.lower * norms / size, box.upper * norms / size
    found = _exchanged(unit, goal, lower, upper, box.active)
    if found is None:
        slow = lsq_linear(unit, goal, (lower, upper), method='bvls', tol=TOLERANCE,
                          lsq_solver='exact')
        found = slow.x, slow.active_mask.astype(np.int64)
    values, box.active = found
    between = np.clip(values / norms * size, box.lower, box.upper)
    return np.choose(box.active + 1, (box.lower, between, box.upper))


def _exchanged(matrix: Array, target: Array, lower: Array, upper: Array,
               active: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]] | None:
    """Return x and its active set, or None when exchanging does not come to an end."""
    fewest, patience = len(lower) + 1, PATIENCE
    active = active.copy()
    for _ in range(ROUNDS):
        free = active == 0
        x = np.where(active < 0, lower, upper)
        count = int(free.sum())
        if count:
            columns = matrix[:, free]
            factor, solution, info = lapack.dgels(columns, target - matrix[:, ~free] @ x[~free])
            diagonal = np.abs(np.diag(factor)[:count])
            if info != 0 or np.min(diagonal) < TOLERANCE ** 0.75 * np.max(diagonal):
                return None
            x[free] = solution[:count]
        gradient = matrix.T @ (matrix @ x - target)
        low, high = free & (x < lower), free & (x > upper)
        leave = gradient * active > TOLERANCE
        wrong = int(low.sum() + high.sum() + leave.sum())
        if wrong == 0:
            return x, active
        if wrong < fewest:
            fewest, patience = wrong, PATIENCE
        elif patience == 0:
            return None
        else:
            patience -= 1
        active[low], active[high], active[leave] = -1, 1, 0
    return None
