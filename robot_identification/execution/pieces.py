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
"""Pieces of a motion that end at rest: what a controller may be left alone with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.execution.motion_plan import MotionPlan
from robot_identification.execution.warp import ramp_down

BRAKES = tuple(0.1 * 1.25 ** k for k in range(20))  # [s] durations of braking that are tried


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


def cut(plan: MotionPlan, first: float, last: float, step: float = 0.01) -> Piece:
    """
    Cut a piece out of a plan and put a braking tail behind it.

    All points before the tail are on one grid of times, so that a piece which replaces another
    one has the same points where both follow the plan: replacing leaves the motion as it is. The
    tail slows down along the path of the plan, in the shortest time in which accelerations stay
    within the limits; where none does (on a motion that uses all of its limit), in the one that
    exceeds them least, which `Piece.deceleration` tells.

    Parameters
    ----------
    plan
        The whole motion.
    first, last
        The piece follows the plan from before `first` until after `last` [s].
    step
        Step of the grid [s].

    """
    low = max(0, int(np.floor(first / step)))
    high = max(low + 1, int(np.ceil(last / step)))
    grid: Array = np.arange(low, high + 1, dtype=float) * step
    if grid[-1] >= plan.duration:
        t = np.append(grid[grid < plan.duration - 1e-9], plan.duration)
        q, v, a = plan.evaluate(t)
        return Piece(t, q, v, a, plan.duration, 0.0)
    leave = float(grid[-1])
    duration, usage = _brake(plan, leave)
    count = int(np.ceil(duration / step))
    tail: Array = np.arange(1, count + 1, dtype=float) * (duration / count)
    slowing = ramp_down(plan.evaluate, leave, duration)(tail)
    slowing[1][-1], slowing[2][-1] = 0, 0
    moving = plan.evaluate(grid)
    q, v, a = (np.concatenate(pair) for pair in zip(moving, slowing))
    return Piece(np.concatenate([grid, leave + tail]), q, v, a, leave, usage)


def _brake(plan: MotionPlan, leave: float) -> tuple[float, float]:
    best = (np.inf, np.inf)
    for duration in BRAKES:
        t = np.linspace(0, duration, 60)
        a = ramp_down(plan.evaluate, leave, duration)(t)[2]
        usage = float(np.max(np.abs(a) / plan.limits.acceleration))
        if usage <= 1:
            return duration, usage
        if usage < best[1]:
            best = (duration, usage)
    return best
