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
"""Detection of a motion's period, averages over periods, and the noise variance."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, IndexArray
from robot_identification.errors import SignalError
from robot_identification.signals.resampling import FIT_SAMPLES, Resampled
from scipy import fft
from scipy.optimize import minimize_scalar

REPEAT_TOLERANCE = 0.02
"""Largest RMS difference between two periods, relative to the RMS of the motion."""
SMALLEST_OVERLAP = 0.25
"""Minimum part of a period that is recorded twice, as a fraction of the period."""


def choose_period(
    uniform: Resampled, period: float | None, needed: bool, notes: dict[str, object]
) -> float | None:
    """
    Return the specified or detected period of the motion [s]; None without a period.

    Parameters
    ----------
    uniform
        Resampled signals, the positions first.
    period
        The specified period [s]; None to detect it.
    needed
        Whether it is an error if the motion has no period.
    notes
        Notes on the processing, to which the period and its source are added.

    Raises
    ------
    SignalError
        A period is needed and the motion is aperiodic or the recording has gaps; or the specified
        period is shorter than two samples.

    """
    if len(uniform.segments) > 1:
        if needed:
            raise SignalError(
                f'the recording has {uniform.gaps} gaps; averaging and the Fourier methods need '
                "one unbroken run: cut a window, or use the method 'butterworth'")
        return None
    reason = 'given'
    if period is None:
        try:
            period = detect_period(uniform.signals[0], uniform.rate)
            reason = 'found in the positions'
        except SignalError as error:
            if needed:
                raise
            notes['period_reason'] = str(error)
            return None
    elif not period > 2 / uniform.rate:
        raise SignalError(f'a period of {period!r} s is not a period at {uniform.rate:.4g} Hz')
    notes |= {'period_s': float(period), 'period_reason': reason}
    return float(period)


def detect_period(q: Array, rate: float) -> float:
    """
    Return the period after which all joints repeat their motion [s].

    The RMS of the difference q(t + delay) - q(t) is computed for all delays at once from the
    autocorrelation of the positions. Small delays, up to the first large difference, are ignored.
    The period is the smallest delay after them at which the difference has a local minimum within
    the tolerance. It is refined between samples. The recording must last at least 1.25 periods.

    Parameters
    ----------
    q
        Positions at a uniform rate, (N, n) [rad or m].
    rate
        Sampling rate [Hz].

    Raises
    ------
    SignalError
        The motion is aperiodic; the message states the smallest difference found.

    """
    mean, spread = q.mean(axis=0), np.std(q - q[0], axis=0)
    if not np.any(spread > 0):
        raise SignalError('no joint moves, so no period can be detected')

    def motion(rows: IndexArray) -> Array:
        """Return some rows of the positions, with zero mean and unit variance."""
        return np.asarray((q[rows] - mean) / np.where(spread > 0, spread, 1.0))

    thin = max(1, len(q) // FIT_SAMPLES)
    coarse = motion(np.arange(0, len(q), thin))
    difference = _differences(coarse)  # (lags, joints), RMS
    last = int(len(coarse) / (1 + SMALLEST_OVERLAP))
    worst = difference[:last].max(axis=1)
    left = np.flatnonzero(worst > 0.5)
    if not len(left):
        raise SignalError('the motion is too slow or too short to repeat in this recording')
    start = int(left[0])
    # The true period may lie up to half a sample from a delay, so the difference there is larger.
    half_step = 0.5 * float(np.abs(np.diff(coarse, axis=0)).max())
    slopes = np.diff(worst[start:])
    candidates = start + 1 + np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] > 0))
    nearest = float(worst[candidates].min()) if len(candidates) else float('inf')
    for k in candidates[worst[candidates] <= REPEAT_TOLERANCE + half_step]:
        delay, error = _refine(motion, len(q), int(k) * thin, thin)
        nearest = min(nearest, error)
        if error <= REPEAT_TOLERANCE:
            return delay / rate
    how_near = (f'shifted by its best period it differs by {100 * nearest:.3g} % of its RMS'
                if np.isfinite(nearest) else 'it never returns')
    raise SignalError(
        f'the motion does not repeat: {how_near} ({100 * REPEAT_TOLERANCE:.2g} % allowed, and a '
        'quarter of a period must be recorded twice); record more periods, or give the period')


def _differences(q: Array) -> Array:
    """Return the RMS of q(t + delay) - q(t) for delays of 0 to N - 1 samples, (N, c)."""
    count = len(q)
    length = fft.next_fast_len(2 * count, real=True)    # up to ten times faster than 2 N
    spectrum = fft.rfft(q, length, axis=0)
    products = fft.irfft(np.abs(spectrum) ** 2, length, axis=0)[:count]
    energy = np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(q ** 2, axis=0)])
    delays = np.arange(count)
    sums = energy[count - delays] + energy[count] - energy[delays] - 2 * products
    return np.asarray(np.sqrt(np.maximum(sums, 0.0) / (count - delays)[:, None]))


def _refine(q: Callable[[IndexArray], Array], samples: int, lag: int,
            width: int) -> tuple[float, float]:
    """Return the delay near `lag` with the smallest difference, [samples], and its largest RMS."""
    count = samples - lag - 2 * width - 4
    if count < 10:
        return float(lag), float('inf')
    every = max(1, count // FIT_SAMPLES)
    index = np.arange(width + 1, width + 1 + count, every)
    here = q(index)

    def difference(delay: float) -> Array:
        """Return the RMS of q(t + delay) - q(t) of each column, for a delay in samples."""
        lower = int(np.floor(delay))
        x = delay - lower  # four-point Lagrange interpolation between samples
        weights = (-x * (x - 1) * (x - 2) / 6, (x + 1) * (x - 1) * (x - 2) / 2,
                   -(x + 1) * x * (x - 2) / 2, (x + 1) * x * (x - 1) / 6)
        there = sum(w * q(index + lower + k) for k, w in zip((-1, 0, 1, 2), weights, strict=True))
        return np.asarray(np.sqrt(np.mean((there - here) ** 2, axis=0)))

    result = minimize_scalar(lambda delay: float(np.sum(difference(delay) ** 2)),
                             bounds=(lag - width, lag + width), method='bounded',
                             options={'xatol': 1e-4})
    return float(result.x), float(difference(result.x).max())


def average_periods(x: ArrayLike, period: int) -> tuple[Array, Array]:
    """
    Return the mean of each column over the periods, and the variance of its noise.

    For M complete periods of P samples, s^2 = sum_m sum_p (x_m(p) - mean(p))^2 / ((M - 1) P). An
    incomplete last period is included: the degrees of freedom are then the number of samples minus
    the number of phases p.

    Parameters
    ----------
    x
        Signals at a uniform rate, (N, c), with a whole number of samples per period.
    period
        Number of samples per period, P.

    Returns
    -------
    mean
        Mean of each phase over the periods in which it was recorded, (P, c).
    variance
        Variance s^2 of one sample about the mean of its phase, (c,); a mean over M periods has the
        variance s^2 / M.

    Raises
    ------
    SignalError
        No phase was recorded twice.

    References
    ----------
    J. Swevers et al., 1997: Optimal robot excitation and identification.

    Examples
    --------
    >>> mean, variance = average_periods(np.array([[1.0], [3.0], [1.2], [2.8]]), period=2)
    >>> mean.ravel()
    array([1.1, 2.9])

    """
    x = np.asarray(x, dtype=float)
    if not 0 < period < len(x):
        raise SignalError(
            f'{len(x)} samples contain no repetition of a period of {period}; record more periods')
    phase = np.arange(len(x)) % period
    seen, columns = np.bincount(phase), np.ascontiguousarray(x.T)
    mean = np.array([np.bincount(phase, column) for column in columns]) / seen    # (c, P)
    square = np.sum((columns - mean[:, phase]) ** 2, axis=1)
    return np.ascontiguousarray(mean.T), square / np.sum(seen - 1)
