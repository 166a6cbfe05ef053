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
"""Live positions and torques of an arm, raw or smoothed over a sliding window."""

from collections import deque
import time
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.recording.effort import joint_position, joint_torque_of_states
from robot_identification.ros.nodes.joint_state_listener import JointStateListener
from robot_identification.ros.nodes.messages import SECOND
from robot_identification.ros.sliding_window import SlidingWindow, WindowEstimate

PERIOD = 0.01   # [s] between batches of joint states
RECENT = 0.5    # [s] period over which the rate of joint states is measured


class LiveStates:
    """
    Receiver of live joint states, whose publisher may start later than this node.

    Parameters
    ----------
    node
        Node that subscribes.
    arm
        The arm.
    topic
        Name of the topic.

    """

    def __init__(self, node: Any, arm: Arm, topic: str) -> None:
        self._node, self._arm, self._topic = node, arm, topic
        self._listener: JointStateListener | None = None
        self._start: int | None = None
        self._obstacle = ''
        self._received: deque[tuple[float, int]] = deque()    # time [s], number of joint states

    def take(self, efforts: bool = True) -> tuple[Array, Array, Array] | None:
        """
        Return times (N,) [s], positions and torques (N, n) received since the last call.

        The result is None if there are no new joint states. Joint states whose efforts are not
        finite are skipped. The torque of a joint without effort measurement is 0.

        Parameters
        ----------
        efforts
            Whether torques are required; if not, all torques are 0.

        Raises
        ------
        RobotIdentificationError
            A message cannot be read, or efforts cannot be converted to torques.

        """
        taken = self._take_published()
        if taken is None:
            return None
        stamps, q, effort = taken
        position, torque = joint_position(self._arm, q), np.zeros_like(q)
        if efforts:
            if effort is None:
                self._obstacle = 'the joint states have no efforts'
                return None
            torque = joint_torque_of_states(
                self._arm, np.where(self._arm.measured, effort, 0.0), position)
        rows = np.isfinite(torque).all(axis=1)
        if not rows.any():
            self._obstacle = 'the efforts of the joint states are not finite'
            return None
        if self._start is None:
            self._start = int(stamps[0])
        self._received.append((time.monotonic(), int(rows.sum())))
        self._forget()
        return (stamps[rows] - self._start) / SECOND, position[rows], torque[rows]

    def _forget(self) -> None:
        """Discard the counts of joint states that were received more than `RECENT` ago."""
        while self._received and self._received[0][0] < time.monotonic() - RECENT:
            self._received.popleft()

    def _take_published(self) -> tuple[Array, Array, Array | None] | None:
        """Return stamps [ns], positions and efforts as published; None if there are none."""
        if self._listener is None:
            name = self._node.resolve_topic_name(self._topic)
            if not self._node.get_publishers_info_by_topic(name):
                return None
            self._listener = JointStateListener(self._node, self._arm, self._topic)
        taken = self._listener.take()
        return None if taken is None else (taken[0], taken[1], taken[3])

    def follow(self, arm: Arm) -> None:
        """Continue with another arm; keep the subscription if its joints are the same."""
        if arm.ros_joint_names != self._arm.ros_joint_names and self._listener is not None:
            self._listener.destroy()
            self._listener = None
        self._arm, self._start = arm, None

    def stamp(self, t: float) -> int:
        """Convert a time returned by `take` [s] to a stamp [ns]."""
        return (self._start or 0) + round(t * SECOND)


class SmoothedStates(LiveStates):
    """
    Receiver of live joint states, which it smooths over a sliding window.

    Parameters
    ----------
    node, arm, topic
        As for `LiveStates`.
    window, step
        Length of the window, and time between successive estimates [s].

    """

    def __init__(self, node: Any, arm: Arm, topic: str, window: float, step: float) -> None:
        super().__init__(node, arm, topic)
        self._smoothing = window, step
        self.restart()

    def restart(self) -> None:
        """Discard all joint states received so far."""
        self._window = SlidingWindow(self._arm.n, *self._smoothing)

    def take_windows(self, efforts: bool = True) -> list[WindowEstimate]:
        """Return the estimates since the last call; parameters and errors are those of `take`."""
        taken = self.take(efforts)
        return [] if taken is None else self._window.add(*taken)

    def diagnose(self) -> str:
        """Return the reason why no window of joint states is complete."""
        self._forget()
        obstacle, self._obstacle = self._obstacle, ''
        if self._received:
            rate = sum(count for _, count in self._received) / RECENT
            return (f'joint states arrive at {rate:.0f} Hz, too few for a window of '
                    f'{self._smoothing[0]:g} s; set a longer `window`')
        name = self._node.resolve_topic_name(self._topic)
        if self._listener is None or not self._node.get_publishers_info_by_topic(name):
            return f"nobody publishes '{name}'"
        others = self._listener.foreign_joints
        return obstacle or (
            f"no joint states of {', '.join(self._arm.ros_joint_names)} arrive on '{name}'"
            + (f', but of {", ".join(others)}' if others else ''))
