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
"""Bounds of a motion's derivatives over short stretches of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.motion import Trajectory

SEGMENTS = 40    # for each harmonic
GRID = 16        # times in a segment
ORDERS = 5       # position to snap


@dataclass(frozen=True, eq=False)
class Segments:
    """
    A period cut into equal stretches, with bounds of the motion's derivatives in each.

    Parameters
    ----------
    edges
        Times, (S + 1,) [s].
    bounds
        Upper bounds of |q|, |v|, |a|, |jerk| and |snap| in each stretch, (5, S, n).

    """

    edges: Array
    bounds: Array

    @classmethod
    def of(cls, trajectory: Trajectory) -> Segments:
        """Bound a motion: its values on a grid, and the coefficients' bounds between them."""
        series = trajectory.series
        count = SEGMENTS * series.resolution
        times = instants(series.period, count * GRID)
        h = series.period / (count * GRID)
        first = GRID * np.arange(count)[:, None] + np.arange(GRID + 1)
        bounds = np.stack([
            np.abs(trajectory.derivative(times, order))[first].max(axis=1)
            + h / 2 * series.largest(trajectory.coefficients, order + 1)
            for order in range(ORDERS)])
        return cls(times[::GRID], bounds)

    def joined(self, count: int) -> Segments:
        """Return stretches that are `count` times as long; `count` divides `SEGMENTS`."""
        orders, segments, n = self.bounds.shape
        grouped = self.bounds.reshape(orders, segments // count, count, n)
        return Segments(self.edges[::count], grouped.max(axis=2))


def instants(period: float, count: int) -> Array:
    """Return 0 to the period in equal steps; the last one still belongs to this period."""
    times: Array = period * np.arange(count + 1) / count
    times[-1] = np.nextafter(period, 0.0)
    return times
