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
"""Covariance matrix adaptation evolution strategy (CMA-ES) by the package cma."""

from collections.abc import Callable
import warnings

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError, MissingDependencyError
from robot_identification.papers.searches.search import Search, SearchRun


class CovarianceMatrixAdaptation(Search):
    """
    CMA-ES of the package cma, restarted with twice the population whenever it has converged.

    Parameters
    ----------
    sigma
        Initial step size as a fraction of the ranges.

    Raises
    ------
    MissingDependencyError
        The package cma is not installed.
    EstimationError
        The search has only one parameter.

    References
    ----------
    N. Hansen, "The CMA evolution strategy: a tutorial", arXiv:1604.00772.
    A. Auger, N. Hansen, "A restart CMA evolution strategy with increasing population size",
    IEEE Congress on Evolutionary Computation, 2005.

    """

    name = 'cma_es'
    summary = 'CMA-ES with restarts (package cma)'
    eliminates = True

    def __init__(self, sigma: float = 0.2) -> None:
        self.sigma = sigma

    def _search(self, run: SearchRun) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                import cma
        except ImportError as error:
            raise MissingDependencyError('cma', 'the search cma_es') from error
        if run.dimension < 2:
            raise EstimationError('the search cma_es needs at least two parameters; use another '
                                  'search for one')
        size = 4 + int(3 * np.log(run.dimension))
        start = run.start if run.start is not None else np.full(run.dimension, 0.5)
        while True:
            options = {'bounds': [0.0, 1.0], 'popsize': size, 'verbose': -9, 'verb_log': 0,
                       'seed': int(run.rng.integers(1, 2 ** 31)), 'randn': _draws(run.rng)}
            strategy = cma.CMAEvolutionStrategy(start, self.sigma, options)
            while not strategy.stop():
                points = strategy.ask()
                strategy.tell(points, list(run.evaluate(np.array(points))))
            size *= 2
            start = run.rng.random(run.dimension)


def _draws(rng: np.random.Generator) -> Callable[..., Array]:
    """Return a function like numpy's randn that draws from `rng`, for repeatable runs."""
    def randn(*shape: int) -> Array:
        return rng.standard_normal(shape)
    return randn
