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
"""Reading URDF text: which joints move, and the folded text that the models are built from."""

from __future__ import annotations

from collections.abc import Mapping
import copy
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.errors import ArmError, MissingDependencyError
from scipy.spatial.transform import Rotation

MOVING = ('revolute', 'continuous', 'prismatic')


def read_urdf(source: str | Path) -> tuple[str, Path | None]:
    """
    Return URDF text and the file that it came from.

    Parameters
    ----------
    source
        URDF text, or the path of a URDF or xacro file.

    Raises
    ------
    ArmError
        There is no such file, or it is not readable text.
    MissingDependencyError
        A xacro file is given and the package `xacro` is not installed.

    """
    if isinstance(source, str) and source.lstrip().startswith('<'):
        return source, None
    path = Path(source)
    if path.suffix == '.xacro':
        return _expand_xacro(path), path
    try:
        return path.read_bytes().decode('utf-8'), path
    except FileNotFoundError as error:
        raise ArmError(f"there is no URDF '{path}'") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ArmError(f"the URDF '{path}' cannot be read: {error}") from error


def _expand_xacro(path: Path) -> str:
    try:
        import xacro
    except ImportError as error:
        raise MissingDependencyError('xacro', f"reading '{path}'") from error
    if not path.exists():
        raise ArmError(f"there is no xacro file '{path}'")
    try:
        return str(xacro.process_file(str(path)).toxml())
    except Exception as error:  # xacro raises many unrelated types for a user's mistake
        raise ArmError(f"xacro cannot expand '{path}': {error}") from error


