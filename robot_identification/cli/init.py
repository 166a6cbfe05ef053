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
"""The command that starts a project: a robot YAML from a URDF or xacro."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
import importlib.util
from pathlib import Path
import re
from typing import Annotated

import numpy as np
from robot_identification import files
from robot_identification.arm import load_arm
from robot_identification.arm.arm import Arm
from robot_identification.arm.inertia_check import check_inertias
from robot_identification.cli import console
from robot_identification.cli.robot_template import parse_effort, robot_template, TemplateOptions
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.recording import infer_recording_block
from robot_identification.recording.infer_columns import InferredColumns
import typer
import yaml

_PLACEHOLDER = 0.01    # [-] gravity torque over rated torque; below it, rated torques are doubtful
_TINY = 1e-9           # [-] below it, gravity has no influence (joints in a horizontal plane)


def init_command(
    urdf: Annotated[Path | None, typer.Argument(
        metavar='URDF', help='URDF or xacro file of your arm.')] = None,
    arguments: Annotated[list[str] | None, typer.Argument(
        metavar='[NAME:=VALUE]...', help='Arguments of the xacro, as dof:=7.')] = None,
    output: Annotated[Path | None, typer.Option(
        '--output', '-o',
        help='Robot YAML to write; by default named after the URDF.')] = None,
    base: Annotated[str | None, typer.Option(
        help='Base link of the arm, if the robot has more than an arm.')] = None,
    tip: Annotated[str | None, typer.Option(
        help='Link at the end of the arm; joints that do not move it are locked.')] = None,
    lock: Annotated[list[str] | None, typer.Option(
        metavar='PATTERN', help='Joints to lock, as gripper_joint or "*wheel*"; may be '
                                'repeated.')] = None,
    acceleration: Annotated[str | None, typer.Option(
        metavar='LIMITS', help='Acceleration limit of the joints [rad/s^2 or m/s^2]: one number, '
                               'or one for each joint, as 5,5,5,10,10,10.')] = None,
    velocity: Annotated[str | None, typer.Option(
        metavar='LIMITS', help='Velocity limits in the same form [rad/s or m/s], if the URDF has '
                               'none or wider ones.')] = None,
    torque: Annotated[str | None, typer.Option(
        metavar='LIMITS', help='Rated torques in the same form [N m or N], if the URDF has none '
                               'or larger ones.')] = None,
    joint_limits: Annotated[Path | None, typer.Option(
        help='joint_limits.yaml of MoveIt, for accelerations and slower velocities.')] = None,
    effort: Annotated[str | None, typer.Option(
        metavar='QUANTITY,SIDE,SIGN,GRAVITY',
        help='What the driver publishes as effort, as torque,joint,+1,gravity: torque or current; '
             'joint or motor; +1 or -1; gravity or no-gravity.')] = None,
    recording: Annotated[Path | None, typer.Option(
        metavar='FILE', help='A log of your arm: the block `recording` is proposed from its '
                             'columns.')] = None,
    package_dir: Annotated[list[Path] | None, typer.Option(
        exists=True, file_okay=False,
        help='Folder with the ROS packages that the URDF refers to; may be repeated.',
    )] = None,
    from_topic: Annotated[str | None, typer.Option(
        metavar='TOPIC',
        help='Take the URDF from a topic of the running robot, as /robot_description, instead of '
             'a file; it is written beside the YAML.')] = None,
    controller: Annotated[str, typer.Option(
        help='With --from-topic: controller whose joints move; the others are locked.',
    )] = 'joint_trajectory_controller',
    force: Annotated[bool, typer.Option('--force', help='Overwrite an existing file.')] = False,
    as_json: console.AsJson = False,
) -> None:
    """Write a robot YAML from a URDF, and mark the values that are missing."""
    stem = _stem(urdf, from_topic)
    target = output or Path(f'{stem}.yaml')
    if target.exists() and not force:
        raise ConfigurationError(f"'{target}' exists; give another --output, or --force")
    files.check_outputs([(target, files.ROBOT_YAML)], (urdf, joint_limits, recording), force=force)
    options = TemplateOptions(
        arguments=_arguments(arguments or []), package_dirs=tuple(package_dir or ()),
        base_link=base, tip=tip, lock=tuple(lock or ()),
        acceleration=_numbers('acceleration', acceleration),
        velocity=_numbers('velocity', velocity), torque=_numbers('torque', torque),
        joint_limits=joint_limits, effort=None if effort is None else parse_effort(effort))
    if urdf is not None:
        _write(urdf, target, options, recording, as_json)
        return
    with _description_from_topic(from_topic or '', controller, target, force) as (path, moving):
        _write(path, target, replace(options, moving=moving), recording, as_json)


def _stem(urdf: Path | None, topic: str | None) -> str:
    """Return the default name of the robot YAML, without suffix."""
    if (urdf is None) == (topic is None):
        raise ConfigurationError('give the URDF or xacro of your arm, or --from-topic '
                                 '/robot_description for a running robot')
    name = urdf.name if urdf is not None else str(topic).rpartition('/')[-1]
    return name.removesuffix('.xacro').removesuffix('.urdf') or name or 'robot'


@contextmanager
def _description_from_topic(topic: str, controller: str, target: Path,
                            force: bool) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Write the URDF from a topic beside the robot YAML; yield its path and the moving joints."""
    path = target.with_suffix('.urdf')
    if path == target:
        raise ConfigurationError(f"'{target}' must end in .yaml")
    new = not path.exists()
    if not new and not force:
        raise ConfigurationError(f"'{path}' exists; give another --output, or --force")
    if importlib.util.find_spec('rclpy') is None:
        raise ConfigurationError("--from-topic needs the Python module 'rclpy': source ROS 2, or "
                                 'install the wheels with .ci/ros_wheels VENV')
    from robot_identification.ros.nodes.description import receive_description, save_description
    text, moving = receive_description(topic, controller, topic.rpartition('/')[0])
    save_description(text, moving, path)
    try:
        yield path, moving
    except BaseException:
        if new:
            path.unlink()
        raise


