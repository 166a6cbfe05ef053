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
"""Subscription to the state of a controller: its reference, speed scaling and command."""

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from robot_identification.arrays import Array
from robot_identification.ros.nodes.batch_subscription import BatchSubscription, DEPTH
from robot_identification.ros.nodes.messages import message_type, nanoseconds


@dataclass(frozen=True)
class PublishedState:
    """
    A state that a controller has published, with the joints in the requested order.

    Parameters
    ----------
    stamp
        Stamp [ns].
    q
        Reference, (n,) [rad or m].
    scaling
        Speed scaling [-]; NaN if it is not published.
    command
        Commanded position, (n,) [rad or m]; None if it is not published.

    """

    stamp: int
    q: Array
    scaling: float
    command: Array | None


class ControllerReference:
    """
    Subscription to the state of a controller; nothing is received without control_msgs.

    Parameters
    ----------
    node
        Node that subscribes.
    controller
        Resolved name of the controller.
    depth
        Largest number of messages that wait; older ones are dropped.

    Attributes
    ----------
    topic
        Name of the topic.
    available
        Whether control_msgs is installed.

    """

    def __init__(self, node: Node, controller: str, depth: int = DEPTH) -> None:
        self.topic = f'{controller}/controller_state'
        self._type = message_type('control_msgs', 'msg', 'JointTrajectoryControllerState')
        self.available = self._type is not None
        self._states = BatchSubscription(node, self._type, self.topic,
                                         depth=depth) if self.available else None

    def take(self, joint_names: Sequence[str]) -> PublishedState | None:
        """
        Return the newest state since the last call; None if there is none with all joints.

        Parameters
        ----------
        joint_names
            The n joints.

        """
        messages = [] if self._states is None else self._states.take()[0]
        if not messages:
            return None
        message = deserialize_message(messages[-1], self._type)
        names = list(message.joint_names)
        if not set(joint_names) <= set(names):
            return None
        order = [names.index(name) for name in joint_names]
        reference = message.reference.positions or getattr(message, 'desired',
                                                           message.reference).positions
        if len(reference) != len(names):
            return None
        output = message.output.positions
        return PublishedState(
            nanoseconds(message.header.stamp), np.array(reference)[order],
            float(getattr(message, 'speed_scaling_factor', math.nan)),
            np.array(output)[order] if len(output) == len(names) else None)
