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
from scipy.optimize import lsq_linear

from robot_identification.arrays import Array

TOLERANCE = 1e-13
"""Relative decrease of the cost below which the active set is final."""


def least_squares_within(matrix: Array, target: Array, lower: Array,
                         upper: Array) -> tuple[Array, NDArray[np.bool_]]:
    """
    Minimise the squared norm of matrix @ x - target with lower <= x <= upper.

    Parameters
    ----------
    matrix, target
        (rows, r) and (rows,); a triangular factor will do.
    lower, upper
        (r,) bounds.

    Returns
    -------
    tuple
        x (r,), and which of its numbers are free, (r,) bool; the others lie on a bound.

    References
    ----------
    P. B. Stark, R. L. Parker, "Bounded-variable least-squares: an algorithm and applications",
    Computational Statistics 10, 1995 (scipy's `lsq_linear`).
    """
    norms = np.linalg.norm(matrix, axis=0)
    norms[norms == 0] = 1.0
    size = max(float(np.linalg.norm(target)), np.finfo(float).tiny)
    found = lsq_linear(matrix * (1 / norms), target / size,
                       (lower * norms / size, upper * norms / size),
                       method='bvls', tol=TOLERANCE, lsq_solver='exact')
    values = np.clip(found.x / norms * size, lower, upper)
    return values, found.active_mask == 0
