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
"""NumPy archives that a stranger wrote: what they declare is held against what is there."""

from __future__ import annotations

import math
from pathlib import Path
import struct
import tokenize
from types import TracebackType
from typing import IO, Literal
import warnings
import zipfile
import zlib

import numpy as np
from numpy.lib import format as npy
from robot_identification.arrays import Array
from robot_identification.errors import RobotIdentificationError
from robot_identification.files import regular_size
from robot_identification.scratch import scratch_array, walk

ROOM, RATIO = 256_000_000, 100    # bytes that may come out: ROOM and RATIO for each byte of file
MEMBERS = 10_000
PIECE = 1 << 17    # numbers that are read at once
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
BROKEN = (OSError, ValueError, EOFError, KeyError, IndexError, TypeError, OverflowError,
          SyntaxError, RuntimeError, NotImplementedError, tokenize.TokenError, struct.error,
          zlib.error, zipfile.BadZipFile)


class NumpyArchive:
    """
    An `.npz`, of which arrays are read when they are asked for.

    Parameters
    ----------
    path
        The file.
    what
        How to call it in a sentence: 'recording'.
    error
        Class of the errors to raise.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: there is no such file, or it is no archive.

    """

    def __init__(self, path: Path, what: str, error: type[RobotIdentificationError]) -> None:
        self._place, self._error = f"the {what} '{path}'", error
        self._left = ROOM + RATIO * regular_size(path, what, error)
        with path.open('rb') as file:
            if file.read(6) == npy.MAGIC_PREFIX:
                raise error(f'{self._place} holds one array (.npy); several are needed, in an '
                            '.npz: t, q, tau')
        try:
            self._file = zipfile.ZipFile(path)
        except BROKEN as reason:
            raise error(f'{self._place} is not a NumPy archive: {reason}') from reason
        infos = self._file.infolist()[:MEMBERS]
        self._members = {info.filename.removesuffix('.npy'): info for info in infos}

    def __enter__(self) -> NumpyArchive:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return sorted(self._members)

    def __getitem__(self, name: str) -> np.ndarray:
        place = f"{self._place}: the array '{name}'"
        info = self._members[name]
        if info.flag_bits & 1:
            raise self._error(f'{place} is encrypted; write the archive without a password')
        if info.compress_type not in (STORED, DEFLATED):
            raise self._error(f'{place} is compressed in a way that NumPy does not use')
        if info.file_size > self._left:
            raise self._error(f'{place} says that it has {info.file_size / 1e6:.0f} MB, more than '
                              'such a small file can hold')
        self._left -= info.file_size
        try:
            with self._file.open(info) as file:
                return self._read(file, info.file_size, place)
        except BROKEN as reason:
            raise self._error(f'{place} is damaged: {reason}') from reason

    def _read(self, file: IO[bytes], size: int, place: str) -> np.ndarray:
        version = npy.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f'its format is {version}')
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')    # of headers that Python 2 wrote
            shape, fortran, dtype = read(file)
        if dtype.kind not in 'fiuUS':
            raise self._error(f"{place} holds '{dtype}', neither real numbers nor text")
        count = math.prod(shape)
        if any(length < 0 for length in shape) or count * dtype.itemsize != size - file.tell():
            raise self._error(f'{place} says that its shape is {shape}, and holds '
                              f'{size - file.tell()} bytes')
        order: Literal['C', 'F'] = 'F' if fortran else 'C'
        if dtype == np.float64:
            return self._numbers(file, count).reshape(shape, order=order)
        raw = file.read()
        if len(raw) != count * dtype.itemsize:
            raise ValueError('it ends early')
        if not count or not dtype.itemsize:
            return np.zeros(shape, dtype)
        return np.frombuffer(raw, dtype, count).reshape(shape, order=order)

    @staticmethod
    def _numbers(file: IO[bytes], count: int) -> Array:
        """Return so many numbers; a long signal is never in memory as a whole."""
        values = scratch_array((count,))
        for rows in walk(count, values, block=PIECE):
            size = 8 * (rows.stop - rows.start)
            part = file.read(size)
            if len(part) != size:
                raise ValueError('it ends early')
            values[rows] = np.frombuffer(part)
        if file.read(1):
            raise ValueError('it goes on')
        values.flags.writeable = False
        return values
