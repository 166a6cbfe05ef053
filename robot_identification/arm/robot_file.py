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
"""Robot YAML: what the URDF says, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm.arm import Arm, STANDARD_GRAVITY
from robot_identification.arm.balancers import Balancer, BALANCERS, ESTIMATE
from robot_identification.arm.driver import argument_texts, Driver
from robot_identification.arm.drives import Drives
from robot_identification.arm.effort import Effort, PositionSignal
from robot_identification.arm.library import find_urdf
from robot_identification.arm.limits import FASTEST, Limits
from robot_identification.arm.recording_block import check_recording_block
from robot_identification.arm.robot_keys import ROBOT_FILE_KEYS
from robot_identification.arm.urdf import rotation_from_rpy
from robot_identification.arrays import read_only
from robot_identification.errors import ArmError, ConfigurationError
from robot_identification.yaml_file import read_yaml, Schema, shown

KEYS = tuple(ROBOT_FILE_KEYS)
JOINT_KEYS = ('position', 'velocity', 'acceleration', 'jerk', 'torque')
DRIVE_KEYS = ('gain', 'reduction', 'rotor_inertia')
SAME = 1e-6    # relative difference of limits that rounding makes
STRONGEST_GRAVITY = 30.0    # [m/s^2], of no planet that arms work on
_S = Schema(ConfigurationError)


def read_robot_file(path: str | Path) -> Arm:
    """
    Build the arm that a robot YAML describes.

    Parameters
    ----------
    path
        The YAML; a relative `urdf` in it is looked for beside it.

    Raises
    ------
    ConfigurationError
        The file is missing, is not YAML, has unknown keys or places that are still to be filled
        in.
    ArmError
        The URDF cannot be used.

    """
    path = Path(path)
    content = read_yaml(path, 'robot YAML', ConfigurationError)
    if not isinstance(content, dict):
        raise ConfigurationError(f"the robot YAML '{path}' is not a mapping of keys to values")
    return arm_from_mapping(content, folder=path.parent, origin=f"the robot YAML '{path}'",
                            source=path)


def arm_from_mapping(content: Mapping[str, Any], *, folder: Path, origin: str,
                     source: Path | None = None) -> Arm:
    """
    Build an arm from the content of a robot YAML.

    Parameters
    ----------
    content
        The mapping; `urdf` may also be the URDF text itself.
    folder
        Where relative paths start.
    origin
        How to call the mapping in an error.
    source
        The file that it came from.

    Raises
    ------
    ConfigurationError, ArmError
        As `read_robot_file`.

    """
    _known_keys(content, KEYS, origin)
    content = _without_locked(content, origin)
    if _unfilled(content.get('effort'), 'effort'):    # missed where torques are read
        content = {key: value for key, value in content.items() if key != 'effort'}
    content = _without_open_limits(content)
    empty = _unfilled(content, '')
    if empty:
        raise ConfigurationError(f'{origin} still has places to fill in: {", ".join(empty)}')
    if 'urdf' not in content:
        raise ConfigurationError(f'{origin} does not name its `urdf`')
    for key in ('urdf', 'name', 'tf_prefix'):
        _S.text(content.get(key, ''), f'{origin}, {key}')
    urdf = content['urdf']
    folders = _folders(content.get('package_dirs', []), folder, origin)
    base = Arm.from_urdf(
        urdf if urdf.lstrip().startswith('<') else find_urdf(urdf, folder, folders),
        locked=_locked(content.get('locked', {}), origin), gravity=_gravity(content, origin),
        name=content.get('name'), arguments=_arguments(content.get('xacro', {}), origin),
        package_dirs=folders)
    limits = _limits(base, content.get('joints', {}), origin)
    wider = _wider(base, limits, content.get('urdf_limits_wrong', []), origin,
                   strict=source is not None)
    drives = _drives(base, content.get('drives', {}), content.get('coupling', {}), origin)
    effort = None
    if 'effort' in content:
        effort = _section(Effort, content['effort'], f'{origin}, effort')
    keys = check_recording_block(content.get('recording', {}), base.joint_names,
                                 f'{origin}, recording')
    arm = dataclasses.replace(
        base, limits=limits, drives=drives, effort=effort, source=source,
        position=_position(base, content.get('position', {}), origin), recording_keys=keys,
        wider_limits=wider,
        balancers=_balancers(base, content.get('balancers', {}), f'{origin}, balancers'),
        estimate_gravity=content.get('gravity') == ESTIMATE,
        tf_prefix=content.get('tf_prefix', ''),
        driver=_driver(content, origin),
        unmeasured=_unmeasured(base, content.get('unmeasured', []), f'{origin}, unmeasured'))
    try:
        limits.check(arm.joint_names)
        drives.check(arm.joint_names)
    except ArmError as error:
        raise ConfigurationError(f'{origin}: {error}') from error
    return arm


def arm_to_mapping(arm: Arm) -> dict[str, Any]:
    """
    Return the content of a self-contained robot YAML: the inverse of `arm_from_mapping`.

    The URDF is included as text, so the mapping needs no other file.
    """
    limits, drives = arm.limits, arm.drives
    joints: dict[str, Any] = {}
    motors: dict[str, Any] = {}
    coupling: dict[str, Any] = {}
    for i, joint in enumerate(arm.joint_names):
        joints[joint] = {'position': [float(limits.lower[i]), float(limits.upper[i])]}
        for name in JOINT_KEYS[1:]:
            joints[joint][name] = float(getattr(limits, name)[i])
        motors[joint] = {'reduction': float(drives.reduction[i])}
        for name, values in (('gain', drives.gains), ('rotor_inertia', drives.rotor_inertia)):
            if np.isfinite(values[i]):
                motors[joint][name] = float(values[i])
        row = {other: float(drives.coupling[i, k]) for k, other in enumerate(arm.joint_names)
               if drives.coupling[i, k] != float(i == k)}
        if row:
            coupling[joint] = row
    content: dict[str, Any] = {
        'name': arm.name, 'urdf': arm.urdf, 'locked': dict(arm.locked),
        'gravity': [float(x) for x in arm.gravity], 'joints': joints, 'drives': motors,
        'coupling': coupling, 'recording': dict(arm.recording_keys),
        'position': {'side': arm.position.side,
                     'offset': dict(zip(arm.joint_names, map(float, arm.position.offset)))}}
    if arm.wider_limits:
        content['urdf_limits_wrong'] = list(arm.wider_limits)
    if arm.unmeasured:
        content['unmeasured'] = list(arm.unmeasured)
    if arm.tf_prefix:
        content['tf_prefix'] = arm.tf_prefix
    if arm.balancers:
        content['balancers'] = {b.name: _balancer_content(b) for b in arm.balancers}
    if arm.effort is not None:
        content['effort'] = dataclasses.asdict(arm.effort)
    return content


def _driver(content: Mapping[str, Any], origin: str) -> Driver | None:
    if 'driver' not in content:
        return None
    return Driver.read(content['driver'], f'{origin}, driver')


def _known_keys(content: Any, known: tuple[str, ...], origin: str) -> None:
    _mapping(content, origin, f' with the keys {", ".join(known)}')
    for key in content:
        if key not in known:
            raise ConfigurationError(
                f"{origin} has the unknown key '{shown(key)}'; known are: {', '.join(known)}")


def _mapping(content: Any, origin: str, keys: str = '') -> None:
    if not isinstance(content, Mapping):
        raise ConfigurationError(f'{origin} must be a mapping{keys}, not {shown(content)}')


def _without_locked(content: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Leave out the limits and drives of locked joints: they stand still."""
    locked = content.get('locked', {})
    if not isinstance(locked, Mapping | list):
        raise ConfigurationError(f'{origin}, locked must be joints with their positions, '
                                 f'as {{finger: 0.0}}, not {shown(locked)}')
    return {key: ({joint: values for joint, values in value.items() if joint not in locked}
                  if key in ('joints', 'drives') and isinstance(value, Mapping) else value)
            for key, value in content.items()}


