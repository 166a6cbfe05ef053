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
"""Short gaps in a recording, bridged by local polynomials."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from robot_identification.arrays import Array
from robot_identification.scratch import stacked
from robot_identification.signals.resampling import GAP_STEPS, median_step, split_at_gaps

PART_OF_PERIOD = 1 / 8
"""Longest gap that is bridged, in periods of the position filter's cut-off. Motion is slower than
half of the cut-off (`position_cutoff`); there a cubic through both sides of such a gap misses a
sine by less than a thousandth of its amplitude."""
DEGREE = 3
FEWEST = 2 * (DEGREE + 1)
"""Samples on each side that the polynomial is fitted to, at least."""


@dataclass(frozen=True, eq=False)
class Bridged:
    """
    A recording with samples put into its short gaps.

    Parameters
    ----------
    t
        (N,) [s].
    columns
        (N, c).
    gaps
        Stamp before each bridged gap, and its length, (k, 2) [s].

    """

    t: Array
    columns: Array
    gaps: Array


def bridge(t: Array, columns: Array, longest: float, gap_steps: float = GAP_STEPS) -> Bridged:
    """
    Put samples into gaps that are short against the motion.

    A spline through the samples beside a gap would follow their noise into it, the farther the
    longer the gap. The values are therefore those of a cubic, fitted by least squares to the
    samples within a gap's length on both sides, eight at least.

    Parameters
    ----------
    t
        Stamps, (N,) [s], strictly increasing.
    columns
        Signals, (N, c).
    longest
        Gaps up to this length are bridged [s].
    gap_steps
        A step longer than so many median steps is a gap.

    """
    step = median_step(t)
    runs = split_at_gaps(t, gap_steps)
    times, values, found = [t[runs[0]]], [columns[runs[0]]], []
    for before, after in pairwise(runs):
        first, last = float(t[before.stop - 1]), float(t[after.start])
        length = last - first
        if length <= longest and min(before.stop - before.start,
                                     after.stop - after.start) >= FEWEST:
            inner = np.linspace(first, last, max(2, round(length / step)) + 1)[1:-1]
            reach = max(FEWEST, int(np.ceil(length / step)))
            left = slice(max(before.start, before.stop - reach), before.stop)
            right = slice(after.start, min(after.stop, after.start + reach))
            near = np.concatenate([t[left], t[right]])
            times.append(inner)
            values.append(_cubic(near, np.vstack([columns[left], columns[right]]), inner))
            found.append((first, length))
        times.append(t[after])
        values.append(columns[after])
    return Bridged(stacked(times), stacked(values), np.array(found).reshape(-1, 2))


def _cubic(t: Array, columns: Array, at: Array) -> Array:
    """Return the values at some instants of the cubics fitted to columns, (len(at), c)."""
    centre, half = (t[0] + t[-1]) / 2, (t[-1] - t[0]) / 2
    powers = np.vander((t - centre) / half, DEGREE + 1)
    coefficients = np.linalg.lstsq(powers, columns, rcond=None)[0]
    return np.asarray(np.vander((at - centre) / half, DEGREE + 1) @ coefficients)
