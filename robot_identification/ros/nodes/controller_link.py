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

from collections.abc import Sequence
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.recording.effort import joint_position
from robot_identification.ros.execution.motion_plan import MotionPlan
from robot_identification.ros.execution.plan_tracker import PlanPosition
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.execution.sampled_plan import MotionLimits, SampledPlan
from robot_identification.ros.execution.trajectory_segment import (
    full_trajectory,
    TrajectorySegment,
)
from robot_identification.ros.nodes.controller_client import ControllerClient, Transport
from robot_identification.ros.nodes.messages import nanoseconds, time_message, trajectory_message
from robot_identification.ros.nodes.watchdog_memory import GuardedMotion, Progress


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
    plan, arm
        The motion and the arm.
    horizon
        See `BrakeTiming`.

    """

    def __init__(self, controller: ControllerClient, transport: Transport, clock: RobotClock,
                 plan: MotionPlan, arm: Arm, horizon: float) -> None:
        self._controller, self._transport, self._clock = controller, transport, clock
        trajectory = full_trajectory(plan)
        # converted in advance, because this takes a second for a motion of several minutes
        self._full: Any = trajectory_message(controller.joint_names, trajectory, 0)
        controller.watchdog.begin(
            _guarded_motion(controller.joint_names, plan, trajectory, arm, horizon))
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

    def guard(self, position: PlanPosition | None, until: float) -> None:
        """Tell the brake watchdog the progress."""
        if position is None:
            self._controller.watchdog.update(None)
            return
        offset = self._clock.offset or 0
        self._controller.watchdog.update(Progress(
            self.start + round(until * 1e9) + offset, self.start, offset, position.t,
            position.at, position.rate))


def _guarded_motion(joint_names: Sequence[str], plan: MotionPlan, trajectory: TrajectorySegment,
                    arm: Arm, horizon: float) -> GuardedMotion:
    """Return the motion as the watchdog needs it: as points, without the arm."""
    offset = joint_position(arm, np.zeros((1, arm.n)))[0]
    limits = MotionLimits(plan.limits.velocity, plan.limits.acceleration)
    return GuardedMotion(
        SampledPlan(tuple(joint_names), trajectory.t, trajectory.q, trajectory.v, trajectory.a,
                    limits),
        (joint_position(arm, np.eye(arm.n)) - offset).T, offset,
        ~np.isfinite(arm.limits.upper - arm.limits.lower), horizon)
