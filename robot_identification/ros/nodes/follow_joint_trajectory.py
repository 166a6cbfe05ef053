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
"""Client of the action FollowJointTrajectory: a goal moves the arm, another one brakes it."""

import threading
import time
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from robot_identification.ros.execution.fault import Fault, goal_fault
from robot_identification.ros.nodes.messages import message_type
from trajectory_msgs.msg import JointTrajectory

CONFIRMATION = 1.0   # [s] within which a controller confirms the end of a motion or a command
STATES = {GoalStatus.STATUS_SUCCEEDED: 'succeeded', GoalStatus.STATUS_CANCELED: 'canceled',
          GoalStatus.STATUS_ABORTED: 'aborted'}


class ActionTransport:
    """
    Transport of trajectories by the action of a joint_trajectory_controller.

    A new goal replaces the previous one, like a new trajectory on the topic. Therefore braking is
    a new goal, too. A cancelled goal would not brake smoothly, because the controller then holds
    the measured position immediately, even from full speed. A goal is cancelled in two cases only:
    if the arm rests, or if the controller rejects the braking goal and would finish the motion.

    Parameters
    ----------
    node
        Node of the client.
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
        self._sent = 0                           # index of the newest goal
        self.begin()

    def begin(self) -> None:
        """Prepare for a new motion; results of earlier goals will be ignored."""
        with self._lock:
            self._first = self._sent + 1         # index of this motion's first goal
            self._handle: Any = None             # handle of the newest accepted goal
            self._ended = True                   # whether the newest goal has a result
            self._fault: Fault | None = None
            self.refused = False                 # whether the newest goal was rejected

    @property
    def ready(self) -> bool:
        """Whether the controller offers the action."""
        return bool(self._client.server_is_ready())

    def send(self, trajectory: JointTrajectory) -> None:
        """
        Send a trajectory as a goal, which replaces the previous goal.

        This method may be called from any thread.

        Parameters
        ----------
        trajectory
            The trajectory. The goal states no tolerances, so that those of the controller apply.

        """
        with self._lock:
            self._sent, self._ended, self.refused = self._sent + 1, False, False
            index = self._sent
        self._node.executor.create_task(self._send, index, self._kind.Goal(trajectory=trajectory))

    def poll_fault(self) -> Fault | None:
        """Return the fault that the controller has reported; None if there is none."""
        with self._lock:
            return self._fault

    def confirm(self, at_rest: bool) -> tuple[Fault | None, str]:
        """
        Wait for the result of the newest goal; to be called from a thread beside the executor.

        Parameters
        ----------
        at_rest
            Whether the arm rests. If it does and no result arrives in time, the goal is cancelled.

        Returns
        -------
        tuple
            The fault that the controller reported, or None; and a remark for the message to the
            user.

        """
        deadline = time.monotonic() + CONFIRMATION
        while not self._ended and time.monotonic() < deadline:
            time.sleep(0.01)
        with self._lock:
            fault, ended, handle = self._fault, self._ended, self._handle
        if fault is not None:
            return fault, ''
        if ended or not at_rest or handle is None:
            return None, ''
        handle.cancel_goal_async()
        return None, (f'; the controller did not report within {CONFIRMATION:g} s that its goal '
                      f'tolerance is met; its goal was cancelled')

    def hold(self) -> bool:
        """Cancel the newest goal, so the controller holds the arm; return False without a goal."""
        with self._lock:
            handle = self._handle
        if handle is not None:
            handle.cancel_goal_async()
        return handle is not None

    def _send(self, index: int, goal: Any) -> None:
        future = self._client.send_goal_async(goal)
        future.add_done_callback(lambda done: self._on_response(index, done.result()))

    def _on_response(self, index: int, handle: Any) -> None:
        if index < self._first:
            return
        if not handle.accepted:
            newest = index == self._sent
            with self._lock:
                self.refused = newest
            self._record(Fault('controller_rejected', f"'{self.target}' rejected the trajectory; "
                               f'see the log of the controller'), newest)
            return
        with self._lock:
            if index == self._sent:
                self._handle = handle
        handle.get_result_async().add_done_callback(
            lambda done: self._on_result(index, done.result()))

    def _on_result(self, index: int, response: Any) -> None:
        if index < self._first:
            return      # the goal belongs to an earlier motion
        newest, result = index == self._sent, response.result
        fault = goal_fault(STATES.get(response.status, 'aborted'), result.error_code,
                           result.error_string, self.target, newest=newest)
        self._record(fault, newest)

    def _record(self, fault: Fault | None, newest: bool) -> None:
        """Store the first fault, and whether the newest goal has ended."""
        with self._lock:
            self._fault = self._fault or fault
            self._ended = self._ended or newest
