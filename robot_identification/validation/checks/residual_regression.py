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

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters, IdentifiedModel, inverse_dynamics
from robot_identification.estimation.resampling import repetition_period
from robot_identification.regression.reduce import packed_rows
from robot_identification.signals import Samples
from robot_identification.signals.shift import decimate_to_bandwidth, FINE_ROWS_PER_PERIOD, select
from scipy.linalg import lapack
from scipy.ndimage import maximum_filter1d, minimum_filter1d

_MAX_SAMPLES = 40_000
"""Largest number of samples used, in `_STRETCHES` stretches at start and end of the recording. It
limits the run time to a few tenths of a second."""
_STRETCHES = 2
_BLOCK = 0.5
"""[s] Length of a block. Residuals of different blocks count as independent; in real recordings,
residuals are correlated over 0.2 to 0.4 s."""
_SLOPE_STEP = 0.025
"""[s] Step of the time derivative of torques, of the size of relevant delays."""
_MIN_BLOCKS, _MAX_BLOCKS = 10, 100
"""Range of the number of jackknife blocks; longer recordings have longer blocks."""
VAGUE = 0.15
"""Standard deviation of a relative figure above which the recording does not determine it."""
_SINGULAR = 1e-10
"""Eigenvalue of the Gram matrix of unit columns, over the largest, that counts as zero."""
_REGULAR = 1e-5
"""Smallest residual of a unit column on all others for which the Cholesky factor is accurate."""
_MOVING, _MARGIN = 0.05, 0.05
"""A sample is in motion if the joint is faster than this fraction of its largest speed during this
time [s] before and after it. Static friction builds up before a motion begins."""
_REST = 0.3
"""A joint that is slower than `_MOVING` for this time [s] rests; reversals take less."""
_REMAINING = 1e-3
"""Fraction of a column's residual energy that must remain without any one block."""
_ROUNDS = 3
"""Rounds of iteratively reweighted least squares."""


@dataclass(frozen=True)
class AddedColumn:
    """
    Coefficient of a column added to the regression (added-variable test).

    Parameters
    ----------
    value, std
        Coefficient and its standard deviation, from a jackknife over blocks of time.
    explained
        Fraction of the squared residuals of the rows concerned that the column explains.

    """

    value: float
    std: float
    explained: float

    def exceeds(self, tolerance: float, deviations: float = 3.0) -> bool:
        """Return whether |value| exceeds a tolerance by a number of standard deviations."""
        return bool(abs(self.value) > tolerance + deviations * self.std)


