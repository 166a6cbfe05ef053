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
"""Time scaling: ramps that start or stop a given motion on its own path."""

from collections.abc import Callable

import numpy as np
from robot_identification.arrays import Array

States = tuple[Array, Array, Array]
"""Positions, velocities and accelerations, (N, n) each."""
Evaluate = Callable[[Array], States]
"""Maps times (N,) [s] to `States`."""


def ramp_up(evaluate: Evaluate, at: float, duration: float) -> Evaluate:
    """
    Return a ramp that starts at rest on the path of a motion and ends at the motion's speed.

    With u = t / T, the ramp has at time t the position of the motion at
    s = at + T (u^3 - u^4 / 2 - 1/2). The rate ds/dt rises from 0 to 1 as 3 u^2 - 2 u^3. The ramp
    starts on the path at s = at - T / 2 and ends at s = at.

    Parameters
    ----------
    evaluate
        The motion.
    at
        Time of the motion at which the ramp ends [s].
    duration
        Duration T of the ramp [s].

    """
    def ramp(t: Array) -> States:
        u = t / duration
        s = at + duration * (u ** 3 - u ** 4 / 2 - 0.5)
        return scale_time(evaluate, s, u ** 2 * (3 - 2 * u), 6 * u * (1 - u) / duration)
    return ramp


def ramp_down(evaluate: Evaluate, at: float, duration: float) -> Evaluate:
    """
    Return a ramp that starts at the speed of a motion and stops on the path of the motion.

    With u = t / T, the ramp has at time t the position of the motion at
    s = at + T (u - u^3 + u^4 / 2). The rate ds/dt falls from 1 to 0 as 1 - 3 u^2 + 2 u^3.

    Parameters
    ----------
    evaluate
        The motion.
    at
        Time of the motion at which the ramp starts [s].
    duration
        Duration T of the ramp [s].

    """
    def ramp(t: Array) -> States:
        u = t / duration
        s = at + duration * (u - u ** 3 + u ** 4 / 2)
        return scale_time(evaluate, s, 1 - u ** 2 * (3 - 2 * u), -6 * u * (1 - u) / duration)
    return ramp


def scale_time(evaluate: Evaluate, s: Array, rate: Array, acceleration: Array) -> States:
    """
    Return the states of a motion at s(t): q(s), v(s) s' and a(s) s'^2 + v(s) s''.

    Parameters
    ----------
    evaluate
        The motion.
    s, rate, acceleration
        Times of the motion, and their first two derivatives, (N,) each.

    """
    q, v, a = evaluate(np.asarray(s, dtype=float))
    rate, acceleration = rate[:, None], acceleration[:, None]
    return q, v * rate, a * rate ** 2 + v * acceleration
