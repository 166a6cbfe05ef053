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
"""Stop of an arm whose excitation node has died: messages, requests and observation."""

import math
import time

from action_msgs.srv import CancelGoal
import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.ros.execution.emergency_stop import EmergencyStop, Observation
from robot_identification.ros.execution.plan_tracker import (
    ControllerState,
    PlanPosition,
    unwrap_turns,
)
from robot_identification.ros.execution.robot_clock import PAUSE
from robot_identification.ros.execution.trajectory_segment import TrajectorySegment
from robot_identification.ros.nodes.batch_subscription import BatchSubscription
from robot_identification.ros.nodes.controller_reference import ControllerReference
from robot_identification.ros.nodes.messages import message_type, nanoseconds, trajectory_message
from robot_identification.ros.nodes.watchdog_memory import GuardedMotion, Progress
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

DEPTH = 20      # number of messages that wait until the watchdog looks at them


class ArmStopper:
    """
    Stops the arm: sends what an `EmergencyStop` asks for, and observes the arm for it.

    Parameters
    ----------
    node
        Node of the watchdog.
    controller, manager, joint_states
        Names as for `BrakeWatchdog`, resolved.

    """

    def __init__(self, node: Node, controller: str, manager: str, joint_states: str) -> None:
        self._node, self._controller = node, controller
        self._publisher = node.create_publisher(
            JointTrajectory, f'{controller}/joint_trajectory', QoSProfile(depth=20))
        self._cancel = node.create_client(
            CancelGoal, f'{controller}/follow_joint_trajectory/_action/cancel_goal')
        self._switch_type = message_type('controller_manager_msgs', 'srv', 'SwitchController')
        self._switch = None if self._switch_type is None else node.create_client(
            self._switch_type, f'{manager}/switch_controller')
        self._states = BatchSubscription(node, JointState, joint_states, reliable=False,
                                         raw=False, depth=DEPTH)
        self._reference = ControllerReference(node, controller, DEPTH)
        self._stop: EmergencyStop | None = None
        self._limit = math.inf

    @property
    def active(self) -> bool:
        """Whether the arm is being stopped."""
        return self._stop is not None

    def begin(self, motion: GuardedMotion, progress: Progress, gone: bool) -> None:
        """Start to stop the arm."""
        self._motion, self._progress = motion, progress
        self._stop = EmergencyStop(
            motion.plan, PlanPosition(progress.t, progress.at, progress.rate),
            motion.horizon if gone else motion.horizon / 2)
        self._limit = time.monotonic() + PAUSE     # in case a simulated clock stands still
        self._node.get_logger().error(
            'the excitation node has died or stalled: braking trajectories are sent')

    def step(self, now: int, jumped: bool) -> None:
        """
        Observe the arm and send what is needed; report the result at the end.

        Parameters
        ----------
        now
            Time on the node's clock [ns].
        jumped
            Whether that clock jumped since the last step.

        """
        stop, log = self._stop, self._node.get_logger()
        if stop is None:
            return
        t = self._time(now - self._progress.offset)
        order = stop.step(t, self._observe_reference(), self._observe_joints(), jumped)
        if isinstance(order, TrajectorySegment):
            message = trajectory_message(self._motion.plan.joint_names, order,
                                         self._progress.start)
            message.header.frame_id = self._node.get_name()
            self._publisher.publish(message)
        elif order == 'cancel':
            self._cancel.call_async(CancelGoal.Request())    # without an identifier: all goals
        elif order == 'deactivate' and self._switch is not None:
            self._switch.call_async(self._switch_type.Request(
                deactivate_controllers=[self._controller.rsplit('/', 1)[-1]],
                strictness=self._switch_type.Request.BEST_EFFORT))
        if stop.finished or time.monotonic() > self._limit:
            (log.error if stop.at_rest else log.fatal)(
                f'the excitation node has died or stalled: {stop.report(t)}')
            self._stop = None

    def _time(self, stamp: int) -> float:
        """Return a time on the robot's clock [ns] as time since the start of the plan [s]."""
        return (stamp - self._progress.start) / 1e9

    def _observe_reference(self) -> ControllerState | None:
        newest = self._reference.take(self._motion.plan.joint_names)
        return None if newest is None else ControllerState(
            self._time(newest.stamp), newest.q, newest.scaling, newest.command)

    def _observe_joints(self) -> Observation | None:
        names = self._motion.plan.joint_names
        for message in reversed(self._states.take()[0]):
            found = dict(zip(message.name, message.position))
            if set(names) <= found.keys():
                motion, t = self._motion, self._time(nanoseconds(message.header.stamp))
                q = motion.factor @ [found[name] for name in names] + motion.offset
                planned = motion.plan.evaluate(np.array([t]))[0][0]
                return Observation(t, unwrap_turns(q, planned, motion.continuous))
        return None
