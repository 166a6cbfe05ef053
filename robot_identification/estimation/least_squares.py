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
"""Least squares with different weights of the joints: weighted, ordinary, maximum likelihood."""

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError
from robot_identification.estimation.estimator import Estimator, EstimatorInfo, ReweightedFit
from robot_identification.regression import Regression


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


class MaximumLikelihood(Estimator):
    """
    Least squares with joint weights from the noise between the periods of a repeated motion.

    The covariance includes only this noise. It describes the repeatability of the estimate, not
    the error of an incomplete model.

    References
    ----------
    W. Wu, S. Zhu, X. Wang, H. Liu, "Closed-loop dynamic parameter identification of robot
    manipulators using modified Fourier series", Int. J. Advanced Robotic Systems 9, 2012.
    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and
    Automation 13(5), 1997.

    """

    name = 'mle'
    candidate = True
    needs_repeats = True
    summary = 'maximum likelihood; noise measured over the periods of a repeated motion'
    info = EstimatorInfo(needs='two periods of a repeated motion',
                         purpose='the motion repeats often')

    def weights(self, regression: Regression, reweighted: ReweightedFit) -> Array:
        """Return the reciprocal standard deviation of each joint's measured noise, (n,)."""
        return 1 / self._measured(regression)

    def noise(self, regression: Regression, reweighted: ReweightedFit) -> tuple[Array, Array]:
        """
        Return standard deviation and autocorrelation factor of the measured noise, (n,) each.

        The noise is assumed to be white, so the factors are 1.
        """
        return self._measured(regression), np.ones(regression.normal.joints)

    def _measured(self, regression: Regression) -> Array:
        """Return the standard deviation of each joint's noise on decimated rows, (n,)."""
        variances, rows = [], []
        for samples in regression.samples:
            if samples.noise is None:
                raise EstimationError(
                    'the estimator mle needs the noise measured over at least two periods of a '
                    'repeated motion; give the period (--period), or use wls')
            variances.append(samples.noise * samples.decimator().noise_gain)
            rows.append(len(samples.t))
        deviations: Array = np.sqrt(np.average(variances, axis=0, weights=rows))
        # the weight of a joint without effort has no influence
        deviations[~regression.normal.measured] = 1.0
        if not np.all(deviations > 0):
            raise EstimationError('the periods repeat without any noise, so weights cannot be '
                                  'computed; use ols or wls')
        return deviations
