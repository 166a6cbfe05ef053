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
"""The regression for many shapes of the friction: all but its columns is factored once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters
from robot_identification.dynamics.friction import FrictionInput, FrictionTerm
from robot_identification.dynamics.structure import element_loads
from robot_identification.regression.packing import joint_columns
from robot_identification.regression.reduce import packed_rows
from robot_identification.regression.reduced_regression import ReducedRegression, triangle
from robot_identification.regression.regression import Regression
from robot_identification.regression.speed_table import SpeedTable
from robot_identification.signals import Samples

TABLE_FACTOR = 8
"""From so many samples for each row on, friction columns come from a table of speeds."""


@dataclass(frozen=True, eq=False)
class _Joint:
    """What of a joint does not depend on the shape: W_linear, tau = basis @ triangle."""

    basis: Array             # (rows, c + 1)
    triangle: Array          # (c + 1, c + 1), the torque last
    linear: IndexArray       # (c,) base parameters
    friction: IndexArray     # (f,) base parameters whose columns change with the shape
    element: IndexArray      # (f,) element that each of these belongs to
    place: IndexArray        # (f,) its place among the element's parameters
    factor: Array            # (f,) how the element acts on the joint


@dataclass(frozen=True, eq=False)
class _JointFactor:
    """
    The regression of one joint at one shape, in an orthonormal basis of its columns.

    Parameters
    ----------
    rows, target
        As `ReducedRegression.joint_rows`: (rows, r) and (rows,).
    basis, friction_basis
        Orthonormal columns: of all that does not depend on the shape, then of the rest.

    """

    rows: Array
    target: Array
    basis: Array
    friction_basis: Array


class SeparableRegression:
    """
    A regression that is linear but for the shape of the friction.

    For every joint the columns that do not depend on the shape are factored once, W = Q R. For a
    new shape only the few friction columns of the joint have to be made, projected on Q and
    factored, so an evaluation costs a small part of a new reduction. Q is kept: (rows, columns)
    numbers a joint, after the decimation.

    Parameters
    ----------
    regression
        The problem.

    """

    def __init__(self, regression: Regression) -> None:
        self.regression = regression
        self.base, self.structure = regression.base, regression.base.structure
        columns = joint_columns(self.base)
        parts = [packed_rows(self.base, samples, load) for samples, load in regression.parts]
        self._joints = [_factored(self.base, j, chosen, np.vstack([part[j] for part in parts]))
                        for j, chosen in enumerate(columns)]
        transmission = self.structure.arm.transmission
        self._speeds = [samples.v @ transmission.T for samples in regression.samples]
        fast = min(s.decimator().factor for s in regression.samples) >= TABLE_FACTOR
        self._places = [samples.q @ transmission.T for samples in regression.samples]
        self._tables = [SpeedTable(regression.samples, [speed[:, e] for speed in self._speeds])
                        for e in range(len(transmission))] if fast else []
        self._columns: dict[tuple[int, int, bytes], Array] = {}
        self._factors: dict[tuple[int, bytes], _JointFactor] = {}

    @property
    def joints(self) -> int:
        """Number of joints n."""
        return len(self._joints)

    def factor(self, joint: int, shape: Array) -> _JointFactor:
        """
        Return the regression of a joint at a shape (m, s).

        Parameters
        ----------
        joint
            Index of the joint.
        shape
            Shape numbers of all joints and drives.

        """
        part = self._joints[joint]
        key = (joint, shape[np.unique(part.element)].tobytes())
        if key not in self._factors:
            if len(self._factors) > 64 * self.joints:
                self._factors.clear()
            self._factors[key] = self._new_factor(part, shape)
        return self._factors[key]

    def normal(self, shape: Array) -> ReducedRegression:
        """Return the R factors of the problem at a shape (m, s)."""
        normal_columns = joint_columns(self.base)
        factors = []
        for j, chosen in enumerate(normal_columns):
            found = self.factor(j, shape)
            matrix = np.column_stack([found.rows[:, chosen], found.target])
            factors.append(triangle(matrix))
        rows = [len(part.basis) for part in self._joints]
        return ReducedRegression(self.base.with_friction_shape(shape), normal_columns,
                                 tuple(factors), np.array(rows))

    def with_friction_shape(self, shape: Array) -> Regression:
        """Return the problem at a shape (m, s), with its R factors."""
        return self.regression.with_friction_shape(shape, self.normal(shape))

    def shape_columns(self, joint: int, shape: Array,
                      beta: Array) -> tuple[Array, IndexArray]:
        """
        Return how the prediction of a joint changes with the shape numbers.

        Parameters
        ----------
        joint, shape
            As for `factor`.
        beta
            Base parameters, (r,).

        Returns
        -------
        tuple
            Columns (rows, d), and the flat indices (d,) of the shape numbers they belong to.

        """
        part, s = self._joints[joint], shape.shape[1]
        elements = np.unique(part.element)
        out = np.zeros((len(part.basis), len(elements) * s))
        for number, e in enumerate(elements):
            chosen = np.flatnonzero(part.element == e)
            gradient = self._gradient(int(e), shape[e])
            weights = beta[part.friction[chosen]] * part.factor[chosen]
            out[:, number * s:(number + 1) * s] = np.einsum(
                'rks,k->rs', gradient[:, part.place[chosen]], weights)
        places = (elements[:, None] * s + np.arange(s)).ravel()
        return out, places

    def _new_factor(self, part: _Joint, shape: Array) -> _JointFactor:
        friction = np.empty((len(part.basis), len(part.friction)))
        for e in np.unique(part.element):
            chosen = np.flatnonzero(part.element == e)
            columns = self._element(int(e), shape[e])
            friction[:, chosen] = columns[:, part.place[chosen]] * part.factor[chosen]
        inside = part.basis.T @ friction
        outside = friction - part.basis @ inside
        again = part.basis.T @ outside      # twice is enough
        basis, corner = np.linalg.qr(outside - part.basis @ again)
        c = len(part.triangle)
        rows = np.zeros((c + len(corner), self.base.rank))
        rows[:c, part.linear] = part.triangle[:, :-1]
        rows[:c, part.friction] = inside + again
        rows[c:, part.friction] = corner
        target = np.concatenate([part.triangle[:, -1], np.zeros(len(corner))])
        return _JointFactor(rows, target, part.basis, basis)

    def _element(self, e: int, shape: Array) -> Array:
        """Decimated friction columns of an element that depend on the shape, (rows, k)."""
        friction = self.structure.friction
        parts = []
        for i, (term, part) in enumerate(zip(friction.terms, friction.shape_places)):
            key = (e, i, shape[part].tobytes())
            if key not in self._columns:
                if len(self._columns) > 16 * len(self._places[0].T) * len(friction.terms):
                    self._columns.clear()
                self._columns[key] = self._term(e, term, term.columns, shape[part])
            parts.append(self._columns[key])
        return np.concatenate(parts, axis=1)

    def _gradient(self, e: int, shape: Array) -> Array:
        """Gradient of the decimated friction columns of an element, (rows, k, s)."""
        friction = self.structure.friction
        out = np.zeros((len(self._joints[0].basis), len(friction.parameters),
                        len(friction.nonlinear)))
        for term, place, part in zip(friction.terms, friction.places, friction.shape_places):
            if term.nonlinear:
                out[:, place, part] = self._term(e, term, term.shape_gradient, shape[part])
        return out

    def _term(self, e: int, term: FrictionTerm, make: Callable[[FrictionInput, Array], Array],
              shape: Array) -> Array:
        """Decimated values of one term of an element, (rows, ...)."""
        if not term.nonlinear:    # is among the columns that do not change
            return np.zeros((len(self._joints[0].basis), len(term.parameters)))
        if self._tables and term.velocity_only:
            return self._tables[e].apply(lambda speed: make(FrictionInput(speed), shape))
        parts = []
        for (samples, load), speed, place in zip(self.regression.parts, self._speeds,
                                                 self._places):
            motion = FrictionInput(speed[:, e], place[:, e])
            if load is not None:
                motion = replace(motion, load=element_loads(self.structure.arm, load)[e])
            if term.has_state:
                motion = replace(motion, state=term.state(place[:, e], shape))
            parts.append(_decimated(samples, make(motion, shape)))
        return np.concatenate(parts)


def _decimated(samples: Samples, columns: Array) -> Array:
    decimator = samples.decimator()
    return np.concatenate([decimator.apply(columns[segment]) for segment in samples.segments
                           if decimator.rows(segment.stop - segment.start) > 0])


def _factored(base: BaseParameters, joint: int, chosen: IndexArray, packed: Array) -> _Joint:
    structure = base.structure
    standard = base.columns[chosen]
    k = len(structure.friction.parameters)
    element, place = np.divmod(standard - structure.friction_slice.start, k)
    moves = (element >= 0) & np.isin(place, structure.friction.moving)
    basis, corner = np.linalg.qr(np.column_stack([packed[:, :-1][:, ~moves], packed[:, -1]]))
    return _Joint(basis, corner, chosen[~moves], chosen[moves], element[moves], place[moves],
                  structure.arm.transmission[element[moves], joint])
