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
"""Objective of a design: a criterion as a function of the coefficients, with its gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.design.criteria import Criterion
from robot_identification.excitation.design.regressor import DesignRegressor
from robot_identification.excitation.motion import Series
from scipy.linalg import eigh


@dataclass(frozen=True)
class Evaluation:
    """
    Value and gradient of the objective at one point.

    Parameters
    ----------
    merit
        Value of the function to minimise; infinite if the motion does not excite all base
        parameters.
    gradient
        Derivative of the merit with respect to the coefficients, (size, n).
    value
        Value of the criterion, for reports; NaN if the merit is infinite.

    """

    merit: float
    gradient: Array
    value: float


class DesignObjective:
    """
    Criterion of a motion, computed from the regressor at evenly spaced times of its period.

    Parameters
    ----------
    columns
        Regressor of the arm.
    series
        The parametrisation.
    samples
        Number of samples in a period.
    criterion
        Criterion to optimise.
    earlier
        Information matrix, (r, r), of the recordings that the motion complements, in the basis of
        the row space; zero when None.

    """

    def __init__(self, columns: DesignRegressor, series: Series, samples: int,
                 criterion: Criterion, earlier: Array | None = None) -> None:
        self.earlier = np.zeros((columns.rank, columns.rank)) if earlier is None else earlier
        self.columns, self.criterion = columns, criterion
        times = series.period * np.arange(samples) / samples
        self._basis = [series.basis(times, order) for order in range(3)]

    def evaluate(self, coefficients: Array, sharpness: float = np.inf) -> Evaluation:
        """
        Return the merit, its gradient (size, n), and the criterion's value for a motion.

        Parameters
        ----------
        coefficients
            Coefficients of the motion, (size, n).
        sharpness
            See `Criterion.merit`.

        """
        (q, v, a), regressor, projected = self._regress(coefficients)
        information, norms = self._scaled(projected)
        # the driver 'evr' runs on the calling thread, NumPy's 'evd' does not
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
        by_motion = self.columns.vjp(q, v, a, (projected @ inner).reshape(regressor.shape))
        gradient = sum(basis.T @ g for basis, g in zip(self._basis, by_motion))
        return Evaluation(merit, np.asarray(gradient), self.criterion.value(eigenvalues))

    def value_only(self, coefficients: Array) -> tuple[float, float]:
        """Return merit and value like `evaluate`, without the gradient."""
        information, _ = self._scaled(self._regress(coefficients)[2])
        eigenvalues = eigh(information, driver='evr', check_finite=False, eigvals_only=True)
        if not eigenvalues[0] > 0:
            return np.inf, np.nan
        return self.criterion.merit(eigenvalues)[0], self.criterion.value(eigenvalues)

    def _scaled(self, projected: Array) -> tuple[Array, Array]:
        """Return the information matrix, scaled if requested, and the columns' norms, (r,)."""
        information = projected.T @ projected + self.earlier
        if not self.columns.equal:
            return information, np.ones(len(information))
        norms = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
        return information / norms / norms[:, None], norms

    def _regress(self, coefficients: Array) -> tuple[tuple[Array, Array, Array], Array, Array]:
        q, v, a = (basis @ coefficients for basis in self._basis)
        regressor = self.columns.regressor(q, v, a)
        rows = regressor.reshape(-1, self.columns.size)
        return (q, v, a), regressor, rows @ self.columns.row_space
