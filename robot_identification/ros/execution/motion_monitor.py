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
"""Monitoring of a motion: checks of the joint states, each of which may return a fault."""

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
from robot_identification.ros.execution.effort_checks import check_effort_at_rest
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.execution.motion_plan import MotionPlan
from robot_identification.ros.execution.plan_tracker import unwrap_turns
from robot_identification.ros.execution.robot_clock import LATE_STEP

IDLE = 0.1          # an arm that covers less than this fraction of the motion does not follow it
FROZEN = 0.05       # [s] moving joints whose positions do not change for longer are not measured
TRAVEL = 5e-3       # [rad or m] motion planned for this time; less may be below the resolution
SETTLING = 1e-4     # [rad or m] an arm whose positions changed by less has not started to move
SPEED_TIME = 0.02   # [s] window over which the median of the published velocity is taken
SPEED_ROWS = (3, 50)    # fewest and most joint states in that window: one late stamp is no median
MAX_AGE = 5.0       # joint states older than this multiple of the tolerance are always a fault


@dataclass(frozen=True)
class MotionTolerances:
    """
    Tolerances of a motion; the motion is ended if one is exceeded.

    Parameters
    ----------
    tracking
        Largest distance from the reference [rad or m].
    stale
        Longest time without a joint state [s].
    position
        Largest distance beyond the position limits [rad or m].
    velocity, effort
        Largest velocity and torque as a multiple of their limits [-].
    effort_samples
        Number of successive joint states with excessive effort that end the motion; fewer may be
        noise.
    published_effort
        Limits of the published effort of each joint, (n,), in its published unit (for example
        amperes); they replace the torque limits. If empty, the torque limits apply.
    efforts
        Whether a motion is refused if its efforts cannot be monitored.

    """

    tracking: float = 0.1
    stale: float = 0.2
    position: float = 0.02
    velocity: float = 1.2
    effort: float = 1.1
    effort_samples: int = 3
    published_effort: tuple[float, ...] = ()
    efforts: bool = True


