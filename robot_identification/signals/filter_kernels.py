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
_ROWS, _WIDTH = 8, 8
"""Samples and columns that are filtered at once."""
_SAMPLES = 14
"""Numbers and states of two sections, which come before the samples."""


@njit(**_OPTIONS)
def filter_rows(sections, x, states, step, out):
    """
    Filter the columns of x (N, c) by second-order sections into out (N, c), which may be x.

    The sections (s, 5, c) are b0, b1, b2, a1, a2 of each column, the states (s, 2, c) those of the
    direct form II transposed, as in `scipy.signal.sosfilt`:
    y = b0 x + z0, z0 = b1 x - a1 y + z1, z1 = b2 x - a2 y. With a step of -1 rows are taken from
    the last to the first.
    """
    pairs = (len(sections) + 1) // 2
    tables = np.empty((pairs, _SAMPLES + _ROWS, _WIDTH))
    for left in range(0, x.shape[1], _WIDTH):
        width = min(_WIDTH, x.shape[1] - left)
        tables[:] = 0.0
        tables[:, 0], tables[:, 5] = 1.0, 1.0    # what changes nothing, where there is no section
        for s in range(len(sections)):
            table, half = tables[s // 2], s % 2
            table[5 * half:5 * half + 5, :width] = sections[s, :, left:left + width]
            table[10 + 2 * half:12 + 2 * half, :width] = states[s, :, left:left + width]
        source, target = x[:, left:left + width], out[:, left:left + width]
        for begin in range(0, len(x), _ROWS):
            count = min(_ROWS, len(x) - begin)
            first = begin if step > 0 else len(x) - 1 - begin
            for k in range(count):
                row, sample = source[first + step * k], tables[0, _SAMPLES + k]
                for j in range(width):
                    sample[j] = row[j]
            for p in range(pairs):
                if p > 0:
                    tables[p, _SAMPLES:] = tables[p - 1, _SAMPLES:]
                if count == _ROWS:    # a number that the compiler knows
                    _filter_twice(tables[p], _ROWS)
                else:
                    _filter_twice(tables[p], count)
            for k in range(count):
                row, sample = target[first + step * k], tables[pairs - 1, _SAMPLES + k]
                for j in range(width):
                    row[j] = sample[j]
        for s in range(len(sections)):
            half = 10 + 2 * (s % 2)
            states[s, :, left:left + width] = tables[s // 2, half:half + 2, :width]


@njit(forceinline=True, **_OPTIONS)
def _filter_twice(table, count):
    """
    Filter samples in place by two sections, columns side by side: one alone waits for itself.

    The table (_SAMPLES + _ROWS, _WIDTH) holds the numbers of both, their states and the samples.
    """
    for j in range(_WIDTH):
        y0, y1, z0, z1 = table[10, j], table[11, j], table[12, j], table[13, j]
        for k in range(count):
            value = table[_SAMPLES + k, j]
            y = table[0, j] * value + y0
            y0 = table[1, j] * value - table[3, j] * y + y1
            y1 = table[2, j] * value - table[4, j] * y
            z = table[5, j] * y + z0
            z0 = table[6, j] * y - table[8, j] * z + z1
            z1 = table[7, j] * y - table[9, j] * z
            table[_SAMPLES + k, j] = z
        table[10, j], table[11, j], table[12, j], table[13, j] = y0, y1, z0, z1


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
