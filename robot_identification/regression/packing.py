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
"""Decimated regression rows of each joint, with columns only for parameters that act on it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array, consecutive_slices, IndexArray
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import EstimationError
from robot_identification.signals import Samples

ROWS = 256
"""Maximum number of decimated rows per block; larger if a block would have less than `BLOCK`
samples. Adjacent blocks both process the samples that the decimation filter needs beyond its rows
(its length, 8 rows), which is 3 % of 256 rows."""
BLOCK = 2048
"""Smallest number of samples of a block with more than `ROWS` rows."""
CHUNK = 512
"""Number of samples whose columns are computed at once, so that they fit into a core's cache."""
GROUPS = 8
"""Minimum number of blocks, which are made in parallel, if there are as many rows. A fixed number,
so that results do not depend on the number of cores."""


@dataclass(frozen=True)
class Block:
    """Decimated rows and the samples from which the decimation filter computes them."""

    samples: slice
    rows: slice


def expand_rows(packed: Sequence[Array], columns: Sequence[IndexArray], rank: int,
                weights: Array) -> Array:
    """
    Return the weighted rows of all joints, stacked and expanded to all base parameters.

    Parameters
    ----------
    packed
        Rows of each joint, (rows, c_j + k): columns of its base parameters, then k other columns,
        for instance the torque.
    columns
        The c_j base parameters of each joint, see `BaseParameters.joint_columns`.
    rank
        Number r of all base parameters.
    weights
        Weight of each joint's rows, (n,).

    Returns
    -------
    expanded
        (all rows, r + k).

    """
    expanded = []
    for rows, chosen, weight in zip(packed, columns, weights):
        wide = np.zeros((len(rows), rank + rows.shape[1] - len(chosen)))
        wide[:, chosen], wide[:, rank:] = rows[:, :len(chosen)], rows[:, len(chosen):]
        expanded.append(weight * wide)
    return np.vstack(expanded)


def row_residuals(packed: Sequence[Array], columns: Sequence[IndexArray], beta: Array) -> Array:
    """Return the torques of packed rows [columns, torque] minus those of beta (r,), (rows, n)."""
    return np.column_stack([rows[:, -1] - rows[:, :-1] @ beta[chosen]
                            for rows, chosen in zip(packed, columns)])


def insert_columns(packed: Sequence[Array], columns: Array) -> list[Array]:
    """
    Return packed rows [columns, added columns, torque].

    Parameters
    ----------
    packed
        Rows [columns, torque] of each joint, (rows, c_j + 1); zero where they are not used.
    columns
        Added columns in the rows of each joint, (rows, n, k).

    """
    return [np.column_stack([rows[:, :-1], rows.any(axis=1, keepdims=True) * columns[:, j],
                             rows[:, -1]]) for j, rows in enumerate(packed)]


def row_count(samples: Samples) -> int:
    """Return the number of decimated rows of each joint."""
    return sum(samples.decimator().rows(run.stop - run.start) for run in samples.segments)


def iterate_row_blocks(samples: Samples, rows: int) -> Iterator[Block]:
    """Yield consecutive blocks with at most this number of decimated rows."""
    decimator, done = samples.decimator(), 0
    for run in samples.segments:
        for inside, made in decimator.blocks(run.stop - run.start, rows):
            yield Block(slice(run.start + inside.start, run.start + inside.stop),
                        slice(done + made.start, done + made.stop))
        done += decimator.rows(run.stop - run.start)


def blocks_of(samples: Samples) -> list[Block]:
    """
    Return blocks that together contain all decimated rows of the samples.

    The blocks depend only on the samples, so that results do not depend on the number of cores.

    Parameters
    ----------
    samples
        Processed samples.

    Raises
    ------
    EstimationError
        There are too few samples for one row.

    """
    decimator = samples.decimator()
    size = max(ROWS, BLOCK // decimator.factor)
    blocks = list(iterate_row_blocks(samples, max(1, min(size, -(-row_count(samples) // GROUPS)))))
    if not blocks:
        raise EstimationError(
            f'{len(samples.t)} samples at {samples.rate:.4g} Hz are too few to make one row at '
            f'{decimator.decimated_rate:.3g} Hz; record longer or raise the decimation cut-off')
    return blocks


class RowAssembler:
    """
    Computes decimated rows [columns, torque] of the regression of each joint.

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed states and torques.
    load
        Transmitted torques, (N, n) [N m or N]; for load-dependent friction.

    """

    def __init__(self, base: BaseParameters, samples: Samples, load: Array | None = None) -> None:
        self.base, self.samples, self.load = base, samples, load
        self.columns = base.joint_columns
        self._states = base.structure.states(samples.q)
        self._decimator, self._slides = samples.decimator(), samples.sliding_rows
        self._slices = consecutive_slices(len(chosen) + 1 for chosen in self.columns)
        n, count = len(self.columns), base.structure.count
        self._sources = np.concatenate([    # of [columns of all joints, torques] of a sample
            [*(j * count + base.columns[chosen]), n * count + j]
            for j, chosen in enumerate(self.columns)])

    def rows(self, block: Block) -> list[Array]:
        """
        Return for each joint the decimated columns and torque of a block, (rows, c_j + 1).

        Rows that are not used (`Samples.sliding_rows`) are zero.
        """
        decimator, (first, stop) = self._decimator, (block.samples.start, block.samples.stop)
        size = max(1, CHUNK // decimator.factor) * decimator.factor
        weighed = []
        for start in range(first, stop, size):
            chunk = slice(start, min(start + size, stop))
            columns = self.base.structure.columns(*self._motion(chunk))
            weighed.append(decimator.weigh_groups(np.hstack(
                [columns.reshape(len(columns), -1), self._torque(chunk)])[:, self._sources]))
        table = decimator.sum_groups(np.concatenate(weighed), block.rows.stop - block.rows.start)
        return [table[:, joint] if used.all() else np.where(used[:, None], table[:, joint], 0.0)
                for used, joint in zip(self._slides[block.rows].T, self._slices)]

    def _motion(self, rows: slice) -> list[Any]:
        """Return q, v, a, load and states of friction of some samples."""
        samples = self.samples
        return [None if x is None else x[rows]
                for x in (samples.q, samples.v, samples.a, self.load, self._states)]

    def _torque(self, rows: slice) -> Array:
        """Return the measured torques of some samples minus the torque of known balancers."""
        structure, tau = self.base.structure, self.samples.tau[rows]
        if not structure.arm.balancers:
            return tau
        return np.where(structure.arm.measured,
                        tau - structure.known_torque(self.samples.q[rows]), 0.0)
