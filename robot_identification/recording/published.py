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
"""Converts joint positions and torques to those that a robot publishes."""

from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.recording.effort import (
    check_effort_known,
    drive_gains,
    gravity_torque,
    solve_rows,
)


def published_position(arm: Arm, q: Array, v: Array | None) -> tuple[Array, Array | None]:
    """
    Return the positions and velocities that a robot publishes; inverse of `joint_position`.

    Parameters
    ----------
    arm
        The arm, with the gear side and offset of its positions.
    q, v
        Joint positions and velocities, (N, n).

    """
    q = q - arm.position.offset
    if arm.position.side == 'joint':
        return q, v
    to_motor = arm.drives.motor_from_joint.T
    return q @ to_motor, None if v is None else v @ to_motor


def published_effort(arm: Arm, torque: Array, q: Array) -> dict[str, Array]:
    """
    Return the efforts that a robot publishes for joint torques; inverse of `joint_torque`.

    Parameters
    ----------
    arm
        The arm, with the definition of its effort.
    torque, q
        Torques [N m or N] and positions [rad or m] of the joints, (N, n).

    Returns
    -------
    dict
        The efforts, (N, n), under the key `tau` or `current`.

    Raises
    ------
    RecordingError
        The effort is a current, and a drive gain is unknown.

    Examples
    --------
    >>> published_effort(load_arm('panda'), torque, q)['tau'].shape    # doctest: +SKIP
    (1000, 7)

    """
    check_effort_known(arm)
    effort = arm.effort
    if effort is None:
        return {'tau': torque}
    if effort.gravity_compensated:
        torque = torque - gravity_torque(arm, q)
    if effort.side == 'motor':
        torque = solve_rows(arm.drives.motor_from_joint.T, torque)
    torque = effort.sign * torque
    if effort.quantity == 'torque':
        return {'tau': torque}
    return {'current': torque / drive_gains(arm, f"the arm '{arm.name}'")}
