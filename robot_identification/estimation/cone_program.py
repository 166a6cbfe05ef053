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

from collections.abc import Sequence
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError, explain_missing
from scipy import sparse

MAX_ITERATIONS = 200
"""Iterations of the interior-point method, which needs 10 to 50."""


def solve_conic_least_squares(
    matrix: Array,
    target: Array,
    semidefinite: Sequence[tuple[Array, Array]],
    nonnegative: tuple[Array, Array] | None = None,
) -> tuple[Array, str]:
    """
    Return the minimiser s of |matrix s - target|^2 + |s|^2 under conic constraints.

    For every constraint, bound - rows s must lie in its cone.
    The unknowns are s and the residuals, which keeps the problem sparse. If the data are nearly
    exact, their weights exceed the precision of the solver and it may fail. The problem is then
    solved again for y = R (s - s0), where s0 is the minimum without cones and
    R'R = matrix'matrix + 1. Its cost |y|^2 does not depend on the weights.

    Parameters
    ----------
    matrix, target
        (r, c) and (r,).
    semidefinite
        Rows and bound, (10, c) and (10,), of each symmetric 4 x 4 matrix in `SYMMETRIC_BASIS` that
        must be positive semidefinite.
    nonnegative
        Rows and bound, (d, c) and (d,), of numbers that must not be negative.

    Returns
    -------
    tuple
        s (c,), and the solver's status.

    Raises
    ------
    MissingDependencyError
        Clarabel is not installed.
    EstimationError
        Both formulations fail.

    """
    with explain_missing('clarabel', 'the physically consistent model'):
        import clarabel
    count, extra = matrix.shape[1], len(matrix)
    kinds: list[Any] = [clarabel.PSDTriangleConeT(4) for _ in semidefinite]
    if nonnegative is not None:
        kinds.append(clarabel.NonnegativeConeT(len(nonnegative[1])))
        semidefinite = [*semidefinite, nonnegative]
    rows, bounds = (np.concatenate(parts) for parts in zip(*semidefinite))
    split = sparse.bmat([[matrix, -sparse.eye(extra)], [sparse.csc_matrix(rows), None]],
                        format='csc')    # unknowns: s and the residuals
    solution, status = _minimise_norm(split, np.concatenate([target, bounds]),
                                      [clarabel.ZeroConeT(extra), *kinds])
    if solution is not None:
        return solution[:count], status
    orthogonal, upper = np.linalg.qr(np.vstack([matrix, np.eye(count)]))
    free = np.linalg.solve(upper, orthogonal[:extra].T @ target)
    inverse = np.linalg.solve(upper, np.eye(count))
    solution, again = _minimise_norm(sparse.csc_matrix(rows @ inverse), bounds - rows @ free,
                                     kinds)
    if solution is None:
        raise EstimationError(
            f'Clarabel found no physically consistent parameters ({status}; {again} with the '
            'unknowns in units of their standard deviations); check the units of the torques and '
            'the inertias of the URDF')
    return free + inverse @ solution, again


def _minimise_norm(rows: sparse.csc_matrix, bounds: Array,
                   kinds: list[Any]) -> tuple[Array | None, str]:
    """Return the smallest x with bounds - rows x in the cones, or None, and the solver status."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, MAX_ITERATIONS
    count = rows.shape[1]
    solution = clarabel.DefaultSolver(sparse.eye(count, format='csc') * 2.0, np.zeros(count),
                                      rows, bounds, kinds, settings).solve()
    status = str(solution.status)
    return (np.array(solution.x) if status in ('Solved', 'AlmostSolved') else None), status
