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
"""Arms by name or from robot YAMLs, which add to the URDF what it does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import dataclasses
from pathlib import Path
from typing import Any, Literal

import numpy as np
from robot_identification.arm.arm import Arm, STANDARD_GRAVITY
from robot_identification.arm.balancers import Balancer, BALANCERS, ESTIMATE
from robot_identification.arm.drives import Drives, PositionSignal
from robot_identification.arm.library import find_urdf, robot_files
from robot_identification.arm.limits import FASTEST, Limits
from robot_identification.arm.recording_block import read_recording_block
from robot_identification.arm.robot_keys import argument_texts, LimitOverrides, RobotFile
from robot_identification.arm.urdf import rotation_from_rpy
from robot_identification.errors import ArmError, ConfigurationError, UnknownNameError
from robot_identification.yaml_file import check_keys, read_typed, read_yaml, to_plain

SAME = 1e-6    # relative difference of limits that rounding makes


def load_arm(robot: str | Path) -> Arm:
    """
    Return an arm.

    Parameters
    ----------
    robot
        The name of a shipped robot ('panda', 'ur10', ...) or the path of a robot YAML.

    Raises
    ------
    UnknownNameError
        No shipped robot has that name.
    ConfigurationError, ArmError
        The YAML or its URDF cannot be used.

    Examples
    --------
    >>> load_arm('panda').n
    7

    """
    path = Path(robot)
    if path.suffix in ('.yaml', '.yml'):
        return read_robot_file(path)
    if path.suffix in ('.urdf', '.xacro'):
        raise ConfigurationError(
            f"'{path}' is a URDF, which does not define the meaning of effort; write a robot YAML "
            f'for it with: robot-identification init {path}')
    shipped = robot_files()
    if str(robot) not in shipped:
        raise UnknownNameError('robot (and no robot YAML)', str(robot), shipped)
    return read_robot_file(shipped[str(robot)])


def read_robot_file(path: str | Path) -> Arm:
    """
    Return the arm that a robot YAML describes.

    Parameters
    ----------
    path
        The YAML; a relative `urdf` in it is relative to its folder.

    Raises
    ------
    ConfigurationError
        The file is missing, is not YAML, has unknown keys or values that are not filled in.
    ArmError
        The URDF cannot be used.

    """
    path = Path(path)
    content = read_yaml(path, 'robot YAML', ConfigurationError)
    if not isinstance(content, dict):
        raise ConfigurationError(f"the robot YAML '{path}' is not a mapping of keys to values")
    return arm_from_mapping(content, folder=path.parent, label=f"the robot YAML '{path}'",
                            source=path)


def arm_from_mapping(content: Mapping[str, Any], *, folder: Path, label: str,
                     source: Path | None = None) -> Arm:
    """
    Return the arm that the content of a robot YAML describes.

    Parameters
    ----------
    content
        The mapping; `urdf` may also be the URDF text itself.
    folder
        Where relative paths start.
    label
        Name of the content in messages.
    source
        The file that it was read from.

    Raises
    ------
    ConfigurationError, ArmError
        As `read_robot_file`.

    """
    file = _read_content(content, label)
    folders = [folder / Path(item).expanduser() for item in file.package_dirs]
    base = Arm.from_urdf(
        file.urdf if file.urdf.lstrip().startswith('<') else find_urdf(file.urdf, folder, folders),
        locked=file.locked, gravity=_gravity(file, label), name=file.name,
        arguments=argument_texts(file.xacro), package_dirs=folders)
    for section in ('joints', 'drives', 'coupling'):
        check_keys(getattr(file, section), base.joint_names, f'{label}, {section}',
                   ConfigurationError)
    limits = _limits(base, file.joints)
    arm = dataclasses.replace(
        base, limits=limits, drives=_drives(base, file, label), effort=file.effort, source=source,
        position=_position(base, file, label), tf_prefix=file.tf_prefix, driver=file.driver,
        recording_keys=read_recording_block(file.recording, base.joint_names,
                                            f'{label}, recording'),
        wider_limits=_wider(base, limits, file.urdf_limits_wrong, label,
                            strict=source is not None),
        balancers=tuple(_balancer(base, name, given, f'{label}, balancers, {name}')
                        for name, given in file.balancers.items()),
        estimate_gravity=file.gravity == ESTIMATE,
        unmeasured=_unmeasured(base, file.unmeasured, f'{label}, unmeasured'))
    try:
        limits.check(arm.joint_names)
        arm.drives.check(arm.joint_names)
    except ArmError as error:
        raise ConfigurationError(f'{label}: {error}') from error
    return arm


def arm_to_mapping(arm: Arm) -> dict[str, Any]:
    """
    Return the content of a self-contained robot YAML: the inverse of `arm_from_mapping`.

    The URDF is included as text, so the mapping needs no other file.
    """
    limits, drives, names = arm.limits, arm.drives, arm.joint_names
    values = {'reduction': drives.reduction, 'gain': drives.gains,
              'rotor_inertia': drives.rotor_inertia}
    rows = {joint: {other: drives.coupling[i, k] for k, other in enumerate(names)
                    if drives.coupling[i, k] != float(i == k)} for i, joint in enumerate(names)}
    content = {
        'name': arm.name, 'urdf': arm.urdf, 'locked': arm.locked, 'gravity': arm.gravity,
        'joints': {joint: {'position': [limits.lower[i], limits.upper[i]],
                           **{name: getattr(limits, name)[i] for name in _MAGNITUDES}}
                   for i, joint in enumerate(names)},
        'drives': {joint: {name: row[i] for name, row in values.items() if np.isfinite(row[i])}
                   for i, joint in enumerate(names)},
        'coupling': {joint: row for joint, row in rows.items() if row},
        'recording': arm.recording_keys,
        'position': {'side': arm.position.side, 'offset': dict(zip(names, arm.position.offset))}}
    optional = {
        'urdf_limits_wrong': arm.wider_limits, 'unmeasured': arm.unmeasured,
        'tf_prefix': arm.tf_prefix, 'effort': arm.effort,
        'balancers': {balancer.name: _balancer_content(balancer) for balancer in arm.balancers}}
    plain: dict[str, Any] = to_plain({
        **content, **{name: value for name, value in optional.items() if value}})
    return plain


def _read_content(content: Mapping[str, Any], label: str) -> RobotFile:
    """Return typed content; limits and drives of locked joints and open limits are left out."""
    locked, joints = content.get('locked', ()), content.get('joints')
    content = {key: ({joint: values for joint, values in value.items() if joint not in locked}
                     if key in ('joints', 'drives') and isinstance(value, Mapping)
                     and isinstance(locked, Mapping | list) else value)
               for key, value in content.items()}
    if _unfilled(content.get('effort'), 'effort'):    # only needed where torques are read
        content.pop('effort', None)
    joints = content.get('joints')
    if isinstance(joints, Mapping):    # only designs need these limits
        content['joints'] = {joint: {
            name: value for name, value in given.items()
            if value is not None or name not in ('velocity', 'acceleration')}
            if isinstance(given, Mapping) else given for joint, given in joints.items()}
    unfilled = _unfilled(content, '')
    if unfilled:
        raise ConfigurationError(f'{label} has values to fill in: {", ".join(unfilled)}')
    file: RobotFile = read_typed(RobotFile, content, label, ConfigurationError)
    return file


def _unfilled(content: Any, prefix: str) -> list[str]:
    if content is None:
        return [prefix]
    if isinstance(content, Mapping):
        return [place for key, value in content.items()
                for place in _unfilled(value, f'{prefix}.{key}' if prefix else str(key))]
    return []


def _gravity(file: RobotFile, label: str) -> np.ndarray:
    if file.mount is not None:
        if file.gravity is not None and file.gravity != ESTIMATE:
            raise ConfigurationError(f'{label} has both `gravity` and `mount`; keep one of them')
        return rotation_from_rpy(np.array(file.mount.rpy)).T @ np.array(STANDARD_GRAVITY)
    return np.array(STANDARD_GRAVITY if file.gravity in (None, ESTIMATE) else file.gravity)


def _wider(arm: Arm, limits: Limits, allowed: Iterable[str], label: str,
           strict: bool) -> tuple[str, ...]:
    """
    Return the joints whose limits are wider than the URDF's; refuse those that are not allowed.

    Parameters
    ----------
    arm
        With the limits of the URDF.
    limits
        With those of the YAML.
    allowed
        Joints whose URDF is known to be wrong.
    label
        Name of the YAML in messages.
    strict
        Whether to refuse; a model file reports what its arm was identified with.

    """
    for joint in allowed:
        _check_joint(arm, joint, f'{label}, urdf_limits_wrong')
    wider = wider_limits(arm, limits)
    for joint, name, value, urdf in wider:
        slides = bool(arm.prismatic[arm.joint_names.index(joint)])
        if strict and not slides and name != 'torque' and _in_degrees(value, urdf):
            raise ConfigurationError(
                f'{label}, {joint}: the {name} {value:g} is degrees, and must be radians: '
                f'{np.deg2rad(value):.6g} (the URDF allows {urdf:g})')
        if strict and joint not in allowed:
            raise ConfigurationError(
                f'{label}, {joint}: the {name} {value:g} is wider than the {urdf:g} that the '
                f'URDF allows; narrow it, or, where the URDF is known to be wrong, add '
                f'`urdf_limits_wrong: [{joint}]`')
    return tuple(dict.fromkeys(joint for joint, *_ in wider))


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


def _check_joint(arm: Arm, joint: str, label: str) -> None:
    if joint not in arm.joint_names:
        raise ConfigurationError(f"{label}: there is no joint '{joint}'; the joints of the arm "
                                 f'are {", ".join(arm.joint_names)}')


def _limits(arm: Arm, joints: Mapping[str, LimitOverrides]) -> Limits:
    values = {name: np.array(getattr(arm.limits, name)) for name in ('lower', 'upper',
                                                                     *_MAGNITUDES)}
    for joint, given in joints.items():
        i = arm.joint_names.index(joint)
        if given.position is not None:
            values['lower'][i], values['upper'][i] = given.position
        for name in _MAGNITUDES:
            if getattr(given, name) is not None:
                values[name][i] = getattr(given, name)
    return Limits(**values)


def _drives(arm: Arm, file: RobotFile, label: str) -> Drives:
    gains, reduction = np.array(arm.drives.gains), np.array(arm.drives.reduction)
    rotor_inertia, matrix = np.array(arm.drives.rotor_inertia), np.array(arm.drives.coupling)
    for joint, given in file.drives.items():
        for array, value in ((gains, given.gain), (reduction, given.reduction),
                             (rotor_inertia, given.rotor_inertia)):
            if value is not None:
                array[arm.joint_names.index(joint)] = value
    for joint, row in file.coupling.items():
        check_keys(row, arm.joint_names, f'{label}, coupling, {joint}', ConfigurationError)
        for other, factor in row.items():
            matrix[arm.joint_names.index(joint), arm.joint_names.index(other)] = factor
    return Drives(gains, reduction, rotor_inertia, matrix)


def _position(arm: Arm, file: RobotFile, label: str) -> PositionSignal:
    offsets = file.position.offset
    check_keys(offsets, arm.joint_names, f'{label}, position, offset', ConfigurationError)
    return PositionSignal(file.position.side,
                          np.array([offsets.get(joint, 0.0) for joint in arm.joint_names]))


def _unmeasured(arm: Arm, joints: Iterable[str], label: str) -> tuple[str, ...]:
    for joint in joints:
        _check_joint(arm, joint, label)
    if len(set(joints)) == arm.n:
        raise ConfigurationError(f'{label} names every joint: no effort is left to identify from')
    return tuple(joint for joint in arm.joint_names if joint in joints)


def _balancer(arm: Arm, name: str, content: Mapping[str, Any], label: str) -> Balancer:
    kind = read_typed({'kind': str}, content, label, ConfigurationError)['kind']
    if kind not in BALANCERS:
        raise ConfigurationError(f'{label}: the kind is {kind!r}; it must be one of '
                                 f'{", ".join(BALANCERS)}')
    member = BALANCERS[kind]
    geometry = [item.name for item in dataclasses.fields(member)
                if item.name not in ('name', 'joint', 'strength')]
    check_keys(content, ('kind', 'joint', member.parameter, *geometry), label, ConfigurationError)
    strength = read_typed({member.parameter: Literal['estimate'] | float}, content, label,
                          ConfigurationError)[member.parameter]
    balancer: Balancer = read_typed(
        member, {'name': name, 'strength': None if strength == ESTIMATE else strength,
                 **{key: value for key, value in content.items()
                    if key not in ('kind', member.parameter)}}, label, ConfigurationError)
    _check_joint(arm, balancer.joint, label)
    if member.turns and arm.prismatic[arm.joint_names.index(balancer.joint)]:
        raise ConfigurationError(
            f"{label}: a {kind} needs a revolute joint, and '{balancer.joint}' is prismatic; use "
            'a torsion_spring, whose stiffness is then in N/m')
    return balancer


def _balancer_content(balancer: Balancer) -> dict[str, Any]:
    content = {'kind': balancer.kind, **dataclasses.asdict(balancer)}
    strength = content.pop('strength')
    content[balancer.parameter] = ESTIMATE if strength is None else strength
    del content['name']
    return content


_MAGNITUDES = ('velocity', 'acceleration', 'jerk', 'torque')
