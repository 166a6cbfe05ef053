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
"""Reads NumPy archives from untrusted sources; declared sizes are checked before reading."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, ExitStack
import math
from pathlib import Path
from typing import IO, NamedTuple
import warnings
import zipfile

import numpy as np
from numpy.lib import format as npy
from robot_identification.errors import RecordingError, RobotIdentificationError
from robot_identification.files import check_decoded_size, regular_size
from robot_identification.recording.column_source import BLOCK_ROWS, COLUMNS, ColumnSource

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)    # compression methods of NumPy


class _Member(NamedTuple):
    """An open array of the archive."""

    file: IO[bytes]
    layout: np.ndarray    # of the shape and type of the array
    fortran: bool    # whether columns are consecutive in the file

    def read(self, rows: int | None = None) -> np.ndarray:
        """Return the next rows, (rows, ...), or the whole array."""
        shape = self.layout.shape if rows is None else (rows, *self.layout.shape[1:])
        raw = self.file.read(math.prod(shape) * self.layout.itemsize)
        return np.ndarray(shape, self.layout.dtype, raw, order='F' if self.fortran else 'C')


class NumpyArchive(zipfile.ZipFile):
    """
    A file `.npz` whose arrays are read on request.

    Parameters
    ----------
    path
        The file.
    what
        Kind of the file in error messages, for instance 'recording'.
    error
        Class of the errors to raise.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: the file does not exist, or is not an archive.

    """

    def __init__(self, path: Path, what: str, error: type[RobotIdentificationError]) -> None:
        self._label, self._error = f"the {what} '{path}'", error
        self.stored = regular_size(path, what, error)    # size of the file [bytes]
        self._returned = 0    # size of the arrays returned so far [bytes]
        with self._explain(' is not a NumPy archive (.npz with t, q, tau); it'):
            super().__init__(path)
        infos = self.infolist()[:COLUMNS]
        self._members = {info.filename.removesuffix('.npy'): info for info in infos}
        self.names = sorted(self._members)    # names of the arrays

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array by name."""
        with ExitStack() as stack, self._explain(f": the array '{name}'"):
            member = self._open(name, stack)
            self._returned += member.layout.nbytes
            self._check_size(self._returned)
            return member.read()

    def layout(self, name: str) -> np.ndarray:
        """Return an array with the shape and type of a stored one, without reading its values."""
        with ExitStack() as stack, self._explain(f": the array '{name}'"):
            return self._open(name, stack).layout

    def blocks(self, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """Yield arrays in blocks of rows; in one block if lengths or memory orders differ."""
        with ExitStack() as stack, self._explain():
            members = {name: self._open(name, stack) for name in names}
            self._check_size(sum(member.layout.nbytes for member in members.values()))
            rows = {-1 if member.fortran or not member.layout.ndim else len(member.layout)
                    for member in members.values()}
            if len(rows) > 1 or min(rows) <= BLOCK_ROWS:
                yield {name: member.read() for name, member in members.items()}
                return
            for start in range(0, min(rows), BLOCK_ROWS):
                count = min(BLOCK_ROWS, min(rows) - start)
                yield {name: member.read(count) for name, member in members.items()}

    def _open(self, name: str, stack: ExitStack) -> _Member:
        """Open an array, which `stack` will close; raise ValueError if its header is invalid."""
        info = self._members[name]
        if info.flag_bits & 1 or info.compress_type not in METHODS:
            raise ValueError('it is encrypted, or compressed in a way that NumPy does not use')
        file = stack.enter_context(self.open(info))
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')    # headers written by Python 2 cause warnings
            shape, fortran, dtype = HEADERS[npy.read_magic(file)](file)
        shape, size = tuple(map(int, shape)), info.file_size - file.tell()
        if dtype.kind not in 'fiuUS':
            raise ValueError(f"it holds '{dtype}', neither real numbers nor text")
        if len(shape) > 32 or min(shape, default=0) < 0 or (
                math.prod(shape) * dtype.itemsize != size):
            raise ValueError(f'its header has the shape {shape}, but it has {size} bytes')
        return _Member(file, np.broadcast_to(np.zeros((), dtype), shape), fortran)

    def _check_size(self, size: int) -> None:
        check_decoded_size(size, self.stored, self._label, self._error)

    @contextmanager
    def _explain(self, label: str = '') -> Iterator[None]:
        """Turn any error of a damaged file into one that names the file and the array."""
        try:
            yield
        except RobotIdentificationError:
            raise
        except Exception as reason:    # damaged files raise errors of any class
            raise self._error(f'{self._label}{label} cannot be read: {reason}') from reason


def npz_source(path: Path) -> ColumnSource:
    """
    Return the arrays of a file `.npz` as columns: t (N,), q, v, tau, current, command (N, n).

    Only t and q are required. `joint_names` (n,) may be missing if the arm is known; the columns
    are then in the arm's order.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        The file is missing or not a NumPy archive.

    """
    layouts: dict[str, np.ndarray] = {}
    unreadable: list[str] = []
    archive = NumpyArchive(path, 'recording', RecordingError)
    for name in archive.names:
        try:
            layouts[name] = archive.layout(name)
        except RecordingError as error:
            unreadable.append(str(error))
    source = ColumnSource(path, layouts, archive.blocks, archive.stored)
    for remark in unreadable:
        source.add_remark(remark)
    return source
