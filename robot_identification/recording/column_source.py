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
"""Column source: a file with named columns of one number per sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError
from robot_identification.files import check_decoded_size

SPLIT = '; split it, or write it as NPZ'    # hint for files that are too large


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
        number of rows is unknown and may be zero. Their values are not used.
    chunks
        Function that reads the arrays with the given names, and yields them in consecutive groups
        of rows.
    stored
        Size of the file [bytes]; None for data in memory, whose size is not limited.

    """

    def __init__(self, path: str | Path, layouts: Mapping[str, np.ndarray],
                 chunks: Callable[[Sequence[str]], Iterator[Mapping[str, np.ndarray]]],
                 stored: int | None = None) -> None:
        self.name, self.label = str(path), f"the recording '{path}'"
        self.remarks: list[str] = []    # remarks for the user on the rows read so far
        self.widths: dict[str, int] = {}    # number of columns m of each array (N, m)
        self._chunks, self._texts, self._stored = chunks, set[str](), stored
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
        if self._stored is not None:
            check_decoded_size(8 * sum(self._rows[name] for name, _ in chosen), self._stored,
                               self.label, RecordingError)
        for arrays in self._chunks(list(dict.fromkeys(name for name, _ in chosen))):
            values = [arrays[name][:, k] if name in self.widths else arrays[name].ravel()
                      for name, k in chosen]
            counts = {len(column) for column in values}
            if len(counts) > 1:
                raise RecordingError(
                    f'{self.label}: {", ".join(columns[:3])} ... have {min(counts)} to '
                    f'{max(counts)} samples; they must have the same number')
            yield np.column_stack(values).astype(float, copy=False)

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
