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
"""
Regression rows in blocks: labels, solutions without one block, jackknife, and tests.

Residuals of an incomplete model are correlated in time, repeat with the motion and differ between
joints. Uncertainty therefore follows everywhere from blocks of rows (`block_labels`) that are left
out one at a time. `BlockEquations` has the solutions without each block, their covariance and its
expectation for independent rows; `BlockedRegression` makes these equations from rows, and adds
columns to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from robot_identification.arrays import Array, IndexArray, SINGULAR
from robot_identification.regression.packing import row_residuals
from scipy import special

WINDOWS = 30
"""Largest number of windows of time that are sorted by posture or speed into blocks: enough for
ranges that recur, while a window of 20 s of motion still lasts longer than its residuals are
correlated (0.2 to 0.4 s in real recordings)."""
REPEATED = 1.2
"""Periods after which a motion counts as repeated: a period is found if a quarter is recorded
twice, and filters then shorten the ends."""
_ROUNDING = 1e-9
"""[-] Added to phases, so that rows exactly one period apart are in the same block; distance of
the last row from the end; smallest deviation of means that differ."""
_PSEUDO = 1e-13
"""Eigenvalue of a Gram matrix of unit columns, over the largest, that counts as zero: rounding
errors of fifty columns cause 1e-14."""
_REMAINING = 1e-3
"""Fraction of a column's squares that must remain without any one block; with less, one block
determines its coefficient."""
DEVIATIONS = 3.0
"""Standard deviations by which a coefficient must exceed its tolerance: by chance in 1 of 700."""


def repeated_period(t: Array, period: float | None) -> float | None:
    """Return the period of a motion [s] if the increasing stamps t (N,) contain it repeatedly."""
    return period if period and t[-1] - t[0] > REPEATED * period else None


def block_count(t: Array, period: float | None, seconds: float, most: int) -> int:
    """
    Return the number of blocks with a length in seconds.

    Parameters
    ----------
    t, period
        As for `block_labels`.
    seconds
        Length of a block [s].
    most
        Largest number of blocks.

    """
    length = repeated_period(t, period) or len(t) * float(np.median(np.diff(t, append=t[-1:])))
    return min(round(length / seconds), most)


def block_labels(t: Array, count: int, period: float | None = None, *,
                 posture: Array | None = None, speed: Array | None = None,
                 windows: int = WINDOWS) -> IndexArray:
    """
    Return the block of each row, numbered from 0, (N,).

    Blocks are intervals of time with equal numbers of rows. If the motion repeats, a block has the
    same phase of all periods instead, so that no row outside the block repeats a row inside it.
    Blocks of postures or speeds consist of short windows of time (or phase), sorted by the first
    principal component of their mean positions, or by the sum of their mean speeds.

    Parameters
    ----------
    t
        Increasing stamps of the rows, (N,) [s].
    count
        Number of blocks; there are fewer if no row has the phase of a block.
    period
        Period of the motion [s]; None if it has none. See `repeated_period`.
    posture, speed
        Positions or speeds whose ranges are the blocks, (N, n), one of them; time if both are
        None.
    windows
        Largest number of windows, each of at least two rows.

    """
    values = speed if posture is None else posture
    if values is None:
        repeated = repeated_period(t, period)
        phase = (np.linspace(0.0, 1 - _ROUNDING, len(t)) if repeated is None
                 else ((t - t[0]) / repeated + _ROUNDING) % 1.0)
        return np.asarray(np.unique((phase * count).astype(int), return_inverse=True)[1])
    window = block_labels(t, max(min(windows, len(t) // 2), 1), period)
    means = np.array([values[window == i].mean(axis=0) for i in range(window.max() + 1)])
    means = (means - means.mean(axis=0)) / np.maximum(means.std(axis=0), _ROUNDING)
    level = means.sum(axis=1) if posture is None else np.linalg.svd(
        means, full_matrices=False)[0][:, 0]
    return np.asarray((np.argsort(np.argsort(level)) * count // len(level))[window])


def label_products(rows: Array, label: IndexArray, count: int | None = None) -> Array:
    """Return the product of the rows (N, k) of each label with themselves, (count, k, k)."""
    count = int(label.max()) + 1 if count is None else count
    return np.array([rows[label == i].T @ rows[label == i] for i in range(count)])


def inverse(grams: Array) -> Array:
    """
    Return the pseudo-inverses of Gram matrices, (..., k, k).

    Parameters
    ----------
    grams
        One or several matrices, (..., k, k). Columns are divided by their norms in the first
        one before eigenvalues are compared.

    """
    scale = np.sqrt(np.diag(grams if grams.ndim == 2 else grams[0]))
    units = np.outer(*2 * (np.where(scale > 0, scale, 1.0),))
    return np.asarray(np.linalg.pinv(grams / units, rcond=_PSEUDO, hermitian=True) / units)


@dataclass(frozen=True, eq=False)
class BlockEquations:
    """
    Normal equations of all blocks, and of all blocks but one each.

    Parameters
    ----------
    matrices
        Products of weighted rows [X, y] with themselves, (1 + blocks, k + 1, k + 1): first of all
        rows, then of all but those of one block.
    precision
        Precision of a Gaussian prior of the k unknowns with zero mean, (k, k). Without one,
        combinations that the rows do not determine stay zero.

    References
    ----------
    J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators
    with improved finite sample properties", J. Econometrics 29, 1985 (the jackknife); B. Efron,
    "The Jackknife, the Bootstrap and Other Resampling Plans", 1982, chapter 3; J. G. MacKinnon,
    M. O. Nielsen, M. D. Webb, "Leverage, influence, and the jackknife in clustered regression
    models", The Stata Journal 23(4), 2023 (blocks). The sandwich estimator is too small if there
    are as many unknowns as blocks: by factors of 1.3 to 2.4 on ten seconds of motion.

    """

    matrices: Array
    precision: Array | None = None

    @classmethod
    def of(cls, by_block: Array, total: Array | None = None,
           precision: Array | None = None) -> BlockEquations:
        """Return the equations from products by block; `total` includes rows of other blocks."""
        total = by_block.sum(axis=0) if total is None else total
        return cls(np.concatenate([total[None], total - by_block]), precision)

    def select(self, unknowns: Sequence[int] | IndexArray) -> BlockEquations:
        """Return the equations of some of the unknowns; the others are zero. It has no prior."""
        index = [*unknowns, -1]
        return BlockEquations(self.matrices[:, index][:, :, index])

    def eliminate(self, count: int) -> BlockEquations:
        """Return the equations of all but the first unknowns, which are fitted beside them."""
        corner = self.matrices[:, :count, :count] + SINGULAR * np.eye(count)
        cross = self.matrices[:, :count, count:]
        return BlockEquations(self.matrices[:, count:, count:] - np.swapaxes(
            cross, 1, 2) @ np.linalg.solve(corner, cross))

    def at_minimum(self) -> BlockEquations:
        """
        Return the equations of changes from a minimum, whose residuals are the targets.

        There the gradient of all rows is balanced, by the prior or by constraints.
        """
        matrices = np.array(self.matrices)
        matrices[:, :-1, -1] -= self.matrices[0, :-1, -1]
        return replace(self, matrices=matrices)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.matrices) - 1

    @cached_property
    def information(self) -> Array:
        """Information of rows and prior, (1 + blocks, k, k)."""
        grams = self.matrices[:, :-1, :-1]
        return grams if self.precision is None else grams + self.precision

    @cached_property
    def inverses(self) -> Array:
        """Inverses of the information, (1 + blocks, k, k)."""
        return inverse(self.information)

    @cached_property
    def solutions(self) -> Array:
        """Solution of all rows, and without each block, (1 + blocks, k)."""
        right = self.matrices[:, :-1, -1:]
        if self.precision is not None:    # regular, unless the prior knows a parameter exactly
            with suppress(np.linalg.LinAlgError):
                return np.asarray(np.linalg.solve(self.information, right)[..., 0])
        return np.asarray((self.inverses @ right)[..., 0])

    @property
    def changes(self) -> Array:
        """Change of the solution without each block, (blocks, k)."""
        return np.asarray(self.solutions[1:] - self.solutions[0])

    @property
    def expected(self) -> Array:
        """
        Sum of the squared changes that independent rows of unit variance cause, (k,).

        Without a block the solution changes by a vector with the covariance A_b^-1 - A^-1, where
        A is the information of all rows and A_b that without the block.
        """
        return np.asarray(np.einsum('bii->i', self.inverses[1:] - self.inverses[0]))

    def covariance(self, about_mean: bool = False) -> Array:
        """
        Return the covariance of the solution by the delete-one-block jackknife, (k, k).

        Parameters
        ----------
        about_mean
            Whether solutions without a block are compared with their mean (Efron) instead of the
            solution of all rows, which gives a larger covariance (MacKinnon and White).

        """
        changes = self.changes
        if about_mean:
            changes = changes - changes.mean(axis=0)
        return np.asarray((1 - 1 / self.blocks) * changes.T @ changes)

    def degrees_of_freedom(self) -> Array:
        """
        Return the degrees of freedom of the jackknife's standard deviations, (k,), at least 1.

        If the errors of blocks are independent and alike, the scores of block b have the
        covariance I_b, its part of the information A, and leaving it out changes the solution by
        (A - I_b)^-1 (I_b A^-1 s - s_b), where s is the sum of all scores s_b. With the covariance
        O of these changes the degrees of freedom are (tr O)^2 / tr O^2: few if few blocks
        determine an unknown, or if there are nearly as many unknowns as blocks.

        References
        ----------
        R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear regression with
        multi-stage samples", Survey Methodology 28(2), 2002.

        """
        inverses = self.inverses
        changes = (self.information[0] - self.information[1:]) @ inverses[1:]   # I_b (A - I_b)^-1
        own = np.einsum('bmj,bmj->jb', inverses[1:], changes)
        columns = changes.transpose(2, 0, 1)    # (k, blocks, k)
        covariance = -columns @ inverses[0] @ columns.transpose(0, 2, 1)
        blocks = np.arange(self.blocks)
        covariance[:, blocks, blocks] += own
        trace = np.trace(covariance, axis1=1, axis2=2)
        squares = np.sum(covariance ** 2, axis=(1, 2))
        return np.maximum(trace ** 2 / np.maximum(squares, 1e-300), 1.0)


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

    def exceeds(self, tolerance: float) -> bool:
        """Return whether |value| exceeds a tolerance by `DEVIATIONS` standard deviations."""
        return bool(abs(self.value) > tolerance + DEVIATIONS * self.std)


@dataclass(frozen=True, eq=False)
class BlockedRegression:
    """
    Weighted regression rows of each joint, in blocks.

    Parameters
    ----------
    columns
        For each joint the indices of the unknowns that act on it, (c_j,).
    packed
        For each joint its weighted columns and torque, (R, c_j + 1).
    block
        Block of each row, numbered from 0, (R,), see `block_labels`.

    """

    columns: Sequence[IndexArray]
    packed: Sequence[Array]
    block: IndexArray

    @classmethod
    def of(cls, columns: Sequence[IndexArray], packed: Sequence[Array], weights: Array,
           values: Array, block: IndexArray) -> BlockedRegression:
        """
        Return the regression of the torques that values of the unknowns leave.

        Parameters
        ----------
        columns, packed, block
            As for the class, but not weighted.
        weights, values
            Weight of each joint's rows, (n,), and the values, (k,).

        """
        return cls(columns, [
            weight * np.column_stack([rows[:, :-1], left]) for weight, rows, left in zip(
                weights, packed, row_residuals(packed, columns, values).T)], block)

    @cached_property
    def count(self) -> int:
        """Number k of unknowns."""
        return 1 + max(int(columns.max(initial=-1)) for columns in self.columns)

    @cached_property
    def target(self) -> Array:
        """Weighted torques, (R, n)."""
        return np.column_stack([rows[:, -1] for rows in self.packed])

    @cached_property
    def by_block(self) -> Array:
        """Products of the rows [X, y] of each block with themselves, (blocks, k + 1, k + 1)."""
        products = np.zeros((len(self._subsets), self.count + 1, self.count + 1))
        for product, subset in zip(products, self._subsets):
            for columns, rows in zip(self.columns, self.packed):
                index = [*columns, -1]
                product[np.ix_(index, index)] += rows[subset].T @ rows[subset]
        return products

    @cached_property
    def equations(self) -> BlockEquations:
        """The normal equations of the unknowns."""
        return BlockEquations.of(self.by_block)

    @property
    def inverse(self) -> Array:
        """Pseudo-inverse of the Gram matrix, (k, k)."""
        return np.asarray(self.equations.inverses[0])

    @cached_property
    def fitted(self) -> Array:
        """Residuals after all unknowns are fitted, (R, n)."""
        return self.project_out(self.target)

    def products(self, values: Array, subset: IndexArray | slice = slice(None)) -> Array:
        """Return the products X' values of values (R, n, ...) in some rows, (k, ...)."""
        products = np.zeros((self.count, *values.shape[2:]))
        for j, (columns, rows) in enumerate(zip(self.columns, self.packed)):
            products[columns] += rows[subset, :-1].T @ values[subset, j]
        return products

    def block_products(self, values: Array) -> Array:
        """Return the products X' values in each block, (blocks, k, ...)."""
        return np.array([self.products(values, subset) for subset in self._subsets])

    def torques(self, values: Array, subset: IndexArray | slice = slice(None)) -> Array:
        """Return the weighted torques X values of values (k,) in some rows, (R, n)."""
        return np.column_stack([rows[subset, :-1] @ values[columns]
                                for columns, rows in zip(self.columns, self.packed)])

    def project_out(self, values: Array) -> Array:
        """Return the residual of weighted torques (R, n) on the columns, (R, n)."""
        for _ in range(2):    # twice for rounding errors
            values = values - self.torques(self.inverse @ self.products(values))
        return values

    def left_out_residuals(self, precision: Array) -> Array:
        """
        Return the residuals of each block with values that are fitted without it, (R, n).

        The targets are residuals of a fit with a prior.

        Parameters
        ----------
        precision
            Precision of the prior, (k, k).

        """
        equations = replace(self.equations.at_minimum(), precision=precision)
        residuals = np.array(self.target)
        for subset, change in zip(self._subsets, equations.changes):
            residuals[subset] -= self.torques(change, subset)
        return residuals

    def add(self, columns: Array) -> BlockEquations:
        """
        Return the equations of the coefficients of added columns, beside which all are fitted.

        By the Frisch-Waugh-Lovell theorem, they are those of a regression of the residuals on the
        residuals of the columns. Each block is left out of all fits, of all joints, because
        residuals of an incomplete model are neither white nor independent between joints.

        Parameters
        ----------
        columns
            Residuals of weighted columns on the unknowns (`project_out`), (R, n, m).

        """
        rows = np.concatenate([columns, self.fitted[:, :, None]], axis=2)
        cross, own = self.block_products(rows), self._block_sums(rows)
        by_block = own + np.swapaxes(cross, 1, 2) @ self.equations.inverses[1:] @ cross
        return BlockEquations.of(by_block, own.sum(axis=0))

    def add_column(self, column: Array, joint: int | None = None) -> AddedColumn | None:
        """
        Return the coefficient of an added column that is fitted with all unknowns.

        Parameters
        ----------
        column
            Weighted torques, (R, n).
        joint
            If given, the column is set to zero for all other joints.

        Returns
        -------
        AddedColumn or None
            None if the column is almost a combination of the other columns.

        """
        column = self.for_joint(column, joint)
        left = self.project_out(column)
        energy = float(np.sum(left ** 2))
        if not energy > SINGULAR * float(np.sum(column ** 2)):
            return None
        equations = self.add(left[:, :, None])
        value = float(np.sum(left * self.target) / energy)
        determined = np.all(equations.matrices[1:, 0, 0] > _REMAINING * energy)
        std = float(np.sqrt(equations.covariance(about_mean=True)[0, 0])) if determined else np.inf
        joints = slice(None) if joint is None else [joint]
        before = self.fitted[:, joints]
        explained = 1 - np.sum((before - value * left[:, joints]) ** 2) / np.sum(before ** 2)
        return AddedColumn(value, std, float(explained))

    def for_joint(self, column: Array, joint: int | None) -> Array:
        """Return a column (R, n) that is zero for all other joints, if a joint is given."""
        return column if joint is None else np.where(
            np.arange(column.shape[1]) == joint, column, 0.0)

    def _block_sums(self, values: Array) -> Array:
        """Return products of values (R, n, m) with themselves in each block, (blocks, m, m)."""
        return np.array([np.tensordot(values[subset], values[subset], ((0, 1), (0, 1)))
                         for subset in self._subsets])

    @cached_property
    def _subsets(self) -> list[IndexArray]:
        """Rows of each block."""
        return [np.flatnonzero(self.block == i) for i in range(int(self.block.max()) + 1)]


