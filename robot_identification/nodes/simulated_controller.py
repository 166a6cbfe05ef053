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
"""A joint_trajectory_controller for the simulated robot: its topic, its action, its tolerances."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import SimulationError
from robot_identification.nodes.batch import BatchSubscription
from robot_identification.nodes.faults import Faults
from robot_identification.nodes.follow_joint_trajectory import follow_joint_trajectory
from robot_identification.nodes.parameters import declare
from robot_identification.nodes.trajectories import points_of, SECOND
from robot_identification.simulation.trajectory_follower import TrajectoryFollower
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

FEEDBACK = 0.1  # [s]
REPLACED = 'the goal was replaced by a new one'


class _Goal:
    """A goal that is followed, and how it is to end."""

    def __init__(self, handle: Any, executor: Any) -> None:
        self.handle, self.done = handle, Future(executor=executor)
        request = handle.request
        self.path = {item.name: item.position for item in request.path_tolerance}
        self.goal = {item.name: item.position for item in request.goal_tolerance}
        time = request.goal_time_tolerance
        self.time = time.sec + time.nanosec / SECOND
        self.cancelled = False

    def end(self, state: str, code: int = 0, text: str = '') -> None:
        """Let its callback answer."""
        if not self.done.done():
            self.done.set_result((state, code, text))


class SimulatedController:
    """
    Follows trajectories as ros2_control's controller does.

    Trajectories of the topic and goals of the action replace one another. A goal that is
    cancelled, or that leaves its path tolerance, ends in a hold at the measured position.

    Parameters
    ----------
    name
        Of its node.
    arm
        That it moves.
    q
        Where to begin, (n,) [rad or m].
    faults
        What goes wrong.

    """

    def __init__(self, name: str, arm: Arm, q: Array, faults: Faults) -> None:
        self.node = node = Node(name)
        self._faults, self._names = faults, arm.joint_names
        declare(node, 'joints', list(arm.joint_names), 'of the controller')
        self._tolerances = {
            name: declare(node, name, 0.0, text, read_only=False, lower=0.0, upper=10.0)
            for name, text in (
                ('path_tolerance', 'from which a motion is ended [rad or m]; 0: never'),
                ('goal_tolerance', 'within which a goal is reached [rad or m]; 0: at once'),
                ('goal_time', 'after which a goal that is not reached is ended [s]; 0: never'))}
        node.add_on_set_parameters_callback(self._set)
        self.follower = TrajectoryFollower(arm.joint_names, q)
        self._topic = BatchSubscription(node, JointTrajectory, '~/joint_trajectory', raw=False)
        self._now, self._stamp = 0.0, 1
        self._incoming: deque[_Goal] = deque()
        self._active: _Goal | None = None
        self._state = (q, q)     # measured and reference, for the feedback
        self._kind = follow_joint_trajectory()
        if self._kind is not None:
            self._server = ActionServer(
                node, self._kind, '~/follow_joint_trajectory', self._execute,
                goal_callback=self._goal, cancel_callback=self._cancel)
            node.create_timer(FEEDBACK, self._feedback)

    @property
    def offers(self) -> str:
        """What it listens to."""
        return 'topic only: control_msgs is not installed' if self._kind is None else (
            'topic and action')

    def step(self, now: float, stamp: int, q: Array, v: Array) -> None:
        """
        Take what has arrived, and judge the motion; called by the physics.

        Parameters
        ----------
        now, stamp
            Time of the simulation [s], and as a stamp [ns].
        q, v
            Measured, (n,).

        """
        self._now, self._stamp = now, stamp
        for message in self._topic.take()[0]:
            self._accept(message, q, v)
        while self._incoming:
            goal = self._incoming.popleft()
            if self._accept(goal.handle.request.trajectory, q, v):
                self._replace(goal)
            else:
                goal.end('aborted', -1, 'rejected after it was accepted')
        self._judge(now, q)

    def _accept(self, message: Any, q: Array, v: Array) -> bool:
        if self._faults.reject:
            self.node.get_logger().warning('trajectory rejected: fault.reject is set')
            return False
        t, positions, velocities, accelerations = points_of(message, self._stamp)
        try:
            self.follower.accept(self._now, message.joint_names, t + self._now, positions,
                                 velocities, accelerations, (q, v))
        except SimulationError as error:
            self.node.get_logger().warning(f'trajectory rejected: {error}')
            return False
        return True

    def _replace(self, goal: _Goal | None) -> None:
        before, self._active = self._active, goal
        if before is not None:
            before.end('aborted', -1, REPLACED)

    def _judge(self, now: float, q: Array) -> None:
        reference = self.follower.sample(now)[0]
        self._state = (q.copy(), reference)
        goal, error, tolerances = self._active, np.abs(q - reference), self._tolerances
        if goal is None:
            if now < self.follower.end:
                text = self._violation(error, {}, tolerances['path_tolerance'])
                if text:
                    self.node.get_logger().error(f'{text}; holding')
                    self.follower.hold(now, q)
            return
        if goal.cancelled:
            self._hold(goal, now, q, 'canceled', 0, 'cancelled')
        elif now < self.follower.end:
            text = self._violation(error, goal.path, tolerances['path_tolerance'])
            if text:
                self._hold(goal, now, q, 'aborted', -4, text)
        else:
            text = self._violation(error, goal.goal, tolerances['goal_tolerance'])
            patience = goal.time or tolerances['goal_time']
            if not text:
                self._active = None
                goal.end('succeeded')
            elif patience > 0 and now > self.follower.end + patience:
                self._hold(goal, now, q, 'aborted', -5, f'{text} {patience:g} s after the end')

    def _hold(self, goal: _Goal, now: float, q: Array, state: str, code: int, text: str) -> None:
        self.node.get_logger().warning(f'{text}; holding')
        self.follower.hold(now, q)
        self._active = None
        goal.end(state, code, text)

    def _violation(self, error: Array, asked: dict[str, float], default: float) -> str:
        for name, value in zip(self._names, error):
            tolerance = asked.get(name) or default
            if 0 < tolerance < value:
                return f"joint '{name}' is {value:.4g} off, its tolerance is {tolerance:g}"
        return ''

    def _set(self, parameters: Sequence[Any]) -> SetParametersResult:
        self._tolerances.update({parameter.name: parameter.value for parameter in parameters
                                 if parameter.name in self._tolerances})
        return SetParametersResult(successful=True)

    def _goal(self, request: Any) -> GoalResponse:
        if self._faults.reject:
            self.node.get_logger().warning('goal rejected: fault.reject is set')
            return GoalResponse.REJECT
        t, _, v, _ = points_of(request.trajectory, self._stamp)
        try:
            self.follower.check(self._now, request.trajectory.joint_names, t + self._now, v)
        except SimulationError as error:
            self.node.get_logger().warning(f'goal rejected: {error}')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _cancel(self, handle: Any) -> CancelResponse:
        active = self._active
        if active is not None and active.handle.goal_id == handle.goal_id:
            active.cancelled = True
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        goal = _Goal(handle, self.node.executor)
        self._incoming.append(goal)
        state, code, text = await goal.done
        {'succeeded': handle.succeed, 'aborted': handle.abort,
         'canceled': handle.canceled}[state]()
        return self._kind.Result(error_code=code, error_string=text)

    def _feedback(self) -> None:
        goal, (q, reference) = self._active, self._state
        if goal is None:
            return
        actual, desired, error = (JointTrajectoryPoint(positions=values.tolist())
                                  for values in (q, reference, reference - q))
        feedback = self._kind.Feedback(joint_names=list(self._names), actual=actual,
                                       desired=desired, error=error)
        feedback.header.stamp.sec, feedback.header.stamp.nanosec = divmod(self._stamp, SECOND)
        goal.handle.publish_feedback(feedback)
