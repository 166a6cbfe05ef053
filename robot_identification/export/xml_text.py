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
"""XML as text: building elements, and edits that leave every other byte as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias
from xml.etree import ElementTree
from xml.parsers import expat

Value: TypeAlias = 'str | float | Iterable[float] | None'


def add_element(parent: ElementTree.Element, tag: str, text: Value = None,
                **attributes: Value) -> ElementTree.Element:
    """Append an element to its parent and return it; attributes that are None are left out."""
    element = ElementTree.SubElement(parent, tag, {
        name: _text(value) for name, value in attributes.items() if value is not None})
    element.text = None if text is None else _text(text)
    return element


def numbers(values: Iterable[float]) -> str:
    """Return numbers as text that reads back to the same bits; -0.0 becomes 0.0."""
    return ' '.join(repr(float(x) + 0.0) for x in values)


def _text(value: str | float | Iterable[float]) -> str:
    if isinstance(value, str):
        return value
    return numbers(value) if isinstance(value, Iterable) else repr(float(value))


def xml_text(root: ElementTree.Element, declaration: str = '<?xml version="1.0"?>\n') -> str:
    """Return an indented document."""
    ElementTree.indent(root)
    return f'{declaration}{ElementTree.tostring(root, encoding="unicode")}\n'


def replace_children(text: str, children: Mapping[tuple[str, str], tuple[str, str]]) -> str:
    """
    Return a URDF with other elements inside elements below <robot>; every other byte stays.

    Parameters
    ----------
    text
        The URDF.
    children
        From tag and name of an element below <robot> to the tag and the text of its new child,
        which replaces its children of that tag.

    """
    data = text.encode('utf-8')
    path: list[tuple[str, int, tuple[str, str] | None]] = []    # tag, start, new child
    edits: list[tuple[int, int, bytes]] = []    # start, end, replacement
    replaced = False
    parser = expat.ParserCreate('utf-8')

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        nonlocal replaced
        child = None
        if len(path) == 1 and path[0][0] == 'robot':
            child, replaced = children.get((tag, attributes.get('name', ''))), False
        path.append((tag, parser.CurrentByteIndex, child))

    def end(tag: str) -> None:
        nonlocal replaced
        _, first, child = path.pop()
        last = parser.CurrentByteIndex
        closed_by_tag = data.startswith(f'</{tag}'.encode(), last)
        if not closed_by_tag:    # <tag .../>
            last = data.index(b'/>', first)
        parent = path[-1][2] if len(path) == 2 else None
        if parent is not None and tag == parent[0]:
            edits.append((first, data.index(b'>', last) + 1,
                          b'' if replaced else parent[1].encode()))
            replaced = True
        elif child is not None and not replaced:
            edits.append((last, last, child[1].encode()) if closed_by_tag else
                         (last, last + 2, f'>{child[1]}</{tag}>'.encode()))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)
    for first, last, replacement in sorted(edits, reverse=True):
        data = data[:first] + replacement + data[last:]
    return data.decode('utf-8')
