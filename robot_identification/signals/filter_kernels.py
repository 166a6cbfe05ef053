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
"""Compiled kernels: filters and differences of all columns of a signal, row by row."""

from __future__ import annotations

from numba import njit
import numpy as np

_OPTIONS = {'cache': True, 'nogil': True, 'error_model': 'numpy'}
"""Without contraction of products and sums: digits are those of SciPy and NumPy."""
_PIECE = 512
"""Numbers that are worked on at once: they stay in a core's first cache."""


@njit(**_OPTIONS)
def filter_rows(sections, x, states, step, out):
    """
    Filter the columns of x (N, c) by second-order sections into out (N, c), which may be x.

    The sections (s, 5, c) are b0, b1, b2, a1, a2 of each column, the states (s, 2, c) those of the
    direct form II transposed, as in `scipy.signal.sosfilt`:
    y = b0 x + z0, z0 = b1 x - a1 y + z1, z1 = b2 x - a2 y. With a step of -1 rows are taken from
    the last to the first.
    """
    count, width = x.shape
    parts = np.empty((7, width))
    b0, b1, b2, a1, a2 = parts[0], parts[1], parts[2], parts[3], parts[4]
    z0, z1 = parts[5], parts[6]
    for first in range(0, count, _PIECE):
        last = min(first + _PIECE, count)
        for s in range(len(sections)):
            source = x if s == 0 else out
            parts[:5], parts[5:] = sections[s], states[s]
            for k in range(first, last):
                at = k if step > 0 else count - 1 - k
                for j in range(width):    # side by side: a column alone waits for its last row
                    value = source[at, j]
                    y = b0[j] * value + z0[j]
                    z0[j] = b1[j] * value - a1[j] * y + z1[j]
                    z1[j] = b2[j] * value - a2[j] * y
                    out[at, j] = y
            states[s] = parts[5:]


@njit(**_OPTIONS)
def difference_rows(x, first_stencil, second_stencil, rate, first, second):
    """
    Fill first and second (N, c) with central differences of x (N + 2 h, c).

    Stencils are (2 h + 1,).
    """
    square = rate * rate
    width = x.shape[1]
    flat, slopes, bends = x.reshape(-1), first.reshape(-1), second.reshape(-1)
    slope, bend = np.empty(_PIECE), np.empty(_PIECE)
    for begin in range(0, len(slopes), _PIECE):
        count = min(_PIECE, len(slopes) - begin)
        slope[:] = 0.0
        bend[:] = 0.0
        for i in range(len(first_stencil)):
            c, d, at = first_stencil[i], second_stencil[i], begin + i * width
            for m in range(count):
                slope[m] += c * flat[at + m]
                bend[m] += d * flat[at + m]
        for m in range(count):
            slopes[begin + m] = slope[m] * rate
            bends[begin + m] = bend[m] * square
