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
"""Loads arms by name or from robot YAMLs, which supplement the URDF."""

from collections.abc import Mapping
import dataclasses
from os.path import expanduser
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arm.arm import Arm, STANDARD_GRAVITY
from robot_identification.arm.balancers import Balancer, read_balancer
from robot_identification.arm.drives import Drives, PositionSignal
from robot_identification.arm.limits import FASTEST, Limits
from robot_identification.arm.packages import find_urdf, robot_files
from robot_identification.arm.robot_keys import argument_texts, read_recording_block, RobotFile
from robot_identification.errors import ArmError, ConfigurationError, UnknownNameError
from robot_identification.yaml_file import read_typed, read_yaml, to_plain

DRIVES = {'reduction': 'reduction', 'gain': 'gains', 'rotor_inertia': 'rotor_inertia'}
"""Keys of a drive in a robot YAML, and the fields of `Drives` that they set."""
SAME = 1e-6    # [-] difference of limits, relative to 1 + |limit|, that counts as rounding


def load_arm(robot: Arm | str | Path, elsewhere: Path | None = None) -> Arm:
    """
    Return the arm that a robot YAML describes.

    Parameters
    ----------
    robot
        Name of a shipped robot ('panda', 'ur10', ...) or path of a robot YAML; an `Arm` is
        returned as it is.
    elsewhere
        Folder of the URDF if it is not beside the robot YAML.

    Raises
    ------
    UnknownNameError
        No shipped robot has that name.
    ConfigurationError
        The file is missing, is not YAML, or has unknown keys or values that are not filled in.
    ArmError
        The URDF, a limit or a drive cannot be used.

    Examples
    --------
    >>> load_arm('panda').n
    7

    """
    if isinstance(robot, Arm):
        return robot
    if not isinstance(robot, str | Path):
        raise ConfigurationError('an arm is an Arm, the name of a shipped robot or the path of a '
                                 f'robot YAML, not {type(robot).__name__}')
    path = Path(robot)
    if path.suffix in ('.urdf', '.xacro'):
        raise ConfigurationError(
            f"'{path}' is a URDF, which does not define the meaning of effort; write a robot YAML "
            f'for it with: robot-identification init {path}')
    if path.suffix not in ('.yaml', '.yml'):
        shipped = robot_files()
        if str(robot) not in shipped:
            raise UnknownNameError('robot or robot YAML', str(robot), shipped)
        path, elsewhere = shipped[str(robot)], None
    content, folder = read_yaml(path, 'robot YAML', ConfigurationError), path.parent
    if elsewhere is not None and not (folder / str(content.get('urdf'))).exists():
        folder = elsewhere
    return arm_from_mapping(content, folder=folder, label=f"the robot YAML '{path}'", source=path)


def arm_from_mapping(content: Mapping[str, Any], *, folder: Path, label: str,
                     source: Path | None = None) -> Arm:
    """
    Return the arm for the content of a robot YAML.

    Parameters
    ----------
    content
        The mapping; `urdf` may also be the URDF text itself.
    folder
        Folder to which relative paths refer.
    label
        Name of the content in messages.
    source
        The robot YAML from which the content was read; None for other content.

    Raises
    ------
    ConfigurationError, ArmError
        As `load_arm`.

    """
    file = _read_content(content, label)
    folders = [folder / expanduser(item) for item in file.package_dirs]
    base = Arm.from_urdf(
        file.urdf if file.urdf.lstrip().startswith('<') else find_urdf(file.urdf, folder, folders),
        locked=file.locked, gravity=_gravity(file, label), name=file.name,
        arguments=argument_texts(file.xacro), package_dirs=folders)
    for section in ('joints', 'drives', 'coupling', 'urdf_limits_wrong', 'guessed', 'unmeasured',
                    'sensor_deviation'):
        _check_joints(base, getattr(file, section), f'{label}, {section}')
    _check_joints(base, file.position.offset, f'{label}, position')
    if set(base.joint_names) <= set(file.unmeasured):
        raise ConfigurationError(f'{label}, unmeasured lists every joint, so no effort remains to '
                                 'identify from')
    limits = _limits(base, file)
    try:
        return dataclasses.replace(
            base, limits=limits, drives=_drives(base, file, label), effort=file.effort,
            source=source, tf_prefix=file.tf_prefix, driver=file.driver,
            position=PositionSignal(file.position.side, np.array(
                [file.position.offset.get(joint, 0.0) for joint in base.joint_names])),
            recording_keys=read_recording_block(file.recording, base.joint_names,
                                                f'{label}, recording'),
            wider_limits=_wider(base, limits, file.urdf_limits_wrong, label,
                                strict=source is not None),
            balancers=tuple(_read_balancer(base, name, values, f'{label}, balancers, {name}')
                            for name, values in file.balancers.items()),
            estimate_gravity=file.gravity == 'estimate', guessed=file.guessed,
            sensor_deviation=file.sensor_deviation,
            unmeasured=tuple(joint for joint in base.joint_names if joint in file.unmeasured))
    except ArmError as error:
        raise ArmError(f'{label}: {error}') from error


