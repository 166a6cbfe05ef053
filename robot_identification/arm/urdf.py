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
"""Reads URDFs, expands xacros, fixes locked joints, and builds the Pinocchio model of a URDF."""

from collections.abc import Iterable, Mapping
import importlib.util
import json
from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arm.limits import Limits
from robot_identification.arm.urdf_check import check_urdf, MAX_CHARACTERS, parse_xml
from robot_identification.arrays import Array
from robot_identification.errors import ArmError, MissingDependencyError
from robot_identification.files import read_text, regular_size
from robot_identification.helper_process import HELPERS, run_helper, TimeoutExpired

_XACRO_TAG = re.compile(r'<xacro:\w')    # some vendors name xacros *.urdf
MOVING = ('revolute', 'continuous', 'prismatic')


def read_urdf(source: str | Path, arguments: Mapping[str, str] | None = None,
              package_dirs: Iterable[str | Path] = ()) -> tuple[str, Path | None]:
    """
    Return URDF text and the path of its file; the path is None if `source` is text.

    Parameters
    ----------
    source
        URDF text, or the path of a URDF or xacro file with any extension.
    arguments
        Arguments of a xacro, by name.
    package_dirs
        Folders that contain ROS packages, for `$(find ...)`.

    Raises
    ------
    ArmError
        The file is missing, is not readable text, or xacro cannot expand it.
    MissingDependencyError
        The file is a xacro and the package `xacro` is not installed.

    """
    if isinstance(source, str) and source.lstrip().startswith('<'):
        return source, None
    path = Path(source)
    text = '' if path.suffix == '.xacro' else read_text(path, 'URDF', ArmError)
    if path.suffix == '.xacro' or _XACRO_TAG.search(text):
        return _expand_xacro(path, dict(arguments or {}), package_dirs), path
    if arguments:
        raise ArmError(f"'{path}' is not a xacro and takes no arguments "
                       f'({", ".join(f"{k}:={v}" for k, v in arguments.items())})')
    return text, path


def _expand_xacro(path: Path, arguments: dict[str, str],
                  package_dirs: Iterable[str | Path]) -> str:
    """Return the URDF of a xacro, expanded in a process with limits of time and memory."""
    if importlib.util.find_spec('xacro') is None:
        raise MissingDependencyError('xacro', f"reading '{path}'")
    regular_size(path, 'xacro file', ArmError)
    order = {'path': str(path.resolve()), 'arguments': arguments, 'length': MAX_CHARACTERS,
             'folders': [str(Path(folder).resolve()) for folder in package_dirs]}
    try:
        done = run_helper('xacro', json.dumps(order))
    except TimeoutExpired as error:
        raise ArmError(f"xacro did not expand '{path}' within {HELPERS['xacro'].seconds} s; does "
                       'it contain an endless loop?') from error
    if done.returncode:
        lines = done.stderr.decode('utf-8', 'replace').strip().splitlines()
        raise ArmError(f"xacro cannot expand '{path}': {_reason(lines, done.returncode)}")
    return done.stdout.decode('utf-8', 'replace')


def _reason(lines: list[str], code: int) -> str:
    """Return the reason why xacro failed, with a hint for a missing or misspelt argument."""
    if not lines:
        return f'it exited with code {code}'
    if 'MemoryError' in lines:
        return f'it needs more than {(HELPERS["xacro"].memory or 0) / 1e9:g} GB of memory'
    # of chained exceptions the last one is useful to the user
    reason = next((line for line in reversed(lines)
                   if re.match(r'[\w.]+(Error|Exception)\b', line)), lines[-1])
    reason = re.sub(r'^[\w.]+: (\[Errno \d+\] )?', '', reason).rstrip()
    name = re.search(r'Undefined substitution argument (\S+)', reason)
    if reason.startswith('No such file'):
        reason += '; is an argument (NAME:=VALUE) misspelt?'
    return f'{reason}; give it as {name.group(1)}:=VALUE' if name else reason


