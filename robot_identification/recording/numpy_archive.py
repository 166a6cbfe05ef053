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
"""NumPy archives from untrusted sources: declared sizes are checked against the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
import math
from pathlib import Path
import struct
import tokenize
from typing import IO
import warnings
import zipfile
import zlib

import numpy as np
from numpy.lib import format as npy
from robot_identification.errors import RecordingError, RobotIdentificationError
from robot_identification.files import regular_size
from robot_identification.recording.columns import ArraySource

ROOM, RATIO = 256_000_000, 100    # a file may decompress to ROOM + RATIO * its size [bytes]
MEMBERS = 10_000
_ROWS = 50_000    # samples of a block
BROKEN = (OSError, ValueError, EOFError, KeyError, IndexError, TypeError, OverflowError,
          SyntaxError, RuntimeError, NotImplementedError, tokenize.TokenError, struct.error,
          zlib.error, zipfile.BadZipFile)


class NumpyArchive:
    """
    An `.npz` whose arrays are read on request.

    Parameters
    ----------
    path
        The file.
    what
        What it is, for error messages: 'recording'.
    error
        Class of the errors to raise.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: there is no such file, or it is no archive.

    """

    def __init__(self, path: Path, what: str, error: type[RobotIdentificationError]) -> None:
        self._label, self._error = f"the {what} '{path}'", error
        self._budget = ROOM + RATIO * regular_size(path, what, error)
        with path.open('rb') as file:
            if file.read(6) == npy.MAGIC_PREFIX:
                raise error(f'{self._label} holds one array (.npy); several are needed, in an '
                            '.npz: t, q, tau')
        try:
            self._file = zipfile.ZipFile(path)
        except BROKEN as reason:
            raise error(f'{self._label} is not a NumPy archive: {reason}') from reason
        infos = self._file.infolist()[:MEMBERS]
        self._members = {info.filename.removesuffix('.npy'): info for info in infos}

    def __enter__(self) -> NumpyArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return sorted(self._members)

    def __getitem__(self, name: str) -> np.ndarray:
        with ExitStack() as stack:
            file, shape, fortran, dtype = self._open(name, stack)
            values = self._read(file, name, math.prod(shape), dtype)
            return values.reshape(shape, order='F' if fortran else 'C')

    def layout(self, name: str) -> np.ndarray:
        """Return an array of the member's shape and type that takes no memory."""
        with ExitStack() as stack:
            _, shape, _, dtype = self._open(name, stack)
            return np.broadcast_to(np.zeros((), dtype), shape)

    def blocks(self, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """Yield consecutive rows of arrays, in blocks where all have equally many in C order."""
        with ExitStack() as stack:
            members = {name: self._open(name, stack) for name in names}
            rows = {shape[0] if shape and not fortran else -1
                    for _, shape, fortran, _ in members.values()}
            if len(rows) > 1 or min(rows) <= _ROWS:
                yield {name: self[name] for name in names}
                return
            for start in range(0, min(rows), _ROWS):
                shapes = {name: (min(_ROWS, min(rows) - start), *shape[1:])
                          for name, (_, shape, _, _) in members.items()}
                yield {name: self._read(file, name, math.prod(shapes[name]), dtype
                                        ).reshape(shapes[name])
                       for name, (file, _, _, dtype) in members.items()}

    def _open(self, name: str, stack: ExitStack
              ) -> tuple[IO[bytes], tuple[int, ...], bool, np.dtype]:
        """Return a member's file behind its header, and shape, Fortran order and type."""
        label = f"{self._label}: the array '{name}'"
        info = self._members[name]
        if info.flag_bits & 1:
            raise self._error(f'{label} is encrypted; write the archive without a password')
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self._error(f'{label} is compressed in a way that NumPy does not use')
        if info.file_size > self._budget:
            raise self._error(f'{label} would decompress to {info.file_size / 1e6:.0f} MB, more '
                              'than such a small file can hold')
        try:
            file = stack.enter_context(self._file.open(info))
            version = npy.read_magic(file)
            if version not in ((1, 0), (2, 0)):
                raise ValueError(f'its format is {version}')
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')    # of headers that Python 2 wrote
                shape, fortran, dtype = read(file)
            shape = tuple(map(int, shape))
            if len(shape) > 32:
                raise ValueError(f'it has {len(shape)} dimensions')
            size = info.file_size - file.tell()
            if dtype.kind not in 'fiuUS':
                raise self._error(f"{label} holds '{dtype}', neither real numbers nor text")
            if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size:
                raise self._error(f'{label} has a header of shape {shape}, but {size} bytes')
        except BROKEN as reason:
            raise self._error(f'{label} is damaged: {reason}') from reason
        return file, shape, fortran, dtype

    def _read(self, file: IO[bytes], name: str, count: int, dtype: np.dtype) -> np.ndarray:
        """Return the next elements of an array, (count,)."""
        size = count * dtype.itemsize
        if size > self._budget:
            raise self._error(f"{self._label}: the array '{name}' has a header of "
                              f'{size / 1e6:.0f} MB, more than such a small file can hold')
        self._budget -= size
        if not size:
            return np.zeros(count, dtype)
        try:
            raw = file.read(size)
        except BROKEN as reason:
            raise self._error(f"{self._label}: the array '{name}' is damaged: {reason}"
                              ) from reason
        if len(raw) != size:
            raise self._error(f"{self._label}: the array '{name}' is damaged: it ends early")
        return np.frombuffer(raw, dtype)


class NpzSource(ArraySource):
    """
    The arrays of an `.npz`: t (N,), q (N, n), and v, tau, current (N, n) as far as recorded.

    Its `joint_names` (n,) may be absent where the arm is known: columns are then in its order.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        The file cannot be read.

    """

    def __init__(self, path: Path) -> None:
        self._path = path
        layouts: dict[str, np.ndarray] = {}
        errors: list[RecordingError] = []
        with self._archive() as archive:
            self._members = archive.names
            for name in archive.names:
                try:
                    layouts[name] = archive.layout(name)
                except RecordingError as error:    # raised again where the array is used
                    errors.append(error)
        if errors and not layouts:
            raise errors[0]
        super().__init__(layouts, f"the recording '{path}'")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def array(self, name: str) -> np.ndarray:
        """Return an array, whatever its type."""
        with self._archive() as archive:
            return archive[name]

    def array_blocks(self, names: Sequence[str]) -> Iterator[Mapping[str, np.ndarray]]:
        """Yield consecutive rows of arrays of the same length."""
        with self._archive() as archive:
            yield from archive.blocks(names)

    def _archive(self) -> NumpyArchive:
        return NumpyArchive(self._path, 'recording', RecordingError)
