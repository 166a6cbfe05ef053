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
"""Compiled kernel of the recursive estimators."""

import numba
import numpy as np

TINY = float(np.finfo(float).tiny)
"""Squared norm of S row below which there is no information to forget; avoids division by zero."""


@numba.njit(cache=True, error_model='numpy', fastmath={'contract', 'reassoc'})
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
