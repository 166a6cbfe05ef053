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
"""Column source: a file or data frame with named columns of one number per sample."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.files import check_decoded_size, regular_size

Chunks = Callable[[Sequence[str]], Iterator[Mapping[str, np.ndarray]]]
BLOCK_ROWS = 50_000    # samples of a block: 2.8 MB per signal of seven joints
COLUMNS = 10_000    # largest number of columns or arrays of a file; logs have hundreds
SIZE = 4_000_000_000    # largest file of any format [bytes]: as CSV, 4 h of 7 joints at 1 kHz
SPLIT = '; split it, or write it as NPZ'    # hint for files that are too large


def stored_size(path: str | Path) -> int:
    """Return the size of a file [bytes]; raise a RecordingError if it is missing or too large."""
    return regular_size(path, 'recording', RecordingError, SIZE, SPLIT)


class ColumnSource:
    """
    A file with named columns of one number per sample.

    An array `x`, (N, m), has the columns `x[0]` to `x[m - 1]`; an array (N,) is one column `x`.

    Parameters
    ----------
    path
        The file, or its name in messages.
    layouts
        Arrays that have the types and shapes of those in the file, by name; in text files the
        number of rows is unknown and may be zero. Their values are not used if there are `chunks`.
    chunks
        Function that reads the arrays with the given names, and yields them in consecutive groups
        of rows; None if `layouts` are the arrays.
    stored
        Size of the file [bytes]; None for data in memory, whose size is not limited.

    """

    def __init__(self, path: str | Path, layouts: Mapping[str, np.ndarray],
                 chunks: Chunks | None = None, stored: int | None = None) -> None:
        self.name = str(path)
        self.remarks: list[str] = []    # for the user, on the file and the rows read so far
        self._lasting: list[str] = []    # those on the file
        self.widths: dict[str, int] = {}    # number of columns m of each array (N, m)
        self._chunks = chunks or (lambda names: iter([layouts]))
        self._texts, self.stored = set[str](), stored
        self.folder: object = None    # temporary folder that is removed with the source
        self._rows: dict[str, int] = {}    # declared number of rows of each array
        self._columns: dict[str, tuple[str, int]] = {}
        for name, array in layouts.items():
            if array.dtype.kind in 'US':
                self._texts.add(name)
            elif array.dtype.kind in 'fiub' and array.ndim == 2 and 1 not in array.shape:
                self.widths[name] = array.shape[1]
                self._columns.update({f'{name}[{k}]': (name, k) for k in range(array.shape[1])})
            elif array.dtype.kind in 'fiub' and array.ndim in (1, 2):
                self._columns[name] = name, 0
            self._rows[name] = array.size // (self.widths.get(name) or 1)
        self.names = list(self._columns)

    def blocks(self, columns: Sequence[str]) -> Iterator[Array]:
        """
        Yield the values of columns in blocks of consecutive rows, (N, len(columns)) each.

        Parameters
        ----------
        columns
            Names of the columns, that of the stamps first.

        Raises
        ------
        RecordingError
            The columns have different numbers of samples, cannot be read, or are too large.

        """
        chosen = [self._columns[column] for column in columns]
        self._check_size(8 * sum(self._rows[name] for name, _ in chosen))
        self.remarks, size = [*self._lasting], 0
        for arrays in self._chunks(list(dict.fromkeys(name for name, _ in chosen))):
            values = [arrays[name][:, k] if name in self.widths else arrays[name].ravel()
                      for name, k in chosen]
            counts = {len(column) for column in values}
            if len(counts) > 1:
                raise RecordingError(
                    f'{self.label}: {", ".join(columns[:3])} ... have {min(counts)} to '
                    f'{max(counts)} samples; they must have the same number')
            table = np.column_stack(values).astype(float, copy=False)
            size += table.nbytes
            self._check_size(size)
            yield table

    @property
    def label(self) -> str:
        """The name of the file in messages."""
        return f"the recording '{self.name}'"

    def rename(self, name: str | Path) -> None:
        """Use another name in messages: that of the original of a converted file."""
        self._lasting, self.remarks = (
            [remark.replace(self.name, str(name)) for remark in remarks]
            for remarks in (self._lasting, self.remarks))
        self.name = str(name)

    def _check_size(self, size: int) -> None:
        if self.stored is not None:
            check_decoded_size(size, self.stored, self.label, RecordingError)

    def name_for(self, arm: Arm | None) -> None:
        """Give the columns names for an arm if the file has none."""

    def rename_columns(self, names: Sequence[str]) -> None:
        """Give all columns other names, in their order."""
        self._columns = dict(zip(names, self._columns.values()))
        self.names = list(names)

    def add_remark(self, remark: str) -> None:
        """Add a remark on the file; those on its rows are of the last reading alone."""
        self._lasting.append(remark)
        self.remarks.append(remark)

    def joint_names(self, name: str) -> tuple[str, ...]:
        """
        Return the joint names in a text array of the file, () if the file lacks the array.

        Parameters
        ----------
        name
            Name of the array.

        Raises
        ------
        RecordingError
            The array is not valid text.

        """
        if name not in self._texts:
            return ()
        try:
            names = np.ravel(next(self._chunks([name]))[name]).astype(str).tolist()
            ''.join(names).encode()
        except ValueError as error:    # bytes above 127, or surrogate code points
            raise RecordingError(f"{self.label}: '{name}' is not valid text") from error
        return tuple(names)


def frame_arrays(frame: Any, entry_names: Mapping[str, Sequence[str]]) -> dict[str, np.ndarray]:
    """
    Return the columns of a data frame that hold numbers, dates (in s), or arrays of one length.

    If the frame has no column `t`, an index of dates is used. Another named index is a column as
    well.

    Parameters
    ----------
    frame
        The pandas data frame.
    entry_names
        Names of the entries of the arrays in a column, by name of the column.

    """
    columns, index = dict(frame.items()), frame.index
    if index.dtype.kind == 'M':
        columns.setdefault('t', index)
    elif index.name is not None:
        columns.setdefault(index.name, index)
    arrays: dict[str, np.ndarray] = {}
    for label, values in columns.items():
        column, names = np.asarray(values), entry_names.get(str(label), ())
        if column.dtype.kind == 'M':    # seconds since 1970
            column = column.astype('datetime64[ns]').astype(np.int64) / 1e9
        if column.dtype == object and len({np.shape(item) for item in column}) == 1 and (
                np.ndim(column[0]) == 1):
            column = np.stack(column.tolist())
        if column.ndim == 2 and column.shape[1] == len(names):
            arrays.update({f'{label}.{name}': column[:, k] for k, name in enumerate(names)})
        elif column.dtype.kind in 'fiub':
            arrays[str(label)] = column
    return arrays
