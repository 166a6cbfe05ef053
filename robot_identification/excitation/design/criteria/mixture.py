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
"""Weighted sums of criteria."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.design.criteria.criterion import Criterion


class Mixture(Criterion):
    """
    Sum of weights times the merits of other criteria, for instance log cond - 0.1 log det / r.

    Parameters
    ----------
    terms
        Weights and criteria.

    """

    name: ClassVar[str] = 'mixture'

    def __init__(self, terms: Sequence[tuple[float, Criterion]]) -> None:
        self.terms = tuple(terms)

    def value(self, eigenvalues: Array) -> float:
        """Return the sum of the exact merits."""
        return self.merit(eigenvalues)[0]

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return the sum and its derivative."""
        total, slope = 0.0, np.zeros_like(eigenvalues)
        for weight, criterion in self.terms:
            merit, derivative = criterion.merit(eigenvalues, sharpness)
            total += weight * merit
            slope = slope + weight * derivative
        return total, slope
