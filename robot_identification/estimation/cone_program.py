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
"""Least squares with conic constraints, solved by Clarabel."""

from __future__ import annotations

from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError
from scipy import sparse

MAX_ITERATIONS = 200
"""Iterations of the interior-point method, which needs 10 to 50."""


def solve_conic_least_squares(matrix: Array, target: Array, rows: list[Array], bounds: list[Array],
                              kinds: list[Any]) -> tuple[Array, str]:
    """
    Return s that minimises |matrix s - target|^2 + |s|^2 with every bounds - rows s in its cone.

    The unknowns are s and the residuals, which keeps the problem sparse. Nearly exact data have
    weights beyond the solver's precision. It is then solved again for y = R (s - s0), where s0 is
    the minimum without cones and R'R = matrix'matrix + 1: the cost is |y|^2, independent of the
    weights.

    Parameters
    ----------
    matrix, target
        (r, c) and (r,).
    rows, bounds
        Rows and bounds of each cone, (d, c) and (d,).
    kinds
        Clarabel's cones.

    Returns
    -------
    tuple
        s (c,), and the solver's status.

    Raises
    ------
    EstimationError
        Both formulations fail.

    """
    import clarabel

    count, extra = matrix.shape[1], len(matrix)
    wide = [sparse.hstack([sparse.csc_matrix(part), sparse.csc_matrix((len(part), extra))])
            for part in rows]
    first = sparse.hstack([sparse.csc_matrix(matrix), -sparse.eye(extra)])
    found, status = _minimum(sparse.vstack([first, *wide], format='csc'),
                             np.concatenate([target, *bounds]),
                             [clarabel.ZeroConeT(extra), *kinds])
    if found is not None:
        return found[:count], status
    orthogonal, upper = np.linalg.qr(np.vstack([matrix, np.eye(count)]))
    free = np.linalg.solve(upper, orthogonal[:extra].T @ target)
    inverse = np.linalg.solve(upper, np.eye(count))
    whitened = sparse.csc_matrix(np.vstack(rows) @ inverse)
    found, again = _minimum(whitened, np.concatenate(bounds) - np.vstack(rows) @ free, kinds)
    if found is None:
        raise EstimationError(
            f'Clarabel found no physically consistent parameters ({status}; {again} with the '
            'unknowns in units of their standard deviations); check the units of the torques and '
            'the inertias of the URDF')
    return free + inverse @ found, again


def _minimum(rows: sparse.csc_matrix, bounds: Array,
             kinds: list[Any]) -> tuple[Array | None, str]:
    """Return the x of least norm with bounds - rows x in the cones, or None, and the status."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, MAX_ITERATIONS
    count = rows.shape[1]
    solution = clarabel.DefaultSolver(sparse.eye(count, format='csc') * 2.0, np.zeros(count),
                                      rows, bounds, kinds, settings).solve()
    status = str(solution.status)
    solved = status in ('Solved', 'AlmostSolved')
    return (np.array(solution.x) if solved else None), status
