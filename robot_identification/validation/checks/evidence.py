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
"""Regression rows, and the test whether one more column explains what the model leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters, IdentifiedModel, inverse_dynamics
from robot_identification.regression.packing import joint_columns
from robot_identification.regression.reduce import packed_rows
from robot_identification.signals import Samples
from robot_identification.signals.shift import select
from robot_identification.signals.thinning import FINE, thinned
from scipy.linalg import lapack

MOST_SAMPLES = 40_000
"""So many at most are looked at, in `STRETCHES` pieces at begin and end of the recording: a few
tenths of a second of work, whatever the recording's length."""
STRETCHES = 2
BLOCK = 0.5
"""Residuals of one block are taken for alike, those of two blocks for independent [s]: the
residuals of the recordings at hand are correlated over 0.2 to 0.4 s."""
REACH = 0.025
"""Over which the change of a torque is taken [s]: delays that matter are as long."""
FEWEST_BLOCKS, MOST_BLOCKS = 10, 100
"""Blocks of a longer recording are put together: each is left out of a fit once."""
VAGUE = 0.15
"""Standard deviation of a relative effect from which the recording does not tell it."""
SINGULAR = 1e-10
"""Eigenvalue of the Gram matrix of unit columns, over the largest, that counts as zero."""
_REGULAR = 1e-5
"""Part of a unit column that the others must leave for none to be taken for a sum of others."""
ALONE = 1e-3
"""Part of what tells a column from the others that must be left without any one block."""
ROUNDS = 3
"""Rounds of a fit whose weights come from its own residuals."""


@dataclass(frozen=True)
class Effect:
    """
    The coefficient of one more column in the regression.

    Parameters
    ----------
    value, deviation
        Coefficient and its standard deviation, by blocks of time.
    explained
        Part of the squared residuals of the rows concerned that the column takes away.

    """

    value: float
    deviation: float
    explained: float

    def beyond(self, tolerance: float, deviations: float = 3.0) -> bool:
        """Return whether the size exceeds a tolerance by so many standard deviations."""
        return bool(abs(self.value) > tolerance + deviations * self.deviation)


