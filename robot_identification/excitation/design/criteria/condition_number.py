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
"""Condition number of the regressor."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.design.criteria.criterion import Criterion, soft_maximum


class ConditionNumber(Criterion):
    """
    Largest over smallest non-zero singular value; the merit is its logarithm.

    References
    ----------
    M. Gautier, W. Khalil, "Exciting trajectories for the identification of base inertial
    parameters of robots", Int. J. Robotics Research 11(4), 1992.

    """

    name: ClassVar[str] = 'cond'

    def value(self, eigenvalues: Array) -> float:
        """Return the condition number."""
        return float(np.sqrt(eigenvalues[-1] / eigenvalues[0]))

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return log cond, smoothed, and its derivative; see `Criterion.merit`."""
        logs = np.log(eigenvalues)
        largest, rise = soft_maximum(logs, sharpness)
        smallest, fall = soft_maximum(-logs, sharpness)
        return 0.5 * (largest + smallest), 0.5 * (rise - fall) / eigenvalues
