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
"""Total least squares: least squares with errors in the regressor as well."""

import numpy as np
from robot_identification.arrays import svd
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.estimator import Estimator, EstimatorInfo, with_values
from robot_identification.regression import Regression

MAX_RATIO = 0.7
"""Largest ratio of the smallest singular values of [regressor, torque] and regressor; at 1 the
solution is not unique."""


class TotalLeastSquares(Estimator):
    """
    Least squares with errors in the torques and in the columns of the regressor.

    The errors of a column are proportional to its norm. Joints are weighted by their noise. The
    ratio of the errors of columns and torques must be given; the data do not determine it.

    Parameters
    ----------
    ratio
        Relative error of the columns over relative error of the torques. 1 is the classical
        method on columns of unit norm; 0 is the limit of weighted least squares. The default
        assumes that filtered positions are much more precise than torques.

    References
    ----------
    S. Van Huffel, J. Vandewalle, "The total least squares problem", SIAM, 1991.
    M. Gautier, P. Vandanjon, C. Presse, "Identification of inertial and drive gain parameters of
    robots", IEEE CDC 1994.

    """

    name = 'tls'
    summary = 'total least squares, errors in the regressor too; needs a well excited motion'
    info = EstimatorInfo(needs='every base parameter excited', consistent='nearest',
                         purpose='the size of the errors of positions is known')
    own_covariance = True

    def __init__(self, ratio: float = 0.1) -> None:
        if not ratio > 0:
            raise ConfigurationError(f'the ratio of tls must be positive, not {ratio}')
        self.ratio = ratio

    def _fit(self, regression: Regression) -> Estimate:
        normal = regression.normal
        plain = super()._fit(regression)
        if plain.unexcited:
            raise EstimationError(f'total least squares needs a motion that excites every base '
                                  f'parameter; this one does not determine '
                                  f'{", ".join(plain.unexcited)}: use ridge or wls')
        rows, target = normal.stacked(plain.weights)
        scale = self.ratio * np.linalg.norm(rows, axis=0) / np.linalg.norm(target)
        scaled = rows / scale
        smallest = float(svd(scaled)[1][-1])
        _, singular, right = svd(np.column_stack([scaled, target]))
        if singular[-1] > MAX_RATIO * smallest:
            raise EstimationError(
                f'total least squares has no clear solution: the smallest singular value of the '
                f'regressor ({smallest:.3g}) is no larger than its errors ({singular[-1]:.3g}); '
                f'lower the ratio (now {self.ratio:g}), excite more, or use wls or ridge')
        theta = -right[-1, :-1] / right[-1, -1]
        information = scaled.T @ scaled - singular[-1] ** 2 * np.eye(len(theta))
        covariance = (1 + theta @ theta) * np.linalg.inv(information)
        variance = singular[-1] ** 2 / max(1, int(np.sum(normal.rows)) - len(theta))
        covariance = variance * covariance / np.outer(scale, scale)
        return with_values(plain, normal, theta / scale, covariance, own_values=True)
