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
"""The watch over a motion: what must hold of every joint state, and what is wrong otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError, RecordingError
from robot_identification.recording.effort import (
    joint_position,
    joint_torque_of_states,
    joint_velocity,
)
from robot_identification.ros.execution.effort_at_rest import check_effort_at_rest
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.execution.motion_plan import MotionPlan
from robot_identification.ros.execution.silence import Silence

IDLE = 0.1  # part of the reference's motion below which an arm does not follow at all


@dataclass(frozen=True)
class Tolerances:
    """
    What a motion is ended for.

    Parameters
    ----------
    tracking
        Largest distance from the reference [rad or m].
    stale
        Longest time without a joint state [s].
    position
        Beyond the position limits [rad or m].
    velocity, effort
        As a part of the limits [-].
    effort_samples
        Joint states in a row with too much effort; fewer may be noise.
    published_effort
        Largest magnitude of the effort field per joint, (n,) in its own units (amperes, say),
        watched instead of the torque limits; empty for the torque limits.
    efforts
        Whether a motion whose efforts cannot be watched is refused.

    """

    tracking: float = 0.1
    stale: float = 0.2
    position: float = 0.02
    velocity: float = 1.2
    effort: float = 1.1
    effort_samples: int = 3
    published_effort: tuple[float, ...] = ()
    efforts: bool = True


def unwrapped(arm: Arm, q: Array, near: Array) -> Array:
    """
    Return positions whose continuous joints are within half a turn of others.

    Parameters
    ----------
    arm
        The arm; a joint without limits of position is continuous, and may be published wrapped.
    q, near
        Positions, (N, n) [rad or m]; `near` may be (n,).

    """
    turns = np.round((near - q) / (2 * np.pi))
    return q + 2 * np.pi * np.where(np.isfinite(arm.limits.upper - arm.limits.lower), 0.0, turns)


class Watch:
    """
    Watches one motion.

    Parameters
    ----------
    arm
        Its limits, and what its positions and efforts mean.
    plan
        The motion.
    tolerances
        What is too much.

    """

    def __init__(self, arm: Arm, plan: MotionPlan, tolerances: Tolerances) -> None:
        self.arm, self.plan, self.tolerances = arm, plan, tolerances
        self.largest_error = np.zeros(arm.n)  # [rad or m] so far
        self._in_a_row = np.zeros(arm.n, dtype=int)
        self._first: Array | None = None
        self._reach = self._moved = 0.0
        self._efforts = False
        published = tolerances.published_effort
        if published and (len(published) != arm.n or not min(published) > 0):
            raise ExecutionError(
                'configuration', f'watch.published_effort must have {arm.n} positive numbers, one '
                f"for each joint of '{arm.name}'; it has {len(published)}")

    def stale(self, silence: Silence) -> Fault | None:
        """
        Judge the time since the last joint state.

        Parameters
        ----------
        silence
            Silence of the arm so far.

        """
        if not silence.too_long:
            return None
        return Fault('stale_joint_states',
                     f'no joint state for {silence.age:.3f} s, more than '
                     f'{self.tolerances.stale:g} s; look at the network and at the '
                     f'joint_state_broadcaster')

    def states(self, t: Array, q: Array, v: Array | None, effort: Array | None,
               due: bool = True) -> Fault | None:
        """
        Judge N joint states in a row.

        Parameters
        ----------
        t
            Their stamps since the begin of the plan, (N,) [s].
        q, v, effort
            As published, (N, n), in the arm's order.
        due
            Whether it is known where the arm should be; else that is not looked at.

        """
        expected = self.plan.evaluate(t)[0]
        position = unwrapped(self.arm, joint_position(self.arm, q), expected)
        error = np.abs(position - expected)
        if due:
            self.largest_error = np.maximum(self.largest_error, error.max(axis=0))
        return (self._limits(position, v)
                or (self._tracking(position, expected, error, t) if due else None)
                or self._effort(position, effort))

    def _limits(self, q: Array, v: Array | None) -> Fault | None:
        limits, room = self.arm.limits, self.tolerances.position
        excess = np.maximum(q - limits.upper, limits.lower - q).max(axis=0)
        joint = int(np.argmax(excess))
        if excess[joint] > room:
            return Fault('position_limit',
                         f"joint '{self.arm.joint_names[joint]}' is {excess[joint]:.4g} beyond "
                         f'its position limit')
        if v is None or np.isnan(v).any():
            return None
        usage = np.abs(joint_velocity(self.arm, v)).max(axis=0) / limits.velocity
        joint = int(np.argmax(usage))
        if usage[joint] > self.tolerances.velocity:
            return Fault('velocity_limit',
                         f"joint '{self.arm.joint_names[joint]}' moves at {usage[joint]:.2f} "
                         f'times its velocity limit')
        return None

    def _tracking(self, q: Array, expected: Array, error: Array, t: Array) -> Fault | None:
        if self._first is None:
            self._first = q[0]
        self._reach = max(self._reach, float(np.abs(expected - self._first).max()))
        self._moved = max(self._moved, float(np.abs(q - self._first).max()))
        row, joint = np.unravel_index(int(np.argmax(error)), error.shape)
        if error[row, joint] <= self.tolerances.tracking:
            return None
        if self._moved < IDLE * self._reach:
            return Fault('controller_does_not_follow',
                         'the arm has not moved: the controller is not active, rejects '
                         'trajectories, or another client commands it; its log tells')
        return Fault('tracking_error',
                     f"joint '{self.arm.joint_names[joint]}' is {error[row, joint]:.4g} away from "
                     f'where it should be at {t[row]:.2f} s ({self.plan.phase(float(t[row]))}), '
                     f'more than {self.tolerances.tracking:g}')

    def _effort(self, q: Array, effort: Array | None) -> Fault | None:
        if not self._efforts:
            return None
        if effort is None or np.isnan(effort).any():
            return Fault('effort_missing', 'the joint states have lost their efforts')
        tolerances = self.tolerances
        if tolerances.published_effort:
            values, limit = np.abs(effort), np.array(tolerances.published_effort)
            what = 'an effort (as published) of more than'
        else:
            values = np.abs(joint_torque_of_states(self.arm, effort, q))
            limit = tolerances.effort * self.arm.limits.torque
            what = f'a torque of more than {tolerances.effort:g} times its limit:'
        for row in values > limit:
            self._in_a_row = np.where(row, self._in_a_row + 1, 0)
            joint = int(np.argmax(self._in_a_row))
            if self._in_a_row[joint] >= tolerances.effort_samples:
                return Fault('effort_limit',
                             f"joint '{self.arm.joint_names[joint]}' took {what} "
                             f'{limit[joint]:g}; is something in its way?')
        return None

    def demand(self, effort: Array | None, q: Array) -> str:
        """
        Refuse a motion whose efforts cannot be watched, unless that was asked for; as `look`.

        Raises
        ------
        ExecutionError
            'effort_unwatched', or as `look`.

        """
        unwatched = self.look(effort, q)
        if unwatched and self.tolerances.efforts:
            raise ExecutionError('effort_unwatched', f'efforts cannot be watched: {unwatched}; or '
                                 f'set watch.efforts to false, and keep a hand on the stop')
        return unwatched

    def look(self, effort: Array | None, q: Array) -> str:
        """
        Watch efforts from here on, where that can be done.

        Parameters
        ----------
        effort
            As published while the arm rests, (N, n) or None.
        q
            Where it rests, (n,) [rad or m].

        Returns
        -------
        str
            Why efforts, or those of some joints, are not watched; empty when all are.

        Raises
        ------
        ExecutionError
            'effort_meaning': they cannot be what they are declared to be.

        """
        if effort is None or np.isnan(effort).any():
            return 'the joint states have no efforts'
        if not np.any(effort):
            return 'all efforts are exactly zero: nobody measures them'
        if not self.tolerances.published_effort:
            try:
                torque = joint_torque_of_states(self.arm, effort,
                                                np.broadcast_to(q, effort.shape))
            except RecordingError as error:
                return f'{error}; or give watch.published_effort'
            check_effort_at_rest(self.arm, torque.mean(axis=0), q)
        self._efforts = True
        free = [name for name, limit in zip(self.arm.joint_names, self.arm.limits.torque)
                if not np.isfinite(limit)]
        if free and not self.tolerances.published_effort:
            return f"no torque limit is known for {', '.join(free)}"
        return ''
