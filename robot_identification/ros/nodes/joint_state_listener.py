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
"""Joint states of an arm as arrays."""

from __future__ import annotations

import time

import numpy as np
from rclpy.node import Node
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.recording.bag.joint_states import JointStateDecoder
from robot_identification.ros.nodes.batch_subscription import (
    BatchSubscription,
    publishers_are_reliable,
)
from sensor_msgs.msg import JointState


class JointStateListener:
    """
    Receives the joint states of an arm; other joints and other publishers are ignored.

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
        self.foreign_joints: tuple[str, ...] = ()   # of the last message that lacks a joint of arm
        self.stamp = 0                              # of the last joint state [ns]
        self.received = time.monotonic()            # when it arrived [s]

    def take(self) -> tuple[Array, Array, Array | None, Array | None] | None:
        """
        Return stamps (N,) [ns] and positions, velocities, efforts (N, n) since the last call.

        Joint states without a position for every joint of the arm are skipped; None if none is
        left. Velocities and efforts are None if they are not published.
        """
        messages, times = self._subscription.take()
        for states in reversed(self._decoder.decode(messages, times)):
            if states.position is None or not set(self._names) <= set(states.names):
                self.foreign_joints = tuple(states.names)
                continue
            columns = [states.names.index(name) for name in self._names]
            rows = np.isfinite(states.position[:, columns]).all(axis=1)
            if not rows.any():
                continue
            stamps = states.stamps[rows]
            self.foreign_joints = ()
            self.stamp, self.received = int(stamps[-1]), time.monotonic()
            q, v, effort = (None if values is None else values[rows][:, columns] for values in
                            (states.position, states.velocity, states.effort))
            return stamps, q, v, effort  # type: ignore[return-value]
        return None

    def destroy(self) -> None:
        """Remove the subscription."""
        self._subscription.destroy()
