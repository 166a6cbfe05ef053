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
"""Robot YAML to fill in, generated from a URDF."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.drives import Effort
from robot_identification.arm.robot_keys import ROBOT_FILE_KEYS
from robot_identification.arm.urdf import parse_urdf, read_urdf
from robot_identification.arrays import Array
from robot_identification.cli.arm_chain import find_locked_joints
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.recording.infer_block import infer_recording_block
from robot_identification.yaml_file import Quantity, read_typed, read_yaml
import typer
import yaml

EFFORT_KEYS = ('quantity', 'side', 'sign', 'gravity_compensated')
EFFORT_VALUES = {'+1': 1, '1': 1, '-1': -1, 'gravity': False, 'no-gravity': True}
"""Words in the short description of effort, and the values that they stand for."""
LIMITS = {
    'velocity': ' [{unit}/s]', 'torque': ': rated, at the joint [{torque}]',
    'acceleration': ' [{unit}/s^2], from the data sheet'}
"""Limits in the YAML, with the text after FILL IN if a limit is missing."""
MOVEIT_JOINT = {
    'has_velocity_limits': bool | None, 'has_acceleration_limits': bool | None,
    'max_velocity': float | None, 'max_acceleration': float | None}
Positive = Annotated[float, Quantity(above=0)]


@dataclass(frozen=True)
class TemplateOptions:
    """Command-line options of `init`: data of a robot that its URDF does not contain."""

    arguments: Annotated[list[str] | None, typer.Argument(
        metavar='[NAME:=VALUE]...', help='Arguments of the xacro, such as dof:=7.')] = None
    base: Annotated[str | None, typer.Option(
        help='Base link of the arm, if the robot consists of more than an arm.')] = None
    tip: Annotated[str | None, typer.Option(
        help='Link at the end of the arm; joints that do not move it are locked.')] = None
    lock: Annotated[list[str] | None, typer.Option(
        metavar='PATTERN', help='Joints to lock, such as gripper_joint or "*wheel"; may be '
                                'repeated.')] = None
    acceleration: Annotated[str | None, typer.Option(
        metavar='LIMITS', help='Acceleration limit of the joints [rad/s^2 or m/s^2]: one number, '
                               'or one for each joint, such as 5,5,5,10,10,10.')] = None
    velocity: Annotated[str | None, typer.Option(
        metavar='LIMITS', help='Velocity limits in the same form [rad/s or m/s], if the URDF has '
                               'none or wider ones.')] = None
    torque: Annotated[str | None, typer.Option(
        metavar='LIMITS', help='Rated torques in the same form [N m or N], if the URDF has none '
                               'or larger ones.')] = None
    joint_limits: Annotated[Path | None, typer.Option(
        help='joint_limits.yaml of MoveIt, for accelerations and slower velocities.')] = None
    effort: Annotated[str | None, typer.Option(
        metavar='QUANTITY,SIDE,SIGN,GRAVITY',
        help='What the driver publishes as effort, such as torque,joint,+1,gravity: torque or '
             'current; joint or motor; +1 or -1; gravity or no-gravity.')] = None
    recording: Annotated[Path | None, typer.Option(
        metavar='FILE', help='Log of your arm, from whose columns the block `recording` is '
                             'proposed.')] = None
    package_dir: Annotated[list[Path] | None, typer.Option(
        exists=True, file_okay=False,
        help='Folder with the ROS packages that the URDF refers to; may be repeated.',
    )] = None


@dataclass(frozen=True)
class RobotTemplate:
    """
    A robot YAML to fill in.

    Parameters
    ----------
    text
        The YAML; values of the URDF are comments, and missing values are marked FILL IN.
    arm
        The arm of the URDF.
    recording
        The block `recording` with the names of the signals in a log; empty without a log.
    notes
        Assumptions made for the block `recording`, and their alternatives.

    """

    text: str
    arm: Arm
    recording: dict[str, Any]
    notes: tuple[str, ...]


def parse_effort(text: str) -> Effort:
    """
    Return the meaning of effort from a short description, such as `torque,joint,+1,gravity`.

    Parameters
    ----------
    text
        Quantity (torque or current), side (joint or motor), sign (+1 or -1), and `gravity` or
        `no-gravity` for a driver that removes the gravity torque.

    Raises
    ------
    ConfigurationError
        A value is missing or not one of these.

    """
    values = [EFFORT_VALUES.get(value.strip(), value.strip()) for value in text.split(',')]
    try:
        return read_typed(Effort, dict(zip(EFFORT_KEYS, values, strict=True)), '',
                          ConfigurationError)
    except (ValueError, ConfigurationError) as error:
        raise ConfigurationError(
            f"the effort '{text}' must be four words, such as torque,joint,+1,gravity: torque "
            'or current; joint or motor; +1 or -1; gravity, or no-gravity if the driver subtracts '
            'the gravity torque') from error


def robot_template(urdf: str | Path, options: TemplateOptions | None = None, *,
                   base: Path, moving: Collection[str] = ()) -> RobotTemplate:
    """
    Return a robot YAML with the values of a URDF; missing values are marked FILL IN.

    Parameters
    ----------
    urdf
        Path of the URDF or xacro, or the text of a URDF.
    options
        Data that the URDF does not contain.
    base
        Folder of the YAML; files inside it are named relative to it, others by absolute paths.
    moving
        Joints that a controller moves; all others are locked. Empty if they are not known.

    Raises
    ------
    ArmError
        The URDF cannot be used.
    ConfigurationError
        An option cannot be read.
    RecordingError
        The log has no columns that look like signals of the arm.

    """
    options = options or TemplateOptions()
    arguments, folders = _parse_arguments(options.arguments or ()), options.package_dir or ()
    text, path = read_urdf(urdf, arguments, folders)
    label = f"the URDF '{urdf}'"
    locked = find_locked_joints(parse_urdf(text, label), label, base=options.base,
                                tip=options.tip, lock=options.lock or (), moving=moving)
    arm = Arm.from_urdf(text, locked=list(locked))
    recording, notes = _propose_recording(options.recording, arm)
    environment = Environment(loader=PackageLoader('robot_identification.cli'), trim_blocks=True,
                              undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters['yaml'] = _to_yaml
    content: dict[str, Any] = {
        'name': arm.name, 'urdf': _relative(path or Path(urdf), base),
        **({'xacro': arguments} if arguments else {}),
        **({'package_dirs': [_relative(folder, base) for folder in folders]} if folders else {}),
        'locked': locked, 'gravity': arm.gravity.tolist(), 'joints': _joints(arm, options),
        'drives': {}, 'recording': recording,
        'effort': None if options.effort is None else asdict(parse_effort(options.effort))}
    others = {key: example for key, (example, _) in ROBOT_FILE_KEYS.items() if key not in content}
    return RobotTemplate(environment.get_template('robot.yaml').render(
        content, arm=arm, other_keys=others), arm, recording, notes)


def _parse_arguments(texts: Collection[str]) -> dict[str, str]:
    """Return the arguments of a xacro by name, from texts NAME:=VALUE."""
    arguments = {}
    for text in texts:
        name, separator, arguments[name] = text.partition(':=')
        if not separator or not name:
            raise ConfigurationError(f"'{text}' is not a xacro argument; write it as "
                                     'NAME:=VALUE')
    return arguments


def _propose_recording(path: Path | None, arm: Arm) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the block `recording` for a log, and notes on it; both are empty without a log."""
    if path is None:
        return {}, ()
    proposal = infer_recording_block(path, arm)
    if proposal is None:
        raise RecordingError(
            f"'{path}' has no columns that look like stamps and positions of "
            f'{", ".join(arm.joint_names)}; write the block by hand, as `recording: {{t: '
            'timestamp, q: "actual_q_{joint}", names: [0, 1, 2, 3, 4, 5]}`')
    return proposal.block, proposal.notes


