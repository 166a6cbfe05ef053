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
"""Computation of the torque residuals of a population of candidate parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.friction import FrictionInput, FrictionModel
from robot_identification.parallel import core_count, single_threaded_blas
from robot_identification.regression import Regression
from robot_identification.regression.separable import row_chunks, RowChunk, shapes_of_speed

ROWS = 1024
"""Number of rows of a chunk; its residuals fit into the processor's cache."""
TOGETHER = 32
"""Number of individuals of a population whose residuals are computed at once."""
KEPT = 512 * 2 ** 20
"""[bytes] largest size of rows kept in memory; larger data is recomputed each generation."""


class SearchProblem:
    """
    Search problem of a regression, with d unknowns: base parameters and friction shapes.

    The vector of unknowns is [r base parameters, logarithms of m s shape parameters]. If the
    friction has no shape parameters or the regression fixes them, d = r.

    Parameters
    ----------
    regression
        Regression of all recordings.

    """

    def __init__(self, regression: Regression) -> None:
        self.regression = regression
        self.base = regression.base
        self.structure = regression.base.structure
        self.shape_size = self.structure.shape.shape if not regression.fixed else (0, 0)
        shapes_of_speed(regression)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without threads and cached rows, which are recreated when needed."""
        return {name: value for name, value in vars(self).items()
                if name not in ('_pool', '_kept')}

    @property
    def rank(self) -> int:
        """Number of base parameters r."""
        return self.base.rank

    @property
    def dimension(self) -> int:
        """Number of unknowns d."""
        return self.rank + int(np.prod(self.shape_size))

    @property
    def linear(self) -> bool:
        """Whether the unknowns are base parameters only."""
        return self.dimension == self.rank

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknowns."""
        shapes = () if self.linear else self.structure.shape_names
        return (*self.base.labels, *(f'log {name}' for name in shapes))

    def split(self, values: Array) -> tuple[Array, Array]:
        """Split unknowns (..., d) into base parameters (..., r) and shapes (..., m, s)."""
        return (values[..., :self.rank],
                np.exp(values[..., self.rank:]).reshape(*values.shape[:-1], *self.shape_size))

    def reduce(self, population: Array, terms: Callable[[Array], Array]) -> tuple[Array, int]:
        """
        Sum a function of the torque residuals over all rows.

        Parameters
        ----------
        population
            Unknowns of P individuals, (P, d).
        terms
            Function from the residuals of a chunk (n, P, rows) to sums over its rows (..., P).

        Returns
        -------
        tuple
            The total sums (..., P), and the number of rows per joint.

        """
        chunks = [population[i:i + TOGETHER] for i in range(0, len(population), TOGETHER)]

        def one(chunk: _Chunk) -> tuple[Array, int]:
            sums = [terms(self._residuals(chunk, block)) for block in chunks]
            return np.concatenate(sums, axis=-1), len(chunk.rows)

        if self._kept is not None and len(self._kept) == 1:    # threads cost more than they save
            return one(self._kept[0])
        with single_threaded_blas():
            done = list(self._pool.map(one, self._chunks()))
        return np.sum([total for total, _ in done], axis=0), sum(rows for _, rows in done)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(core_count())

    def residuals(self, values: Array) -> Array:
        """Return measured minus predicted torques (rows, n) [N m or N] for unknowns (d,)."""
        return np.vstack([self._residuals(chunk, values[None])[:, 0].T
                          for chunk in self._chunks()])

    def _chunks(self) -> Iterator[_Chunk]:
        if self._kept is not None:
            return iter(self._kept)
        return (self._chunk(rows) for rows in row_chunks(self.regression, ROWS))

    @cached_property
    def _kept(self) -> list[_Chunk] | None:
        kept, size = [], 0
        for rows in row_chunks(self.regression, ROWS):
            chunk = self._chunk(rows)
            size += sum(matrix.nbytes for matrix in chunk.fixed) + rows.v.nbytes
            if size > KEPT:
                return None
            kept.append(chunk)
        return kept

    @cached_property
    def _places(self) -> list[dict[int, int]]:
        """For each actuator, the base parameter of each shape-dependent friction column."""
        if self.linear:
            return []
        friction = self.structure.friction
        k, first = len(friction.parameters), self.structure.friction_slice.start
        where = {int(standard): i for i, standard in enumerate(self.base.columns)}
        return [{c: where[first + e * k + c] for c in friction.shape_dependent
                 if first + e * k + c in where}
                for e in range(self.shape_size[0])]

    def _chunk(self, rows: RowChunk) -> _Chunk:
        moving = {column for slots in self._places for column in slots.values()}
        columns, fixed = [], []
        for chosen, matrix in zip(rows.columns, rows.matrices):
            keep = np.array([int(c) not in moving for c in chosen], dtype=bool)
            columns.append(chosen[keep])
            fixed.append(np.ascontiguousarray(matrix[:, keep].T))
        return _Chunk(rows, tuple(columns), tuple(fixed),
                      np.ascontiguousarray((rows.v @ self.structure.arm.transmission.T).T))

    def _residuals(self, chunk: _Chunk, population: Array) -> Array:
        """Return measured minus predicted torques of a chunk for P individuals, (n, P, rows)."""
        beta, shape = self.split(population)
        rows = chunk.rows
        out = np.empty((len(chunk.fixed), len(population), len(rows)))
        for j, (columns, matrix) in enumerate(zip(chunk.columns, chunk.fixed)):
            np.matmul(-beta[:, columns], matrix, out=out[j])
            out[j] += rows.torques[:, j]
        transmission = self.structure.arm.transmission
        for e, slots in enumerate(self._places):
            torque = np.zeros((len(beta), chunk.speeds.shape[1]))
            moving = _moving_columns(self.structure.friction, chunk.speeds[e], shape[:, e])
            for c, column in slots.items():
                moving[c] *= beta[:, column, None]
                torque += moving[c]
            if rows.decimator.factor > 1:
                torque = rows.decimator.apply(torque.T).T
            for j in range(len(out)):
                if transmission[e, j] == 0:
                    continue
                out[j] -= transmission[e, j] * torque if transmission[e, j] != 1 else torque
        for j, unused in chunk.unused:
            out[j][:, unused] = 0.0
        return out


def _moving_columns(friction: FrictionModel, v: Array, shapes: Array) -> dict[int, Array]:
    """
    Return the friction columns that depend on shape parameters, for P shapes at once.

    Parameters
    ----------
    friction
        The friction model.
    v
        Velocities, (N,) [rad/s or m/s].
    shapes
        Shape parameters, (P, s).

    Returns
    -------
    dict
        Values (P, N) of each column, by its index among the friction parameters.

    """
    moving: dict[int, Array] = {}
    for term, of_shape, of_term in zip(friction.terms, friction.shape_slices,
                                       friction.parameter_slices):
        if term.nonlinear:
            columns = term.columns(FrictionInput(v), shapes[:, None, of_shape])
            moving |= {of_term.start + c: columns[..., c] for c in range(columns.shape[-1])}
    return moving


class _Chunk:
    """
    Rows of a chunk, with the regressor columns that do not depend on friction shapes.

    The other columns are computed from the actuator speeds. `unused` are the joints with rows that
    are not used, with their masks, (rows,) bool.
    """

    def __init__(self, rows: RowChunk, columns: tuple[Array, ...], fixed: tuple[Array, ...],
                 speeds: Array) -> None:
        self.rows, self.columns, self.fixed, self.speeds = rows, columns, fixed, speeds
        unused = [~matrix.any(axis=1) for matrix in rows.matrices]
        self.unused = [(j, each) for j, each in enumerate(unused) if each.any()]
