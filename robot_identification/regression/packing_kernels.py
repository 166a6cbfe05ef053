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
"""Compiled kernels that compute decimated regression rows."""

from numba import njit
import numpy as np
from robot_identification.dynamics.kernels import LANES, OPTIONS, regressor_lanes, SLOTS

CHUNK = 32
"""Number of samples whose columns are stored before decimation. For seven joints they take 60 kB,
which fits into the second-level cache."""


@njit(**OPTIONS)
def add_decimated(q, v, a, parents, rotations, translations, axes, prismatic, gravity,
                  extra, tau, columns, sources, extra_columns, extra_sources, factors, tau_columns,
                  taps, factor, first, out):
    """
    Add the contributions of consecutive samples to the decimated rows, out (R, C).

    The decimation filter has the impulse response h (`taps`) and the decimation factor D
    (`factor`). With the row y_s (C,) of regressor entries and torques at sample s,

        out_r += sum over s of h[s - r D] y_s,    0 <= s - r D < length of h.

    The samples of this call have the numbers s = first, first + 1, ... The row y_s consists of:

        columns[c]          entry sources[c] of the flattened regressor (n, 10 n)
        extra_columns[c]    factors[c] times entry extra_sources[c] of `extra` (N, e)
        tau_columns[j]      torque of joint j
    """
    n = len(parents)
    links, table = np.zeros((n + 1, SLOTS, LANES)), np.zeros((n, n, 10, LANES))
    entries = table.reshape((n * 10 * n, LANES))
    width, length = out.shape[1], len(taps)
    packed = np.empty((CHUNK, width))
    for begin in range(0, len(q), CHUNK):
        count = min(CHUNK, len(q) - begin)
        for k in range(0, count, LANES):
            rows = slice(begin + k, begin + min(k + LANES, count))
            regressor_lanes(q[rows], v[rows], a[rows], parents, rotations, translations, axes,
                            prismatic, gravity, 0, links, table)
            _pack(entries, columns, sources, packed[k:k + LANES])
        for k in range(count):
            row, s = packed[k], begin + k
            for c in range(len(extra_columns)):
                row[extra_columns[c]] = factors[c] * extra[s, extra_sources[c]]
            for j in range(n):
                row[tau_columns[j]] = tau[s, j]
        start = first + begin
        lowest = max(0, (start - length + factor) // factor)
        for r in range(lowest, min(len(out), (start + count - 1) // factor + 1)):
            shift = start - r * factor
            low, high = max(0, -shift), min(count, length - shift)
            out[r] += np.dot(taps[low + shift:high + shift], packed[low:high])


@njit(forceinline=True, **OPTIONS)
def _pack(entries, columns, sources, packed):
    """
    Copy entries (n 10 n, LANES) of regressors to columns of `packed` (LANES, C).

    packed[k, columns[c]] = entries[sources[c], k].
    """
    for c in range(len(columns)):
        row, column = entries[sources[c]], columns[c]
        for k in range(LANES):
            packed[k, column] = row[k]
