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
"""The regression problem of one identification: what every estimator is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
import operator

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import base_parameters, BaseParameters, ModelStructure
from robot_identification.errors import EstimationError
from robot_identification.regression.packing import joint_columns
from robot_identification.regression.reduce import (
    packed_rows,
    reduce_samples,
    residuals,
    row_count,
)
from robot_identification.regression.reduced_regression import ReducedRegression, triangle
from robot_identification.signals import Samples
from robot_identification.spilling_list import SpillingList

MOST_KEPT = 24_000_000
"""Bytes of decimated rows that a regression keeps, so that they are made once: those of an hour
of seven joints at 10 Hz are larger, and are made anew for each use."""


@dataclass(frozen=True, eq=False)
class Regression:
    """
    Torques of processed recordings as a linear function of base parameters.

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed recordings of the same arm.
    progress
        Called with the part done of the reduction, 0 to 1.
    fixed
        Whether the shape of the friction is that of `base.structure`; otherwise an estimator
        has to find it.
    loads
        For friction that depends on load: torques that the joints transmit, (N, n) [N m or N] for
        each of the samples.
    reduced
        The reduced regression, where it is known already.
    start
        A shape of the friction (m, s) near the best one, which saves a global search.
    pieces
        Index of each of the samples in its recording, see `Samples.piece`; None where each is a
        recording of its own.

    Raises
    ------
    EstimationError
        The friction depends on load, and no loads were given.

    """

    base: BaseParameters
    samples: Sequence[Samples]
    progress: Callable[[float], None] | None = None
    fixed: bool = True
    loads: tuple[Array, ...] | None = None
    reduced: ReducedRegression | None = None
    start: Array | None = None
    pieces: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        structure = self.base.structure
        if structure.friction.needs_load and self.loads is None:
            raise EstimationError(f"the friction model '{structure.friction.key}' needs the "
                                  f'torque that the joints transmit: give the loads')

    def with_friction_shape(self, shape: Array,
                            reduced: ReducedRegression | None = None) -> Regression:
        """
        Return the problem with the shape of the friction fixed.

        Parameters
        ----------
        shape
            (m, s).
        reduced
            The reduced regression at this shape, where it is known already.

        """
        base = self.base.with_friction_shape(shape) if reduced is None else reduced.base
        return replace(self, base=base, fixed=True, reduced=reduced)

    def of(self, estimate: BaseParameters) -> Regression:
        """Return the problem with the shape of the friction that an estimate's base has."""
        shape = estimate.structure.shape
        if self.fixed and np.array_equal(shape, self.base.structure.shape):
            return self
        return self.with_friction_shape(shape)

    @cached_property
    def normal(self) -> ReducedRegression:
        """The sum of the reduced regressions of all recordings."""
        if self.reduced is not None:
            return self.reduced
        return reduce(operator.add, self.reduced_per_piece())

    def reduced_per_piece(self) -> Iterator[ReducedRegression]:
        """Yield the reduced regression of each of the samples."""
        if self.kept is None:
            return (reduce_samples(self.base, samples, progress=self.progress, load=load)
                    for samples, load in self.parts)
        columns = joint_columns(self.base)
        return (ReducedRegression(self.base, columns, tuple(map(triangle, rows)),
                                  np.full(len(rows), len(rows[0]))) for rows in self.kept)

    def reduced_per_recording(self) -> list[ReducedRegression]:
        """Return the reduced regression of each recording, the sum over its pieces."""
        recordings: list[ReducedRegression] = []
        for piece, normal in zip(self.pieces or len(self.samples) * (0,), self.reduced_per_piece(),
                                 strict=True):
            if piece and recordings:
                recordings[-1] = recordings[-1] + normal
            else:
                recordings.append(normal)
        return recordings

    @cached_property
    def kept(self) -> Sequence[list[Array]] | None:
        """For each of the samples the rows of each joint, see `packed_rows`; None if too many."""
        width = sum(len(chosen) + 1 for chosen in joint_columns(self.base))
        if sum(map(row_count, self.samples)) * width * 8 > MOST_KEPT:
            return None
        return SpillingList(packed_rows(self.base, samples, load, self.progress)
                            for samples, load in self.parts)

    def rows(self) -> list[Array]:
        """Return for each joint the rows of all samples, `kept` ones or made anew."""
        parts = self.kept or [packed_rows(self.base, samples, load)
                              for samples, load in self.parts]
        return [np.vstack(joint) for joint in zip(*parts)]

    def residuals_per_piece(self, beta: Array) -> Iterator[Array]:
        """Yield torque minus prediction on the rows of each of the samples, (rows, n)."""
        if self.kept is None:
            return (residuals(self.base, samples, beta, load=load)
                    for samples, load in self.parts)
        columns = joint_columns(self.base)
        return (_kept_residuals(rows, columns, beta) for rows in self.kept)

    def residuals(self, beta: Array) -> Array:
        """Return torque minus prediction on all rows, (rows, n) [N m or N]."""
        return np.concatenate(list(self.residuals_per_piece(beta)))

    @property
    def parts(self) -> Iterator[tuple[Samples, Array | None]]:
        """Each of the samples with its load, None where the friction needs none."""
        return zip(self.samples, self.loads_per_piece, strict=True)

    @property
    def loads_per_piece(self) -> Sequence[Array | None]:
        """The load of each of the samples, None where the friction needs none."""
        return self.loads or [None] * len(self.samples)


