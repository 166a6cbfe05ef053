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
"""Constraints on the states that a motion passes through."""

from __future__ import annotations

from abc import abstractmethod
import copy
import threading

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.certificate.constraint import Constraint
from robot_identification.excitation.motion import Series

TIMES_PER_HARMONIC = 40


class StateConstraint(Constraint):
    """
    Slacks that are functions of position, velocity and acceleration at times of an even grid.

    A member supplies the slacks of states and their derivatives; the chain rule to the
    coefficients is here. Curvature is that of Gauss and Newton.

    Parameters
    ----------
    series
        The parametrisation.
    orders
        How many of q, v, a the slacks depend on: 1 or 3.

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
        """Return the same limits on a time grid four times as fine."""
        other = copy.copy(self)
        other._look_at(4 * len(self.times))
        return other

    @abstractmethod
    def at(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks of states (N, n) each, (N, m)."""

    @abstractmethod
    def derivatives(self, states: tuple[Array, ...]) -> Array:
        """Return the slacks' derivatives by the states, (orders, N, m, n)."""

    def slack(self, coefficients: Array) -> Array:
        """Return the slacks of all times, flat."""
        return self.at(self._states(coefficients)).ravel()

    def pull_back(self, coefficients: Array, weights: Array) -> Array:
        """Return the gradient of weights . slack, (size, n)."""
        jacobian = self._jacobian(coefficients)
        w = weights.reshape(jacobian.shape[1], 1, -1)
        result = np.zeros(coefficients.shape)
        for basis, block in zip(self._basis, jacobian):
            result += basis.T @ (w @ block)[:, 0]
        return result

    def curvature(self, coefficients: Array, weights: Array) -> Array:
        """Return J' diag(weights) J."""
        jacobian = self._jacobian(coefficients)
        w = weights.reshape(jacobian.shape[1], -1, 1)
        count, (size, n) = len(w), coefficients.shape
        result = np.zeros((size, n, size, n))
        for first, one in enumerate(self._basis):
            weighted = (w * jacobian[first]).transpose(0, 2, 1)
            for second, other in enumerate(self._basis[:first + 1]):
                inner = (weighted @ jacobian[second]).reshape(count, n * n)
                outer = (one[:, :, None] * other[:, None, :]).reshape(count, size * size)
                block = (outer.T @ inner).reshape(size, size, n, n).transpose(0, 2, 1, 3)
                result += block
                if second < first:
                    result += block.transpose(2, 3, 0, 1)
        return result.reshape(size * n, size * n)

    def _states(self, coefficients: Array) -> tuple[Array, ...]:
        return tuple(basis @ coefficients for basis in self._basis)

    def _jacobian(self, coefficients: Array) -> Array:
        """Return derivatives at a point, kept for the second question about the same array."""
        if getattr(self._last, 'point', None) is not coefficients:
            self._last.value = self.derivatives(self._states(coefficients))
            self._last.point = coefficients
        value: Array = self._last.value
        return value

    def place(self, index: int, slacks: int) -> tuple[float, int]:
        """Return the time and the number within it of a flat index, of `slacks` a time."""
        return float(self.times[index // slacks]), index % slacks
