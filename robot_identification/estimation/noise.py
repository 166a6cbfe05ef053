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
    rows = len(residuals)
    lags = int(np.sqrt(rows))
    if lags < 2:
        return np.ones(residuals.shape[1])
    size = 2 ** int(np.ceil(np.log2(2 * rows)))
    power = np.abs(np.fft.rfft(residuals, size, axis=0)) ** 2
    covariances = np.fft.irfft(power, size, axis=0)[:lags + 1]
    taper = 1 - np.arange(1, lags + 1) / (lags + 1)
    with np.errstate(invalid='ignore'):
        correlations = np.nan_to_num(covariances[1:] / covariances[0])
    factor = 1 + 2 * taper @ correlations
    deviation = 2 * np.sqrt(np.sum(taper ** 2) / rows)
    factors: Array = np.where(factor > 1 + SIGNIFICANT * deviation, factor, 1.0)
    return factors
