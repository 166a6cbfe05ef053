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
"""Base classes of the constraints on a motion."""

from __future__ import annotations

from abc import ABC, abstractmethod
import copy
import threading

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.certificate.claim import CertificateClaim
from robot_identification.excitation.motion import Series, Trajectory
from robot_identification.excitation.motion.series import TIMES_PER_HARMONIC


class Constraint(ABC):
    """
    A constraint on a motion, expressed as slacks that must stay positive.

    A subclass supplies slacks at the times of a grid, which a search keeps positive, and a proof
    of the limit for all times. A slack is 1 in the middle of the allowed range and 0 at the limit.

    Attributes
    ----------
    density
        Weight of a slack in a barrier function: 1 over the number of times of the grid, so that
        its resolution does not change the problem.
    hint
        What a user can change if no motion respects the limit.

    """

    density: float
    hint: str

    def refined(self) -> Constraint:
        """Return the constraint on a finer time grid, or itself if a finer one adds nothing."""
        return self

    @abstractmethod
    def slack(self, coefficients: Array) -> Array:
        """Return the slacks, (c,), for coefficients (size, n)."""

    @abstractmethod
    def pull_back(self, coefficients: Array, weights: Array,
                  curvatures: Array) -> tuple[Array, Array]:
        """
        Return the gradient of weights . slack, (size, n), and J' diag(curvatures) J.

        J is the Jacobian of the slacks. It has a column for each coefficient, in row-major order
        of the array (size, n).
        """

    @abstractmethod
    def prove(self, trajectory: Trajectory) -> tuple[CertificateClaim, ...]:
        """Return claims about all times of a motion; each says whether it holds."""

    @abstractmethod
    def describe(self, index: int, slack: float) -> tuple[str, str]:
        """Return the name of the limit of slack number `index`, and the size of its violation."""


class StateConstraint(Constraint):
    """
    A constraint on position, velocity and acceleration at the times of a uniform grid.

    A subclass supplies slacks and their derivatives with respect to the states; this class applies
    the chain rule to the coefficients. The curvature is a Gauss-Newton approximation.

    Parameters
    ----------
    series
        The parametrisation.
    orders
        Number of states that the slacks depend on: 1 (q) or 3 (q, v, a).

    """

    def __init__(self, series: Series, orders: int) -> None:
        self._series, self._orders = series, orders
        self._look_at(TIMES_PER_HARMONIC * series.resolution)

    def _look_at(self, count: int) -> None:
        series, orders = self._series, self._orders
        self.times = series.period * np.arange(count) / count
        self.density = 1.0 / count
        self._basis = [series.basis(self.times, order) for order in range(orders)]
        self._last = threading.local()

    def refined(self) -> StateConstraint:
        """Return the constraint on a time grid four times as fine."""
        other = copy.copy(self)
        other._look_at(4 * len(self.times))
        return other

    @abstractmethod
    def at(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks at N times, (N, m), for states of shape (N, n) each."""

    @abstractmethod
    def derivatives(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks' derivatives with respect to the states, (orders, N, m, n)."""

    def slack(self, coefficients: Array) -> Array:
        """Return the slacks of all times, (N m,)."""
        return self.at(self._states(coefficients)).ravel()

    def pull_back(self, coefficients: Array, weights: Array,
                  curvatures: Array) -> tuple[Array, Array]:
        """Return the gradient of weights . slack, and J' diag(curvatures) J; see `Constraint`."""
        jacobian = self.derivatives(self._states(coefficients))
        count, (size, n) = jacobian.shape[1], coefficients.shape
        w, square = weights.reshape(count, 1, -1), curvatures.reshape(count, -1, 1)
        gradient = np.zeros((size, n))
        result = np.zeros((size, n, size, n))
        for first, one in enumerate(self._basis):
            gradient += one.T @ (w @ jacobian[first])[:, 0]
            weighted = (square * jacobian[first]).transpose(0, 2, 1)
            for second, other in enumerate(self._basis[:first + 1]):
                inner = (weighted @ jacobian[second]).reshape(count, n * n)
                outer = (one[:, :, None] * other[:, None, :]).reshape(count, size * size)
                block = (outer.T @ inner).reshape(size, size, n, n).transpose(0, 2, 1, 3)
                result += block
                if second < first:
                    result += block.transpose(2, 3, 0, 1)
        return gradient, result.reshape(size * n, size * n)

    def _states(self, coefficients: Array) -> tuple[Array, ...]:
        return tuple(basis @ coefficients for basis in self._basis)
