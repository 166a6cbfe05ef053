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
"""Variable projection: least-squares fit of the nonlinear friction parameters."""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
from robot_identification.arrays import Array, IndexArray, ReadOnlyArrays
from robot_identification.estimation.estimate import Estimate
from robot_identification.regression.reduced_regression import triangle
from robot_identification.regression.separable import SeparableRegression
from scipy.linalg import qr, solve_triangular
from scipy.optimize import least_squares

RANK_TOLERANCE = 1e-8
"""Singular value or diagonal element of R, relative to the largest one, up to which it counts as
zero. Columns have unit norm, so that rounding errors are far below."""
GRID = {0: 1, 1: 7, 2: 5}
"""Initial grid points between the bounds per nonlinear parameter, by their number in the model."""
SWEEPS = 2
"""Number of times that every grid point is tried again for each actuator."""
NEAR_BOUND = 1e-3
"""Fraction of the range within which a parameter counts as on its bound."""


@dataclass(frozen=True, eq=False)
class _ShapeFit(ReadOnlyArrays):
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
    joints
        (rows,) the joint of each row.
    matrix
        (rows, r + m s), weighted columns of the linear parameters and of the logarithms of the
        nonlinear ones before the elimination.

    """

    residual: Array
    jacobian: Array
    beta: Array
    joints: IndexArray
    matrix: Array

    @property
    def joint_cost(self) -> Array:
        """Cost of each joint, (n,)."""
        return np.bincount(self.joints, self.residual ** 2).astype(float)


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
        The regression problem.
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
    joints = np.repeat(np.arange(len(factors)), [len(f.target) for f in factors])
    if not gradient:
        return _Projection(residual, np.zeros((len(residual), 0)), beta, joints, matrix)

    inner, outer = [], []
    for j, (w, f) in enumerate(zip(weights, factors)):
        change, indices = separable.shape_columns(j, shape, beta)
        change = w * change * shape.ravel()[indices]
        first, second = f.basis.T @ change, f.friction_basis.T @ change
        remainder = triangle(change - f.basis @ first - f.friction_basis @ second)
        inner.append(np.vstack([first, second]) @ np.eye(shape.size)[indices])
        outer.append(remainder @ np.eye(shape.size)[indices])
    inside, outside = np.vstack(inner), np.vstack(outer)
    jacobian = np.vstack([inside - left @ (left.T @ inside), outside])
    full = np.block([[matrix, inside], [np.zeros((len(outside), matrix.shape[1])), outside]])
    joints = np.append(joints, np.repeat(np.arange(len(outer)), list(map(len, outer))))
    return _Projection(np.append(residual, np.zeros(len(outside))), jacobian, beta, joints, full)


class _Search:
    """
    Costs of shapes and descent from a shape, within bounds of the logarithms.

    Parameters
    ----------
    separable, weights, linear_bounds
        As for `project`.
    limits
        Bounds of the logarithms, (m, s, 2).

    """

    def __init__(self, separable: SeparableRegression, weights: Array,
                 linear_bounds: LinearBounds | None, limits: Array) -> None:
        self.lower, self.upper = limits[..., 0], limits[..., 1]
        self.evaluations = 0

        def evaluate(logarithms: bytes, gradient: bool) -> _Projection:
            self.evaluations += 1
            shape = np.exp(np.frombuffer(logarithms).reshape(self.lower.shape))
            return project(separable, shape, weights, gradient, linear_bounds)

        self._evaluate = lru_cache(maxsize=1)(evaluate)    # for residual, then Jacobian

    def at(self, logarithms: Array, gradient: bool = True) -> _Projection:
        """Return the projection at a shape, given as logarithms."""
        return self._evaluate(np.ascontiguousarray(logarithms).tobytes(), gradient)

    def cost(self, logarithms: Array) -> float:
        """Return the cost of a shape."""
        return float(np.sum(self.at(logarithms, gradient=False).residual ** 2))

    def descend(self, start: Array) -> tuple[Array, float]:
        """Return the local minimum near a start, (m, s), and its cost."""
        lower, upper = self.lower.ravel(), self.upper.ravel()
        margin = 1e-6 * (upper - lower)
        scale = max(float(np.sqrt(self.cost(start))), np.finfo(float).tiny)
        result = least_squares(
            lambda x: self.at(x).residual / scale,
            np.clip(start.ravel(), lower + margin, upper - margin),
            jac=lambda x: self.at(x).jacobian / scale, bounds=(lower, upper), method='trf',
            ftol=1e-9, xtol=1e-5, gtol=1e-11, max_nfev=60)
        return result.x.reshape(start.shape), float(2 * result.cost * scale ** 2)


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
        The regression problem.
    weights
        Weights of the joints' rows, (n,).
    start
        Initial shape, (m, s), instead of the global search.
    bounds
        As for `project`.
    limits
        Bounds of the logarithms of the nonlinear parameters, (m, s, 2); the model's if None.

    """
    structure = separable.structure
    search = _Search(separable, weights, bounds,
                     np.log(structure.shape_bounds) if limits is None else limits)
    if start is not None:
        best, cost = search.descend(np.log(start))
    else:
        best, cost = _search_globally(search, structure.arm.transmission != 0)
    near = NEAR_BOUND * (search.upper - search.lower)
    active = structure.active_shape
    return _ShapeFit(np.where(active, np.exp(best), structure.shape), cost,
                     (best - search.lower < near) | (search.upper - best < near) | ~active,
                     search.evaluations)


