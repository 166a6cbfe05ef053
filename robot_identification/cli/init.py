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

from dataclasses import replace
import importlib.util
from pathlib import Path
from typing import Annotated, TYPE_CHECKING

from robot_identification import console, files
from robot_identification.cli.expand_options import expand_options
from robot_identification.cli.init_arguments import InitArguments
from robot_identification.errors import ConfigurationError, EstimationError, ExcitationError
import typer

if TYPE_CHECKING:
    from robot_identification.arm import Arm

ASKED = {'--acceleration': 'acceleration', '--velocity': 'velocity', '--torque': 'torque',
         '--effort': 'quantity'}    # and the key of the YAML that stays empty without it


@expand_options
def init_command(
    urdf: Annotated[Path | None, typer.Argument(
        metavar='URDF', help='URDF or xacro file of your arm.')] = None,
    output: Annotated[Path | None, typer.Option(
        '--output', '-o',
        help='Robot YAML to write; by default named after the URDF.')] = None,
    *,
    options: InitArguments,
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
    from robot_identification.cli.repair import repaired_files

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
    repaired = repaired_files(target.with_suffix('')) if options.repair else []
    for written in (target, *repaired, *([path] if from_topic else [])):
        if written.exists() and not force:
            raise ConfigurationError(f"'{written}' exists; give another --output, or --force")
    files.check_outputs([(target, files.ROBOT_YAML),
                         *((name, files.FileKind('a repaired file', '')) for name in repaired)],
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


def _write(urdf: Path, target: Path, options: InitArguments, moving: tuple[str, ...],
           as_json: bool) -> None:
    """Write the robot YAML, and print doubtful values and the next step."""
    from robot_identification.arm import load_arm
    from robot_identification.arm.inertia_check import check_inertias
    from robot_identification.arm.robot_template import parse_effort, robot_template
    from robot_identification.cli.repair import Repair, repaired_files
    from robot_identification.excitation.motion.limits import find_doubtful_limits

    description = options.read_description(urdf, moving)
    repair = Repair(description, options.position or ()) if options.repair else None
    if repair is not None:
        description = repair.description(repaired_files(target.with_suffix(''))[0])
    arm = description.arm
    limits, unused = options.limits(arm)
    recording, notes = options.propose_recording(arm)
    text = robot_template(
        description, target.parent, limits=limits, recording=recording,
        effort=parse_effort(options.effort) if options.effort else None,
        guessed=repair.guessed if repair else ())
    arm = replace(arm, limits=limits)
    if repair is None:
        notes += (*unused, *_description_notes(urdf, arm, options))
    else:
        notes += unused
        repair.write(target.with_suffix(''), limits.torque)
    faults = [str(fault) for fault in check_inertias(arm)]
    doubts = find_doubtful_limits(arm)
    files.write_text(target, text)
    count = text.count(': null    # FILL IN')
    if as_json:
        console.emit({
            'robot': str(target), 'to_fill_in': count, 'joints': arm.joint_names,
            'locked': list(arm.locked), 'inertia_faults': faults, 'limits_in_doubt': doubts,
            'recording': recording, 'notes': notes,
            'changes': [] if repair is None else repair.changes})
        return
    if count == 0:
        load_arm(target)
    lines = [f'wrote {target}: {arm.n} joints, {arm.joint_names[0]} to {arm.joint_names[-1]}'
             + (f'; locked: {", ".join(arm.locked)}' if arm.locked else ''),
             *notes,
             *(f'repaired: {kind} of {part}: {before} -> {after}'
               for kind, part, before, after in (repair.changes if repair else ())),
             *(f'limits: {doubt}' for doubt in doubts), *(f'inertia: {fault}' for fault in faults)]
    if faults:
        lines.append('these inertias are impossible, so no torque can be limited or simulated; '
                     'correct the URDF, or let --repair replace what cannot be used')
    if 'command' in recording:
        lines.append('the log has commanded positions and no torques; next: robot-identification '
                     f'servos {target} {options.recording} -o servos')
    elif count:
        flags = [flag for flag, key in ASKED.items() if f'{key}: null    #' in text]
        lines.append(f'fill in the {count} places marked FILL IN, or give {", ".join(flags)}: '
                     '`excite` needs the limits, `identify` and `validate` need the effort, '
                     '`servos` needs neither' + '; --repair estimates the torque limits' * (
                         '--torque' in flags and not repair))
    elif not faults:
        lines.append(f'{target} is complete. Next: robot-identification excite {target} '
                     '-o excitation.yaml')
    console.out.print('\n'.join(lines), markup=False)


def _description_notes(urdf: Path, arm: Arm, options: InitArguments) -> tuple[str, ...]:
    """Return notes on collision meshes that cannot be used, and on ambiguous parameters."""
    from robot_identification import dynamics
    from robot_identification.arm import meshes

    notes = []
    try:
        meshes.with_mesh_paths(replace(arm, urdf_file=urdf), options.package_dir or ())
    except ExcitationError as error:
        notes.append(f'meshes: {error}')
    try:
        dynamics.base_parameters(dynamics.ModelStructure.of(arm))
    except EstimationError as error:
        notes.append(f'origins: {error}')
    return tuple(notes)
