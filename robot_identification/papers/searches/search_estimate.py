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
"""Estimates from searches, with covariance, convergence status and unknowns at bounds."""

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK
from robot_identification.estimation.estimator import make_estimate_at, ReweightedFit
from robot_identification.estimation.variable_projection import best_shape, project
from robot_identification.papers.searches.bounds import Bounds
from robot_identification.papers.searches.objective import Objective
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.result import SearchResult
from robot_identification.regression.separable import SeparableRegression

ABOVE = 1.01
"""Ratio of the costs of search and least squares above which the search has not converged."""


@dataclass(frozen=True, eq=False)
class SearchEstimate(Estimate):
    """
    Estimate from a search.

    Parameters
    ----------
    search
        Result of the search with its history and status.
    bounds
        Bounds of the unknowns.
    objective
        Name of the objective.
    at_edge
        Names of the unknowns at one of their bounds.

    """

    search: SearchResult = None  # type: ignore[assignment]
    bounds: Bounds = None  # type: ignore[assignment]
    objective: str = ''
    at_edge: tuple[str, ...] = ()


def make_search_estimate(name: str, objective: Objective, bounds: Bounds, result: SearchResult,
                         exact: bool) -> SearchEstimate:
    """
    Convert the result of a search to an estimate, and compare its cost with least squares.

    Parameters
    ----------
    name
        Name of the estimator.
    objective
        Objective of the search.
    bounds
        Bounds of the unknowns.
    result
        Result of the search, with values of all unknowns of the objective.
    exact
        Whether the result is the exact optimum within the bounds; it is then not compared.

    """
    problem = objective.problem
    beta, shape = problem.split(result.values)
    fixed = (problem.regression if problem.linear
             else problem.regression.with_friction_shape(shape))
    reweighted = ReweightedFit.of(fixed.normal)
    status, at_edge = OK, bounds.at_edge(result.values)
    if exact:
        message = (f'the lowest cost within the bounds is {result.cost:.4g}; evaluated friction '
                   f'shapes: {0 if problem.linear else result.evaluations}')
    else:
        best = float(objective(_least_squares(problem, reweighted, shape)[None])[0])
        message = (f'{result.message}; least squares has a cost of {best:.4g}, the search of '
                   f'{result.cost:.4g}')
        if result.cost > ABOVE * best:
            status = NOT_CONVERGED
            message += '; use a larger budget, other bounds, or wls'
    if at_edge:
        message += f'; at a bound: {", ".join(at_edge)}'
    plain = make_estimate_at(name, fixed, reweighted, beta, status,
                             len(result.history))
    fields = {name: getattr(plain, name) for name in plain.__dataclass_fields__}
    if plain.status == status:
        fields['message'] = message
    else:
        fields['message'] = f'{plain.message}; {message}'
    fields.update(own_values=True)
    return SearchEstimate(**fields, search=result, bounds=bounds,
                          objective=objective.name, at_edge=at_edge)


def _least_squares(problem: SearchProblem, reweighted: ReweightedFit, shape: Array) -> Array:
    """Return the least-squares unknowns (d,); the optimisation of shapes starts at `shape`."""
    if problem.linear:
        return reweighted.solution.beta
    separable = SeparableRegression(problem.regression)
    best = best_shape(separable, reweighted.weights, shape)
    near = project(separable, best.shape, reweighted.weights, gradient=False)
    return np.append(near.beta, np.log(best.shape).ravel())
