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

from collections.abc import Collection
from dataclasses import dataclass, replace
import importlib.util
from pathlib import Path
from typing import Any, TYPE_CHECKING

from robot_identification import console, files
from robot_identification.errors import (
    ConfigurationError,
    EstimationError,
    ExcitationError,
    RecordingError,
)

if TYPE_CHECKING:
    from robot_identification.arm import Arm, Limits
    from robot_identification.arm.robot_template import Description
    from robot_identification.arrays import Array

ASKED = {'--acceleration': 'acceleration', '--velocity': 'velocity', '--torque': 'torque',
         '--effort': 'quantity'}    # and the key of the YAML that stays empty without it


@dataclass(frozen=True)
class InitArguments:
    """
    Options for data of a robot that its URDF does not contain.

    Parameters
    ----------
    base
        Base link of the arm, if the robot consists of more than an arm.
    tip
        Link at the end of the arm; joints that do not move it are locked.
    lock : PATTERN
        Joints to lock, such as gripper_joint or "*wheel"; may be repeated.
    acceleration : LIMITS
        Acceleration limit of the joints [rad/s^2 or m/s^2]: one number, or one for each joint,
        such as 5,5,5,10,10,10.
    velocity : LIMITS
        Velocity limits in the same form [rad/s or m/s]. A single number can only lower the URDF's
        limits; a list can also raise them.
    torque : LIMITS
        Rated torques [N m or N]; one number or a list, as --velocity.
    repair
        Replace what cannot be used by guesses: inertias, efforts, meshes, checks of links that
        touch by design; writes NAME_repaired.urdf, .srdf, .html.
    position : JOINT=LOWER:UPPER
        With --repair: position limits [rad or m].
    joint_limits
        joint_limits.yaml of MoveIt, for accelerations and slower velocities.
    effort : EFFORT
        What the driver publishes as effort, such as torque,joint,+1,gravity: torque or current;
        joint or motor; +1 or -1; gravity or no-gravity.
    recording : FILE
        Log of your arm, from whose columns the block `recording` is proposed.
    package_dir : existing FOLDER
        Folder with the ROS packages that the URDF refers to; may be repeated.

    """

    base: str | None = None
    tip: str | None = None
    lock: list[str] | None = None
    acceleration: str | None = None
    velocity: str | None = None
    torque: str | None = None
    repair: bool = False
    position: list[str] | None = None
    joint_limits: Path | None = None
    effort: str | None = None
    recording: Path | None = None
    package_dir: list[Path] | None = None

    def read_description(self, urdf: Path, arguments: Collection[str],
                         moving: Collection[str]) -> Description:
        """Return the robot description; `moving` are the joints of a controller, if known."""
        from robot_identification.arm.arm_chain import ArmChoice
        from robot_identification.arm.robot_template import read_description

        return read_description(
            urdf, ArmChoice(self.base, self.tip, self.lock or (), moving),
            _parse_arguments(arguments), self.package_dir or ())

    def limits(self, arm: Arm) -> tuple[Limits, tuple[str, ...]]:
        """Return the URDF's limits with those of the options in place, and notes on the unused."""
        import numpy as np
        from robot_identification.arm.limits import apply_moveit_limits
        from robot_identification.excitation.motion.limits import estimate_ratings, wrong_ratings

        given = {name: _parse_limits(name, text, arm)
                 for name in ('velocity', 'torque', 'acceleration')
                 if (text := getattr(self, name)) is not None}
        if self.repair and self.torque is None:
            given['torque'] = np.where(wrong_ratings(arm), estimate_ratings(arm),
                                       arm.limits.torque)
        limits = replace(arm.limits, **given)
        return (limits, ()) if self.joint_limits is None else apply_moveit_limits(
            self.joint_limits, arm.joint_names, limits)

    def propose_recording(self, arm: Arm) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the block `recording` for the given log, and notes; both are empty without."""
        from robot_identification.recording.infer_block import infer_recording_block

        path = self.recording
        if path is None:
            return {}, ()
        proposal = infer_recording_block(path, arm)
        if proposal is None:
            raise RecordingError(
                f"'{path}' has no columns that look like stamps and positions of "
                f'{", ".join(arm.joint_names)}; write the block by hand, as `recording: {{t: '
                'timestamp, q: "actual_q_{joint}", names: [0, 1, 2, 3, 4, 5]}`')
        return proposal.block, tuple(f'recording: {note}' for note in proposal.notes)


def init_command(
    urdf: Path | None = None,
    arguments: list[str] | None = None,
    /,
    *,
    output: Path | None = None,
    options: InitArguments,
    from_topic: str | None = None,
    controller: str = 'joint_trajectory_controller',
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Write a robot YAML from a URDF, and mark the values that are missing.

    Parameters
    ----------
    urdf : [URDF]
        URDF or xacro file of your arm.
    arguments : [NAME:=VALUE]...
        Arguments of the xacro, such as dof:=7.
    output : -o
        Robot YAML to write; by default named after the URDF.
    from_topic : TOPIC
        Take the URDF from a topic of the running robot, such as /robot_description, instead of a
        file; it is written beside the YAML.
    controller
        With --from-topic: controller whose joints move; all others are locked.
    force
        Overwrite an existing file.

    """
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
        _write(path, target, options, arguments or (), moving, as_json=as_json)
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


def _write(urdf: Path, target: Path, options: InitArguments, arguments: Collection[str],
           moving: tuple[str, ...], *, as_json: bool) -> None:
    """Write the robot YAML, and print doubtful values and the next step."""
    from robot_identification.arm import load_arm
    from robot_identification.arm.inertia_check import check_inertias
    from robot_identification.arm.robot_template import parse_effort, robot_template
    from robot_identification.cli.repair import Repair, repaired_files
    from robot_identification.excitation.motion.limits import find_doubtful_limits

    description = options.read_description(urdf, arguments, moving)
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
    notes += unused
    if repair is None:
        notes += _description_notes(urdf, arm, options)
    else:
        repair.write(target.with_suffix(''), limits.torque)
    changes = repair.changes if repair else []
    faults = [str(fault) for fault in check_inertias(arm)]
    doubts = find_doubtful_limits(arm)
    files.write_text(target, text)
    count = text.count(': null    # FILL IN')
    if as_json:
        console.emit({
            'robot': str(target), 'to_fill_in': count, 'joints': arm.joint_names,
            'locked': list(arm.locked), 'inertia_faults': faults, 'limits_in_doubt': doubts,
            'recording': recording, 'notes': notes, 'changes': changes})
        return
    if count == 0:
        load_arm(target)
    lines = [f'wrote {target}: {arm.n} joints, {arm.joint_names[0]} to {arm.joint_names[-1]}'
             + (f'; locked: {", ".join(arm.locked)}' if arm.locked else ''),
             *notes,
             *(f'repaired: {kind} of {part}: {before} -> {after}'
               for kind, part, before, after in changes),
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
    console.print_lines(*lines)


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


def _parse_arguments(texts: Collection[str]) -> dict[str, str]:
    """Return the arguments of a xacro by name, from texts NAME:=VALUE."""
    arguments = {}
    for text in texts:
        name, separator, arguments[name] = text.partition(':=')
        if not separator or not name:
            raise ConfigurationError(f"'{text}' is not a xacro argument; write it as "
                                     'NAME:=VALUE')
    return arguments


def _parse_limits(name: str, text: str, arm: Arm) -> Array:
    """Return the joint limits of an option, (n,)."""
    import numpy as np

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