@dataclass(frozen=True, eq=False)
class ResidualRegression:
    """
    Decimated regression rows of a recording, in units of the residuals' standard deviation.

    Parameters
    ----------
    joint_names
        The n joints.
    base
        Base parameters of the model structure.
    samples
        The samples from which the rows were computed.
    beta
        Base parameters of prediction and residual, (r,).
    load
        Torques that the joints transmit, (N, n) [N m or N], for load-dependent friction.
    columns
        For each joint the indices of the base parameters that act on it.
    packed
        For each joint its columns and torque, (rows, c_j + 1).
    measured, predicted
        Measured torque and that of the model, (rows, n) [N m or N].
    residual
        Weighted torque minus prediction, (rows, n).
    weights
        Reciprocal standard deviations of the joints' residuals, (n,).
    level
        Root mean square of each joint's measured torque, (n,) [N m or N].
    block
        Index of the block of each row, (rows,). If the motion repeats, rows of equal phase belong
        to one block.
    slope, frictionless_slope, gravity
        Time derivatives of the model's torque with and without friction, and the gravity torque,
        (rows, n).
    decimate
        Function that decimates values at the samples, (N, ...), to the rows, (rows, ...).

    """

    joint_names: tuple[str, ...]
    base: BaseParameters
    samples: Samples
    beta: Array
    load: Array | None
    columns: tuple[IndexArray, ...]
    packed: tuple[Array, ...]
    measured: Array
    predicted: Array
    residual: Array
    weights: Array
    level: Array
    block: IndexArray
    slope: Array
    frictionless_slope: Array
    gravity: Array
    decimate: Callable[[Array], Array]

    @cached_property
    def rows(self) -> tuple[Array, ...]:
        """For each joint its weighted columns, (rows, c_j)."""
        return tuple(weight * rows[:, :-1] for weight, rows in zip(self.weights, self.packed))

    @cached_property
    def inverse(self) -> Array:
        """Pseudo-inverse of the Gram matrix of the weighted columns, (r, r)."""
        return _inverse(self._block_grams.sum(axis=0))

    def loaded_joints(self, fraction: float) -> list[int]:
        """Return the joints whose torque is at least a fraction of that of the most loaded one."""
        return [int(j) for j in np.flatnonzero(self.level >= fraction * self.level.max())]

    def add_column(self, column: Array, joint: int | None = None) -> AddedColumn | None:
        """
        Return the coefficient of an added column that is fitted with all base parameters.

        By the Frisch-Waugh-Lovell theorem, the coefficient is that of a regression of the residual
        on the residual of the column. Its variance comes from a jackknife over blocks of time,
        which fits all parameters of all joints again, because residuals of an incomplete model are
        neither white nor independent between joints. The sandwich estimator is too small if there
        are as many parameters as blocks: by factors of 1.3 to 2.4 on ten seconds.

        Parameters
        ----------
        column
            Torques, (rows, n) [N m or N].
        joint
            If given, the column is set to zero for all other joints.

        Returns
        -------
        AddedColumn or None
            None if the column is almost a combination of the other columns.

        References
        ----------
        J. G. MacKinnon, M. O. Nielsen, M. D. Webb, "Leverage, influence, and the jackknife in
        clustered regression models", The Stata Journal 23(4), 2023.

        """
        scaled, left = self._column_residual(column, joint)
        size = float(np.sum(scaled ** 2))
        energy = float(np.sum(left ** 2))
        if not energy > 1e-8 * size:
            return None
        value = float(np.sum(left * self.residual) / energy)
        std = self._jackknife_std(left, energy)
        joints = slice(None) if joint is None else [joint]
        before = self._fitted[:, joints]
        explained = 1 - np.sum((before - value * left[:, joints]) ** 2) / np.sum(before ** 2)
        return AddedColumn(value, std, float(explained))

    def explained_fraction(self, column: Array, joint: int, selected: NDArray[np.bool_]) -> float:
        """
        Return the fraction of a joint's squared residuals that a column explains in some rows.

        Parameters
        ----------
        column
            As for `add_column`.
        joint
            Index of the joint.
        selected
            Mask of these rows, (rows,) bool.

        """
        left = self._column_residual(column, joint)[1][selected, joint]
        before = self._fitted[selected, joint]
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

    def _slow(self, joint: int) -> Array:
        """Return 1 where a joint is slower than a fraction of its largest speed, (N,)."""
        speed = np.abs(self.samples.v[:, joint])
        return np.asarray(speed <= _MOVING * np.max(speed, initial=0.0), dtype=np.float64)

    def _decimate_mask(self, values: Array) -> NDArray[np.bool_]:
        """Return a mask of decimated rows from values that are 0 or 1, (rows,)."""
        return np.asarray(self.decimate(values[:, None])[:, 0] > 0.99)

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
                                for columns, rows in zip(self.columns, self.packed)])

    def refit(self, packed: Sequence[Array], torque: Array) -> Array:
        """
        Return the residuals after fitting all base parameters to other rows or torques.

        Parameters
        ----------
        packed
            For each joint its unweighted columns and a last one that is ignored, (rows, c_j + 1).
        torque
            Torques, (rows, n) [N m or N].

        Returns
        -------
        ndarray
            Residuals of iteratively reweighted least squares, (rows, n) [N m or N].

        """
        floor, residual = 1e-9 * self.level.max(), torque
        columns = [rows[:, :-1] for rows in packed]
        products = [x.T @ np.column_stack([x, torque[:, j]]) for j, x in enumerate(columns)]
        for _ in range(_ROUNDS):
            weights = 1 / np.maximum(np.sqrt(np.mean(residual ** 2, axis=0)), floor)
            gram, right = np.zeros((len(self.beta), len(self.beta))), np.zeros(len(self.beta))
            for chosen, weight, product in zip(self.columns, weights, products):
                gram[np.ix_(chosen, chosen)] += weight ** 2 * product[:, :-1]
                right[chosen] += weight ** 2 * product[:, -1]
            residual = torque - _torques(self.columns, columns, _inverse(gram) @ right)
        return residual

    def _column_residual(self, column: Array, joint: int | None) -> tuple[Array, Array]:
        """Return a weighted column, zero for other joints, and its residual, (rows, n) each."""
        scaled = column * self.weights
        if joint is not None:
            scaled = np.where(np.arange(scaled.shape[1]) == joint, scaled, 0.0)
        return scaled, self._project_out(self._project_out(scaled))    # twice for rounding errors

    def _project_out(self, scaled: Array) -> Array:
        """Return the residual of weighted torques on the base columns, (rows, n)."""
        return scaled - _torques(self.columns, self.rows, self.inverse @ self.products(scaled))

    def _jackknife_std(self, left: Array, energy: float) -> float:
        """
        Return the delete-one-block jackknife standard deviation of a column's coefficient.

        l and f are the residuals of column (`left`) and torques (`_fitted`) on the base columns.
        l_b, f_b and X_b are the rows of l, f and the base columns in block b, and H_b is the
        inverse Gram matrix of the other blocks. The coefficient without block b is

            (l'f - l_b'f_b - l_b'X_b H_b X_b'f_b) / (l'l - l_b'l_b - l_b'X_b H_b X_b'l_b).
        """
        fitted = self._fitted
        of_column, of_torque = self._block_products(left), self._fitted_products
        shared = np.einsum('bi,bij->bj', of_column, self._inverses_without_block)
        numerator = (np.sum(left * fitted) - np.sum(shared * of_torque, axis=1)
                     - np.bincount(self.block, np.sum(left * fitted, axis=1)))
        denominator = (energy - np.sum(shared * of_column, axis=1)
                       - np.bincount(self.block, np.sum(left ** 2, axis=1)))
        if np.any(denominator <= _REMAINING * energy):
            return float('inf')
        without = numerator / denominator
        return float(np.sqrt((len(without) - 1) * np.var(without)))

    def products(self, values: Array, subset: IndexArray | slice = slice(None)) -> Array:
        """Return the products of the weighted base columns with values (rows, n), (r,)."""
        products = np.zeros(len(self.beta))
        for j, (columns, rows) in enumerate(zip(self.columns, self.rows)):
            products[columns] += rows[subset].T @ values[subset, j]
        return products

    def gram(self, subset: IndexArray | slice) -> Array:
        """Return the Gram matrix of the weighted base columns of some rows, (r, r)."""
        gram = np.zeros((len(self.beta), len(self.beta)))
        for columns, rows in zip(self.columns, self.rows):
            gram[np.ix_(columns, columns)] += rows[subset].T @ rows[subset]
        return gram

    def _block_products(self, values: Array) -> Array:
        """Return the products of the base columns with values, of each block, (blocks, r)."""
        return np.array([self.products(values, subset) for subset in self._block_rows])

    @cached_property
    def _block_rows(self) -> list[IndexArray | slice]:
        """Rows of each block: a slice, which avoids a copy, if they are consecutive."""
        order = np.argsort(self.block, kind='stable')
        return [slice(int(rows[0]), int(rows[-1]) + 1) if rows[-1] - rows[0] < len(rows) else rows
                for rows in np.split(order, np.flatnonzero(np.diff(self.block[order])) + 1)]

    @cached_property
    def _block_grams(self) -> Array:
        """Gram matrices of the weighted columns of each block, (blocks, r, r)."""
        return np.array([self.gram(subset) for subset in self._block_rows])

    @cached_property
    def _inverses_without_block(self) -> Array:
        """Inverse Gram matrices of all rows but those of one block, (blocks, r, r)."""
        total = self._block_grams.sum(axis=0)
        return np.array([_inverse(total - gram) for gram in self._block_grams])

    @cached_property
    def _fitted_products(self) -> Array:
        """Products of the base columns with `_fitted`, of each block, (blocks, r)."""
        return self._block_products(self._fitted)

    @cached_property
    def _fitted(self) -> Array:
        """Residual after all base parameters are fitted to these rows, (rows, n)."""
        return self._project_out(self.residual)


