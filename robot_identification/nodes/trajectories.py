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
from robot_identification.execution import Piece
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SECOND = 1_000_000_000


def trajectory_message(joint_names: Sequence[str], piece: Piece, begin: int) -> JointTrajectory:
    """
    Return a piece as a message.

    Parameters
    ----------
    joint_names
        Of the piece.
    piece
        The points.
    begin
        When its plan began [ns]; it is the stamp, so that points of the past are passed by.

    """
    message = JointTrajectory()
    message.header.stamp = Time(sec=begin // SECOND, nanosec=begin % SECOND)
    message.joint_names = list(joint_names)
    for t, q, v, a in zip(np.rint(piece.t * SECOND).astype(int).tolist(), piece.q.tolist(),
                          piece.v.tolist(), piece.a.tolist()):
        point = JointTrajectoryPoint(positions=q, velocities=v, accelerations=a)
        point.time_from_start = Duration(sec=t // SECOND, nanosec=t % SECOND)
        message.points.append(point)
    return message


def points_of(message: Any, now: int) -> tuple[Array, Array, Array, Array]:
    """
    Return times [s] relative to `now`, and q, v, a of a message, (N,) and (N, n).

    Parameters
    ----------
    message
        A JointTrajectory; accelerations and velocities that it leaves out are zero.
    now
        [ns]; the begin of a trajectory without stamp.

    """
    stamp = message.header.stamp.sec * SECOND + message.header.stamp.nanosec
    begin = (stamp or now) - now
    n = len(message.joint_names)
    t = np.array([begin + point.time_from_start.sec * SECOND + point.time_from_start.nanosec
                  for point in message.points], dtype=float) / SECOND

    def rows(field: str) -> Array:
        return np.array([getattr(point, field) if len(getattr(point, field)) == n else [0.0] * n
                         for point in message.points], dtype=float).reshape(-1, n)
    return t, rows('positions'), rows('velocities'), rows('accelerations')
