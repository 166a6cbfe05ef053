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
"""Least-squares fit of several recordings together, with effects that only some of them have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import (
    Array,
    IndexArray,
    orthonormal_basis,
    ReadOnlyArrays,
    SINGULAR,
    solve_normal,
)
from robot_identification.changes.motion_run import find_repetition, MotionRun
from robot_identification.changes.torque_columns import common_columns, LOAD
from robot_identification.dynamics import IdentifiedModel
from robot_identification.regression import blocked_regression
from robot_identification.regression.blocked_regression import (
    autocorrelation_factor,
    interval_factor,
    t_squared_test,
)
from scipy.interpolate import interp1d

Mask = NDArray[np.bool_]

_WEIGHTINGS = 3
"""Rounds in which the joints are weighted by their residuals."""
LARGEST = 100.0
"""Prior standard deviation of undetermined parameters of a body, in units of `BODY_SCALE`."""
_FEWEST_BLOCKS, _MOST_BLOCKS, _BLOCK_SECONDS = 8, 30, 1.0
"""Number and length [s] of the blocks of time that are left out one at a time."""


@dataclass(frozen=True, eq=False)
class Equations:
    """
    Equations of one recording: target = nuisance x + effects y + error.

    Parameters
    ----------
    target
        Torque errors of a model, (N, n) [N m or N].
    nuisance
        Columns whose coefficients all recordings share and that are not reported, (N, n, p).
    effects
        Columns of the effects in question; zero where a recording does not have them, (N, n, m).
    used
        Which torques count, (N, n) bool.
    blocks
        Block of each row; errors are correlated in a block and independent between blocks, (N,).

    """

    target: Array
    nuisance: Array
    effects: Array
    used: NDArray[np.bool_]
    blocks: IndexArray


@dataclass(frozen=True, eq=False)
class Effect(ReadOnlyArrays):
    """
    Estimated coefficients of some effects.

    Parameters
    ----------
    values, covariance
        Coefficients (k,) and their covariance (k, k): that of a jackknife plus `known`.
    known
        Covariance due to the standard deviations that were stated before, (k, k).
    squares
        Weighted sum of squares of the residuals.
    freedom
        Degrees of freedom of each coefficient's jackknife deviation, (k,).

    """

    values: Array
    covariance: Array
    known: Array
    squares: float
    freedom: Array

    @property
    def deviations(self) -> Array:
        """Standard deviations of the coefficients, (k,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def normal_covariance(self) -> Array:
        """Covariance of normal errors with the same 95 % intervals, (k, k)."""
        factor = interval_factor(self.freedom)
        return (self.covariance - self.known) * np.outer(factor, factor) + self.known

    def part(self, start: int, stop: int | None = None) -> Effect:
        """Return the coefficients of a range, as estimated together with the others."""
        own = slice(start, stop)
        return Effect(self.values[own], self.covariance[own, own], self.known[own, own],
                      self.squares, self.freedom[own])

    @property
    def p(self) -> float:
        """Probability of coefficients as far from zero if all are zero, with mean freedom."""
        return t_squared_test(self.values, self.covariance, float(np.mean(self.freedom)))


@dataclass(frozen=True, eq=False)
class JointFit(ReadOnlyArrays):
    """
    Normal equations of several recordings, by block and by joint.

    A row of the weighted equations is [basis of the nuisance (r), effects (m), target].

    Parameters
    ----------
    by_block, by_joint
        Products of these rows with themselves, (blocks or n, r + m + 1, r + m + 1).
    nuisance
        Number r of orthonormal columns that stand for the nuisance.
    noise
        Standard deviation of each joint's residual, (n,).
    independent
        Number of independent rows: all rows over their autocorrelation factor.
    errors
        Residuals from which the weights follow, all recordings in turn, (N, n) [N m or N]; zero
        where torques do not count.
    widening
        Variance of each joint's sums over long times, over that over blocks, (n,), see
        `_widening`.

    """

    by_block: Array
    by_joint: Array
    nuisance: int
    noise: Array
    independent: float
    errors: Array
    widening: Array

    @classmethod
    def of(cls, recordings: Sequence[Equations], fitted: Sequence[int] = (),
           values: Array | float = 0.0) -> JointFit:
        """
        Return the normal equations; joints are weighted by their residuals.

        Parameters
        ----------
        recordings
            The equations of each recording.
        fitted
            Effects that are fitted when the residuals for the weights are computed.
        values
            Coefficients of all effects, (m,), that the residuals for the weights contain.

        """
        target, nuisance, effects, used = (np.concatenate(arrays) for arrays in zip(*(
            (each.target, each.nuisance, each.effects, each.used) for each in recordings)))
        nuisance, effects = nuisance[used], effects[used]
        n = target.shape[1]
        joint = np.tile(np.arange(n), (len(target), 1))[used]
        y, noise = target[used], np.ones(n)
        left = y - effects @ np.broadcast_to(values, effects.shape[1])
        for _ in range(_WEIGHTINGS):
            weight = 1 / noise[joint]
            basis = _orthonormal(np.column_stack([nuisance, effects[:, list(fitted)]])
                                 * weight[:, None])
            residual = left - basis @ (basis.T @ (left * weight)) / weight
            noise = np.sqrt(np.bincount(joint, residual ** 2, n)
                            / np.maximum(np.bincount(joint, minlength=n), 1))
            noise = np.maximum(noise, 1e-9 * max(float(np.abs(y).max(initial=0.0)), 1e-300))
        basis = _orthonormal(nuisance / noise[joint][:, None])
        rows = np.column_stack([basis, np.column_stack([effects, y]) / noise[joint][:, None]])
        errors = np.zeros_like(target)
        errors[used] = residual
        factors = autocorrelation_factor([errors], len(errors))
        numbers = _number_blocks(recordings)
        blocks = numbers[:, None].repeat(n, axis=1)[used]
        products = blocked_regression.label_products
        return cls(products(rows, blocks), products(rows, joint, n), basis.shape[1], noise,
                   float(np.sum(np.bincount(joint, minlength=n) / factors)), errors,
                   _widening(factors, numbers))

    def estimate(self, columns: Sequence[int], prior: Array | float = np.inf,
                 unbiased: bool = False) -> Effect:
        """
        Return the estimate of some effects.

        Parameters
        ----------
        columns
            Indices of the effects.
        prior
            Standard deviations of these effects before the recordings, (k,); their mean is zero.
        unbiased
            Whether the jackknife's variance is divided by its expectation for independent errors,
            which is too large where few blocks determine much: with the information A_b of all
            blocks but b, it is the sum of A_b^-1 - A^-1, and the variance is A^-1.

        """
        information = np.diag(np.broadcast_to(np.asarray(prior, dtype=float) ** -2, len(columns)))
        equations = self._effects.select(columns)
        level = np.diag(equations.matrices[0, :-1, :-1] + information)
        equations = replace(equations, precision=information + SINGULAR * np.diag(
            np.maximum(level, 1e-300)))    # undetermined combinations are kept near zero
        own = self.nuisance + np.array(columns, dtype=int)
        shares = self.by_joint[:, own, own]
        wider = np.sqrt(self.widening @ shares / np.maximum(shares.sum(axis=0), 1e-300))
        known = equations.inverses[0] @ information @ equations.inverses[0].T
        if unbiased:
            expected = equations.expected * (1 - 1 / equations.blocks)
            variance = np.diag(equations.inverses[0] - known)
            wider *= np.sqrt(variance / np.maximum(expected, variance))
        values, full = equations.solutions[0], equations.matrices[0]
        return Effect(values, equations.covariance() * np.outer(wider, wider) + known, known,
                      float(full[-1, -1] - full[:-1, -1] @ values),
                      equations.degrees_of_freedom())

    @cached_property
    def _effects(self) -> blocked_regression.BlockEquations:
        """Normal equations of the effects, with the nuisance fitted beside them."""
        return blocked_regression.BlockEquations.of(self.by_block).eliminate(self.nuisance)

    def equations_of(self, count: int, prior: Array) -> tuple[Array, Array]:
        """
        Return k equations of the first k effects, (k, k) and (k,); the others are eliminated.

        Parameters
        ----------
        count
            Number k of these effects.
        prior
            Standard deviations of the others before the recordings, (m - k,); their mean is zero.

        """
        others = np.arange(count, count + len(prior))
        chosen, full = [*range(count), -1], self._effects.matrices[0]
        cross = full[np.ix_(others, chosen)]
        left = full[np.ix_(chosen, chosen)] - cross.T @ np.linalg.solve(
            full[np.ix_(others, others)] + np.diag(prior ** -2.0), cross)
        squares, vectors = np.linalg.eigh(left[:-1, :-1])
        root = np.sqrt(np.maximum(squares, SINGULAR * squares[-1]))
        return root[:, None] * vectors.T, vectors.T @ left[:-1, -1] / root

    def sensor_covariance(self, columns: Sequence[int], values: Array, sensors: Array,
                          prior: Array | float = np.inf,
                          loads: Mapping[int, int] = MappingProxyType({})) -> Array:
        """
        Return the covariance of estimated effects due to sensors and friction of load, (k, k).

        The gain error of a joint changes the torque that the effects cause there; the torques of
        the arm itself change as its model does, which was identified with the same sensors. A body
        loads the joints, whose friction changes by `LOAD` of its torque.

        Parameters
        ----------
        columns, values
            Indices of the effects, and their coefficients from `estimate`.
        sensors
            Standard deviations of the gains of the torque sensors, (n,).
        prior
            As for `estimate`.
        loads
            For effects that are a load, the index of their torque with the sign that it has in
            the friction.

        """
        chosen = [*range(self.nuisance), *(self.nuisance + k for k in columns)]
        effects = chosen[self.nuisance:]
        matrix = self.by_joint.sum(axis=0)[np.ix_(chosen, chosen)]
        own = range(self.nuisance, len(chosen))
        matrix[own, own] += np.asarray(prior, dtype=float) ** -2
        scale = 1 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        loading = [k for k, column in enumerate(columns) if column in loads]
        felt = [self.nuisance + loads[columns[k]] for k in loading]
        errors = np.concatenate([
            self.by_joint[:, chosen][:, :, effects] @ values * sensors[:, None],
            self.by_joint[:, chosen][:, :, felt] @ values[loading] * LOAD])
        changes = np.array([solve_normal(matrix, each, scale)[self.nuisance:] for each in errors])
        return np.asarray(changes.T @ changes)


def join_runs(
    model: IdentifiedModel,
    runs: tuple[Sequence[MotionRun], Sequence[MotionRun]],
    errors: Sequence[Array],
    changed: Sequence[Array],
    top: Array,
) -> tuple[list[Equations], bool]:
    """
    Return the equations of runs before and after a change, and whether the motion is the same.

    With y the torques that the model does not explain, W the regressor of the standard parameters,
    F what the model lacks (`friction_shapes`, `sensor_columns`) and X the effect of a change, the
    equations are

        y_1 = W_1 d + F_1 f + e_1,    y_2 = W_2 d + F_2 f + X_2 c + e_2.

    All runs share d and f, so that errors of the model in their span change nothing. If the motion
    is the same, the difference y_2 - y_1 = X_2 c + e is returned, in which all errors of the model
    cancel.

    Parameters
    ----------
    model
        The model of the arm.
    runs
        Runs before and after the change.
    errors
        Torques of all runs that the model does not explain, (K, n) each.
    changed
        Effects of the change in the runs after it, (K, n, m) each.
    top
        Highest speed of each joint, (n,).

    """
    first, second = runs
    count = len(first)
    used = [run.moving(top) & model.arm.measured for run in (*first, *second)]
    shifts = [find_repetition(*pair) for pair in zip(first, second)]
    if len(first) == len(second) and None not in shifts:
        return [_difference(
            (first[k], second[k]), shifts[k] or 0.0, changed[k], (errors[k], errors[count + k]),
            (used[k], used[count + k])) for k in range(count)], True
    none = np.zeros((1, 1, changed[0].shape[2]))
    return [Equations(
        error, common_columns(model, run, top),
        np.broadcast_to(each, (*error.shape, none.shape[2])), mask,
        time_blocks(run.clock, run.period))
        for run, error, each, mask in zip((*first, *second), errors, [none] * count + [*changed],
                                          used)], False


def time_blocks(t: Array, period: float | None = None) -> IndexArray:
    """
    Return the block of each row; equal phases of a repeated motion are in one block, (N,).

    A repeated motion repeats the errors of the model.

    Parameters
    ----------
    t
        Time, (N,) [s].
    period
        Period of the motion [s]; None if it does not repeat.

    """
    count = blocked_regression.block_count(t, period, _BLOCK_SECONDS, _MOST_BLOCKS)
    return blocked_regression.block_labels(t, max(count, _FEWEST_BLOCKS), period)


def _widening(factors: Array, numbers: IndexArray) -> Array:
    """
    Return the variance of sums over long times, over that of sums over blocks, (n,).

    Errors whose correlation falls as exp(-t / s), with s = factor / 2 rows, are correlated across
    the ends of blocks, too. The variance of their sum is 2 s per row over long times, and
    2 s (1 - s / T (1 - exp(-T / s))) per row over a block of T rows.

    Parameters
    ----------
    factors
        Autocorrelation factor of each joint's errors, (n,).
    numbers
        Block of each row, (N,).

    """
    length = len(numbers) / (1 + np.count_nonzero(np.diff(numbers)))
    part = np.minimum(factors / 2 / length, 1.0)
    return np.asarray(1 / (1 - part * (1 - np.exp(-1 / part))))


def _number_blocks(recordings: Sequence[Equations]) -> IndexArray:
    """Return the block of each row of all recordings, counted through, (N,)."""
    numbered, first = [], 0
    for each in recordings:
        numbered.append(each.blocks + first)
        first += int(each.blocks.max(initial=-1)) + 1
    return np.unique(np.concatenate(numbered), return_inverse=True)[1]


def _orthonormal(columns: Array) -> Array:
    """Return an orthonormal basis of columns, without rounding errors of weak ones, (rows, r)."""
    return np.asarray(np.linalg.qr(orthonormal_basis(columns, SINGULAR))[0])


def _difference(pair: tuple[MotionRun, MotionRun], shift: float, columns: Array,
                errors: tuple[Array, Array], used: tuple[Mask, Mask]) -> Equations:
    """Return the equations of the difference between two runs of one motion."""
    first, second = pair
    t = first.clock + shift
    rows = (t >= second.clock[0]) & (t <= second.clock[-1])

    def align(x: Array) -> Array:
        """Return values of the second run at the times of the first."""
        return np.asarray(interp1d(second.clock, x, axis=0)(t[rows]))

    target = align(errors[1]) - errors[0][rows]
    both = used[0][rows] & (align(used[1].astype(float)) == 1)
    return Equations(target, np.zeros((*target.shape, 0)), align(columns), both,
                     time_blocks(t[rows]))
