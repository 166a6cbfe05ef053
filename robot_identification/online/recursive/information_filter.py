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
"""Recursive least squares as a square-root information filter."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError, MissingDependencyError
from scipy.linalg import solve_triangular

FORGETTING = ('none', 'directional', 'uniform')


class InformationFilter:
    """
    Square-root information filter of p unknowns: triangular S with S'S = inverse covariance.

    Rows are added by orthogonal transformations, so that the covariance stays positive definite
    after any number of updates.

    Parameters
    ----------
    mean
        Initial estimate, (p,).
    deviation
        Its standard deviations, (p,), positive.
    forgetting
        'none' (Kalman filter of constant unknowns), 'directional' (only in the directions of the
        new rows, so that no information is lost at rest), or 'uniform' (in all directions, the
        survey's equation (23): at rest the covariance grows without limit). With the same time
        constant 'directional' forgets slower, by about the number of unknowns over the number of
        rows of an update.

    References
    ----------
    G. J. Bierman, "Factorization methods for discrete sequential estimation", 1977 (SRIF).
    L. Cao, H. M. Schwartz, "A directional forgetting algorithm based on the decomposition of the
    information matrix", Automatica 36(11), 2000.

    """

    def __init__(self, mean: Array, deviation: Array, forgetting: str = 'none') -> None:
        if forgetting not in FORGETTING:
            raise ConfigurationError(f"forgetting is one of {', '.join(FORGETTING)}, not "
                                     f"'{forgetting}'")
        self.values = np.array(mean, dtype=float)
        self._scale = np.array(deviation, dtype=float)
        if not np.all(np.isfinite(self._scale) & (self._scale > 0)):
            raise ConfigurationError('the initial deviations must be finite and positive')
        self._factor = np.eye(len(self.values))
        try:
            from robot_identification.online.recursive import kernels
        except ImportError as error:
            raise MissingDependencyError('numba', 'a recursive estimator') from error
        self._kernels = kernels
        self.forgetting = forgetting

    @property
    def covariance(self) -> Array:
        """Covariance of the values, (p, p)."""
        half = solve_triangular(self._factor, np.diag(self._scale), trans='T')
        covariance: Array = half.T @ half
        return covariance

    @property
    def deviations(self) -> Array:
        """Standard deviations of the values, (p,)."""
        inverse = solve_triangular(self._factor, np.eye(len(self.values)))
        deviations: Array = self._scale * np.sqrt(np.sum(inverse ** 2, axis=1))
        return deviations

    def row_deviations(self, rows: Array) -> Array:
        """Return the standard deviations of rows (k, p) @ unknowns, (k,)."""
        half = solve_triangular(self._factor, (rows * self._scale).T, trans='T')
        deviations: Array = np.sqrt(np.sum(half ** 2, axis=0))
        return deviations

    def update(self, rows: Array, innovation: Array, noise: Array, keep: float = 1.0) -> None:
        """
        Update the values with measurements innovation = rows @ (unknowns - values) + noise.

        Parameters
        ----------
        rows
            (k, p).
        innovation
            (k,).
        noise
            Standard deviations of the measurements, (k,).
        keep
            Fraction of the old information that is kept, 0 < keep <= 1; unused without forgetting.

        """
        whitened = rows * self._scale / noise[:, None]
        if self.forgetting == 'uniform':
            self._factor *= np.sqrt(keep)
        elif self.forgetting == 'directional' and keep < 1.0:
            for row in whitened:
                self._kernels.forget(self._factor, row, keep)
        rhs = np.zeros(len(self.values) + len(rows))
        rhs[len(self.values):] = innovation / noise
        self._kernels.absorb(self._factor, whitened, rhs)
        self.values = self.values + self._scale * self._kernels.back_substitute(self._factor, rhs)
