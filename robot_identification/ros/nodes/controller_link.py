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
"""Connection of a `MotionExecutor` to the controller and to the brake watchdog."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robot_identification.ros.execution.motion_plan import MotionPlan
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.execution.trajectory_segment import (
    full_trajectory,
    LATE,
    TrajectorySegment,
)
from robot_identification.ros.nodes.controller_client import ControllerClient, Transport
from robot_identification.ros.nodes.messages import nanoseconds, time_message, trajectory_message


class ControllerLink:
    """
    The `ControllerInterface` of one motion: converts segments to messages and sends them.

    Parameters
    ----------
    controller
        Client of the controller.
    transport
        Transport of the trajectories.
    clock
        Clock of the robot.
    plan
        The motion.

    """

    def __init__(self, controller: ControllerClient, transport: Transport, clock: RobotClock,
                 plan: MotionPlan) -> None:
        self._controller, self._transport, self._clock = controller, transport, clock
        # converted in advance, because this takes a second for a motion of several minutes
        self._full: Any = trajectory_message(controller.joint_names, full_trajectory(plan), 0)
        self.start = 0      # [ns] start of the plan on the robot's clock

    def _message(self, segment: TrajectorySegment) -> Any:
        """Return a segment as a message that the monitor recognises as one of this node."""
        message = trajectory_message(self._controller.joint_names, segment, self.start)
        self._controller.monitor.add_own(nanoseconds(message.header.stamp))
        return message

    def send(self, segment: TrajectorySegment) -> None:
        """Send a segment to the controller; the first call sends the full trajectory."""
        message, self._full = self._full, None
        if message is None:
            message = self._message(segment)
        else:
            stamp = self.start + nanoseconds(message.header.stamp)
            message.header.stamp = time_message(stamp)
            self._controller.monitor.add_own(stamp)
        self._transport.send(message)

    def guard(self, segments: Sequence[TrajectorySegment], until: float) -> None:
        """Replace the segments of the brake watchdog."""
        def on_node_clock(t: float) -> int:
            return self.start + round(t * 1e9) + (self._clock.offset or 0)

        self._controller.watchdog.update(
            [(self._message(segment), on_node_clock(segment.departure + LATE))
             for segment in segments], on_node_clock(until) if segments else 0)
