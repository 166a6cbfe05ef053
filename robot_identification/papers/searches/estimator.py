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
"""Estimators that use a search, for any friction model and objective."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimator import Estimator, EstimatorInfo
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

BUDGET = 20_000    # evaluations over all unknowns: some seconds; few searches converge
EACH = 200
"""Evaluations per shape parameter if the linear parameters are eliminated. With this budget CMA-ES
finds atan, Stribeck, Bompos and sech_tanh friction of three joints for each of three seeds
(test_search_estimators.py). A search over all 30 unknowns fails with ten times the budget."""


class SearchEstimator(Estimator):
    """
    Estimator that minimises an objective over base parameters and friction shapes by a search.

    The covariance is that of least squares, with the noise of the search's residuals and with
    friction shapes taken as known. It does not account for the distance of the result from the
    optimum, so no intervals are stated unless the result is exact. For comparison, least squares
    is run from the shapes that the search found. If the cost of the search is more than 1 %
    higher, the status is 'not_converged'.

    Parameters
    ----------
    objective
        Name in `OBJECTIVES`.
    budget
        Largest number of evaluations of the objective. None: `BUDGET`, or `EACH` per shape
        parameter if only shapes are searched.
    seed
        Random seed.
    bounds
        'urdf' or 'estimate' (see `search_bounds`), or `Bounds` of all unknowns.
    relative
        Relative half width of the ranges.
    weights
        Weights of the joints in the objective, (n,). None: the objective's default.
    eliminate
        Whether to search only the friction shapes and compute the optimal linear parameters for
        each. This requires a squared objective and friction with shape parameters. None: yes if
        `Search.eliminates` is set, the objective is squared and there are at least two shape
        parameters.
    settings
        Settings of the search, for instance size=25.

    """

    info = EstimatorInfo(
        cost='its budget of evaluations, 20 000 by default', bounds=True, consistent='nearest',
        purpose='another objective is needed, or for comparison with papers')
    interval_doubt = ('its covariance is that of least squares and ignores how far the search is '
                      'from the optimum; use wls where intervals matter')
    search: ClassVar[type[Search]]
    exact: ClassVar[bool] = False

    def __init__(self, objective: str = 'squared', budget: int | None = None, seed: int = 0,
                 bounds: str | Bounds = 'urdf', relative: float = RELATIVE, *,
                 weights: ArrayLike | None = None, eliminate: bool | None = None,
                 **settings: Any) -> None:
        self.objective, self.budget, self.seed = objective, budget, seed
        self.bounds, self.relative, self.joint_weights = bounds, relative, weights
        self.eliminate = eliminate
        self._search = get_search(self.search.name, **settings)

    def fit(self, regression: Regression) -> SearchEstimate:
        """
        Return the estimate that the search finds within the bounds.

        Parameters
        ----------
        regression
            Regression of all recordings.

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
        result = self._search.minimise(
            cost, box, budget=budget, rng=np.random.default_rng(self.seed),
            progress=None if report is None else lambda fraction, cost: report(fraction))
        if eliminated is None:
            return result
        return replace(result, values=eliminated.complete(result.values))

    def _alone(self, objective: Objective) -> bool:
        """Return whether only the friction shapes are searched."""
        if self.eliminate is not None:
            return self.eliminate
        problem = objective.problem     # + 2: CMA-ES needs at least two parameters
        return (self._search.eliminates and isinstance(objective, MeanSquared)
                and problem.dimension >= problem.rank + 2)


def search_estimator(search: type[Search]) -> type[SearchEstimator]:
    """Return an estimator class that minimises its objective by the given search."""
    return type(f'{search.__name__}Estimator', (SearchEstimator,), {
        '__module__': __name__,
        'search': search, 'name': search.name, 'summary': f'{search.summary}, within bounds',
        '__doc__': SearchEstimator.__doc__})


class BoundedLeastSquares(SearchEstimator):
    """
    Estimator that minimises a squared objective within bounds by least squares.

    The result is exact for linear friction. Friction shapes are found by variable projection.

    Parameters
    ----------
    objective
        'squared' or 'mean_squared'.
    bounds, relative, weights
        As for `SearchEstimator`.

    """

    name = 'bounded'
    summary = 'least squares within bounds; variable projection over friction shapes'
    info = EstimatorInfo(bounds=True, consistent='nearest',
                         purpose='the range of every parameter is known')
    exact, interval_doubt = True, ''

    def __init__(self, objective: str = 'squared', bounds: str | Bounds = 'urdf',
                 relative: float = RELATIVE, weights: ArrayLike | None = None) -> None:
        self.objective, self.bounds = objective, bounds
        self.relative, self.joint_weights = relative, weights

    def _minimise(self, objective: Objective, bounds: Bounds,
                  report: Callable[[float], None] | None) -> SearchResult:
        return minimise_squared(objective, bounds)
