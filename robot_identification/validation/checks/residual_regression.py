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
"""Regression rows of a recording, and added-variable tests of its residuals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters, IdentifiedModel, inverse_dynamics
from robot_identification.regression.blocked_regression import (
    AddedColumn,
    block_count,
    block_labels,
    BlockedRegression,
    BlockEquations,
)
from robot_identification.regression.packing import row_count, row_residuals
from robot_identification.regression.reduced_regression import packed_rows
from robot_identification.signals import Samples
from robot_identification.signals.samples import (
    decimate_to_bandwidth,
    FINE_ROWS_PER_PERIOD,
    select,
)
from scipy.ndimage import maximum_filter1d, minimum_filter1d

CUTOFF = 10.0
"""[Hz] Smallest cut-off of the rows: effects that are faster than the motion, such as friction at
reversals, show above the cut-off of the fit. Verdicts of 124 recordings are the same with both."""
_MAX_SAMPLES = 40_000
"""Largest number of samples used, in `_STRETCHES` stretches at start and end of the recording. It
limits the run time to a few tenths of a second."""
_STRETCHES = 2
_BLOCK = 0.5
"""[s] Length of a block. Residuals of different blocks count as independent; in real recordings,
residuals are correlated over 0.2 to 0.4 s."""
_SLOPE_STEP = 0.025
"""[s] Step of the time derivative of torques, of the size of relevant delays."""
_MAX_BLOCKS = 100
"""Largest number of jackknife blocks; longer recordings have longer blocks."""
VAGUE = 0.15
"""Standard deviation of a relative figure above which the recording does not determine it."""
_MOVING, _MARGIN = 0.05, 0.05
"""A sample is in motion if the joint is faster than this fraction of its largest speed during this
time [s] before and after it. Static friction builds up before a motion begins."""
_REST = 0.3
"""A joint that is slower than `_MOVING` for this time [s] rests; reversals take less."""
LOADED = 0.05
"""Smallest torque of a joint that most checks judge, over that of the most loaded one: below it
unmodelled friction dominates."""
_ROUNDS = 3
"""Rounds of iteratively reweighted least squares."""


@dataclass(frozen=True, eq=False)
class ResidualRegression:
    """
    Decimated regression rows of a recording, in units of the residuals' standard deviation.

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        The samples from which the rows were computed.
    beta
        Base parameters of prediction and residual, (r,).
    load
        Torques that the joints transmit, (N, n) [N m or N], for load-dependent friction.
    packed
        For each joint its columns and torque, (rows, c_j + 1).
    block
        Block of time or phase of each row, (rows,), see `block_labels`.

    """

    base: BaseParameters
    samples: Samples
    beta: Array
    load: Array | None
    packed: Sequence[Array]
    block: IndexArray

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the n joints."""
        return self.samples.joint_names

    @cached_property
    def measured(self) -> Array:
        """Measured torque, (rows, n) [N m or N]."""
        return np.column_stack([rows[:, -1] for rows in self.packed])

    @cached_property
    def residual(self) -> Array:
        """Measured torque minus that of the model, (rows, n) [N m or N]."""
        return row_residuals(self.packed, self.base.joint_columns, self.beta)

    @property
    def predicted(self) -> Array:
        """Torque of the model, (rows, n) [N m or N]."""
        return self.measured - self.residual

    @cached_property
    def level(self) -> Array:
        """Root mean square of each joint's measured torque, (n,) [N m or N]."""
        return np.asarray(np.sqrt(np.mean(self.measured ** 2, axis=0)))

    @property
    def floor(self) -> float:
        """Smallest standard deviation of a residual, rounding errors of the torques [N m or N]."""
        return max(1e-9 * float(self.level.max()), np.finfo(float).tiny)

    @cached_property
    def weights(self) -> Array:
        """Reciprocal standard deviations of the joints' residuals, (n,)."""
        return self._reciprocals(self.residual)

    @cached_property
    def equation(self) -> BlockedRegression:
        """The weighted rows, with the residuals of the model as targets, in blocks of time."""
        return BlockedRegression.of(self.base.joint_columns, self.packed, self.weights, self.beta,
                                    self.block)

    @cached_property
    def slope(self) -> Array:
        """Time derivative of the model's torque, (rows, n)."""
        return self._slope(self.base.lift(self.beta))

    @cached_property
    def frictionless_slope(self) -> Array:
        """Time derivative of the model's torque without friction, (rows, n)."""
        structure = self.base.structure
        rigid = np.arange(structure.count) < structure.rotor_slice.stop
        return self._slope(np.where(rigid, self.base.lift(self.beta), 0.0))

    @cached_property
    def gravity(self) -> Array:
        """Gravity torque of the model, (rows, n)."""
        zero, structure = np.zeros_like(self.samples.q), self.base.structure
        return self.samples.decimate(inverse_dynamics(
            structure.arm, self.samples.q, zero, zero,
            self.base.lift(self.beta)[structure.inertial_slice].reshape(-1, 10)))

    def loaded_joints(self, fraction: float = LOADED) -> list[int]:
        """Return the joints whose torque is at least a fraction of that of the most loaded one."""
        return [int(j) for j in np.flatnonzero(self.level >= fraction * self.level.max())]

    def add_column(self, column: Array, joint: int | None = None) -> AddedColumn | None:
        """
        Return the coefficient of an added column, see `BlockedRegression.add_column`.

        Parameters
        ----------
        column
            Torques, (rows, n) [N m or N].
        joint
            If given, the column is set to zero for all other joints.

        """
        return self.equation.add_column(column * self.weights, joint)

    def explained_fraction(self, column: Array, joint: int, selected: NDArray[np.bool_]) -> float:
        """
        Return the fraction of a joint's squared residuals that a column explains in some rows.

        Parameters
        ----------
        column, joint
            As for `add_column`.
        selected
            Mask of these rows, (rows,) bool.

        """
        column = self.equation.for_joint(column * self.weights, joint)
        left = self.equation.project_out(column)[selected, joint]
        before = self.equation.fitted[selected, joint]
        energy = float(np.sum(left ** 2) * np.sum(before ** 2))
        return float(np.sum(left * before) ** 2 / energy) if energy > 0 else 0.0

    def in_motion(self, joint: int) -> NDArray[np.bool_]:
        """Return the mask of the rows in which a joint moves, and not only begins to, (rows,)."""
        margin = 2 * round(_MARGIN * self.samples.rate) + 1
        return self._decimate_mask(minimum_filter1d(1.0 - self._slow(joint), margin))

    def not_at_rest(self, joint: int) -> NDArray[np.bool_]:
        """Return the mask of the rows in which a joint does not rest; it may reverse, (rows,)."""
        length = 2 * round(_REST / 2 * self.samples.rate) + 1
        rest = maximum_filter1d(minimum_filter1d(self._slow(joint), length), length)
        return self._decimate_mask(1.0 - rest)

    def torque_deviation(self, directions: Array | None) -> Array:
        """
        Return the standard deviation of the model's torque, (rows, n) [N m or N].

        Parameters
        ----------
        directions
            Factor D (r, p) of the covariance D'D of the standard parameters; None for no
            uncertainty.

        """
        if directions is None:
            return np.zeros_like(self.measured)
        factor = self.base.matrix @ directions.T
        return np.column_stack([np.linalg.norm(rows[:, :-1] @ factor[columns], axis=1)
                                for columns, rows in zip(self.base.joint_columns, self.packed)])

    def refit(self, packed: Sequence[Array]) -> Array:
        """
        Return the residuals after fitting all base parameters to other rows.

        Parameters
        ----------
        packed
            For each joint its unweighted columns and torque, (rows, c_j + 1).

        Returns
        -------
        ndarray
            Residuals of iteratively reweighted least squares, (rows, n) [N m or N].

        """
        columns, values = self.base.joint_columns, np.zeros(len(self.beta))
        for _ in range(_ROUNDS):
            weights = self._reciprocals(row_residuals(packed, columns, values))
            rows = BlockedRegression.of(columns, packed, weights, 0 * values, 0 * self.block)
            values = BlockEquations(rows.by_block).solutions[0]
        return row_residuals(packed, columns, values)

    def _reciprocals(self, residual: Array) -> Array:
        """Return the reciprocal standard deviations of residuals (rows, n), (n,)."""
        return np.asarray(1 / np.maximum(np.sqrt(np.mean(residual ** 2, axis=0)), self.floor))

    def _slope(self, standard: Array) -> Array:
        """Return the decimated derivative of torques, as differences over `_SLOPE_STEP`."""
        samples, structure = self.samples, self.base.structure
        torque = structure.torque(samples.q, samples.v, samples.a, standard, self.load,
                                  structure.states(samples.q))
        slope, k = np.zeros_like(torque), max(1, round(_SLOPE_STEP * samples.rate))
        for run in samples.segments:
            x = torque[run]
            if len(x) > 1:
                slope[run] = np.gradient(x, 1 / samples.rate, axis=0)
            if len(x) > 2 * k:
                slope[run][k:-k] = (x[2 * k:] - x[:-2 * k]) * samples.rate / (2 * k)
        return samples.decimate(slope)

    def _slow(self, joint: int) -> Array:
        """Return 1 where a joint is slower than a fraction of its largest speed, (N,)."""
        speed = np.abs(self.samples.v[:, joint])
        return np.asarray(speed <= _MOVING * np.max(speed, initial=0.0), dtype=np.float64)

    def _decimate_mask(self, values: Array) -> NDArray[np.bool_]:
        """Return a mask of decimated rows from values that are 0 or 1, (rows,)."""
        return np.asarray(self.samples.decimate(values[:, None])[:, 0] > 0.99)


