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
"""Statistical inference: autocorrelation, significance tests and interval factors."""

from collections.abc import Iterable

import numpy as np
from robot_identification.arrays import Array, IndexArray
from scipy import special

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
