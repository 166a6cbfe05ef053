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
"""Variable projection: the shape of the friction that explains the data best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, Protocol

import numpy as np
from robot_identification.arrays import Array, IndexArray, read_only
from robot_identification.estimation.estimate import Estimate
from robot_identification.regression.reduced_regression import triangle
from robot_identification.regression.separable import SeparableRegression
from scipy.linalg import qr, solve_triangular
from scipy.optimize import least_squares

RANK_TOLERANCE = 1e-8
"""Relative to the largest diagonal element of R for columns of unit norm."""
GRID = {0: 1, 1: 7, 2: 5}
"""Initial grid points between the bounds per nonlinear parameter, by their number in the model."""
SWEEPS = 2
"""Number of times that each actuator tries every grid point again."""
NEAR_BOUND = 1e-3
"""Fraction of the range within which a parameter counts as on its bound."""


@dataclass(frozen=True, eq=False)
class _ShapeFit:
    """
    The best nonlinear friction parameters ("shape").

    Parameters
    ----------
    shape
        (m, s).
    cost
        Weighted sum of squared residuals with the best linear parameters.
    bounded
        Parameters on a bound, (m, s) bool.
    evaluations
        Number of shapes evaluated.

    """

    shape: Array
    cost: float
    bounded: Any
    evaluations: int

    def __post_init__(self) -> None:
        object.__setattr__(self, 'shape', read_only(self.shape))
        object.__setattr__(self, 'bounded', read_only(self.bounded, dtype=bool))


@dataclass(frozen=True, eq=False)
class _Projection:
    """
    The problem at one shape, with the linear parameters eliminated.

    Parameters
    ----------
    residual
        (rows,) weighted, in an orthonormal basis; its squared norm is the cost.
    jacobian
        (rows, m s), with respect to the logarithms of the nonlinear parameters.
    beta
        (r,) the best base parameters.
    joint_cost
        (n,) the cost by joint.
    matrix
        (rows, r + m s), weighted columns of the linear parameters and of the logarithms of the
        nonlinear ones before the elimination.

    """

    residual: Array
    jacobian: Array
    beta: Array
    joint_cost: Array
    matrix: Array


class LinearBounds(Protocol):
    """Bounds of the linear parameters, with a solver; see `papers.searches.bounded.Box`."""

    active: Any

    def outside(self, values: Array) -> bool:
        """Return whether any of the values (r,) is outside."""

    def solve(self, matrix: Array, target: Array) -> Array:
        """Return the minimiser of |matrix @ x - target|^2 within the bounds, (r,)."""


def project(separable: SeparableRegression, shape: Array, weights: Array,
            gradient: bool = True, bounds: LinearBounds | None = None) -> _Projection:
    """
    Return the problem at a shape with the linear parameters eliminated.

    With bounds, only the parameters that do not lie on a bound are eliminated.

    Parameters
    ----------
    separable
        The problem.
    shape
        (m, s).
    weights
        Weights of the joints' rows, (n,).
    gradient
        Whether to compute the Jacobian.
    bounds
        Bounds of the linear parameters (r,), if any.

    References
    ----------
    G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
    problems whose variables separate", SIAM J. Numerical Analysis 10(2), 1973.
    L. Kaufman, "A variable projection method for solving separable nonlinear least squares
    problems", BIT 15, 1975 (the approximation of the Jacobian; the gradient stays exact).

    """
    factors = [separable.factor(j, shape) for j in range(separable.joints)]
    matrix = np.vstack([w * f.rows for w, f in zip(weights, factors)])
    target = np.concatenate([w * f.target for w, f in zip(weights, factors)])
    norms = np.linalg.norm(matrix, axis=0)
    norms[norms == 0] = 1.0
    left, upper, order = qr(matrix / norms, mode='economic', pivoting=True,
                            check_finite=False)
    diagonal = np.abs(np.diag(upper))
    rank = int(np.sum(diagonal > RANK_TOLERANCE * diagonal[0]))
    left = left[:, :rank]
    beta = np.zeros(matrix.shape[1])
    beta[order[:rank]] = solve_triangular(upper[:rank, :rank], left.T @ target)
    beta /= norms
    if bounds is not None and bounds.outside(beta):
        corner = np.zeros((matrix.shape[1], matrix.shape[1]))
        corner[:rank, order] = upper[:rank]
        goal = np.zeros(matrix.shape[1])
        goal[:rank] = left.T @ target
        beta = bounds.solve(corner * norms, goal)
        if gradient:
            left = left @ np.linalg.qr(corner[:rank, bounds.active == 0])[0]
    residual = matrix @ beta - target
    sizes = np.cumsum([0] + [len(f.target) for f in factors])
    joint_cost = np.array([np.sum(residual[a:b] ** 2) for a, b in pairwise(sizes)])
    if not gradient:
        return _Projection(residual, np.zeros((len(residual), 0)), beta, joint_cost, matrix)

    inner, outer = [], []
    for j, (w, f) in enumerate(zip(weights, factors)):
        change, places = separable.shape_columns(j, shape, beta)
        change = w * change * shape.ravel()[places]
        first, second = f.basis.T @ change, f.friction_basis.T @ change
        rest = triangle(change - f.basis @ first - f.friction_basis @ second)
        inner.append(_spread(np.vstack([first, second]), places, shape.size))
        outer.append(_spread(rest, places, shape.size))
    inside, outside = np.vstack(inner), np.vstack(outer)
    jacobian = np.vstack([inside - left @ (left.T @ inside), outside])
    whole = np.vstack([np.hstack([matrix, inside]),
                       np.hstack([np.zeros((len(outside), matrix.shape[1])), outside])])
    residual = np.append(residual, np.zeros(len(outside)))
    return _Projection(residual, jacobian, beta, joint_cost, whole)


def _spread(columns: Array, places: IndexArray, count: int) -> Array:
    out = np.zeros((len(columns), count))
    out[:, places] = columns
    return out


class _Search:
    """Costs of shapes and descent from a shape, within bounds of the logarithms."""

    def __init__(self, separable: SeparableRegression, weights: Array,
                 bounds: LinearBounds | None, limits: Array | None) -> None:
        self.separable, self.weights, self.linear_bounds = separable, weights, bounds
        self.bounds = (np.log(separable.structure.shape_bounds) if limits is None
                       else limits)                                 # (m, s, 2)
        self.evaluations = 0
        self._last: tuple[bytes, _Projection] | None = None

    def at(self, logarithms: Array, gradient: bool = True) -> _Projection:
        key = np.ascontiguousarray(logarithms).tobytes()
        if gradient and self._last is not None and self._last[0] == key:
            return self._last[1]
        self.evaluations += 1
        shape = np.exp(logarithms.reshape(self.bounds.shape[:2]))
        found = project(self.separable, shape, self.weights, gradient, self.linear_bounds)
        if gradient:
            self._last = (key, found)
        return found

    def cost(self, logarithms: Array) -> float:
        return float(np.sum(self.at(logarithms, gradient=False).residual ** 2))

    def descend(self, start: Array) -> tuple[Array, float]:
        lower, upper = self.bounds[..., 0].ravel(), self.bounds[..., 1].ravel()
        margin = 1e-6 * (upper - lower)
        scale = max(float(np.sqrt(self.cost(start))), np.finfo(float).tiny)
        found = least_squares(
            lambda x: self.at(x).residual / scale, np.clip(start.ravel(), lower + margin,
                                                           upper - margin),
            jac=lambda x: self.at(x).jacobian / scale, bounds=(lower, upper), method='trf',
            ftol=1e-9, xtol=1e-5, gtol=1e-11, max_nfev=60)
        return found.x.reshape(start.shape), float(2 * found.cost * scale ** 2)


def best_shape(separable: SeparableRegression, weights: Array, start: Array | None = None,
               bounds: LinearBounds | None = None, limits: Array | None = None) -> _ShapeFit:
    """
    Return the shape of the friction with the smallest weighted sum of squared residuals.

    The search is Gauss-Newton within the bounds from several starts: the best grid point of each
    joint, the best common grid point, and the result with one actuator after the other moved to
    another grid point.

    Parameters
    ----------
    separable
        The problem.
    weights
        Weights of the joints' rows, (n,).
    start
        Initial shape, (m, s), instead of the global search.
    bounds
        As for `project`.
    limits
        Bounds of the logarithms of the nonlinear parameters, (m, s, 2); the model's if None.

    """
    search = _Search(separable, weights, bounds, limits)
    if start is not None:
        best, cost = search.descend(np.log(start))
    else:
        best, cost = _global(search)
    low, high = search.bounds[..., 0], search.bounds[..., 1]
    near = NEAR_BOUND * (high - low)
    active = separable.structure.active_shape
    shape = np.where(active, np.exp(best), separable.structure.shape)
    return _ShapeFit(shape, cost, (best - low < near) | (high - best < near) | ~active,
                     search.evaluations)


def _global(search: _Search) -> tuple[Array, float]:
    m, s = search.bounds.shape[:2]
    fractions = list(product((np.arange(GRID.get(s, 3)) + 0.5) / GRID.get(s, 3), repeat=s))
    low, high = search.bounds[..., 0], search.bounds[..., 1]
    grid = [low + np.array(part) * (high - low) for part in fractions]
    trials = [search.at(point, gradient=False) for point in grid]
    costs = np.array([trial.joint_cost for trial in trials])            # (points, n)
    transmission = search.separable.structure.arm.transmission != 0
    own = np.argmin(costs @ transmission.T, axis=0)                     # (m,)
    mixed = np.array([grid[point][e] for e, point in enumerate(own)])
    best, cost = min((search.descend(point) for point in (
        mixed, grid[int(np.argmin(costs.sum(axis=1)))])), key=lambda found: found[1])
    for _ in range(SWEEPS):
        improved = best.copy()
        level = cost
        for e in range(m):
            for point in grid:
                trial = improved.copy()
                trial[e] = point[e]
                value = search.cost(trial)
                if value < level * (1 - 1e-9):
                    improved, level = trial, value
        if level >= cost:
            break
        best, cost = min((best, cost), search.descend(improved), key=lambda found: found[1])
    return best, cost


def with_shape_uncertainty(estimate: Estimate, separable: SeparableRegression, weights: Array,
                           found: _ShapeFit) -> Estimate:
    """
    Return the estimate with the joint covariance of linear and nonlinear parameters.

    A nonlinear parameter on a bound is not known exactly: its logarithm has the standard deviation
    of a uniform distribution between the bounds.

    Parameters
    ----------
    estimate
        The estimate at the best shape.
    separable, weights, found
        The problem, the weights of the joints' rows (n,), and its solution.

    """
    projection = project(separable, found.shape, weights)
    r, size = len(projection.beta), found.shape.size
    structure = separable.structure
    moves = np.broadcast_to(structure.active_shape, found.shape.shape).ravel()
    held = found.bounded.ravel()[moves]
    free = np.concatenate([np.ones(r, dtype=bool), moves])
    ranges = np.diff(np.log(structure.shape_bounds), axis=-1).ravel()[moves][held]
    prior = np.zeros((np.sum(held), np.sum(free)))    # prior rows of unit deviation
    prior[np.arange(len(prior)), r + np.flatnonzero(held)] = np.sqrt(12) / ranges
    matrix = np.vstack([projection.matrix[:, free], prior])
    spread = weights * estimate.noise * np.sqrt(estimate.autocorrelation_factor)
    counts = ([len(separable.factor(j, found.shape).target) for j in range(separable.joints)]
              + _outer_counts(separable, found.shape))
    norms = np.linalg.norm(matrix, axis=0)
    silent = norms == 0
    norms[silent] = 1.0
    inverse = np.linalg.pinv(matrix / norms, rcond=RANK_TOLERANCE) / norms[:, None]
    half = inverse * np.append(np.repeat(np.concatenate([spread, spread]), counts),
                               np.ones(len(prior)))
    joint = half @ half.T
    joint[silent, silent] = np.inf
    covariance = joint[:r, :r]
    infinite = np.flatnonzero(~np.isfinite(np.diag(estimate.covariance)))
    covariance[infinite, infinite] = np.inf
    shape_covariance = np.diag(np.full(size, np.inf))
    places, known = np.flatnonzero(moves)[~held], r + np.flatnonzero(~held)
    shape_covariance[np.ix_(places, places)] = joint[np.ix_(known, known)]
    return replace(estimate, covariance=covariance, shape_covariance=shape_covariance)


def _outer_counts(separable: SeparableRegression, shape: Array) -> list[int]:
    counts = []
    for j in range(separable.joints):
        columns, _ = separable.shape_columns(j, shape, np.zeros(separable.base.rank))
        counts.append(columns.shape[1])
    return counts