class JointStateWatchdog:
    """
    Detector of missing joint states that is not triggered by stalls of this process.

    On a busy computer this process may stall while joint states wait in a queue. The first step
    after a stall then receives old joint states or none. Therefore each step adds at most
    `LATE_STEP` to the measured silence. If the stall is long, the brake watchdog brakes the arm.

    Ages and silence are times on the clock of the stamps: a paused simulation is not silent, and a
    slow one has as many joint states per second of its time as a fast one.

    Parameters
    ----------
    tolerance
        Age at which a joint state is no longer fresh [s].

    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.age = 0.0        # [s] age of the newest joint state
        self.silence = 0.0    # [s] time without a fresh joint state, not counting stalls

    @property
    def fresh(self) -> bool:
        """Whether the newest joint state is not older than the tolerance."""
        return self.age <= self.tolerance

    @property
    def expired(self) -> bool:
        """Whether joint states are missing; a short stall of this process does not count."""
        return self.silence > self.tolerance or self.age > MAX_AGE * self.tolerance

    @property
    def finding(self) -> str:
        """What was compared with which limit."""
        if self.silence > self.tolerance:
            return f'for {self.silence:.3f} s, the limit is {self.tolerance:g} s'
        return (f'that is newer than {self.age:.3f} s, the limit is '
                f'{MAX_AGE * self.tolerance:g} s')

    def step(self, received: bool, age: float, elapsed: float) -> None:
        """
        Update the watchdog.

        Parameters
        ----------
        received
            Whether joint states arrived since the last step.
        age
            Age of the newest joint state, on the clock of the stamps [s].
        elapsed
            Time since the last step [s]; that of a simulated clock if it is shorter.

        """
        self.age = age
        self.silence = (0.0 if received and self.fresh
                        else self.silence + min(elapsed, LATE_STEP))


def unwrap_positions(arm: Arm, q: Array, near: Array) -> Array:
    """
    Return positions with continuous joints shifted by full turns so that they are near `near`.

    Parameters
    ----------
    arm
        The arm. Joints without position limits are continuous; some drivers wrap their positions.
    q
        Positions, (N, n) [rad or m].
    near
        Positions to compare with, (N, n) or (n,) [rad or m]. Continuous joints of the result are
        within half a turn of them.

    """
    return unwrap_turns(q, near, ~np.isfinite(arm.limits.upper - arm.limits.lower))


class MotionMonitor:
    """
    Monitor of one motion, which compares joint states with the limits and with the plan.

    Parameters
    ----------
    arm
        The arm, which defines the limits and the meaning of published positions and efforts.
    plan
        The motion.
    tolerances
        Tolerances of the motion.

    """

    def __init__(self, arm: Arm, plan: MotionPlan, tolerances: MotionTolerances) -> None:
        self.arm, self.plan, self.tolerances = arm, plan, tolerances
        self.largest_error = np.zeros(arm.n)  # [rad or m] largest tracking error so far
        self._successive = np.zeros(arm.n, dtype=int)   # joint states with excessive effort
        self._speeds = np.zeros((0, arm.n + 1))     # recent times and velocities over their limits
        self._first = np.full(arm.n, np.nan)    # position of the first joint state
        self._held: tuple[float, Array, Array] | None = None  # since when positions are the same
        self._changed = False               # whether the arm has started to move
        self._reach = self._moved = 0.0     # [rad or m] planned and measured travel
        self._efforts = False
        published = tolerances.published_effort
        if published and (len(published) != arm.n or not min(published) > 0):
            raise ExecutionError(
                'configuration', f'watch.published_effort must have {arm.n} positive numbers, one '
                f"for each joint of '{arm.name}'; it has {len(published)}")

    def check_age(self, watchdog: JointStateWatchdog) -> Fault | None:
        """
        Return a fault if joint states have stopped arriving; otherwise None.

        Parameters
        ----------
        watchdog
            Watchdog of the joint states.

        """
        if not watchdog.expired:
            return None
        return Fault('stale_joint_states',
                     f'no joint state {watchdog.finding}; check the network and the '
                     f'joint_state_broadcaster')

    def check_states(self, t: Array, q: Array, v: Array | None, effort: Array | None,
                     tracking: bool = True) -> Fault | None:
        """
        Return the first fault found in N successive joint states; None if there is none.

        Parameters
        ----------
        t
            Times of the plan at which the arm should have these positions, (N,) [s].
        q, v, effort
            Positions, velocities and efforts as published, (N, n), in the order of the arm's
            joints; v and effort may be None.
        tracking
            Whether the tracking error is checked; False while the expected position is unknown.

        """
        expected = self.plan.evaluate(t)[0]
        position = unwrap_positions(self.arm, joint_position(self.arm, q), expected)
        error = np.abs(position - expected)
        if np.isnan(self._first).any():
            self._first = position[0]
        if tracking:
            self.largest_error = np.maximum(self.largest_error, error.max(axis=0))
        return (self._check_limits(t, position, v) or self._check_frozen(t, q, position, expected)
                or (self._check_tracking(position, expected, error, t) if tracking else None)
                or self._check_effort(position, effort))

    def _check_limits(self, t: Array, q: Array, v: Array | None) -> Fault | None:
        """Compare positions and the median velocity of a window with the limits of the arm."""
        limits, tolerance = self.arm.limits, self.tolerances.position
        excess = np.maximum(q - limits.upper, limits.lower - q).max(axis=0)
        joint = int(np.argmax(excess))
        if excess[joint] > tolerance:
            return Fault('position_limit',
                         f"joint '{self.arm.joint_names[joint]}' is {excess[joint]:.4g} beyond "
                         f'its position limit')
        if v is None or np.isnan(v).any():
            return None
        rows = np.column_stack([t, np.abs(joint_velocity(self.arm, v)) / limits.velocity])
        rows = np.vstack([self._speeds, rows])
        count = int(np.clip(np.sum(rows[:, 0] > rows[-1, 0] - SPEED_TIME), *SPEED_ROWS))
        self._speeds = rows[-SPEED_ROWS[1]:]
        if len(rows) < count:
            return None
        windows = np.lib.stride_tricks.sliding_window_view(rows[:, 1:], count, axis=0)
        usage = np.median(windows, axis=-1).max(axis=0)
        joint = int(np.argmax(usage))
        if usage[joint] > self.tolerances.velocity:
            return Fault('velocity_limit',
                         f"joint '{self.arm.joint_names[joint]}' moves at {usage[joint]:.2f} "
                         f'times its velocity limit (median of {count} joint states)')
        return None

    def _check_frozen(self, t: Array, q: Array, position: Array,
                      expected: Array) -> Fault | None:
        """
        Detect joint states that arrive with new stamps and the same positions.

        An arm whose positions have changed by no more than `SETTLING` does not follow the motion.
        """
        since, held, then = self._held or (float(t[0]), q[0], expected[0])
        for row in range(len(t)):
            if np.any(q[row] != held):
                since, held, then = float(t[row]), q[row], expected[row]
        self._held = since, held, then
        self._changed |= bool(np.abs(position - self._first).max() > SETTLING)
        moves = np.max(np.abs(expected[-1] - then)) >= TRAVEL
        if not self._changed or not moves or t[-1] - since <= FROZEN:
            return None
        return Fault('frozen_joint_states', f'the positions have not changed in the last bit for '
                     f'{t[-1] - since:.3f} s, although the arm should move: the driver repeats '
                     f'old joint states with new stamps, or has stopped the arm')

    def _check_tracking(self, q: Array, expected: Array, error: Array, t: Array) -> Fault | None:
        """Compare the tracking error with its tolerance; detect an arm that does not move."""
        self._reach = max(self._reach, float(np.abs(expected - self._first).max()))
        self._moved = max(self._moved, float(np.abs(q - self._first).max()))
        row, joint = np.unravel_index(int(np.argmax(error)), error.shape)
        if error[row, joint] <= self.tolerances.tracking:
            return None
        if self._moved < IDLE * self._reach:
            return Fault('controller_does_not_follow',
                         'the arm has not moved: the controller is inactive, rejects '
                         'trajectories, or another client commands it; see its log')
        return Fault('tracking_error',
                     f"joint '{self.arm.joint_names[joint]}' is {error[row, joint]:.4g} away from "
                     f'its expected position at {t[row]:.2f} s '
                     f'({self.plan.phase(float(t[row]))}); the limit is '
                     f'{self.tolerances.tracking:g}')

    def _check_effort(self, q: Array, effort: Array | None) -> Fault | None:
        """Compare efforts with their limits; a fault requires several successive excesses."""
        if not self._efforts:
            return None
        if effort is None or np.isnan(effort).any():
            return Fault('effort_missing', 'the joint states no longer contain efforts')
        tolerances = self.tolerances
        if tolerances.published_effort:
            values, limit = np.abs(effort), np.array(tolerances.published_effort)
            quantity = 'an effort (as published) of more than'
        else:
            values = np.abs(joint_torque_of_states(self.arm, effort, q))
            limit = tolerances.effort * self.arm.limits.torque
            quantity = f'a torque of more than {tolerances.effort:g} times its limit:'
        for row in values > limit:
            self._successive = np.where(row, self._successive + 1, 0)
            joint = int(np.argmax(self._successive))
            if self._successive[joint] >= tolerances.effort_samples:
                return Fault('effort_limit',
                             f"joint '{self.arm.joint_names[joint]}' took {quantity} "
                             f'{limit[joint]:g}; check for an obstacle')
        return None

    def require_effort_monitoring(self, effort: Array | None, q: Array) -> str:
        """
        Start to monitor efforts; if this is impossible, raise an error unless it is optional.

        Monitoring is optional if `MotionTolerances.efforts` is False. Parameters and return value
        are those of `start_effort_monitoring`.

        Raises
        ------
        ExecutionError
            'effort_unwatched': efforts cannot be monitored. 'effort_meaning': as for
            `start_effort_monitoring`.

        """
        obstacle = self.start_effort_monitoring(effort, q)
        if obstacle and self.tolerances.efforts:
            raise ExecutionError('effort_unwatched', f'efforts cannot be monitored: {obstacle}; '
                                 f'or set watch.efforts to false, and keep a hand on the '
                                 f'emergency stop')
        return obstacle

    def start_effort_monitoring(self, effort: Array | None, q: Array) -> str:
        """
        Start to monitor efforts if possible.

        Parameters
        ----------
        effort
            Efforts as published while the arm rests, (N, n); None if there are none.
        q
            Position at rest, (n,) [rad or m].

        Returns
        -------
        str
            Reason why the efforts of some or all joints are not monitored; empty if all are.

        Raises
        ------
        ExecutionError
            'effort_meaning': the efforts are not the quantity that the robot YAML declares.

        """
        if effort is None or np.isnan(effort).any():
            return 'the joint states have no efforts'
        if not np.any(effort):
            return 'all efforts are exactly zero: they are not measured'
        if not self.tolerances.published_effort:
            try:
                torque = joint_torque_of_states(self.arm, effort,
                                                np.broadcast_to(q, effort.shape))
            except RecordingError as error:
                return f'{error}; or set watch.published_effort'
            check_effort_at_rest(self.arm, torque.mean(axis=0), q)
        self._efforts = True
        unlimited = [name for name, limit in zip(self.arm.joint_names, self.arm.limits.torque)
                     if not np.isfinite(limit)]
        if unlimited and not self.tolerances.published_effort:
            return f"the torque limit of {', '.join(unlimited)} is unknown"
        return ''
