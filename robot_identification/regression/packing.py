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
"""From a block of samples to the decimated rows of each joint, packed to what acts on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TYPE_CHECKING

import numpy as np
from robot_identification.arrays import Array, IndexArray, readonly_view
from robot_identification.dynamics import BaseParameters, joint_torque_regressor
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.dynamics.regressor import default_backend
from robot_identification.errors import EstimationError

if TYPE_CHECKING:
    from robot_identification.signals import Samples

ROWS = 256
"""Decimated rows of a block at most, but for `BLOCK` samples: the filter's halo of 8 rows, which
neighbouring blocks share, is then 3 % of the work."""
BLOCK = 2048
"""Samples that are worked on at once: friction columns stay in a core's cache."""
PARTS = 8
"""Blocks at least, and sums of them that are made side by side: cores beyond these wait."""


@dataclass(frozen=True)
class Block:
    """Samples `samples` (with the decimation filter's halo) that make the rows `rows`."""

    samples: slice
    rows: slice


def joint_columns(base: BaseParameters) -> tuple[IndexArray, ...]:
    """
    Return for each joint the base parameters that can act on it, tuple of (c_j,) int.

    A joint whose effort is not measured has none, and its torque is zero: its rows say nothing.
    """
    structure = base.structure
    support = structure.support[:, base.columns] * structure.arm.measured[:, None]
    return tuple(np.flatnonzero(row) for row in support)


def blocks_of(samples: Samples) -> list[Block]:
    """
    Return blocks that together make all rows.

    They depend on the samples alone, so that no digit depends on the number of cores.

    Parameters
    ----------
    samples
        Processed samples.

    Raises
    ------
    EstimationError
        The samples are too few to make a row.

    """
    decimator = samples.decimator()
    rows = sum(decimator.rows(s.stop - s.start) for s in samples.segments)
    size = max(ROWS, BLOCK // decimator.factor)
    size = max(1, min(size, -(-rows // PARTS)))
    blocks, done = [], 0
    for segment in samples.segments:
        for part, made in decimator.blocks(segment.stop - segment.start, size):
            blocks.append(Block(slice(segment.start + part.start, segment.start + part.stop),
                                slice(done + made.start, done + made.stop)))
        done += decimator.rows(segment.stop - segment.start)
    if not blocks:
        raise EstimationError(
            f'{len(samples.t)} samples at {samples.rate:.4g} Hz are too few to make one row at '
            f'{decimator.decimated_rate:.3g} Hz; record longer or raise the decimation cut-off')
    return blocks


class RowAssembler:
    """
    Makes decimated rows [columns, torque] of each joint.

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed states and torques.
    load
        Transmitted torques, (N, n) [N m or N]; for friction that needs it.

    """

    def __init__(self, base: BaseParameters, samples: Samples, load: Array | None = None) -> None:
        self.base, self.samples, self.load = base, samples, load
        self.columns = joint_columns(base)
        self._states = base.structure.states(samples.q)
        self._decimator = samples.decimator()
        ends = np.cumsum([len(chosen) + 1 for chosen in self.columns])
        self._parts = [slice(int(end) - len(chosen) - 1, int(end))
                       for end, chosen in zip(ends, self.columns)]

    def rows(self, block: Block) -> list[Array]:
        """Return for each joint the decimated columns and torque of a block, (rows, c_j + 1)."""
        compiled = (self.base.structure.backend or default_backend()) == 'numba'
        table = self._compiled(block) if compiled else self._plain(block)
        return [table[:, part] for part in self._parts]

    def _compiled(self, block: Block) -> Array:
        """Return decimated rows without storing columns at the full rate (compiled)."""
        from robot_identification.regression.packing_kernels import add_decimated
        decimator = self._decimator
        out = np.zeros((block.rows.stop - block.rows.start, self._parts[-1].stop))
        first = block.samples.start
        for begin in range(first, block.samples.stop, BLOCK):
            rows = slice(begin, min(begin + BLOCK, block.samples.stop))
            add_decimated(*map(readonly_view, self._motion(rows)), *self._tree,
                          readonly_view(self._extra(rows)), readonly_view(self._torque(rows)),
                          *self._places, decimator.taps, decimator.factor, begin - first, out)
        return out

    def _plain(self, block: Block) -> Array:
        """Return the same without the compiled kernel."""
        rows = block.samples
        structure = self.base.structure
        regressor = joint_torque_regressor(structure.arm, *self._motion(rows),
                                           backend=structure.backend)
        table = np.empty((rows.stop - rows.start, self._parts[-1].stop))
        places, sources, extra_places, extra_sources, factors, tau_places = self._places
        table[:, places] = regressor.reshape(len(table), -1)[:, sources]
        table[:, extra_places] = self._extra(rows)[:, extra_sources] * factors
        table[:, tau_places] = self._torque(rows)
        return self._decimator.apply(table)

    @cached_property
    def _tree(self) -> Kinematics:
        return Kinematics.of(self.base.structure.arm)

    @cached_property
    def _places(self) -> tuple[Any, ...]:
        """Where in a packed row each entry goes, see `add_decimated`."""
        structure = self.base.structure
        links = structure.inertial_slice.stop
        spread = np.hstack([structure.arm.balanced_joints[structure.unknown_balancers].T,
                            structure.spread])
        rigid: list[Sequence[int]] = []
        extra: list[Sequence[int]] = []
        factors: list[float] = []
        for j, (part, chosen) in enumerate(zip(self._parts, self.columns)):
            for place, standard in enumerate(self.base.columns[chosen], start=part.start):
                if standard < links:
                    rigid.append((place, j * links + standard))
                else:
                    extra.append((place, standard - links))
                    factors.append(float(spread[j, standard - links]))
        return (*np.array(rigid, dtype=np.int64).reshape(-1, 2).T.copy(),
                *np.array(extra, dtype=np.int64).reshape(-1, 2).T.copy(),
                np.array(factors), np.array([part.stop - 1 for part in self._parts]))

    def _motion(self, rows: slice) -> tuple[Array, Array, Array]:
        samples = self.samples
        return samples.q[rows], samples.v[rows], samples.a[rows]

    def _extra(self, rows: slice) -> Array:
        """Return the columns of balancers, rotors and friction of each element, (N, e)."""
        structure = self.base.structure
        q, v, a = self._motion(rows)
        drive = structure.element_columns(q, v, a, *(
            None if x is None else x[rows] for x in (self.load, self._states)))
        unknown = structure.unknown_balancers
        if not unknown:
            return drive
        return np.hstack([structure.arm.balancer_columns(q)[:, unknown], drive])

    def _torque(self, rows: slice) -> Array:
        structure, tau = self.base.structure, self.samples.tau[rows]
        if not structure.arm.balancers:
            return tau
        return np.where(structure.arm.measured,
                        tau - structure.known_torque(self.samples.q[rows]), 0.0)