@dataclass(frozen=True, eq=False)
class Evidence:
    """
    Decimated rows of a recording in units of their residuals' deviation.

    Parameters
    ----------
    joint_names
        The n joints.
    columns
        For each joint the base parameters that act on it.
    packed
        For each joint its columns and torque, (rows, c_j + 1).
    residual
        Weighted torque minus prediction, (rows, n).
    weights
        Reciprocal residual deviations of the joints, (n,).
    block
        Number of the block of each row, (rows,); the same phases of all periods are one block.
    predicted, slope, gravity
        Torque of the model, its derivative by time, and its gravity part, (rows, n).
    level
        Root mean square of each joint's measured torque, (n,) [N m or N].
    apply
        Decimates functions of the samples, (N, ...) to (rows, ...).
    samples
        What the rows are made of.
    beta
        Base parameters that residual and prediction are made of, (r,).
    load
        Torques that the joints transmit, (N, n) [N m or N], for friction that needs it.

    """

    joint_names: tuple[str, ...]
    columns: tuple[IndexArray, ...]
    packed: tuple[Array, ...]
    residual: Array
    weights: Array
    block: IndexArray
    predicted: Array
    slope: Array
    gravity: Array
    level: Array
    apply: Callable[[Array], Array]
    samples: Samples
    beta: Array
    load: Array | None

    @cached_property
    def rows(self) -> tuple[Array, ...]:
        """For each joint its weighted columns, (rows, c_j)."""
        return _weighted(self.weights, self.packed)

    @cached_property
    def inverse(self) -> Array:
        """Pseudo-inverse of the Gram matrix of the weighted columns, (r, r)."""
        return _inverse(self._gram)

    @cached_property
    def _gram(self) -> Array:
        return _gram(self.columns, self.rows, len(self.beta))

    @cached_property
    def free(self) -> Array:
        """Base parameters fitted to these rows alone, (r,)."""
        return np.asarray(self.beta + self.inverse @ self.products(self.residual))

    @property
    def measured(self) -> Array:
        """Torques, (rows, n) [N m or N]."""
        return np.column_stack([part[:, -1] for part in self.packed])

    def effect(self, column: Array, joint: int | None = None) -> Effect | None:
        """
        Return the coefficient of one more column, all base parameters being fitted again.

        By the theorem of Frisch, Waugh and Lovell it is that of a regression of the residual on
        what the other columns do not explain of this one. Its variance is that of a jackknife over
        blocks of time, all joints together and all parameters fitted again: residuals of a model
        that is not complete are neither white nor independent between joints, and as many
        parameters as blocks make the sandwich's deviation too small, by 1.3 to 2.4 on ten seconds.

        Parameters
        ----------
        column
            Torques, (rows, n) [N m or N].
        joint
            Set to zero but for this joint, where one is given.

        Returns
        -------
        Effect or None
            None where the other columns explain this one all but entirely.

        References
        ----------
        J. G. MacKinnon, M. O. Nielsen, M. D. Webb, "Leverage, influence, and the jackknife in
        clustered regression models", The Stata Journal 23(4), 2023.

        """
        scaled = column * self.weights
        if joint is not None:
            scaled = np.where(np.arange(scaled.shape[1]) == joint, scaled, 0.0)
        size = float(np.sum(scaled ** 2))
        left = self._outside(self._outside(scaled))      # twice is enough
        energy = float(np.sum(left ** 2))
        if not energy > 1e-8 * size:
            return None
        value = float(np.sum(left * self.residual) / energy)
        deviation = self._jackknife(left, energy)
        whole = self._fitted if joint is None else self._fitted[:, [joint]]
        explained = 1 - np.sum((whole - value * (left if joint is None else left[:, [joint]]))
                               ** 2) / np.sum(whole ** 2)
        return Effect(value, deviation, float(explained))

    def explained(self, column: Array, joint: int, chosen: NDArray[np.bool_]) -> float:
        """
        Return the part of a joint's squared residuals in some rows that one more column takes.

        Parameters
        ----------
        column
            As for `effect`.
        joint
            Whose rows are looked at.
        chosen
            Which of them, (rows,).

        """
        scaled = np.where(np.arange(column.shape[1]) == joint, column * self.weights, 0.0)
        left = self._outside(self._outside(scaled))[chosen, joint]
        whole = self._fitted[chosen, joint]
        energy = float(np.sum(left ** 2) * np.sum(whole ** 2))
        return float(np.sum(left * whole) ** 2 / energy) if energy > 0 else 0.0

    def refitted(self, packed: Sequence[Array], torque: Array) -> Array:
        """
        Return what all base parameters, fitted to other torques or rows, leave.

        Parameters
        ----------
        packed
            For each joint its columns, not weighted, and one more that is not looked at,
            (rows, c_j + 1).
        torque
            Torques, (rows, n) [N m or N].

        Returns
        -------
        ndarray
            Residuals in the unit of the torques, (rows, n), of weighted least squares with
            weights from the residuals themselves.

        """
        floor, residual = 1e-9 * self.level.max(), torque
        rows = [part[:, :-1] for part in packed]
        products = [part.T @ np.column_stack([part, torque[:, j]]) for j, part in enumerate(rows)]
        for _ in range(ROUNDS):
            weights = 1 / np.maximum(np.sqrt(np.mean(residual ** 2, axis=0)), floor)
            gram, right = np.zeros((len(self.beta), len(self.beta))), np.zeros(len(self.beta))
            for chosen, weight, product in zip(self.columns, weights, products):
                gram[np.ix_(chosen, chosen)] += weight ** 2 * product[:, :-1]
                right[chosen] += weight ** 2 * product[:, -1]
            residual = torque - _torques(self.columns, rows, _inverse(gram) @ right)
        return residual

    def _outside(self, scaled: Array) -> Array:
        """Return what the base columns do not explain of weighted torques (rows, n)."""
        beta = self.inverse @ self.products(scaled)
        return scaled - _torques(self.columns, self.rows, beta)

    def _jackknife(self, left: Array, energy: float) -> float:
        """
        Return the deviation of the coefficient of a column over fits without one block each.

        `left` is what the base columns do not explain of the column, and `_fitted` of the torques.
        Without block b, whose rows are X of the base columns, x of the one and y of the other, and
        with the inverse Gram matrix H of the other blocks, the coefficient is
        (left y - x y - x'X H X'y) / (left left - x x - x'X H X'x), the first products over all.
        """
        fitted = self._fitted
        count = len(self._others)
        mine, theirs = self._products_of_blocks(left), self._fitted_products
        shared = np.einsum('bi,bij->bj', mine, self._others)
        above = (np.sum(left * fitted) - np.sum(shared * theirs, axis=1)
                 - np.bincount(self.block, np.sum(left * fitted, axis=1)))
        below = (energy - np.sum(shared * mine, axis=1)
                 - np.bincount(self.block, np.sum(left ** 2, axis=1)))
        if np.any(below <= ALONE * energy):
            return float('inf')
        without = above / below
        return float(np.sqrt((count - 1) / count * np.sum((without - without.mean()) ** 2)))

    def products(self, values: Array) -> Array:
        """Return the products of the weighted base columns with values (rows, n), (r,)."""
        return _products(self.columns, self.rows, values, len(self.beta))

    def _products_of_blocks(self, values: Array) -> Array:
        return np.array([_products(self.columns, [rows[part] for rows in self.rows], values[part],
                                   len(self.beta)) for part in self._rows_of_blocks])

    @cached_property
    def _rows_of_blocks(self) -> list[IndexArray | slice]:
        """Rows of each block; a slice, which copies nothing, where they follow one another."""
        order = np.argsort(self.block, kind='stable')
        return [slice(int(part[0]), int(part[-1]) + 1) if part[-1] - part[0] < len(part) else part
                for part in np.split(order, np.flatnonzero(np.diff(self.block[order])) + 1)]

    @cached_property
    def _others(self) -> Array:
        """Inverse Gram matrices of all rows but those of one block, (blocks, r, r)."""
        return np.array([_inverse(self._gram - _gram(
            self.columns, [rows[part] for rows in self.rows], len(self.beta)))
            for part in self._rows_of_blocks])

    @cached_property
    def _fitted_products(self) -> Array:
        return self._products_of_blocks(self._fitted)

    @cached_property
    def _fitted(self) -> Array:
        """Residual after all base parameters are fitted to these rows, (rows, n)."""
        return self._outside(self.residual)


