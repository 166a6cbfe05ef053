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
import dataclasses
from pathlib import Path
from typing import Annotated, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
import numpy as np
from robot_identification import yaml_file
from robot_identification.arm import Arm
from robot_identification.arm.drives import Effort
from robot_identification.arm.limits import Limits
from robot_identification.arm.robot_keys import ROBOT_FILE_KEYS
from robot_identification.arm.urdf import parse_urdf, read_urdf
from robot_identification.arrays import Array
from robot_identification.cli import arm_chain, limit_check
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.recording.infer_block import infer_recording_block
import typer
import yaml

PACKAGE = 'robot_identification.cli'
EFFORT_KEYS = ('quantity', 'side', 'sign', 'gravity_compensated')
EFFORT_VALUES = {'+1': 1, '1': 1, '-1': -1, 'gravity': False, 'no-gravity': True}
"""Words in the short description of effort, and the values that they stand for."""
LIMITS = {
    'velocity': ' [{unit}/s]', 'torque': ': rated, at the joint [{torque}]',
    'acceleration': ' [{unit}/s^2], from the data sheet'}
"""Limits in the YAML, with the text after FILL IN if a limit is missing."""
MOVEIT_JOINT = {
    'has_velocity_limits': bool | None, 'has_acceleration_limits': bool | None,
    **dict.fromkeys(('max_velocity', 'max_acceleration'),
                    Annotated[float, yaml_file.Quantity(above=0)] | None)}


@dataclasses.dataclass(frozen=True)
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
        metavar='LIMITS', help='Velocity limits in the same form [rad/s or m/s]. One number must '
                               'not be above the URDF, one for each joint may be.')] = None
    torque: Annotated[str | None, typer.Option(
        metavar='LIMITS', help='Rated torques in the same form [N m or N], likewise.')] = None
    repair: Annotated[bool, typer.Option(
        '--repair', help='Replace what cannot be used by guesses: inertias, efforts, meshes, '
        'checks of links that touch by design; writes NAME_repaired.urdf, .srdf, .html.')] = False
    position: Annotated[list[str] | None, typer.Option(
        metavar='JOINT=LOWER:UPPER', help='With --repair: position limits [rad or m].')] = None
    joint_limits: Annotated[Path | None, typer.Option(
        help='joint_limits.yaml of MoveIt, for accelerations and slower velocities.')] = None
    effort: Annotated[str | None, typer.Option(
        metavar='EFFORT',
        help='What the driver publishes as effort, such as torque,joint,+1,gravity: torque or '
             'current; joint or motor; +1 or -1; gravity or no-gravity.')] = None
    recording: Annotated[Path | None, typer.Option(
        metavar='FILE', help='Log of your arm, from whose columns the block `recording` is '
                             'proposed.')] = None
    package_dir: Annotated[list[Path] | None, typer.Option(
        exists=True, file_okay=False,
        help='Folder with the ROS packages that the URDF refers to; may be repeated.',
    )] = None


