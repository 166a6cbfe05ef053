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
"""Checks of a URDF: names, numbers, and links that form one tree."""

from collections import Counter
from graphlib import CycleError, TopologicalSorter
import io
import re
import sys
from xml.etree import ElementTree

from robot_identification.errors import ArmError, RobotIdentificationError
from robot_identification.yaml_file import truncated_repr

MAX_DEPTH = 100    # levels of nesting: ten times those of a URDF
MAX_CHARACTERS = 10_000_000    # fifty times the size of the largest URDFs of arms
MAX_ELEMENTS = 100_000    # fifty times those of the largest URDFs of arms
MAX_VALUE = 10_000    # characters of an attribute; paths of meshes have hundreds
MAX_NUMBER = 1e9    # magnitude of a number: no quantity of an arm is so large, in any unit
NUMBER = re.compile(r'[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?')
INFINITE = re.compile(r'[-+]?inf(inity)?', re.IGNORECASE)
REQUIRED = {'box': ('size',), 'sphere': ('radius',), 'cylinder': ('radius', 'length'),
            'mesh': ('filename',), 'axis': ('xyz',), 'mimic': ('joint',),
            'mass': ('value',), 'inertia': ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')}
# numeric attributes of each element, and how many numbers each attribute has
NUMBERS = {
    'origin': {'xyz': 3, 'rpy': 3}, 'axis': {'xyz': 3}, 'mass': {'value': 1},
    'inertia': dict.fromkeys(REQUIRED['inertia'], 1),
    'limit': dict.fromkeys(('lower', 'upper', 'velocity', 'effort'), 1),
    'dynamics': {'damping': 1, 'friction': 1}, 'mimic': {'multiplier': 1, 'offset': 1},
    'box': {'size': 3}, 'sphere': {'radius': 1}, 'mesh': {'scale': 3},
    'cylinder': {'radius': 1, 'length': 1}, 'capsule': {'radius': 1, 'length': 1}}
ONCE = {'link': ('inertial',),
        'joint': ('origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic')}
"""Elements that a link or joint has at most once."""
JOINT_TYPES = 'revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar'
SHAPES = ('box', 'cylinder', 'mesh', 'sphere')
MAX_JOINTS = 400    # of all types; humanoids with hands and sensors have half as many
MAX_NAME = 200    # [characters] of a name; vendors' names have at most 50


def parse_xml(text: str, label: str,
              error: type[RobotIdentificationError] = ArmError) -> ElementTree.Element:
    """
    Return the root element of XML text, after a check of its size and depth.

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
        An error of the class `error`: the text is too large, nested too deep, not well-formed,
        or has an attribute of more than `MAX_VALUE` characters.

    """
    if len(text) > MAX_CHARACTERS:
        raise error(f'{label} has {len(text) / 1e6:.0f} million characters; the limit is '
                    f'{MAX_CHARACTERS / 1e6:.0f} million')
    if '<!ENTITY' in text:    # its expansion could have any size
        raise error(f'{label} defines entities (<!ENTITY ...>); write their text instead')
    depth = count = 0
    try:
        for event, _ in ElementTree.iterparse(io.BytesIO(text.encode()), ('start', 'end')):
            depth += 1 if event == 'start' else -1
            count += event == 'start'
            if count > MAX_ELEMENTS:
                raise error(f'{label} has more than {MAX_ELEMENTS} elements')
            if depth > MAX_DEPTH:
                raise error(f'{label} is nested more than {MAX_DEPTH} levels deep')
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError, LookupError) as reason:
        raise error(f'{label} is not well-formed XML: {reason}') from reason
    longest = max(len(text) for element in root.iter()
                  for text in (element.tag, *element.attrib.values()))
    if longest > MAX_VALUE:
        raise error(f'{label} has an attribute of {longest} characters; the limit is {MAX_VALUE}')
    return root


def check_urdf(root: ElementTree.Element, label: str) -> None:
    """
    Raise an error if names, numbers or the kinematic tree of a URDF are not valid.

    Pinocchio does not detect all of this: it reads "2,846" as zero and ends the process if joints
    form a loop. It also rejects whitespace after a number, which is removed here.

    Parameters
    ----------
    root
        Root element of the URDF.
    label
        Name of the URDF in messages.

    Raises
    ------
    ArmError
        A check failed; the message names the element and its value.

    """
    _check_names(root, label)
    for element in (*root.findall('link'), *root.findall('joint')):
        name = f"{label}: {element.tag} '{element.get('name')}'"
        _check_structure(element, name)
        _check_numbers(element, name)
        # parsers ignore an incomplete <inertial> silently
        element[:] = [child for child in element if child.tag != 'inertial' or len(child)]
        for tag in ('mass', 'inertia'):
            if element.find('inertial') is not None and element.find(f'inertial/{tag}') is None:
                raise ArmError(f'{name} has an <inertial> without <{tag}>; add it, or leave out '
                               '<inertial>')
        axis = element.find('axis')
        if axis is not None and element.get('type') != 'fixed' and not any(
                map(float, axis.get('xyz', '1 0 0').split())):
            raise ArmError(f'{name} has the axis "{axis.get("xyz")}", which has no direction')
    _check_tree(root, label)


