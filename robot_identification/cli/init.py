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
"""The command init: writes a robot YAML from a URDF or xacro."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import numpy as np
from robot_identification import files
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.inertia_check import check_inertias
from robot_identification.cli import console
from robot_identification.cli.expand_options import expand_options
from robot_identification.cli.robot_template import robot_template, TemplateOptions
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ConfigurationError
import typer

_PLACEHOLDER = 0.01    # [-] gravity torque over rated torque; below it, rated torques are doubtful
_TINY = 1e-9           # [-] below it, gravity has no influence (joints in a horizontal plane)


@expand_options
def init_command(
    urdf: Annotated[Path | None, typer.Argument(
        metavar='URDF', help='URDF or xacro file of your arm.')] = None,
    output: Annotated[Path | None, typer.Option(
        '--output', '-o',
        help='Robot YAML to write; by default named after the URDF.')] = None,
    *,
    options: TemplateOptions,
    from_topic: Annotated[str | None, typer.Option(
        metavar='TOPIC',
        help='Take the URDF from a topic of the running robot, such as /robot_description, '
             'instead of a file; it is written beside the YAML.')] = None,
    controller: Annotated[str, typer.Option(
        help='With --from-topic: controller whose joints move; all others are locked.',
    )] = 'joint_trajectory_controller',
    force: Annotated[bool, typer.Option('--force', help='Overwrite an existing file.')] = False,
    as_json: console.AsJson = False,
) -> None:
    """Write a robot YAML from a URDF, and mark the values that are missing."""
    source = urdf or from_topic
    if source is None or (urdf and from_topic):
        raise ConfigurationError('give the URDF or xacro of your arm, or --from-topic '
                                 '/robot_description for a running robot')
    stem = Path(source).name.removesuffix('.xacro').removesuffix('.urdf')
    target = output or Path(f'{stem or "robot"}.yaml')
    path = urdf or target.with_suffix('.urdf')
    if path == target and from_topic:
        raise ConfigurationError(f"'{target}' must end in .yaml")
    new = not path.exists()
    for written in (target, path) if from_topic else (target,):
        if written.exists() and not force:
            raise ConfigurationError(f"'{written}' exists; give another --output, or --force")
    files.check_outputs([(target, files.ROBOT_YAML)],
                        (urdf, options.joint_limits, options.recording), force=force)
    moving = _save_description(from_topic, controller, path) if from_topic else ()
    try:
        _write(path, target, options, moving, as_json)
    except BaseException:
        if from_topic and new:    # otherwise the next attempt would need --force
            path.unlink()
        raise


def _save_description(topic: str, controller: str, path: Path) -> tuple[str, ...]:
    """Write the URDF that a topic publishes, and return the joints that the controller moves."""
    if importlib.util.find_spec('rclpy') is None:
        raise ConfigurationError("--from-topic needs the Python module 'rclpy': source ROS 2, or "
                                 'install the wheels with .ci/ros_wheels VENV')
    from robot_identification.ros.nodes.description import receive_description, save_description
    text, moving = receive_description(topic, controller, topic.rpartition('/')[0])
    save_description(text, moving, path)
    return moving


def _write(urdf: Path, target: Path, options: TemplateOptions, moving: tuple[str, ...],
           as_json: bool) -> None:
    """Write the robot YAML, and print doubtful values and the next step."""
    template = robot_template(urdf, options, base=target.parent, moving=moving)
    arm = template.arm
    faults = [str(fault) for fault in check_inertias(arm)]
    doubts = [*arm.limits.warnings(arm.joint_names, arm.prismatic), *_placeholders(arm)]
    files.write_text(target, template.text)
    count = template.text.count(': null    # FILL IN')
    if as_json:
        console.emit({
            'robot': str(target), 'to_fill_in': count, 'joints': arm.joint_names,
            'locked': list(arm.locked), 'inertia_faults': faults, 'limits_in_doubt': doubts,
            'recording': template.recording, 'notes': template.notes})
        return
    if count == 0:
        load_arm(target)
    lines = [f'wrote {target}: {arm.n} joints, {arm.joint_names[0]} to {arm.joint_names[-1]}'
             + (f'; locked: {", ".join(arm.locked)}' if arm.locked else ''),
             *(f'recording: {note}' for note in template.notes),
             *(f'limits: {doubt}' for doubt in doubts), *(f'inertia: {fault}' for fault in faults)]
    if faults:
        lines.append('`excite` cannot limit torques with these inertias: correct the URDF, or see '
                     '`excite --help` for --guess-inertias and --no-torque')
    if 'command' in template.recording:
        lines.append('the log has commanded positions and no torques; next: robot-identification '
                     f'servos {target} {options.recording} -o servos')
    elif count:
        lines.append(f'fill in the {count} places marked FILL IN: `excite` needs the limits, '
                     '`identify` and `validate` need the effort, `servos` needs neither')
    else:
        lines.append('nothing is left to fill in; next: robot-identification excite '
                     f'{target} -o excitation.yaml')
    console.out.print('\n'.join(lines), markup=False)


def _placeholders(arm: Arm) -> tuple[str, ...]:
    """Return a note if the rated torques are far above the largest gravity torques."""
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