def gather(base: BaseParameters, samples: Samples, beta: Array,
           model: IdentifiedModel) -> Evidence | None:
    """
    Make the rows that tests need, of a few stretches of a long recording, thinned.

    Parameters
    ----------
    base
        Base parameters of the model structure.
    samples
        Processed recording, delays taken out.
    beta
        Values that residuals and predictions are made of, (r,).
    model
        The identified model, for the load of friction that depends on it.

    Returns
    -------
    Evidence or None
        None where the recording is too short for `FEWEST_BLOCKS`.

    """
    samples = thinned(_part(samples), FINE)
    decimator, structure = samples.decimator(), base.structure
    runs = [run for run in samples.segments if decimator.rows(run.stop - run.start)]
    if not runs:
        return None

    def apply(values: Array) -> Array:
        return np.concatenate([decimator.apply(values[run]) for run in runs])

    stamps = np.concatenate([
        samples.t[run][0] + np.arange(decimator.rows(run.stop - run.start))
        / decimator.decimated_rate for run in runs])
    block = _blocks(stamps, samples)
    if len(np.unique(block)) < FEWEST_BLOCKS:
        return None
    load = (model.transmitted_torque(samples.q, samples.v, samples.a)
            if structure.friction.needs_load else None)
    standard = base.representative(beta)
    zero = np.zeros_like(samples.q)
    gravity = inverse_dynamics(structure.arm, samples.q, zero, zero,
                               standard[structure.inertial].reshape(-1, 10))
    torque = structure.torque(samples.q, samples.v, samples.a, standard, load,
                              structure.states(samples.q))
    slope = np.zeros_like(torque)
    for run in runs:
        slope[run] = _slope(torque[run], samples.rate)
    columns, packed = joint_columns(base), tuple(packed_rows(base, samples, load))
    predicted = _torques(columns, [part[:, :-1] for part in packed], beta)
    measured = np.column_stack([p[:, -1] for p in packed])
    deviation = np.sqrt(np.mean((measured - predicted) ** 2, axis=0))
    level = np.sqrt(np.mean(measured ** 2, axis=0))
    weights = 1 / np.maximum(deviation, np.maximum(1e-9 * level.max(), np.finfo(float).tiny))
    return Evidence(structure.arm.joint_names, columns, packed, (measured - predicted) * weights,
                    weights, block, predicted, apply(slope), apply(gravity), level, apply, samples,
                    beta, load)


