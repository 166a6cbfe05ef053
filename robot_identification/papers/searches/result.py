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
"""Result of a search."""

from dataclasses import dataclass

from robot_identification.arrays import Array, read_only

BUDGET = 'budget'
TARGET = 'target'
STOPPED = 'stopped'
CONVERGED = 'converged'


@dataclass(frozen=True, eq=False)
class SearchResult:
    """
    Best parameters found by a search, with its history.

    Parameters
    ----------
    search
        Name of the search.
    values
        Best parameters, (d,).
    cost
        Cost at these parameters.
    evaluations
        Total number of evaluations of the cost.
    history
        Evaluations and best cost so far after each generation, (G, 2).
    status
        Why the search ended: 'budget', 'target', 'stopped' or 'converged'.
    seconds
        Duration of the search [s].

    """

    search: str
    values: Array
    cost: float
    evaluations: int
    history: Array
    status: str
    seconds: float

    def __post_init__(self) -> None:
        object.__setattr__(self, 'values', read_only(self.values))
        object.__setattr__(self, 'history', read_only(self.history))

    @property
    def message(self) -> str:
        """The status as a sentence."""
        return {
            BUDGET: f'the budget of {self.evaluations} evaluations is used up',
            TARGET: f'the target cost was reached after {self.evaluations} evaluations',
            STOPPED: f'stopped by the caller after {self.evaluations} evaluations',
            CONVERGED: f'converged after {self.evaluations} evaluations'}[self.status]