def _joints(arm: Arm, options: TemplateOptions) -> list[dict[str, Any]]:
    """Return name, unit, limits of the URDF and limits to write of each joint."""
    known = {name: np.full(arm.n, np.nan) if (text := getattr(options, name)) is None
             else _parse_limits(name, text, arm) for name in LIMITS}
    if options.joint_limits is not None:
        for name, values in _moveit_limits(options.joint_limits, arm).items():
            known[name] = np.where(np.isnan(values), known[name], values)
    limits = arm.limits
    named = zip(arm.joint_names, arm.units('rad', 'm'), arm.units('N m', 'N'))
    return [
        {'name': joint, 'unit': unit,
         'urdf': f'{limits.lower[i]:.4g} to {limits.upper[i]:.4g} {unit}, '
                 f'{limits.velocity[i]:.4g} {unit}/s, {limits.torque[i]:.4g} {torque}',
         'limits': [
             (name, None if np.isnan(value) else float(value),
              description.format(unit=unit, torque=torque))
             for name, description in LIMITS.items()
             if not np.isnan(value := known[name][i])
             or not np.isfinite(getattr(limits, name)[i])]}
        for i, (joint, unit, torque) in enumerate(named)]


def _parse_limits(name: str, text: str, arm: Arm) -> Array:
    """Return the joint limits of an option, (n,); NaN where the limit of the URDF is lower."""
    try:
        values = np.array([float(value) for value in text.split(',')])
    except ValueError as error:
        raise ConfigurationError(f"--{name} '{text}' must be a number, or one for each joint, "
                                 'such as 5,5,5,10,10,10') from error
    if len(values) not in (1, arm.n):
        raise ConfigurationError(
            f'--{name} gives {len(values)} numbers; give one for all, or one for each of the '
            f'{arm.n} joints: {", ".join(arm.joint_names)}')
    if not np.all((values > 0) & (values < np.inf)):
        raise ConfigurationError(f"--{name} must be above zero, not '{text}'")
    return np.where(values < getattr(arm.limits, name), values, np.nan)


