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
"""Lists whose tail is on disk, for recordings and samples that do not all fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import os
import pickle
import tempfile
from typing import Any, IO

import numpy as np

_MAX_BYTES_IN_MEMORY = 80_000_000
"""[bytes] of arrays kept in memory: samples of 340 000 rows of seven joints. Long recordings read
the rest from disk about thirty times, which costs 5 us a row."""


class SpillingList(Sequence[Any]):
    """
    A list of items with arrays whose tail is on disk, in a temporary file without a name.

    Items are appended in memory up to `_MAX_BYTES_IN_MEMORY`; later ones are pickled and read
    again at each access, with read-only arrays, so that a loop holds one at a time. Items stay in
    memory where the disk is full. The file disappears with the list.

    Parameters
    ----------
    items
        Initial items.

    Examples
    --------
    >>> recordings = SpillingList(load_recording(path, arm) for path in paths)

    """

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items: list[Any] = []
        self._bytes_in_memory = 0
        self._file: IO[bytes] | None = None
        for item in items:
            self.append(item)

    def __reduce__(self) -> tuple[Any, ...]:
        return SpillingList, (list(self),)

    def append(self, item: Any) -> None:
        """Append an item."""
        size = sum(array.nbytes for array in _arrays(item))
        if self._bytes_in_memory + size > _MAX_BYTES_IN_MEMORY:
            item = self._spill(item)
        else:
            self._bytes_in_memory += size
        self._items.append(item)

    def _spill(self, item: Any) -> Any:
        """Write an item and return its place in the file; the item itself if the disk is full."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()    # noqa: SIM115
            start = self._file.seek(0, os.SEEK_END)
            try:
                pickle.dump(item, self._file, pickle.HIGHEST_PROTOCOL)
                self._file.flush()
            except OSError:
                self._file.truncate(start)
                raise
        except OSError:
            return item
        return _SpilledItem(self._file, start, self._file.tell() - start)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        item = self._items[index]
        return item.read() if isinstance(item, _SpilledItem) else item


@dataclass(frozen=True)
class View(Sequence[Any]):
    """
    Some items of a list, each read at its access.

    Parameters
    ----------
    items
        The list.
    rows
        Indices of the items.

    """

    items: Sequence[Any]
    rows: range

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        rows = self.rows[index]
        return View(self.items, rows) if isinstance(rows, range) else self.items[rows]


@dataclass(frozen=True)
class _SpilledItem:
    """File, start and size [bytes] of an item on disk."""

    file: IO[bytes]
    start: int
    size: int

    def read(self) -> Any:
        """Return the item."""
        item = pickle.loads(os.pread(self.file.fileno(), self.size, self.start))
        for array in _arrays(item):
            array.flags.writeable = False
        return item


def _arrays(item: Any) -> list[np.ndarray]:
    """Return the arrays of a dataclass, a tuple or a list."""
    values = item if isinstance(item, (tuple, list)) else getattr(item, '__dict__', {}).values()
    return [value for value in values if isinstance(value, np.ndarray)]