def build_residual_regression(base: BaseParameters, samples: Samples, beta: Array,
                              model: IdentifiedModel, min_blocks: int = _MIN_BLOCKS,
                              ) -> ResidualRegression | None:
    """
    Return decimated regression rows; for a long recording only those of its start and end.

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed recording with the delays compensated.
    beta
        Values of the base parameters for residuals and predictions, (r,).
    model
        The identified model, for load-dependent friction.
    min_blocks
        Smallest number of blocks of half a second.

    Returns
    -------
    ResidualRegression or None
        None if the recording is too short for this number of blocks.

    """
    samples = decimate_to_bandwidth(    # the checks find rests themselves
        replace(_stretches(samples), creep_speed=None), FINE_ROWS_PER_PERIOD)
    decimator, structure = samples.decimator(), base.structure
    runs = [run for run in samples.segments if decimator.rows(run.stop - run.start)]
    if not runs:
        return None

    def decimate(values: Array) -> Array:
        return np.concatenate([decimator.apply(values[run]) for run in runs])

    stamps = np.concatenate([
        samples.t[run][0] + np.arange(decimator.rows(run.stop - run.start))
        / decimator.decimated_rate for run in runs])
    block = _blocks(stamps, samples)
    if len(np.unique(block)) < min_blocks:
        return None
    load = (model.transmitted_torque(samples.q, samples.v, samples.a)
            if structure.friction.needs_load else None)
    standard = base.lift(beta)
    zero = np.zeros_like(samples.q)
    gravity = inverse_dynamics(structure.arm, samples.q, zero, zero,
                               standard[structure.inertial_slice].reshape(-1, 10))
    frictionless = np.where(np.arange(structure.count) < structure.rotor_slice.stop, standard, 0.0)
    states = structure.states(samples.q)
    torques = [structure.torque(samples.q, samples.v, samples.a, values, load, states)
               for values in (standard, frictionless)]
    slopes = np.zeros((2, *samples.q.shape))
    for run in runs:
        slopes[:, run] = [_slope(torque[run], samples.rate) for torque in torques]
    columns, packed = base.joint_columns, tuple(packed_rows(base, samples, load))
    predicted = _torques(columns, [rows[:, :-1] for rows in packed], beta)
    measured = np.column_stack([rows[:, -1] for rows in packed])
    std, level = (np.sqrt(np.mean(x ** 2, axis=0)) for x in (measured - predicted, measured))
    weights = 1 / np.maximum(std, np.maximum(1e-9 * level.max(), np.finfo(float).tiny))
    return ResidualRegression(
        structure.arm.joint_names, base, samples, beta, load, columns, packed, measured, predicted,
        (measured - predicted) * weights, weights, level, block,
        decimate(slopes[0]), decimate(slopes[1]), decimate(gravity), decimate)