@dataclasses.dataclass(frozen=True)
class RobotTemplate:
    """
    A robot YAML to fill in.

    Parameters
    ----------
    text
        The YAML; values of the URDF are comments, and missing values are marked FILL IN.
    arm
        The arm of the URDF, with the limits of the options.
    recording
        The block `recording` with the names of the signals in a log; empty without a log.
    notes
        Assumptions made for the block `recording`, their alternatives, and limits not used.

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
        return yaml_file.read_typed(Effort, dict(zip(EFFORT_KEYS, values, strict=True)), '',
                                    ConfigurationError)
    except (ValueError, ConfigurationError) as error:
        raise ConfigurationError(
            f"the effort '{text}' must be four words, such as torque,joint,+1,gravity: torque "
            'or current; joint or motor; +1 or -1; gravity, or no-gravity if the driver subtracts '
            'the gravity torque') from error


def robot_template(urdf: str | Path, options: TemplateOptions | None = None, *,
                   base: Path, moving: Collection[str] = (),
                   guessed: Collection[str] = (), file: Path | None = None) -> RobotTemplate:
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
    guessed
        Joints whose bodies have guessed inertias in the URDF.
    file
        Path of the URDF in the YAML; by default that from which it is read.

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
    text, path, locked = read_description(urdf, options, moving)
    arm = Arm.from_urdf(text, locked=list(locked))
    recording, notes = _propose_recording(options.recording, arm)
    given, unused = given_limits(arm, options)
    environment = Environment(loader=PackageLoader(PACKAGE), trim_blocks=True,
                              undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters['yaml'] = _to_yaml
    content: dict[str, Any] = {
        'name': arm.name, 'urdf': _relative(file or path or Path(urdf), base),
        **({'xacro': arguments} if arguments else {}),
        **({'package_dirs': [_relative(folder, base) for folder in folders]} if folders else {}),
        'locked': locked, 'gravity': arm.gravity.tolist(), 'joints': _joints(arm, given),
        'drives': {}, 'recording': recording,
        'effort': options.effort and dataclasses.asdict(parse_effort(options.effort))}
    if guessed:
        content['guessed'] = list(guessed)
    if wider := [joint for i, joint in enumerate(arm.joint_names) if any(
            getattr(given, name)[i] > getattr(arm.limits, name)[i] for name in LIMITS)]:
        content['urdf_limits_wrong'] = wider
    others = {key: example for key, (example, _) in ROBOT_FILE_KEYS.items() if key not in content}
    text = environment.get_template('robot.yaml').render(content, arm=arm, other_keys=others)
    return RobotTemplate(text, dataclasses.replace(arm, limits=given), recording,
                         notes + unused)


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
    return proposal.block, tuple(f'recording: {note}' for note in proposal.notes)


def read_description(urdf: str | Path, options: TemplateOptions, moving: Collection[str],
                     ) -> tuple[str, Path | None, dict[str, str]]:
    """Return the text of a URDF, the path of its file, and the joints to lock with the reason."""
    text, path = read_urdf(urdf, _parse_arguments(options.arguments or ()),
                           options.package_dir or ())
    label = f"the URDF '{urdf}'"
    return text, path, arm_chain.find_locked_joints(
        parse_urdf(text, label), label, base=options.base, tip=options.tip,
        lock=options.lock or (), moving=moving)


def given_limits(arm: Arm, options: TemplateOptions) -> tuple[Limits, tuple[str, ...]]:
    """Return the limits of the URDF, replaced by those of the options, and what was not used."""
    given = {name: _parse_limits(name, text, arm) for name in LIMITS
             if (text := getattr(options, name)) is not None}
    if options.repair and options.torque is None:
        given['torque'] = np.where(limit_check.wrong_ratings(arm),
                                   limit_check.estimate_ratings(arm), arm.limits.torque)
    limits = dataclasses.replace(arm.limits, **given)
    if options.joint_limits is None:
        return limits, ()
    known, unused = _moveit_limits(options.joint_limits, arm, limits)
    return dataclasses.replace(limits, **known), unused


def _joints(arm: Arm, given: Limits) -> list[dict[str, Any]]:
    """Return name, unit, limits of the URDF and limits to write of each joint."""
    limits = arm.limits
    named = zip(arm.joint_names, arm.units('rad', 'm'), arm.units('N m', 'N'))
    return [
        {'name': joint, 'unit': unit,
         'urdf': f'{limits.lower[i]:.4g} to {limits.upper[i]:.4g} {unit}, '
                 f'{limits.velocity[i]:.4g} {unit}/s, {limits.torque[i]:.4g} {torque}',
         'limits': [
             (name, float(value) if np.isfinite(value) else None,
              description.format(unit=unit, torque=torque))
             for name, description in LIMITS.items()
             if (value := getattr(given, name)[i]) != getattr(limits, name)[i]
             or not np.isfinite(value)]}
        for i, (joint, unit, torque) in enumerate(named)]


def _parse_limits(name: str, text: str, arm: Arm) -> Array:
    """Return the joint limits of an option, (n,)."""
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
    urdf = getattr(arm.limits, name)
    if len(values) < arm.n and np.any(values > urdf):
        raise ConfigurationError(
            f'--{name} {text} is above limits of the URDF; if these are wrong, give one number '
            f'for each joint, else --{name} '
            f'{",".join(map("{:g}".format, np.minimum(values, urdf)))}')
    return np.broadcast_to(values, arm.n)


def _moveit_limits(path: Path, arm: Arm, limits: Limits,
                   ) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Return the smaller limits of two by name, (n,), and a note on those of the file not used."""
    unused: list[str] = []
    label, count = f"MoveIt's joint limits '{path}'", 0
    content = yaml_file.read_typed(
        {'joint_limits': {str: Any}},
        yaml_file.read_yaml(path, 'joint limits', ConfigurationError), label,
        ConfigurationError)['joint_limits']
    known = {name: np.array(getattr(limits, name)) for name in ('velocity', 'acceleration')}
    for i, joint in enumerate(arm.joint_names):
        config = yaml_file.read_typed(MOVEIT_JOINT, content.get(joint, {}), f'{label}, {joint}',
                                      ConfigurationError)
        for name, values in known.items():
            value = config[f'max_{name}']
            if config[f'has_{name}_limits'] and value is not None:
                if value > values[i]:
                    unused.append(f'{name} of {joint} {value:g} instead of {values[i]:g}')
                values[i] = min(value, values[i])
                count += 1
    if not count:
        raise ConfigurationError(f"'{path}' has no limits of {', '.join(arm.joint_names)}")
    note = f"'{path}' has larger limits than the URDF or the options, which are kept: "
    return known, (note + ', '.join(unused),) if unused else ()


def _to_yaml(value: Any) -> str:
    """Return a value as one line of YAML; strings are quoted if necessary."""
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10 ** 6,
                          allow_unicode=True).removesuffix('\n...\n').strip()


def _relative(path: Path, base: Path) -> str:
    """Return a path relative to a folder if it is inside, otherwise as an absolute path."""
    path, base = path.resolve(), base.resolve()
    return str(path.relative_to(base) if path.is_relative_to(base) else path)
