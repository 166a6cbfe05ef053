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
"""The controller, as the excitation node talks to it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.qos import QoSProfile
from trajectory_msgs.msg import JointTrajectory

from robot_identification.errors import ExecutionError
from robot_identification.execution import Piece
from robot_identification.nodes.trajectories import trajectory_message

PATIENCE = 5.0  # [s]


class ControllerClient:
    """
    Talks to a joint_trajectory_controller over its topic.

    Parameters
    ----------
    node
        That talks.
    name
        Of the controller.
    """

    def __init__(self, node: Any, name: str) -> None:
        self._node: Node = node
        self.name = node.resolve_topic_name(name)
        self._publisher = Node.create_publisher(
            node, JointTrajectory, f'{self.name}/joint_trajectory', QoSProfile(depth=5))
        self._parameters = node.create_client(GetParameters, f'{self.name}/get_parameters')
        node.get_logger().info(f"sends to '{self.name}/joint_trajectory'")

    def check(self, joint_names: Sequence[str]) -> None:
        """
        Compare the joints of the controller with those of the arm; called from a thread.

        Raises
        ------
        ExecutionError
            'controller_missing' or 'controller_joints'.
        """
        latest = time.monotonic() + PATIENCE
        while not self._publisher.get_subscription_count() and time.monotonic() < latest:
            time.sleep(0.02)
        if not self._publisher.get_subscription_count():
            raise ExecutionError('controller_missing',
                                 f"nobody listens to '{self.name}/joint_trajectory'; is the "
                                 f'controller active, and the parameter `controller` its name?')
        future = None
        while time.monotonic() < latest and future is None:
            if self._parameters.service_is_ready():
                future = self._parameters.call_async(GetParameters.Request(names=['joints']))
            time.sleep(0.02)
        while future is not None and not future.done() and time.monotonic() < latest:
            time.sleep(0.01)
        if future is None or not future.done():
            raise ExecutionError('controller_missing',
                                 f"the controller '{self.name}' does not answer when asked for "
                                 f'its parameter `joints`')
        values = future.result().values
        joints = list(values[0].string_array_value) if values else []
        if sorted(joints) != sorted(joint_names):
            raise ExecutionError(
                'controller_joints',
                f"the controller '{self.name}' has the joints {', '.join(joints) or 'none'}, the "
                f"arm {', '.join(joint_names)}")

    def send(self, joint_names: Sequence[str], piece: Piece, begin: int) -> None:
        """
        Send a piece, which replaces the one before.

        Parameters
        ----------
        joint_names
            Of the piece.
        piece
            The points.
        begin
            When its plan began [ns].
        """
        self._publisher.publish(trajectory_message(joint_names, piece, begin))
