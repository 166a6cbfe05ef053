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
"""Trajectories as messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Duration, Time
import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import SimulationError
from robot_identification.ros.execution.pieces import Piece
from robot_identification.ros.sampled_trajectory import TrajectoryMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SECOND = 1_000_000_000


def trajectory_message(joint_names: Sequence[str], piece: Piece, begin: int) -> JointTrajectory:
    """
    Return a piece as a message.

    Parameters
    ----------
    joint_names
        Joints of the piece.
    piece
        The points.
    begin
        When its plan begins [ns]; the stamp, or before it where points are, so that points of
        the past are passed by.

    """
    times = np.rint(piece.t * SECOND).astype(int)
    first = min(int(times[0]), 0)
    message = JointTrajectory()
    message.header.stamp = Time(sec=(begin + first) // SECOND, nanosec=(begin + first) % SECOND)
    message.joint_names = list(joint_names)
    for t, q, v, a in zip((times - first).tolist(), piece.q.tolist(), piece.v.tolist(),
                          piece.a.tolist()):
        point = JointTrajectoryPoint(positions=q, velocities=v, accelerations=a)
        point.time_from_start = Duration(sec=t // SECOND, nanosec=t % SECOND)
        message.points.append(point)
    return message


def trajectory_of(message: Any) -> TrajectoryMessage:
    """
    Return a message as the model of the controller takes it.

    Parameters
    ----------
    message
        A JointTrajectory.

    Raises
    ------
    SimulationError
        Points without positions for all of its joints.

    """
    n, points = len(message.joint_names), message.points

    def rows(field: str) -> Array | None:
        found = [getattr(point, field) for point in points]
        if not all(len(row) == n for row in found):
            return None
        return np.array(found, dtype=float).reshape(-1, n)

    q = rows('positions')
    if q is None:
        raise SimulationError('a point of the trajectory lacks positions of some joints')
    t = np.array([stamp_of(point.time_from_start) for point in points], dtype=float) / SECOND
    return TrajectoryMessage(tuple(message.joint_names), stamp_of(message.header.stamp) / SECOND,
                             t, q, rows('velocities'), rows('accelerations'))


def stamp_of(time: Any) -> int:
    """Return a Time or a Duration [ns]."""
    return int(time.sec) * SECOND + int(time.nanosec)
