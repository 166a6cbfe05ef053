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
"""Compiled kernels: decimated regression rows of many samples, only what the fit needs of them."""

from __future__ import annotations

from numba import njit
import numpy as np
from robot_identification.dynamics.kernels import LANES, OPTIONS, regressor_lanes, SLOTS

CHUNK = 32
"""Samples whose columns are made before they are added up: 60 kB for seven joints."""


@njit(**OPTIONS)
def add_decimated(q, v, a, parents, rotations, translations, axes, prismatic, gravity,
                  extra, tau, places, sources, extra_places, extra_sources, factors, tau_places,
                  taps, factor, first, out):
    """
    Add what consecutive samples give to decimated rows, out (R, C).

    Parallel decimation by a filter of impulse response h (`taps`) and D (`factor`): with y_s the
    packed columns of sample s, regressor and torques alike,

        out_r += sum over s of h[s - r D] y_s,    0 <= s - r D < length of h,

    where the samples of this call are s = `first` and following. Packed column places[c] is entry
    sources[c] of the flattened regressor (n, 10 n), column extra_places[c] is factors[c] times
    entry extra_sources[c] of `extra` (N, e), and column tau_places[j] is the torque of joint j.
    """
    n = len(parents)
    links, table = np.zeros((n, SLOTS, LANES)), np.zeros((n, n, 10, LANES))
    entries = table.reshape((n * 10 * n, LANES))
    width, length = out.shape[1], len(taps)
    packed = np.empty((CHUNK, width))
    for begin in range(0, len(q), CHUNK):
        count = min(CHUNK, len(q) - begin)
        for k in range(0, count, LANES):
            rows = slice(begin + k, begin + min(k + LANES, count))
            regressor_lanes(q[rows], v[rows], a[rows], parents, rotations, translations, axes,
                            prismatic, gravity, 0, links, table)
            _pack(entries, places, sources, packed[k:k + LANES])
        for k in range(count):
            row, s = packed[k], begin + k
            for c in range(len(extra_places)):
                row[extra_places[c]] = factors[c] * extra[s, extra_sources[c]]
            for j in range(n):
                row[tau_places[j]] = tau[s, j]
        start = first + begin
        lowest = max(0, (start - length + factor) // factor)
        for r in range(lowest, min(len(out), (start + count - 1) // factor + 1)):
            shift = start - r * factor
            _add_rows(out[r], taps, packed, max(0, -shift), min(count, length - shift), shift)


@njit(forceinline=True, **OPTIONS)
def _pack(entries, places, sources, packed):
    """
    Fill columns of `packed` (LANES, C) with entries (n 10 n, LANES) of regressors.

    packed[k, places[c]] = entries[sources[c], k].
    """
    for c in range(len(places)):
        row, place = entries[sources[c]], places[c]
        for k in range(LANES):
            packed[k, place] = row[k]


@njit(**OPTIONS)
def _add_rows(target, taps, packed, begin, end, shift):
    """
    Add rows of `packed`, weighted by the filter, to `target` (C,).

    target += sum of taps[k + shift] packed[k] over k = begin, ..., end - 1, four at a time.
    """
    k = begin
    while k + 4 <= end:
        t0, t1, t2, t3 = (taps[k + shift], taps[k + shift + 1], taps[k + shift + 2],
                          taps[k + shift + 3])
        p0, p1, p2, p3 = packed[k], packed[k + 1], packed[k + 2], packed[k + 3]
        for c in range(len(target)):
            target[c] += t0 * p0[c] + t1 * p1[c] + t2 * p2[c] + t3 * p3[c]
        k += 4
    while k < end:
        t0, p0 = taps[k + shift], packed[k]
        for c in range(len(target)):
            target[c] += t0 * p0[c]
        k += 1