def _check_numbers(element: ElementTree.Element, label: str) -> None:
    """Raise ArmError if a number of an element cannot be read; strip whitespace around numbers."""
    for child in element.iter():
        for name, count in NUMBERS.get(child.tag, {}).items():
            text = child.get(name)
            if text is None:
                continue
            numbers = text.split()
            largest = sys.float_info.max if child.tag == 'limit' else MAX_NUMBER
            if child.tag == 'limit' and len(numbers) == 1 and INFINITE.fullmatch(numbers[0]):
                continue
            if len(numbers) != count or not all(
                    NUMBER.fullmatch(x) and abs(float(x)) <= largest for x in numbers):
                expected = 'a number' if count == 1 else f'{count} numbers'
                hint = '; use a decimal point, not a comma' if ',' in text else ''
                raise ArmError(f'{label}, <{child.tag} {name}="{text[:60]}">: expected '
                               f'{expected}{hint}')
            child.set(name, ' '.join(numbers))


def _check_tree(root: ElementTree.Element, label: str) -> None:
    """Raise ArmError if a joint refers to a missing link, or the links do not form one tree."""
    links = [link.get('name', '') for link in root.findall('link')]
    parents: dict[str, tuple[str, str]] = {}
    for joint in root.findall('joint'):
        name, ends = joint.get('name', ''), []
        for end in ('parent', 'child'):
            element = joint.find(end)
            ends.append('' if element is None else element.get('link', ''))
            if ends[-1] not in links:
                raise ArmError(f"{label}: joint '{name}' names the {end} link '{ends[-1]}', which "
                               'does not exist')
        parent, child = ends
        if child in parents:
            raise ArmError(f"{label}: link '{child}' is the child of two joints, "
                           f"'{parents[child][0]}' and '{name}'; a URDF must be a tree")
        parents[child] = (name, parent)
    try:
        TopologicalSorter({child: [parent] for child, (_, parent) in parents.items()}).prepare()
    except CycleError as error:
        raise ArmError(f"{label}: the joints form a loop through link '{error.args[1][0]}'; a "
                       'URDF must be a tree') from error
    roots = [link for link in links if link not in parents]
    if len(roots) > 1:
        raise ArmError(f'{label} has several root links: '
                       f'{", ".join(roots[:5])}; join or remove them')


def _check_structure(element: ElementTree.Element, label: str) -> None:
    """
    Raise ArmError if a link or joint lacks an element or attribute, or has one twice.

    The first of several origins of a joint counts, as in urdfdom; the LWR4+'s description has two.
    """
    children = Counter(child.tag for child in element)
    if element.tag == 'joint' and element.get('type') not in JOINT_TYPES:
        raise ArmError(f'{label} has the type {truncated_repr(element.get("type"))}; expected '
                       f'one of {", ".join(JOINT_TYPES)}')
    for collision in element.findall('collision'):
        shapes = [f'<{shape.tag}>' for shape in collision.iterfind('geometry/*')]
        if not len(shapes) == len(collision.findall('geometry')) == 1 or (
                shapes[0][1:-1] not in SHAPES):
            raise ArmError(f'{label} has {" and ".join(shapes) or "no shape"} in a collision '
                           f'<geometry>; supported: one {", ".join(SHAPES)}')
    for child in element:
        if child.tag in ONCE[element.tag] and children[child.tag] > 1 and child.tag != 'origin':
            raise ArmError(f'{label} has more than one <{child.tag}>')
        for each in child.iter() if child.tag in (*ONCE[element.tag], 'collision') else ():
            for name in REQUIRED.get(each.tag, ()):
                if each.get(name) is None:
                    raise ArmError(f'{label} has a <{each.tag}> without {name}')


def _check_names(root: ElementTree.Element, label: str) -> None:
    """Raise ArmError if the robot, a link or a joint has no name, or if two share a name."""
    if not root.get('name'):
        raise ArmError(f'{label}: its <robot> has no name; write <robot name="...">')
    for element in (root, *root.findall('link'), *root.findall('joint')):
        text = element.get('name') or ''
        if len(text) > MAX_NAME or not text.isprintable():
            raise ArmError(f'{label} has a {element.tag} named {truncated_repr(ascii(text))}, of '
                           f'{len(text)} characters; a name is one line of printable characters, '
                           f'at most {MAX_NAME} of them')
    for kind in ONCE:
        names = [element.get('name') for element in root.findall(kind)]
        if None in names:
            raise ArmError(f'{label} has a {kind} without a name')
        if len(names) > MAX_JOINTS + (kind == 'link'):
            raise ArmError(f'{label} has {len(names)} {kind}s; an arm has at most {MAX_JOINTS} '
                           'joints, so leave out those that are not part of the arm')
        name, count = Counter(names).most_common(1)[0] if names else (None, 0)
        if count > 1:
            raise ArmError(f"{label} has two {kind}s named '{name}'")