def _weighted(weights: Array, packed: Sequence[Array]) -> tuple[Array, ...]:
    return tuple(weight * part[:, :-1] for weight, part in zip(weights, packed))


def _gram(columns: Sequence[IndexArray], rows: Sequence[Array], rank: int) -> Array:
    """Return the Gram matrix of all rows, (r, r)."""
    gram = np.zeros((rank, rank))
    for chosen, part in zip(columns, rows):
        gram[np.ix_(chosen, chosen)] += part.T @ part
    return gram


def _products(columns: Sequence[IndexArray], rows: Sequence[Array], values: Array,
              rank: int) -> Array:
    """Return the products of all columns with values (rows, n), (r,)."""
    found = np.zeros(rank)
    for j, (chosen, part) in enumerate(zip(columns, rows)):
        found[chosen] += part.T @ values[:, j]
    return found


def _torques(columns: Sequence[IndexArray], rows: Sequence[Array], beta: Array) -> Array:
    """Return what base parameters make of the columns of each joint, (rows, n)."""
    return np.column_stack([part @ beta[chosen] for chosen, part in zip(columns, rows)])


def _inverse(gram: Array) -> Array:
    """Return the pseudo-inverse of a Gram matrix, (r, r)."""
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0] = 1.0
    scaled = gram / np.outer(scale, scale)
    factor, failed = lapack.dpotrf(scaled, lower=1)
    if not failed:    # a tenth of the time
        lower = np.tril(lapack.dpotri(factor, lower=1)[0])
        if np.max(np.diag(lower)) * _REGULAR < 1:    # 1 / diagonal is what the others leave
            return (lower + np.tril(lower, -1).T) / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(scaled)
    kept = values > SINGULAR * values[-1]
    inverse: Array = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse / np.outer(scale, scale)


def _slope(torque: Array, rate: float) -> Array:
    """Return differences over `REACH` to either side: jumps of friction stay finite."""
    slope: Array = np.gradient(torque, 1 / rate, axis=0)
    k = max(1, round(REACH * rate))
    if len(torque) > 2 * k:
        slope[k:-k] = (torque[2 * k:] - torque[:-2 * k]) * rate / (2 * k)
    return slope


def _part(samples: Samples) -> Samples:
    if len(samples.t) <= MOST_SAMPLES:
        return samples
    length, stretches = MOST_SAMPLES // STRETCHES, []
    for first in np.linspace(0, len(samples.t) - length, STRETCHES).astype(int):
        stretches += [slice(max(int(first), run.start), min(int(first) + length, run.stop))
                      for run in samples.segments
                      if min(first + length, run.stop) - max(first, run.start) > 2]
    return select(samples, stretches)


def _blocks(stamps: Array, samples: Samples) -> IndexArray:
    elapsed = stamps - stamps[0]
    period = None if samples.period is None else samples.period / samples.rate
    if period is not None and elapsed[-1] > 1.2 * period:
        elapsed = elapsed % period
    numbers: IndexArray = np.unique(np.floor(elapsed / BLOCK).astype(np.int64),
                                    return_inverse=True)[1]
    return numbers // (1 + int(numbers.max()) // MOST_BLOCKS)
