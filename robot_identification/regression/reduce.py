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
"""Reduction of samples to R factors, block by block, without storing the regressor."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.parallel import parallel_map, single_threaded_blas
from robot_identification.regression import packing
from robot_identification.regression.reduced_regression import ReducedRegression
from robot_identification.signals import Samples


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
    assembler, blocks = packing.RowAssembler(base, samples, load), packing.blocks_of(samples)

    def factors(group: list[packing.Block]) -> Iterable[Array]:
        """Return the triangular factor of each joint for the rows of a group of blocks."""
        start: Iterable[Array] = [np.zeros((len(c) + 1, len(c) + 1)) for c in assembler.columns]
        return reduce(ReducedRegression.combine, map(assembler.rows, group), start)

    with single_threaded_blas():
        groups = min(packing.GROUPS, len(blocks))
        sums = parallel_map(factors, [blocks[i::packing.GROUPS] for i in range(groups)])
        total = tuple(reduce(ReducedRegression.combine, sums))
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
