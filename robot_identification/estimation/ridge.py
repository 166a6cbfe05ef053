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
"""Ridge regression towards the URDF, in a metric that does not depend on units or frames."""

import numpy as np
from robot_identification.arrays import svd
from robot_identification.errors import ConfigurationError
from robot_identification.estimation.estimate import Estimate, OK
from robot_identification.estimation.estimator import Estimator, EstimatorInfo, with_values
from robot_identification.estimation.prior import Prior
from robot_identification.regression import Regression

GRID = np.geomspace(1e-3, 1e2, 61)
"""Prior standard deviations searched, in units of the prior's scale."""


class Ridge(Estimator):
    """
    Least squares with a quadratic penalty on the distance from the URDF.

    The distance is the constant pullback of the affine-invariant metric on pseudo-inertias. The
    strength maximises the evidence of the data: excited parameters follow the data, the others
    stay close to the URDF.

    Parameters
    ----------
    deviation
        Standard deviation of the parameters in units of the prior's scale (1: as large as the
        URDF's values themselves); estimated from the data if None.

    References
    ----------
    T. Lee, P. M. Wensing, F. C. Park, "Geometric robot dynamic identification: a convex
    programming approach", IEEE Trans. Robotics 36(2), 2020.
    D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4(3), 1992 (the strength).

    """

    name = 'ridge'
    summary = 'ridge regression towards the URDF in a metric of inertias; strength from the data'
    info = EstimatorInfo(needs='inertias in the URDF that are roughly right',
                         purpose='the motion excites little')
    own_covariance = True

    def __init__(self, deviation: float | None = None) -> None:
        if deviation is not None and not deviation > 0:
            raise ConfigurationError(f'the deviation of ridge must be positive, not {deviation}')
        self.deviation = deviation

    def _fit(self, regression: Regression) -> Estimate:
        normal = regression.normal
        plain = super()._fit(regression)
        base = normal.base
        prior = Prior.from_urdf(base.structure)
        transform = base.matrix @ prior.transform
        rows, target = normal.stacked(plain.weights)
        target = target - rows @ base.project(prior.mean)
        left, singular, right = svd(rows @ transform)
        inside = left.T @ target
        scale = self.deviation
        if scale is None:
            size = (GRID[:, None] * singular) ** 2
            evidence = np.sum(np.log1p(size) + inside ** 2 / (1 + size), axis=1)
            scale = float(GRID[int(np.argmin(evidence))])
        size = (scale * singular) ** 2
        values = base.project(prior.mean) + transform @ (right.T @ (
            scale ** 2 * singular / (1 + size) * inside))
        half = transform @ right.T
        silent = transform @ transform.T - half @ half.T
        covariance = scale ** 2 * ((half / (1 + size)) @ half.T + silent)
        source = 'estimated from the data' if self.deviation is None else 'as set'
        return with_values(plain, normal, values, covariance, status=OK, rank=base.rank,
                           unexcited=(), message=(f"the prior's standard deviation is {scale:.3g} "
                                                  f"times the URDF's scale, {source}"))
