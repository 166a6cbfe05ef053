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
"""Random motions that use a fraction of the limits of an arm."""

import numpy as np
from robot_identification import Arm
from robot_identification.arrays import Array

HARMONICS, PART = 4, 0.6
"""Harmonics of a motion, and the fraction of the limits that it uses (assumed)."""


class RandomMotion:
    """
    A random Fourier series that uses a fraction of the limits of motion.

    Parameters
    ----------
    arm, period
        The arm, and the period of the series [s].
    rng
        Source of the random numbers.
    wobble
        Whether the arm deviates from the series as with a servo: by some thousandths of its range,
        at frequencies of its own.

    """

    def __init__(self, arm: Arm, period: float, rng: np.random.Generator,
                 wobble: bool = False) -> None:
        self.period, self.joint_names = period, arm.joint_names
        limits = arm.limits
        lower = np.maximum(np.nan_to_num(limits.lower, neginf=-np.pi), -np.pi)
        upper = np.minimum(np.nan_to_num(limits.upper, posinf=np.pi), np.pi)
        self._frequency = 2 * np.pi / period * np.arange(1, HARMONICS + 1)[:, None]
        self._size = rng.normal(size=(HARMONICS, arm.n)) / np.sqrt(
            np.arange(1, HARMONICS + 1))[:, None]
        self._phase = rng.uniform(0, 2 * np.pi, (HARMONICS, arm.n))
        self._middle = np.zeros(arm.n)
        q, v, a = self.evaluate(np.linspace(0, period, 500))
        fastest = np.where(np.isfinite(limits.acceleration), limits.acceleration, 10.0)
        speed = np.where(np.isfinite(limits.velocity), limits.velocity, 2.0)
        span = np.ptp(q, axis=0)
        factor = PART * np.minimum.reduce([
            (upper - lower) / span, speed / np.abs(v).max(axis=0),
            fastest / np.abs(a).max(axis=0)])
        self._size = self._size * factor
        if wobble:
            size = 0.002 * factor * span * rng.normal(size=(3, arm.n))
            self._size = np.concatenate([self._size, size])
            self._frequency = np.concatenate([self._frequency,
                                              rng.uniform(1.0, 12.0, 3)[:, None]])
            self._phase = np.concatenate([self._phase, rng.uniform(0, 2 * np.pi, (3, arm.n))])
        slack = (upper - lower - factor * span) / 2
        self._middle = ((lower + upper) / 2 - factor * (q.max(axis=0) + q.min(axis=0)) / 2
                        + rng.uniform(-0.8, 0.8, arm.n) * slack)

    def evaluate(self, t: Array, derivatives: int = 2) -> tuple[Array, ...]:
        """Return positions and derivatives at times, (N, n) each."""
        angle = self._frequency[:, :, None] * np.asarray(t) + self._phase[:, :, None]
        return tuple(
            np.einsum('hn,hnt->tn', self._size * self._frequency ** order,
                      np.sin(angle + order * np.pi / 2)) + (self._middle if order == 0 else 0.0)
            for order in range(derivatives + 1))
