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
"""Base class of the estimators with a quadratic cost, and iteratively reweighted least squares."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from robot_identification.arrays import Array, IndexArray, svd
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK, RANK_DEFICIENT
from robot_identification.estimation.variable_projection import (
    best_shape,
    RANK_TOLERANCE,
    with_shape_uncertainty,
)
from robot_identification.regression import ReducedRegression, Regression
from robot_identification.regression.blocked_regression import autocorrelation_factor
from robot_identification.regression.separable import SeparableRegression

AUTO = 'auto'
"""Name that stands for model selection instead of an estimator."""
MAX_ITERATIONS = 50
CONVERGED = 1e-6
"""Largest relative difference of weights and reciprocal residual deviations at convergence."""
SHAPE_ITERATIONS = 4
SHAPE_CONVERGED = 1e-2
"""Largest change of the logarithm of a nonlinear friction parameter at convergence."""


@dataclass(frozen=True, eq=False)
class _Solution:
    """Minimiser of a weighted quadratic cost; beta = inverse @ weighted torques."""

    beta: Array
    inverse: Array
    rank: int
    unexcited: IndexArray


@dataclass(frozen=True, eq=False)
class ReweightedFit:
    """
    Result of iteratively reweighted least squares with one weight per joint.

    Parameters
    ----------
    solution
        The minimiser.
    weights
        Reciprocal standard deviations of the last iteration, (n,).
    deviations
        Unbiased standard deviations of its residuals, (n,) [N m or N].
    iterations
        Number of iterations.
    converged
        Whether weights and deviations agree.

    """

    solution: _Solution
    weights: Array
    deviations: Array
    iterations: int
    converged: bool

    @classmethod
    def of(cls, normal: ReducedRegression, start: Array | None = None) -> ReweightedFit:
        """
        Return the fit whose joint weights are the reciprocal deviations of its residuals (IRLS).

        Parameters
        ----------
        normal
            The regression problem of n joints.
        start
            Initial weights, (n,); ones if None.

        """
        weights = np.ones(normal.joints) if start is None else start
        for iteration in range(1, MAX_ITERATIONS + 1):
            solution = solve(normal, weights)
            deviations = _residual_deviations(normal, weights, solution)
            converged = bool(np.max(np.abs(weights * deviations - 1)) < CONVERGED)
            if converged or iteration == MAX_ITERATIONS:
                break
            weights = 1 / deviations
        return cls(solution, weights, deviations, iteration, converged)


@dataclass(frozen=True)
class EstimatorInfo:
    """
    Requirements and capabilities of an estimator: a row of the table of methods.

    Parameters
    ----------
    needs
        Requirements besides recordings of an excited arm; empty if there are none.
    cost
        Cost of one fit, as text.
    nonlinear
        Whether it estimates nonlinear friction parameters.
    online
        Whether it also runs recursively while the arm moves.
    control_law
        Whether it needs the reference and the control law of the recording.
    bounds
        Whether it accepts bounds on the base parameters. Limits of masses, centres of mass and
        extents belong to the consistent model, with every estimator.
    consistent
        Computation of the consistent model: 'fitted' to the same rows under the constraints, or
        'nearest' to the free estimate in the metric of its covariance.
    purpose
        When to use it.

    """

    needs: str = ''
    cost: str = 'one pass over the rows'
    nonlinear: bool = True
    online: bool = False
    control_law: bool = False
    bounds: bool = False
    consistent: str = 'fitted'
    purpose: str = ''

    def row(self) -> dict[str, str]:
        """Return the cells of the row by column title."""
        yes = {True: 'yes', False: '-'}
        return {
            'friction': 'linear and nonlinear' if self.nonlinear else 'linear',
            'online': yes[self.online], 'control law': yes[self.control_law],
            'bounds': yes[self.bounds], 'consistent model': self.consistent,
            'needs': self.needs or '-', 'cost': self.cost, 'take it when': self.purpose}


AUTO_SUMMARY = 'chooses friction model, estimator and delays by cross-validation'
AUTO_FEATURES = EstimatorInfo(
    needs='some seconds of motion for each of five blocks', cost='some hundred fits',
    purpose='the best method is unknown')


class Estimator(ABC):
    """
    Least squares with one weight per joint, which each estimator defines.

    Attributes
    ----------
    name
        Key in `ESTIMATORS`.
    summary
        One line for tables.
    info
        Requirements and capabilities.
    own_covariance
        Whether the covariance is not that of weighted least squares; it is then conditional on the
        nonlinear friction parameters.
    equal_weights
        Whether all joints have the same weight, also in the consistent model.
    candidate
        Whether model selection ('auto') tries it.
    needs_repeats
        Whether it needs the torque noise, measured from the differences between the periods of a
        repeated motion.
    interval_doubt
        Why its confidence intervals are too narrow; empty if they are not.
    needs_only_factors
        Whether R factors and residuals suffice if the friction has no nonlinear parameters.

    """

    name: ClassVar[str]
    summary: ClassVar[str]
    info: ClassVar[EstimatorInfo]
    own_covariance: ClassVar[bool] = False
    equal_weights: ClassVar[bool] = False
    candidate: ClassVar[bool] = False
    needs_repeats: ClassVar[bool] = False
    interval_doubt: ClassVar[str] = ''
    needs_only_factors: ClassVar[bool] = False

    def weights(self, regression: Regression, reweighted: ReweightedFit) -> Array:
        """
        Return the weight of each joint's rows, (n,).

        Parameters
        ----------
        regression
            The regression problem.
        reweighted
            The iteratively reweighted fit, whose weights are the default.

        """
        return reweighted.weights

    def noise(self, regression: Regression, reweighted: ReweightedFit) -> tuple[Array, Array]:
        """
        Return standard deviation and autocorrelation factor of the joints' noise, (n,) each.

        The covariance of the estimate is computed from them. By default they are those of the
        residuals of the reweighted fit. Residuals of the estimator's own fit are not used, because
        noisy joints may dominate it and increase the residuals of the other joints.

        Parameters
        ----------
        regression, reweighted
            As for `weights`.

        """
        return reweighted.deviations, residual_autocorrelation(regression,
                                                               reweighted.solution.beta)

    def fit(self, regression: Regression) -> Estimate:
        """
        Return the estimate of the base parameters.

        Parameters
        ----------
        regression
            The regression problem.

        Raises
        ------
        EstimationError
            The recordings do not meet the requirements of the estimator.

        """
        estimate = self._fit(regression) if regression.fixed else self._fit_shape(regression)
        return replace(estimate, equal_weights=self.equal_weights)

    def _fit(self, regression: Regression) -> Estimate:
        normal = regression.normal
        reweighted = ReweightedFit.of(normal)
        weights = self.weights(regression, reweighted)
        noise, factors = self.noise(regression, reweighted)
        return make_estimate(self.name, normal, weights, solve(normal, weights), noise, factors,
                             status=OK if reweighted.converged else NOT_CONVERGED,
                             iterations=reweighted.iterations)

    def _fit_shape(self, regression: Regression) -> Estimate:
        """Return the estimate, computing nonlinear friction parameters and weights alternately."""
        separable = SeparableRegression(regression)
        best = best_shape(separable, np.ones(separable.joints), regression.start)
        for _ in range(SHAPE_ITERATIONS):
            last = best
            fixed = separable.with_friction_shape(last.shape)
            weights = self.weights(fixed, ReweightedFit.of(fixed.normal))
            best = best_shape(separable, weights, start=last.shape)
            if np.max(np.abs(np.log(best.shape / last.shape))) < SHAPE_CONVERGED:
                break
        fixed = separable.with_friction_shape(best.shape)
        estimate = self._fit(fixed)
        return estimate if self.own_covariance else with_shape_uncertainty(
            estimate, separable,
            self.weights(fixed, ReweightedFit.of(fixed.normal)), best)


def solve(normal: ReducedRegression, weights: Array) -> _Solution:
    """
    Return the minimiser of the weighted squared residuals.

    If the data do not determine all parameters, the minimiser with the smallest norm in scaled
    parameters is returned.

    Parameters
    ----------
    normal
        The regression problem of n joints.
    weights
        Reciprocal standard deviations, (n,).

    """
    matrix, target = normal.stacked(weights)
    norms = np.linalg.norm(matrix, axis=0)
    scale = np.where(norms > 0, norms, 1.0)
    left, singular, right = svd(matrix / scale)
    rank = int(np.sum(singular > RANK_TOLERANCE * singular[0]))
    inverse = (right[:rank].T / singular[:rank]) @ left[:, :rank].T / scale[:, None]
    unexcited = np.flatnonzero(np.linalg.norm(right[rank:], axis=0) > 1e-4)
    return _Solution(inverse @ target, inverse, rank, unexcited)


def _residual_deviations(normal: ReducedRegression, weights: Array, solution: _Solution) -> Array:
    """
    Return unbiased standard deviations of each joint's residuals, (n,).

    The degrees of freedom used by the parameters are attributed to the joints by the trace of each
    joint's block of the hat matrix.
    """
    ends = np.cumsum([len(factor) for factor in normal.factors])
    hat = normal.stacked(weights)[0] * solution.inverse.T
    used = np.array([np.sum(part) for part in np.split(hat, ends[:-1])])
    rss = normal.rss(solution.beta)
    floor = np.finfo(float).eps * np.sqrt(normal.energy() / normal.rows)
    free = np.maximum(normal.rows - used, 1.0)
    deviations: Array = np.maximum(np.sqrt(rss / free), np.maximum(floor, np.finfo(float).tiny))
    # the weight of a joint without effort has no influence
    return np.where(normal.measured, deviations, 1.0)


def make_estimate(name: str, normal: ReducedRegression, weights: Array, solution: _Solution,
                  noise: Array, factors: Array, *, status: str, iterations: int) -> Estimate:
    """
    Return the estimate of a least-squares solution.

    Parameters
    ----------
    name
        Name of the estimator.
    normal, weights, solution
        The regression problem, the weights of its joints (n,), and the solution.
    noise, factors
        Standard deviation and autocorrelation factor of each joint's noise, (n,) each.
    status, iterations
        Convergence status and number of iterations.

    """
    base = normal.base
    half = solution.inverse * np.repeat(weights * noise * np.sqrt(factors),
                                        [len(factor) for factor in normal.factors])
    covariance = half @ half.T
    labels = tuple(base.labels[i] for i in solution.unexcited)
    if labels:
        status = RANK_DEFICIENT
        covariance[solution.unexcited, solution.unexcited] = np.inf
    singular = svd(normal.stacked(np.ones(normal.joints))[0])[1]
    return Estimate(
        estimator=name, base=base, values=solution.beta, covariance=covariance, noise=noise,
        autocorrelation_factor=factors, rows=normal.rows,
        condition_number=float(singular[0] / singular[solution.rank - 1])
        if not labels else float('inf'),
        rank=solution.rank, unexcited=labels, status=status,
        message=_message(status, labels, base.rank, solution.rank, iterations),
        iterations=iterations, **_residual_sizes(normal, solution.beta))


def make_estimate_at(name: str, fixed: Regression, reweighted: ReweightedFit, beta: Array,
                     status: str, iterations: int) -> Estimate:
    """
    Return the estimate of parameters from a method other than least squares.

    The covariance is that of least squares. Its noise is computed from the residuals of these
    parameters, and is at least that of the reweighted fit.

    Parameters
    ----------
    name
        Name of the estimator.
    fixed
        The regression problem, with given nonlinear friction parameters.
    reweighted
        Its iteratively reweighted fit.
    beta
        The parameters, (r,).
    status, iterations
        Convergence status and number of iterations.

    """
    normal = fixed.normal
    noise = np.maximum(np.sqrt(normal.rss(beta) / normal.rows), reweighted.deviations)
    return make_estimate(name, normal, reweighted.weights, replace(reweighted.solution, beta=beta),
                         noise, residual_autocorrelation(fixed, beta), status=status,
                         iterations=iterations)


def residual_autocorrelation(regression: Regression, beta: Array) -> Array:
    """Return the autocorrelation factor of each joint's residuals, (n,); beta as for these."""
    return autocorrelation_factor(regression.residuals_per_piece(beta),
                                  int(regression.normal.rows.max()))