def arm_to_mapping(arm: Arm) -> dict[str, Any]:
    """
    Return the content of a robot YAML for an arm, the inverse of `arm_from_mapping`.

    It contains the URDF as text and therefore refers to no other file.
    """
    drives, names = arm.drives, arm.joint_names
    rows = {joint: {other: drives.coupling[i, k] for k, other in enumerate(names)
                    if drives.coupling[i, k] != float(i == k)} for i, joint in enumerate(names)}
    content = {
        'name': arm.name, 'urdf': arm.urdf, 'locked': arm.locked, 'gravity': arm.gravity,
        'joints': arm.limits.to_mapping(names),
        'drives': {joint: {key: getattr(drives, name)[i] for key, name in DRIVES.items()
                           if np.isfinite(getattr(drives, name)[i])}
                   for i, joint in enumerate(names)},
        'coupling': {joint: row for joint, row in rows.items() if row},
        'recording': arm.recording_keys,
        'position': {'side': arm.position.side, 'offset': dict(zip(names, arm.position.offset))}}
    optional = {
        'urdf_limits_wrong': arm.wider_limits, 'unmeasured': arm.unmeasured,
        'guessed': arm.guessed, 'sensor_deviation': arm.sensor_deviation,
        'tf_prefix': arm.tf_prefix, 'effort': arm.effort,
        'balancers': {balancer.name: balancer.to_dict() for balancer in arm.balancers}}
    return dict(to_plain({
        **content, **{name: value for name, value in optional.items() if value}}))


def _read_content(content: Mapping[str, Any], label: str) -> RobotFile:
    """
    Return the content of a robot YAML as typed values.

    Limits and drives of locked joints are dropped. A template may leave `effort`, velocity and
    acceleration limits empty; other empty values are errors.
    """
    if not isinstance(content, Mapping):
        raise ConfigurationError(
            f'{label} must consist of keys and values, not of a {type(content).__name__}; write '
            'one with: robot-identification init arm.urdf')
    locked = content.get('locked', ())
    content = dict(content)
    for section in ('joints', 'drives'):
        values = content.get(section)
        if isinstance(values, Mapping) and isinstance(locked, Mapping | list):
            content[section] = {joint: value for joint, value in values.items()
                                if joint not in locked}
    if _unfilled(content.get('effort'), 'effort'):    # only recordings with torques need it
        content.pop('effort', None)
    unfilled = [path for path in _unfilled(content, '') if not (    # only designs need these
        path.startswith('joints.') and path.endswith(('.velocity', '.acceleration')))]
    if unfilled:
        raise ConfigurationError(f'{label} has values to fill in: {", ".join(unfilled)}; write a '
                                 'value after each key, or remove the key')
    return read_typed(RobotFile, content, label, ConfigurationError)


def _unfilled(content: Any, prefix: str) -> list[str]:
    """Return the paths of all keys without a value, for instance 'effort.sign'."""
    if content is None:
        return [prefix]
    if isinstance(content, Mapping):
        return [key_path for key, value in content.items()
                for key_path in _unfilled(value, f'{prefix}.{key}' if prefix else str(key))]
    return []


def _gravity(file: RobotFile, label: str) -> np.ndarray:
    """Return gravity in the base frame from `gravity` or `mount`, (3,) [m/s^2]."""
    if file.mount is not None:
        if isinstance(file.gravity, tuple):
            raise ConfigurationError(f'{label} has both `gravity` and `mount`; keep one of them')
        return pin.rpy.rpyToMatrix(np.array(file.mount.rpy)).T @ np.array(STANDARD_GRAVITY)
    return np.array(file.gravity if isinstance(file.gravity, tuple) else STANDARD_GRAVITY)


