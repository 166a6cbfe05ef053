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
"""Trajectories for a controller: the full motion, and segments that brake or hold the arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.ros.execution.plan_tracker import PlanPosition
from robot_identification.ros.execution.robot_clock import MAX_OFFSET
from robot_identification.ros.execution.time_scaling import ramp_down, States

if TYPE_CHECKING:
    from robot_identification.ros.execution.motion_plan import MotionPlan
    from robot_identification.ros.execution.sampled_plan import SampledPlan

BRAKES = tuple(0.1 * 1.25 ** k for k in range(20))  # [s] durations tried for braking
STEP = 0.02     # [s] between points; quintic interpolation then deviates by less than 1e-6 rad
REST = 1.2      # [s] rest before the plan; the trajectory is sent when half of it has passed
PAST = MAX_OFFSET   # [s] a braking segment starts this long before the present


@dataclass(frozen=True, eq=False)
class TrajectorySegment:
    """
    Trajectory points for a controller; the last one is at rest.

    Parameters
    ----------
    t
        Times since the start of the plan, (N,) [s].
    q, v, a
        Positions, velocities and accelerations, (N, n) each.
    departure
        Time since the start of the plan at which the segment begins to brake [s]; the end of the
        plan for the full trajectory.
    deceleration
        Largest acceleration during braking as a fraction of the acceleration limits [-].

    """

    t: Array
    q: Array
    v: Array
    a: Array
    departure: float
    deceleration: float

    def __post_init__(self) -> None:
        for name in 'tqva':
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def end(self) -> float:
        """Time of the last point, at rest, since the start of the plan [s]."""
        return float(self.t[-1])


def full_trajectory(plan: MotionPlan) -> TrajectorySegment:
    """
    Return the trajectory of the full plan, preceded by a rest of `REST` seconds.

    A controller that receives a trajectory stamped in the past enters it at the current time. The
    trajectory is sent in the middle of the rest. Thus the controller enters it at rest even if the
    message is late or the clocks differ by up to half of the rest.

    Parameters
    ----------
    plan
        The motion.

    """
    count = int(np.ceil(plan.duration / STEP - 1e-9))
    t = np.concatenate([[-REST], np.minimum(np.arange(count + 1) * STEP, plan.duration)])
    q, v, a = plan.evaluate(t)
    return TrajectorySegment(t, q, v, a, plan.duration, 0.0)


def hold_segment(q: Array, now: float) -> TrajectorySegment:
    """
    Return a segment that holds the arm at a position; used if the reference is at rest.

    Parameters
    ----------
    q
        The position, (n,) [rad or m].
    now
        Present time since the start of the plan [s].

    """
    zero = np.zeros((2, len(q)))
    return TrajectorySegment(np.array([now - 2 * PAST, now + 2 * PAST]), q + zero, zero, zero,
                             now, 0.0)


def brake_segment(plan: MotionPlan | SampledPlan, position: PlanPosition, first: float,
                  departure: float) -> TrajectorySegment:
    """
    Return a segment that follows the plan from `first` to `departure` and then brakes.

    Between `first` and `departure` the segment equals the motion of the controller's reference, so
    that the reference makes no step if the controller enters the segment in this interval. If the
    speed scaling s is not 1, the controller scales the segment too, and the speed falls from s v
    to s^2 v.

    The arm brakes along the path of the plan. The braking duration is the shortest in `BRAKES`
    that respects the acceleration limits. If none does, because the motion already uses the full
    limits, the duration with the smallest excess is used (see `TrajectorySegment.deceleration`).

    Parameters
    ----------
    plan
        The full motion.
    position
        Progress of the controller's reference along the plan.
    first, departure
        Start of the segment, and start of braking, since the start of the plan [s].

    """
    def follow(t: Array) -> States:
        q, v, a = plan.evaluate(position.on_plan(t))
        return q, v * position.rate, a * position.rate ** 2

    low, high = int(np.floor(first / STEP)), max(int(np.ceil(departure / STEP)), 1)
    grid: Array = np.arange(low, high + 1, dtype=float) * STEP
    departure = float(grid[-1])
    duration, usage = np.inf, np.inf
    for candidate in BRAKES:
        a = ramp_down(follow, departure, candidate)(np.linspace(0, candidate, 60))[2]
        used = float(np.max(np.abs(a) / plan.limits.acceleration))
        if used < usage:
            duration, usage = candidate, used
        if used <= 1:
            break
    count = int(np.ceil(duration / STEP))
    tail: Array = np.arange(1, count + 1, dtype=float) * (duration / count)
    braking = ramp_down(follow, departure, duration)(tail)
    braking[1][-1], braking[2][-1] = 0, 0
    q, v, a = (np.concatenate(pair) for pair in zip(follow(grid), braking))
    return TrajectorySegment(np.concatenate([grid, departure + tail]), q, v, a, departure, usage)
