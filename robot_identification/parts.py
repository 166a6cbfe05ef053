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
"""Sequences of recordings and of what is made of each: not all in memory, perhaps far away."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
import os
import pickle
import tempfile
from typing import Any, IO

import numpy as np

_HELD = 32_000_000
"""Bytes of items beyond which further ones lie on the disk: a dozen recordings of 12 000 samples
of 7 joints."""


_LARGE = 8_000_000
"""Bytes of an array that lies in a scratch file already, if there was room for it."""
_GROUPS = 32
"""Most sums of a robot that travel, however many recordings there are."""


class Shelf(Sequence[Any]):
    """
    Items that were made one after the other; those beyond `_HELD` bytes lie on the disk.

    An item that lies there is read again whenever it is asked for, so whoever looks at one after
    the other holds one at a time. They are in a file of the temporary folder that has no name and
    goes with the shelf. Items with arrays that lie in scratch files already, and all where the
    disk is full, are held.

    Parameters
    ----------
    items
        What to begin with.

    """

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items: list[Any] = []
        self._held = 0
        self._file: IO[bytes] | None = None
        for item in items:
            self.append(item)

    def __reduce__(self) -> tuple[Any, ...]:
        return Shelf, (list(self),)

    def append(self, item: Any) -> None:
        """Put one more item on the shelf."""
        sizes = [array.nbytes for array in _arrays(item)]
        if max(sizes, default=0) < _LARGE and self._held + sum(sizes) > _HELD:
            item = self._put(item)
        else:
            self._held += sum(sizes)
        self._items.append(item)

    def _put(self, item: Any) -> Any:
        """Return where an item lies now; the item itself where there is no room for it."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()    # noqa: SIM115
            first = self._file.seek(0, os.SEEK_END)
            try:
                pickle.dump(item, self._file, pickle.HIGHEST_PROTOCOL)
                self._file.flush()
            except OSError:
                self._file.truncate(first)
                raise
        except OSError:
            return item
        return _Lying(self._file, first, self._file.tell() - first)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return _Part(self, range(*number.indices(len(self))))
        item = self._items[number]
        return item.read() if isinstance(item, _Lying) else item


@dataclass(frozen=True)
class _Lying:
    """Where an item lies, and how long it is [bytes]."""

    file: IO[bytes]
    first: int
    size: int

    def read(self) -> Any:
        """Return the item."""
        found = pickle.loads(os.pread(self.file.fileno(), self.size, self.first))
        for array in _arrays(found):
            array.flags.writeable = False
        return found


class _Part(Sequence[Any]):
    """Some items of a shelf."""

    def __init__(self, shelf: Shelf, numbers: range) -> None:
        self._shelf, self._numbers = shelf, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: Any) -> Any:
        found = self._numbers[number]
        return _Part(self._shelf, found) if isinstance(number, slice) else self._shelf[found]


Over = Callable[..., Iterator[Any]]
"""Calls of a function over sequences: `over` here, or as tasks of a cluster."""


class Far(Sequence[Any], ABC):
    """Items that are made and looked at by other processes, see `robot_identification.fleet`."""

    @staticmethod
    def groups(count: int) -> list[slice]:
        """Return consecutive items that are looked at together, at most `_GROUPS` times."""
        size = max(1, -(-count // _GROUPS))
        return [slice(first, min(first + size, count)) for first in range(0, count, size)]

    @staticmethod
    def added(function: Callable[..., Any], add: Callable[[Any, Any], Any],
              sequences: Sequence[Sequence[Any]], given: tuple[Any, ...]) -> Any:
        """Return the sum of function(*items, *given) over the items of one group."""
        return reduce(add, over(function, *sequences, given=given))

    @abstractmethod
    def over(self, function: Callable[..., Any], sequences: Sequence[Sequence[Any]],
             given: tuple[Any, ...]) -> Iterator[Any]:
        """Yield function(*items, *given) of the items of sequences, of which this is one."""

    @abstractmethod
    def mapped(self, function: Callable[..., Any], sequences: Sequence[Sequence[Any]],
               given: tuple[Any, ...]) -> Far:
        """Return the same as a sequence that stays where it is made."""

    @abstractmethod
    def merged(self, function: Callable[..., Any], add: Callable[[Any, Any], Any],
               sequences: Sequence[Sequence[Any]], given: tuple[Any, ...]) -> Iterator[Any]:
        """Yield the sum of the same over each of `Far.groups`."""


def over(function: Callable[..., Any], *sequences: Sequence[Any],
         given: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield function(*items, *given) of the items of sequences: computed where the items are."""
    far = _far(sequences)
    if far is not None:
        return far.over(function, sequences, given)
    return (function(*items, *given) for items in zip(*sequences, strict=True))


def mapped_over(function: Callable[..., Any], *sequences: Sequence[Any],
                given: tuple[Any, ...] = ()) -> Sequence[Any]:
    """Return the same as a sequence, whose items stay where they are made."""
    far = _far(sequences)
    if far is not None:
        return far.mapped(function, sequences, given)
    return Shelf(over(function, *sequences, given=given))


def merged_over(function: Callable[..., Any], add: Callable[[Any, Any], Any],
                *sequences: Sequence[Any], given: tuple[Any, ...] = ()) -> Any:
    """
    Return the sum of the same (at least one).

    Added up group after group, see `Far.groups`, wherever that is: so no digit depends on it.
    """
    far = _far(sequences)
    if far is not None:
        return reduce(add, far.merged(function, add, sequences, given))
    return reduce(add, (Far.added(function, add, [s[group] for s in sequences], given)
                        for group in Far.groups(len(sequences[0]))))


def _far(sequences: Iterable[Sequence[Any]]) -> Far | None:
    return next((one for one in sequences if isinstance(one, Far)), None)


def _arrays(item: Any) -> list[np.ndarray]:
    """Return the arrays of a dataclass, a tuple or a list."""
    values = item if isinstance(item, (tuple, list)) else getattr(item, '__dict__', {}).values()
    return [value for value in values if isinstance(value, np.ndarray)]
