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
"""Ordinary least squares."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation.estimator import Estimator, EstimatorInfo, ReweightedFit
from robot_identification.regression import Regression


class OrdinaryLeastSquares(Estimator):
    """
    Least squares in which all joints have the same weight.

    The covariance is computed from the noise of each joint.

    References
    ----------
    C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of inertial parameters of manipulator
    loads and links", Int. J. Robotics Research 5(3), 1986.

    """

    name = 'ols'
    needs_only_factors = True
    equal_weights = True
    candidate = True
    summary = 'ordinary least squares; joints with large torques dominate'
    info = EstimatorInfo(purpose='comparing with papers')

    def weights(self, regression: Regression, reweighted: ReweightedFit) -> Array:
        """Return ones."""
        return np.ones(regression.normal.joints)
