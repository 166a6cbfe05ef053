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
"""Compiled kernels of the recursive estimators: each works on one sample."""

from __future__ import annotations

import numba
import numpy as np

TINY = float(np.finfo(float).tiny)
"""Squared norm of S row below which there is no information to forget; avoids division by zero."""
OPTIONS = {'cache': True, 'error_model': 'numpy', 'fastmath': {'contract', 'reassoc'}}


@numba.njit(**OPTIONS)
def forget(factor, row, keep):
    """
    Remove the fraction 1 - keep of the information about a linear combination row' x, in place.

    With y = S row, the information matrix S'S becomes

        S' (I - (1 - keep) y y' / (y' y)) S,

    which is positive definite because keep > 0 (L. Cao, H. M. Schwartz, Automatica 36(11), 2000).
    This is a rank-one downdate: S'S - b b' with b = sqrt((1 - keep) / (y' y)) S' y. Givens
    rotations, from the last row of S to the first, eliminate a and keep S triangular (LINPACK's
    dchdd): rho starts as sqrt(keep), and for i = p, ..., 1 with a = sqrt((1 - keep) / (y' y)) y

        length = sqrt(rho^2 + a_i^2),    c = rho / length,    s = a_i / length,    rho <- length,
        (work; S_i) <- (c work + s S_i;  c S_i - s work).

    Parameters
    ----------
    factor
        Upper triangular S, (p, p); overwritten.
    row
        Coefficients of the linear combination, (p,).
    keep
        Fraction of the information to keep, between 0 and 1.

    """
    p = factor.shape[0]
    a = np.empty(p)
    size = 0.0
    for i in range(p):
        line, coefficients = factor[i, i:], row[i:]
        total = 0.0
        for j in range(len(line)):
            total += line[j] * coefficients[j]
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
        line, carried = factor[i, i:], work[i:]
        for j in range(len(line)):
            old, moved = line[j], carried[j]
            line[j] = cosine * old - sine * moved
            carried[j] = cosine * moved + sine * old


@numba.njit(**OPTIONS)
def add_rows(factor, rows, right):
    """
    Add measurements to a triangular information factor, and return the step of the estimate, (p,).

    Householder reflections reduce [S, 0; rows, right] to [S, z; 0, *], one column after the other
    (each reflection changes one row of S and the k new rows only); the step solves S step = z.

    Parameters
    ----------
    factor
        Upper triangular S, (p, p), with nonzero diagonal; overwritten.
    rows
        Coefficients of the measurements divided by their standard deviations, (k, p); overwritten.
    right
        Innovations divided by their standard deviations, (k,); overwritten.

    """
    k, p = rows.shape
    step, sums, v = np.zeros(p), np.empty(p), np.empty(k)
    for i in range(p):
        square = 0.0
        for m in range(k):
            square += rows[m, i] ** 2
        if square == 0.0:
            continue
        pivot = factor[i, i]
        length = -np.copysign(np.sqrt(pivot * pivot + square), pivot)
        gain = (length - pivot) / length
        for m in range(k):
            v[m] = rows[m, i] / (pivot - length)
        factor[i, i] = length
        line, reflected = factor[i, i + 1:], sums[i + 1:]
        for j in range(len(line)):
            reflected[j] = line[j]
        total = 0.0
        for m in range(k):
            weight, added = v[m], rows[m, i + 1:]
            total += weight * right[m]
            for j in range(len(line)):
                reflected[j] += weight * added[j]
        step[i] = -gain * total
        for j in range(len(line)):
            reflected[j] *= gain
            line[j] -= reflected[j]
        for m in range(k):
            weight, added = v[m], rows[m, i + 1:]
            right[m] -= weight * gain * total
            for j in range(len(line)):
                added[j] -= weight * reflected[j]
    for i in range(p - 1, -1, -1):
        line, known = factor[i, i + 1:], step[i + 1:]
        total = step[i]
        for j in range(len(line)):
            total -= line[j] * known[j]
        step[i] = total / factor[i, i]
    return step


@numba.njit(**OPTIONS)
def update(factor, rows, right, keep, directional):
    """
    Forget, add measurements, and return the step of the estimate, (p,); see `add_rows`.

    Parameters
    ----------
    factor, rows, right
        As for `add_rows`.
    keep
        Fraction of the old information that is kept, 0 < keep <= 1.
    directional
        Whether only information in the directions of the rows is forgotten, see `forget`.

    """
    if keep < 1.0:
        if directional:
            for m in range(len(rows)):
                forget(factor, rows[m], keep)
        else:
            factor *= np.sqrt(keep)
    return add_rows(factor, rows, right)


@numba.njit(**OPTIONS)
def add_sums(sums, directions, columns, error, used, noise, keep):
    """
    Add a sample to the sums of `load_change._Sums`; return its whitened rows and errors.

    Parameters
    ----------
    sums
        Three arrays, (d, d), (d,) and (c, r), which are multiplied by `keep` before; see there.
        The last is for the first c directions. Overwritten.
    directions
        Changes of the base parameters, (r, d).
    columns, error, used, noise
        Columns (n, r), errors, whether they are used, and their standard deviations, (n,) each.
    keep
        Factor of the sums before the sample.

    """
    gram, score, cross = sums
    r, d = directions.shape
    kept = np.flatnonzero(used)
    rows, errors, white = np.zeros((len(kept), d)), np.empty(len(kept)), np.empty(r)
    if keep < 1.0:
        gram *= keep
        score *= keep
        cross *= keep
    for m in range(len(kept)):
        j, row = kept[m], rows[m]
        errors[m] = error[j] / noise[j]
        for c in range(r):
            white[c] = columns[j, c] / noise[j]
            for b in range(d):
                row[b] += white[c] * directions[c, b]
        for b in range(d):
            score[b] += row[b] * errors[m]
            for c in range(d):
                gram[b, c] += row[b] * row[c]
        for b in range(len(cross)):
            for c in range(r):
                cross[b, c] += row[b] * white[c]
    return rows, errors