def parse_urdf(text: str, label: str) -> ElementTree.Element:
    """
    Return the root element of URDF text after checking it.

    Parameters
    ----------
    text
        The URDF.
    label
        Name of the URDF in messages, for instance its path.

    Raises
    ------
    ArmError
        The text is not XML, not a URDF, or has no movable joint.

    """
    root = parse_xml(text, label)
    if root.tag != 'robot':
        raise ArmError(f'{label} is not a URDF: its root element is <{root.tag}>, not <robot>')
    if any('xacro' in element.tag for element in root.iter()):
        raise ArmError(
            f'{label} is a xacro that is not expanded; give the path of its file instead')
    check_urdf(root, label)
    return root


def reduce_urdf(text: str, label: str,
                locked: Mapping[str, float | None]) -> tuple[str, dict[str, float]]:
    """
    Return a URDF with locked joints fixed, after a check that the other joints can be identified.

    Parameters
    ----------
    text, label
        The URDF, and its name in messages.
    locked
        Position [rad or m] of each joint to lock; None means zero, or the limit nearest to it.

    Returns
    -------
    tuple
        The reduced URDF text, and the positions at which joints are locked.

    Raises
    ------
    ArmError
        A joint to lock does not exist; a joint that is not locked mimics another one or has a type
        that cannot be identified; or no joint can move.

    """
    root = parse_urdf(text, label)
    joints = {joint.get('name', ''): joint for joint in root.findall('joint')}
    for name in locked:
        if name not in joints:
            raise ArmError(f"{label} has no joint '{name}' to lock; it has: {', '.join(joints)}")
    positions = {}
    for name, joint in joints.items():
        kind = joint.get('type')
        if name in locked:
            positions[name] = _fix(joint, locked[name])
        elif kind != 'fixed' and joint.find('mimic') is not None:
            master = joint.find('mimic').get('joint')  # type: ignore[union-attr]
            raise ArmError(f"{label}: joint '{name}' mimics '{master}', which has no torque of "
                           f'its own to identify; lock it: locked: {{{name}: 0.0}}')
        elif kind not in (*MOVING, 'fixed'):
            raise ArmError(f"{label}: joint '{name}' is of type '{kind}'; only revolute, "
                           f'continuous, prismatic and fixed joints are supported')
    for name, joint in joints.items():
        _check_limit(joint, f"{label}: joint '{name}'")
    if not any(joint.get('type') in MOVING for joint in joints.values()):
        raise ArmError(f'{label} has no joint that moves')
    return ElementTree.tostring(root, encoding='unicode'), positions


def _check_limit(joint: ElementTree.Element, label: str) -> None:
    """Raise ArmError if a joint lacks a required limit or has a negative one; 0 means unknown."""
    limit, required = joint.find('limit'), joint.get('type') in ('revolute', 'prismatic')
    if limit is None:
        if required:
            raise ArmError(f'{label} has no <limit>; give it with: robot-identification init '
                           f"--repair --position {joint.get('name')}=LOWER:UPPER")
        return
    for key in ('velocity', 'effort'):
        if required:
            limit.set(key, limit.get(key, '0'))
        if float(limit.get(key, '0')) < 0:
            raise ArmError(f'{label}: the {key} limit {limit.get(key)} must not be negative; '
                           'correct it in the URDF (0 stands for unknown)')


def _fix(joint: ElementTree.Element, position: float | None) -> float:
    """Fix a joint at a position, see `reduce_urdf`, and return the position [rad or m]."""
    kind = joint.get('type')
    if kind == 'fixed':
        return 0.0
    if kind not in MOVING:
        raise ArmError(f"joint '{joint.get('name')}' of type '{kind}' cannot be locked")
    value = _locked_position(joint, position)
    element, origin = joint.find('axis'), joint.find('origin')
    text = '1 0 0' if element is None else element.get('xyz', '1 0 0')
    axis = np.array(text.split(), dtype=float)
    axis = axis / np.linalg.norm(axis)
    if origin is None:
        origin = ElementTree.SubElement(joint, 'origin')
    xyz, rpy = (np.array(origin.get(key, '0 0 0').split(), dtype=float) for key in ('xyz', 'rpy'))
    if kind == 'prismatic':
        xyz = xyz + pin.rpy.rpyToMatrix(rpy) @ axis * value
    else:
        rpy = pin.rpy.matrixToRpy(pin.rpy.rpyToMatrix(rpy) @ pin.exp3(axis * value))
    origin.set('xyz', ' '.join(repr(float(x)) for x in xyz))
    origin.set('rpy', ' '.join(repr(float(x)) for x in rpy))
    joint.set('type', 'fixed')
    joint[:] = [element for element in joint if element.tag not in (
        'mimic', 'limit', 'dynamics', 'safety_controller', 'calibration', 'axis')]
    return value


