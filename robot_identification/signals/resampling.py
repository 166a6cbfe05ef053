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
"""Uniform samples from stamps that jitter, repeat or have gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.errors import SignalError, UnknownNameError
from robot_identification.signals.gaps import GAP_STEPS, median_step, split_at_gaps
from scipy.interpolate import CubicSpline

STAMPS = ('auto', 'recorded', 'uniform')
_BLOCK = 1 << 14
"""[samples] of one spline, which takes twenty times the memory of the signal."""
_OVERLAP = 100
"""[samples] by which a block overlaps its neighbours: the influence of an end falls by 0.27 a
sample, and 0.27^100 is below any digit."""
UNIFORM_TOLERANCE = 1e-3
"""Jitter, in steps, below which stamps count as uniform and nothing is interpolated."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """
    Signals on one uniform clock, in unbroken segments.

    Parameters
    ----------
    t
        (N,) [s]; steps are `1 / rate` inside a segment.
    columns
        (N, c) the signals.
    segments
        The unbroken runs of rows.
    rate
        [Hz]
    gaps, duplicates
        How many gaps split the recording, and how many repeated stamps were left out.
    dropped
        Seconds in segments that were too short to be used.
    stamps
        'recorded' or 'uniform': which stamps the samples were placed at.
    roughness
        Mean third difference at uniform stamps over that at recorded ones; NaN if not compared.
    more
        Further signals, each (N, d).

    """

    t: Array
    columns: Array
    segments: tuple[slice, ...]
    rate: float
    gaps: int
    duplicates: int
    dropped: float
    stamps: str
    roughness: float
    more: tuple[Array, ...] = ()


def resample(
    t: ArrayLike,
    columns: ArrayLike,
    *,
    step: float | None = None,
    gap_steps: float = GAP_STEPS,
    shortest: float = 0.0,
    stamps: str = 'auto',
    more: Sequence[ArrayLike] = (),
) -> Resampled:
    """
    Bring signals to a uniform clock by cubic splines; nothing is interpolated across a gap.

    A cubic spline is linear in the samples (noise stays Gaussian and unbiased, which PCHIP's
    slope limiter spoils) and leaves a component of frequency f all but unchanged, where linear
    interpolation takes off up to (pi f / rate)^2 / 2 of it: 2.4 % of 7 Hz at 100 Hz.

    Some recorders stamp samples of an even clock on arrival. Placed at such stamps, smooth
    positions become rough. With `stamps='auto'` the samples of a segment are taken as evenly
    spaced when that makes them clearly smoother (third differences less than half).

    Parameters
    ----------
    t
        (N,) [s], non-decreasing.
    columns
        (N, c)
    step
        Step of the clock [s]; the median step when not given.
    gap_steps
        A longer step, in median steps, is a gap.
    shortest
        Segments shorter than this [s] are dropped.
    stamps
        'auto', 'recorded' or 'uniform'.
    more
        Further signals, each (N, d), that do not decide about the stamps.

    Raises
    ------
    SignalError
        The stamps run backwards, or no segment is long enough.

    """
    if stamps not in STAMPS:
        raise UnknownNameError('choice of stamps', stamps, STAMPS)
    t = np.asarray(t, dtype=float)
    t, signals, duplicates = _without_duplicates(
        t, [np.asarray(each, dtype=float) for each in (columns, *more)])
    median = median_step(t)
    runs = split_at_gaps(t, gap_steps)
    shortest = max(shortest, 4.0 * median)
    kept = [run for run in runs if t[run][-1] - t[run][0] >= shortest]
    if not kept:
        longest = max(float(t[run][-1] - t[run][0]) for run in runs)
        raise SignalError(
            f'the longest unbroken run of the recording is {longest:.3g} s, and '
            f'{shortest:.3g} s are needed; record for longer'
            + (f', without the {len(runs) - 1} gaps' if len(runs) > 1 else ''))
    dropped = sum(float(t[run][-1] - t[run][0]) for run in runs if run not in kept)
    evens = [_even(t[run]) for run in kept]
    chosen, roughness = _choose_stamps(t, signals[0], kept, evens, stamps)
    if step is None:
        step = _mean_or_median(t, kept, evens, median, chosen)
    pieces = [_resample_run(t[run], even, [each[run] for each in signals], step, chosen)
              for run, even in zip(kept, evens)]
    ends = np.cumsum([0] + [len(clock) for clock, _ in pieces])
    joined = [_join([values[i] for _, values in pieces]) for i in range(len(signals))]
    return Resampled(
        t=_join([clock for clock, _ in pieces]),
        columns=joined[0],
        segments=tuple(slice(int(a), int(b)) for a, b in pairwise(ends)),
        rate=1.0 / step, gaps=len(runs) - 1, duplicates=duplicates, dropped=dropped,
        stamps=chosen, roughness=roughness, more=tuple(joined[1:]))


def _join(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _without_duplicates(t: Array, signals: list[Array]) -> tuple[Array, list[Array], int]:
    steps = np.diff(t)
    if np.any(steps < 0):
        k = int(np.argmax(steps < 0))
        raise SignalError(
            f'the stamps run backwards at sample {k + 1} ({t[k]:.6g} s, then {t[k + 1]:.6g} s); '
            'sort the recording')
    if np.all(steps > 0):
        return t, signals, 0
    keep = np.append(0, np.flatnonzero(steps) + 1)
    return t[keep], [each[keep] for each in signals], len(t) - len(keep)


def _even(t: Array) -> Array:
    """Return the evenly spaced stamps nearest to some, by least squares."""
    index = np.arange(len(t), dtype=float)
    slope, offset = np.polyfit(index, t - t[0], 1)
    return np.asarray(index * slope + (t[0] + offset))


def _mean_or_median(t: Array, runs: list[slice], evens: list[Array], median: float,
                    chosen: str) -> float:
    """Take the mean step where samples are even: then they need no interpolation at all."""
    jitter = max(float(np.abs(t[run] - even).max()) for run, even in zip(runs, evens))
    if len(runs) == 1 and (chosen == 'uniform' or jitter < UNIFORM_TOLERANCE * median):
        even = evens[0]
        return float((even[-1] - even[0]) / (len(even) - 1))
    return median


def _choose_stamps(
    t: Array, columns: Array, runs: list[slice], evens: list[Array], stamps: str
) -> tuple[str, float]:
    if stamps != 'auto':
        return stamps, float('nan')
    found = []
    for run, even in zip(runs, evens):
        step = (even[-1] - even[0]) / (len(even) - 1)
        jitter = float(np.abs(t[run] - even).max())
        if jitter < UNIFORM_TOLERANCE * step:
            return 'recorded', float('nan')
        found.append((run, even, step, jitter))
    rough = np.zeros(2)
    spread = np.std(columns - columns[0], axis=0)
    spread[spread == 0] = 1.0
    for run, even, step, jitter in found:
        clock = np.arange(t[run][0] + jitter, t[run][-1] - jitter, step)
        for k, times in enumerate((t[run], even)):
            bends = np.diff(_interpolate(times, columns[run], clock), 3, axis=0) / spread
            rough[k] += np.sum(bends ** 2)
    if rough[0] == 0:
        return 'recorded', float('nan')
    ratio = float(np.sqrt(rough[1] / rough[0]))
    return ('uniform' if ratio < 0.5 else 'recorded'), ratio


def _interpolate(t: Array, x: Array, clock: Array) -> Array:
    """Return signals (N, c) at other instants by cubic splines; of long ones, block by block."""
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


def _resample_run(t: Array, even: Array, signals: list[Array], step: float,
                  chosen: str) -> tuple[Array, list[Array]]:
    mean = (even[-1] - even[0]) / (len(t) - 1)
    if chosen == 'uniform' or np.abs(t - even).max() < UNIFORM_TOLERANCE * mean:
        t = even
        if abs(mean - step) * len(t) < UNIFORM_TOLERANCE * step:
            return t, signals
    count = int(np.floor((t[-1] - t[0]) / step * (1 + 1e-12))) + 1
    clock = t[0] + step * np.arange(count)
    inside = np.minimum(clock, t[-1])
    return clock, [_interpolate(t, each, inside) for each in signals]
