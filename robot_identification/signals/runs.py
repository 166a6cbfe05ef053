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
"""Runs of samples between gaps and standstills, and filling of short gaps by polynomials."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, true_runs
from robot_identification.recording.stamps import GAP_STEPS

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
