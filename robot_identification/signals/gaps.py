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
"""Gaps in the stamps of a recording: found, and short ones filled by local polynomials."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.errors import SignalError

GAP_STEPS = 4.0
"""Steps of the stamps longer than this many median steps are gaps."""
PART_OF_PERIOD = 1 / 8
"""Longest gap that is filled, in periods of the position filter's cut-off. Motion is slower than
half of the cut-off (`position_cutoff`); there a cubic through both sides of such a gap misses a
sine by less than a thousandth of its amplitude."""
DEGREE = 3
MIN_SAMPLES = 2 * (DEGREE + 1)
"""Samples on each side that the polynomial is fitted to, at least."""


def median_step(t: ArrayLike) -> float:
    """Return the median step [s] of stamps, repeated stamps left out."""
    steps = np.diff(np.asarray(t, dtype=float))
    steps = steps[steps > 0]
    if not len(steps):
        raise SignalError('the stamps do not advance: a recording needs increasing stamps')
    return float(np.median(steps))


def split_at_gaps(t: ArrayLike, gap_steps: float = GAP_STEPS) -> list[slice]:
    """
    Split increasing stamps where a step is longer than `gap_steps` median steps.

    Parameters
    ----------
    t
        (N,) [s], strictly increasing.
    gap_steps
        How many median steps are a gap.

    """
    t = np.asarray(t, dtype=float)
    longest = gap_steps * median_step(t)
    ends = np.flatnonzero(np.diff(t) > longest) + 1
    return [slice(int(a), int(b)) for a, b in pairwise([0, *ends, len(t)])]


@dataclass(frozen=True, eq=False)
class FilledGaps:
    """
    Signals with samples added in their short gaps.

    Parameters
    ----------
    t
        (N,) [s].
    columns
        (N, c).
    gaps
        Stamp before each filled gap, and its length, (k, 2) [s].

    """

    t: Array
    columns: Array
    gaps: Array


def fill_gaps(
    t: Array, columns: Array, max_length: float, gap_steps: float = GAP_STEPS
) -> FilledGaps:
    """
    Fill gaps that are short against the motion with samples of a local cubic.

    The cubic is fitted by least squares to the samples within a gap's length on both sides, eight
    at least: an interpolating spline would extrapolate their noise into the gap.

    Parameters
    ----------
    t
        Stamps, (N,) [s], strictly increasing.
    columns
        Signals, (N, c).
    max_length
        Gaps up to this length are filled [s].
    gap_steps
        A step longer than this many median steps is a gap.

    """
    step = median_step(t)
    runs = split_at_gaps(t, gap_steps)
    times, values, filled = [t[runs[0]]], [columns[runs[0]]], []
    for before, after in pairwise(runs):
        first, last = float(t[before.stop - 1]), float(t[after.start])
        length = last - first
        shorter = min(before.stop - before.start, after.stop - after.start)
        if length <= max_length and shorter >= MIN_SAMPLES:
            inner = np.linspace(first, last, max(2, round(length / step)) + 1)[1:-1]
            reach = max(MIN_SAMPLES, int(np.ceil(length / step)))
            left = slice(max(before.start, before.stop - reach), before.stop)
            right = slice(after.start, min(after.stop, after.start + reach))
            near = np.concatenate([t[left], t[right]])
            times.append(inner)
            values.append(_cubic(near, np.vstack([columns[left], columns[right]]), inner))
            filled.append((first, length))
        times.append(t[after])
        values.append(columns[after])
    return FilledGaps(np.concatenate(times), np.concatenate(values),
                      np.array(filled).reshape(-1, 2))


def _cubic(t: Array, columns: Array, at: Array) -> Array:
    """Return the values at some instants of the cubics fitted to columns, (len(at), c)."""
    centre, half = (t[0] + t[-1]) / 2, (t[-1] - t[0]) / 2
    powers = np.vander((t - centre) / half, DEGREE + 1)
    coefficients = np.linalg.lstsq(powers, columns, rcond=None)[0]
    return np.asarray(np.vander((at - centre) / half, DEGREE + 1) @ coefficients)
