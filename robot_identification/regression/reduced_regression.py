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
"""The reduced regression: one triangular R factor per joint, computed block by block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import EstimationError
from robot_identification.parallel import parallel_map, single_threaded_blas
from robot_identification.regression import packing
from robot_identification.signals import Samples
from scipy.linalg import lapack


def triangle(matrix: Array) -> Array:
    """
    Return the triangular factor (c, c) of the QR factorisation of a matrix (rows, c).

    Householder reflections (LAPACK's dgeqrf) are backward stable: the result is the exact factor
    of a matrix that differs from the given one only by rounding errors. A Gram matrix would square
    the condition number.
    """
    columns = matrix.shape[1]
    if len(matrix) < columns:
        matrix = np.vstack([matrix, np.zeros((columns - len(matrix), columns))])
    factored, *_ = lapack.dgeqrf(np.array(matrix, order='F'), overwrite_a=1)
    return np.triu(factored[:columns])


@dataclass(frozen=True, eq=False)
class ReducedRegression:
    """
    Triangular factor of the regression of each joint, sufficient for any quadratic cost.

    `factors[j]` is the triangular factor of [W_j, tau_j], where W_j are the columns of the base
    parameters that can act on joint j, c = `base.joint_columns[j]`. For any beta the sum of
    squared residuals of joint j is the squared norm of `factors[j] @ [-beta[c], 1]`.

    Reduced regressions of several recordings are combined with `+`, in any order.

    Parameters
    ----------
    base
        The base parameters beta.
    factors
        Triangular factor of each joint, tuple of (c_j + 1, c_j + 1).
    rows
        Number of rows of each joint, (n,).

    References
    ----------
    J. Demmel, L. Grigori, M. Hoemmen, J. Langou, "Communication-optimal parallel and sequential QR
    and LU factorizations", SIAM J. Scientific Computing 34(1), 2012 (TSQR and its stability).

    """

    base: BaseParameters
    factors: tuple[Array, ...]
    rows: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, 'factors', tuple(read_only(f) for f in self.factors))
        object.__setattr__(self, 'rows', read_only(self.rows, np.int64))

    def __add__(self, other: ReducedRegression) -> ReducedRegression:
        if self.base.structure is not other.base.structure:
            raise EstimationError(
                'reduced regressions of different model structures do not add up')
        factors = self.combine(self.factors, other.factors)
        return ReducedRegression(self.base, factors, self.rows + other.rows)

    @staticmethod
    def combine(one: Iterable[Array], other: Iterable[Array]) -> tuple[Array, ...]:
        """Return the triangular factor of each joint's stacked rows, from rows or factors."""
        return tuple(triangle(np.vstack(pair)) for pair in zip(one, other))

    @property
    def joints(self) -> int:
        """Number of joints n."""
        return len(self.factors)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Whether the effort of each joint is measured, (n,); otherwise its rows are zero."""
        return self.base.structure.arm.measured

    def rss(self, beta: Array) -> Array:
        """Return the sum of squared residuals of each joint, (n,) [(N m)^2]."""
        return np.array([np.sum((f @ np.append(-beta[c], 1.0)) ** 2)
                         for f, c in zip(self.factors, self.base.joint_columns)])

    def energy(self) -> Array:
        """Return the sum of squared torques of each joint, (n,) [(N m)^2]."""
        return np.array([np.sum(f[:, -1] ** 2) for f in self.factors])

    def joint_rows(self, joint: int) -> tuple[Array, Array]:
        """
        Return the triangular factor of one joint, expanded to all base parameters.

        Returns
        -------
        tuple
            R (c_j + 1, r) and z (c_j + 1,): the sum of squared residuals of the joint is the
            squared norm of R beta - z.

        """
        expanded = packing.expand_rows([self.factors[joint]], [self.base.joint_columns[joint]],
                                       self.base.rank, np.ones(1))
        return expanded[:, :-1], expanded[:, -1]

    def stacked(self, weights: Array) -> tuple[Array, Array]:
        """
        Return R (rows, r) and z (rows,) of all joints, each multiplied by its weight.

        Parameters
        ----------
        weights
            Reciprocal standard deviation of the noise of each joint, (n,).

        """
        expanded = packing.expand_rows(self.factors, self.base.joint_columns, self.base.rank,
                                       weights)
        return expanded[:, :-1].copy(), expanded[:, -1].copy()


def reduce_samples(
    base: BaseParameters, samples: Samples, load: Array | None = None
) -> ReducedRegression:
    """
    Return the R factors of the regression of torques on base parameters.

    Torques and regressor columns pass the same decimation filter (`samples.decimator()`). Blocks
    of rows are then reduced to triangular factors, in parallel.

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed states and torques.
    load
        Transmitted torques, (N, n) [N m or N]; for load-dependent friction.

    Raises
    ------
    EstimationError
        There are too few samples for one row.

    """
    assembler = packing.RowAssembler(base, samples, load)
    with single_threaded_blas():
        factors = parallel_map(lambda block: tuple(map(triangle, assembler.rows(block))),
                               packing.blocks_of(samples))
        total = reduce(ReducedRegression.combine, factors)
    return ReducedRegression(base, total, samples.sliding_rows.sum(axis=0))


def residuals(base: BaseParameters, samples: Samples, beta: Array, *,
              load: Array | None = None) -> Array:
    """
    Return the torque residuals on the decimated rows of the regression, (rows, n) [N m or N].

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed states and torques.
    beta
        Base parameter values, (r,).
    load
        Transmitted torques, (N, n) [N m or N]; for load-dependent friction.

    Raises
    ------
    EstimationError
        There are too few samples for one row.

    """
    return packing.row_residuals(packed_rows(base, samples, load), base.joint_columns, beta)


def packed_rows(
    base: BaseParameters, samples: Samples, load: Array | None = None
) -> list[Array]:
    """
    Return all decimated rows [columns, torque] of each joint, (rows, c_j + 1).

    All rows are in memory at once; `reduce_samples` is for long recordings.

    Parameters
    ----------
    base, samples, load
        As for `reduce_samples`.

    """
    assembler = packing.RowAssembler(base, samples, load)
    with single_threaded_blas():
        blocks = list(parallel_map(assembler.rows, packing.blocks_of(samples)))
    return [np.vstack(joint) for joint in zip(*blocks)]
