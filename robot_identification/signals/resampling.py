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
"""Runs between gaps and standstills, filling of gaps, and resampling to a uniform clock."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from robot_identification.arrays import Array, consecutive_slices, true_runs
from robot_identification.errors import SignalError, UnknownNameError
from robot_identification.recording.stamps import GAP_STEPS
from scipy.interpolate import CubicSpline

STAMPS = ('auto', 'recorded', 'uniform')
FIT_SAMPLES = 20_000
"""Largest number of samples from which a period, a cut-off or a scale is estimated: 20 s at 1 kHz,
whose errors are far below the tolerances of these estimates."""
SHORTEST = 4.0
"""Minimum duration of a run without gaps [median steps]; shorter runs are dropped."""
UNIFORM_TOLERANCE = 1e-3
"""Largest jitter [steps] of stamps that count as uniform and need no interpolation."""
_BLOCK = 1 << 14
"""Number of samples per spline; a spline needs twenty times the memory of its samples."""
_OVERLAP = 100
"""Number of samples by which a spline extends into the neighbouring blocks. The influence of its
ends decreases by a factor of 0.27 per sample, and 0.27^100 is below the machine precision."""
PART_OF_PERIOD = 1 / 8
"""Longest gap that is filled, relative to the period of the position filter's cut-off. The motion
is below half of the cut-off (`position_cutoff`). Up to there, a cubic that is fitted to both sides
of the gap differs from a sine by less than a thousandth of its amplitude."""
DEGREE = 3    # of the polynomials
MIN_SAMPLES = 2 * (DEGREE + 1)
"""Minimum number of samples on each side of the gap to which the polynomial is fitted."""
SLOW = 2e-3
"""Fraction of a joint's highest speed below which the joint counts as standing still."""
OF_FASTEST = 0.25
"""Fraction of the highest speed of all joints that replaces a lower highest speed of a joint: the
speed of a joint that never moves is noise."""
SHORTEST_REST = 0.1
"""Minimum duration of a standstill [s]; velocity reversals are shorter."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """
    Signals at a uniform rate, in segments without gaps.

    Parameters
    ----------
    t
        Stamps, (N,) [s]; the step within a segment is `1 / rate`.
    signals
        The signals, (N, c) each.
    segments
        Rows of each segment.
    rate
        Sampling rate [Hz].
    gaps
        Number of gaps that split the recording.
    dropped
        Total duration of the segments that were too short [s].
    stamps
        'recorded' if the recorded stamps were used, 'uniform' if the samples were taken as evenly
        spaced.

    """

    t: Array
    signals: tuple[Array, ...]
    segments: tuple[slice, ...]
    rate: float
    gaps: int
    dropped: float
    stamps: str


class _Run(NamedTuple):
    """Samples between two gaps."""

    t: Array    # as recorded
    even: Array    # evenly spaced stamps, fitted to t by least squares
    step: float    # step of the evenly spaced stamps [s]
    jitter: float    # largest difference between both [s]
    signals: list[Array]

    @classmethod
    def of(cls, t: Array, signals: list[Array]) -> _Run:
        """Return a run with evenly spaced stamps fitted to the recorded ones."""
        index = np.arange(len(t), dtype=float)
        slope, offset = np.polyfit(index, t - t[0], 1)
        even = np.asarray(index * slope + (t[0] + offset))
        return cls(t, even, float((even[-1] - even[0]) / (len(t) - 1)),
                   float(np.abs(t - even).max()), signals)

    @property
    def is_even(self) -> bool:
        """Whether the stamps count as uniform."""
        return self.jitter < UNIFORM_TOLERANCE * self.step

    def resample(self, step: float, stamps: str) -> list[Array]:
        """Return stamps with this step, and the signals at these stamps."""
        t = self.t
        if stamps == 'uniform' or self.is_even:
            t = self.even
            if abs(self.step - step) * len(t) < UNIFORM_TOLERANCE * step:
                return [t, *self.signals]
        count = int(np.floor((t[-1] - t[0]) / step * (1 + 1e-12))) + 1
        clock = t[0] + step * np.arange(count)
        inside = np.minimum(clock, t[-1])
        return [clock, *(_interpolate(t, each, inside) for each in self.signals)]


def resample(
    t: ArrayLike, *signals: ArrayLike, step: float | None = None, stamps: str = 'auto'
) -> Resampled:
    """
    Return signals resampled at a uniform rate by cubic splines, separately between gaps.

    A cubic spline is linear in the samples, so noise stays Gaussian and unbiased; PCHIP, which
    limits slopes, is not linear. A spline hardly attenuates a component of frequency f. Linear
    interpolation attenuates it by up to (pi f / rate)^2 / 2, which is 2.4 % for 7 Hz at 100 Hz.

    Some recorders stamp samples on arrival: the stamps jitter although the samples are evenly
    spaced, and smooth positions look rough. With `stamps='auto'` the samples are taken as evenly
    spaced if this halves the third differences of the first signal.

    Parameters
    ----------
    t
        Stamps, (N,) [s], strictly increasing.
    *signals
        Signals, (N, c) each.
    step
        Step of the new stamps [s]. Default: the mean step if the recording is a single run with
        uniform stamps, which then needs no interpolation; else the median step.
    stamps
        'recorded' to use the stamps, 'uniform' to take the samples as evenly spaced, 'auto' to
        decide as described above.

    Raises
    ------
    SignalError
        The stamps do not increase, or no run without gaps is long enough.
    UnknownNameError
        `stamps` has another value.

    Examples
    --------
    >>> uniform = resample(recording.t, recording.q, recording.tau)
    >>> q, tau = uniform.signals

    """
    if stamps not in STAMPS:
        raise UnknownNameError('choice of stamps', stamps, STAMPS)
    time = np.asarray(t, dtype=float)
    arrays = [np.asarray(each, dtype=float) for each in signals]
    back = np.diff(time) <= 0
    if np.any(back):
        k = int(np.argmax(back))
        raise SignalError(
            f'the stamps do not increase at sample {k + 1} ({time[k]:.6g} s, then '
            f'{time[k + 1]:.6g} s); sort the recording')
    shortest = SHORTEST * median_step(time)
    parts = split_at_gaps(time)
    durations = [float(time[part.stop - 1] - time[part.start]) for part in parts]
    runs = [_Run.of(time[part], [each[part] for each in arrays])
            for part, duration in zip(parts, durations) if duration >= shortest]
    if not runs:
        raise SignalError(
            f'the longest unbroken run of the recording is {max(durations):.3g} s, and '
            f'{shortest:.3g} s are needed; record for longer'
            + (f', without the {len(parts) - 1} gaps' if len(parts) > 1 else ''))
    if stamps == 'auto':
        stamps = 'uniform' if _is_smoother_at_even_stamps(runs) else 'recorded'
    if step is None:
        step = (runs[0].step if len(runs) == 1 and (stamps == 'uniform' or runs[0].is_even)
                else median_step(time))
    resampled = [run.resample(step, stamps) for run in runs]
    clock, *columns = (each[0] if len(runs) == 1 else np.concatenate(each)
                       for each in zip(*resampled))
    return Resampled(
        clock, tuple(columns), consecutive_slices(len(run[0]) for run in resampled), 1.0 / step,
        gaps=len(parts) - 1, stamps=stamps,
        dropped=sum(duration for duration in durations if duration < shortest))


def _is_smoother_at_even_stamps(runs: list[_Run]) -> bool:
    """Return whether evenly spaced stamps halve the third differences of the first signal."""
    if any(run.is_even for run in runs):
        return False
    signal = np.concatenate([run.signals[0] for run in runs])
    spread = np.std(signal - signal[0], axis=0)
    spread[spread == 0] = 1.0
    roughness = np.zeros(2)
    for run in runs:
        clock = np.arange(run.t[0] + run.jitter, run.t[-1] - run.jitter, run.step)
        for k, t in enumerate((run.t, run.even)):
            bends = np.diff(_interpolate(t, run.signals[0], clock), 3, axis=0) / spread
            roughness[k] += np.sum(bends ** 2)
    return bool(np.sqrt(roughness[1]) < 0.5 * np.sqrt(roughness[0]))


def _interpolate(t: Array, x: Array, clock: Array) -> Array:
    """Return signals at other instants by cubic splines, block by block for long signals."""
    if len(t) <= 2 * _BLOCK:
        return np.asarray(CubicSpline(t, x)(clock))
    out = np.empty((len(clock), *x.shape[1:]))
    for start in range(0, len(t) - 1, _BLOCK):
        stop = start + _BLOCK
        last = t[stop] if stop < len(t) - 1 else np.inf
        inside = slice(*np.searchsorted(clock, (t[start] if start else -np.inf, last)))
        near = slice(max(0, start - _OVERLAP), stop + _OVERLAP)
        out[inside] = CubicSpline(t[near], x[near])(clock[inside])
    return out


def median_step(t: Array) -> float:
    """Return the median step of the stamps [s]."""
    return float(np.median(np.diff(t)))


def split_at_gaps(t: Array) -> list[slice]:
    """Return the runs without gaps; a gap is a step above `GAP_STEPS` median steps."""
    ends = np.flatnonzero(np.diff(t) > GAP_STEPS * median_step(t)) + 1
    return [slice(int(a), int(b)) for a, b in pairwise([0, *ends, len(t)])]


def fill_gaps(t: Array, columns: Array, max_length: float) -> tuple[Array, Array, Array]:
    """
    Return signals whose short gaps are filled with samples of local cubic polynomials.

    The polynomial is fitted by least squares to the samples within one gap length on each side, at
    least eight per side. Unlike an interpolating spline, it does not amplify noise in the gap.

    Parameters
    ----------
    t
        Stamps, (N,) [s], strictly increasing.
    columns
        Signals, (N, c).
    max_length
        Length of the longest gap that is filled [s].

    Returns
    -------
    t, columns, gaps
        Stamps, (M,) [s], and signals, (M, c), with the added samples; the stamp before each of the
        k filled gaps and the length of the gap, (k, 2) [s].

    """
    step = median_step(t)
    runs = split_at_gaps(t)
    times, values, filled = [t[runs[0]]], [columns[runs[0]]], []
    for before, after in pairwise(runs):
        first, last = float(t[before.stop - 1]), float(t[after.start])
        length = last - first
        size = before.stop - before.start
        if length <= max_length and min(size, after.stop - after.start) >= MIN_SAMPLES:
            inner = np.linspace(first, last, max(2, round(length / step)) + 1)[1:-1]
            reach = max(MIN_SAMPLES, int(np.ceil(length / step)))
            near = np.r_[before, after][max(0, size - reach):size + reach]
            times.append(inner)
            values.append(_cubic(t[near], columns[near], inner))
            filled.append((first, length))
        times.append(t[after])
        values.append(columns[after])
    return np.concatenate(times), np.concatenate(values), np.array(filled).reshape(-1, 2)


def _cubic(t: Array, columns: Array, instants: Array) -> Array:
    """Fit a cubic to each column, and return its values at other instants, (len(instants), c)."""
    centre, half = (t[0] + t[-1]) / 2, (t[-1] - t[0]) / 2
    coefficients = np.polyfit((t - centre) / half, columns, DEGREE)
    return np.asarray(np.vander((instants - centre) / half, DEGREE + 1) @ coefficients)


def find_rests(v: Array, rate: float, highest: Array) -> tuple[list[slice], NDArray[np.bool_]]:
    """
    Return the runs of rows between standstills of the whole arm, and a mask of resting joints.

    At standstill, the friction torque lies anywhere between minus and plus the breakaway torque,
    and the sign of the measured velocity is random. No model of sliding friction holds there.

    Parameters
    ----------
    v
        Velocities of one run without gaps, (N, n) [rad/s or m/s].
    rate
        Sampling rate [Hz].
    highest
        Highest speed of each joint in the recording, (n,).

    Returns
    -------
    moving, rests
        The runs in which any joint moves, and the mask of the joints that rest for at least
        `SHORTEST_REST`, (N, n).

    """
    rests = np.abs(v) < SLOW * np.maximum(highest, OF_FASTEST * highest.max())
    moving = runs_between(np.all(rests, axis=1), rate)
    for column in rests.T:
        for run in runs_between(column, rate):
            column[run] = False
    return moving, rests


def runs_between(slow: NDArray[np.bool_], rate: float) -> list[slice]:
    """
    Return the runs of rows between standstills of at least `SHORTEST_REST`.

    Parameters
    ----------
    slow
        Mask of the rows whose speed is below the standstill threshold, (N,).
    rate
        Sampling rate [Hz].

    """
    moving = np.ones(len(slow), dtype=bool)
    for run in true_runs(slow):
        moving[run] = run.stop - run.start < SHORTEST_REST * rate
    return true_runs(moving)