def _kept_residuals(rows: list[Array], columns: Sequence[IndexArray], beta: Array) -> Array:
    return np.column_stack([packed[:, -1] - packed[:, :-1] @ beta[chosen]
                            for packed, chosen in zip(rows, columns)])


def shapes_of_speed(regression: Regression) -> None:
    """
    Refuse a regression whose friction shapes are unknown and not those of functions of speed.

    Parameters
    ----------
    regression
        The problem of an estimator that makes friction columns from speeds and loads alone.

    Raises
    ------
    EstimationError
        The friction depends on positions or remembers.

    """
    friction = regression.base.structure.friction
    if not regression.fixed and (friction.needs_position or friction.has_state):
        raise EstimationError(
            'this estimator finds the shape of friction that depends on speed, not that of '
            f"'{friction.key}', which depends on positions or remembers: take wls or auto")


def build_regression(
    arm: Arm,
    samples: Sequence[Samples],
    friction: str = 'coulomb_viscous',
    *,
    backend: str | None = None,
    progress: Callable[[float], None] | None = None,
    loads: Sequence[Array] | None = None,
    base: BaseParameters | None = None,
) -> Regression:
    """
    Pose the regression of an arm's torques.

    Parameters
    ----------
    arm
        The arm.
    samples
        Processed recordings, at least one.
    friction
        Name of the friction model.
    backend
        Regressor backend, None for what is installed.
    progress
        Called with the part done of the reduction, 0 to 1.
    loads
        For friction that depends on load: (N, n) [N m or N] for each of the samples.
    base
        Base parameters of the model, if already computed.

    Raises
    ------
    UnknownNameError
        There is no such friction model.
    EstimationError
        No samples, or samples of another arm.

    """
    if not samples:
        raise EstimationError('no recording to identify from')
    pieces = []
    for part in samples:
        pieces.append(part.piece)
        if part.joint_names != arm.joint_names:
            raise EstimationError(f'the samples are of the joints {", ".join(part.joint_names)}, '
                                  f'the arm has {", ".join(arm.joint_names)}')
    base = base or base_parameters(ModelStructure.of(arm, friction, backend))
    if not isinstance(samples, SpillingList):
        samples = tuple(samples)
    return Regression(base, samples, progress, fixed=not base.structure.friction.nonlinear,
                      loads=None if loads is None else tuple(loads), pieces=tuple(pieces))
