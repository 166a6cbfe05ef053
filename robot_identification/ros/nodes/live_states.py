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

from collections import deque
import time
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.recording.effort import joint_position, joint_torque_of_states
from robot_identification.ros.nodes.joint_state_listener import JointStateListener
from robot_identification.ros.nodes.trajectories import SECOND

RECENT = 0.5    # [s] over which the rate of joint states is counted


class LiveStates:
    """
    Hears joint states as soon as somebody publishes them.

    Parameters
    ----------
    node
        Node that listens.
    arm
        Whose joints.
    topic
        Name of the topic.

    """

    def __init__(self, node: Any, arm: Arm, topic: str) -> None:
        self._node, self._arm, self._topic = node, arm, topic
        self._listener: JointStateListener | None = None
        self._begin: int | None = None
        self._silence = ''
        self._heard: deque[tuple[float, int]] = deque()    # when, and how many

    def take(self, efforts: bool = True) -> tuple[Array, Array, Array] | None:
        """
        Return times (N,) [s], positions and torques (N, n) since the last call.

        None where there are none, or where they have no efforts. A joint state whose effort is not
        finite is left out; joints whose effort is not measured have zeros.

        Parameters
        ----------
        efforts
            Whether torques are wanted; without, they are zeros.

        Raises
        ------
        RobotIdentificationError
            What arrives cannot be read, or efforts cannot be made torques.

        """
        taken = self._taken()
        if taken is None:
            return None
        stamps, q, effort = taken
        position, torque = joint_position(self._arm, q), np.zeros_like(q)
        if efforts:
            if effort is None:
                self._silence = 'the joint states have no efforts'
                return None
            torque = joint_torque_of_states(
                self._arm, np.where(self._arm.measured, effort, 0.0), position)
        rows = np.isfinite(torque).all(axis=1)
        if not rows.any():
            self._silence = 'the efforts of the joint states are not finite'
            return None
        if self._begin is None:
            self._begin = int(stamps[0])
        self._heard.append((time.monotonic(), int(rows.sum())))
        self._forget()
        return (stamps[rows] - self._begin) / SECOND, position[rows], torque[rows]

    def why_nothing(self, window: float) -> str:
        """
        Return why no window of joint states is filled.

        Parameters
        ----------
        window
            Its length [s].

        """
        self._forget()
        silence, self._silence = self._silence, ''
        if self._heard:
            rate = sum(count for _, count in self._heard) / RECENT
            return (f'joint states arrive at {rate:.0f} Hz, too few for a window of {window:g} s; '
                    f'give a longer `window`')
        name = self._node.resolve_topic_name(self._topic)
        if self._listener is None or not self._node.get_publishers_info_by_topic(name):
            return f"nobody publishes '{name}'"
        others = self._listener.strangers
        return silence or (
            f"no joint states of {', '.join(self._arm.published_names)} arrive on '{name}'"
            + (f', but of {", ".join(others)}' if others else ''))

    def _forget(self) -> None:
        while self._heard and self._heard[0][0] < time.monotonic() - RECENT:
            self._heard.popleft()

    def _taken(self) -> tuple[Array, Array, Array | None] | None:
        """Return stamps [ns], positions and efforts as published, or None."""
        if self._listener is None:
            name = self._node.resolve_topic_name(self._topic)
            if not self._node.get_publishers_info_by_topic(name):
                return None
            self._listener = JointStateListener(self._node, self._arm, self._topic)
        taken = self._listener.take()
        return None if taken is None else (taken[0], taken[1], taken[3])

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
