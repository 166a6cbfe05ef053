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
"""Writing of XML elements, and replacement of elements in the text of a URDF."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias
from xml.etree import ElementTree
from xml.parsers import expat

Value: TypeAlias = 'str | float | Iterable[float] | None'


def add_element(parent: ElementTree.Element, tag: str, text: Value = None,
                **attributes: Value) -> ElementTree.Element:
    """Append an element to a parent and return the element; attributes of None are omitted."""
    element = ElementTree.SubElement(parent, tag, {
        name: _text(value) for name, value in attributes.items() if value is not None})
    element.text = None if text is None else _text(text)
    return element


def numbers(values: Iterable[float]) -> str:
    """Return numbers as text with full precision, separated by spaces; -0.0 becomes 0.0."""
    return ' '.join(repr(float(x) + 0.0) for x in values)


def _text(value: str | float | Iterable[float]) -> str:
    """Return a text, a number or a sequence of numbers as text."""
    if isinstance(value, str):
        return value
    return numbers(value) if isinstance(value, Iterable) else repr(float(value))


def xml_text(root: ElementTree.Element, declaration: str = '<?xml version="1.0"?>\n') -> str:
    """Return an XML document as indented text."""
    ElementTree.indent(root)
    return f'{declaration}{ElementTree.tostring(root, encoding="unicode")}\n'


def replace_children(text: str, children: Mapping[tuple[str, str], tuple[str, str]]) -> str:
    """
    Return the text of a URDF in which children of links and joints are replaced.

    The rest of the text is unchanged, including comments and white space.

    Parameters
    ----------
    text
        Text of the URDF.
    children
        New children by parent: from tag and name of the parent, a child of <robot>, to tag and
        text of the new child. The new child replaces all children with its tag, or is added.

    """
    data = text.encode('utf-8')
    path: list[tuple[str, int, tuple[str, str] | None]] = []    # tag, start, new child
    edits: list[tuple[int, int, bytes]] = []    # start, end, replacement
    replaced = False
    parser = expat.ParserCreate('utf-8')

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        """Store the position of an element, and its new child if it gets one."""
        nonlocal replaced
        child = None
        if len(path) == 1 and path[0][0] == 'robot':
            child, replaced = children.get((tag, attributes.get('name', ''))), False
        path.append((tag, parser.CurrentByteIndex, child))

    def end(tag: str) -> None:
        """Add the edit for an element that is replaced, or whose new child is missing."""
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
