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

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.servos.problem import ServoProblem

LASTING = 0.5    # [s] time during which the covariance takes a model error as constant


def covariance(problem: ServoProblem, x: Array) -> Array:
    """Return the covariance of x for autocorrelated residuals (Newey, West 1987)."""
    residuals, slopes = problem.linearise(x)
    free = problem.free(x)
    left, jacobian = np.concatenate(residuals), np.concatenate(slopes)
    scores = np.einsum('knp,kn->kp', jacobian, left)
    lags = _memory(left)
    meat = scores.T @ scores
    for lag in range(1, lags + 1):
        product = scores[lag:].T @ scores[:-lag]
        meat += (1 - lag / (lags + 1)) * (product + product.T)
    meat += _lasting(problem, jacobian)
    prior = np.diag(problem.prior[free] ** -2)
    flat = jacobian.reshape(-1, len(free))
    bread = np.linalg.inv(flat.T @ flat + prior)
    full = np.full((len(x), len(x)), np.nan)
    full[np.ix_(free, free)] = bread @ (meat + prior) @ bread
    units = problem.reported(x)
    return full * units[:, None] * units


def _lasting(problem: ServoProblem, jacobian: Array) -> Array:
    rate = np.median([1 / np.median(np.diff(c.t[rows]))
                      for c, rows in zip(problem.courses, problem.rows)])
    length = max(1, round(LASTING * float(rate)))
    starts = np.arange(0, len(jacobian), length)
    sums = np.add.reduceat(jacobian * (problem.floor / problem.scale)[:, None], starts, axis=0)
    flat = sums.reshape(-1, jacobian.shape[-1])
    gram: Array = flat.T @ flat
    return gram


def _memory(left: Array) -> int:
    """Return the number of lags for the covariance: twice the first with autocorrelation < 0.2."""
    centred = left - left.mean(axis=0)
    power = np.sum(centred ** 2)
    for lag in range(1, len(left) // 10):
        if np.sum(centred[lag:] * centred[:-lag]) < 0.2 * power:
            return 2 * lag
    return len(left) // 5
