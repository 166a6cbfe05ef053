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
"""Progress along a plan, estimated from the controller's reference or from measured positions."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import TYPE_CHECKING

import numpy as np
from robot_identification.arrays import Array

if TYPE_CHECKING:
    from robot_identification.ros.execution.motion_plan import MotionPlan
    from robot_identification.ros.execution.sampled_plan import SampledPlan

EXACT = 1e-5        # [rad or m] deviation from the plan up to which there is no delay
MOVING = 0.02       # fraction of the largest velocity limit; slower positions show no progress
NOISELESS = 1e-3    # the same for the controller's reference, whose positions have no noise
MAX_ITERATIONS = 6  # of Newton's method, which finds the nearest position on the plan
STEP_TOLERANCE = 1e-5   # [s] Newton's method stops at smaller steps
DELAY_RESIDUAL = 0.3    # a pure delay explains all but this fraction of the deviation
MAX_DISTANCE = 0.005    # [rad or m] a reference farther from the plan comes from another client
MAX_DELAY = 0.03    # [s] largest delay of the reference: one cycle, and the offset of the clocks
MAX_LAG = 2 * MAX_DELAY     # [s] largest delay of measured positions that follow the plan
SCALED = 1e-3       # [-] smaller deviations of the speed scaling from 1 are ignored
STOPPED = 0.02      # [-] at a smaller rate of progress the reference stands still
REACH = 0.5         # [s] half width of the search interval around the expected progress


@dataclass(frozen=True)
class ControllerState:
    """
    State that the controller publishes.

    Parameters
    ----------
    t
        Stamp of the state, as time since the start of the plan [s].
    q
        Reference position, with the joints in the order of the arm, (n,) [rad or m].
    scaling
        Speed scaling [-]; NaN if it is not published.
    command
        Commanded position, which is one cycle ahead of the reference, (n,) [rad or m]; None if it
        is not published.

    """

    t: float
    q: Array
    scaling: float = math.nan
    command: Array | None = None


@dataclass(frozen=True)
class PlanPosition:
    """
    Progress along a plan: the time of the plan that is reached, and its rate of change.

    Parameters
    ----------
    t
        Time of the observation [s].
    at
        Time of the plan whose position is reached at time t [s].
    rate
        Rate at which the time of the plan advances [-]; 1 without speed scaling.

    """

    t: float
    at: float
    rate: float = 1.0

    @property
    def delay(self) -> float:
        """Delay behind the plan [s]."""
        return self.t - self.at

    def on_plan(self, t: Array) -> Array:
        """Return the times of the plan, (N,) [s], reached at times t if the rate is constant."""
        return self.at + self.rate * (np.asarray(t, dtype=float) - self.t)


class PlanTracker:
    """
    Estimates the progress along a plan from observed positions.

    Parameters
    ----------
    plan
        The motion.
    window
        Window over which the rate is computed [s]. With 0 the rate is computed from two
        successive positions, which requires positions without noise: the controller's reference.

    """

    def __init__(self, plan: MotionPlan | SampledPlan, window: float = 0.0) -> None:
        self._plan, self._window = plan, window
        self._past: list[tuple[float, float]] = []
        slow = MOVING if window else NOISELESS
        self._slow = slow * float(np.max(plan.limits.velocity))
        self.position = PlanPosition(0.0, 0.0)
        self.q: Array = plan.evaluate(np.zeros(1))[0][0]
        self.distance = 0.0             # [rad or m] to the nearest position on the plan
        self.explained_by_delay = True  # whether a pure delay explains the observed position

    def update(self, t: float, q: Array) -> None:
        """
        Add an observed position.

        Parameters
        ----------
        t
            Time of the observation [s].
        q
            Position of the joints, (n,) [rad or m].

        """
        due = self._at(t)[0]
        away = float(np.max(np.abs(q - due)))
        if away < EXACT:
            at = t
        else:
            expected = float(self.position.on_plan(np.array([t]))[0])
            at = min((self._nearest(start, q) for start in (t, expected)),
                     key=lambda s: float(np.max(np.abs(q - self._at(s)[0]))))
        nearest, v = self._at(at)
        self.distance, self.q = float(np.max(np.abs(q - nearest))), q
        self.explained_by_delay = self.distance <= max(DELAY_RESIDUAL * away, EXACT)
        if np.max(np.abs(v)) < self._slow and away < self._slow * max(self._window, 0.02) + EXACT:
            at = t      # at rest at the expected position, which does not show the progress
        first = self._past[0] if self._past else (t, at)
        self._past = [item for item in self._past if item[0] > t - self._window]
        self._past.append((t, at))
        rate = 1.0 if t - first[0] < 1e-6 else max((at - first[1]) / (t - first[0]), 0.0)
        self.position = PlanPosition(t, at, rate)

    def _at(self, t: float) -> tuple[Array, Array]:
        """Return position and velocity of the plan at time t, (n,) each."""
        q, v, _ = self._plan.evaluate(np.array([t]))
        return q[0], v[0]

    def _nearest(self, start: float, q: Array) -> float:
        """Return the time at which the plan is nearest to q [s]; Newton's method from `start`."""
        t = start
        for _ in range(MAX_ITERATIONS):
            nearest, v = self._at(t)
            speed = float(v @ v)
            if speed < self._slow ** 2:
                break
            step = float((q - nearest) @ v / speed)
            t = float(np.clip(t + step, start - REACH, start + REACH))
            if abs(step) < STEP_TOLERANCE:
                break
        return t


def unwrap_turns(q: Array, near: Array, continuous: Array) -> Array:
    """
    Return positions with continuous joints shifted by full turns so that they are near `near`.

    Parameters
    ----------
    q, near
        Positions, and positions to compare them with, (..., n) [rad or m].
    continuous
        Whether each joint is continuous, (n,) bool.

    """
    return q + 2 * np.pi * np.where(continuous, np.round((near - q) / (2 * np.pi)), 0.0)
