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

from collections.abc import Iterable, Mapping
import copy
import importlib.util
import json
import os
from pathlib import Path
import re
import subprocess
import sys
import warnings
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import packages
from robot_identification.arm.urdf_check import check_names, check_urdf, parse_xml
from robot_identification.errors import ArmError, MissingDependencyError
from robot_identification.files import read_text, regular_size
from scipy.spatial.transform import Rotation

_LISTED = 20    # names in a folder that a sentence lists
XACRO_SECONDS = 30
XACRO = """import json, pathlib, resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
import xacro
from xacro import substitution_args
order = json.loads(sys.argv[1])
find_package = runpy.run_path(order['finder'])['find_package']
def find(name):
    folder = find_package(name, pathlib.Path(order['path']), order['folders'])
    if folder is None:
        sys.exit(f"the package '{name}' is not in --package-dir, not around the file and not in "
                 f"a sourced ROS; name the folder that holds it with --package-dir")
    return str(folder)
substitution_args._eval_find = find
text = xacro.process_file(order['path'], mappings=order['arguments']).toxml()
sys.stdout.buffer.write(text.encode())"""
"""Limited to 2 GB of memory, which no description of an arm needs."""
_XACRO_TAG = re.compile(r'<xacro:\w')    # some vendors call such files .urdf
MOVING = ('revolute', 'continuous', 'prismatic')
_NAME_ATTRIBUTES = {
    'link': ('name',), 'joint': ('name',), 'parent': ('link',), 'child': ('link',),
    'mimic': ('joint',), 'gazebo': ('reference',)}
"""Attributes that hold names of joints or links, by element."""


def read_urdf(source: str | Path, arguments: Mapping[str, str] | None = None,
              package_dirs: Iterable[str | Path] = ()) -> tuple[str, Path | None]:
    """
    Return URDF text and the file that it came from.

    Parameters
    ----------
    source
        URDF text, or the path of a URDF or xacro file, whatever its ending.
    arguments
        Arguments of a xacro, by name.
    package_dirs
        Folders that hold ROS packages, for `$(find ...)`.

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
    text = '' if path.suffix == '.xacro' else read_text(path, 'URDF', ArmError)
    if path.suffix == '.xacro' or _XACRO_TAG.search(text):
        return _expand_xacro(path, dict(arguments or {}), package_dirs), path
    if arguments:
        raise ArmError(f"'{path}' is no xacro, so it takes no arguments "
                       f'({", ".join(f"{k}:={v}" for k, v in arguments.items())})')
    return text, path


def _expand_xacro(path: Path, arguments: dict[str, str],
                  package_dirs: Iterable[str | Path]) -> str:
    """Expand in a process of its own: a xacro is a program, which may compute for ever."""
    if importlib.util.find_spec('xacro') is None:
        raise MissingDependencyError('xacro', f"reading '{path}'")
    regular_size(path, 'xacro file', ArmError)
    order = {'path': str(path.resolve()), 'arguments': arguments,
             'folders': [str(Path(folder).resolve()) for folder in package_dirs],
             'finder': packages.__file__}
    try:
        done = subprocess.run(
            [sys.executable, '-c', XACRO, json.dumps(order)], capture_output=True,
            timeout=XACRO_SECONDS,
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))})
    except subprocess.TimeoutExpired as error:
        raise ArmError(f"xacro did not expand '{path}' within {XACRO_SECONDS} s; does it "
                       'compute for ever?') from error
    if done.returncode:
        lines = done.stderr.decode('utf-8', 'replace').strip().splitlines()
        raise ArmError(f"xacro cannot expand '{path}': {_reason(lines, done.returncode)}")
    return done.stdout.decode('utf-8', 'replace')


def _absent(path: Path) -> str:
    """Return where a path ends, and what is there instead: an argument may name no variant."""
    missing = path
    while not missing.parent.exists():
        missing = missing.parent
    present = sorted(item.name for item in missing.parent.iterdir()) if (
        missing.parent.is_dir()) else []
    listed = ', '.join(present[:_LISTED]) + ', ...' * (len(present) > _LISTED)
    return (f"there is no '{path}': '{missing.parent}' has no '{missing.name}', it has: "
            f'{listed or "nothing"}; is an argument (NAME:=VALUE) misspelt?')


def _reason(lines: list[str], code: int) -> str:
    """Return what stopped xacro, and the way out where an argument is missing."""
    if not lines:
        return f'it ended with code {code}'
    # what raised the error stands before where it was raised from
    told = next((line for line in reversed(lines) if re.match(r'[\w.]+(Error|Exception)\b', line)),
                lines[-1])
    told = re.sub(r'^[\w.]+: ', '', told)
    absent = re.match(r"\[Errno 2\] No such file or directory: '(.+)'", told)
    if absent is not None:
        return _absent(Path(absent[1]))
    name = re.search(r'Undefined substitution argument (\S+)', told)
    return f'{told}; give it as {name.group(1)}:=VALUE' if name else told


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
    root = parse_xml(text, origin)
    if root.tag != 'robot':
        raise ArmError(f'{origin} is not a URDF: its root element is <{root.tag}>, not <robot>')
    if '{http://www.ros.org/wiki/xacro}' in ElementTree.tostring(root, encoding='unicode') or any(
            'xacro' in element.tag for element in root.iter()):
        raise ArmError(
            f'{origin} is a xacro that is not expanded; give the path of its file instead')
    check_names(root, origin)
    links = {link.get('name') for link in root.findall('link')}
    for joint in root.findall('joint'):
        for end in ('parent', 'child'):
            element = joint.find(end)
            link = None if element is None else element.get('link')
            if link not in links:
                raise ArmError(f"{origin}: joint '{joint.get('name')}' names the {end} link "
                               f"'{link}', which does not exist")
    check_urdf(root, origin)
    return root


def reduce_urdf(text: str, origin: str,
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
        elif kind != 'fixed' and joint.find('mimic') is not None:
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
    for key in ('velocity', 'effort'):
        if limit.get(key) is None and joint.get('type') in ('revolute', 'prismatic'):
            raise ArmError(f'{place} has a <limit> without {key}; add it, or 0 where it is not '
                           'known')
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
        with warnings.catch_warnings():    # a gimbal lock: one of the angles that do
            warnings.simplefilter('ignore')
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


def check_prefix(prefix: str, label: str) -> None:
    """
    Refuse a prefix that ROS does not accept in front of joint and link names.

    Raises
    ------
    ArmError
        It has other characters than letters, digits, _ and /.

    """
    if not re.fullmatch(r'[A-Za-z0-9_/]*', prefix):
        raise ArmError(f"{label}: the tf_prefix '{prefix}' may only have letters, digits, _ and "
                       '/, as left_')


def with_prefix(urdf: str, prefix: str) -> str:
    """
    Return URDF text whose joints and links have a prefix, as in the descriptions of drivers.

    Prefixes distinguish several arms of one ROS system. The link `world` keeps its name.

    Parameters
    ----------
    urdf
        URDF text.
    prefix
        For instance 'left_'; '' returns the text unchanged.

    """
    if not prefix:
        return urdf
    root = ElementTree.fromstring(urdf)
    for element in root.iter():
        for attribute in _NAME_ATTRIBUTES.get(element.tag, ()):
            value = element.get(attribute)
            if value and value != 'world':
                element.set(attribute, prefix + value)
    return ElementTree.tostring(root, encoding='unicode')
