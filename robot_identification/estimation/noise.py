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
"""Autocorrelation of residuals: noise density at low frequencies over the variance."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from robot_identification.arrays import Array

SIGNIFICANT = 3.0
"""Residuals count as autocorrelated if their factor exceeds 1 by this many standard deviations,
computed for white noise."""


def autocorrelation_factor(pieces: Iterable[Array], rows: int) -> Array:
    """
    Return the low-frequency noise density over the variance, (n,); 1 for white residuals.

    The variance of an estimate depends on the noise at the frequencies of the regressor. Residuals
    of an incomplete model are largest at these frequencies, so a covariance that assumes
    independent rows is too small.
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
