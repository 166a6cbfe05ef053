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
"""Robust regression: Huber's loss by iterative re-weighting of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robot_identification.errors import ConfigurationError
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK
from robot_identification.estimation.estimator import (
    Estimator,
    iteratively_reweight,
    make_estimate,
    solve,
    with_values,
)
from robot_identification.estimation.estimator_info import EstimatorInfo, NEAREST
from robot_identification.estimation.spikes import without_spikes
from robot_identification.regression import NormalForm, Regression
from robot_identification.regression.normal_form import triangle
from robot_identification.regression.packing import joint_columns

ROUNDS = 60
CONVERGED = 1e-5
"""Largest change of a parameter in standard deviations."""
NORMAL = 1.4826


class Huber(Estimator):
    """
    Rows count by their square while small and by their size beyond.

    A collision, a slip or sticking at a reversal does not bend the model. Isolated spikes of the
    torque are taken out before the decimation, which would smear them over many rows.

    The scale of each joint is the median absolute residual.

    Parameters
    ----------
    threshold
        In standard deviations of a row's noise, where a row starts to count less; 1.345 loses 5 %
        efficiency on Gaussian noise.

    References
    ----------
    P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics
    35(1), 1964.

    """

    name = 'huber'
    candidate = True
    summary = 'robust: Huber loss by re-weighting rows; for outliers, collisions, sticking'
    info = EstimatorInfo(cost='one pass, then some ten rounds over kept rows', consistent=NEAREST,
                         purpose='there are outliers: collisions, slips, sticking')
    own_covariance = True

    def __init__(self, threshold: float = 1.345) -> None:
        if not threshold > 0:
            raise ConfigurationError(f'the threshold of huber must be positive, not {threshold}')
        self.threshold = threshold

    def fit(self, regression: Regression) -> Estimate:
        """
        Estimate the base parameters.

        Parameters
        ----------
        regression
            The problem.

        """
        cleaned, count = without_spikes(regression)
        found = super().fit(cleaned)
        if count and found.status == OK:
            found = replace(found, message=f'{found.message}; {count} isolated spikes of the '
                                           'torque were left out')
        return found

    def _fit(self, regression: Regression) -> Estimate:
        normal = regression.normal
        columns = joint_columns(regression.base)
        rows = regression.rows()
        reweighted = iteratively_reweight(normal)
        _, factors = self.noise(regression, reweighted)
        beta, status, iteration = reweighted.solution.beta, NOT_CONVERGED, 0
        while status != OK and iteration < ROUNDS:
            iteration += 1
            errors = [r[:, -1] - r[:, :-1] @ beta[c] for r, c in zip(rows, columns)]
            scale = np.array([NORMAL * np.median(np.abs(e)) for e in errors])
            scale = np.maximum(scale, np.finfo(float).eps * np.sqrt(normal.energy() / normal.rows)
                               + np.finfo(float).tiny)
            scale[~normal.measured] = 1.0    # of zero rows: any weight will do
            counts = [np.minimum(1.0, self.threshold * s / np.maximum(np.abs(e), 1e-300))
                      for e, s in zip(errors, scale)]
            robust = NormalForm(normal.base, columns, tuple(
                triangle(np.sqrt(c)[:, None] * r) for c, r in zip(counts, rows)), normal.rows)
            solution = solve(robust, 1 / scale)
            deviations = np.linalg.norm(solution.inverse, axis=1)
            change = np.max(np.abs(solution.beta - beta) / np.maximum(deviations, 1e-300))
            beta = solution.beta
            if change < CONVERGED:
                status = OK
        noise = np.array([
            np.sqrt(np.mean((c * e) ** 2)) / max(np.mean(np.abs(e) < self.threshold * s), 0.1)
            for e, c, s in zip(errors, counts, scale)])
        noise[~normal.measured] = 1.0
        plain = make_estimate(self.name, normal, 1 / scale, solve(normal, 1 / scale), noise,
                              factors, status, iteration)
        share = np.mean([np.mean(c < 1) for c in counts])
        found = with_values(plain, normal, beta, plain.covariance)
        if status == OK and not plain.unexcited:
            found = replace(found, message=f'{found.message}; {share:.0%} of the rows count less')
        return replace(found, own_values=True)
