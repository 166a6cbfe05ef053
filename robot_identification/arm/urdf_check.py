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
"""A URDF that a stranger wrote: numbers that are numbers, and links that make one tree."""

from __future__ import annotations

from collections import Counter
import copy
import io
import math
import re
from xml.etree import ElementTree

from robot_identification.errors import ArmError, RobotIdentificationError
from urdf_parser_py import xml_reflection
from urdf_parser_py.urdf import URDF

MAX_DEPTH = 100    # levels of nesting; URDFs have fewer than 10
MAX_CHARACTERS = 20_000_000    # the largest URDFs of arms have 1 % of that
MAX_NUMBER = 1e9    # of any quantity: lengths, masses and torques of arms are far smaller
NUMBER = re.compile(r'[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?')
INFINITE = re.compile(r'[-+]?inf(inity)?', re.IGNORECASE)
# numeric attributes by element: how many numbers each has
NUMBERS = {
    'origin': {'xyz': 3, 'rpy': 3}, 'axis': {'xyz': 3}, 'mass': {'value': 1},
    'inertia': dict.fromkeys(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), 1),
    'limit': dict.fromkeys(('lower', 'upper', 'velocity', 'effort'), 1),
    'dynamics': {'damping': 1, 'friction': 1}, 'mimic': {'multiplier': 1, 'offset': 1},
    'box': {'size': 3}, 'sphere': {'radius': 1}, 'mesh': {'scale': 3},
    'cylinder': {'radius': 1, 'length': 1}, 'capsule': {'radius': 1, 'length': 1}}
PARTS = {'link': ('inertial', 'collision'),
         'joint': ('origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic')}


def parse_xml(text: str, label: str,
              error: type[RobotIdentificationError] = ArmError) -> ElementTree.Element:
    """
    Return the root element of XML text, with a check of its size and depth.

    Parameters
    ----------
    text
        The XML.
    label
        Name of the text in messages.
    error
        Class of the error to raise.

    Raises
    ------
    RobotIdentificationError
        An error of the class `error`: it is too large, nested too deep, or not well-formed.

    """
    if len(text) > MAX_CHARACTERS:
        raise error(f'{label} has {len(text) / 1e6:.0f} million characters, more than the '
                    f'{MAX_CHARACTERS / 1e6:.0f} million of the largest file that is read')
    depth = 0
    try:
        for event, _ in ElementTree.iterparse(io.BytesIO(text.encode()), ('start', 'end')):
            depth += 1 if event == 'start' else -1
            if depth > MAX_DEPTH:
                raise error(f'{label} is nested more than {MAX_DEPTH} levels deep')
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError, LookupError) as reason:
        raise error(f'{label} is not well-formed XML: {reason}') from reason


def check_urdf(root: ElementTree.Element, origin: str) -> None:
    """
    Refuse numbers that cannot be read, and links that do not make one tree.

    Pinocchio's reader takes "2,846" for zero, refuses whitespace behind a number, which is taken
    out here, and ends the process where joints make a loop.

    Parameters
    ----------
    root
        Root element of the URDF, its joints' links known to exist.
    origin
        How to call it in an error.

    Raises
    ------
    ArmError
        With the element and its value.

    """
    for kind in PARTS:
        for element in root.findall(kind):
            _check_numbers(element, f"{origin}: {kind} '{element.get('name')}'")
    for link in root.findall('link'):
        _check_inertial(link, origin)
    for joint in root.findall('joint'):
        axis = joint.find('axis')
        if joint.get('type') == 'fixed' or axis is None:
            continue
        if not any(float(x) for x in axis.get('xyz', '1 0 0').split()):
            raise ArmError(f"{origin}: joint '{joint.get('name')}' has the axis "
                           f'"{axis.get("xyz")}", which has no direction')
    _check_tree(root, origin)
    _check_with_library(root, origin)


