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
"""Joint positions and torques from what a robot publishes, and the reverse."""

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, column_range
from robot_identification.errors import RecordingError

TURNS = 4 * np.pi  # [rad] no joint with limits turns by more than two turns


def joint_position(arm: Arm, q: Array) -> Array:
    """
    Return joint positions from recorded positions, (N, n) [rad or m].

    Parameters
    ----------
    arm
        The arm, with the gear side and offset of its positions.
    q
        Recorded positions, (N, n), in the arm's order.

    """
    q = joint_velocity(arm, q)    # as for velocities, without the offset
    if np.any(arm.position.offset) or q.flags.writeable:
        q = q + arm.position.offset
    return q


def joint_velocity(arm: Arm, v: Array) -> Array:
    """Return joint velocities from recorded velocities, (N, n) [rad/s or m/s]."""
    if arm.position.side == 'motor':
        v = solve_rows(arm.drives.motor_from_joint, v)
    return np.ascontiguousarray(v)


def require_radians(arm: Arm, q: Array, label: str) -> Array:
    """
    Return joint positions as `joint_position` does; raise an error if they are in degrees.

    Parameters
    ----------
    arm
        The arm, with the gear side and offset of its positions, and the joint limits.
    q
        Recorded positions, (N, n), in the arm's order.
    label
        Name of the recording in error messages.

    Raises
    ------
    RecordingError
        The position of a revolute joint exceeds both twice its limits and two turns.

    """
    q = joint_position(arm, q)
    bound = np.maximum(np.abs(arm.limits.lower), np.abs(arm.limits.upper))
    bound = np.where(arm.prismatic | ~np.isfinite(bound), np.inf, np.maximum(2 * bound, TURNS))
    lowest, highest = column_range(q)
    largest = np.maximum(-lowest, highest)
    for i in np.flatnonzero(largest > bound):
        raise RecordingError(
            f"{label}: joint '{arm.joint_names[i]}' is at {largest[i]:.4g} rad; its limits are "
            f'{arm.limits.lower[i]:.4g} and {arm.limits.upper[i]:.4g}; set in the robot YAML '
            f'`recording: {{units: {{q: deg}}}}` if positions are in degrees, or '
            f'`position: {{side: motor}}` if they are motor angles')
    return q


def check_effort_known(arm: Arm) -> None:
    """
    Raise an error if the robot YAML does not define the effort.

    Parameters
    ----------
    arm
        The arm. Without a robot YAML, the effort is the joint torque.

    Raises
    ------
    RecordingError
        The arm has a robot YAML that lacks `effort`.

    """
    if arm.effort is None and arm.source is not None and arm.source.suffix in ('.yaml', '.yml'):
        raise RecordingError(
            f"the robot YAML '{arm.source}' does not define the meaning of the effort, and "
            'there is no default; add for instance `effort: {quantity: torque, side: joint, '
            'sign: 1, gravity_compensated: false}`')


def recorded_torque(arm: Arm, tau: Array | None, current: Array | None, label: str) -> Array:
    """
    Return the recorded torques, (N, n) [N m or N]; currents are multiplied by the drive gains.

    Parameters
    ----------
    arm
        The arm, with the definition of its effort and its drive gains [N m/A or N/A].
    tau, current
        Recorded efforts and currents, (N, n); None if not recorded. If the effort of the arm is a
        current, `tau` may hold currents [A].
    label
        Name of the recording in error messages.

    Raises
    ------
    RecordingError
        Neither signal was recorded, the robot YAML does not define the effort or contradicts the
        recording, or the signal is a current and a drive gain is unknown.

    """
    if tau is None and current is None:
        raise RecordingError(
            f'{label} has neither torques (tau) nor currents (current); name their columns in the '
            'robot YAML: `recording: {tau: NAME}` (`init --recording FILE` proposes the block). '
            'For hobby servos, which measure neither, use `robot-identification servos`')
    check_effort_known(arm)
    if tau is None or (arm.effort is not None and arm.effort.quantity == 'current'):
        if arm.effort is not None and arm.effort.quantity == 'torque':
            raise RecordingError(
                f'{label} has currents and no torques, but the robot YAML has '
                f'`effort: {{quantity: torque}}`; correct the YAML, or name the array of torques '
                f'in `recording: {{tau: NAME}}`')
        # drivers that publish currents put them into the field effort, which is read as tau
        gains = drive_gains(arm, label)
        return (tau if current is None else current) * gains  # type: ignore[operator]
    return tau


