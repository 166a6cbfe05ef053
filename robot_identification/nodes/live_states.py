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
"""Positions and torques of an arm as they arrive; the robot may start later."""

from __future__ import annotations

from typing import Any

from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.nodes.joint_state_listener import JointStateListener
from robot_identification.nodes.trajectories import SECOND
from robot_identification.recording.effort import joint_position, joint_torque_of_states


class LiveStates:
    """
    Hears joint states as soon as somebody publishes them.

    Parameters
    ----------
    node
        That listens.
    arm
        Whose joints.
    topic
        Name of the topic.

    """

    def __init__(self, node: Any, arm: Arm, topic: str) -> None:
        self._node, self._arm, self._topic = node, arm, topic
        self._listener: JointStateListener | None = None
        self._begin: int | None = None

    def take(self) -> tuple[Array, Array, Array] | None:
        """
        Return times (N,) [s], positions and torques (N, n) since the last call.

        None where there are none, or where they have no efforts.

        Raises
        ------
        RobotIdentificationError
            What arrives cannot be read, or efforts cannot be made torques.

        """
        if self._listener is None:
            name = self._node.resolve_topic_name(self._topic)
            if not self._node.get_publishers_info_by_topic(name):
                return None
            self._listener = JointStateListener(self._node, self._arm, self._topic)
        taken = self._listener.take()
        if taken is None:
            return None
        stamps, q, _, effort = taken
        if effort is None:
            return None
        if self._begin is None:
            self._begin = int(stamps[0])
        position = joint_position(self._arm, q)
        torque = joint_torque_of_states(self._arm, effort, position)
        return (stamps - self._begin) / SECOND, position, torque

    def follow(self, arm: Arm) -> None:
        """Go on with another description of an arm, over the same subscription where it can be."""
        if arm.published_names != self._arm.published_names and self._listener is not None:
            self._listener.destroy()
            self._listener = None
        self._arm, self._begin = arm, None

    def stamp(self, t: float) -> int:
        """Return a time of `take` [s] as a stamp [ns]."""
        return (self._begin or 0) + round(t * SECOND)

    def destroy(self) -> None:
        """Listen no more."""
        if self._listener is not None:
            self._listener.destroy()
