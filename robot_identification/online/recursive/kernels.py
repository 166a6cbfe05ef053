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
"""Compiled updates of a triangular information factor."""

from __future__ import annotations

import numba
import numpy as np

TINY = 1e-300


@numba.njit(cache=True)
def absorb(factor, rows, rhs):
    """
    Append rows to a triangular factor by Householder reflections.

    H [S; rows] = [S_new; 0] with orthogonal H, so that S_new'S_new = S'S + rows' rows, and the
    same H is applied to the right-hand side.

    Parameters
    ----------
    factor
        (p, p) upper triangular S with S'S the information; overwritten by the new one.
    rows
        (k, p) whitened rows; overwritten.
    rhs
        (p + k,) right-hand side; overwritten by the transformed one.

    """
    p, k = factor.shape[0], rows.shape[0]
    work = np.empty(p)
    for c in range(p):
        norm = factor[c, c] * factor[c, c]
        rest = 0.0
        for i in range(k):
            rest += rows[i, c] * rows[i, c]
        if rest == 0.0:
            continue
        norm = np.sqrt(norm + rest)
        alpha = -norm if factor[c, c] > 0 else norm
        head = factor[c, c] - alpha
        beta = 2.0 / (head * head + rest)
        for j in range(c, p):
            work[j] = head * factor[c, j]
        dot = head * rhs[c]
        for i in range(k):
            value = rows[i, c]
            if value != 0.0:
                for j in range(c, p):
                    work[j] += value * rows[i, j]
                dot += value * rhs[p + i]
        for j in range(c, p):
            work[j] *= beta
            factor[c, j] -= head * work[j]
        dot *= beta
        rhs[c] -= head * dot
        for i in range(k):
            value = rows[i, c]
            if value != 0.0:
                for j in range(c + 1, p):
                    rows[i, j] -= value * work[j]
                rhs[p + i] -= value * dot
                rows[i, c] = 0.0
        factor[c, c] = alpha


@numba.njit(cache=True)
def forget(factor, row, keep):
    """
    Remove the fraction 1 - keep of the information in the direction of a row.

    With y = S row the information becomes S'(I - (1 - keep) y y'/y'y) S: positive definite
    whatever the row, because keep > 0. Givens rotations keep the factor triangular (LINPACK's
    dchdd).

    Parameters
    ----------
    factor
        (p, p) upper triangular S; overwritten.
    row
        (p,).
    keep
        Between 0 and 1.

    """
    p = factor.shape[0]
    a = np.empty(p)
    size = 0.0
    for i in range(p):
        total = 0.0
        for j in range(i, p):
            total += factor[i, j] * row[j]
        a[i] = total
        size += total * total
    if size <= TINY:
        return
    scale = np.sqrt((1.0 - keep) / size)
    rho = np.sqrt(keep)
    work = np.zeros(p)
    for i in range(p - 1, -1, -1):
        value = a[i] * scale
        length = np.sqrt(rho * rho + value * value)
        cosine, sine = rho / length, value / length
        rho = length
        for j in range(i, p):
            moved = cosine * work[j] + sine * factor[i, j]
            factor[i, j] = cosine * factor[i, j] - sine * work[j]
            work[j] = moved


@numba.njit(cache=True)
def back_substitute(factor, rhs):
    """Return x (p,) with S x = rhs[:p]."""
    p = factor.shape[0]
    x = np.empty(p)
    for i in range(p - 1, -1, -1):
        total = rhs[i]
        for j in range(i + 1, p):
            total -= factor[i, j] * x[j]
        x[i] = total / factor[i, i]
    return x
