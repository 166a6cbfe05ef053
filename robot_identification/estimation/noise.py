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
"""Noise of the residuals at the frequencies of the model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from robot_identification.arrays import Array

SIGNIFICANT = 3.0
"""Standard deviations of white noise's factor above which residuals count as autocorrelated."""
_BLOCK = 1 << 14
"""Rows summed at a time, which bounds the memory."""


def autocorrelation_factor(residuals: Array | Iterable[Array], rows: int | None = None) -> Array:
    """
    Return the low-frequency noise density over the variance, (n,); 1 for white residuals.

    The variance of an estimate depends on the noise at the frequencies of the regressor. Residuals
    of an incomplete model are largest there, and a covariance for independent rows is too small.
    A factor that is not significant is set to 1, so a correct model's intervals stay as narrow.

    Parameters
    ----------
    residuals
        (rows, n) in the order of time; or consecutive parts, read one at a time.
    rows
        Number of rows of all parts together; needed only for parts.

    References
    ----------
    W. K. Newey, K. D. West, "A simple, positive semi-definite, heteroskedasticity and
    autocorrelation consistent covariance matrix", Econometrica 55(3), 1987.

    """
    parts = [residuals] if isinstance(residuals, np.ndarray) else residuals
    rows = len(residuals) if isinstance(residuals, np.ndarray) else int(rows or 0)
    # the mean square of sums over `length` rows holds the covariances with Bartlett's taper
    length = int(np.sqrt(rows)) + 1
    totals, squares = np.zeros((1, 1)), np.zeros((2, 1))
    for each in parts:
        if len(totals) == 1:
            totals, squares = np.zeros((1, each.shape[1])), np.zeros((2, each.shape[1]))
        for first in range(0, len(each), _BLOCK):
            part = each[first:first + _BLOCK]
            totals = np.vstack([totals[-length:], totals[-1] + np.cumsum(part, axis=0)])
            for k, x in enumerate((totals[length:] - totals[:-length], part)):
                squares[k] += np.einsum('ij,ij->j', x, x)
    factors, variance = np.ones(squares.shape[1]), squares[1] / rows
    coloured = variance > 0
    if length < 3:
        return factors
    deviation = 2 * np.sqrt(length / 3 / rows)
    found = squares[0, coloured] / (rows + 1 - length) / (length * variance[coloured])
    factors[coloured] = np.where(found > 1 + SIGNIFICANT * deviation, found, 1.0)
    return factors
