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
"""Criteria of excitation by name: functions of the eigenvalues of the information matrix."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.registry import Registry


class Criterion(ABC):
    """
    A function of the eigenvalues of the information matrix W'W, for a regressor W.

    The eigenvalues are the squared non-zero singular values of W and do not depend on the choice
    of base columns. A subclass supplies `value`, which is reported, and `merit`, which is
    minimised. The merit is dimensionless. A finite `sharpness` makes it differentiable where
    singular values are equal.
    """

    larger_is_better: ClassVar[bool] = False

    @abstractmethod
    def value(self, eigenvalues: Array) -> float:
        """Return the criterion for reports, from ascending eigenvalues, (r,)."""

    def better(self, value: float, than: float) -> bool:
        """Return whether a value is better than another one."""
        return value > than if self.larger_is_better else value < than

    @abstractmethod
    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """
        Return the function to minimise, and its derivative with respect to the eigenvalues.

        Parameters
        ----------
        eigenvalues
            Ascending and positive, (r,).
        sharpness
            If infinite, the merit is a monotone function of `value`. If finite, the smallest and
            largest eigenvalues are replaced by smooth bounds, see `soft_maximum`.

        Returns
        -------
        merit, derivative
            The merit, and an array of shape (r,).

        """


class ConditionNumber(Criterion):
    """
    Largest over smallest non-zero singular value; the merit is its logarithm.

    References
    ----------
    M. Gautier, W. Khalil, "Exciting trajectories for the identification of base inertial
    parameters of robots", Int. J. Robotics Research 11(4), 1992.

    """

    def value(self, eigenvalues: Array) -> float:
        """Return the condition number."""
        return float(np.sqrt(eigenvalues[-1] / eigenvalues[0]))

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return log cond, smoothed, and its derivative; see `Criterion.merit`."""
        logs = np.log(eigenvalues)
        largest, rise = soft_maximum(logs, sharpness)
        smallest, fall = soft_maximum(-logs, sharpness)
        return 0.5 * (largest + smallest), 0.5 * (rise - fall) / eigenvalues


class SmallestSingularValue(Criterion):
    """
    Smallest non-zero singular value, which is maximised; the merit is minus its logarithm.

    References
    ----------
    B. Armstrong, "On finding exciting trajectories for identification experiments involving
    systems with nonlinear dynamics", Int. J. Robotics Research 8(6), 1989.

    """

    larger_is_better: ClassVar[bool] = True

    def value(self, eigenvalues: Array) -> float:
        """Return the smallest singular value."""
        return float(np.sqrt(eigenvalues[0]))

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return -log sigma_min, smoothed, and its derivative; see `Criterion.merit`."""
        smallest, fall = soft_maximum(-np.log(eigenvalues), sharpness)
        return 0.5 * smallest, -0.5 * fall / eigenvalues


class LogDeterminant(Criterion):
    """
    -log det of W'W on its row space: a measure of the confidence ellipsoid's volume.

    The merit is -log det divided by the number of eigenvalues.

    References
    ----------
    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and
    Automation 13(5), 1997.

    """

    def value(self, eigenvalues: Array) -> float:
        """Return -log det."""
        return float(-np.log(eigenvalues).sum())

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return -log det / r and its derivative; the sharpness has no effect."""
        return float(-np.log(eigenvalues).mean()), -1.0 / (len(eigenvalues) * eigenvalues)


class AOptimality(Criterion):
    """
    Trace of the inverse of W'W on the row space: the sum of the parameters' variances.

    The merit is half its logarithm.

    References
    ----------
    F. Pukelsheim, "Optimal design of experiments", SIAM, 2006, chapter 6.

    """

    def value(self, eigenvalues: Array) -> float:
        """Return the trace of the inverse."""
        return float(np.sum(1.0 / eigenvalues))

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return half the logarithm and its derivative; the sharpness has no effect."""
        total = self.value(eigenvalues)
        return 0.5 * float(np.log(total)), -0.5 / (total * eigenvalues ** 2)


class EOptimality(SmallestSingularValue):
    """
    Largest eigenvalue of the inverse of W'W: the variance of the worst combination of parameters.

    The merit is half its logarithm and equals the merit of `SmallestSingularValue`.

    References
    ----------
    F. Pukelsheim, "Optimal design of experiments", SIAM, 2006, chapter 6.

    """

    larger_is_better: ClassVar[bool] = False

    def value(self, eigenvalues: Array) -> float:
        """Return one over the smallest eigenvalue."""
        return float(1.0 / eigenvalues[0])


class Mixture(Criterion):
    """
    Weighted sum of the merits of other criteria, for instance log cond - 0.1 log det / r.

    Parameters
    ----------
    terms
        Weights and criteria.

    """

    def __init__(self, terms: Sequence[tuple[float, Criterion]]) -> None:
        self.terms = tuple(terms)

    def value(self, eigenvalues: Array) -> float:
        """Return the weighted sum of the merits for infinite sharpness."""
        return self.merit(eigenvalues)[0]

    def merit(self, eigenvalues: Array, sharpness: float = np.inf) -> tuple[float, Array]:
        """Return the weighted sum and its derivative."""
        total, slope = 0.0, np.zeros_like(eigenvalues)
        for weight, criterion in self.terms:
            merit, derivative = criterion.merit(eigenvalues, sharpness)
            total += weight * merit
            slope = slope + weight * derivative
        return total, slope


def soft_maximum(values: Array, sharpness: float) -> tuple[float, Array]:
    """
    Return a smooth upper bound of the maximum, log(sum exp(sharpness * values)) / sharpness.

    Parameters
    ----------
    values
        (r,).
    sharpness
        Positive; the bound is at most log(r) / sharpness above the maximum.

    Returns
    -------
    bound, weights
        The bound, and its derivative with respect to the values, (r,), non-negative with sum 1.

    """
    largest = int(np.argmax(values))
    if np.isinf(sharpness):
        weights = np.zeros_like(values)
        weights[largest] = 1.0
        return float(values[largest]), weights
    terms = np.exp(sharpness * (values - values[largest]))
    total = terms.sum()
    return float(values[largest] + np.log(total) / sharpness), terms / total


CRITERIA: Registry[type[Criterion]] = Registry('excitation criterion', {
    'cond': ConditionNumber, 'logdet': LogDeterminant, 'sigma_min': SmallestSingularValue,
    'a_optimal': AOptimality, 'e_optimal': EOptimality})


def get_criterion(name: str) -> Criterion:
    """
    Return a criterion by name.

    Parameters
    ----------
    name
        'cond', 'logdet', 'sigma_min', 'a_optimal', 'e_optimal', or a mixture such as
        'cond + 0.1 logdet'.

    Raises
    ------
    UnknownNameError
        No such criterion.
    ExcitationError
        A weight of the mixture is not a positive number.

    """
    if '+' in name:
        return Mixture([(weight, get_criterion(member)) for weight, member in _terms(name)])
    return CRITERIA.find(name)()


def _terms(text: str) -> list[tuple[float, str]]:
    """Return weights and names of a mixture such as 'cond + 0.1 logdet'."""
    terms = []
    for term in text.split('+'):
        *weight, name = term.replace('*', ' ').split() or ['']
        try:
            value = float(weight[0]) if weight else 1.0
        except ValueError:
            value = -1.0
        if len(weight) > 1 or not value > 0:
            raise ExcitationError(f"'{term.strip()}' in the criterion '{text}' is not a positive "
                                  f"weight and a name, such as 'cond + 0.1 logdet'")
        terms.append((value, name))
    return terms
