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
"""The plant of the benchmark with a body, motions that repeat, and seeds of its recordings."""

import zlib

import numpy as np
import pinocchio as pin
from robot_identification import Recording
from robot_identification.arrays import Array
from robot_identification.benchmarking.simulated_data import LuGrePlant, RandomMotion, RATE


class LoadedPlant(LuGrePlant):
    """A simulated arm that carries bodies."""

    def repeat(self, motion: RandomMotion, periods: int, name: str = 'motion',
               day: float | Array = 1.0) -> Recording:
        """Return a recording of some periods of a motion."""
        t = np.arange(0, periods * motion.period, 1 / RATE)
        return self.record(t, *motion.evaluate(t), name=name, day=day)

    def reseed(self, *seed: int) -> None:
        """Draw motions and noise of further recordings with another seed."""
        self.rng = np.random.default_rng([*seed, zlib.crc32(self.arm.name.encode())])

    def carry(self, mass: float, centre: Array) -> None:
        """Add a body with a radius of gyration of 3 cm to the last link; `centre` in metres."""
        last = self.model.njoints - 1
        self.model.inertias[last] += pin.Inertia(mass, np.array(centre),
                                                 mass * 0.03 ** 2 * np.eye(3))
        self.data = self.model.createData()

    def breakaway(self, q: Array, day: float | Array = 1.0) -> Array:
        """Return the torques that overcome friction at rest, (N, n) [N m or N]."""
        return self.friction(q, np.zeros_like(q), np.zeros_like(q), day)[1]
