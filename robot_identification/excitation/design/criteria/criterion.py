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
"""What makes an excitation good: functions of the spectrum of the information matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array


class Criterion(ABC):
    """
    A spectral function of the information matrix W'W on the row space of the regressor W.

    Its eigenvalues are the squared non-zero singular values of W, so nothing here depends on the
    choice of base columns. A member supplies `value`, which is reported, and `merit`, which is
    minimised: dimensionless, and differentiable even where singular values meet, because
    `sharpness` blunts extremes. A new criterion (A-, E-optimality, a mixture) is one file with
    these two.
    """

    name: ClassVar[str]
    larger_is_better: ClassVar[bool] = False

    @abstractmethod
    def value(self, eigenvalues: Array) -> float:
        """Return the criterion as it is reported; `eigenvalues` ascend, (r,)."""

    def better(self, value: float, than: float) -> bool:
        """Return whether a value is better than another one."""
        return value > than if self.larger_is_better else value < than

    @abstractmethod
    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """
        Return what is minimised, and its derivative with respect to the eigenvalues.

        Parameters
        ----------
        eigenvalues
            Ascending and positive, (r,).
        sharpness
            At infinity the criterion itself (a monotone function of `value`), with the derivative
            of one active eigenvalue where several meet; below, a smooth bound that the extremes
            share.

        Returns
        -------
        merit, derivative
            A number, and (r,).

        """


def soft_maximum(values: Array, sharpness: float) -> tuple[float, Array]:
    """
    Smooth upper bound of the maximum, log(sum exp(sharpness * values)) / sharpness.

    Parameters
    ----------
    values
        (r,).
    sharpness
        Positive; the bound is at most log(r) / sharpness above the maximum.

    Returns
    -------
    bound, weights
        And its derivative with respect to the values, (r,), non-negative with sum 1.

    """
    largest = int(np.argmax(values))
    if np.isinf(sharpness):
        weights = np.zeros_like(values)
        weights[largest] = 1.0
        return float(values[largest]), weights
    terms = np.exp(sharpness * (values - values[largest]))
    total = terms.sum()
    return float(values[largest] + np.log(total) / sharpness), terms / total
