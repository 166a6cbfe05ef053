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
"""Searches within bounds: population methods, a particle filter and gradient descent."""

from robot_identification.estimation import ESTIMATORS
from robot_identification.papers.searches.bee_colony import ArtificialBeeColony
from robot_identification.papers.searches.bounds import Bounds
from robot_identification.papers.searches.cma_es import CovarianceMatrixAdaptation
from robot_identification.papers.searches.cuckoo import CuckooSearch, ImprovedCuckooSearch
from robot_identification.papers.searches.differential_evolution import DifferentialEvolution
from robot_identification.papers.searches.elpidso import ElitistPidSwarm
from robot_identification.papers.searches.estimator import BoundedLeastSquares, search_estimator
from robot_identification.papers.searches.genetic import BinaryGenetic, RealGenetic
from robot_identification.papers.searches.gradient_descent import GradientDescent
from robot_identification.papers.searches.particle_filter import ParticleFilter
from robot_identification.papers.searches.result import SearchResult
from robot_identification.papers.searches.search import get_search, Search, SEARCHES
from robot_identification.papers.searches.swarm import ParticleSwarm, StandardParticleSwarm


def register_search(search: type[Search]) -> None:
    """
    Register a search, and the estimator that uses it, under the name of the search.

    Parameters
    ----------
    search
        Class of the search.

    Raises
    ------
    ConfigurationError
        A search or estimator of this name exists already.

    """
    SEARCHES.register(search.name, search)
    ESTIMATORS.register(search.name, search_estimator(search))


ESTIMATORS.register(BoundedLeastSquares.name, BoundedLeastSquares)
for _search in (
        DifferentialEvolution, CovarianceMatrixAdaptation, GradientDescent, RealGenetic,
        BinaryGenetic, ParticleSwarm, StandardParticleSwarm, ArtificialBeeColony, CuckooSearch,
        ImprovedCuckooSearch, ElitistPidSwarm, ParticleFilter):
    register_search(_search)

__all__ = ['ArtificialBeeColony', 'BinaryGenetic', 'Bounds', 'CovarianceMatrixAdaptation',
           'CuckooSearch', 'DifferentialEvolution', 'ElitistPidSwarm', 'GradientDescent',
           'ImprovedCuckooSearch', 'ParticleFilter', 'ParticleSwarm', 'RealGenetic', 'SEARCHES',
           'Search', 'SearchResult', 'StandardParticleSwarm', 'get_search', 'register_search']
