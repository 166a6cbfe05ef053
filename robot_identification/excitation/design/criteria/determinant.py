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
"""D-optimality."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.design.criteria.criterion import Criterion


class LogDeterminant(Criterion):
    """
    -log det of W'W on the row space, the volume of the confidence ellipsoid.

    The merit is the mean over the eigenvalues, so that its size does not depend on the arm.

    References
    ----------
    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and
    Automation 13(5), 1997.

    """

    name: ClassVar[str] = 'logdet'

    def value(self, eigenvalues: Array) -> float:
        """Return -log det."""
        return float(-np.log(eigenvalues).sum())

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return -log det / r and its derivative; it is smooth, whatever the sharpness."""
        count = len(eigenvalues)
        return float(-np.log(eigenvalues).mean()), -1.0 / (count * eigenvalues)
