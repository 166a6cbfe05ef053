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
"""Minimisation of squared objectives with the linear parameters eliminated."""

import time

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError
from robot_identification.estimation.variable_projection import best_shape, project
from robot_identification.papers.searches.bounded import Box
from robot_identification.papers.searches.bounds import Bounds
from robot_identification.papers.searches.objective import MeanSquared, Objective
from robot_identification.papers.searches.result import CONVERGED, SearchResult
from robot_identification.regression.separable import SeparableRegression

PROJECTION = 'variable_projection'


class ProjectedObjective:
    """
    A squared objective as a function of the friction shapes only.

    For each shape the optimal linear parameters within their bounds are computed (variable
    projection), so a search has fewer unknowns. The regression is reduced only once
    (`SeparableRegression`).

    Parameters
    ----------
    objective
        A squared objective.
    bounds
        Bounds of all d unknowns of its problem.

    Attributes
    ----------
    bounds
        Bounds of the logarithms of the shape parameters, (m s,).

    Raises
    ------
    EstimationError
        The objective is not quadratic in the linear parameters, or the friction has no shape
        parameters.

    """

    def __init__(self, objective: Objective, bounds: Bounds) -> None:
        _require_squared(objective)
        problem = objective.problem
        if problem.linear:
            raise EstimationError('there is no friction shape to search: the problem is linear; '
                                  'use the estimator bounded')
        rank = problem.rank
        self.weights = _row_weights(objective)
        self.separable = SeparableRegression(problem.regression)
        self.box = Box(bounds.lower[:rank], bounds.upper[:rank])
        self.bounds = Bounds(bounds.lower[rank:], bounds.upper[rank:], bounds.names[rank:])
        self._size = problem.shape_size

    def __call__(self, population: Array) -> Array:
        """Return the costs (P,) of logarithms of shape parameters (P, m s)."""
        return np.array([np.sum(project(
            self.separable, self._shape(values), self.weights, False, self.box).residual ** 2)
            for values in population])

    def complete(self, values: Array) -> Array:
        """Return the optimal values of all unknowns (d,) for logarithms of shapes (m s,)."""
        return np.append(project(self.separable, self._shape(values), self.weights, False,
                                 self.box).beta, values)

    def best(self) -> tuple[Array, int]:
        """Return the optimum (d,) found by variable projection, and its number of evaluations."""
        limits = np.stack([self.bounds.lower, self.bounds.upper], axis=-1)
        result = best_shape(self.separable, self.weights, bounds=self.box,
                            limits=limits.reshape(*self._size, 2))
        return self.complete(np.log(result.shape).ravel()), result.evaluations

    def _shape(self, values: Array) -> Array:
        return np.exp(values).reshape(self._size)


def minimise_squared(objective: Objective, bounds: Bounds) -> SearchResult:
    """
    Minimise a squared objective within bounds by least squares instead of a search.

    Linear problems are solved exactly by bounded least squares, problems with friction shapes by
    variable projection from several starting points.

    Parameters
    ----------
    objective
        A squared objective.
    bounds
        Bounds of the d unknowns of its problem.

    Raises
    ------
    EstimationError
        The objective is not squared.

    """
    _require_squared(objective)
    began = time.perf_counter()
    problem = objective.problem
    if problem.linear:
        matrix, target = problem.regression.normal.stacked(_row_weights(objective))
        values = Box(bounds.lower, bounds.upper).solve(matrix, target)
        cost, evaluations = float(np.sum((matrix @ values - target) ** 2)), 1
    else:
        eliminated = ProjectedObjective(objective, bounds)
        values, evaluations = eliminated.best()
        cost = float(eliminated(values[None, problem.rank:])[0])
    return SearchResult(PROJECTION, values, cost, evaluations,
                        np.array([[float(evaluations), cost]]), CONVERGED,
                        time.perf_counter() - began)


def _require_squared(objective: Objective) -> None:
    if not isinstance(objective, MeanSquared):
        raise EstimationError(f'the objective {objective.name} is not quadratic in the linear '
                              f'parameters: use squared or mean_squared, or a search over all '
                              f'unknowns')


def _row_weights(objective: Objective) -> Array:
    """Return the weights of the joints' rows that make the objective a sum of squares, (n,)."""
    factors: Array = np.sqrt(objective.weights / objective.problem.regression.normal.rows)
    return factors
