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
"""Array types and read-only arrays."""

from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

Array = NDArray[np.float64]
IndexArray = NDArray[np.intp]


SINGULAR = 1e-9
"""Smallest eigenvalue of a normal matrix with unit diagonal that counts as determined."""
_LARGER = 1.25
"""[-] Largest ratio of the size of a view's base to that of the view with which the view is not
copied: a small view would keep a large array in memory."""


def svd(matrix: Array) -> tuple[Array, Array, Array]:
    """
    Return U, s and V' of the thin singular value decomposition.

    The fast driver of LAPACK fails for some graded matrices; the slower one then decomposes them.
    """
    try:
        left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:
        left, singular, right = linalg.svd(matrix, full_matrices=False, lapack_driver='gesvd')
    return left, singular, right


def orthonormal_basis(columns: Array, singular: float) -> Array:
    """
    Return an orthonormal basis of columns, (rows, rank).

    Parameters
    ----------
    columns
        The columns, (rows, k).
    singular
        Smallest squared singular value of the normalised columns that counts, relative to the
        largest one; the basis is orthonormal to rounding errors over its root.

    """
    norms = np.linalg.norm(columns, axis=0)
    used = norms > 1e-9 * max(float(norms.max(initial=0.0)), 1e-300)
    if not np.any(used):
        return np.zeros((len(columns), 0))
    scaled = columns[:, used] / norms[used]
    squares, vectors = np.linalg.eigh(scaled.T @ scaled)
    kept = squares > singular * squares[-1]
    return np.asarray(scaled @ (vectors[:, kept] / np.sqrt(squares[kept])))


def solve_normal(matrix: Array, right: Array, scale: Array) -> Array:
    """
    Return the solution of normal equations; undetermined combinations are kept near zero.

    Parameters
    ----------
    matrix, right
        Normal matrix (k, k) and right-hand side, (k,) or (k, m).
    scale
        Factors of the unknowns with which the diagonal of the matrix is one, (k,).

    """
    scaled = matrix * scale[:, None] * scale + SINGULAR * np.eye(len(matrix))
    return np.asarray((scale * np.linalg.solve(scaled, (right.T * scale).T).T).T)


def read_only(values: ArrayLike, dtype: Any = np.float64) -> Array:
    """
    Return the values as a C-contiguous, read-only array; copy them only if necessary.

    A view is copied if its base is writeable or much larger than the view.

    Parameters
    ----------
    values
        Values that NumPy can convert to an array.
    dtype
        Element type of the result.

    """
    if (isinstance(values, np.ndarray) and values.dtype == dtype and values.flags.c_contiguous
            and values.flags.aligned and _frozen(values)):
        return values
    copy: Array = np.array(values, dtype=dtype, order='C')
    copy.flags.writeable = False
    return copy


class ReadOnlyArrays:
    """Base of frozen dataclasses that makes the arrays in their fields read-only."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value, value.dtype))


def consecutive_slices(lengths: Iterable[int]) -> tuple[slice, ...]:
    """Return consecutive slices of the given lengths; the first one starts at 0."""
    return tuple(slice(start, stop) for start, stop in pairwise(accumulate(lengths, initial=0)))


def column_range(x: Array) -> Array:
    """
    Return the smallest and the largest value of each column of x (N, n), (2, n).

    A column with NaN gives NaN; without rows, (inf, -inf).
    """
    return np.stack([x.min(axis=0, initial=np.inf), x.max(axis=0, initial=-np.inf)])


def true_runs(mask: NDArray[Any]) -> list[slice]:
    """Return the runs of consecutive True in a mask, (N,) bool."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [slice(int(first), int(end)) for first, end in edges.reshape(-1, 2)]


def sphere_points(count: int) -> Array:
    """Return points of equal spacing on the unit sphere (Fibonacci's lattice), (count, 3)."""
    k = np.arange(count) + 0.5
    polar, turn = np.arccos(1 - 2 * k / count), np.pi * (1 + 5 ** 0.5) * k
    return np.column_stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar),
                            np.cos(polar)])


def readonly_view(values: ArrayLike) -> Array:
    """
    Return a read-only, C-contiguous view of the values; a copy if they are not contiguous.

    Numba compiles a kernel again for writable arrays; with read-only arguments it compiles once.
    """
    view = np.ascontiguousarray(values, dtype=np.float64).view(np.ndarray)
    view.flags.writeable = False
    return view


def _frozen(values: np.ndarray) -> bool:
    """Return whether an array and its base are read-only, and the base is not much larger."""
    owner: Any = values
    while isinstance(owner, np.ndarray) and owner.base is not None:
        if owner.flags.writeable:
            return False
        owner = owner.base
    if isinstance(owner, bytes):
        return len(owner) <= _LARGER * values.nbytes
    return (isinstance(owner, np.ndarray) and not owner.flags.writeable
            and owner.nbytes <= _LARGER * values.nbytes)