def _moveit_limits(path: Path, arm: Arm) -> dict[str, Array]:
    """Return limits by name from a joint_limits.yaml, (n,) each; NaN if missing or not lower."""
    label = f"MoveIt's joint limits '{path}'"
    limits = read_typed({'joint_limits': {str: Any}},
                        read_yaml(path, 'joint limits', ConfigurationError), label,
                        ConfigurationError)['joint_limits']
    known = {name: np.full(arm.n, np.nan) for name in ('velocity', 'acceleration')}
    for i, joint in enumerate(arm.joint_names):
        config = read_typed(MOVEIT_JOINT, limits.get(joint, {}), f'{label}, {joint}',
                            ConfigurationError)
        for name, values in known.items():
            value = config[f'max_{name}']
            if config[f'has_{name}_limits'] and value is not None:
                read_typed(Positive, value, f'{label}, {joint}, max_{name}', ConfigurationError)
                values[i] = value if value < getattr(arm.limits, name)[i] else np.nan
    if np.all(np.isnan([*known.values()])):
        raise ConfigurationError(f"'{path}' has no limits of the joints "
                                 f'{", ".join(arm.joint_names)}')
    return known


def _to_yaml(value: Any) -> str:
    """Return a value as one line of YAML; strings are quoted if necessary."""
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10 ** 6,
                          allow_unicode=True).removesuffix('\n...\n').strip()


def _relative(path: Path, base: Path) -> str:
    """Return a path relative to a folder if it is inside, otherwise as an absolute path."""
    path, base = path.resolve(), base.resolve()
    return str(path.relative_to(base) if path.is_relative_to(base) else path)
