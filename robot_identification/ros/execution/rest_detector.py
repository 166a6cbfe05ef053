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
"""Detection of an arm at rest from its recent positions."""

import numpy as np
from robot_identification.arrays import Array

RESTING = 0.02   # [rad/s or m/s] slower joints count as resting
HISTORY = 0.1    # [s] of recent positions, from which the velocity is computed


class RestDetector:
    """Detector of an arm at rest: the mean velocities over its recent positions are small."""

    def __init__(self) -> None:
        self._recent: list[tuple[float, Array]] = []

    def add(self, t: float, q: Array) -> None:
        """
        Add a position.

        Parameters
        ----------
        t
            Time of the position [s].
        q
            Position, (n,) [rad or m].

        """
        self._recent.append((t, q))
        self._recent = [item for item in self._recent if item[0] > t - HISTORY]

    @property
    def newest(self) -> Array | None:
        """The newest position, (n,) [rad or m]; None if there is none."""
        return self._recent[-1][1] if self._recent else None

    @property
    def at_rest(self) -> bool:
        """Whether all joints rest; False if fewer than two positions are known."""
        if len(self._recent) < 2:
            return False
        (first, start), (last, end) = self._recent[0], self._recent[-1]
        return bool(last > first and np.all(np.abs(end - start) / (last - first) < RESTING))
