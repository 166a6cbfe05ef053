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
"""The action FollowJointTrajectory, as its client: one goal is the motion, another one brakes."""

from __future__ import annotations

import threading
import time
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from robot_identification.ros.execution import Fault
from robot_identification.ros.execution.goal_result import fault_of
from robot_identification.ros.nodes.control_messages import message_type
from trajectory_msgs.msg import JointTrajectory

CONFIRMATION = 1.0   # [s] at rest within which the controller is to say that it has arrived
STATES = {GoalStatus.STATUS_SUCCEEDED: 'succeeded', GoalStatus.STATUS_CANCELED: 'canceled',
          GoalStatus.STATUS_ABORTED: 'aborted'}


class ActionTransport:
    """
    Hands pieces to a joint_trajectory_controller as goals of its action.

    A new goal replaces the one before as a trajectory on the topic does; so braking is a goal as
    well. Cancelling makes the controller hold the arm where it is measured, at once and from full
    speed: a goal is cancelled only when the arm rests, or when the goal that was to brake is
    rejected while the controller would finish the motion otherwise.

    Parameters
    ----------
    node
        Node that has the client.
    controller
        Resolved name of the controller.

    """

    name = 'action'

    def __init__(self, node: Any, controller: str) -> None:
        self._node = node
        self._kind = message_type('control_msgs', 'action', 'FollowJointTrajectory')
        self.target = f'{controller}/follow_joint_trajectory'
        self._client = ActionClient(node, self._kind, self.target)
        self._lock = threading.Lock()
        self._sent = 0                           # number of the newest goal
        self.begin()

    def begin(self) -> None:
        """Forget the goals of the last motion."""
        with self._lock:
            self._first = self._sent + 1         # number of this motion's first goal
            self._handle: Any = None             # of the newest accepted goal
            self._ended = True                   # whether the newest goal has a result
            self._news: Fault | None = None
            self.refused = False                 # whether the newest goal was rejected

    @property
    def ready(self) -> bool:
        """Whether the controller offers the action."""
        return bool(self._client.server_is_ready())

    def send(self, trajectory: JointTrajectory) -> None:
        """
        Send a goal, which replaces the one before; called from any thread.

        Parameters
        ----------
        trajectory
            Without tolerances: those of the controller hold.

        """
        with self._lock:
            self._sent, self._ended, self.refused = self._sent + 1, False, False
            number = self._sent
        self._node.executor.create_task(self._send, number, self._kind.Goal(trajectory=trajectory))

    def news(self) -> Fault | None:
        """Return what the controller ended the motion for."""
        with self._lock:
            return self._news

    def confirm(self, at_rest: bool) -> tuple[Fault | None, str]:
        """
        Wait for the controller's own end of the motion; called from a thread.

        Parameters
        ----------
        at_rest
            Whether the arm rests, so that a goal which is still active may be cancelled.

        Returns
        -------
        tuple
            A fault, and a remark.

        """
        latest = time.monotonic() + CONFIRMATION
        while not self._ended and time.monotonic() < latest:
            time.sleep(0.01)
        with self._lock:
            news, ended, handle = self._news, self._ended, self._handle
        if news is not None:
            return news, ''
        if ended or not at_rest or handle is None:
            return None, ''
        handle.cancel_goal_async()
        return None, (f'; the controller has not found its goal tolerance met within '
                      f'{CONFIRMATION:g} s, its goal was cancelled')

    def hold(self) -> bool:
        """Make the controller hold the arm at once: the last resort; return whether it can be."""
        with self._lock:
            handle = self._handle
        if handle is not None:
            handle.cancel_goal_async()
        return handle is not None

    def _send(self, number: int, goal: Any) -> None:
        answer = self._client.send_goal_async(goal)
        answer.add_done_callback(lambda future: self._answered(number, future.result()))

    def _answered(self, number: int, handle: Any) -> None:
        if number < self._first:
            return
        if not handle.accepted:
            newest = number == self._sent
            with self._lock:
                self.refused = newest
            self._tell(Fault('controller_rejected', f"'{self.target}' rejected the trajectory; "
                             f'the log of the controller says why'), newest)
            return
        with self._lock:
            if number == self._sent:
                self._handle = handle
        handle.get_result_async().add_done_callback(
            lambda future: self._resulted(number, future.result()))

    def _resulted(self, number: int, answer: Any) -> None:
        if number < self._first:
            return      # of an earlier motion
        newest, result = number == self._sent, answer.result
        fault = fault_of(STATES.get(answer.status, 'aborted'), result.error_code,
                         result.error_string, self.target, newest=newest)
        self._tell(fault, newest)

    def _tell(self, fault: Fault | None, newest: bool) -> None:
        with self._lock:
            self._news = self._news or fault
            self._ended = self._ended or newest
