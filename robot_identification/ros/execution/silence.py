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
"""How long an arm has been silent, told apart from how long nobody has listened."""

from __future__ import annotations

AWAKE = 0.05    # [s] of one step that count; a longer one was not the arm's silence but ours
LONGEST = 5.0   # multiple of the tolerance after which it does not matter who was held up


class Silence:
    """
    Counts the time in which fresh joint states were listened for and none came.

    A busy computer holds this process up; the joint states of the meantime wait in a queue, and
    the first look after it finds old ones, or none until the middleware has caught up. Such a
    step counts for `AWAKE` seconds at most. Nothing is handed to the controller meanwhile
    (`Run`), so an arm that is moved piece by piece brakes by itself when it lasts.

    Parameters
    ----------
    tolerance
        Age of a joint state that is no longer fresh [s].

    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.age = 0.0        # of the newest joint state [s]
        self.listened = 0.0   # since a fresh joint state arrived [s]

    @property
    def fresh(self) -> bool:
        """Whether the newest joint state may be relied on."""
        return self.age <= self.tolerance

    @property
    def too_long(self) -> bool:
        """Whether the arm is silent, and not only this process late."""
        return self.listened > self.tolerance or self.age > LONGEST * self.tolerance

    def step(self, heard: bool, age: float, passed: float) -> None:
        """
        Look again.

        Parameters
        ----------
        heard
            Whether joint states have arrived since the last look.
        age
            Age of the newest joint state [s].
        passed
            Since the last look, on a clock that never stops [s].

        """
        self.age = age
        self.listened = 0.0 if heard and self.fresh else self.listened + min(passed, AWAKE)
