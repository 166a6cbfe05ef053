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
"""Search problem and cost of the ER-16 with a signal chain, a friction model and ranges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from robot_identification.arrays import Array
from robot_identification.papers.searches import Bounds
from robot_identification.papers.searches.objective import MeanAbsolute
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.studies.er16 import Experiment


@dataclass(frozen=True, eq=False)
class Case:
    """
    An experiment with a friction model and ranges of the parameters, built when it is used.

    Parameters
    ----------
    experiment
        The experiment with its signal chain.
    friction
        Name of the friction model.
    ranges
        'urdf' or 'estimate', see `search_bounds`.

    """

    experiment: Experiment
    friction: str
    ranges: str = 'urdf'

    @cached_property
    def problem(self) -> tuple[SearchProblem, Bounds]:
        """Search problem and bounds."""
        return self.experiment.problem(self.friction, self.ranges)

    @cached_property
    def cost(self) -> MeanAbsolute:
        """Cost (9) of the ABC paper and (11) of the ICS paper [N m]."""
        return MeanAbsolute(self.problem[0])

    @cached_property
    def square(self) -> tuple[Array, float]:
        """Least-squares estimate and its cost."""
        values = self.experiment.least_squares(self.friction)
        return values, float(self.cost(values[None])[0])
