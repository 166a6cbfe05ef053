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
"""Friction that differs between recordings, as random effects of the recording."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
import operator

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.dynamics import BaseParameters
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.estimator import (
    Estimator,
    make_estimate,
    residual_autocorrelation,
    ReweightedFit,
    solve,
)
from robot_identification.estimation.prior import Prior
from robot_identification.regression import ReducedRegression, Regression
from robot_identification.regression.blocked_regression import interval_factor

ROUNDS, ITERATIONS = 2, 20
"""Computations of the residuals' autocorrelation, and iterations between them (EM)."""
START = 0.1
"""Initial standard deviation of the effects, relative to the prior's scale of friction."""


@dataclass(frozen=True, eq=False)
class RecordingEffects:
    """
    What differs between the recordings of one arm: deviations of their friction parameters.

    Parameters
    ----------
    normals
        Reduced regression of each recording, whose rows are weighted for the covariance of noise
        and effects.
    values
        Deviation of each recording's parameters from the mean, (recordings, r).
    deviations
        Standard deviation between recordings, by the name of the parameter: root mean square over
        the joints, relative to that of each joint's largest friction parameter of the same unit.

    """

    normals: tuple[ReducedRegression, ...]
    values: Array
    deviations: dict[str, float]

    def describe(self) -> str:
        """Return the standard deviations as a sentence."""
        sizes = ', '.join(f'{name} {size:.0%}' for name, size in self.deviations.items())
        return (f'friction differs between the {len(self.values)} recordings (standard deviation '
                f'relative to the largest parameter of its unit): {sizes}; the intervals contain '
                'this')


def fit_recording_effects(
    regression: Regression, estimate: Estimate, estimator: Estimator,
) -> tuple[Regression, Estimate, RecordingEffects | None]:
    """
    Return regression and estimate with effects of the recordings on friction, and the effects.

    The friction parameters of recording i are beta + b_i, where b_i is normally distributed. Its
    standard deviation is one number for each kind of parameter (Coulomb, viscous, offset, ...),
    relative to the prior's scale of each joint, and maximises the restricted likelihood (REML, by
    expectation maximisation). beta is the generalised least-squares estimate. Its covariance
    contains the variation between recordings, enlarged as for Student's t distribution with the
    degrees of freedom of that variation. A single recording, and estimators that do not work on
    reduced regressions, are returned unchanged.

    `MixedLM` of statsmodels has the same model with one error variance, which it estimates from
    all rows in memory. It takes neither R factors, which have fewer rows than the recordings and
    leave their residuals in the last one, nor one weight and autocorrelation per joint that are
    estimated in turn with the effects.

    Parameters
    ----------
    regression
        The regression problem, with fixed nonlinear friction parameters.
    estimate
        Its estimate without effects.
    estimator
        The estimator.

    References
    ----------
    N. M. Laird, J. H. Ware, "Random-effects models for longitudinal data", Biometrics 38(4), 1982.

    """
    if (not regression.owners[-1] or estimator.own_covariance
            or not estimator.needs_only_factors):
        return regression, estimate, None
    index, kinds, scale = _effect_parameters(regression.base)
    if not len(index):
        return regression, estimate, None
    normals = regression.reduced_per_recording()
    names, counts = np.unique(kinds, return_counts=True)
    spread, fitted = np.full(len(names), START), estimate
    for _ in range(ROUNDS):
        for _ in range(ITERATIONS):
            variances = (spread[np.searchsorted(names, kinds)] * scale) ** 2
            whitened = [_whiten(each, index, variances, fitted.weights) for each in normals]
            fitted = refit(reduce(operator.add, whitened), regression, fitted, estimator)
            means, squares = _predict(normals, index, variances, fitted)
            spread = np.sqrt([np.mean((squares / scale ** 2)[:, kinds == name])
                              for name in names])
        own = np.zeros((len(normals), len(fitted.values)))
        own[:, index] = means
        fitted = replace(fitted, autocorrelation_factor=residual_autocorrelation(
            regression, fitted.values + own[regression.owners]))
    widen = interval_factor(counts * (len(normals) - 1))
    variances = ((widen * spread)[np.searchsorted(names, kinds)] * scale) ** 2
    whitened = [_whiten(each, index, variances, fitted.weights) for each in normals]
    fitted = refit(reduce(operator.add, whitened), regression, fitted, estimator)
    if estimate.shape_covariance.size:    # the part that is due to unknown nonlinear parameters
        weights = estimator.weights(regression, ReweightedFit.of(regression.normal))
        fixed = make_estimate(
            estimate.estimator, regression.normal, weights,
            solve(regression.normal, weights), estimate.noise,
            estimate.autocorrelation_factor, status=estimate.status, iterations=0)
        fitted = replace(fitted, covariance=fitted.covariance
                         + np.nan_to_num(estimate.covariance - fixed.covariance))
    largest = _largest_alike(regression.base, index, fitted.values)
    sizes = {str(name): float(np.sqrt(np.mean(squares[:, kinds == name]) / np.mean(
        largest[kinds == name] ** 2))) for name in names}
    return (replace(regression, reduced=reduce(operator.add, whitened)),
            replace(fitted, shape_covariance=estimate.shape_covariance),
            RecordingEffects(tuple(whitened), own, sizes))


