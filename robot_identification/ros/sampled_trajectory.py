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
"""Interpolation of trajectories as in ros2_control's joint_trajectory_controller, without ROS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array

Point = tuple[Array, Array, Array]
"""Position, velocity and acceleration of the joints, (n,) each."""


@dataclass(frozen=True, eq=False)
class TrajectoryMessage:
    """
    A JointTrajectory message as arrays.

    Parameters
    ----------
    joint_names
        Names of the n joints.
    stamp
        Stamp of the header [s]; with 0 the trajectory starts when it is first sampled.
    t
        Times of the points relative to the stamp, (N,) [s].
    q, v, a
        Positions, velocities and accelerations, (N, n) each; v and a may be None.

    """

    joint_names: tuple[str, ...]
    stamp: float
    t: Array
    q: Array
    v: Array | None
    a: Array | None

    def ordered(self, joint_names: tuple[str, ...]) -> TrajectoryMessage:
        """Return the trajectory with its joints in the order of `joint_names`."""
        order = [self.joint_names.index(name) for name in joint_names]
        return TrajectoryMessage(
            joint_names, self.stamp, self.t, self.q[:, order],
            None if self.v is None else self.v[:, order],
            None if self.a is None else self.a[:, order])


class SampledTrajectory:
    """
    Interpolation between the points of a message, as in trajectory.cpp of ros2_controllers.

    If the first sample is before the first point, the trajectory starts with the state of the
    joints at that time. Between points it is a quintic polynomial if the points have
    accelerations, a cubic one if they only have velocities, and linear otherwise. After the last
    point the position is held.

    Parameters
    ----------
    message
        The trajectory, with the joints in the order of the controller.
    now
        Time of the first sample [s].
    before
        State of the joints at `now`.

    """

    def __init__(self, message: TrajectoryMessage, now: float, before: Point) -> None:
        start = message.stamp if message.stamp else now
        self._degree = 5 if message.a is not None else 3 if message.v is not None else 1
        zero = np.zeros_like(message.q)
        self._points = np.stack([message.q, zero if message.v is None else message.v,
                                 zero if message.a is None else message.a], axis=1)
        self._t = start + np.asarray(message.t, dtype=float)
        if self._t[0] > now:
            self._t = np.concatenate([[now], self._t])
            self._points = np.concatenate([np.stack(before)[None], self._points])
        self._segment, self._coefficients = -1, np.zeros((6, message.q.shape[1]))

    @property
    def end(self) -> float:
        """Time of the last point [s]."""
        return float(self._t[-1])

    @property
    def last(self) -> Array:
        """Position of the last point, (n,) [rad or m]."""
        q: Array = self._points[-1, 0]
        return q

    def sample(self, t: float) -> Point:
        """
        Return position, velocity and acceleration of the joints, (n,) each.

        Parameters
        ----------
        t
            Time on the same clock as `now` of the first sample [s].

        """
        if t >= self._t[-1] or len(self._t) == 1:
            zero = np.zeros_like(self.last)
            return self.last, zero, zero
        segment = self._segment
        if not (segment >= 0 and self._t[segment] <= t < self._t[segment + 1]):
            segment = max(int(np.searchsorted(self._t, t, side='right')) - 1, 0)
            self._segment = segment
            self._coefficients = polynomial_coefficients(
                self._degree, self._t[segment + 1] - self._t[segment],
                self._points[segment], self._points[segment + 1])
        c, s = self._coefficients, t - self._t[segment]
        powers = s ** np.arange(6.0)
        degrees = np.arange(6.0)
        return (powers @ c, (degrees[1:] * powers[:5]) @ c[1:],
                (degrees[2:] * degrees[1:5] * powers[:4]) @ c[2:])


def polynomial_coefficients(degree: int, h: float | Array, first: Array, last: Array) -> Array:
    """
    Return the coefficients (6, ..., n) of the polynomial between two points, lowest power first.

    Parameters
    ----------
    degree
        1, 3 or 5: degree of the polynomial.
    h
        Time between the points [s].
    first, last
        States at the points, (..., n) each.

    """
    (q0, v0, a0), (q1, v1, a1) = first, last
    zero = np.zeros_like(q0)
    if degree == 1:
        return np.stack([q0, (q1 - q0) / h, zero, zero, zero, zero])
    if degree == 3:
        return np.stack([q0, v0, (3 * (q1 - q0) / h - 2 * v0 - v1) / h,
                         (-2 * (q1 - q0) / h + v0 + v1) / h ** 2, zero, zero])
    gap = q1 - q0 - v0 * h - a0 * h ** 2 / 2
    speed = (v1 - v0 - a0 * h) * h
    bend = (a1 - a0) * h ** 2
    return np.stack([q0, v0, a0 / 2, (10 * gap - 4 * speed + bend / 2) / h ** 3,
                     (-15 * gap + 7 * speed - bend) / h ** 4,
                     (6 * gap - 3 * speed + bend / 2) / h ** 5])
