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
"""Bounds of a motion and its derivatives over short time segments, for proofs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.excitation.motion import Trajectory
from robot_identification.excitation.motion.limits import QUANTITIES
from robot_identification.excitation.motion.series import TIMES_PER_HARMONIC

GRID = 16    # times in a segment: bounds of a sine exceed its true maxima by 0.5 %


@dataclass(frozen=True, eq=False)
class Segments:
    """
    A period cut into S equal segments, with bounds of the motion's derivatives in each.

    Parameters
    ----------
    edges
        Times, (S + 1,) [s].
    bounds
        Upper bounds of |q|, |v|, |a|, |jerk| and |snap| in each segment, (5, S, n).

    """

    edges: Array
    bounds: Array

    @classmethod
    def of(cls, trajectory: Trajectory) -> Segments:
        """
        Return the segments of a motion, with bounds of its derivatives.

        Between two grid points that are h apart, a function exceeds the larger of its values there
        by at most h/2 times the bound of its derivative.
        """
        series = trajectory.series
        count = TIMES_PER_HARMONIC * series.resolution
        times = instants(series.period, count * GRID)
        h = series.period / (count * GRID)
        bounds = np.stack([
            cls.maxima(np.abs(trajectory.derivative(times, order)), GRID)
            + h / 2 * series.largest(trajectory.coefficients, order + 1)
            for order in range(len(QUANTITIES) + 1)])
        return cls(times[::GRID], bounds)

    @staticmethod
    def maxima(values: Array, steps: int) -> Array:
        """Return the maxima of samples over segments of `steps` steps, both ends included."""
        edges = np.arange(0, len(values) - 1, steps)
        return np.maximum(np.maximum.reduceat(values[:-1], edges), values[edges + steps])

    def joined(self, count: int) -> Segments:
        """Return segments that are `count` times as long; `count` divides `TIMES_PER_HARMONIC`."""
        orders, segments, n = self.bounds.shape
        grouped = self.bounds.reshape(orders, segments // count, count, n)
        return Segments(self.edges[::count], grouped.max(axis=2))


def instants(period: float, count: int) -> Array:
    """
    Return times from 0 to the period in `count` equal steps.

    The last time is just below the period, because a derivative may jump where periods join.
    """
    times: Array = period * np.arange(count + 1) / count
    times[-1] = np.nextafter(period, 0.0)
    return times


def joint_reach(tree: Kinematics, link: int, distance: float, furthest: Array) -> Array:
    """
    Return how far a link's points can move per unit of each joint, at most, (n,) [m/rad or 1].

    A point at the distance d from the axis of a joint moves by at most d for each radian.

    Parameters
    ----------
    tree
        Kinematics of the arm.
    link
        Index of the joint that carries the points, -1 for the base.
    distance
        Largest distance of the points from that joint's origin [m].
    furthest
        Largest magnitudes of the joints' positions, (n,); only prismatic joints matter.

    """
    reach = np.zeros(len(furthest))
    while link >= 0:
        slides = bool(tree.prismatic[link])
        reach[link] = 1.0 if slides else distance
        distance += float(np.linalg.norm(tree.translations[link]))
        distance += furthest[link] if slides else 0.0
        link = int(tree.parents[link])
    return reach
