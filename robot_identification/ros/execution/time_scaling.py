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
"""Time scaling: motions that start and end at rest on a given path with bounded acceleration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot_identification.arm import Limits
from robot_identification.arrays import Array

States = tuple[Array, Array, Array]
"""q, v and a, (N, n) each."""
Evaluate = Callable[[Array], States]
"""Maps times (N,) [s] to `States`."""
MIN_DURATION = 1.0      # [s] of a straight line, however short it is


def ramp_up(evaluate: Evaluate, at: float, duration: float) -> Evaluate:
    """
    Return a motion that starts at rest and joins another one at its time `at` at full speed.

    With u = t / T the path parameter is s = at + T (u^3 - u^4 / 2 - 1/2), so that its rate rises
    from 0 to 1 as 3 u^2 - 2 u^3. The ramp covers the last T / 2 of the path before `at`.

    Parameters
    ----------
    evaluate
        The other motion.
    at
        Time of the other motion at which it takes over [s].
    duration
        Duration T of the ramp [s].

    """
    def ramp(t: Array) -> States:
        u = t / duration
        s = at + duration * (u ** 3 - u ** 4 / 2 - 0.5)
        return _scale_time(evaluate, s, u ** 2 * (3 - 2 * u), 6 * u * (1 - u) / duration)
    return ramp


def ramp_down(evaluate: Evaluate, at: float, duration: float) -> Evaluate:
    """
    Return a motion that leaves another one at its time `at` at full speed and comes to rest.

    Parameters
    ----------
    evaluate, at, duration
        As for `ramp_up`; the path parameter is s = at + T (u - u^3 + u^4 / 2).

    """
    def ramp(t: Array) -> States:
        u = t / duration
        s = at + duration * (u - u ** 3 + u ** 4 / 2)
        return _scale_time(evaluate, s, 1 - u ** 2 * (3 - 2 * u), -6 * u * (1 - u) / duration)
    return ramp


def straight_line(limits: Limits, q: Array, target: Array,
                  speed: float) -> tuple[float, Evaluate]:
    """
    Return duration [s] and motion of a straight line in joint space, from rest to rest.

    The line is traversed with the quintic 10 u^3 - 15 u^4 + 6 u^5, whose largest velocity is
    1.875 / T and whose largest acceleration is 5.7735 / T^2.

    Parameters
    ----------
    limits
        Limits of the arm; velocity and acceleration must be finite.
    q, target
        Start and end, (n,) [rad or m].
    speed
        Fraction of the velocity and acceleration limits that is used, 0 to 1.

    """
    distance = target - q
    duration = max(
        MIN_DURATION, float(np.max(np.abs(distance) * 1.875 / (speed * limits.velocity))),
        float(np.max(np.sqrt(np.abs(distance) * 5.7736 / (speed * limits.acceleration)))))

    def evaluate(t: Array) -> States:
        u = (t / duration)[:, None]
        return (q + distance * u ** 3 * (10 - 15 * u + 6 * u ** 2),
                distance * 30 * u ** 2 * (1 - u) ** 2 / duration,
                distance * 60 * u * (1 - u) * (1 - 2 * u) / duration ** 2)

    return duration, evaluate


def _scale_time(evaluate: Evaluate, s: Array, rate: Array, acceleration: Array) -> States:
    """Return q(s), v(s) s' and a(s) s'^2 + v(s) s''."""
    q, v, a = evaluate(np.asarray(s, dtype=float))
    rate, acceleration = rate[:, None], acceleration[:, None]
    return q, v * rate, a * rate ** 2 + v * acceleration
