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
"""Warped time: a motion is begun and ended on its own path, with bounded acceleration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot_identification.arrays import Array

Motion = tuple[Array, Array, Array]
Evaluate = Callable[[Array], Motion]


def ramp_up(evaluate: Evaluate, at: float, duration: float) -> Evaluate:
    """
    Return a motion from rest that comes to the time `at` of another with its full speed.

    The path is the other motion's; half of `duration` of it is used.

    Parameters
    ----------
    evaluate
        Maps times (N,) [s] to q, v, a, (N, n) each.
    at
        Where the other motion takes over [s].
    duration
        Duration of the ramp [s].

    """
    def ramp(t: Array) -> Motion:
        u = t / duration
        s = at + duration * (u ** 3 - u ** 4 / 2 - 0.5)
        return _warped(evaluate, s, u ** 2 * (3 - 2 * u), 6 * u * (1 - u) / duration)
    return ramp


def ramp_down(evaluate: Evaluate, at: float, duration: float) -> Evaluate:
    """
    Return a motion that leaves another at the time `at` with full speed and comes to rest.

    Parameters
    ----------
    evaluate, at, duration
        As for `ramp_up`.

    """
    def ramp(t: Array) -> Motion:
        u = t / duration
        s = at + duration * (u - u ** 3 + u ** 4 / 2)
        return _warped(evaluate, s, 1 - u ** 2 * (3 - 2 * u), -6 * u * (1 - u) / duration)
    return ramp


def _warped(evaluate: Evaluate, s: Array, rate: Array, change: Array) -> Motion:
    q, v, a = evaluate(np.asarray(s, dtype=float))
    rate, change = rate[:, None], change[:, None]
    return q, v * rate, a * rate ** 2 + v * change
