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
"""Base parameters: the combinations of standard parameters that torques depend on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics.structure import ModelStructure
from robot_identification.errors import EstimationError

TOLERANCE = 1e-4
"""Angles of URDFs are often rounded to 1.5708, which makes parallel axes cross by some 1e-6."""
VISIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """
    A minimal parameter set: beta = matrix @ standard parameters, W standard = W[:, columns] beta.

    Parameters
    ----------
    structure
        The model structure it belongs to.
    columns
        Standard parameters that keep their column, (r,) int, ascending.
    matrix
        From standard to base parameters, (r, count).
    gap
        Smallest relative residual of a kept column, and largest of a dropped one; the tolerance
        lies between them.

    """

    structure: ModelStructure
    columns: Array
    matrix: Array
    gap: tuple[float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, 'columns', read_only(self.columns, dtype=np.int64))
        object.__setattr__(self, 'matrix', read_only(self.matrix))

    def with_friction_shape(self, shape: Array) -> BaseParameters:
        """Return the same base parameters of the structure with another friction shape, (m, s)."""
        return replace(self, structure=self.structure.with_friction_shape(shape))

    @property
    def rank(self) -> int:
        """Number of base parameters r."""
        return len(self.columns)

    @property
    def labels(self) -> tuple[str, ...]:
        """Short names: that of the standard parameter that leads each combination."""
        return tuple(self.structure.names[c] for c in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The combinations, for instance 'j2.mcx + 0.316*j3.m'."""
        return tuple(self._combination(row) for row in self.matrix)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the base parameters."""
        return tuple(self.structure.units[c] for c in self.columns)

    @property
    def identifiability(self) -> tuple[str, ...]:
        """
        For each standard parameter 'alone', 'combination' or 'none'.

        'alone': torques determine it; 'combination': only a sum with others; 'none': it has no
        influence on any torque.
        """
        visible = np.abs(self.matrix) > VISIBLE
        shared = visible.sum(axis=1) > 1
        words = []
        for column in range(self.matrix.shape[1]):
            rows = visible[:, column]
            if not rows.any():
                words.append('none')
            else:
                words.append('combination' if shared[rows].any() else 'alone')
        return tuple(words)

    def project(self, standard: Array) -> Array:
        """Return the base parameters (r,) of standard parameters (count,)."""
        base: Array = self.matrix @ standard
        return base

    def lift(self, beta: Array) -> Array:
        """Return one of all standard parameters (count,) that predict what these (r,) do."""
        standard = np.zeros(self.structure.count)
        standard[self.columns] = beta
        return standard

    def _combination(self, row: Array) -> str:
        names = self.structure.names
        order = sorted(np.flatnonzero(np.abs(row) > VISIBLE),
                       key=lambda c: (c not in self.columns, c))
        text = ''
        for column in order:
            factor = row[column]
            term = (names[column] if abs(abs(factor) - 1) < VISIBLE
                    else f'{abs(factor):.4g}*{names[column]}')
            sign = '-' if factor < 0 else '+'
            text += f' {sign} {term}' if text else ('-' if factor < 0 else '') + term
        return text


def base_parameters(
    structure: ModelStructure, *, tolerance: float = TOLERANCE, seed: int = 0,
) -> BaseParameters:
    """
    Find the base parameters of a model structure.

    The columns are visited from the base outwards, and one is kept when random states show that it
    is not a combination of those kept before it. That choice depends on the structure alone, so
    every seed gives the same one. The shape of the friction is taken in the middle of its bounds.

    Parameters
    ----------
    structure
        Arm and friction model.
    tolerance
        A column is a combination of others when less than this part of its norm is left over.
    seed
        Seed of the random states.

    Raises
    ------
    EstimationError
        The tolerance does not separate dependent from independent columns by a factor of 1000.

    References
    ----------
    M. Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic
    Systems 8(4), 1991.

    """
    arm = structure.arm
    rng = np.random.default_rng(seed)
    count = 40 + 4 * structure.count // arm.n
    lower = np.where(np.isfinite(arm.limits.lower), arm.limits.lower, -np.pi)
    upper = np.where(np.isfinite(arm.limits.upper), arm.limits.upper, np.pi)
    q = rng.uniform(lower, upper, size=(count, arm.n))
    v, a = rng.normal(size=(2, count, arm.n))
    load = rng.normal(size=v.shape) if structure.friction.needs_load else None
    nominal = ModelStructure(arm, structure.friction, structure.backend)
    stacked = nominal.columns(q, v, a, load)[:, arm.measured].reshape(-1, structure.count)
    norms = np.linalg.norm(stacked, axis=0)
    visible = norms > tolerance * np.delete(norms, structure.balancer_slice).max()
    visible[structure.balancer_slice] = norms[structure.balancer_slice] > 0    # of any unit
    scale = np.where(visible, norms, np.inf)
    scaled = stacked / scale
    kept, basis, left = independent_columns(scaled, tolerance)
    smallest_kept = float(np.min(left[kept], initial=np.inf))
    largest_dropped = float(np.max(np.delete(left, kept), initial=0.0))
    if smallest_kept < 1000 * largest_dropped:
        raise EstimationError(
            f'the base parameters of {arm.name} are not clear-cut: a kept column has the residual '
            f'{smallest_kept:.1e} and a dropped one {largest_dropped:.1e}; check the URDF for '
            f'nearly parallel axes or tiny lengths')
    matrix = np.zeros((len(kept), structure.count))
    matrix[range(len(kept)), kept] = 1
    dropped = [c for c in range(structure.count) if c not in kept and np.isfinite(scale[c])]
    if dropped:
        triangle = basis.T @ scaled
        solution = np.linalg.solve(triangle[:, kept], triangle[:, dropped])
        matrix[:, dropped] = solution / scale[kept][:, None] * scale[dropped]
    return BaseParameters(structure, np.array(kept), matrix, (smallest_kept, largest_dropped))


def independent_columns(matrix: Array,
                        tolerance: float = TOLERANCE) -> tuple[list[int], Array, Array]:
    """
    Return the columns that are no combination of those before them, by Gram and Schmidt.

    Parameters
    ----------
    matrix
        (N, c), its columns of norm 1, or 0.
    tolerance
        A column is a combination of others when less than this is left over.

    Returns
    -------
    kept, basis, left
        Numbers of the columns, r of them; an orthonormal basis of their span, (N, r); and what is
        left of each column, (c,).

    """
    basis = np.empty((len(matrix), 0))
    kept: list[int] = []
    left = np.empty(matrix.shape[1])
    for column in range(matrix.shape[1]):
        rest = matrix[:, column]
        for _ in range(2):    # twice is enough (Kahan, Parlett)
            rest = rest - basis @ (basis.T @ rest)
        left[column] = np.linalg.norm(rest)
        if left[column] > tolerance:
            kept.append(column)
            basis = np.column_stack([basis, rest / left[column]])
    return kept, basis, left
