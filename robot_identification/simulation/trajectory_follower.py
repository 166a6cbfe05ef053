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
"""What a joint_trajectory_controller of ros2_control does with trajectories, without ROS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import SimulationError

REST = 1e-6  # [rad/s or m/s] velocity that counts as none


class TrajectoryFollower:
    """
    Follows the last accepted trajectory.

    As in ros2_control a trajectory replaces the one before it at once; its points are joined by
    quintic polynomials; before its first point the arm goes there from where it is measured;
    behind its last point it holds. A trajectory that ended already, moves at its end, or is for
    other joints is rejected.

    Parameters
    ----------
    joint_names
        Joints of the controller, n.
    q
        Where to hold until a trajectory arrives, (n,) [rad or m].

    """

    def __init__(self, joint_names: Sequence[str], q: Array) -> None:
        self.joint_names = tuple(joint_names)
        self._t = np.zeros(1)
        self._points = np.zeros((1, 3, len(self.joint_names)))
        self._points[0, 0] = q
        self._segment = -1
        self._coefficients = np.zeros((6, len(self.joint_names)))

    @property
    def end(self) -> float:
        """When the trajectory is at its last point [s]."""
        return float(self._t[-1])

    def check(self, now: float, joint_names: Sequence[str], t: Array, v: Array) -> None:
        """
        Refuse a trajectory as the controller does; as `accept`, which begins with it.

        Raises
        ------
        SimulationError
            The text says why.

        """
        if sorted(joint_names) != sorted(self.joint_names):
            raise SimulationError(f"the trajectory is for {', '.join(joint_names)}, the "
                                  f"controller has {', '.join(self.joint_names)}")
        if not len(t) or np.any(np.diff(t) <= 0):
            raise SimulationError('the times of the trajectory do not increase')
        if t[-1] < now:
            raise SimulationError(f'the trajectory ended {now - t[-1]:.3f} s ago')
        if np.any(np.abs(v[-1]) > REST):
            raise SimulationError('the trajectory moves at its end')

    def hold(self, now: float, q: Array) -> None:
        """
        Hold a position from now on, with nothing in between.

        Parameters
        ----------
        now
            Time [s].
        q
            The position, (n,) [rad or m].

        """
        self._t, self._segment = np.array([now]), -1
        self._points = np.zeros((1, 3, len(self.joint_names)))
        self._points[0, 0] = q

    def accept(self, now: float, joint_names: Sequence[str], t: Array, q: Array, v: Array,
               a: Array, measured: tuple[Array, Array]) -> None:
        """
        Take a trajectory.

        Parameters
        ----------
        now
            Time [s].
        joint_names
            Joints of the trajectory: all of the controller's, in any order.
        t
            Times of its points on the same clock, (N,) [s].
        q, v, a
            Its points, (N, n).
        measured
            Position and velocity now, (n,) each.

        Raises
        ------
        SimulationError
            It is rejected; the text says why.

        """
        self.check(now, joint_names, t, v)
        order = [list(joint_names).index(name) for name in self.joint_names]
        points = np.stack([q, v, a], axis=1)[:, :, order]
        if t[0] > now:
            before = np.stack([measured[0], measured[1], np.zeros(len(order))])
            t, points = np.concatenate([[now], t]), np.concatenate([before[None], points])
        self._t, self._points, self._segment = np.asarray(t, dtype=float), points, -1

    def sample(self, t: float) -> tuple[Array, Array]:
        """
        Return the reference, q and v, (n,) each.

        Parameters
        ----------
        t
            Time [s].

        """
        if t >= self._t[-1] or t < self._t[0]:
            end = self._points[-1 if t >= self._t[-1] else 0]
            return end[0], np.zeros(len(self.joint_names))
        segment = self._segment
        if not (segment >= 0 and self._t[segment] <= t < self._t[segment + 1]):
            segment = int(np.searchsorted(self._t, t, side='right')) - 1
            self._segment = segment
            self._coefficients = _quintic(self._t[segment + 1] - self._t[segment],
                                          self._points[segment], self._points[segment + 1])
        s = t - self._t[segment]
        powers = s ** np.arange(6.0)
        q: Array = powers @ self._coefficients
        v: Array = (np.arange(1, 6) * powers[:5]) @ self._coefficients[1:]
        return q, v


def _quintic(duration: float, first: Array, last: Array) -> Array:
    (q0, v0, a0), (q1, v1, a1) = first, last
    h = duration
    gap = q1 - q0 - v0 * h - a0 * h ** 2 / 2
    speed = (v1 - v0 - a0 * h) * h
    bend = (a1 - a0) * h ** 2
    return np.stack([q0, v0, a0 / 2, (10 * gap - 4 * speed + bend / 2) / h ** 3,
                     (-15 * gap + 7 * speed - bend) / h ** 4,
                     (6 * gap - 3 * speed + bend / 2) / h ** 5])
