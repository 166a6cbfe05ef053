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
"""Rows in which the whole arm stands still."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from robot_identification.arrays import Array

SLOW = 2e-3
"""Share of a joint's highest speed below which it counts as standing."""
SHORTEST_REST = 0.1
"""Shortest standstill that is cut out [s]; reversals of all joints at once are shorter."""


def moving_runs(v: Array, rate: float, highest: Array) -> list[slice]:
    """
    Return the runs of rows between standstills of the whole arm.

    At rest friction holds with anything between minus and plus its breakaway torque, and the sign
    of a velocity is that of noise: such rows contradict every model of sliding friction.

    Parameters
    ----------
    v
        (N, n) velocities of one unbroken run [rad/s or m/s].
    rate
        [Hz]
    highest
        (n,) highest speeds of the joints in the recording.

    """
    standing = np.all(np.abs(v) < SLOW * highest, axis=1)
    edges = np.flatnonzero(np.diff(standing.astype(np.int8))) + 1
    bounds = [0, *edges.tolist(), len(v)]
    moving: list[slice] = []
    for first, last in pairwise(bounds):
        if standing[first] and last - first >= SHORTEST_REST * rate:
            continue
        if moving and moving[-1].stop == first:
            moving[-1] = slice(moving[-1].start, last)
        else:
            moving.append(slice(first, last))
    return moving
