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
"""What is handed to a controller: the whole motion, and ways to end it; all end at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.ros.execution.motion_plan import MotionPlan
from robot_identification.ros.execution.progress import Position
from robot_identification.ros.execution.warp import Motion, ramp_down

BRAKES = tuple(0.1 * 1.25 ** k for k in range(20))  # [s] durations of braking that are tried
STEP = 0.02     # [s] of the grid: quintic segments are then within 1e-6 rad of the plan
REST = 1.2      # [s] at rest before the plan begins; the trajectory is entered in the middle of it
PAST = 0.1      # [s] of a way to end the motion that lies in the past, for errors of clocks
LATE = 0.02     # [s] behind its leaving to enter a piece: 1 mrad beside, on motions at the limits


@dataclass(frozen=True, eq=False)
class Piece:
    """
    Points for a controller, the last at rest.

    Parameters
    ----------
    t
        Times since the begin of the plan, (N,) [s].
    q, v, a
        (N, n).
    leaves
        When it leaves the plan to brake, or the plan ends [s].
    deceleration
        Largest acceleration while braking as a part of the limits [-].

    """

    t: Array
    q: Array
    v: Array
    a: Array
    leaves: float
    deceleration: float

    def __post_init__(self) -> None:
        for name in 'tqva':
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def end(self) -> float:
        """When it is at rest, since the begin of the plan [s]."""
        return float(self.t[-1])


def whole(plan: MotionPlan) -> Piece:
    """
    Return the whole plan, with a rest before it.

    A controller enters a trajectory that is stamped in the past at now: here at rest, so that
    neither the way there nor an offset of clocks of half the rest makes a step.

    Parameters
    ----------
    plan
        The motion.

    """
    count = int(np.ceil(plan.duration / STEP - 1e-9))
    t = np.concatenate([[-REST], np.minimum(np.arange(count + 1) * STEP, plan.duration)])
    q, v, a = plan.evaluate(t)
    return Piece(t, q, v, a, plan.duration, 0.0)


def hold(q: Array, now: float) -> Piece:
    """
    Return a rest, for a controller whose reference rests.

    Parameters
    ----------
    q
        Its reference, (n,) [rad or m].
    now
        [s].

    """
    zero = np.zeros((2, len(q)))
    return Piece(np.array([now - 2 * PAST, now + 2 * PAST]), q + zero, zero, zero, now, 0.0)


def brake(plan: MotionPlan, position: Position, first: float, leave: float) -> Piece:
    """
    Return the way of the reference from `first` to `leave`, and behind it a braking tail.

    Between `first` and `leave` it is what the controller does anyway, so it does not matter at
    which instant it is entered: the reference makes no step. Where the speed scaling s is not 1
    the controller plays the piece at s as well, from s v to s^2 v: slower, never further. The tail
    slows down along the path of the plan, in the shortest time in which accelerations stay
    within the limits; where none does (on a motion that uses all of its limit), in the one that
    exceeds them least, which `Piece.deceleration` tells.

    Parameters
    ----------
    plan
        The whole motion.
    position
        Where the controller's reference is on it.
    first, leave
        Times since the begin of the plan [s].

    """
    def along(t: Array) -> Motion:
        q, v, a = plan.evaluate(position.on_plan(t))
        return q, v * position.rate, a * position.rate ** 2

    low, high = int(np.floor(first / STEP)), max(int(np.ceil(leave / STEP)), 1)
    grid: Array = np.arange(low, high + 1, dtype=float) * STEP
    leave = float(grid[-1])
    duration, usage = np.inf, np.inf
    for tried in BRAKES:
        a = ramp_down(along, leave, tried)(np.linspace(0, tried, 60))[2]
        used = float(np.max(np.abs(a) / plan.limits.acceleration))
        if used < usage:
            duration, usage = tried, used
        if used <= 1:
            break
    count = int(np.ceil(duration / STEP))
    tail: Array = np.arange(1, count + 1, dtype=float) * (duration / count)
    slowing = ramp_down(along, leave, duration)(tail)
    slowing[1][-1], slowing[2][-1] = 0, 0
    q, v, a = (np.concatenate(pair) for pair in zip(along(grid), slowing))
    return Piece(np.concatenate([grid, leave + tail]), q, v, a, leave, usage)
