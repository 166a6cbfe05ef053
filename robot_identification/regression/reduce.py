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
"""From samples to the normal form, block by block; the regressor is never stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters, joint_torque_regressor
from robot_identification.dynamics.parallel import core_count, single_threaded_blas
from robot_identification.errors import EstimationError
from robot_identification.regression.normal_form import NormalForm, triangle

if TYPE_CHECKING:
    from robot_identification.signals import Samples

BLOCK = 512
"""Samples of a block: its regressor stays in a core's cache."""


@dataclass(frozen=True)
class _Block:
    """Samples `samples` (with the decimation filter's halo) that make the rows `rows`."""

    samples: slice
    rows: slice


def reduce_samples(
    base: BaseParameters,
    samples: Samples,
    *,
    progress: Callable[[float], None] | None = None,
    load: Array | None = None,
) -> NormalForm:
    """
    Reduce samples to the normal form of the regression on the base parameters.

    Torques and regressor columns go through the same decimation filter (`samples.decimator()`),
    then every block is reduced to triangular factors, on all cores.

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed states and torques.
    progress
        Called with the part done, 0 to 1.
    load
        Transmitted torques, (N, n) [N m or N]; for friction that needs it.

    Raises
    ------
    EstimationError
        The samples are of another arm, or too few to make a row.

    """
    blocks = _blocks(samples)
    columns = joint_columns(base)
    states = base.structure.states(samples.q)

    def factors(part: list[_Block]) -> list[Array]:
        triangles = [np.zeros((len(c) + 1, len(c) + 1)) for c in columns]
        for number, block in enumerate(part):
            packed = _packed(base, columns, samples, block, load, states)
            triangles = [triangle(np.vstack([t, p])) for t, p in zip(triangles, packed)]
            if progress is not None and part is parts[0]:
                progress((number + 1) / len(part))
        return triangles

    cores = min(core_count(), len(blocks))
    parts = [blocks[i::cores] for i in range(cores)]
    with single_threaded_blas(), ThreadPoolExecutor(cores) as pool:
        done = list(pool.map(factors, parts))
    counts = np.full(len(columns), row_count(samples))
    return NormalForm.merge([
        NormalForm(base, columns, tuple(part), counts if i == 0 else 0 * counts)
        for i, part in enumerate(done)])


def residuals(base: BaseParameters, samples: Samples, beta: Array, *,
              load: Array | None = None) -> Array:
    """
    Return torque minus prediction on the rows that the regression used, (rows, n) [N m or N].

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed states and torques.
    beta
        Base parameter values, (r,).
    load
        Transmitted torques, (N, n) [N m or N]; for friction that needs it.

    """
    columns = joint_columns(base)
    states = base.structure.states(samples.q)
    out = np.empty((row_count(samples), len(columns)))

    def fill(block: _Block) -> None:
        for j, packed in enumerate(_packed(base, columns, samples, block, load, states)):
            out[block.rows, j] = packed[:, -1] - packed[:, :-1] @ beta[columns[j]]

    with single_threaded_blas(), ThreadPoolExecutor(core_count()) as pool:
        for _ in pool.map(fill, _blocks(samples)):
            pass
    return out


def packed_rows(base: BaseParameters, samples: Samples, load: Array | None = None) -> list[Array]:
    """
    Return for each joint all rows of [columns, torque], (rows, c_j + 1): for short recordings.

    Parameters
    ----------
    base, samples, load
        As for `reduce_samples`.

    """
    columns = joint_columns(base)
    states = base.structure.states(samples.q)
    parts: list[list[Array]] = [[] for _ in columns]
    for block in _blocks(samples):
        for part, packed in zip(parts, _packed(base, columns, samples, block, load, states)):
            part.append(packed)
    return [np.vstack(part) for part in parts]


def row_count(samples: Samples) -> int:
    """Return how many decimated rows the samples make for each joint."""
    decimator = samples.decimator()
    return sum(decimator.rows(s.stop - s.start) for s in samples.segments)


def joint_columns(base: BaseParameters) -> tuple[IndexArray, ...]:
    """
    Return for each joint the base parameters that can act on it, tuple of (c_j,) int.

    A joint whose effort is not measured has none, and its torque is zero: its rows say nothing.
    """
    structure = base.structure
    support = structure.support[:, base.columns] * structure.arm.measured[:, None]
    return tuple(np.flatnonzero(row) for row in support)


def _blocks(samples: Samples) -> list[_Block]:
    decimator = samples.decimator()
    halo = 2 * decimator.half_length
    rows_per_block = max(BLOCK, 4 * halo) // decimator.factor
    blocks, done = [], 0
    for segment in samples.segments:
        for part, rows in decimator.blocks(segment.stop - segment.start, max(1, rows_per_block)):
            blocks.append(_Block(slice(segment.start + part.start, segment.start + part.stop),
                                 slice(done + rows.start, done + rows.stop)))
        done += decimator.rows(segment.stop - segment.start)
    if not blocks:
        raise EstimationError(
            f'{len(samples.t)} samples at {samples.rate:.4g} Hz are too few to make one row at '
            f'{decimator.decimated_rate:.3g} Hz; record longer or raise the decimation cut-off')
    return blocks


def _packed(base: BaseParameters, columns: tuple[IndexArray, ...], samples: Samples,
            block: _Block, load: Array | None, states: Array | None) -> Iterator[Array]:
    """Yield for each joint its decimated columns and torque, (rows, c_j + 1)."""
    structure = base.structure
    q, v, a = (np.ascontiguousarray(x[block.samples]) for x in (samples.q, samples.v, samples.a))
    inertial = joint_torque_regressor(structure.arm, q, v, a, backend=structure.backend)
    drive = structure.element_columns(q, v, a, *(
        None if x is None else x[block.samples] for x in (load, states)))
    spread = structure.spread
    links, first = structure.inertial.stop, structure.rotor.start
    balancers = structure.balancer_columns(q) if first > links else None
    tau = samples.tau[block.samples]
    if structure.arm.balancers:
        tau = np.where(structure.arm.measured, tau - structure.known_torque(q), 0.0)
    decimator = samples.decimator()
    for j, chosen in enumerate(columns):
        standard = base.columns[chosen]
        rigid, split = (int(k) for k in np.searchsorted(standard, [links, first]))
        packed = np.empty((len(q), len(chosen) + 1), order='F')
        packed[:, :rigid] = inertial[:, j, standard[:rigid]]
        if balancers is not None:
            packed[:, rigid:split] = balancers[:, j, standard[rigid:split] - links]
        chosen_drive = standard[split:] - first
        packed[:, split:-1] = drive[:, chosen_drive] * spread[j, chosen_drive]
        packed[:, -1] = tau[:, j]
        yield decimator.apply(packed)
