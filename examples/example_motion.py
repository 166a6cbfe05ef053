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
"""A motion for the examples: a few harmonics within the limits of an arm."""

import numpy as np


class Wave:
    """A sum of sines that uses most of an arm's limits; any object with these members will do."""

    def __init__(self, arm, seed, period=6.0, harmonics=3):
        rng = np.random.default_rng(seed)
        self.period, self.joint_names = period, arm.joint_names
        self._speeds = 2 * np.pi / period * np.arange(1, harmonics + 1)[:, None]    # [rad/s]
        self._sizes = rng.uniform(0.5, 1.0, (harmonics, arm.n))
        self._phases = rng.uniform(0.0, 2 * np.pi, (harmonics, arm.n))
        room = np.array([np.minimum(arm.limits.upper - arm.limits.lower, 2 * np.pi) / 2,
                         arm.limits.velocity, arm.limits.acceleration])
        peaks = np.array([np.abs(x).max(axis=0)
                          for x in self.evaluate(np.linspace(0.0, period, 1000))])
        self._sizes *= 0.8 * (room / peaks).min(axis=0)

    def evaluate(self, t):
        """Return positions, velocities and accelerations (N, n) at times (N,) [s]."""
        angle = self._speeds * np.atleast_1d(t)[:, None, None] + self._phases
        return (np.sum(self._sizes * np.sin(angle), axis=1),
                np.sum(self._sizes * self._speeds * np.cos(angle), axis=1),
                -np.sum(self._sizes * self._speeds ** 2 * np.sin(angle), axis=1))


def wave(arm, seed):
    """Return the motion that a seed draws."""
    return Wave(arm, seed)