def build_residual_regression(model: IdentifiedModel, base: BaseParameters,
                              samples: Samples) -> ResidualRegression | None:
    """
    Return decimated regression rows; for a long recording only those of its start and end.

    Parameters
    ----------
    model
        The identified model, from whose torque the residuals are computed.
    base
        Base parameters of its structure.
    samples
        Processed recording with the delays compensated.

    Returns
    -------
    ResidualRegression or None
        None if the samples are too few for a row, or belong to a piece that is not diagnosed.

    """
    cutoff = max(samples.decimation_cutoff, min(CUTOFF, 0.4 * samples.rate))
    samples = decimate_to_bandwidth(    # the checks find rests themselves
        replace(_stretches(samples), creep_speed=None, decimation_cutoff=cutoff),
        FINE_ROWS_PER_PERIOD)
    if not samples.diagnosed or not row_count(samples):
        return None
    t = samples.decimate(np.array(samples.t))
    count = max(block_count(t, samples.period_seconds, _BLOCK, _MAX_BLOCKS), 1)
    load = (model.transmitted_torque(samples.q, samples.v, samples.a)
            if base.structure.friction.needs_load else None)
    beta = base.project(np.concatenate([
        model.inertial.ravel(), model.balancers[base.structure.unknown_balancers],
        model.rotor_inertia, model.friction_parameters.ravel()]))
    return ResidualRegression(base, samples, beta, load, packed_rows(base, samples, load),
                              block_labels(t, count, samples.period_seconds))


def _stretches(samples: Samples) -> Samples:
    """Return the samples; of a long recording only `_STRETCHES` evenly spread stretches."""
    if len(samples.t) <= _MAX_SAMPLES:
        return samples
    length, stretches = _MAX_SAMPLES // _STRETCHES, []
    for first in np.linspace(0, len(samples.t) - length, _STRETCHES).astype(int):
        stretches += [slice(max(int(first), run.start), min(int(first) + length, run.stop))
                      for run in samples.segments
                      if min(first + length, run.stop) - max(first, run.start) > 2]
    return select(samples, stretches)
