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
"""Conversions between ROS messages and Python: optional types, stamps and trajectories."""

from collections.abc import Sequence
import importlib
from typing import Any

from builtin_interfaces.msg import Duration, Time
import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_identification.arrays import Array
from robot_identification.errors import SimulationError
from robot_identification.ros.execution.trajectory_segment import TrajectorySegment
from robot_identification.ros.sampled_trajectory import TrajectoryMessage
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SECOND = 1_000_000_000      # [ns]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def message_type(package: str, kind: str, name: str) -> Any:
    """
    Return an interface type; None if it is not installed.

    Parameters
    ----------
    package, kind, name
        Package, kind and name of the interface, for example 'control_msgs', 'action' and
        'FollowJointTrajectory'.

    """
    try:
        module = importlib.import_module(f'{package}.{kind}')
    except ImportError:
        return None
    return getattr(module, name, None)


def nanoseconds(time: Any) -> int:
    """Return the value of a Time or Duration message [ns]."""
    return int(time.sec) * SECOND + int(time.nanosec)


def time_message(stamp: int) -> Time:
    """Return a stamp [ns] as a Time message."""
    return Time(sec=stamp // SECOND, nanosec=stamp % SECOND)


def effort_message(joint_names: Sequence[str], effort: Array, stamp: int) -> JointState:
    """Return efforts (n,) with a stamp [ns] as a JointState message."""
    message = JointState(name=list(joint_names), effort=effort.tolist())
    message.header.stamp = time_message(stamp)
    return message


def trajectory_message(joint_names: Sequence[str], segment: TrajectorySegment,
                       start: int) -> JointTrajectory:
    """
    Return a segment as a JointTrajectory message.

    Parameters
    ----------
    joint_names
        Names of the joints in the order of the segment.
    segment
        The trajectory points.
    start
        Start of the plan [ns]. The stamp of the message is the start of the plan, or the time of
        the first point if that is earlier.

    """
    times = np.rint(segment.t * SECOND).astype(int)
    first = min(int(times[0]), 0)
    message = JointTrajectory()
    message.header.stamp = time_message(start + first)
    message.joint_names = list(joint_names)
    for t, q, v, a in zip((times - first).tolist(), segment.q.tolist(), segment.v.tolist(),
                          segment.a.tolist()):
        point = JointTrajectoryPoint(positions=q, velocities=v, accelerations=a)
        point.time_from_start = Duration(sec=t // SECOND, nanosec=t % SECOND)
        message.points.append(point)
    return message


def parse_trajectory(message: Any) -> TrajectoryMessage:
    """
    Return a JointTrajectory message as arrays.

    Parameters
    ----------
    message
        The JointTrajectory message.

    Raises
    ------
    SimulationError
        A point does not have a position for every joint.

    """
    n, points = len(message.joint_names), message.points

    def rows(field: str) -> Array | None:
        values = [getattr(point, field) for point in points]
        if not all(len(row) == n for row in values):
            return None
        return np.array(values, dtype=float).reshape(-1, n)

    q = rows('positions')
    if q is None:
        raise SimulationError('a point of the trajectory does not have a position for every '
                              'joint')
    t = np.array([nanoseconds(point.time_from_start) for point in points], dtype=float) / SECOND
    return TrajectoryMessage(tuple(message.joint_names),
                             nanoseconds(message.header.stamp) / SECOND,
                             t, q, rows('velocities'), rows('accelerations'))