def parse_urdf(text: str, origin: str) -> ElementTree.Element:
    """
    Return the root element of a URDF, having checked that it is one.

    Parameters
    ----------
    text
        The URDF.
    origin
        How to call it in an error, for instance its path.

    Raises
    ------
    ArmError
        It is not XML, not a URDF, or has no moving joint.

    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ArmError(f'{origin} is not well-formed XML: {error}') from error
    if root.tag != 'robot':
        raise ArmError(f'{origin} is not a URDF: its root element is <{root.tag}>, not <robot>')
    if '{http://www.ros.org/wiki/xacro}' in ElementTree.tostring(root, encoding='unicode') or any(
            'xacro' in element.tag for element in root.iter()):
        raise ArmError(
            f'{origin} is an unexpanded xacro; save it with the ending .xacro or expand it')
    names = [joint.get('name') for joint in root.findall('joint')]
    for name in names:
        if names.count(name) > 1:
            raise ArmError(f"{origin} has two joints named '{name}'")
    links = {link.get('name') for link in root.findall('link')}
    for joint in root.findall('joint'):
        for end in ('parent', 'child'):
            element = joint.find(end)
            link = None if element is None else element.get('link')
            if link not in links:
                raise ArmError(f"{origin}: joint '{joint.get('name')}' names the {end} link "
                               f"'{link}', which does not exist")
    return root


def fold_urdf(text: str, origin: str,
              locked: Mapping[str, float | None]) -> tuple[str, dict[str, float]]:
    """
    Fix the locked joints at their positions and check that the rest can be identified.

    Parameters
    ----------
    text, origin
        The URDF and how to call it in an error.
    locked
        Position [rad or m] of each joint to lock; None means zero, or the limit nearest to it.

    Returns
    -------
    tuple
        The folded URDF text, and the positions that the locked joints were given.

    Raises
    ------
    ArmError
        An unknown joint is to be locked, a joint mimics another one or is of a kind that cannot
        be identified and is not locked, or nothing is left to move.

    """
    root = copy.deepcopy(parse_urdf(text, origin))
    joints = {joint.get('name', ''): joint for joint in root.findall('joint')}
    for name in locked:
        if name not in joints:
            raise ArmError(f"{origin} has no joint '{name}' to lock; it has: {', '.join(joints)}")
    positions = {}
    for name, joint in joints.items():
        kind = joint.get('type')
        if name in locked:
            positions[name] = _fix(joint, locked[name])
        elif joint.find('mimic') is not None:
            master = joint.find('mimic').get('joint')  # type: ignore[union-attr]
            raise ArmError(f"{origin}: joint '{name}' mimics '{master}', which has no torque of "
                           f'its own to identify; lock it: locked: {{{name}: 0.0}}')
        elif kind not in (*MOVING, 'fixed'):
            raise ArmError(f"{origin}: joint '{name}' is of type '{kind}'; only revolute, "
                           f'continuous, prismatic and fixed joints can be identified, or lock it')
    for name, joint in joints.items():
        _check_limit(joint, f"{origin}: joint '{name}'")
    if not any(joint.get('type') in MOVING for joint in joints.values()):
        raise ArmError(f'{origin} has no joint that moves')
    return ElementTree.tostring(root, encoding='unicode'), positions


def _check_limit(joint: ElementTree.Element, place: str) -> None:
    limit = joint.find('limit')
    if limit is None:
        if joint.get('type') in ('revolute', 'prismatic'):
            raise ArmError(f'{place} has no <limit>; add it, or make the joint continuous')
        return
    for key in ('lower', 'upper', 'velocity', 'effort'):
        try:
            value = float(limit.get(key, '0'))
        except ValueError as error:
            raise ArmError(f"{place} has the {key} limit '{limit.get(key)}', which is not a number"
                           ) from error
        if key in ('velocity', 'effort') and value < 0:
            raise ArmError(f'{place} has the {key} limit {value:g}, it must not be negative')


def _fix(joint: ElementTree.Element, position: float | None) -> float:
    kind = joint.get('type')
    if kind == 'fixed':
        return 0.0
    if kind not in MOVING:
        raise ArmError(f"joint '{joint.get('name')}' of type '{kind}' cannot be locked")
    value = _locked_position(joint, position)
    axis = _vector(joint.find('axis'), 'xyz', (1.0, 0.0, 0.0))
    axis = axis / np.linalg.norm(axis)
    origin = joint.find('origin')
    if origin is None:
        origin = ElementTree.SubElement(joint, 'origin')
    xyz, rpy = _vector(origin, 'xyz', (0, 0, 0)), _vector(origin, 'rpy', (0, 0, 0))
    if kind == 'prismatic':
        xyz = xyz + rotation_from_rpy(rpy) @ axis * value
    else:
        turned = Rotation.from_euler('xyz', rpy) * Rotation.from_rotvec(axis * value)
        rpy = turned.as_euler('xyz')
    origin.set('xyz', ' '.join(repr(float(x)) for x in xyz))
    origin.set('rpy', ' '.join(repr(float(x)) for x in rpy))
    joint.set('type', 'fixed')
    for tag in ('mimic', 'limit', 'dynamics', 'safety_controller', 'calibration', 'axis'):
        for element in joint.findall(tag):
            joint.remove(element)
    return value


def _locked_position(joint: ElementTree.Element, position: float | None) -> float:
    limit = joint.find('limit')
    lower, upper = -np.inf, np.inf
    if limit is not None and joint.get('type') != 'continuous':
        lower, upper = float(limit.get('lower', '0')), float(limit.get('upper', '0'))
    if position is None:
        return float(min(max(0.0, lower), upper))
    if not lower - 1e-9 <= position <= upper + 1e-9:
        raise ArmError(f"joint '{joint.get('name')}' cannot be locked at {position:g}: "
                       f'its limits are {lower:g} and {upper:g}')
    return float(position)


def _vector(element: ElementTree.Element | None, name: str,
            default: tuple[float, ...]) -> np.ndarray:
    text = None if element is None else element.get(name)
    return np.array(default if text is None else [float(x) for x in text.split()], dtype=float)


def rotation_from_rpy(rpy: ArrayLike) -> np.ndarray:
    """Return the rotation matrix of URDF's roll, pitch and yaw [rad], about fixed axes x, y, z."""
    matrix: np.ndarray = Rotation.from_euler('xyz', np.asarray(rpy, dtype=float)).as_matrix()
    return matrix