def _unfilled(content: Any, prefix: str) -> list[str]:
    if content is None:
        return [prefix]
    if isinstance(content, Mapping):
        return [place for key, value in content.items()
                for place in _unfilled(value, f'{prefix}.{key}' if prefix else str(key))]
    return []


def _without_open_limits(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out velocities and accelerations that are not filled in: designs miss them."""
    joints = content.get('joints')
    if not isinstance(joints, Mapping):
        return content
    return {**content, 'joints': {
        joint: {name: value for name, value in given.items()
                if value is not None or name not in ('velocity', 'acceleration')}
        if isinstance(given, Mapping) else given for joint, given in joints.items()}}


def _section(kind: Any, content: Any, origin: str) -> Any:
    names = tuple(f.name for f in dataclasses.fields(kind))
    _known_keys(content, names, origin)
    missing = [name for name in names if name not in content]
    if missing:
        raise ConfigurationError(f'{origin} lacks: {", ".join(missing)} (there is no default, '
                                 f'because drivers differ)')
    try:
        return kind(**content)
    except ConfigurationError as error:
        raise ConfigurationError(f'{origin}: {error}') from error


def _gravity(content: Mapping[str, Any], origin: str) -> np.ndarray:
    stated: Any = content.get('gravity', STANDARD_GRAVITY)
    if stated == ESTIMATE:
        stated = STANDARD_GRAVITY
    elif 'mount' in content and 'gravity' in content:
        raise ConfigurationError(f'{origin} gives both `gravity` and `mount`; give one of them')
    gravity = _numbers(stated, 3, f'{origin}, gravity')
    if not np.all(np.abs(gravity) < STRONGEST_GRAVITY):
        raise ConfigurationError(f'{origin}, gravity is {shown(stated)}; it must be in m/s^2, as '
                                 '[0, 0, -9.81]')
    if 'mount' not in content:
        return gravity
    _known_keys(content['mount'], ('rpy',), f'{origin}, mount')
    rpy = _numbers(content['mount'].get('rpy', []), 3, f'{origin}, mount.rpy')
    if not np.all(np.abs(rpy) <= 2 * np.pi):
        raise ConfigurationError(f'{origin}, mount.rpy is {shown(content["mount"]["rpy"])}; it '
                                 'must be in radians, within one turn')
    return rotation_from_rpy(rpy).T @ np.array(STANDARD_GRAVITY)


def _numbers(value: Any, count: int, origin: str) -> np.ndarray:
    try:
        numbers = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([])
    if numbers.shape != (count,) or np.any(np.isnan(numbers)):
        raise ConfigurationError(f'{origin} must be {count} numbers, not {shown(value)}')
    return numbers


def _locked(content: Any, origin: str) -> Any:
    """Return the locked joints, names or positions by name, having looked at their types."""
    if isinstance(content, list):
        _S.items(_S.text)(content, f'{origin}, locked')
    else:
        _S.named(_S.maybe(_S.finite))(content, f'{origin}, locked')
    return content


def _wider(arm: Arm, limits: Limits, allowed: Any, origin: str, strict: bool) -> tuple[str, ...]:
    """
    Return the joints whose limits are wider than the URDF's; refuse those that nobody allowed.

    Parameters
    ----------
    arm
        With the limits of the URDF.
    limits
        With those of the YAML.
    allowed
        Joints whose URDF is known to be wrong.
    origin
        How to call the YAML in an error.
    strict
        Whether to refuse; a model file reports what its arm was identified with.

    """
    _S.items(_S.text)(allowed, f'{origin}, urdf_limits_wrong')
    for joint in allowed:
        if joint not in arm.joint_names:
            raise ConfigurationError(f"{origin}, urdf_limits_wrong names '{shown(joint)}', which "
                                     f'is no joint of the arm: {", ".join(arm.joint_names)}')
    found = dict.fromkeys(joint for joint, *_ in wider_limits(arm, limits))
    for joint, name, value, urdf in wider_limits(arm, limits):
        slides = bool(arm.prismatic[arm.joint_names.index(joint)])
        if strict and not slides and name != 'torque' and _in_degrees(value, urdf):
            raise ConfigurationError(
                f'{origin}, {joint}: the {name} {value:g} is degrees, and must be radians: '
                f'{np.deg2rad(value):.6g} (the URDF allows {urdf:g})')
        if strict and joint not in allowed:
            raise ConfigurationError(
                f'{origin}, {joint}: the {name} {value:g} is wider than the {urdf:g} that the '
                f'URDF allows; narrow it, or, where the URDF is known to be wrong, say so: '
                f'`urdf_limits_wrong: [{joint}]`')
    return tuple(found)


def _in_degrees(value: float, urdf: float) -> bool:
    """Return whether a limit that is wider than the URDF's is one in degrees."""
    fits = 3 * abs(urdf) < abs(value) and abs(np.deg2rad(value)) < 1.01 * abs(urdf)
    return bool(np.isfinite(value)) and (fits or abs(value) > FASTEST)


def wider_limits(arm: Arm, limits: Limits) -> list[tuple[str, str, float, float]]:
    """
    List the limits that are wider than those of the URDF: joint, name, value, the URDF's.

    Limits that no arm can have, as degrees would be, are among them where the URDF has none.

    Parameters
    ----------
    arm
        With the limits of the URDF.
    limits
        To compare.

    """
    found = []
    for i, joint in enumerate(arm.joint_names):
        for name, label, sign in (('lower', 'position', -1.0), ('upper', 'position', 1.0),
                                  ('velocity', 'velocity', 1.0), ('torque', 'torque', 1.0)):
            value = float(getattr(limits, name)[i])
            urdf = float(getattr(arm.limits, name)[i])
            far = np.isfinite(value) and abs(value) > FASTEST and name != 'torque'
            if sign * value > sign * urdf + SAME * (1 + abs(urdf)) or (
                    far and not np.isfinite(urdf) and not arm.prismatic[i]):
                found.append((joint, label, value, urdf))
    return found


def _per_joint(arm: Arm, content: Any, keys: tuple[str, ...], origin: str) -> Mapping[str, Any]:
    _known_keys(content, arm.joint_names, origin)
    for joint, values in content.items():
        _known_keys(values, keys, f'{origin}, {joint}')
    return content


def _number(value: Any, origin: str) -> float:
    if isinstance(value, bool):
        raise ConfigurationError(f'{origin} must be a number, not {value!r}')
    return float(_numbers([value], 1, origin)[0])


def _limits(arm: Arm, content: Any, origin: str) -> Limits:
    origin = f'{origin}, joints'
    values = {name: np.array(getattr(arm.limits, name))
              for name in ('lower', 'upper', 'velocity', 'acceleration', 'jerk', 'torque')}
    for joint, given in _per_joint(arm, content, JOINT_KEYS, origin).items():
        i = arm.joint_names.index(joint)
        for name, value in given.items():
            if name == 'position':
                values['lower'][i], values['upper'][i] = _numbers(
                    value, 2, f'{origin}, {joint}, position')
            else:
                values[name][i] = _number(value, f'{origin}, {joint}, {name}')
    return Limits(**values)


def _drives(arm: Arm, content: Any, coupling: Any, origin: str) -> Drives:
    gains, reduction = np.array(arm.drives.gains), np.array(arm.drives.reduction)
    rotor_inertia, matrix = np.array(arm.drives.rotor_inertia), np.array(arm.drives.coupling)
    places = {'gain': gains, 'reduction': reduction, 'rotor_inertia': rotor_inertia}
    for joint, given in _per_joint(arm, content, DRIVE_KEYS, f'{origin}, drives').items():
        for name, value in given.items():
            places[name][arm.joint_names.index(joint)] = _number(
                value, f'{origin}, drives, {joint}, {name}')
    for joint, row in _per_joint(arm, coupling, arm.joint_names, f'{origin}, coupling').items():
        for other, value in row.items():
            matrix[arm.joint_names.index(joint), arm.joint_names.index(other)] = _number(
                value, f'{origin}, coupling, {joint}, {other}')
    return Drives(gains, reduction, rotor_inertia, matrix)


def _arguments(content: Any, origin: str) -> dict[str, str]:
    _mapping(content, f'{origin}, xacro', ' of arguments, as {dof: 7}')
    return argument_texts(content)


def _folders(content: Any, folder: Path, origin: str) -> list[Path]:
    if not isinstance(content, list):
        raise ConfigurationError(f'{origin}, package_dirs must be a list of folders, '
                                 f'not {shown(content)}')
    return [folder / Path(str(item)).expanduser() for item in content]


def _unmeasured(arm: Arm, content: Any, origin: str) -> tuple[str, ...]:
    if not isinstance(content, list):
        raise ConfigurationError(f'{origin} must be a list of joints, as [joint_5], '
                                 f'not {content!r}')
    for joint in content:
        if joint not in arm.joint_names:
            raise ConfigurationError(f"{origin}: there is no joint '{joint}'; the arm has "
                                     f'{", ".join(arm.joint_names)}')
    if len(set(content)) == arm.n:
        raise ConfigurationError(f'{origin} names every joint: no effort is left to identify from')
    return tuple(joint for joint in arm.joint_names if joint in content)


def _balancers(arm: Arm, content: Any, origin: str) -> tuple[Balancer, ...]:
    _mapping(content, origin)
    return tuple(_balancer(arm, str(name), given, f'{origin}, {name}')
                 for name, given in content.items())


def _balancer(arm: Arm, name: str, content: Any, origin: str) -> Balancer:
    _mapping(content, origin)
    kind = content.get('kind')
    if kind not in BALANCERS:
        raise ConfigurationError(f'{origin}: the kind is {kind!r}; it must be one of '
                                 f'{", ".join(BALANCERS)}')
    member = BALANCERS[kind]
    numbers = [item for item in dataclasses.fields(member)
               if item.name not in ('name', 'joint', 'strength')]
    _known_keys(content, ('kind', 'joint', member.parameter, *(f.name for f in numbers)), origin)
    missing = [key for key in ('joint', member.parameter,
                               *(f.name for f in numbers if f.default is dataclasses.MISSING))
               if key not in content]
    if missing:
        raise ConfigurationError(f'{origin} lacks: {", ".join(missing)}')
    joint, strength = str(content['joint']), content[member.parameter]
    if joint not in arm.joint_names:
        raise ConfigurationError(f"{origin}: there is no joint '{joint}'; the arm has "
                                 f'{", ".join(arm.joint_names)}')
    if member.turns and arm.prismatic[arm.joint_names.index(joint)]:
        raise ConfigurationError(f"{origin}: a {kind} needs a joint that turns, and '{joint}' "
                                 f'slides; take a torsion_spring, whose stiffness is then in N/m')
    values: dict[str, Any] = {
        f.name: bool(content[f.name]) if isinstance(f.default, bool)
        else _number(content[f.name], f'{origin}, {f.name}')
        for f in numbers if f.name in content}
    known = None if strength == ESTIMATE else _number(strength, f'{origin}, {member.parameter}')
    try:
        return member(name=name, joint=joint, strength=known, **values)
    except ConfigurationError as error:
        raise ConfigurationError(f'{origin}: {error}') from error


def _balancer_content(balancer: Balancer) -> dict[str, Any]:
    content = {'kind': balancer.kind, **dataclasses.asdict(balancer)}
    strength = content.pop('strength')
    content[balancer.parameter] = ESTIMATE if strength is None else strength
    del content['name']
    return content


def _position(arm: Arm, content: Any, origin: str) -> PositionSignal:
    origin = f'{origin}, position'
    _known_keys(content, ('side', 'offset'), origin)
    offsets = content.get('offset', {})
    _known_keys(offsets, arm.joint_names, f'{origin}, offset')
    offset = [_number(offsets.get(joint, 0.0), f'{origin}, offset, {joint}')
              for joint in arm.joint_names]
    return PositionSignal(content.get('side', 'joint'), read_only(offset))
