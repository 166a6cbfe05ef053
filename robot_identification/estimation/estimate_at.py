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
"""Estimate of parameters that a method other than least squares found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.estimator import (
    make_estimate,
    residual_autocorrelation,
    ReweightedFit,
)
from robot_identification.regression import Regression


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
