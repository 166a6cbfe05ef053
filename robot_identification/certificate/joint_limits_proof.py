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
"""Proven peaks of a motion: bounds for all times, not for samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Limits
from robot_identification.arrays import Array, read_only
from robot_identification.motion import Trajectory
from robot_identification.motion.limits import centre, half_ranges, QUANTITIES

GRID = 640    # times per harmonic, ten times finer than the constraints' grid


@dataclass(frozen=True)
class Peaks:
    """
    How far a motion goes, with proof.

    Parameters
    ----------
    usage
        Part of each range that is used at most at any time, (4, n): position (distance from the
        middle of its range), velocity, acceleration, jerk; 1 is the limit, 0 where there is none.

    """

    usage: Array

    def largest(self) -> dict[str, float]:
        """Return the largest usage over the joints by quantity."""
        return {name: float(row.max()) for name, row in zip(QUANTITIES, self.usage)}


def prove_peaks(trajectory: Trajectory, limits: Limits) -> Peaks:
    """
    Bound position, velocity, acceleration and jerk over all times.

    Between two grid points that are h apart a function exceeds the larger of both by at most
    h^2/8 max|f''|; max|f''| in turn is bounded by its values on the grid and h/2 times the sum of
    the coefficients' bounds on the third derivative.

    Parameters
    ----------
    trajectory
        The motion.
    limits
        What the usage refers to.

    Returns
    -------
    Peaks
        Upper bounds, a few 1e-5 above the true peaks.

    """
    series, x = trajectory.series, trajectory.coefficients
    count = GRID * series.resolution
    # the last point belongs to this period: a derivative may jump where periods join
    times = series.period * np.arange(count + 1) / count
    times[-1] = np.nextafter(series.period, 0.0)
    h = series.period / count
    values = [np.abs(trajectory.derivative(times, d)) for d in range(len(QUANTITIES) + 2)]
    values[0] = np.abs(trajectory.derivative(times, 0) - centre(limits))
    usage = []
    for d, ranges in enumerate(half_ranges(limits)):
        third = series.bounds(d + 3) @ np.abs(x)
        second = values[d + 2].max(axis=0) + 0.5 * h * third
        usage.append((values[d].max(axis=0) + h * h / 8 * second) / ranges)
    return Peaks(read_only(usage))
