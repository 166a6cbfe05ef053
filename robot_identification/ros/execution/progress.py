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
"""Where on its plan a controller is, by its reference, or by the arm where that is not known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.ros.execution.motion_plan import MotionPlan

EXACT = 1e-5    # [rad or m] from where the plan is then: there is no other progress
MOVING = 0.02   # part of the largest velocity limit below which progress cannot be seen
NOISELESS = 1e-3    # the same of a reference
NEWTON = 6      # steps of the search for the nearest position on the plan, at most
FOUND = 1e-5    # [s] of a step that ends it
ALIKE = 0.3     # part of its distance from where it should be that a delay does not explain
REACH = 0.5     # [s] from the expected progress within which it is looked for


@dataclass(frozen=True)
class Position:
    """
    A position on a plan, and how it goes on.

    Parameters
    ----------
    t
        When [s].
    at
        The plan's time then [s].
    rate
        Rate of the plan's time [-]; 1 without speed scaling.

    """

    t: float
    at: float
    rate: float = 1.0

    @property
    def behind(self) -> float:
        """How far the plan's time is behind [s]."""
        return self.t - self.at

    def on_plan(self, t: Array) -> Array:
        """Return the plan's time at times t, (N,) [s]."""
        return self.at + self.rate * (np.asarray(t, dtype=float) - self.t)


class Progress:
    """
    Follows positions along a plan.

    Parameters
    ----------
    plan
        The motion.
    window
        Over which the rate is taken [s]; 0 for a reference, which has no noise: from one position
        to the next.

    """

    def __init__(self, plan: MotionPlan, window: float = 0.0) -> None:
        self._plan, self._window = plan, window
        self._past: list[tuple[float, float]] = []
        slow = MOVING if window else NOISELESS
        self._slow = slow * float(np.max(plan.limits.velocity))
        self.position = Position(0.0, 0.0)
        self.q: Array = plan.evaluate(np.zeros(1))[0][0]
        self.off = 0.0          # [rad or m] from the nearest position on the plan
        self.alike = True       # whether a delay explains where it is

    def update(self, t: float, q: Array) -> None:
        """
        Take one more position.

        Parameters
        ----------
        t
            When [s].
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
                     key=lambda found: float(np.max(np.abs(q - self._at(found)[0]))))
        nearest, v = self._at(at)
        self.off, self.q = float(np.max(np.abs(q - nearest))), q
        self.alike = self.off <= max(ALIKE * away, EXACT)
        if np.max(np.abs(v)) < self._slow and away < self._slow * max(self._window, 0.02) + EXACT:
            at = t      # at rest where it should be: its progress cannot be seen
        first = self._past[0] if self._past else (t, at)
        self._past = [item for item in self._past if item[0] > t - self._window]
        self._past.append((t, at))
        rate = 1.0 if t - first[0] < 1e-6 else max((at - first[1]) / (t - first[0]), 0.0)
        self.position = Position(t, at, rate)

    def _at(self, t: float) -> tuple[Array, Array]:
        q, v, _ = self._plan.evaluate(np.array([t]))
        return q[0], v[0]

    def _nearest(self, start: float, q: Array) -> float:
        t = start
        for _ in range(NEWTON):
            nearest, v = self._at(t)
            speed = float(v @ v)
            if speed < self._slow ** 2:
                break
            step = float((q - nearest) @ v / speed)
            t = float(np.clip(t + step, start - REACH, start + REACH))
            if abs(step) < FOUND:
                break
        return t