SIGNIFICANT = 3.0
"""[-] Residuals count as autocorrelated if their factor exceeds 1 by this many standard deviations
of white noise: by chance in 1 of 700 joints."""


def autocorrelation_factor(pieces: Iterable[Array], rows: int) -> Array:
    """
    Return the low-frequency noise density over the variance, (n,); 1 for white residuals.

    The variance of an estimate depends on the noise at the frequencies of the regressor. Residuals
    of an incomplete model are largest at these frequencies, so a covariance that assumes
    independent rows is too small. The number of rows over this factor is the effective number of
    independent rows.
    A factor that is not significant is set to 1, so that the intervals of a correct model are not
    widened.

    Parameters
    ----------
    pieces
        Residuals of consecutive pieces in chronological order, (rows of the piece, n) each.
    rows
        Number of rows of all pieces together.

    References
    ----------
    W. K. Newey, K. D. West, "A simple, positive semi-definite, heteroskedasticity and
    autocorrelation consistent covariance matrix", Econometrica 55(3), 1987.

    """
    # mean square of sums over `length` rows: sum of the autocovariances with Bartlett weights
    length = int(np.sqrt(rows)) + 1
    totals, squares = np.zeros((1, 1)), np.zeros((2, 1))
    for piece in pieces:
        if len(totals) == 1:
            totals, squares = np.zeros((1, piece.shape[1])), np.zeros((2, piece.shape[1]))
        totals = np.vstack([totals[-length:], totals[-1] + np.cumsum(piece, axis=0)])
        for k, x in enumerate((totals[length:] - totals[:-length], piece)):
            squares[k] += np.einsum('ij,ij->j', x, x)
    factors, variance = np.ones(squares.shape[1]), squares[1] / rows
    coloured = variance > 0
    if length < 3:
        return factors
    std = 2 * np.sqrt(length / 3 / rows)    # of the factor if the noise is white
    measured = squares[0, coloured] / (rows + 1 - length) / (length * variance[coloured])
    factors[coloured] = np.where(measured > 1 + SIGNIFICANT * std, measured, 1.0)
    return factors


