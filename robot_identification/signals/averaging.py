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
"""Periods: found in the positions, averaged over, and the noise between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, IndexArray, read_only
from robot_identification.errors import SignalError
from scipy import signal
from scipy.optimize import minimize_scalar

REPEAT_TOLERANCE = 0.02
"""RMS difference of a motion from its repetition, over its own RMS, up to which it repeats."""
SMALLEST_OVERLAP = 0.25
"""Share of a period that must have been seen twice before it is believed."""
_COARSE_SAMPLES = 20_000


@dataclass(frozen=True, eq=False)
class PeriodAverage:
    """
    Mean over periods, and the variance about it.

    Parameters
    ----------
    mean
        (P, c): mean of each phase over the periods in which it was seen.
    variance
        (c,): variance s^2 of one sample about its phase's mean; a mean over M has s^2 / M.
    periods
        How many whole periods there are.

    """

    mean: Array
    variance: Array
    periods: int


def detect_period(q: ArrayLike, rate: float, tolerance: float = REPEAT_TOLERANCE) -> float:
    """
    Find after how many seconds all joints repeat their motion.

    The difference of the positions from themselves, so much later, is computed for all delays at
    once from their autocorrelation. The answer is the smallest delay, after the motion has left
    its start, where the difference is at a minimum and within the tolerance, refined between
    samples. At least a quarter of a period must have been seen twice.

    Parameters
    ----------
    q
        (N, n) [rad or m] at a uniform rate.
    rate
        [Hz]
    tolerance
        Largest RMS difference over the RMS of the motion about its mean, for every joint.

    Raises
    ------
    SignalError
        The motion does not repeat; the text says how near it came.

    """
    q = np.asarray(q, dtype=float)
    mean, spread = q.mean(axis=0), np.std(q - q[0], axis=0)
    if not np.any(spread > 0):
        raise SignalError('no joint moves, so there is no period to find')

    def motion(rows: IndexArray) -> Array:
        return np.asarray((q[rows] - mean) / np.where(spread > 0, spread, 1.0))

    thin = max(1, len(q) // _COARSE_SAMPLES)
    coarse = motion(np.arange(0, len(q), thin))
    difference = _differences(coarse)  # (lags, joints), RMS
    last = int(len(coarse) / (1 + SMALLEST_OVERLAP))
    worst = difference[:last].max(axis=1)
    left = np.flatnonzero(worst > 0.5)
    if not len(left):
        raise SignalError('the motion is too slow or too short to repeat in this recording')
    start = int(left[0])
    # Between samples of the clock a repetition is off by up to half a step times the velocity.
    half_step = 0.5 * float(np.abs(np.diff(coarse, axis=0)).max())
    candidates = start + signal.argrelmin(worst[start:])[0]
    nearest = float(worst[candidates].min()) if len(candidates) else float('inf')
    for k in candidates[worst[candidates] <= tolerance + half_step]:
        delay, error = _refine(motion, len(q), int(k) * thin, thin)
        nearest = min(nearest, error)
        if error <= tolerance:
            return delay / rate
    how_near = (f'at its best delay it differs from itself by {100 * nearest:.3g} % of its RMS'
                if np.isfinite(nearest) else 'it never comes back')
    raise SignalError(
        f'the motion does not repeat: {how_near} ({100 * tolerance:.2g} % allowed, and a quarter '
        'of a period must have been recorded twice); record more periods, or give the period')


def _differences(q: Array) -> Array:
    """RMS over the overlap of q(t + delay) - q(t), for delays of 0 to N - 1 samples."""
    count = len(q)
    length = 2 * count
    spectrum = np.fft.rfft(q, length, axis=0)
    products = np.fft.irfft(np.abs(spectrum) ** 2, length, axis=0)[:count]
    energy = np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(q ** 2, axis=0)])
    delays = np.arange(count)
    sums = energy[count - delays] + energy[count] - energy[delays] - 2 * products
    return np.asarray(np.sqrt(np.maximum(sums, 0.0) / (count - delays)[:, None]))


def _refine(q: Callable[[IndexArray], Array], samples: int, lag: int,
            width: int) -> tuple[float, float]:
    """Return the delay [samples] of least difference near `lag`, and the worst joint's RMS."""
    count = samples - lag - 2 * width - 4
    if count < 10:
        return float(lag), float('inf')
    every = max(1, count // _COARSE_SAMPLES)
    index = np.arange(width + 1, width + 1 + count, every)
    here = q(index)

    def difference(delay: float) -> Array:
        whole = int(np.floor(delay))
        x = delay - whole  # four-point Lagrange interpolation between samples
        weights = (-x * (x - 1) * (x - 2) / 6, (x + 1) * (x - 1) * (x - 2) / 2,
                   -(x + 1) * x * (x - 2) / 2, (x + 1) * x * (x - 1) / 6)
        there = sum(w * q(index + whole + k) for k, w in zip((-1, 0, 1, 2), weights, strict=True))
        return np.asarray(np.sqrt(np.mean((there - here) ** 2, axis=0)))

    found = minimize_scalar(lambda delay: float(np.sum(difference(delay) ** 2)),
                            bounds=(lag - width, lag + width), method='bounded',
                            options={'xatol': 1e-4})
    return float(found.x), float(difference(found.x).max())


def average_periods(x: ArrayLike, period: int) -> PeriodAverage:
    """
    Average columns over periods and estimate the variance of the noise.

    With M whole periods of K samples s^2 = sum_m sum_k (x_m(k) - mean(k))^2 / ((M - 1) K). A last
    incomplete period counts too: the sum runs over all samples of phases seen at least twice,
    and each of these phases takes one degree of freedom.

    Parameters
    ----------
    x
        (N, c) at a clock with a whole number of samples a period.
    period
        Samples in a period.

    Raises
    ------
    SignalError
        No phase was seen twice.

    References
    ----------
    J. Swevers et al., 1997: Optimal robot excitation and identification.

    """
    x = np.asarray(x, dtype=float)
    if not 0 < period < len(x):
        raise SignalError(
            f'{len(x)} samples hold no repetition of a period of {period}; record more periods')
    phase = np.arange(len(x)) % period
    seen = np.bincount(phase, minlength=period)
    mean = np.empty((period, x.shape[1]))
    square = np.empty(x.shape[1])
    for j, column in enumerate(x.T):
        mean[:, j] = np.bincount(phase, column, minlength=period) / seen
        square[j] = np.sum((column - mean[phase, j]) ** 2)
    freedom = int(np.sum(seen - 1))
    return PeriodAverage(read_only(mean), read_only(square / freedom), len(x) // period)