def with_values(estimate: Estimate, normal: ReducedRegression, values: Array,
                covariance: Array, **changes: Any) -> Estimate:
    """
    Return an estimate with other values and covariance, and the residuals of these values.

    Parameters
    ----------
    estimate
        The estimate that provides everything else.
    normal
        The regression problem.
    values, covariance
        (r,) and (r, r).
    **changes
        Further fields of `Estimate` that differ.

    """
    return replace(estimate, values=values, covariance=covariance,
                   **_residual_sizes(normal, values), **changes)


def _residual_sizes(normal: ReducedRegression, values: Array) -> dict[str, Any]:
    """Return RMS and relative size of each joint's residuals as fields of an estimate."""
    rss, energy = normal.rss(values), normal.energy()
    relative = np.sqrt(rss / np.where(energy > 0, energy, np.inf))
    return {'residual_rms': np.sqrt(rss / normal.rows),
            'relative_error': np.where(normal.measured, relative, np.nan)}


def _message(status: str, labels: tuple[str, ...], count: int, rank: int,
             iterations: int) -> str:
    if status == RANK_DEFICIENT:
        return (f'the motion excites {rank} of {count} base parameters; not determined by the '
                f'data: {", ".join(labels)}; move the joints concerned (robot-identification '
                f'excite), or rely on the prior of the consistent model for them')
    if status == NOT_CONVERGED:
        return (f'the weights do not converge in {iterations} iterations; one joint is probably '
                f'fitted exactly: use the estimator ols or record more data')
    return f'all {count} base parameters are determined by the data'
