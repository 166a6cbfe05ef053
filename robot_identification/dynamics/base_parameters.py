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
from functools import cached_property
from pathlib import Path

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array, IndexArray, read_only, ReadOnlyArrays
from robot_identification.dynamics.structure import ModelStructure
from robot_identification.errors import EstimationError

TOLERANCE = 1e-4
"""Residual of a column, relative to its norm, below which the column is a linear combination of
others. URDFs often round angles to 1.5708, which misaligns parallel axes by about 1e-6 rad; a
column that only this misalignment makes independent has a residual far below 1e-4."""
VISIBLE = 1e-9
"""Magnitude of a coefficient in a combination below which it counts as a rounding error."""


@dataclass(frozen=True, eq=False)
class BaseParameters(ReadOnlyArrays):
    """
    Minimal set of parameters that determines the torques of an arm.

    The base parameters are beta = matrix @ standard, where `standard` are the standard parameters.
    With the regressor W of the standard parameters, W standard = W[:, columns] beta.

    Parameters
    ----------
    structure
        The model structure.
    columns
        Indices of the standard parameters whose columns are kept, (r,) int, ascending.
    matrix
        Map from standard to base parameters, (r, count).

    Examples
    --------
    >>> base = base_parameters(ModelStructure.of(load_arm('panda'), 'coulomb_viscous'))
    >>> base.rank, base.names[:2]    # doctest: +SKIP

    """

    structure: ModelStructure
    columns: IndexArray
    matrix: Array

    def with_friction_shape(self, shape: Array) -> BaseParameters:
        """Return the same base parameters at other nonlinear friction parameters, (m, s)."""
        return replace(self, structure=self.structure.with_friction_shape(shape))

    @property
    def rank(self) -> int:
        """Number of base parameters r."""
        return len(self.columns)

    @cached_property
    def joint_columns(self) -> tuple[IndexArray, ...]:
        """
        Indices of the base parameters that can act on each joint, tuple of (c_j,) int.

        A joint without measured effort has none; its torque in the regression is zero.
        """
        support = self.structure.support[:, self.columns] * self.structure.arm.measured[:, None]
        return tuple(read_only(np.flatnonzero(row), np.intp)    # type: ignore[misc]
                     for row in support)

    @property
    def labels(self) -> tuple[str, ...]:
        """Short names: the kept standard parameter of each combination, for instance 'j2.mcx'."""
        return tuple(self.structure.names[c] for c in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Linear combinations as text, for instance 'j2.mcx + 0.316*j3.m'."""
        return tuple(self._combination(row) for row in self.matrix)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the base parameters."""
        return tuple(self.structure.units[c] for c in self.columns)

    def project(self, standard: Array) -> Array:
        """Return the base parameters (r,) of standard parameters (count,)."""
        return self.matrix @ standard

    def lift(self, beta: Array) -> Array:
        """Return standard parameters (count,) that predict the same torques as beta (r,)."""
        standard = np.zeros(self.structure.count)
        standard[self.columns] = beta
        return standard

    def _combination(self, row: Array) -> str:
        """Return a row of `matrix` as a sum of names, the kept parameter (with factor 1) first."""
        text = ''
        for column in sorted(np.flatnonzero(np.abs(row) > VISIBLE),
                             key=lambda c: (c not in self.columns, c)):
            factor = '' if abs(abs(row[column]) - 1) < VISIBLE else f'{abs(row[column]):.4g}*'
            text += f' {"-" if row[column] < 0 else "+"} {factor}{self.structure.names[column]}'
        return text.removeprefix(' + ')


def base_parameters(structure: ModelStructure | Arm | str | Path, *,
                    seed: int = 0) -> BaseParameters:
    """
    Return the base parameters of a model structure.

    The regressor is computed at random states, with nonlinear friction parameters in the middle of
    their bounds. Its columns are processed from the base to the tips; a column is kept if it is
    not a linear combination of the columns kept before it. The kept columns depend only on the
    structure, not on the seed.

    Parameters
    ----------
    structure
        Arm and friction model; or an arm, as for `load_arm`, with Coulomb and viscous friction.
    seed
        Seed of the random states.

    Returns
    -------
    BaseParameters
        Indices of the r kept columns and the map (r, count) from standard to base parameters.

    Raises
    ------
    EstimationError
        The tolerance does not separate dependent from independent columns by a factor of 1000.

    References
    ----------
    M. Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic
    Systems 8(4), 1991.

    Examples
    --------
    >>> structure = ModelStructure.of(load_arm('panda'), 'coulomb_viscous')
    >>> base = base_parameters(structure)
    >>> beta = base.project(standard)    # (count,) -> (rank,)    # doctest: +SKIP

    """
    if not isinstance(structure, ModelStructure):
        structure = ModelStructure.of(load_arm(structure))
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
    visible = norms > TOLERANCE * np.delete(norms, structure.balancer_slice).max()
    # strengths of balancers have various units, so their norms cannot be compared with others
    visible[structure.balancer_slice] = norms[structure.balancer_slice] > 0
    scale = np.where(visible, norms, np.inf)
    scaled = stacked / scale
    kept, basis, residuals = independent_columns(scaled)
    smallest_kept = float(np.min(residuals[kept], initial=np.inf))
    largest_dropped = float(np.max(np.delete(residuals, kept), initial=0.0))
    if smallest_kept < 1000 * largest_dropped:
        raise EstimationError(
            f'the base parameters of {arm.name} are ambiguous: a kept column has the residual '
            f'{smallest_kept:.1e} and a dropped one {largest_dropped:.1e}; check the URDF for '
            f'nearly parallel axes or tiny lengths; init --repair makes rounded angles exact')
    matrix = np.zeros((len(kept), structure.count))
    matrix[range(len(kept)), kept] = 1
    dropped = [c for c in range(structure.count) if c not in kept and np.isfinite(scale[c])]
    triangle = basis.T @ scaled
    solution = np.linalg.solve(triangle[:, kept], triangle[:, dropped])
    matrix[:, dropped] = solution / scale[kept][:, None] * scale[dropped]
    return BaseParameters(structure, np.array(kept, dtype=np.intp), matrix)


def independent_columns(matrix: Array) -> tuple[list[int], Array, Array]:
    """
    Return the columns of a matrix that are independent of the columns before them (Gram-Schmidt).

    Parameters
    ----------
    matrix
        (N, c); each column has the norm 1 or 0.

    Returns
    -------
    kept, basis, residuals
        Indices of the r independent columns; an orthonormal basis of their span, (N, r); and the
        norm of the residual of each column, (c,).

    """
    basis = np.empty((len(matrix), 0))
    kept: list[int] = []
    residuals = np.empty(matrix.shape[1])
    for column in range(matrix.shape[1]):
        residual = matrix[:, column]
        for _ in range(2):    # the second pass removes the rounding errors of the first one
            residual = residual - basis @ (basis.T @ residual)
        residuals[column] = np.linalg.norm(residual)
        if residuals[column] > TOLERANCE:
            kept.append(column)
            basis = np.column_stack([basis, residual / residuals[column]])
    return kept, basis, residuals
