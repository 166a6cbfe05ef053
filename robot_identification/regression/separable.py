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
"""Regression for many values of the nonlinear friction parameters (variable projection)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters
from robot_identification.dynamics.friction.friction import differentiate
from robot_identification.errors import EstimationError
from robot_identification.regression.packing import iterate_row_blocks, RowAssembler
from robot_identification.regression.reduced_regression import ReducedRegression, triangle
from robot_identification.regression.regression import Regression
from robot_identification.signals.decimation import Decimator


@dataclass(frozen=True, eq=False)
class _Joint:
    """
    QR factorisation of the columns of one joint that do not depend on the friction shape.

    [W_linear, tau] = Q R with Q = `basis` and R = `triangle`.
    """

    basis: Array             # (rows, c + 1)
    triangle: Array          # (c + 1, c + 1), the torque last
    linear: IndexArray       # (c,) base parameters
    friction: IndexArray     # (f,) base parameters whose columns depend on the shape
    actuator: IndexArray     # (f,) actuator of each of these
    parameter: IndexArray    # (f,) its index among the friction parameters of the actuator
    factor: Array            # (f,) transmission from the actuator to the joint
    used: Array              # (rows, 1) 0 for rows that are not used, else 1


@dataclass(frozen=True, eq=False)
class _JointFactor:
    """
    Regression of one joint at one friction shape, in an orthonormal basis of its columns.

    Parameters
    ----------
    rows, target
        As the result of `ReducedRegression.joint_rows`: (rows, r) and (rows,).
    basis, friction_basis
        Orthonormal bases: `basis` spans the torque and the columns that do not depend on the
        shape, `friction_basis` the components of the friction columns orthogonal to `basis`.

    """

    rows: Array
    target: Array
    basis: Array
    friction_basis: Array


class SeparableRegression:
    """
    A regression that is linear in all parameters except the nonlinear friction parameters.

    The nonlinear friction parameters are called the shape, (m, s). The columns of each joint that
    do not depend on the shape are factored once, W = Q R with Q (decimated rows, columns). For a
    new shape only the few friction columns that depend on it are computed, projected onto Q and
    factored. This costs a small fraction of a new reduction.

    Parameters
    ----------
    regression
        The problem.

    """

    def __init__(self, regression: Regression) -> None:
        self.regression = regression
        self.base, self.structure = regression.base, regression.base.structure
        self._joints = [_factored(self.base, j, chosen, rows) for j, (chosen, rows) in enumerate(
            zip(self.base.joint_columns, regression.rows()))]
        self._motions = [self.structure.friction_input(samples.q, samples.v, load)
                         for samples, load in regression.samples_with_loads]
        self._factors: dict[tuple[int, bytes], _JointFactor] = {}

    @property
    def joints(self) -> int:
        """Number of joints n."""
        return len(self._joints)

    def factor(self, joint: int, shape: Array) -> _JointFactor:
        """
        Return the factored regression of a joint for a friction shape (m, s).

        Parameters
        ----------
        joint
            Index of the joint.
        shape
            Nonlinear friction parameters of all actuators.

        """
        key = (joint, shape[np.unique(self._joints[joint].actuator)].tobytes())
        if key not in self._factors:
            if len(self._factors) > 64 * self.joints:
                self._factors.clear()
            self._factors[key] = self._new_factor(self._joints[joint], shape)
        return self._factors[key]

    def normal(self, shape: Array) -> ReducedRegression:
        """Return the R factors of the problem for a friction shape (m, s)."""
        factors = [self.factor(j, shape) for j in range(self.joints)]
        triangles = tuple(triangle(np.column_stack([factor.rows[:, chosen], factor.target]))
                          for factor, chosen in zip(factors, self.base.joint_columns))
        return ReducedRegression(self.base.with_friction_shape(shape), triangles,
                                 np.array([int(joint.used.sum()) for joint in self._joints]))

    def with_friction_shape(self, shape: Array) -> Regression:
        """Return the problem at a fixed friction shape (m, s), with its R factors."""
        return self.regression.with_friction_shape(shape, self.normal(shape))

    def shape_columns(self, joint: int, shape: Array,
                      beta: Array) -> tuple[Array, IndexArray]:
        """
        Return the derivatives of a joint's predicted torque with respect to the shape.

        Parameters
        ----------
        joint, shape
            As for `factor`.
        beta
            Base parameters, (r,).

        Returns
        -------
        tuple
            Columns (rows, d), and the index of each in the flattened shape, (d,).

        """
        fixed, s = self._joints[joint], shape.shape[1]
        actuators = np.unique(fixed.actuator)
        out = np.zeros((len(fixed.basis), len(actuators) * s))
        for index, e in enumerate(actuators):
            chosen = np.flatnonzero(fixed.actuator == e)
            gradient = differentiate(partial(self._actuator_columns, int(e)), shape[e],
                                     (len(out), len(self.structure.friction.parameters)))
            weights = beta[fixed.friction[chosen]] * fixed.factor[chosen]
            out[:, index * s:(index + 1) * s] = np.einsum(
                'rks,k->rs', gradient[:, fixed.parameter[chosen]], weights) * fixed.used
        return out, (actuators[:, None] * s + np.arange(s)).ravel()

    def _new_factor(self, fixed: _Joint, shape: Array) -> _JointFactor:
        """Compute the friction columns at a shape and complete the factorisation with them."""
        friction = np.empty((len(fixed.basis), len(fixed.friction)))
        for e in np.unique(fixed.actuator):
            chosen = np.flatnonzero(fixed.actuator == e)
            columns = self._actuator_columns(int(e), shape[e])
            friction[:, chosen] = columns[:, fixed.parameter[chosen]] * fixed.factor[chosen]
        # Gram-Schmidt twice: a second projection removes the rounding errors of the first one
        inside = fixed.basis.T @ friction
        outside = fixed.used * friction - fixed.basis @ inside
        again = fixed.basis.T @ outside
        basis, corner = np.linalg.qr(outside - fixed.basis @ again)
        c = len(fixed.triangle)
        rows = np.zeros((c + len(corner), self.base.rank))
        rows[:c, fixed.linear] = fixed.triangle[:, :-1]
        rows[:c, fixed.friction] = inside + again
        rows[c:, fixed.friction] = corner
        target = np.concatenate([fixed.triangle[:, -1], np.zeros(len(corner))])
        return _JointFactor(rows, target, fixed.basis, basis)

    def _actuator_columns(self, e: int, shape: Array) -> Array:
        """Return the decimated friction columns of an actuator, (rows, k)."""
        friction = self.structure.friction
        out = np.zeros((len(self._joints[0].basis), len(friction.parameters)))
        for term, linear, nonlinear in zip(friction.terms, friction.parameter_slices,
                                           friction.shape_slices):
            if term.nonlinear:    # the others are in `_Joint.basis`, nothing reads them here
                own = shape[nonlinear]
                out[:, linear] = np.concatenate([
                    samples.decimate(term.columns(term.remember(motions.actuator(e), own), own))
                    for samples, motions in zip(self.regression.samples, self._motions)])
        return out


def _factored(base: BaseParameters, joint: int, chosen: IndexArray, packed: Array) -> _Joint:
    """Factor the columns of a joint that do not depend on the shape; `packed` are all its rows."""
    structure = base.structure
    standard = base.columns[chosen]
    k = len(structure.friction.parameters)
    actuator, parameter = np.divmod(standard - structure.friction_slice.start, k)
    moves = (actuator >= 0) & np.isin(parameter, structure.friction.shape_dependent)
    basis, corner = np.linalg.qr(np.column_stack([packed[:, :-1][:, ~moves], packed[:, -1]]))
    return _Joint(basis, corner, chosen[~moves], chosen[moves], actuator[moves],
                  parameter[moves], structure.arm.transmission[actuator[moves], joint],
                  packed.any(axis=1, keepdims=True).astype(float))


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