def _check_numbers(element: ElementTree.Element, place: str) -> None:
    for part in element.iter():
        for name, count in NUMBERS.get(part.tag, {}).items():
            text = part.get(name)
            if text is None:
                continue
            words = text.split()
            largest = math.inf if part.tag == 'limit' else MAX_NUMBER
            if part.tag == 'limit' and len(words) == 1 and INFINITE.fullmatch(words[0]):
                continue
            bad = [word for word in words if not NUMBER.fullmatch(word)
                   or not math.isfinite(float(word)) or abs(float(word)) > largest]
            if bad or len(words) != count:
                wanted = 'a number' if count == 1 else f'{count} numbers'
                hint = '; write a point, not a comma' if ',' in text else ''
                raise ArmError(f'{place}, <{part.tag} {name}="{text[:60]}">: that is not '
                               f'{wanted}{hint}')
            part.set(name, ' '.join(words))


def _check_inertial(link: ElementTree.Element, origin: str) -> None:
    """Refuse an inertial element that lacks a part: readers leave it out without a word."""
    inertial = link.find('inertial')
    if inertial is None or not len(inertial):
        return
    place = f"{origin}: link '{link.get('name')}'"
    for tag in ('mass', 'inertia'):
        element = inertial.find(tag)
        if element is None:
            raise ArmError(f'{place} has an <inertial> without <{tag}>; add it, or leave out '
                           '<inertial>')
        for name in NUMBERS[tag]:
            if element.get(name) is None:
                raise ArmError(f'{place} has an <{tag}> without {name}')


def _check_tree(root: ElementTree.Element, origin: str) -> None:
    links = [link.get('name', '') for link in root.findall('link')]
    parents: dict[str, tuple[str, str]] = {}
    for joint in root.findall('joint'):
        name = joint.get('name', '')
        parent, child = (joint.find(end).get('link', '')    # type: ignore[union-attr]
                         for end in ('parent', 'child'))
        if child in parents:
            raise ArmError(f"{origin}: link '{child}' is the child of two joints, "
                           f"'{parents[child][0]}' and '{name}'; a URDF is a tree, cut loops open")
        parents[child] = (name, parent)
    roots = [link for link in links if link not in parents]
    if not roots:
        raise ArmError(f'{origin} has no base: every link is the child of a joint, so the joints '
                       'make a loop; a URDF is a tree')
    if len(roots) > 1:
        raise ArmError(f'{origin} has several bases, links without a joint to a parent: '
                       f'{", ".join(roots[:5])}; join or remove them')
    reached = {roots[0]}
    for link in links:
        way = []
        while link not in reached:
            if link in way:
                raise ArmError(f"{origin}: the joints make a loop through link '{link}'; a URDF "
                               'is a tree')
            way.append(link)
            link = parents[link][1]
        reached.update(way)


def _check_with_library(root: ElementTree.Element, origin: str) -> None:
    """Let urdf-parser-py read links and joints; what it does not know it is not shown."""
    stripped = ElementTree.Element('robot', {'name': root.get('name') or 'arm'})
    for kind, parts in PARTS.items():
        for element in root.findall(kind):
            copied = ElementTree.SubElement(stripped, kind, dict(element.attrib))
            copied.extend(copy.deepcopy(part) for part in element
                          if part.tag in parts and (part.tag != 'inertial' or len(part)))
            for limit in copied.findall('limit'):
                for name in ('effort', 'velocity'):    # zero: not known, as many URDFs write
                    limit.set(name, limit.get(name, '0'))
    stderr, xml_reflection.core.on_error = xml_reflection.core.on_error, lambda message: None
    try:
        URDF.from_xml_string(ElementTree.tostring(stripped))
    except (xml_reflection.core.ParseError, ValueError, TypeError, KeyError,
            AttributeError, AssertionError) as error:
        raise ArmError(f'{origin} cannot be read: {error}') from error
    finally:
        xml_reflection.core.on_error = stderr


def check_names(root: ElementTree.Element, origin: str) -> None:
    """
    Refuse links and joints without a name, or with that of another one.

    Parameters
    ----------
    root, origin
        As for `check_urdf`.

    Raises
    ------
    ArmError
        With the name.

    """
    if not root.get('name'):
        raise ArmError(f'{origin}: its <robot> has no name; write <robot name="...">')
    for kind in PARTS:
        names = [element.get('name') for element in root.findall(kind)]
        if None in names:
            raise ArmError(f'{origin} has a {kind} without a name')
        name, count = Counter(names).most_common(1)[0] if names else (None, 0)
        if count > 1:
            raise ArmError(f"{origin} has two {kind}s named '{name}'")
