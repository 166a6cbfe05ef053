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
"""Covariance of servo parameters with correlated residuals and an incomplete model."""

from dataclasses import replace

import numpy as np
from robot_identification.arrays import Array
from robot_identification.regression.blocked_regression import block_labels, BlockedRegression
from robot_identification.servos.problem import ServoProblem

LASTING = 0.5    # [s] time during which the covariance takes a model error as constant
SEGMENTS = 12    # parts of the recordings that are left out one after the other


def covariance(problem: ServoProblem, x: Array) -> Array:
    """
    Return the covariance of the parameters in reported units, (10 n + 1, 10 n + 1).

    Three sources of errors are considered. Residuals are correlated in time (Newey and West). An
    error as large as the residuals may be constant for `LASTING` seconds, because a simulation
    that lacks an effect errs in the same direction while a movement lasts. Parameters differ
    between parts of the recordings: the variance of each parameter is at least that of a
    delete-one jackknife over `SEGMENTS` segments, and all are multiplied by the ratio of the
    squared residuals of segments that are left out to those of segments that are fitted.

    Parameters
    ----------
    problem
        The problem at the solution.
    x
        The solution; parameters that are not fitted have the variance NaN.

    References
    ----------
    W. K. Newey and K. D. West, Econometrica 55(3), 1987; `BlockEquations` has those of the
    jackknife.

    """
    residuals, slopes = problem.linearise(x)
    free = problem.free(x)
    left, jacobian = np.concatenate(residuals), np.concatenate(slopes)
    prior = np.diag(problem.prior[free] ** -2)
    flat = jacobian.reshape(-1, len(free))
    bread = np.linalg.inv(flat.T @ flat + prior)
    robust = bread @ (_newey_west(jacobian, left) + _lasting(problem, jacobian) + prior) @ bread
    moved, ratio = _left_out(jacobian, left, prior)
    spread = np.sqrt(np.maximum(1.0, np.diag(moved) / np.diag(robust)) * ratio)
    units = problem.reported(x)
    full = np.full((len(x), len(x)), np.nan)
    full[np.ix_(free, free)] = robust * spread[:, None] * spread
    return full * units[:, None] * units


def _newey_west(jacobian: Array, left: Array) -> Array:
    """Return the covariance of the scores for autocorrelated residuals, (p, p)."""
    scores = np.einsum('knp,kn->kp', jacobian, left)
    lags = _memory(left)
    meat = scores.T @ scores
    for lag in range(1, lags + 1):
        product = scores[lag:].T @ scores[:-lag]
        meat += (1 - lag / (lags + 1)) * (product + product.T)
    return np.asarray(meat)


def _lasting(problem: ServoProblem, jacobian: Array) -> Array:
    """
    Return the covariance of the scores due to lasting errors of the simulation, (p, p).

    The errors have the size of the residuals, which is at least the encoder's rounding: the servo
    rounds positions and its clock differs. They are constant for `LASTING` seconds, a duration
    that was chosen on simulated arms with the model's friction, where intervals without this term
    were three times too narrow.
    """
    rate = np.median([1 / np.median(np.diff(c.t[rows]))
                      for c, rows in zip(problem.courses, problem.rows)])
    length = max(1, round(LASTING * float(rate)))
    sums = np.add.reduceat(jacobian, np.arange(0, len(jacobian), length), axis=0)
    flat = sums.reshape(-1, jacobian.shape[-1])
    gram: Array = flat.T @ flat
    return gram


def _left_out(jacobian: Array, left: Array, prior: Array) -> tuple[Array, float]:
    """
    Return the jackknife covariance (p, p), and the ratio of squared residuals left out to fitted.

    Parameters without a segment are those of one linear step from the solution.
    """
    joints, count = left.shape[1], jacobian.shape[-1]
    regression = BlockedRegression(
        [np.arange(count)] * joints,
        [np.column_stack([jacobian[:, j], left[:, j]]) for j in range(joints)],
        block_labels(np.arange(0.0, len(left)), SEGMENTS))
    equations = replace(regression.equations.at_minimum(), precision=prior)
    missed = regression.left_out_residuals(prior)
    return (equations.covariance(about_mean=True),
            max(1.0, float(np.sum(missed ** 2) / np.sum(left ** 2))))


def _memory(left: Array) -> int:
    """Return the number of lags for the covariance: twice the first with autocorrelation < 0.2."""
    centred = left - left.mean(axis=0)
    power = np.sum(centred ** 2)
    for lag in range(1, len(left) // 10):
        if np.sum(centred[lag:] * centred[:-lag]) < 0.2 * power:
            return 2 * lag
    return len(left) // 5
