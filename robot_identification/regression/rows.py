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
"""Rows of a regression in chronological order, for recursive filters and non-quadratic costs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.errors import EstimationError
from robot_identification.regression.packing import iterate_row_blocks, RowAssembler
from robot_identification.regression.regression import Regression
from robot_identification.signals.decimation import Decimator

ROWS = 2048
"""Default number of decimated rows in a chunk: 10 MB of columns for seven joints."""


@dataclass(frozen=True, eq=False)
class RowChunk:
    """
    Consecutive decimated rows of a regression.

    Parameters
    ----------
    columns
        Indices of the base parameters that can act on each joint, tuple of (c_j,) int.
    matrices
        Decimated columns of each joint, tuple of (rows, c_j).
    torques
        Decimated torques, (rows, n) [N m or N].
    v
        Joint velocities of all samples that the decimation filter uses, (samples, n).
    load
        Transmitted torques of these samples, (samples, n), or None.
    decimator
        The decimation filter.

    """

    columns: tuple[IndexArray, ...]
    matrices: tuple[Array, ...]
    torques: Array
    v: Array
    load: Array | None
    decimator: Decimator

    def __len__(self) -> int:
        """Return the number of rows of each joint."""
        return len(self.torques)

    def stacked(self, rank: int) -> Array:
        """Return the columns of all joints and base parameters, (rows, n, rank)."""
        out = np.zeros((len(self), len(self.columns), rank))
        for j, (chosen, matrix) in enumerate(zip(self.columns, self.matrices)):
            out[:, j, chosen] = matrix
        return out


def row_chunks(regression: Regression, rows: int = ROWS) -> Iterator[RowChunk]:
    """
    Yield the rows of a regression in chronological order.

    Parameters
    ----------
    regression
        The problem; friction columns are computed with the nonlinear parameters of its structure.
    rows
        Largest number of rows in a chunk.

    """
    for samples, load in regression.samples_with_loads:
        packing = RowAssembler(regression.base, samples, load)
        for block in iterate_row_blocks(samples, rows):
            packed, within = packing.rows(block), block.samples
            yield RowChunk(
                packing.columns, tuple(p[:, :-1] for p in packed),
                np.column_stack([p[:, -1] for p in packed]), samples.v[within],
                None if load is None else load[within], samples.decimator())


def shapes_of_speed(regression: Regression) -> None:
    """
    Raise an error if nonlinear parameters of friction with position or memory are estimated.

    Parameters
    ----------
    regression
        The problem of an estimator that computes friction columns from speeds and loads only.

    Raises
    ------
    EstimationError
        The friction depends on positions or has memory, and its nonlinear parameters are not
        fixed.

    """
    friction = regression.base.structure.friction
    if not regression.fixed and (friction.needs_position or friction.has_state):
        raise EstimationError(
            'this estimator can fit the shape only of friction that depends on speed, but '
            f"'{friction.key}' depends on positions or has memory: use wls or auto")
