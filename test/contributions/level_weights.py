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
"""Least squares with weights from the torque levels of the joints."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation.estimator import Estimator, EstimatorInfo, ReweightedFit
from robot_identification.regression import Regression


class LevelWeights(Estimator):
    """Weighted least squares; the weight of a joint is the reciprocal of its rms torque."""

    name = 'level_weights'
    summary = 'least squares; joints are weighted by the size of their torques'
    info = EstimatorInfo(purpose='relative errors of all joints count the same')

    def weights(self, regression: Regression, reweighted: ReweightedFit) -> Array:
        """Return the reciprocal rms torques, (n,)."""
        normal = regression.normal
        level = np.sqrt(normal.energy() / normal.rows)
        return np.where(level > 0, 1 / np.where(level > 0, level, 1.0), 1.0)
