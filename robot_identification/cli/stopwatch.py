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
"""The time that a command may take, and what it took."""

from __future__ import annotations

import time

from robot_identification import cli

ENDING = 0.3    # time for files and page, as a part of what the program took to start here and now


class Stopwatch:
    """
    Stages of a command since the program began, and what is left of its time budget.

    Parameters
    ----------
    budget
        Time that the command may take [s]; None without an end.

    """

    def __init__(self, budget: float | None) -> None:
        self.budget = budget
        self.stages: dict[str, float] = {}
        self._began = self._last = cli.BEGAN or time.monotonic()
        self._ending = 0.0

    def lap(self, stage: str) -> None:
        """Count the time since the last call, or the program's start, for a stage."""
        now = time.monotonic()
        self._ending = self._ending or ENDING * (now - self._began)
        self.stages[stage] = self.stages.get(stage, 0.0) + now - self._last
        self._last = now

    @property
    def left(self) -> float:
        """Time that is left when what is kept for files and page is put aside [s]."""
        if self.budget is None:
            return float('inf')
        return self.budget - self._ending - (time.monotonic() - self._began)

    def exceeded(self) -> str | None:
        """Return in words what took longer than the budget, None where nothing did."""
        total = sum(self.stages.values())
        if self.budget is None or total <= self.budget:
            return None
        parts = ', '.join(f'{stage} {seconds:.1f}' for stage, seconds in sorted(
            self.stages.items(), key=lambda entry: -entry[1]) if seconds >= 0.05)
        return (f'{total:.1f} s went by, the time budget was {self.budget:g} s; seconds by stage: '
                f'{parts}')
