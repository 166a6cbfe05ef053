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
"""The rows of a regression themselves, for costs that are not quadratic and for filters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.regression.packing import Block, RowAssembler
from robot_identification.regression.regression import Regression
from robot_identification.signals.decimation import Decimator

ROWS = 2048
"""Decimated rows of a chunk."""


@dataclass(frozen=True, eq=False)
class RowChunk:
    """
    Consecutive rows of a regression.

    Parameters
    ----------
    columns
        For each joint the base parameters that can act on it, tuple of (c_j,) int.
    matrices
        For each joint its decimated columns, tuple of (rows, c_j).
    torques
        Decimated torques, (rows, n) [N m or N].
    v
        Joint velocities before decimation, with the filter's halo, (samples, n).
    load
        Transmitted torques before decimation, (samples, n), or None.
    decimator
        The filter that made rows of samples.
    seconds
        From one row to the next [s].
    first
        Whether the chunk begins a new run of samples.

    """

    columns: tuple[IndexArray, ...]
    matrices: tuple[Array, ...]
    torques: Array
    v: Array
    load: Array | None
    decimator: Decimator
    seconds: float
    first: bool

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
    Walk over the rows of a regression in the order of time.

    Parameters
    ----------
    regression
        The problem; friction columns are those of the shape in its structure.
    rows
        Largest number of rows in a chunk.

    """
    for samples, load in regression.parts:
        packing = RowAssembler(regression.base, samples, load)
        decimator = samples.decimator()
        for segment in samples.segments:
            for part, made in decimator.blocks(segment.stop - segment.start, rows):
                within = slice(segment.start + part.start, segment.start + part.stop)
                packed = packing.rows(Block(within, made))
                yield RowChunk(
                    packing.columns, tuple(p[:, :-1] for p in packed),
                    np.column_stack([p[:, -1] for p in packed]), samples.v[within],
                    None if load is None else load[within], decimator,
                    1 / decimator.decimated_rate, made.start == 0)