def _torques(columns: Sequence[IndexArray], rows: Sequence[Array], beta: Array) -> Array:
    """Return the torques W beta of each joint, (rows, n)."""
    return np.column_stack([joint_rows @ beta[chosen]
                            for chosen, joint_rows in zip(columns, rows)])


def _inverse(gram: Array) -> Array:
    """Return the pseudo-inverse of a Gram matrix, (r, r)."""
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0] = 1.0
    scaled = gram / np.outer(scale, scale)
    factor, failed = lapack.dpotrf(scaled, lower=1)
    if not failed:    # ten times as fast as eigh
        lower = np.tril(lapack.dpotri(factor, lower=1)[0])
        if np.max(np.diag(lower)) * _REGULAR < 1:    # 1 / residual of each column
            return (lower + np.tril(lower, -1).T) / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(scaled)
    kept = values > _SINGULAR * values[-1]
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T / np.outer(scale, scale)


def _slope(torque: Array, rate: float) -> Array:
    """Return the time derivative of torques as differences over `_SLOPE_STEP` to either side."""
    slope: Array = np.gradient(torque, 1 / rate, axis=0)
    k = max(1, round(_SLOPE_STEP * rate))
    if len(torque) > 2 * k:
        slope[k:-k] = (torque[2 * k:] - torque[:-2 * k]) * rate / (2 * k)
    return slope


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


def _blocks(stamps: Array, samples: Samples) -> IndexArray:
    """Return the block of each row, (rows,)."""
    elapsed, period = stamps - stamps[0], repetition_period(samples, stamps)
    if period is not None:
        elapsed = elapsed % period
    blocks: IndexArray = np.unique(elapsed // _BLOCK, return_inverse=True)[1]
    return blocks // (1 + int(blocks.max()) // _MAX_BLOCKS)