def f_test(explained: float, remaining: float, count: int, freedom: float) -> float:
    """
    Return the p-value of columns in a linear regression (F test).

    Parameters
    ----------
    explained, remaining
        Sum of squares that the columns explain, divided by the autocorrelation factor of the
        residuals, and sum of squares that remains.
    count
        Number of columns.
    freedom
        Effective number of independent rows minus the number of all fitted coefficients.

    References
    ----------
    G. A. F. Seber, A. J. Lee, "Linear Regression Analysis", 2nd ed., 2003, section 4.3.

    """
    return float(special.fdtrc(count, freedom, explained / count / (remaining / freedom)))


def t_squared_test(values: Array, covariance: Array, freedom: float) -> float:
    """
    Return the probability of values at least as far from zero if their means are zero.

    Parameters
    ----------
    values, covariance
        Estimates (k,) and their estimated covariance, (k, k).
    freedom
        Degrees of freedom of the covariance; the probability is 1 if there are hardly more than k.

    References
    ----------
    H. Hotelling, "The generalization of Student's ratio", Annals of Mathematical Statistics 2(3),
    1931 (T^2).

    """
    count = len(values)
    if freedom - count < 0.5:
        return 1.0
    scale = np.maximum(np.sqrt(np.diag(covariance)), 1e-150)    # whose square is not zero
    distance, correlation = values / scale, covariance / np.outer(scale, scale)
    squared = float(distance @ np.linalg.pinv(correlation, hermitian=True) @ distance)
    rest = freedom - count + 1
    return float(special.fdtrc(count, rest, squared * rest / (count * freedom)))


def holm(p: Array) -> Array:
    """
    Return p-values adjusted for multiple comparisons with Holm's procedure, (m,).

    The procedure is valid for dependent tests.

    Parameters
    ----------
    p
        The p-values, (m,).

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6(2), 1979.

    """
    order = np.argsort(p)
    scaled = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(scaled)
    adjusted[order] = np.minimum(scaled, 1.0)
    return adjusted


def interval_factor(freedom: Array | IndexArray) -> Array:
    """Return half-widths of 95 % intervals of Student's t over those of the normal, (k,)."""
    return np.asarray(special.stdtrit(freedom, 0.975) / special.ndtri(0.975))
