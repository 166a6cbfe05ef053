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
"""Rows in which joints, or the whole arm, stand still."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array

SLOW = 2e-3
"""Share of a joint's highest speed below which it counts as standing."""
OF_FASTEST = 0.25
"""Share of the fastest joint's highest speed that every joint's counts as at least: the speeds of
a joint that never moves are noise."""
SHORTEST_REST = 0.1
"""Shortest standstill [s]; reversals are shorter."""


def _standing(v: Array, highest: Array) -> NDArray[np.bool_]:
    """
    Return where each joint is slow enough to stand, (N, n) bool.

    Parameters
    ----------
    v
        (N, n) velocities [rad/s or m/s].
    highest
        (n,) highest speeds of the joints in the recording.

    """
    bound = SLOW * np.maximum(highest, OF_FASTEST * highest.max())
    slow: NDArray[np.bool_] = np.abs(v) < bound
    return slow


def resting(v: Array, rate: float, highest: Array) -> NDArray[np.bool_]:
    """
    Return where each joint rests, (N, n) bool: it stands for a while, whatever the others do.

    Parameters
    ----------
    v, rate, highest
        As for `moving_runs`.

    """
    slow = _standing(v, highest)
    for column in slow.T:
        for first, last in _constant_runs(column):
            if last - first < SHORTEST_REST * rate and column[first]:
                column[first:last] = False
    return slow


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
    return runs_between(np.all(_standing(v, highest), axis=1), rate)


def runs_between(slow: NDArray[np.bool_], rate: float) -> list[slice]:
    """
    Return the runs of rows between standstills.

    Parameters
    ----------
    slow
        Which rows may belong to a standstill, (N,) bool.
    rate
        [Hz]

    """
    moving: list[slice] = []
    for first, last in _constant_runs(slow):
        if slow[first] and last - first >= SHORTEST_REST * rate:
            continue
        if moving and moving[-1].stop == first:
            moving[-1] = slice(moving[-1].start, last)
        else:
            moving.append(slice(first, last))
    return moving


def _constant_runs(x: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and last (exclusive) row of each run of equal values of x (N,)."""
    return list(pairwise([0, *(np.flatnonzero(np.diff(x)) + 1).tolist(), len(x)]))
