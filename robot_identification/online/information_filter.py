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
from robot_identification.errors import ConfigurationError, explain_missing, UnknownNameError
from scipy.linalg.lapack import dtpqrt, dtrtrs

FORGETTING = ('none', 'directional', 'uniform')
"""Kinds of forgetting, see `InformationFilter`."""


class InformationFilter:
    """
    Square-root information filter for p unknowns.

    The state is the triangular factor S with S'S = inverse covariance. Measurements are added by
    orthogonal transformations, so that the covariance stays positive definite after any number of
    updates.

    Parameters
    ----------
    mean
        Initial estimate, (p,).
    std
        Standard deviations of the initial estimate, (p,), positive.
    forgetting
        'none': Kalman filter for constant unknowns. 'directional': only information in the
        directions of the new measurements is forgotten, so that none is lost at rest. 'uniform':
        all information is forgotten, so that the covariance grows without limit at rest (S. Zhang
        et al., Science China Information Sciences, 2018, equation (23)). With the same time
        constant, 'directional' forgets more slowly, about by the ratio of the number of unknowns
        to the number of measurements of an update.

    References
    ----------
    G. J. Bierman, "Factorization methods for discrete sequential estimation", 1977 (SRIF).
    L. Cao, H. M. Schwartz, "A directional forgetting algorithm based on the decomposition of the
    information matrix", Automatica 36(11), 2000.

    """

    def __init__(self, mean: Array, std: Array, forgetting: str = 'none') -> None:
        if forgetting not in FORGETTING:
            raise UnknownNameError('kind of forgetting', forgetting, FORGETTING)
        self.values = np.array(mean, dtype=float)
        self._scale = np.array(std, dtype=float)
        if not np.all(np.isfinite(self._scale) & (self._scale > 0)):
            raise ConfigurationError('the initial deviations must be finite and positive')
        self._factor = np.eye(len(self.values))
        with explain_missing('numba', 'a recursive estimator'):
            from robot_identification.online.filter_kernels import forget
        self._forget = forget
        self.forgetting = forgetting

    @property
    def covariance(self) -> Array:
        """Covariance of the estimate, (p, p)."""
        return self.projected_covariance(np.eye(len(self.values)))

    @property
    def deviations(self) -> Array:
        """Standard deviations of the estimate, (p,)."""
        return self.row_deviations(np.eye(len(self.values)))

    def row_deviations(self, rows: Array) -> Array:
        """Return the standard deviations of rows @ unknowns, (k,), for rows (k, p)."""
        half = self._solve_transposed((rows * self._scale).T)
        return np.sqrt(np.sum(half ** 2, axis=0))

    def copy_state(self) -> tuple[Array, Array]:
        """Return copies of the estimate and of the triangular factor, for `restore_state`."""
        return self.values.copy(), self._factor.copy()

    def restore_state(self, state: tuple[Array, Array]) -> None:
        """Return to a state of `copy_state`."""
        self.values, self._factor = state[0].copy(), state[1].copy()

    def projected_covariance(self, rows: Array) -> Array:
        """Return rows @ covariance @ rows', (k, k), for rows (k, p)."""
        half = self._solve_transposed((rows * self._scale).T)
        return half.T @ half

    def widen(self, directions: Array) -> None:
        """Add directions @ directions' to the covariance, for directions (p, k)."""
        half = self._solve_transposed(np.eye(len(self.values)))
        triangle = np.linalg.qr(np.vstack([half, (directions / self._scale[:, None]).T]), 'r')
        inverse = dtrtrs(triangle, np.eye(len(self.values)), trans=1)[0]    # lower triangular
        self._factor = np.ascontiguousarray(np.linalg.qr(inverse, 'r'))

    def update(self, rows: Array, innovation: Array, noise: Array, keep: float = 1.0) -> None:
        """
        Update the estimate with k measurements: innovation = rows @ (unknowns - values) + noise.

        Parameters
        ----------
        rows
            Coefficients of the unknowns, (k, p).
        innovation
            Measured minus predicted values, (k,).
        noise
            Standard deviations of the measurements, (k,).
        keep
            Fraction of the old information that is kept, 0 < keep <= 1; ignored if `forgetting` is
            'none'.

        """
        rows, right = rows * (self._scale / noise[:, None]), innovation / noise
        p = len(self.values)
        if self.forgetting == 'directional' and keep < 1.0:
            for row in rows:
                self._forget(self._factor, row, keep)
        elif self.forgetting == 'uniform':
            self._factor *= np.sqrt(keep)
        # [S, 0; rows, right] becomes [S, z; 0, *], of which S step = z; blocks of len(rows) + 1
        system = np.zeros((p + 1, p + 1))
        system[:p, :p] = self._factor
        system = dtpqrt(0, min(len(rows), p) + 1, system, np.column_stack([rows, right]))[0]
        self._factor = np.ascontiguousarray(system[:p, :p])
        self.values = self.values + self._scale * dtrtrs(system[:p, :p], system[:p, p])[0]

    def _solve_transposed(self, right: Array) -> Array:
        """Return the solution x of S'x = right, (p, k)."""
        # LAPACK stores by columns, so the transposed factor is passed without a copy
        return np.asarray(dtrtrs(self._factor.T, right, lower=1)[0], dtype=float)
