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
"""The reduced regression: one triangular R factor per joint, which add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, IndexArray, read_only
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import EstimationError
from scipy.linalg import lapack


def triangle(matrix: Array) -> Array:
    """
    Return the square triangular factor of a QR factorisation, (c, c) for (rows, c).

    Householder reflections (LAPACK's dgeqrf), so the factor is that of a matrix within rounding
    of the given one, whatever its condition; a Gram matrix would square the condition.
    """
    columns = matrix.shape[1]
    if len(matrix) < columns:
        matrix = np.vstack([matrix, np.zeros((columns - len(matrix), columns))])
    factored, _, _, info = lapack.dgeqrf(np.asfortranarray(matrix), overwrite_a=1)
    if info != 0:
        raise EstimationError(f'LAPACK dgeqrf failed with info {info}')
    return np.triu(factored[:columns])


@dataclass(frozen=True, eq=False)
class ReducedRegression:
    """
    All that a quadratic cost needs to know of N n regression rows.

    For joint j, `factors[j]` is the triangular factor of [W_j, tau_j], restricted to the base
    columns that can act on the joint. For any beta the squared residual of joint j is the squared
    norm of `factors[j] @ [-beta[columns[j]], 1]`, exactly.

    Reduced regressions of blocks, files or machines add up with `+`, in any order.

    Parameters
    ----------
    base
        The base parameters beta that the columns belong to.
    columns
        For each joint the base parameters that can act on it, tuple of (c_j,) int.
    factors
        For each joint the triangular factor, tuple of (c_j + 1, c_j + 1).
    rows
        Number of rows of each joint, (n,).

    References
    ----------
    J. Demmel, L. Grigori, M. Hoemmen, J. Langou, "Communication-optimal parallel and sequential QR
    and LU factorizations", SIAM J. Scientific Computing 34(1), 2012 (TSQR and its stability).

    """

    base: BaseParameters
    columns: tuple[IndexArray, ...]
    factors: tuple[Array, ...]
    rows: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, 'columns', tuple(read_only(c, np.int64) for c in self.columns))
        object.__setattr__(self, 'factors', tuple(read_only(f) for f in self.factors))
        object.__setattr__(self, 'rows', read_only(self.rows, np.int64))

    def __add__(self, other: ReducedRegression) -> ReducedRegression:
        if self.base.structure is not other.base.structure:
            raise EstimationError('normal forms of different model structures do not add up')
        factors = self.combine(self.factors, other.factors)
        return ReducedRegression(self.base, self.columns, factors, self.rows + other.rows)

    @staticmethod
    def combine(one: Sequence[Array], other: Sequence[Array]) -> tuple[Array, ...]:
        """Return the triangular factors of the rows of both, of each joint."""
        return tuple(triangle(np.vstack(pair)) for pair in zip(one, other))

    @classmethod
    def merge(cls, forms: Sequence[ReducedRegression]) -> ReducedRegression:
        """Return the sum of reduced regressions (at least one)."""
        return reduce(lambda a, b: a + b, forms)

    @property
    def joints(self) -> int:
        """Number of joints n."""
        return len(self.factors)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Which joints have efforts, (n,); the rows of the others are zero."""
        return self.base.structure.arm.measured

    def rss(self, beta: Array) -> Array:
        """Return the sum of squared residuals of each joint, (n,) [(N m)^2]."""
        return np.array([np.sum((f @ np.append(-beta[c], 1.0)) ** 2)
                         for f, c in zip(self.factors, self.columns)])

    def energy(self) -> Array:
        """Return the sum of squared torques of each joint, (n,) [(N m)^2]."""
        return np.array([np.sum(f[:, -1] ** 2) for f in self.factors])

    def joint_rows(self, joint: int) -> tuple[Array, Array]:
        """
        Return rows that stand for all rows of one joint.

        Returns
        -------
        tuple
            R (c_j + 1, r) over all base parameters, and z (c_j + 1,): the squared residual of the
            joint is that of R beta - z.

        """
        factor, columns = self.factors[joint], self.columns[joint]
        rows = np.zeros((len(factor), self.base.rank))
        rows[:, columns] = factor[:, :-1]
        return rows, np.array(factor[:, -1])

    def stacked(self, weights: Array) -> tuple[Array, Array]:
        """
        Return R (rows, r) and z (rows,) of all joints, each multiplied by its weight.

        Parameters
        ----------
        weights
            (n,) factors of the rows: the reciprocal standard deviation of the joint's noise.

        """
        parts = [self.joint_rows(j) for j in range(self.joints)]
        return (np.vstack([w * r for w, (r, _) in zip(weights, parts)]),
                np.concatenate([w * z for w, (_, z) in zip(weights, parts)]))