def without_unmeasured(arm: Arm, effort: Array, label: str) -> Array:
    """
    Return efforts with zeros for the joints whose effort is not measured, (N, n).

    Parameters
    ----------
    arm
        The arm, with the names of these joints (`Arm.unmeasured`).
    effort
        Recorded efforts, (N, n); NaN throughout for a joint without a sensor.
    label
        Name of the recording in error messages.

    Raises
    ------
    RecordingError
        A joint without effort is not in `Arm.unmeasured`, or the effort of a drive that moves
        several joints is missing.

    """
    missing = np.isnan(column_range(effort)[0]) & arm.measured
    if np.any(missing):
        joints = ', '.join(arm.joint_names[j] for j in np.flatnonzero(missing))
        raise RecordingError(
            f'{label}: the effort of {joints} is missing throughout; repair the recording, or '
            f'list joints without a sensor in the robot YAML: `unmeasured: [{joints}]`')
    if arm.effort is not None and arm.effort.side == 'motor' and not np.all(arm.measured):
        driven = np.any(arm.drives.motor_from_joint[~arm.measured] != 0, axis=0) & arm.measured
        if np.any(driven):
            joints = ', '.join((*arm.unmeasured,
                                *(arm.joint_names[j] for j in np.flatnonzero(driven))))
            raise RecordingError(
                f'{label}: a drive without effort turns several joints, so none of their torques '
                f'is known; name all of them: `unmeasured: [{joints}]`')
    return effort if np.all(arm.measured) else np.where(arm.measured, effort, 0.0)


def drive_gains(arm: Arm, label: str) -> Array:
    """Return the drive gains, (n,) [N m/A or N/A]; 1 for joints whose effort is not measured."""
    gains = np.where(arm.measured, arm.drives.gains, 1.0)
    unknown = [joint for joint, gain in zip(arm.joint_names, gains) if not np.isfinite(gain)]
    if unknown:
        raise RecordingError(
            f"{label} has currents, but the gain [N m/A] of the drive of '{', '.join(unknown)}' "
            'is not known; give it in the robot YAML as '
            f'`drives: {{{unknown[0]}: {{gain: ...}}}}` '
            '(`robot-identification gains` identifies it with a known mass), or record torques')
    return gains


def joint_torque(arm: Arm, torque: Array, q: Array) -> Array:
    """
    Return joint torques from recorded torques, (N, n) [N m or N].

    With the motor torques tau_m and the gear matrix G (`drives.motor_from_joint`,
    dq_motor = G dq): tau = sign * G' tau_m + g(q). For an effort on the joint side, G is the
    identity. The gravity torque g(q) is added only if the driver subtracts it.

    Parameters
    ----------
    arm
        The arm, with side, sign and gravity compensation of its effort.
    torque
        Recorded torques, (N, n).
    q
        Joint positions, (N, n) [rad or m], at which the gravity torque is computed.

    """
    effort = arm.effort
    if effort is None:
        return np.array(torque)
    torque = effort.sign * torque
    if effort.side == 'motor':
        torque = torque @ arm.drives.motor_from_joint
    return torque + gravity_torque(arm, q) if effort.gravity_compensated else torque


def joint_torque_of_states(arm: Arm, effort: Array, q: Array) -> Array:
    """
    Return joint torques from the efforts in JointState messages, (N, n) [N m or N].

    Parameters
    ----------
    arm
        The arm, with the definition of its effort.
    effort
        Published efforts, (N, n).
    q
        Joint positions, (N, n) [rad or m].

    Raises
    ------
    RecordingError
        The efforts are currents, and a drive gain is unknown.

    """
    return joint_torque(arm, recorded_torque(arm, effort, None, 'the joint states'), q)


def gravity_torque(arm: Arm, q: Array) -> Array:
    """Return the gravity torques of the URDF at positions, (N, n) [N m or N]."""
    from robot_identification.dynamics import inverse_dynamics
    zero = np.zeros_like(q)
    return inverse_dynamics(arm, q, zero, zero)


def solve_rows(matrix: Array, rows: Array) -> Array:
    """Return x with matrix x = row for each row, (N, n)."""
    return np.asarray(np.linalg.solve(matrix, rows.T).T, np.float64)


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
