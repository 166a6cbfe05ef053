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
"""Conversion of published positions and efforts to joint positions and torques, and back."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError

TURNS = 4 * np.pi  # [rad] joints with limits turn less than two turns


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
    if arm.position.side == 'motor':
        q = _solve(arm.drives.motor_from_joint, q)
    if np.any(arm.position.offset) or q.flags.writeable:
        q = q + arm.position.offset
    return np.ascontiguousarray(q)


def joint_velocity(arm: Arm, v: Array) -> Array:
    """Return joint velocities from recorded ones, (N, n); as `joint_position`, without offset."""
    if arm.position.side == 'motor':
        v = _solve(arm.drives.motor_from_joint, v)
    return np.ascontiguousarray(v)


def published_position(arm: Arm, q: Array, v: Array | None) -> tuple[Array, Array | None]:
    """
    Return the positions and velocities that a robot publishes: the inverse of `joint_position`.

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


def check_radians(arm: Arm, q: Array, label: str) -> None:
    """
    Check that positions are not in degrees.

    Parameters
    ----------
    arm
        The arm, with the joint limits.
    q
        Joint positions, (N, n) [rad or m].
    label
        Name of the recording in error messages.

    Raises
    ------
    RecordingError
        A joint with limits exceeds both twice its limits and two turns.

    """
    bound = np.maximum(np.abs(arm.limits.lower), np.abs(arm.limits.upper))
    bound = np.where(arm.prismatic | ~np.isfinite(bound), np.inf, np.maximum(2 * bound, TURNS))
    largest = np.max(np.abs(q), axis=0)
    for i in np.flatnonzero(largest > bound):
        raise RecordingError(
            f"{label}: joint '{arm.joint_names[i]}' is at {largest[i]:.4g} rad, its limits are "
            f'{arm.limits.lower[i]:.4g} and {arm.limits.upper[i]:.4g}; if positions are in '
            f'degrees say so in the robot YAML: `recording: {{units: {{q: deg}}}}`, if they are '
            f'motor angles: `position: {{side: motor}}`')


def _check_effort_known(arm: Arm) -> None:
    """
    Check that the robot YAML defines the effort.

    Parameters
    ----------
    arm
        The arm; the effort of an arm from a URDF alone is joint torque.

    Raises
    ------
    RecordingError
        There is a robot YAML, and it lacks `effort`.

    """
    if arm.effort is None and arm.source is not None and arm.source.suffix in ('.yaml', '.yml'):
        raise RecordingError(
            f"the robot YAML '{arm.source}' does not say what its driver publishes as effort, and "
            'there is no default; add for instance `effort: {quantity: torque, side: joint, '
            'sign: 1, gravity_compensated: false}`')