def _search_globally(search: _Search, acts: Array) -> tuple[Array, float]:
    """
    Return the logarithms of the best shape (m, s) from several starts, and its cost.

    Parameters
    ----------
    search
        The costs.
    acts
        Whether an actuator acts on a joint, (m, n) bool.

    """
    m, s = search.lower.shape
    points = GRID.get(s, 3)
    grid = [search.lower + np.array(fraction) * (search.upper - search.lower)
            for fraction in product((np.arange(points) + 0.5) / points, repeat=s)]
    costs = np.array([search.at(point, gradient=False).joint_cost for point in grid])
    own = np.argmin(costs @ acts.T, axis=0)                     # (m,)
    mixed = np.array([grid[point][e] for e, point in enumerate(own)])
    common = grid[int(np.argmin(costs.sum(axis=1)))]
    best, cost = min(map(search.descend, (mixed, common)), key=itemgetter(1))
    for _ in range(SWEEPS):
        improved, lowest = best.copy(), cost
        for e, point in product(range(m), grid):
            trial = improved.copy()
            trial[e] = point[e]
            value = search.cost(trial)
            if value < lowest * (1 - 1e-9):
                improved, lowest = trial, value
        if lowest >= cost:
            break
        best, cost = min((best, cost), search.descend(improved), key=itemgetter(1))
    return best, cost


def with_shape_uncertainty(estimate: Estimate, separable: SeparableRegression, weights: Array,
                           best: _ShapeFit) -> Estimate:
    """
    Return the estimate with the joint covariance of linear and nonlinear parameters.

    A nonlinear parameter on a bound is not known exactly: its logarithm has the standard deviation
    of a uniform distribution between the bounds.

    Parameters
    ----------
    estimate
        The estimate at the best shape.
    separable, weights, best
        The problem, the weights of the joints' rows (n,), and its solution.

    """
    projection = project(separable, best.shape, weights)
    r, size = len(projection.beta), best.shape.size
    structure = separable.structure
    searched = np.broadcast_to(structure.active_shape, best.shape.shape).ravel()
    bounded = best.bounded.ravel()[searched]
    free = np.concatenate([np.ones(r, dtype=bool), searched])
    ranges = np.diff(np.log(structure.shape_bounds), axis=-1).ravel()[searched][bounded]
    prior = np.zeros((np.sum(bounded), np.sum(free)))    # prior rows of unit deviation
    prior[np.arange(len(prior)), r + np.flatnonzero(bounded)] = np.sqrt(12) / ranges
    matrix = np.vstack([projection.matrix[:, free], prior])
    spread = (weights / estimate.weights)[projection.joints]
    norms = np.linalg.norm(matrix, axis=0)
    silent = norms == 0
    norms[silent] = 1.0
    inverse = np.linalg.pinv(matrix / norms, rcond=RANK_TOLERANCE) / norms[:, None]
    half = inverse * np.append(spread, np.ones(len(prior)))
    joint = half @ half.T
    joint[silent, silent] = np.inf
    covariance = joint[:r, :r]
    infinite = np.flatnonzero(~np.isfinite(np.diag(estimate.covariance)))
    covariance[infinite, infinite] = np.inf
    shape_covariance = np.diag(np.full(size, np.inf))
    positions, known = np.flatnonzero(searched)[~bounded], r + np.flatnonzero(~bounded)
    shape_covariance[np.ix_(positions, positions)] = joint[np.ix_(known, known)]
    return replace(estimate, covariance=covariance, shape_covariance=shape_covariance)
