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
"""Weighted least squares."""

from __future__ import annotations

from robot_identification.estimation.estimator import Estimator, EstimatorInfo


class WeightedLeastSquares(Estimator):
    """
    Least squares with joint weights that are the reciprocal standard deviations of the residuals.

    Weights and residuals are computed alternately until they agree.

    References
    ----------
    M. Gautier, P. Poignet, "Extended Kalman filtering and weighted least squares dynamic
    identification of robot", Control Engineering Practice 9(12), 2001.

    """

    name = 'wls'
    needs_only_factors = True
    candidate = True
    summary = 'weighted least squares, per joint and iterated; the usual choice'
    info = EstimatorInfo(purpose='there is no reason for another')