def _wider(arm: Arm, limits: Limits, allowed: tuple[str, ...], label: str,
           strict: bool) -> tuple[str, ...]:
    """
    Return the joints with wider limits than in the URDF; raise an error if that is not allowed.

    If the URDF has no limit, a limit that is probably in degrees (above `FASTEST`) counts as
    wider.

    Parameters
    ----------
    arm
        The arm with the limits of the URDF.
    limits
        The limits of the YAML.
    allowed
        Joints whose limits in the URDF are known to be wrong.
    label
        Name of the YAML in messages.
    strict
        Whether to raise errors; False for model files, which store the limits of their arm.

    """
    wider = []
    for i, joint in enumerate(arm.joint_names):
        for name, key, sign in (('lower', 'position', -1.0), ('upper', 'position', 1.0),
                                ('velocity', 'velocity', 1.0), ('torque', 'torque', 1.0)):
            value, urdf = (float(getattr(each, name)[i]) for each in (limits, arm.limits))
            angle = name != 'torque' and not arm.prismatic[i]
            far = angle and FASTEST < abs(value) < np.inf
            if sign * value <= sign * urdf + SAME * (1 + abs(urdf)) and not (
                    far and np.isinf(urdf)):
                continue
            wider.append(joint)
            if strict and angle and (far or (
                    3 * abs(urdf) < abs(value) and abs(np.deg2rad(value)) < 1.01 * abs(urdf))):
                raise ConfigurationError(
                    f'{label}, {joint}: the {key} {value:g} seems to be in degrees; in radians it '
                    f'is {np.deg2rad(value):.6g} (the URDF allows {urdf:g})')
            if strict and joint not in allowed:
                raise ConfigurationError(
                    f'{label}, {joint}: the {key} {value:g} is wider than the {urdf:g} that the '
                    f'URDF allows; narrow it, or, if the URDF is known to be wrong, add '
                    f'`urdf_limits_wrong: [{joint}]`')
    return tuple(dict.fromkeys(wider))


def _check_joints(arm: Arm, joints: Mapping[str, Any] | tuple[str, ...], label: str) -> None:
    """Raise ConfigurationError if a name is not that of a joint of the arm."""
    for joint in joints:
        if joint not in arm.joint_names:
            raise ConfigurationError(f"{label}: there is no joint '{joint}'; the joints of the "
                                     f'arm are {", ".join(arm.joint_names)}')


def _limits(arm: Arm, file: RobotFile) -> Limits:
    """Return the limits of the URDF with the overrides of the robot YAML."""
    values = {name: np.array(limits) for name, limits in vars(arm.limits).items()}
    for joint, overrides in file.joints.items():
        known = {name: value for name, value in vars(overrides).items() if value is not None}
        if 'position' in known:
            known['lower'], known['upper'] = known.pop('position')
        for name, value in known.items():
            values[name][arm.joint_names.index(joint)] = value
    return Limits(**values)


def _drives(arm: Arm, file: RobotFile, label: str) -> Drives:
    """Return the drives with the gains, reductions, inertias and couplings of the robot YAML."""
    drives = {name: np.array(values) for name, values in dataclasses.asdict(arm.drives).items()}
    for joint, drive in file.drives.items():
        for key, value in vars(drive).items():
            if value is not None:
                drives[DRIVES[key]][arm.joint_names.index(joint)] = value
    for joint, row in file.coupling.items():
        _check_joints(arm, row, f'{label}, coupling, {joint}')
        for other, factor in row.items():
            drives['coupling'][arm.joint_names.index(joint),
                               arm.joint_names.index(other)] = factor
    return Drives(**drives)


def _read_balancer(arm: Arm, name: str, content: Mapping[str, Any], label: str) -> Balancer:
    """Return a balancer after a check that the arm has its joint and that the kind fits it."""
    balancer = read_balancer(name, content, label)
    _check_joints(arm, (balancer.joint,), label)
    if balancer.revolute_only and arm.prismatic[arm.joint_names.index(balancer.joint)]:
        raise ConfigurationError(
            f"{label}: a {balancer.kind} needs a revolute joint, and '{balancer.joint}' is "
            'prismatic; use a torsion_spring, whose stiffness is then in N/m')
    return balancer