def _effect_parameters(base: BaseParameters) -> tuple[IndexArray, Array, Array]:
    """Return index, name and scale of the friction parameters that act on one joint, (k,) each."""
    structure = base.structure
    scales = np.diag(Prior.from_urdf(structure).transform)
    alone = np.sum([np.isin(np.arange(base.rank), c) for c in base.joint_columns], axis=0) == 1
    index = np.flatnonzero((base.columns >= structure.friction_slice.start) & alone)
    return (index, np.array([base.labels[i].rsplit('.', 1)[-1] for i in index]),
            scales[base.columns[index]])


def _largest_alike(base: BaseParameters, index: IndexArray, values: Array) -> Array:
    """Return the largest friction parameter of the same joint and unit as each effect, (k,)."""
    groups = [(base.labels[i].rsplit('.', 1)[0], base.units[i]) for i in index]
    return np.array([max(max(abs(values[k]) for k, other in zip(index, groups) if other == group),
                         np.finfo(float).tiny) for group in groups])


def _joint_effects(normal: ReducedRegression, index: IndexArray, joint: int
                   ) -> tuple[IndexArray, Array, Array]:
    """Return which effects act on a joint, its factor [columns, torque], and their columns."""
    columns, factor = normal.base.joint_columns[joint], normal.factors[joint]
    own = np.flatnonzero(np.isin(index, columns))
    return own, factor, factor[:, np.searchsorted(columns, index[own])]


def _whiten(normal: ReducedRegression, index: IndexArray, variances: Array,
            weights: Array) -> ReducedRegression:
    """
    Return a recording's factors F times the inverse root of I + Z D Z' w^2, for each joint.

    Z are the columns of the effects in F, D their variances, and w the weight of the joint. With
    Z = Q R, I + Z D Z' w^2 = I + Q S Q', S = w^2 R D R', and only a small matrix has a root.
    """
    factors = []
    for joint, weight in enumerate(weights):
        own, factor, columns = _joint_effects(normal, index, joint)
        if len(own):
            basis, small = np.linalg.qr(columns)
            sizes, vectors = np.linalg.eigh(weight ** 2 * small * variances[own] @ small.T)
            turned = basis @ vectors
            shrink = 1 / np.sqrt(1 + np.maximum(sizes, 0.0)) - 1
            factor = factor + (turned * shrink) @ (turned.T @ factor)
        factors.append(factor)
    return replace(normal, factors=tuple(factors))


def refit(normal: ReducedRegression, regression: Regression, last: Estimate,
          estimator: Estimator) -> Estimate:
    """
    Return the estimate from another reduced regression, with the last one's autocorrelation.

    Parameters
    ----------
    normal
        The reduced regression, of a part of the rows or with other weights of rows.
    regression
        The regression problem.
    last
        Its estimate.
    estimator
        The estimator.

    """
    reweighted = ReweightedFit.of(normal, 1 / last.noise)
    weights = estimator.weights(replace(regression, reduced=normal), reweighted)
    return replace(make_estimate(
        last.estimator, normal, weights, solve(normal, weights), reweighted.deviations,
        last.autocorrelation_factor, status=last.status, iterations=last.iterations),
        equal_weights=last.equal_weights, interval_doubt=last.interval_doubt)


def _predict(normals: Sequence[ReducedRegression], index: IndexArray, variances: Array,
             fitted: Estimate) -> tuple[Array, Array]:
    """
    Return the conditional means of the effects and of their squares, (recordings, k) each.

    With residuals e = z - X beta, A = inv(w^2 Z'Z + inv(D)) and C the covariance of beta, the mean
    is w^2 A Z'e and the covariance A + w^4 A Z'X C X'Z A.
    """
    means, squares = np.zeros((2, len(normals), len(index)))
    covariance = np.where(np.isfinite(fitted.covariance), fitted.covariance, 0.0)
    for i, normal in enumerate(normals):
        for joint, weight in enumerate(fitted.weights):
            own, factor, columns = _joint_effects(normal, index, joint)
            chosen = normal.base.joint_columns[joint]
            inverse = np.linalg.inv(weight ** 2 * columns.T @ columns
                                    + np.diag(1 / np.maximum(variances[own], 1e-300)))
            gain = weight ** 2 * inverse @ columns.T
            spread = gain @ factor[:, :-1]
            means[i, own] = gain @ factor @ np.append(-fitted.values[chosen], 1.0)
            squares[i, own] = means[i, own] ** 2 + np.diag(inverse) + np.sum(
                spread @ covariance[np.ix_(chosen, chosen)] * spread, axis=1)
    return means, squares
