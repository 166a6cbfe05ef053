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
"""Population methods, particle filter and gradient descent, registered as estimators."""

from __future__ import annotations

from robot_identification.estimation import register_search
from robot_identification.estimation.search.objective import OBJECTIVES
from robot_identification.papers.searches.bee_colony import ArtificialBeeColony
from robot_identification.papers.searches.cuckoo import CuckooSearch, ImprovedCuckooSearch
from robot_identification.papers.searches.elpidso import ElitistPidSwarm
from robot_identification.papers.searches.genetic import BinaryGenetic, RealGenetic
from robot_identification.papers.searches.gradient_descent import GradientDescent
from robot_identification.papers.searches.mean_deviation import MeanAndDeviation
from robot_identification.papers.searches.particle_filter import ParticleFilter
from robot_identification.papers.searches.swarm import ParticleSwarm, StandardParticleSwarm

_SEARCHES = (GradientDescent, RealGenetic, BinaryGenetic, ParticleSwarm, StandardParticleSwarm,
             ArtificialBeeColony, CuckooSearch, ImprovedCuckooSearch, ElitistPidSwarm,
             ParticleFilter)
for search in _SEARCHES:
    register_search(search)
OBJECTIVES.register(MeanAndDeviation.name, MeanAndDeviation)

SEARCH_NAMES = tuple(search.name for search in _SEARCHES)

__all__ = ['SEARCH_NAMES', 'ArtificialBeeColony', 'BinaryGenetic', 'CuckooSearch',
           'ElitistPidSwarm', 'GradientDescent', 'ImprovedCuckooSearch', 'ParticleFilter',
           'ParticleSwarm', 'RealGenetic', 'StandardParticleSwarm']