def raw_effort(arm: Arm, tau: Array | None, current: Array | None,
               label: str) -> tuple[Array, bool]:
    """
    Return the recorded signal that is the arm's effort, and whether it is a current.

    Parameters
    ----------
    arm
        The arm, with the definition of its effort.
    tau, current
        Recorded torques [N m or N] and currents [A], (N, n).
    label
        Name of the recording in error messages.

    Raises
    ------
    RecordingError
        The signal was not recorded.

    """
    if tau is None and current is None:
        raise RecordingError(
            f'{label} has neither torques (tau) nor currents (current); name their columns in the '
            'robot YAML: `recording: {tau: NAME}` (`init --recording FILE` proposes the block). '
            'Hobby servos measure none: `robot-identification servos` needs none')
    _check_effort_known(arm)
    if arm.effort is None:
        return (tau, False) if tau is not None else (current, True)  # type: ignore[return-value]
    if arm.effort.quantity == 'current':
        # effort fields of drivers that publish currents arrive as tau
        return (current if current is not None else tau), True  # type: ignore[return-value]
    if tau is None:
        raise RecordingError(
            f'{label} has currents and no torques, but the robot YAML says '
            f'`effort: {{quantity: torque}}`; correct the YAML, or name the array of torques in '
            f'`recording: {{tau: NAME}}`')
    return tau, False


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
        A joint without effort is not in `Arm.unmeasured`, or the effort of a coupled drive is
        missing.

    """
    missing = np.isnan(effort).any(axis=0) & arm.measured
    if np.any(missing):
        joints = ', '.join(arm.joint_names[j] for j in np.flatnonzero(missing))
        raise RecordingError(
            f'{label}: the effort of {joints} is missing throughout; mend the recording, or name '
            f'what has no sensor in the robot YAML: `unmeasured: [{joints}]`')
    if arm.effort is not None and arm.effort.side == 'motor' and not np.all(arm.measured):
        driven = np.any(arm.drives.motor_from_joint[~arm.measured] != 0, axis=0) & arm.measured
        if np.any(driven):
            joints = ', '.join((*arm.unmeasured,
                                *(arm.joint_names[j] for j in np.flatnonzero(driven))))
            raise RecordingError(
                f'{label}: a drive without effort turns several joints, so none of their torques '
                f'is known; name all of them: `unmeasured: [{joints}]`')
    return np.where(arm.measured, effort, 0.0)


def torque_of_current(arm: Arm, current: Array, label: str) -> Array:
    """
    Return the torques gain * current, (N, n) [N m or N].

    Parameters
    ----------
    arm
        The arm, with its drive gains [N m/A or N/A].
    current
        Motor currents, (N, n) [A].
    label
        Name of the recording in error messages.

    Raises
    ------
    RecordingError
        A gain is not known.

    """
    gains = np.where(arm.measured, arm.drives.gains, 1.0)
    unknown = [joint for joint, gain in zip(arm.joint_names, gains) if not np.isfinite(gain)]
    if unknown:
        raise RecordingError(
            f"{label} has currents, but the gain [N m/A] of the drive of '{', '.join(unknown)}' "
            'is not known; give it in the robot YAML as '
            f'`drives: {{{unknown[0]}: {{gain: ...}}}}` '
            '(`robot-identification gains` finds it with a known mass), or record torques')
    torque: Array = current * gains
    return torque


def _is_joint_torque(arm: Arm) -> bool:
    """Return whether recorded torques are the joint torques without conversion."""
    effort = arm.effort
    return bool(np.all(arm.measured)) and (effort is None or (
        effort.sign == 1 and effort.side == 'joint' and not effort.gravity_compensated))


def joint_torque(arm: Arm, torque: Array, q: Array) -> Array:
    """
    Return joint torques from recorded torques, (N, n) [N m or N].

    With gear matrix G (`drives.motor_from_joint`, dq_motor = G dq) and motor-side torques tau_m:
    tau = sign tau_m G + g(q), where g(q) is added if the driver subtracts it.

    Parameters
    ----------
    arm
        The arm, with side, sign and gravity compensation of its effort.
    torque
        Recorded torques, (N, n).
    q
        Joint positions, (N, n) [rad or m], for the gravity torque.

    """
    effort = arm.effort
    if effort is None:
        return np.array(torque)
    torque = effort.sign * torque
    if effort.side == 'motor':
        torque = torque @ arm.drives.motor_from_joint
    return torque + _gravity(arm, q) if effort.gravity_compensated else torque


def joint_torque_of_states(arm: Arm, effort: Array, q: Array) -> Array:
    """
    Return joint torques from the efforts of joint states, (N, n) [N m or N].

    Parameters
    ----------
    arm
        The arm, with the definition of its effort.
    effort
        Published efforts, (N, n).
    q
        Joint positions, (N, n).

    Raises
    ------
    RecordingError
        Efforts are currents, and a gain is not known.

    """
    raw, is_current = raw_effort(arm, effort, None, 'the joint states')
    if is_current:
        raw = torque_of_current(arm, raw, 'the joint states')
    return joint_torque(arm, raw, q)


def published_effort(arm: Arm, torque: Array, q: Array) -> dict[str, Array]:
    """
    Return the efforts that a robot publishes for joint torques: the inverse of `joint_torque`.

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
        Effort is a current, and a gain is not known.

    """
    _check_effort_known(arm)
    effort = arm.effort
    if effort is None:
        return {'tau': torque}
    if effort.gravity_compensated:
        torque = torque - _gravity(arm, q)
    if effort.side == 'motor':
        torque = _solve(arm.drives.motor_from_joint.T, torque)
    torque = effort.sign * torque
    if effort.quantity == 'torque':
        return {'tau': torque}
    torque_of_current(arm, torque, f"the arm '{arm.name}'")
    return {'current': torque / arm.drives.gains}


def _gravity(arm: Arm, q: Array) -> Array:
    from robot_identification.dynamics import inverse_dynamics
    zero = np.zeros_like(q)
    return inverse_dynamics(arm, q, zero, zero)


def _solve(matrix: Array, rows: Array) -> Array:
    solution: Array = np.asarray(np.linalg.solve(matrix, rows.T).T, dtype=float)
    return solution
