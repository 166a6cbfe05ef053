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
"""The regression problem of an identification, the input of every estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import groupby
from operator import itemgetter

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import base_parameters, BaseParameters, ModelStructure
from robot_identification.errors import EstimationError
from robot_identification.regression.packing import row_residuals
from robot_identification.regression.reduced_regression import (
    packed_rows,
    ReducedRegression,
    triangle,
)
from robot_identification.signals import Samples
from robot_identification.spilling_list import SpillingList


@dataclass(frozen=True, eq=False)
class Regression:
    """
    Linear regression of the torques of processed recordings on base parameters.

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed recordings of the same arm.
    progress
        Called with the completed fraction of the reduction, 0 to 1.
    fixed
        Whether the nonlinear friction parameters (the shape) are fixed to those of
        `base.structure`; otherwise they are to be estimated.
    loads
        Torques that the joints transmit, (N, n) [N m or N] for each of the samples; for
        load-dependent friction.
    reduced
        The reduced regression, if already computed.
    start
        Initial nonlinear friction parameters (m, s) near the optimum; the fit then does not search
        globally.
    pieces
        Index of each item of `samples` within its recording, see `Samples.piece`; None if each
        item is a separate recording.

    Raises
    ------
    EstimationError
        The friction depends on load, and `loads` is None.

    Examples
    --------
    >>> samples = [process(recording, arm)]    # doctest: +SKIP
    >>> regression = build_regression(arm, samples, 'stribeck')    # doctest: +SKIP
    >>> regression.normal.rows    # decimated rows of each joint, (n,)    # doctest: +SKIP

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
        Return the problem with fixed nonlinear friction parameters.

        Parameters
        ----------
        shape
            Nonlinear friction parameters, (m, s).
        reduced
            The reduced regression at this shape, if already computed.

        """
        base = self.base.with_friction_shape(shape) if reduced is None else reduced.base
        return replace(self, base=base, fixed=True, reduced=reduced)

    def of(self, estimate: BaseParameters) -> Regression:
        """Return the problem with nonlinear friction parameters fixed to those of an estimate."""
        shape = estimate.structure.shape
        if self.fixed and np.array_equal(shape, self.base.structure.shape):
            return self
        return self.with_friction_shape(shape)

    @cached_property
    def normal(self) -> ReducedRegression:
        """The sum of the reduced regressions of all recordings."""
        if self.reduced is not None:
            return self.reduced
        return reduce(ReducedRegression.__add__, self.reduced_per_piece())

    def reduced_per_piece(self) -> Iterator[ReducedRegression]:
        """Yield the reduced regression of each item of `samples`."""
        return (ReducedRegression(self.base, tuple(map(triangle, rows)),
                                  samples.sliding_rows.sum(axis=0))
                for samples, rows in zip(self.samples, self.rows_per_piece))

    @property
    def owners(self) -> IndexArray:
        """Index of the recording to which each item of `samples` belongs, (items,)."""
        pieces = np.array(self.pieces or np.zeros(len(self.samples)))
        pieces[0] = 0    # a recording may begin with any piece
        return np.asarray(np.cumsum(pieces == 0) - 1)

    def reduced_per_recording(self) -> list[ReducedRegression]:
        """Return the reduced regression of each recording: the sum over its pieces."""
        owned = zip(self.owners, self.reduced_per_piece(), strict=True)
        return [reduce(ReducedRegression.__add__, (normal for _, normal in recording))
                for _, recording in groupby(owned, key=itemgetter(0))]

    @cached_property
    def rows_per_piece(self) -> SpillingList:
        """Rows [columns, torque] of each joint for each item of `samples`; on disk if large."""
        pieces = SpillingList()
        for index, (samples, load) in enumerate(self.samples_with_loads, start=1):
            pieces.append(packed_rows(self.base, samples, load))
            if self.progress is not None:
                self.progress(index / len(self.samples))
        return pieces

    def rows(self) -> list[Array]:
        """Return the decimated rows [columns, torque] of each joint, of all samples."""
        return [np.vstack(joint) for joint in zip(*self.rows_per_piece)]

    def residuals_per_piece(self, beta: Array) -> Iterator[Array]:
        """Yield the residuals of each item of `samples` with beta (r,) or its own (items, r)."""
        return (row_residuals(packed, self.base.joint_columns, own) for packed, own in zip(
            self.rows_per_piece, np.broadcast_to(beta, (len(self.samples), self.base.rank))))

    def residuals(self, beta: Array) -> Array:
        """Return the torque residuals on all rows, (rows, n) [N m or N]."""
        return np.concatenate(list(self.residuals_per_piece(beta)))

    @property
    def samples_with_loads(self) -> Iterator[tuple[Samples, Array | None]]:
        """Pairs of samples and load; the load is None if the friction does not need it."""
        return zip(self.samples, self.loads or [None] * len(self.samples), strict=True)


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
    Return the regression problem of an arm's torques.

    Parameters
    ----------
    arm
        The arm.
    samples
        Processed recordings, at least one.
    friction
        Name of the friction model.
    backend
        Regressor backend, see `joint_torque_regressor`.
    progress
        Called with the completed fraction of the reduction, 0 to 1.
    loads
        Torques that the joints transmit, (N, n) [N m or N] for each of the samples; for
        load-dependent friction.
    base
        Base parameters of the model, if already computed.

    Raises
    ------
    UnknownNameError
        There is no such friction model.
    EstimationError
        There are no samples, or they belong to another arm.

    Examples
    --------
    >>> regression = build_regression(arm, [process(recording, arm)])    # doctest: +SKIP
    >>> estimate = get_estimator('wls').fit(regression)    # doctest: +SKIP

    """
    if not samples:
        raise EstimationError('no recording to identify from')
    pieces = []
    for each in samples:
        pieces.append(each.piece)
        if each.joint_names != arm.joint_names:
            raise EstimationError(f'the samples are of the joints {", ".join(each.joint_names)}, '
                                  f'the arm has {", ".join(arm.joint_names)}')
    base = base or base_parameters(ModelStructure.of(arm, friction, backend))
    if not isinstance(samples, SpillingList):
        samples = tuple(samples)
    return Regression(base, samples, progress, fixed=not base.structure.friction.nonlinear,
                      loads=None if loads is None else tuple(loads), pieces=tuple(pieces))
