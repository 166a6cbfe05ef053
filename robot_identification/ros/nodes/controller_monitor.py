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
"""Monitor of a controller: its reference, its speed scaling, and commands of other clients."""

from collections.abc import Sequence
import math
import time
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.node import Node
from robot_identification.errors import ExecutionError
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.execution.plan_tracker import SCALED
from robot_identification.ros.nodes.controller_reference import (
    ControllerReference,
    PublishedState,
)
from robot_identification.ros.nodes.messages import LATCHED, nanoseconds
from robot_identification.ros.nodes.service_calls import FIRST_MESSAGE
from std_msgs.msg import Float64, String
from trajectory_msgs.msg import JointTrajectory

ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)


class ControllerMonitor:
    """
    Monitor of a controller and of other clients that command it.

    Callbacks run in the executor, all other methods in the thread of a motion. If control_msgs is
    not installed, the monitor does not receive the controller's reference. It still detects
    trajectories and goals of other clients, and receives the speed scaling of UR's driver.

    Parameters
    ----------
    node
        Node that subscribes.
    controller
        Resolved name of the controller.
    joint_names
        The n joints of the arm.
    scaling
        Name of the topic with the robot's speed scaling [%], std_msgs/Float64.
    watchdog
        Name of the brake watchdog, whose trajectories have it as frame.

    """

    def __init__(self, node: Any, controller: str, joint_names: Sequence[str],
                 scaling: str, watchdog: str) -> None:
        self._node: Node = node
        self.watchdog = watchdog
        self._names, self._topic = tuple(joint_names), f'{controller}/joint_trajectory'
        self._status = f'{controller}/follow_joint_trajectory/_action/status'
        self._newest: PublishedState | None = None
        self._own_stamps: set[int] = set()
        self._foreign = ''
        self.braked = False     # whether the brake watchdog has braked the arm in this motion
        self._goals: set[bytes] = set()
        self._percent = math.nan
        Node.create_subscription(node, JointTrajectory, self._topic, self._on_trajectory, 10)
        Node.create_subscription(node, GoalStatusArray, self._status, self._on_status, LATCHED)
        Node.create_subscription(node, Float64, node.resolve_topic_name(scaling),
                                 self._on_scaling, 1)
        self.description = ''       # URDF of the running driver, if it is published
        Node.create_subscription(node, String, 'robot_description', self._on_description, LATCHED)
        # taken by the thread of the motion, to relieve the executor
        self._reference = ControllerReference(node, controller)

    def begin(self) -> None:
        """
        Discard the data of earlier motions and check the controller; called before a motion.

        Raises
        ------
        ExecutionError
            'another_client': a goal of another client is active. 'speed_scaling': the speed
            scaling is not 1.

        """
        self._own_stamps, self._foreign, self.braked = set(), '', False
        self.newest()
        self._newest = None
        if self._goals:
            raise ExecutionError('another_client', f"'{self._topic.rsplit('/', 1)[0]}' follows a "
                                 f'goal of another client; wait for its end, or cancel it')
        start = time.monotonic()
        while self._reference.available and self.newest() is None:
            published = self._node.get_publishers_info_by_topic(self._reference.topic)
            if time.monotonic() > start + FIRST_MESSAGE * (3 if published else 1):
                break
            time.sleep(0.01)
        scaling = self.scaling
        if not math.isnan(scaling) and abs(scaling - 1) > SCALED:
            raise ExecutionError('speed_scaling', f'the speed scaling is {scaling:.3g}, but a '
                                 f'motion starts only at 1: set the speed slider to 100 %, and '
                                 f'end a pause')

    @property
    def has_reference(self) -> bool:
        """Whether the controller's reference has been received."""
        return self._newest is not None

    @property
    def scaling(self) -> float:
        """Speed scaling published by the controller or by the robot [-]; NaN if unknown."""
        scaling = math.nan if self._newest is None else self._newest.scaling
        if not math.isnan(self._percent) and (math.isnan(scaling) or abs(scaling - 1) <= SCALED):
            return self._percent / 100
        return scaling

    def add_own(self, stamp: int) -> None:
        """Register the stamp [ns] of a trajectory of this node, to recognise those of others."""
        self._own_stamps.add(stamp)

    def poll_fault(self, *, goals: bool) -> Fault | None:
        """
        Return a fault if another client commands the controller.

        Parameters
        ----------
        goals
            Whether an active goal shows another client. False if this node sends goals itself; it
            then learns of other clients from the results of its goals.

        """
        text = self._foreign
        if not text and goals and self._goals:
            text = f"'{self._status.split('/_action')[0]}' follows a goal of another client"
        return None if not text else Fault(
            'another_client', f'{text}, which commands the arm; nothing more was sent',
            touch=False)

    def newest(self) -> PublishedState | None:
        """Return the newest state of the controller; None if there is none with all joints."""
        self._newest = self._reference.take(self._names) or self._newest
        return self._newest

    def _on_trajectory(self, message: Any) -> None:
        own = message.header.frame_id == self.watchdog
        self.braked = self.braked or own
        if not own and nanoseconds(message.header.stamp) not in self._own_stamps:
            self._foreign = f"another client sent a trajectory on '{self._topic}'"

    def _on_status(self, message: Any) -> None:
        self._goals = {bytes(status.goal_info.goal_id.uuid) for status in message.status_list
                       if status.status in ACTIVE}

    def _on_scaling(self, message: Any) -> None:
        self._percent = float(message.data)

    def _on_description(self, message: Any) -> None:
        self.description = message.data