def _write(urdf: Path, target: Path, options: TemplateOptions, recording: Path | None,
           as_json: bool) -> None:
    """Write the robot YAML, and print what is left to do."""
    text = robot_template(urdf, base=target.parent, options=options)
    locked = yaml.safe_load(text)['locked']
    arm = Arm.from_urdf(urdf, locked=locked, arguments=options.arguments,
                        package_dirs=options.package_dirs)
    notes: tuple[str, ...] = ()
    servos = False
    if recording is not None:
        proposal = _proposal(recording, arm)
        notes, servos = proposal.notes, 'command' in proposal.block
        text = robot_template(urdf, base=target.parent,
                              options=replace(options, recording=proposal.block))
    faults = [str(fault) for fault in check_inertias(arm)]
    doubts = (*arm.limits.warnings(arm.joint_names, arm.prismatic), *_placeholders(arm))
    files.write_text(target, text)
    places = len(re.findall(r': null    # FILL IN', text))
    if as_json:
        console.emit({
            'robot': str(target), 'to_fill_in': places, 'joints': list(arm.joint_names),
            'locked': list(locked), 'inertia_faults': faults, 'limits_in_doubt': list(doubts),
            'recording': yaml.safe_load(text).get('recording', {}), 'notes': list(notes)})
        return
    if places == 0:
        load_arm(target)
    lines = [f'wrote {target}: {arm.n} joints, {arm.joint_names[0]} to {arm.joint_names[-1]}'
             + (f'; locked: {", ".join(locked)}' if locked else ''),
             *(f'recording: {note}' for note in notes), *(f'limits: {doubt}' for doubt in doubts),
             *(f'inertia: {fault}' for fault in faults)]
    if faults:
        lines.append('torques cannot be proven with these inertias: correct the URDF, or see '
                     '`excite --help` for --guess-inertias and --no-torque')
    if servos:
        lines.append('the log has commanded positions and no torques; next: robot-identification '
                     f'servos {target} {recording} -o servos')
    elif places:
        lines.append(f'fill in the {places} places marked FILL IN: `excite` needs the limits, '
                     '`identify` and `validate` need the effort, `servos` needs neither')
    else:
        lines.append('nothing is left to fill in; next: robot-identification excite '
                     f'{target} -o excitation.yaml')
    for line in lines:
        console.out.print(line, markup=False)


def _placeholders(arm: Arm) -> tuple[str, ...]:
    """Return a note if the rated torques are far above the gravity torques."""
    low, high = (np.clip(x, -np.pi, np.pi) for x in (arm.limits.lower, arm.limits.upper))
    q = np.random.default_rng(0).uniform(low, high, size=(200, arm.n))
    gravity = np.abs(inverse_dynamics(arm, q, 0 * q, 0 * q)).max(axis=0)
    fraction = float(np.max(gravity / arm.limits.torque, initial=0.0))
    if not _TINY < fraction < _PLACEHOLDER:
        return ()
    rated = np.max(arm.limits.torque[np.isfinite(arm.limits.torque)])
    return (f'gravity takes at most {100 * fraction:.2g} % of a rated torque: if the effort '
            f'limits of the URDF (up to {rated:g} N m) are placeholders, give the real ones under '
            '`joints` in the robot YAML; the simulated friction is proportional to them',)


def _proposal(path: Path, arm: Arm) -> InferredColumns:
    proposal = infer_recording_block(path, arm)
    if proposal is None:
        raise RecordingError(
            f"'{path}' has no columns that look like stamps and positions of "
            f'{", ".join(arm.joint_names)}; write the block by hand, as `recording: {{t: '
            'timestamp, q: "actual_q_{joint}", names: [0, 1, 2, 3, 4, 5]}`')
    return proposal


def _numbers(option: str, text: str | None) -> list[float] | None:
    """Return numbers that are separated by commas."""
    try:
        return None if text is None else [float(word) for word in text.split(',')]
    except ValueError as error:
        raise ConfigurationError(f"--{option} '{text}' must be a number, or one for each joint, "
                                 'as 5,5,5,10,10,10') from error


def _arguments(words: list[str]) -> dict[str, str]:
    """Return the arguments of a xacro, {name: value} of name:=value."""
    found = {}
    for word in words:
        name, given, value = word.partition(':=')
        if not given or not name:
            raise ConfigurationError(f"'{word}' is not a xacro argument; write it as "
                                     'NAME:=VALUE')
        found[name] = value
    return found
