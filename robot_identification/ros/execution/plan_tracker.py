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
"""Position of a controller on its plan, from its reference or from the measured positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.ros.execution.motion_plan import MotionPlan

EXACT = 1e-5        # [rad or m] from the expected position: the progress is the time itself
MOVING = 0.02       # fraction of the largest velocity limit below which progress is invisible
NOISELESS = 1e-3    # the same for a reference, which has no noise
MAX_ITERATIONS = 6  # of Newton's method for the nearest position on the plan
STEP_TOLERANCE = 1e-5   # [s] step of Newton's method that ends it
DELAY_RESIDUAL = 0.3    # fraction of the distance from the plan that a pure delay may leave
REACH = 0.5         # [s] around the expected progress that is searched


@dataclass(frozen=True)
class PlanPosition:
    """
    A position on a plan and its rate.

    Parameters
    ----------
    t
        Time of the observation [s].
    at
        Time of the plan at t [s].
    rate
        Rate of the plan's time [-]; 1 without speed scaling.

    """

    t: float
    at: float
    rate: float = 1.0

    @property
    def delay(self) -> float:
        """Delay of the plan's time [s]."""
        return self.t - self.at

    def on_plan(self, t: Array) -> Array:
        """Return the plan's time at times t, (N,) [s]."""
        return self.at + self.rate * (np.asarray(t, dtype=float) - self.t)


class PlanTracker:
    """
    Tracks observed positions along a plan.

    Parameters
    ----------
    plan
        The motion.
    window
        Window of the rate [s]; 0 for a noiseless reference: the rate follows from two successive
        positions.

    """

    def __init__(self, plan: MotionPlan, window: float = 0.0) -> None:
        self._plan, self._window = plan, window
        self._past: list[tuple[float, float]] = []
        slow = MOVING if window else NOISELESS
        self._slow = slow * float(np.max(plan.limits.velocity))
        self.position = PlanPosition(0.0, 0.0)
        self.q: Array = plan.evaluate(np.zeros(1))[0][0]
        self.distance = 0.0             # [rad or m] from the nearest position on the plan
        self.explained_by_delay = True  # whether a delay explains the observed position

    def update(self, t: float, q: Array) -> None:
        """
        Add an observed position.

        Parameters
        ----------
        t
            Its time [s].
        q
            (n,) [rad or m].

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
            at = t      # at rest at the expected position: progress is invisible
        first = self._past[0] if self._past else (t, at)
        self._past = [item for item in self._past if item[0] > t - self._window]
        self._past.append((t, at))
        rate = 1.0 if t - first[0] < 1e-6 else max((at - first[1]) / (t - first[0]), 0.0)
        self.position = PlanPosition(t, at, rate)

    def _at(self, t: float) -> tuple[Array, Array]:
        q, v, _ = self._plan.evaluate(np.array([t]))
        return q[0], v[0]

    def _nearest(self, start: float, q: Array) -> float:
        """Return the time of the plan nearest to q, by Newton's method from `start` [s]."""
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
