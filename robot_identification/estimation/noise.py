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
"""How noisy the residuals are at the frequencies of the model."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array

SIGNIFICANT = 3.0


def colour(residuals: Array) -> Array:
    """
    Return the low-frequency noise density over the variance, (n,), 1 for white residuals.

    The variance of an estimate is set by the noise at the frequencies at which the regressor
    moves. For residuals of an incomplete model these are the noisiest ones, and a covariance that
    takes the rows for independent is too small. A factor that white residuals could well have is
    1, so nothing is lost where the model is right.

    Parameters
    ----------
    residuals
        (rows, n) in the order of time.

    References
    ----------
    W. K. Newey, K. D. West, "A simple, positive semi-definite, heteroskedasticity and
    autocorrelation consistent covariance matrix", Econometrica 55(3), 1987.

    """
    rows, n = residuals.shape
    length = int(np.sqrt(rows)) + 1
    factors = np.ones(n)
    if length < 3:
        return factors
    # the mean square of sums over `length` rows holds the covariances with Bartlett's taper
    deviation = 2 * np.sqrt(length / 3 / rows)
    for j in range(n):
        variance = np.mean(residuals[:, j] ** 2)
        total = np.concatenate([[0.0], np.cumsum(residuals[:, j])])
        sums = total[length:] - total[:-length]
        if variance > 0:
            factor = float(np.mean(sums ** 2) / (length * variance))
            factors[j] = factor if factor > 1 + SIGNIFICANT * deviation else 1.0
    return factors
