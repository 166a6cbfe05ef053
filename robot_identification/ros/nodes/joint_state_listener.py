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
"""Subscription to the joint states of an arm, which are returned as arrays."""

import time

import numpy as np
from rclpy.node import Node
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.recording.bag.joint_states import FIELDS, JointStateDecoder
from robot_identification.ros.nodes.batch_subscription import (
    BatchSubscription,
    publishers_are_reliable,
)
from sensor_msgs.msg import JointState


class JointStateListener:
    """
    Receiver of the joint states of an arm.

    Messages that do not contain all joints of the arm are ignored.

    Parameters
    ----------
    node
        Node that subscribes.
    arm
        The arm.
    topic
        Name of the topic.

    Raises
    ------
    ExecutionError
        'no_joint_states': the topic has no publisher.

    """

    def __init__(self, node: Node, arm: Arm, topic: str) -> None:
        name = node.resolve_topic_name(topic)
        reliable = publishers_are_reliable(node, name)
        if reliable is None:
            raise ExecutionError('no_joint_states',
                                 f"nobody publishes '{name}'; start the robot first")
        self._names, self._decoder = arm.ros_joint_names, JointStateDecoder(strict=False)
        self._subscription = BatchSubscription(node, JointState, name, reliable=reliable)
        self.topic = name
        self.foreign_joints: tuple[str, ...] = ()   # joints of the last message, if it was ignored
        self.stamp = 0                              # [ns] stamp of the last joint state
        self.received = time.monotonic()            # [s] time of its arrival

    def take(self) -> tuple[Array, Array, Array | None, Array | None] | None:
        """
        Return stamps (N,) [ns], positions, velocities and efforts (N, n) since the last call.

        Joint states in which a position is missing or not finite are skipped. The result is None
        if no joint state remains. Velocities or efforts are None if they are not published.
        """
        messages, times = self._subscription.take()
        for states in reversed(self._decoder.decode(messages, times)):
            if 'position' not in states.values or not set(self._names) <= set(states.names):
                self.foreign_joints = tuple(states.names)
                continue
            columns = [states.names.index(name) for name in self._names]
            rows = np.isfinite(states.values['position'][:, columns]).all(axis=1)
            if not rows.any():
                continue
            stamps = states.stamps[rows]
            self.foreign_joints = ()
            self.stamp, self.received = int(stamps[-1]), time.monotonic()
            q, v, effort = (states.values[name][rows][:, columns] if name in states.values
                            else None for name in FIELDS)
            return stamps, q, v, effort  # type: ignore[return-value]
        return None

    def destroy(self) -> None:
        """Remove the subscription from the node."""
        self._subscription.destroy()
