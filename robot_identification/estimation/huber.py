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

from dataclasses import replace

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError
from robot_identification.estimation import estimator
from robot_identification.estimation.estimate import Estimate, NOT_CONVERGED, OK
from robot_identification.regression import ReducedRegression, Regression
from robot_identification.regression.reduced_regression import triangle
from robot_identification.signals import Samples
from scipy.ndimage import median_filter

MAX_ITERATIONS = 60
CONVERGED = 1e-5
"""Largest change of a parameter in the last iteration, in standard deviations."""
MAD_TO_STD = 1.4826
"""Standard deviation of a Gaussian over its median absolute deviation."""
SPIKE_WIDTH = 11
"""Number of samples of the moving median, which removes spikes of up to five samples. Steps and
longer contacts remain; the loss limits their influence."""
SPIKE_DEVIATIONS = 6.0
"""Deviations from the moving median above which a sample is a spike; one Gaussian sample in 500
million exceeds it."""
LEVEL, QUANTILE = 0.9, 1.6449
"""Quantile from which the deviation is computed, and its value for a unit Gaussian: a coarsely
quantised torque is constant at most samples, so its median deviation is 0."""


class Huber(estimator.Estimator):
    """
    Robust regression with the Huber loss: quadratic for small residuals, linear for large ones.

    Collisions, slips and sticking at reversals have limited influence. Isolated spikes of the
    torque are removed before the decimation, which would spread them over many rows. The scale of
    each joint is its median absolute residual.

    Parameters
    ----------
    threshold
        Residual above which the loss is linear, in standard deviations of the noise; 1.345 has
        95 % efficiency for Gaussian noise.

    References
    ----------
    P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics
    35(1), 1964.

    """

    name = 'huber'
    candidate = True
    summary = 'robust: Huber loss by re-weighting rows; for outliers, collisions, sticking'
    info = estimator.EstimatorInfo(
        consistent='nearest', cost='one pass, then some ten rounds over kept rows',
        purpose='there are outliers: collisions, slips, sticking')
    own_covariance = True

    def __init__(self, threshold: float = 1.345) -> None:
        if not threshold > 0:
            raise ConfigurationError(f'the threshold of huber must be positive, not {threshold}')
        self.threshold = threshold

    def fit(self, regression: Regression) -> Estimate:
        """
        Return the estimate of the base parameters.

        Parameters
        ----------
        regression
            The regression problem.

        """
        cleaned, count = remove_spikes(regression)
        estimate = super().fit(cleaned)
        removed = f'; {count} isolated spikes of the torque were removed'
        return (replace(estimate, message=estimate.message + removed)
                if count and estimate.status == OK else estimate)

    def _fit(self, regression: Regression) -> Estimate:
        normal = regression.normal
        rows = [part[part.any(axis=1)] if part.any() else part for part in regression.rows()]
        columns = regression.base.joint_columns
        reweighted = estimator.ReweightedFit.of(normal)
        _, factors = self.noise(regression, reweighted)
        floor = np.finfo(float).eps * np.sqrt(normal.energy() / normal.rows) + np.finfo(float).tiny
        beta, status, iteration = reweighted.solution.beta, NOT_CONVERGED, 0
        while status != OK and iteration < MAX_ITERATIONS:
            iteration += 1
            errors = [r[:, -1] - r[:, :-1] @ beta[c] for r, c in zip(rows, columns)]
            scale = np.maximum([MAD_TO_STD * np.median(np.abs(e)) for e in errors], floor)
            scale[~normal.measured] = 1.0    # without effort: no influence
            weights = [np.minimum(1.0, self.threshold * s / np.maximum(np.abs(e), 1e-300))
                       for e, s in zip(errors, scale)]
            robust = ReducedRegression(normal.base, tuple(
                triangle(np.sqrt(w)[:, None] * r) for w, r in zip(weights, rows)), normal.rows)
            solution = estimator.solve(robust, 1 / scale)
            deviations = np.linalg.norm(solution.inverse, axis=1)
            change = np.max(np.abs(solution.beta - beta) / np.maximum(deviations, 1e-300))
            beta = solution.beta
            if change < CONVERGED:
                status = OK
        noise = np.array([
            np.sqrt(np.mean((w * e) ** 2)) / max(np.mean(np.abs(e) < self.threshold * s), 0.1)
            for e, w, s in zip(errors, weights, scale)])
        noise[~normal.measured] = 1.0
        plain = estimator.make_estimate(
            self.name, normal, 1 / scale, estimator.solve(normal, 1 / scale), noise, factors,
            status=status, iterations=iteration)
        message = plain.message
        if status == OK and not plain.unexcited:
            reduced = np.mean([np.mean(w < 1) for w in weights])
            message += f'; {reduced:.0%} of the rows have reduced weight'
        return estimator.with_values(plain, normal, beta, plain.covariance, own_values=True,
                                     message=message)


def remove_spikes(regression: Regression) -> tuple[Regression, int]:
    """
    Return the regression without isolated spikes of the torque, and the number of spike samples.

    A residual far from the median of its neighbours is replaced by that median (Hampel
    identifier). Residuals are used instead of torques, so that fast motion is not taken for a
    spike.

    Parameters
    ----------
    regression
        The regression problem.

    References
    ----------
    R. K. Pearson, "Outliers in process modeling and identification", IEEE Trans. Control Systems
    Technology 10(1), 2002.

    """
    base, cleaned, count = regression.base, [], 0
    standard = base.lift(estimator.ReweightedFit.of(regression.normal).solution.beta)
    for samples, load in regression.samples_with_loads:
        predicted = base.structure.torque(samples.q, samples.v, samples.a, standard, load,
                                          base.structure.states(samples.q))
        spikes = _find_spikes(samples, samples.tau - predicted)
        spikes[:, ~regression.normal.measured] = 0.0
        cleaned.append(replace(samples, tau=samples.tau - spikes))
        count += int(np.count_nonzero(np.any(spikes != 0, axis=1)))
    if not count:
        return regression, 0
    return replace(regression, samples=tuple(cleaned), reduced=None), count


def _find_spikes(samples: Samples, residual: Array) -> Array:
    """Return the deviation of spikes from the moving median, zero elsewhere, (N, n)."""
    excess = np.zeros_like(residual)
    for run in samples.segments:
        if run.stop - run.start > SPIKE_WIDTH:
            excess[run] = residual[run] - median_filter(residual[run], size=(SPIKE_WIDTH, 1),
                                                        mode='nearest')
    size = np.abs(excess)
    std = np.quantile(size, LEVEL, axis=0) / QUANTILE
    return np.where((size > SPIKE_DEVIATIONS * std) & (std > 0), excess, 0.0)
