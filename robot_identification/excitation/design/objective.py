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
"""A criterion as a function of a trajectory's coefficients, with its gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.design.criteria import Criterion
from robot_identification.excitation.design.regressor import DesignRegressor
from robot_identification.excitation.motion import Series
from scipy.linalg import eigh

SMALL_PRODUCT = 200_000    # multiplications in a block: BLAS keeps these on the calling thread


@dataclass(frozen=True)
class Evaluation:
    """
    The objective at one point.

    Parameters
    ----------
    merit
        What is minimised; infinite where the motion does not excite everything.
    gradient
        Its derivative with respect to the coefficients, (size, n).
    value
        The criterion as it is reported.

    """

    merit: float
    gradient: Array
    value: float


class DesignObjective:
    """
    A criterion of the regressor that a motion, sampled evenly over its period, makes.

    Parameters
    ----------
    columns
        The regressor's columns.
    series
        The parametrisation.
    samples
        Number of samples in a period.
    criterion
        What to minimise.
    earlier
        Information matrix on the row space that is there already, (r, r): the motion is designed
        to complete it.

    """

    def __init__(self, columns: DesignRegressor, series: Series, samples: int,
                 criterion: Criterion, earlier: Array | None = None) -> None:
        self.earlier = np.zeros((columns.rank, columns.rank)) if earlier is None else earlier
        self.columns, self.criterion = columns, criterion
        times = series.period * np.arange(samples) / samples
        self._basis = [series.basis(times, order) for order in range(3)]

    def information(self, coefficients: Array) -> Array:
        """Return the information matrix on the row space, (r, r)."""
        _, _, projected = self._regress(coefficients)
        return _gram(projected) + self.earlier

    def evaluate(self, coefficients: Array, sharpness: float = np.inf) -> Evaluation:
        """
        Return merit, gradient and value.

        Parameters
        ----------
        coefficients
            (size, n).
        sharpness
            See `Criterion.merit`.

        """
        (q, v, a), regressor, projected = self._regress(coefficients)
        information, norms = self._scaled(_gram(projected) + self.earlier)
        # evr stays on the calling thread, numpy's evd does not
        eigenvalues, vectors = eigh(information, driver='evr', check_finite=False)
        if not eigenvalues[0] > 0:
            return Evaluation(np.inf, np.zeros_like(coefficients), np.nan)
        merit, slope = self.criterion.merit(eigenvalues, sharpness)
        # d merit = sum(slope_k u_k' dM u_k), M = X'X, X = W row_space
        inner = (vectors * slope) @ vectors.T
        if self.columns.equal:    # A = D M D, D = diag(M)^-1/2 depends on M too
            inner = inner - np.diag((inner * information).sum(axis=0))
            inner = inner / norms / norms[:, None]
        inner = 2.0 * inner @ self.columns.row_space.T
        cotangent = _product(projected, inner).reshape(regressor.shape)
        by_motion = self.columns.vjp(q, v, a, cotangent)
        gradient = sum(basis.T @ g for basis, g in zip(self._basis, by_motion))
        return Evaluation(merit, np.asarray(gradient), self.criterion.value(eigenvalues))

    def value_only(self, coefficients: Array) -> tuple[float, float]:
        """Return merit and value without the gradient; infinite and NaN as `evaluate`."""
        information, _ = self._scaled(self.information(coefficients))
        eigenvalues = eigh(information, driver='evr', check_finite=False, eigvals_only=True)
        if not eigenvalues[0] > 0:
            return np.inf, np.nan
        return self.criterion.merit(eigenvalues)[0], self.criterion.value(eigenvalues)

    def _scaled(self, information: Array) -> tuple[Array, Array]:
        """Return the information matrix, of unit columns if requested, and the norms, (r,)."""
        if not self.columns.equal:
            return information, np.ones(len(information))
        norms = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
        return information / norms / norms[:, None], norms

    def _regress(self, coefficients: Array) -> tuple[tuple[Array, Array, Array], Array, Array]:
        q, v, a = (basis @ coefficients for basis in self._basis)
        regressor = self.columns.regressor(q, v, a)
        rows = regressor.reshape(-1, self.columns.size)
        return (q, v, a), regressor, _product(rows, self.columns.row_space)


def _blocks(rows: Array, work: int) -> list[slice]:
    """Blocks that BLAS does not spread over threads: starts in parallel would queue for them."""
    length = max(1, SMALL_PRODUCT // work)
    return [slice(first, first + length) for first in range(0, len(rows), length)]


def _product(rows: Array, matrix: Array) -> Array:
    out = np.empty((len(rows), matrix.shape[1]))
    for block in _blocks(rows, matrix.size):
        np.matmul(rows[block], matrix, out=out[block])
    return out


def _gram(rows: Array) -> Array:
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for block in _blocks(rows, total.size):
        total += rows[block].T @ rows[block]
    return total
