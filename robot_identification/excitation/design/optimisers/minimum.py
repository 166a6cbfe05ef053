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
"""What an optimiser returns."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.arrays import Array


@dataclass(frozen=True)
class Minimum:
    """
    The best motion that was met.

    Parameters
    ----------
    coefficients
        (size, n), within the constraints.
    value
        Its criterion.
    evaluations
        How often the objective was evaluated.
    history
        Best value at the end of each phase.
    finished
        False when it was stopped.
    trail
        Best motion at the end of each phase, (size, n) each.

    """

    coefficients: Array
    value: float
    evaluations: int
    history: tuple[float, ...]
    finished: bool
    trail: tuple[Array, ...] = ()
