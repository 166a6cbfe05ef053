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
"""Objectives of searches, by name."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.registry import Registry


class Objective(ABC):
    """
    Base class of objectives: costs of the torque errors as functions of the unknowns.

    Subclasses define the terms that are summed over the rows (`terms`), and may define the cost as
    a function of the sums (`combine`). Quadratic objectives use the R factors if the problem is
    linear.

    Parameters
    ----------
    problem
        Search problem, which computes the residuals.
    weights
        Weights of the joints, (n,). None: those of `scales`.

    Attributes
    ----------
    name
        Key in `OBJECTIVES`.
    summary
        One line for tables.

    """

    name: ClassVar[str]
    summary: ClassVar[str]

    def __init__(self, problem: SearchProblem, weights: ArrayLike | None = None) -> None:
        self.problem = problem
        joints = problem.structure.arm.n
        self.weights = self.scales() if weights is None else np.asarray(weights, dtype=float)
        if self.weights.shape != (joints,) or not np.all(self.weights >= 0):
            raise EstimationError(f'the objective {self.name} needs {joints} nonnegative weights, '
                                  f'one per joint')

    def scales(self) -> Array:
        """Return the default weights of the joints, (n,)."""
        return np.ones(self.problem.structure.arm.n)

    def __call__(self, population: Array) -> Array:
        """Return the costs (P,) of unknowns (P, d)."""
        sums, rows = self.problem.reduce(population, self.terms)
        return self.combine(sums, rows)

    @abstractmethod
    def terms(self, residuals: Array) -> Array:
        """Return terms of the residuals (n, P, rows), summed over the rows, (..., P)."""

    def combine(self, sums: Array, rows: int) -> Array:
        """Return the costs (P,) from sums of terms over the rows; by default weighted means."""
        cost: Array = self.weights @ sums / rows
        return cost


class MeanSquared(Objective):
    """
    Mean over the rows of the weighted squared torque errors, summed over the joints.

    References
    ----------
    D. Yan, Y. Lu, D. Levy, PLoS ONE 10(6), 2015, equation (3).

    """

    name = 'mean_squared'
    summary = 'mean squared torque error (3)'

    def __call__(self, population: Array) -> Array:
        """Return the costs (P,) of unknowns (P, d), from R factors if the problem is linear."""
        if not self.problem.linear:
            return super().__call__(population)
        if not hasattr(self, '_stacked'):
            normal = self.problem.regression.normal
            self._stacked = normal.stacked(np.sqrt(self.weights / normal.rows))
        matrix, target = self._stacked
        cost: Array = np.sum((population @ matrix.T - target) ** 2, axis=1)
        return cost

    def terms(self, residuals: Array) -> Array:
        """Return the sum of squares of each joint, (n, P)."""
        sums: Array = np.einsum('jpr,jpr->jp', residuals, residuals)
        return sums


class Squared(MeanSquared):
    """Mean squared torque error relative to each joint's mean squared torque, summed."""

    name = 'squared'
    summary = "squared error relative to each joint's torque"

    def scales(self) -> Array:
        """Return the reciprocal mean squared torques, (n,)."""
        return 1 / _mean_squared_torques(self.problem)


def _mean_squared_torques(problem: SearchProblem) -> Array:
    """Return each joint's mean squared torque, (n,); infinite for unmeasured joints."""
    normal = problem.regression.normal
    return np.where(normal.measured, normal.energy() / normal.rows, np.inf)


class MeanAbsolute(Objective):
    """
    Mean over the rows of the weighted absolute torque errors, summed over the joints.

    References
    ----------
    L. Ding, X. Li, Q. Li, Y. Chao, J. Robotics, 2018, equation (11).

    """

    name = 'mean_absolute'
    summary = 'mean weighted absolute torque error (11)'

    def terms(self, residuals: Array) -> Array:
        """Return the sum of absolute residuals of each joint, (n, P)."""
        sums: Array = np.abs(residuals, out=residuals).sum(axis=2)
        return sums


class Absolute(MeanAbsolute):
    """Mean absolute torque error relative to each joint's rms torque, summed."""

    name = 'absolute'
    summary = "absolute error relative to each joint's torque"

    def scales(self) -> Array:
        """Return the reciprocal root mean squared torques, (n,)."""
        return np.asarray(1 / np.sqrt(_mean_squared_torques(self.problem)))


class MeanAndDeviation(Objective):
    """
    Sum over the joints of |mean torque error| + k_e (standard deviation of the torque error).

    Parameters
    ----------
    problem, weights
        As for `Objective`.
    factor
        Factor k_e of the standard deviation.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, Science China Information Sciences, 2018, equation (25).

    """

    name = 'mean_deviation'
    summary = 'absolute mean and standard deviation of the torque error (25)'

    def __init__(self, problem: SearchProblem, weights: ArrayLike | None = None,
                 factor: float = 1.0) -> None:
        super().__init__(problem, weights)
        self.factor = factor

    def __call__(self, population: Array) -> Array:
        """Return the costs (P,) of unknowns (P, d), from R factors if the problem is linear."""
        if not self.problem.linear:
            return super().__call__(population)
        if not hasattr(self, '_sums'):
            unit = np.vstack([np.zeros(self.problem.dimension), np.eye(self.problem.dimension)])
            sums, _ = self.problem.reduce(unit, lambda residuals: residuals.sum(axis=2))
            self._sums = sums[:, 0], sums[:, 1:] - sums[:, :1]
        normal, (offset, slope) = self.problem.regression.normal, self._sums
        squares = []
        for joint in range(normal.joints):
            matrix, target = normal.joint_rows(joint)
            squares.append(np.sum((population @ matrix.T - target) ** 2, axis=1))
        return self.combine(np.stack([offset[:, None] + slope @ population.T,
                                      np.array(squares)]), int(normal.rows.max()))

    def terms(self, residuals: Array) -> Array:
        """Return the sums of the residuals and of their squares over the rows, (2, n, P)."""
        return np.stack([residuals.sum(axis=2), np.einsum('jpr,jpr->jp', residuals, residuals)])

    def combine(self, sums: Array, rows: int) -> Array:
        """Return the costs (P,) from the sums (2, n, P) over a number of rows."""
        mean, square = sums / rows
        std = np.sqrt(np.maximum(square - mean ** 2, 0.0))
        cost: Array = self.weights @ (np.abs(mean) + self.factor * std)
        return cost


OBJECTIVES: Registry[type[Objective]] = Registry('objective', {
    objective.name: objective for objective in (
        Squared, Absolute, MeanSquared, MeanAbsolute, MeanAndDeviation)})


def get_objective(name: str, problem: SearchProblem,
                  weights: ArrayLike | None = None) -> Objective:
    """
    Return the objective with the given name for a problem.

    Raises
    ------
    UnknownNameError
        No objective has this name; the message lists the known ones.

    """
    return OBJECTIVES.find(name)(problem, weights)
