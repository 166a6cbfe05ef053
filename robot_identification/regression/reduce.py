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
"""From samples to the R factors, block by block; the regressor is never stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters
from robot_identification.parallel import parallel_map, single_threaded_blas
from robot_identification.regression.packing import Block, blocks_of, PARTS, RowAssembler
from robot_identification.regression.reduced_regression import ReducedRegression, triangle

if TYPE_CHECKING:
    from robot_identification.signals import Samples


def reduce_samples(
    base: BaseParameters,
    samples: Samples,
    *,
    progress: Callable[[float], None] | None = None,
    load: Array | None = None,
) -> ReducedRegression:
    """
    Reduce samples to the R factors of the regression on the base parameters.

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
    packing = RowAssembler(base, samples, load)
    columns = packing.columns
    blocks = blocks_of(samples)

    def factors(part: list[Block]) -> list[Array]:
        triangles = [np.zeros((len(c) + 1, len(c) + 1)) for c in columns]
        for number, block in enumerate(part):
            triangles = [triangle(np.vstack([t, p]))
                         for t, p in zip(triangles, packing.rows(block))]
            if progress is not None and part is parts[0]:
                progress((number + 1) / len(part))
        return triangles

    parts = [blocks[i::PARTS] for i in range(min(PARTS, len(blocks)))]
    with single_threaded_blas():
        done = list(parallel_map(factors, parts))
    counts = np.full(len(columns), row_count(samples))
    return ReducedRegression.merge([
        ReducedRegression(base, columns, tuple(part), counts if i == 0 else 0 * counts)
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
    structure, decimator = base.structure, samples.decimator()
    standard = base.lift(beta)
    states = structure.states(samples.q)
    out = np.empty((row_count(samples), structure.arm.n))

    def fill(block: Block) -> None:
        rows = block.samples
        left = samples.tau[rows] - structure.torque(
            samples.q[rows], samples.v[rows], samples.a[rows], standard,
            *(None if x is None else x[rows] for x in (load, states)))
        np.multiply(decimator.apply(left), structure.arm.measured, out=out[block.rows])

    with single_threaded_blas():
        for _ in parallel_map(fill, blocks_of(samples)):
            pass
    out.flags.writeable = False
    return out


def packed_rows(base: BaseParameters, samples: Samples, load: Array | None = None,
                progress: Callable[[float], None] | None = None) -> list[Array]:
    """
    Return for each joint all rows of [columns, torque], (rows, c_j + 1): for short recordings.

    Parameters
    ----------
    base, samples, load, progress
        As for `reduce_samples`.

    """
    packing, blocks = RowAssembler(base, samples, load), blocks_of(samples)
    parts = []
    with single_threaded_blas():
        for part in parallel_map(packing.rows, blocks):
            parts.append(part)
            if progress is not None:
                progress(len(parts) / len(blocks))
    return [np.vstack(part) for part in zip(*parts)]


def row_count(samples: Samples) -> int:
    """Return how many decimated rows the samples make for each joint."""
    decimator = samples.decimator()
    return sum(decimator.rows(s.stop - s.start) for s in samples.segments)
