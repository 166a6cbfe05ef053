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
"""Isolated spikes of the torque, found before the decimation smears them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation.estimator import iteratively_reweight
from robot_identification.regression import Regression
from robot_identification.signals import Samples
from scipy.ndimage import median_filter

WIDTH = 11
"""Samples of the moving median: a spike of up to five is isolated, a step or a longer contact is
not, and is left to the loss."""
DEVIATIONS = 6.0
"""Deviations of a residual from the moving median; one Gaussian sample in 500 million has more."""
LEVEL, QUANTILE = 0.9, 1.6449
"""Quantile that the deviation is taken from, and its value for a Gaussian of deviation 1: a
coarsely quantised torque stands still at most samples, and its median deviation is 0."""


def without_spikes(regression: Regression) -> tuple[Regression, int]:
    """
    Return a problem whose torques have no isolated spikes, and how many samples had one.

    A sample whose residual is far from the median of its neighbours' residuals gets that median
    (Hampel's identifier, on residuals, so that fast motion is no spike).

    Parameters
    ----------
    regression
        The problem.

    References
    ----------
    R. K. Pearson, "Outliers in process modeling and identification", IEEE Trans. Control Systems
    Technology 10(1), 2002.

    """
    beta = iteratively_reweight(regression.normal).solution.beta
    cleaned, count = [], 0
    for samples, load in regression.parts:
        excess = _excess(samples, _residual(regression, samples, load, beta))
        excess[:, ~regression.normal.measured] = 0.0
        found = int(np.count_nonzero(np.any(excess != 0, axis=1)))
        cleaned.append(replace(samples, tau=samples.tau - excess) if found else samples)
        count += found
    if not count:
        return regression, 0
    return replace(regression, samples=tuple(cleaned), reduced=None), count


def _residual(regression: Regression, samples: Samples, load: Array | None,
              beta: Array) -> Array:
    """Return torque minus prediction at every sample, (N, n)."""
    base = regression.base
    predicted: Array = base.structure.torque(
        samples.q, samples.v, samples.a, base.representative(beta), load,
        base.structure.states(samples.q))
    return samples.tau - predicted


def _excess(samples: Samples, residual: Array) -> Array:
    """Return how far spikes stand out of the moving median, zero elsewhere, (N, n)."""
    excess = np.zeros_like(residual)
    for run in samples.segments:
        part = residual[run]
        if len(part) > WIDTH:
            excess[run] = part - median_filter(part, size=(WIDTH, 1), mode='nearest')
    size = np.abs(excess)
    deviation = np.quantile(size, LEVEL, axis=0) / QUANTILE
    return np.where((size > DEVIATIONS * deviation) & (deviation > 0), excess, 0.0)
