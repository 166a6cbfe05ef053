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
"""Simulation model of ros2_control's joint_trajectory_controller, without ROS."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import SimulationError
from robot_identification.ros.execution.fault import (
    GOAL_TOLERANCE,
    INVALID_GOAL,
    PATH_TOLERANCE,
)
from robot_identification.ros.sampled_trajectory import (
    Point,
    SampledTrajectory,
    TrajectoryMessage,
)

REST = float(np.finfo(np.float32).eps)     # [rad/s or m/s] largest final velocity that is accepted
REPLACED = 'Current goal preempted by new incoming action.'
DEACTIVATED = 'Current goal cancelled during deactivate transition.'


@dataclass
class GoalTolerances:
    """
    Tolerances of the controller; it aborts a motion that exceeds one. 0 disables a tolerance.

    Parameters
    ----------
    path, goal
        Largest tracking error during the motion, and at its end [rad or m].
    time
        Time after the end of the trajectory within which the goal tolerance must be met [s].

    """

    path: float = 0.0
    goal: float = 0.0
    time: float = 0.0


@dataclass(eq=False)
class ControllerGoal:
    """
    A goal of the action FollowJointTrajectory, and its result.

    Parameters
    ----------
    path, goal
        Path and goal tolerances that the client requests, by joint name [rad or m].
    time
        Time tolerance that the client requests [s].
    state
        'succeeded', 'aborted' or 'canceled'; empty while the goal is active.
    code, text
        Error code and error string of the result.

    """

    path: dict[str, float] = field(default_factory=dict)
    goal: dict[str, float] = field(default_factory=dict)
    time: float = 0.0
    state: str = ''
    code: int = 0
    text: str = ''

    def end(self, state: str, code: int = 0, text: str = '') -> None:
        """Set the result; further calls have no effect."""
        if not self.state:
            self.state, self.code, self.text = state, code, text


class TrajectoryController:
    """
    Model of joint_trajectory_controller 2.54 (Humble) to 5.17 (Kilted): sampling and goals.

    In each cycle the trajectory time advances by the period times the speed scaling, and the
    command is the sample one full period ahead. A *new* trajectory resets the trajectory time to
    the current time. Thus a trajectory stamped in the past is entered at the current time, even if
    speed scaling had delayed the previous trajectory.

    If a goal is cancelled or violates its tolerances, the controller holds the *measured* position
    from the next cycle. A goal that is replaced by another one is aborted. A message on the topic
    replaces the trajectory but not the goal.

    Parameters
    ----------
    joint_names
        The n joints of the controller.
    q
        Position to hold until a trajectory arrives, (n,) [rad or m].
    period
        Period of the controller's cycle [s].
    continuous
        Whether each joint is continuous, (n,) bool; if None, no joint is.
    from_desired
        Whether a trajectory stamped in the future starts at the last command instead of the
        measured state (parameters `interpolate_from_desired_state` and `open_loop_control` of the
        controller).

    """

    def __init__(self, joint_names: Sequence[str], q: Array, period: float = 0.002,
                 continuous: Array | None = None, from_desired: bool = False) -> None:
        self.joint_names, self.period = tuple(joint_names), period
        n = len(self.joint_names)
        self._wraps = np.zeros(n, dtype=bool) if continuous is None else np.array(continuous)
        self._from_desired = from_desired
        self.tolerances = GoalTolerances()
        self.scaling = 1.0
        self.active = True
        self.goal: ControllerGoal | None = None
        self._pending: TrajectoryMessage | None = None
        self._holding = True
        self._hold_at(0.0, np.array(q, dtype=float))
        self._last: float | None = None
        zero = np.zeros(n)
        self.reference: Point = (np.array(q, dtype=float), zero, zero)
        self.command: Point = self.reference

    @property
    def time(self) -> float:
        """Current trajectory time [s]."""
        return self._time

    @property
    def moving(self) -> bool:
        """Whether a trajectory is executed whose last point has not been reached."""
        return not self._holding and self._time < self._trajectory.end

    def accept(self, now: float, message: TrajectoryMessage,
               goal: ControllerGoal | None = None) -> None:
        """
        Accept a trajectory from the topic or the action; the next cycle enters it.

        Parameters
        ----------
        now
            The controller's time [s].
        message
            The trajectory.
        goal
            Goal of the action, which aborts the previous goal; None for a message on the topic.

        Raises
        ------
        SimulationError
            The trajectory is rejected; the message states the reason.

        """
        self.check(now, message)
        if goal is not None:
            if self.goal is not None:
                self.goal.end('aborted', INVALID_GOAL, REPLACED)
            self.goal = goal
        self._pending, self._holding = message.ordered(self.joint_names), False

    def check(self, now: float, message: TrajectoryMessage) -> None:
        """
        Check a trajectory by the rules of the controller; parameters as for `accept`.

        Raises
        ------
        SimulationError
            The trajectory is rejected; the message states the reason.

        """
        if not self.active:
            raise SimulationError('the controller is not active')
        if sorted(message.joint_names) != sorted(self.joint_names):
            raise SimulationError(f"the trajectory is for {', '.join(message.joint_names)}, the "
                                  f"controller has {', '.join(self.joint_names)}")
        if not len(message.t) or np.any(np.diff(message.t) <= 0):
            raise SimulationError('the times of the trajectory do not increase')
        if message.stamp and message.stamp + message.t[-1] < now:
            raise SimulationError(
                f'the trajectory ended {now - message.stamp - message.t[-1]:.3f} s ago')
        if message.v is not None and np.any(np.abs(message.v[-1]) > REST):
            raise SimulationError('the trajectory moves at its end')

    def cancel(self, goal: ControllerGoal) -> None:
        """Cancel a goal; if it is active, the controller holds the position of the next cycle."""
        if goal is self.goal:
            self._finish('canceled', 0, '')
            self._pending, self._holding = None, True
            self._to_hold = True

    def deactivate(self) -> None:
        """Deactivate the controller; it cancels its goal, and the drives keep the last command."""
        self._finish('canceled', INVALID_GOAL, DEACTIVATED)
        self.active, self._pending = False, None

    def activate(self) -> None:
        """Activate the controller, which holds the measured position of the next cycle."""
        self.active, self._holding, self._to_hold, self._last = True, True, True, None

    def update(self, now: float, q: Array, v: Array, elapsed: float | None = None) -> Point:
        """
        Execute one cycle and return the commanded position, velocity and acceleration, (n,) each.

        Parameters
        ----------
        now
            The controller's time [s].
        q, v
            Measured positions and velocities, (n,) each.
        elapsed
            Time since the last cycle on a steady clock [s]; if None, computed from `now`.

        """
        if not self.active:
            return self.command
        if elapsed is None:
            elapsed = self.period if self._last is None else now - self._last
        self._last = now
        if self._to_hold:
            self._hold_at(now, q)
        elif self._pending is not None:
            self._enter(now, self._pending, q, v)
        else:
            self._time += elapsed * self.scaling
        self.reference = self._trajectory.sample(self._time)
        command = self._trajectory.sample(self._time + self.period)
        if self._check_tolerances(q):
            self.command = command
        return self.command

    def error(self, q: Array) -> Array:
        """Return reference minus measured position, (n,) [rad or m]."""
        error = self.reference[0] - q
        error[self._wraps] = _wrap(error[self._wraps])
        return error

    def _enter(self, now: float, message: TrajectoryMessage, q: Array, v: Array) -> None:
        """Replace the trajectory; a continuous joint takes the shortest way to its first point."""
        before = self.command if self._from_desired else (q, v, np.zeros(len(q)))
        start = before[0].copy()
        start[self._wraps] = (message.q[0] - _wrap(message.q[0] - start))[self._wraps]
        self._trajectory = SampledTrajectory(message, now, (start, *before[1:]))
        self._time, self._pending = now, None

    def _hold_at(self, now: float, q: Array) -> None:
        """Replace the trajectory by a hold at the position q."""
        message = TrajectoryMessage(self.joint_names, 0.0, np.zeros(1), q[None].copy(), None, None)
        zero = np.zeros(len(q))
        self._trajectory = SampledTrajectory(message, now, (q, zero, zero))
        self._time, self._to_hold = now, False

    def _check_tolerances(self, q: Array) -> bool:
        """Abort a motion that exceeds a tolerance; return whether the new command may be used."""
        if self._holding:
            return True
        goal, error = self.goal, np.abs(self.error(q))
        own = goal or ControllerGoal()
        if self.moving:
            text = self._violation(error, own.path, self.tolerances.path)
            if text:
                self._abort(PATH_TOLERANCE, text)
            return not text
        text = self._violation(error, own.goal, self.tolerances.goal)
        patience = own.time or self.tolerances.time
        if not text:
            self._finish('succeeded', 0, '')
            self._holding = True
        elif patience and self._time > self._trajectory.end + patience:
            self._abort(GOAL_TOLERANCE, f'{text} {patience:g} s after the end')
            return False
        return True

    def _violation(self, error: Array, own: dict[str, float], default: float) -> str:
        """Return a message if a joint exceeds its tolerance (`own`, else `default`), else ''."""
        for name, value in zip(self.joint_names, error):
            tolerance = own.get(name) or default
            if 0 < tolerance < value:
                return f"joint '{name}' is {value:.4g} off, its tolerance is {tolerance:g}"
        return ''

    def _abort(self, code: int, text: str) -> None:
        self._finish('aborted', code, text)
        self._holding = self._to_hold = True

    def _finish(self, state: str, code: int, text: str) -> None:
        goal, self.goal = self.goal, None
        if goal is not None:
            goal.end(state, code, text)


def _wrap(angle: Array) -> Array:
    """Return angles wrapped to -pi to pi [rad]."""
    wrapped: Array = (angle + np.pi) % (2 * np.pi) - np.pi
    return wrapped