def _locked_position(joint: ElementTree.Element, position: float | None) -> float:
    """Return the position at which to lock a joint; raise ArmError if it is beyond a limit."""
    lower, upper = position_limits(joint)
    if position is None:
        return float(min(max(0.0, lower), upper))
    if not lower - 1e-9 <= position <= upper + 1e-9:
        raise ArmError(f"joint '{joint.get('name')}' cannot be locked at {position:g}: "
                       f'its limits are {lower:g} and {upper:g}')
    return float(position)


def position_limits(joint: ElementTree.Element) -> tuple[float, float]:
    """Return the position limits of a joint [rad or m], infinite if it has none."""
    limit = joint.find('limit')
    if limit is None or joint.get('type') == 'continuous':
        return -np.inf, np.inf
    return float(limit.get('lower', '0')), float(limit.get('upper', '0'))


def check_gravity(gravity: ArrayLike) -> Array:
    """
    Return gravity as an array (3,) [m/s^2], after a check of its shape and values.

    Raises
    ------
    ArmError
        Gravity is not three finite numbers.

    """
    vector: Array = np.asarray(gravity, dtype=float)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise ArmError(f'gravity must be three numbers [m/s^2], not {gravity!r}')
    return vector


def build_model(urdf: str, label: str) -> pin.Model:
    """
    Return the Pinocchio model of a URDF whose locked joints are fixed.

    Parameters
    ----------
    urdf
        Text of the URDF.
    label
        Name of the URDF in messages.

    Raises
    ------
    ArmError
        Pinocchio does not accept the URDF.

    """
    root = ElementTree.fromstring(urdf)
    root[:] = [element for element in root if element.tag in ('link', 'joint')]
    for element in root:    # remove geometry, whose mesh files may be missing
        element[:] = [child for child in element if child.tag not in ('visual', 'collision')]
    for joint in root.findall('joint'):
        if joint.get('type') == 'continuous':
            joint.set('type', 'revolute')
            limit = joint.find('limit')
            if limit is None:
                limit = ElementTree.SubElement(joint, 'limit')
            limit.set('lower', '-inf')
            limit.set('upper', 'inf')
            for name in ('effort', 'velocity'):
                limit.set(name, limit.get(name, 'inf'))
    text = ElementTree.tostring(root, encoding='unicode')
    text = re.sub(r'"(-?)inf"', r'"\g<1>1e308"', text)
    try:
        return pin.buildModelFromXML(text)
    except (ValueError, RuntimeError) as error:
        raise ArmError(f'Pinocchio cannot build a model from {label}: {error}') from error


def read_limits(model: pin.Model) -> Limits:
    """Return the limits of the joints of a URDF; unknown limits are infinite."""
    unknown = np.full(model.nv, np.inf)
    lower, upper, velocity, torque = (    # `build_model` wrote 1e308 for infinity
        np.where(np.abs(values) > 1e300, np.copysign(np.inf, values), values)
        for values in (model.lowerPositionLimit, model.upperPositionLimit, model.velocityLimit,
                       model.effortLimit))
    # many URDFs have a torque or velocity limit of zero where it is not known
    return Limits(lower, upper, np.where(velocity == 0, np.inf, velocity), unknown, unknown,
                  np.where(torque == 0, np.inf, torque))
