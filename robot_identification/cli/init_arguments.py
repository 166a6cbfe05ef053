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
"""Options of the command init: data of a robot that its URDF does not contain."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TYPE_CHECKING

from robot_identification.errors import ConfigurationError, RecordingError
import typer

if TYPE_CHECKING:
    from robot_identification.arm import Arm, Limits
    from robot_identification.arm.robot_template import Description
    from robot_identification.arrays import Array


@dataclass(frozen=True)
class InitArguments:
    """Options for data of a robot that its URDF does not contain."""

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
        metavar='LIMITS', help="Velocity limits in the same form [rad/s or m/s]. A single number "
                               "can only lower the URDF's limits; a list can also raise them.",
        )] = None
    torque: Annotated[str | None, typer.Option(
        metavar='LIMITS',
        help='Rated torques [N m or N]; one number or a list, as --velocity.')] = None
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

    def read_description(self, urdf: Path, moving: Collection[str]) -> Description:
        """Return the robot description; `moving` are the joints of a controller, if known."""
        from robot_identification.arm.arm_chain import ArmChoice
        from robot_identification.arm.robot_template import read_description

        return read_description(
            urdf, ArmChoice(self.base, self.tip, self.lock or (), moving),
            _parse_arguments(self.arguments or ()), self.package_dir or ())

    def limits(self, arm: Arm) -> tuple[Limits, tuple[str, ...]]:
        """Return the URDF's limits with those of the options in place, and notes on the unused."""
        import numpy as np
        from robot_identification.arm.moveit_limits import apply_moveit_limits
        from robot_identification.excitation.motion.limits import estimate_ratings, wrong_ratings

        given = {name: _parse_limits(name, text, arm)
                 for name in ('velocity', 'torque', 'acceleration')
                 if (text := getattr(self, name)) is not None}
        if self.repair and self.torque is None:
            given['torque'] = np.where(wrong_ratings(arm), estimate_ratings(arm),
                                       arm.limits.torque)
        limits = replace(arm.limits, **given)
        return (limits, ()) if self.joint_limits is None else apply_moveit_limits(
            self.joint_limits, arm, limits)

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
