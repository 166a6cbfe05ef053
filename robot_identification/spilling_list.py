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
"""Lists on disk, for recordings and samples that do not all fit into memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from mmap import ACCESS_READ, ALLOCATIONGRANULARITY, mmap
import os
import pickle
import tempfile
from typing import Any, IO

_MAX_BYTES_IN_MEMORY = 70_000_000
"""Largest size of a list in memory [bytes]: samples of 300 000 rows of seven joints."""


class SpillingList(Sequence[Any]):
    """
    A list of items with arrays that moves to disk when its arrays become large.

    Up to `_MAX_BYTES_IN_MEMORY` in all arrays, the items stay in memory. Beyond that, all
    items move to an unnamed temporary file, which the operating system deletes with the list. Each
    access then reads an item from the file, with read-only arrays, so that a loop over the list
    holds one item at a time. If the disk is full, items stay in memory.

    Parameters
    ----------
    items
        Initial items.

    Examples
    --------
    >>> recordings = SpillingList(load_recording(path, arm) for path in paths)

    """

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items: list[Any] = []    # an object, or a function that reads it
        self._bytes = 0
        self._file: IO[bytes] | None = None
        for item in items:
            self.append(item)

    def __reduce__(self) -> tuple[Any, ...]:
        return SpillingList, (list(self),)

    def append(self, item: Any) -> None:
        """Append an item."""
        self._items.append(item)
        self._bytes += sum(array.nbytes for array in _pickled(item)[1:])
        if self._bytes > _MAX_BYTES_IN_MEMORY:
            self._items = [self._spill(kept) for kept in self._items]

    def _spill(self, item: Any) -> Any:
        """Write an item to the file and return its position; if the disk is full, return it."""
        if isinstance(item, partial):
            return item
        parts = _pickled(item)
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()    # noqa: SIM115
            start = -(-self._file.seek(0, os.SEEK_END) // ALLOCATIONGRANULARITY)
            self._file.seek(start * ALLOCATIONGRANULARITY)
            self._file.writelines(parts)
            self._file.flush()
        except OSError:
            return item
        return partial(_read, self._file, start * ALLOCATIONGRANULARITY,
                       tuple(data.nbytes for data in parts))

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        item = self._items[index]
        return item() if isinstance(item, partial) else item


@dataclass(frozen=True)
class View(Sequence[Any]):
    """
    Some items of a list; an item is read when it is accessed.

    Parameters
    ----------
    items
        The list.
    rows
        Indices of the items in the list.

    """

    items: Sequence[Any]
    rows: range

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        rows = self.rows[index]
        return View(self.items, rows) if isinstance(rows, range) else self.items[rows]


def _read(file: IO[bytes], start: int, sizes: tuple[int, ...]) -> Any:
    """Return the object with parts of these sizes [bytes]; its arrays are views of the file."""
    content = memoryview(mmap(file.fileno(), sum(sizes), access=ACCESS_READ, offset=start))
    head, *arrays = (content[stop - size:stop] for stop, size in zip(accumulate(sizes), sizes))
    return pickle.loads(head, buffers=arrays)


def _pickled(item: Any) -> list[memoryview]:
    """Return the pickled item without its arrays, and the memory of each of its arrays."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(item, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
    return [memoryview(head), *(array.raw() for array in arrays)]
