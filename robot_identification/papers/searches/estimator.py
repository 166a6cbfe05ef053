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
"""Searches as estimators: the same call, any friction model, any objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimator import (
    Estimator,
)
from robot_identification.estimation.estimator_info import EstimatorInfo, NEAREST
from robot_identification.papers.searches.bounds import Bounds
from robot_identification.papers.searches.objective import get_objective, MeanSquared, Objective
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.projection import minimise_squared, ProjectedObjective
from robot_identification.papers.searches.ranges import RELATIVE, search_bounds
from robot_identification.papers.searches.result import SearchResult
from robot_identification.papers.searches.search import get_search, Search
from robot_identification.papers.searches.search_estimate import (
    make_search_estimate,
    SearchEstimate,
)
from robot_identification.regression import Regression

BUDGET = 20_000
EACH = 200
"""Evaluations for every shape number where the linear parameters are eliminated: CMA-ES then found
atan, Stribeck, Bompos and sech_tanh friction of three joints for each of three seeds
(test_search_estimators.py); over all 30 unknowns at once it misses with ten times as many."""


class SearchEstimator(Estimator):
    """
    Minimises an objective over base parameters and friction shapes within bounds.

    The covariance is that of least squares at the noise of the search's residuals, with the shapes
    taken as known: it does not contain how far the search is from the optimum. Where least squares
    has a clearly lower cost, with the best shape near the one found, the status is
    'not_converged'.

    Parameters
    ----------
    objective
        Name in `OBJECTIVES`.
    budget
        Evaluations of the objective; `BUDGET`, or `EACH` for every shape number that is searched
        alone, when None.
    seed
        Seed of the random draws.
    bounds
        'urdf', 'estimate' (see `search_bounds`), or `Bounds` of all unknowns.
    relative
        Half width of the ranges.
    weights
        Weights of the joints in the objective, (n,); the objective's own when None.
    eliminate
        Whether to search the friction shapes alone, with the best linear parameters at each; for
        squared objectives and friction with shapes. None: where that is possible and the search
        declares it (`Search.eliminates`).
    settings
        Settings of the search, for instance size=25.

    """

    info = EstimatorInfo(
        cost='its budget of evaluations, 20 000 when not given', bounds=True, consistent=NEAREST,
        purpose='another objective is asked for, or comparing with papers')
    search: ClassVar[type[Search]]
    exact: ClassVar[bool] = False

    def __init__(self, objective: str = 'squared', budget: int | None = None, seed: int = 0,
                 bounds: str | Bounds = 'urdf', relative: float = RELATIVE,
                 weights: ArrayLike | None = None, eliminate: bool | None = None,
                 **settings: Any) -> None:
        self.objective, self.budget, self.seed = objective, budget, seed
        self.bounds, self.relative, self.joint_weights = bounds, relative, weights
        self.eliminate = eliminate
        self._search = get_search(self.search.name, **settings)

    def fit(self, regression: Regression) -> SearchEstimate:
        """
        Return the optimum that the search finds within the bounds.

        Parameters
        ----------
        regression
            The problem.

        Raises
        ------
        EstimationError
            The number of bounds differs from the number of unknowns.
        UnknownNameError
            An unknown objective or kind of bounds.

        """
        problem = SearchProblem(regression)
        objective = get_objective(self.objective, problem, self.joint_weights)
        bounds = (search_bounds(problem, self.bounds, self.relative)
                  if isinstance(self.bounds, str) else self.bounds)
        if bounds.dimension != problem.dimension:
            raise EstimationError(
                f'{bounds.dimension} bounds were given for {problem.dimension} unknowns: '
                f'{", ".join(problem.names)}')
        return make_search_estimate(
            self.name, objective, bounds,
            self._minimise(objective, bounds, regression.progress), self.exact)

    def _minimise(self, objective: Objective, bounds: Bounds,
                  report: Callable[[float], None] | None) -> SearchResult:
        eliminated = ProjectedObjective(objective, bounds) if self._alone(objective) else None
        cost, box = (objective, bounds) if eliminated is None else (eliminated, eliminated.bounds)
        budget = self.budget
        if budget is None:
            budget = BUDGET if eliminated is None else EACH * box.dimension
        found = self._search.minimise(
            cost, box, budget=budget, rng=np.random.default_rng(self.seed),
            progress=None if report is None else lambda fraction, cost: report(fraction))
        if eliminated is None:
            return found
        return replace(found, values=eliminated.complete(found.values))

    def _alone(self, objective: Objective) -> bool:
        """Whether the friction shapes are searched alone."""
        if self.eliminate is not None:
            return self.eliminate
        problem = objective.problem     # CMA-ES needs at least two parameters
        return (self._search.eliminates and isinstance(objective, MeanSquared)
                and problem.dimension >= problem.rank + 2)


def search_estimator(search: type[Search]) -> type[SearchEstimator]:
    """Return the estimator that uses a search."""
    return type(f'{search.__name__}Estimator', (SearchEstimator,), {
        '__module__': __name__,
        'search': search, 'name': search.name, 'summary': f'{search.summary}, within bounds',
        '__doc__': SearchEstimator.__doc__})


class BoundedLeastSquares(SearchEstimator):
    """
    The optimum of a squared objective within the same bounds as a search, by linear algebra.

    Exact where the friction is linear; variable projection over its shape numbers otherwise.

    Parameters
    ----------
    objective
        'squared' or 'mean_squared'.
    bounds, relative, weights
        As for `SearchEstimator`.

    """

    name = 'bounded'
    summary = 'least squares within bounds; variable projection over friction shapes'
    info = EstimatorInfo(bounds=True, consistent=NEAREST,
                         purpose='something is known of every parameter')
    exact = True

    def __init__(self, objective: str = 'squared', bounds: str | Bounds = 'urdf',
                 relative: float = RELATIVE, weights: ArrayLike | None = None) -> None:
        self.objective, self.bounds = objective, bounds
        self.relative, self.joint_weights = relative, weights

    def _minimise(self, objective: Objective, bounds: Bounds,
                  report: Callable[[float], None] | None) -> SearchResult:
        return minimise_squared(objective, bounds)
