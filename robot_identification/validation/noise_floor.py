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
"""Noise of measured torques: the part of the prediction error that no model can remove."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.signals.spectrum import power_density

_SEGMENT = 1024
"""Largest number of samples in a segment of the spectrum."""


def noise_variance(run: Array, torque: Array, rate: float, period: int | None,
                   cutoff: float) -> Array:
    """
    Return the variance of measured torques that no model can predict, (n,) [(N m)^2 or N^2].

    If the motion repeats, this is the variance between periods at the same phase. Otherwise it is
    white noise below the cut-off, with the median spectral density of high frequencies. NaN if
    the rate is too low for either.

    Parameters
    ----------
    run
        Measured torques without a gap, (N, n) [N m or N].
    torque
        The same after the low-pass and without their ends, (K, n).
    rate
        Their rate [Hz].
    period
        Number of samples in a period of the motion; None if it does not repeat.
    cutoff
        Cut-off of the low-pass [Hz].

    """
    rows = len(torque)
    if period is not None and rows >= 2 * period:
        periods = torque[:rows - rows % period].reshape(-1, period, torque.shape[1])
        return np.asarray(np.mean(np.var(periods, axis=0, ddof=1), axis=0))
    if period is not None and rows > 1.25 * period:
        return np.asarray(np.mean((torque[period:] - torque[:-period]) ** 2, axis=0) / 2)
    frequency, density = power_density(run, rate, min(_SEGMENT, len(run) // 8))
    high = frequency > max(2 * cutoff, rate / 4)
    return (np.median(density[high], axis=0) * cutoff if np.any(high)
            else np.full(torque.shape[1], np.nan))
