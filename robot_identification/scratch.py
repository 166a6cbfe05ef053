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
"""
Arrays of samples that may be larger than memory: scratch files, blocks of rows, sums over them.

A large array lies in a scratch file. Whoever walks over its rows gives back, after each block, the
memory that reading them took, so that a recording of an hour needs no more than one of a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
import math
import mmap
import os
import tempfile
from typing import Any, IO, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from robot_identification.arrays import Array, IndexArray

_ON_DISK = 8_000_000
"""Bytes from which an array of samples is kept in a scratch file: 150 000 samples of 7 joints."""
ROWS = 1 << 16
"""Rows that are looked at before their memory is given back: 4 MB of 7 joints."""
SUMMED = 1 << 14
"""Rows that are summed up together, wherever they lie, so that no digit depends on that."""
_ZEROED = 64_000_000
"""Bytes up to which a scratch file is filled with zeros at once: pages that a file has in the
cache already are written to in a third of the time. More might go to the disk twice."""
_POPULATE_WRITE = 23
"""Linux's MADV_POPULATE_WRITE (5.14 and later)."""
_MOST_FILES = 200
"""Number of an open file beyond which arrays stay in memory: a process may open 1024 or fewer."""


def scratch_array(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    """
    Return an array to write to, (shape); a large one lies in a scratch file, not in memory.

    The file is in the temporary folder, has no name, and goes with the array. Where there is no
    room for it, or too many files are open, the array is in memory.
    """
    size = np.dtype(dtype).itemsize * math.prod(shape)
    if size < _ON_DISK:
        return np.empty(shape, dtype)
    try:
        with tempfile.TemporaryFile() as file:
            if file.fileno() > _MOST_FILES:
                return np.empty(shape, dtype)
            os.posix_fallocate(file.fileno(), 0, size)    # a full disk says so here
            if size <= _ZEROED:
                _zero(file.fileno(), size)
            return np.ndarray(shape, dtype, buffer=mmap.mmap(file.fileno(), size))
    except (OSError, AttributeError):
        return np.empty(shape, dtype)


def _zero(file: int, size: int) -> None:
    """Write zeros to a file by its number."""
    zeros = bytes(min(size, 1 << 20))
    for first in range(0, size, len(zeros)):
        os.pwrite(file, zeros[:size - first], first)


class Gathered:
    """
    Arrays (N_k, ...) of one kind that come one after another, as a file is read.

    Many rows go to a scratch file while they come, so that they are never in memory as a whole.
    """

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []    # that are in memory
        self._held = self._written = 0    # bytes in memory, and in the file
        self._file: IO[bytes] | None = None
        self._on_disk = True

    def add(self, part: np.ndarray) -> None:
        """Append rows."""
        self._parts.append(np.ascontiguousarray(part))
        self._held += part.nbytes
        if self._on_disk and self._held >= _ON_DISK:
            self._write()

    def whole(self) -> np.ndarray:
        """Return all rows, read-only; of one part alone that one."""
        if not self._written:
            return _unwritten(self._parts[0] if len(self._parts) == 1
                              else np.concatenate(self._parts))
        if self._held:
            self._write()
        if self._file is None:
            return _unwritten(np.concatenate(self._parts))
        first = self._parts[0]
        with self._file:
            data = mmap.mmap(self._file.fileno(), self._written)
        count = self._written // (first.itemsize * math.prod(first.shape[1:]))
        return _unwritten(np.ndarray((count, *first.shape[1:]), first.dtype, buffer=data))

    def _write(self) -> None:
        """Move rows to the file; where it cannot take them, bring all back to memory."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
            if self._file.fileno() > _MOST_FILES:
                raise OSError
            os.posix_fallocate(self._file.fileno(), self._written, self._held)
            for part in filter(len, self._parts):
                left = part.reshape(-1).view(np.uint8).data
                while left:
                    left = left[self._file.write(left):]
        except (OSError, AttributeError):
            self._back()
            return
        self._written, self._held = self._written + self._held, 0
        self._parts = [np.empty_like(self._parts[0][:0])]

    def _back(self) -> None:
        self._on_disk, shape = False, self._parts[0].shape[1:]
        if self._file is None:
            return
        with self._file as file:
            file.seek(0)
            kind = self._parts[0].dtype
            known = np.fromfile(file, kind, self._written // kind.itemsize)
        self._parts.insert(0, known.reshape(-1, *shape))
        self._file, self._written = None, 0


def release(*arrays: np.ndarray | mmap.mmap) -> None:
    """Give back the memory of mapped files and of arrays in them; what they hold stays."""
    for array in arrays:
        owner: Any = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        if isinstance(owner, mmap.mmap) and hasattr(mmap, 'MADV_DONTNEED'):
            owner.madvise(mmap.MADV_DONTNEED)


def open_to_writing(x: np.ndarray) -> None:
    """Map the pages of rows that are about to be read and written, once and all together."""
    base, owner = x, x.base
    while isinstance(owner, np.ndarray):
        base, owner = owner, owner.base
    if not isinstance(owner, mmap.mmap):
        return
    first = x.ctypes.data - base.ctypes.data
    aside = first % mmap.PAGESIZE
    with suppress(OSError):    # a system that does not know this: page after page, then
        owner.madvise(_POPULATE_WRITE, first - aside, x.nbytes + aside)


def walk(rows: int, *arrays: np.ndarray, block: int | None = None) -> Iterator[slice]:
    """Yield slices that together cover so many rows, and give back what arrays took for each."""
    for part in blocks(rows, block):
        yield part
        release(*arrays)


def blocks(rows: int, block: int | None = None) -> list[slice]:
    """Return slices that together cover so many rows."""
    size = block or ROWS
    return [slice(first, min(first + size, rows)) for first in range(0, rows, size)]


def mapped(function: Callable[..., Any], *arrays: np.ndarray, block: int | None = None) -> Any:
    """Return function(*arrays), read-only, of arrays (N, ...), each row of their same rows."""
    out, done = None, 0
    for rows in walk(len(arrays[0]), *arrays, block=block):
        part = function(*(x[rows] for x in arrays))
        if len(part) == len(arrays[0]):
            return _unwritten(part)
        if out is None:
            out = scratch_array((len(arrays[0]), *part.shape[1:]), part.dtype)
        out[rows] = part
        done += part.nbytes
        if done > _ON_DISK:
            release(out)
            done = 0
    return _unwritten(function(*(x[:0] for x in arrays)) if out is None else out)


def _unwritten(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def copied(values: ArrayLike, dtype: Any = np.float64) -> Any:
    """Return a read-only copy in the order of C; a large one lies in a scratch file."""
    if isinstance(values, np.ndarray) and values.nbytes >= _ON_DISK:
        return mapped(lambda part: np.array(part, dtype=dtype, order='C'), values)
    return _unwritten(np.array(values, dtype=dtype, order='C'))


def rows_where(true: Callable[..., Any], *arrays: np.ndarray) -> IndexArray:
    """Return the rows of arrays (N, ...) for which a function of them is true."""
    return np.concatenate([np.zeros(0, dtype=np.intp), *(
        rows.start + np.flatnonzero(true(*(x[rows] for x in arrays)))
        for rows in walk(len(arrays[0]), *arrays))])


def changes(x: np.ndarray) -> IndexArray:
    """Return the rows of x (N,) that differ from the row before."""
    return rows_where(np.not_equal, x[1:], x[:-1]) + 1


def differences(t: Array) -> Array:
    """Return the differences of neighbours of t (N,), (N - 1,)."""
    steps: Array = mapped(np.subtract, t[1:], t[:-1])
    return steps


def picked(x: Array, rows: IndexArray) -> Array:
    """Return x[rows], read-only, of x (N, ...), for numbers of rows that hardly ever decrease."""
    out = scratch_array((len(rows), *x.shape[1:]))
    step = max(1, len(x) // max(1, len(rows)))
    for some in walk(len(rows), x, out, block=max(1, ROWS // step)):
        out[some] = x[rows[some]]
    return _unwritten(out)


def stacked(parts: Sequence[Array]) -> Array:
    """Return arrays (N_k, ...) one after the other, read-only; of one alone a view."""
    if len(parts) == 1:
        return _unwritten(parts[0].view())
    out, done = scratch_array((sum(map(len, parts)), *parts[0].shape[1:])), 0
    for part in parts:
        for rows in walk(len(part), part, out):
            out[done + rows.start:done + rows.stop] = part[rows]
        done += len(part)
    return _unwritten(out)


def extremes(x: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest value of each column of x (N, ...); NaN where one is."""
    lows, highs = zip(*((_reduced(np.minimum, x[rows]), _reduced(np.maximum, x[rows]))
                        for rows in walk(len(x), x)))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _reduced(pick: np.ufunc, x: Array) -> Array:
    """Return the reduction of x (N, ...) by minimum or maximum, half against half: few columns."""
    while len(x) > 16:
        half = (len(x) + 1) // 2
        x = pick(x[:half], x[-half:])
    return np.asarray(pick.reduce(x, axis=0))


def magnitudes(x: Array) -> Array:
    """Return the largest magnitude in each column of x (N, c); NaN where one is."""
    lowest, highest = extremes(x)
    return np.maximum(highest, -lowest)


def means(x: Array) -> Array:
    """Return the means of the columns of x (N, c); that of a constant to the last digit."""
    start, mean = np.array(x[0]), np.zeros(x.shape[1])
    for rows in walk(len(x), x, block=SUMMED):
        mean += np.einsum('ij->j', x[rows] - start)
    return start + mean / len(x)


def deviations(x: Array) -> Array:
    """Return the standard deviations of the columns of x (N, c); 0 where nothing changes."""
    mean, squares = means(x), np.zeros(x.shape[1])
    for rows in walk(len(x), x, block=SUMMED):
        part = x[rows] - mean
        squares += np.einsum('ij,ij->j', part, part)
    return np.sqrt(squares / len(x))


def farthest(x: Array, y: Array) -> Array:
    """Return the largest distance in each column of x (N, ...) from y."""
    return np.max([magnitudes(x[rows] - y[rows]) for rows in walk(len(x), x, y)], axis=0)


def median_of(x: Array) -> float:
    """Return the median of x (N,); that of many is found digit by digit, without sorting them."""
    if x.nbytes < _ON_DISK:
        return float(np.median(x))
    return (_ranked(x, (len(x) - 1) // 2) + _ranked(x, len(x) // 2)) / 2


def _ranked(x: Array, rank: int) -> float:
    """Return the element of x (N,) at a place of its order, by counts of 16 bits after 16."""
    found = np.uint64(0)
    for known in range(0, 64, 16):
        counts = np.zeros(1 << 16, dtype=np.intp)
        for rows in walk(len(x), x):
            key = _sortable(x[rows])
            if known:
                key = key[key >> np.uint64(64 - known) == found]
            digit = (key >> np.uint64(48 - known)) & np.uint64(0xffff)
            counts += np.bincount(digit.astype(np.intp), minlength=len(counts))
        ends = np.cumsum(counts)
        chosen = int(np.searchsorted(ends, rank, side='right'))
        rank -= int(ends[chosen] - counts[chosen])
        found = np.uint64((int(found) << 16) | chosen)
    bits = int(found)
    bits = bits ^ (1 << 63) if bits >> 63 else bits ^ ((1 << 64) - 1)
    return float(np.uint64(bits).view(np.float64))


def _sortable(x: Array) -> NDArray[np.uint64]:
    """Return unsigned integers in the order of numbers: sign turned, negative ones inverted."""
    bits = np.ascontiguousarray(x).view(np.uint64)
    top = np.uint64(1 << 63)
    return np.where(bits & top, ~bits, bits | top)
