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
"""Edits of XML text that leave every other byte as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.parsers import expat


@dataclass(frozen=True)
class Child:
    """
    An element that is to stand in another one.

    Parameters
    ----------
    tag
        Its tag; what there is of that tag is replaced.
    text
        The element as text.

    """

    tag: str
    text: str


def replace_children(text: str, children: Mapping[tuple[str, str], Child]) -> str:
    """
    Put elements into others of a URDF; every other byte stays.

    Parameters
    ----------
    text
        The URDF.
    children
        From tag and name of an element below <robot> to what is to stand in it.

    """
    data = text.encode('utf-8')
    edits = _Edits(data, children)
    for first, last, replacement in sorted(edits.found, reverse=True):
        data = data[:first] + replacement + data[last:]
    return data.decode('utf-8')


class _Edits:
    """Finds where in the bytes of a URDF the elements are."""

    def __init__(self, data: bytes, children: Mapping[tuple[str, str], Child]) -> None:
        self._data, self._children = data, children
        self._path: list[str] = []
        self._wanted: Child | None = None
        self._first = self._inside = 0
        self._seen = False
        self.found: list[tuple[int, int, bytes]] = []
        self._parser = expat.ParserCreate('utf-8')
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.Parse(data, True)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._path.append(name)
        place = self._parser.CurrentByteIndex
        if len(self._path) == 2 and self._path[0] == 'robot':
            self._wanted = self._children.get((name, attributes.get('name', '')))
            self._inside, self._seen = place, False
        elif len(self._path) == 3 and self._wanted and name == self._wanted.tag:
            self._first = place

    def _end(self, name: str) -> None:
        wanted = self._wanted
        if wanted and len(self._path) == 3 and name == wanted.tag:
            last = self._data.index(b'>', self._closing(name, self._first)) + 1
            self.found.append((self._first, last, b'' if self._seen else wanted.text.encode()))
            self._seen = True
        elif wanted and len(self._path) == 2 and not self._seen:
            self._insert(name, wanted.text.encode())
        if len(self._path) == 2:
            self._wanted = None
        self._path.pop()

    def _insert(self, parent: str, element: bytes) -> None:
        """Give an element to a parent that has none."""
        last = self._closing(parent, self._inside)
        if self._data[last:last + 2] == b'</':
            self.found.append((last, last, element))
        else:
            self.found.append((last, last + 2, b'>' + element + f'</{parent}>'.encode()))

    def _closing(self, name: str, start: int) -> int:
        """Return where the element that ends here and began at `start` has `</name>` or `/>`."""
        last = self._parser.CurrentByteIndex
        if self._data.startswith(f'</{name}'.encode(), last):
            return last
        return self._data.index(b'/>', start)
