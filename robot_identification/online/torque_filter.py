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
"""Recursive least squares by information filters, also of nonlinear friction parameters."""

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import ConfigurationError, explain_missing, UnknownNameError
from robot_identification.estimation.prior import Prior
from robot_identification.regression import Regression
from robot_identification.regression.separable import row_chunks
from scipy.linalg.lapack import dtpqrt, dtrtrs

REST_SPEED = 0.01
"""[rad/s or m/s] Speed of an actuator below which the torques of its joints are not used: static
friction can have any value there."""
WIDTH = 3.0
"""[-] Ratio of the initial standard deviations to those of the prior around the URDF. A wider
start lets the data correct a URDF whose inertias are wrong by more than the prior assumes."""
UNFILTERED = read_only(np.ones(1))
"""Filter coefficients for single samples, which are not decimated."""
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
        return np.linalg.norm(self._solve_transposed((rows * self._scale).T), axis=0)

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


class TorqueFilter:
    """
    Information filter of r base parameters and the logarithms of nonlinear friction parameters.

    The nonlinear friction parameters of the m actuators are called the shape, (m, s). The torques
    are linearised at the current estimate. The logarithms of the shape start in the middle of
    their bounds, with a standard deviation of a quarter of the distance of the bounds, and are
    clipped to the bounds after each update.

    Parameters
    ----------
    base
        Base parameters with the friction model.
    nonlinear
        Whether the shape is estimated; otherwise that of `base.structure` is used.
    start
        Initial base parameters and their standard deviations, (r,) each.
    noise
        Standard deviation of the torques, (n,) [N m or N].
    forgetting
        As for `InformationFilter`.
    rest_speed
        Speed of an actuator below which the torques of its joints are not used [rad/s or m/s].

    """

    def __init__(self, base: BaseParameters, nonlinear: bool, start: tuple[Array, Array],
                 noise: Array, forgetting: str = 'none', rest_speed: float = REST_SPEED) -> None:
        structure = base.structure
        self.base, self.noise, self.rest_speed = base, noise, rest_speed
        self._nonlinear = nonlinear
        self._bounds = np.log(structure.shape_bounds.reshape(-1, 2))[:None if nonlinear else 0]
        mean, std = start
        self.filter = InformationFilter(
            np.append(mean, self._bounds.mean(axis=1)),
            np.append(std, np.diff(self._bounds, axis=1)[:, 0] / 4), forgetting)
        self._transmission = structure.arm.transmission
        self._acts = self._transmission != 0
        # index of each standard parameter among the base parameters, -1 if it is not one
        indices = np.full(structure.count, -1)
        indices[base.columns] = np.arange(base.rank)
        friction = indices[structure.friction_slice].reshape(len(self._transmission), -1)
        self._actuators, self._columns = np.nonzero(friction >= 0)
        self._indices = friction[self._actuators, self._columns]
        self._units = np.eye(len(self.filter.values))[
            [*self._indices, *range(base.rank, len(self.filter.values))]]

    @staticmethod
    def urdf_start(base: BaseParameters, width: float) -> tuple[Array, Array]:
        """Return the URDF's base parameters, and `width` times their prior standard deviations."""
        prior = Prior.from_urdf(base.structure)
        deviations = np.linalg.norm(base.matrix @ prior.transform, axis=1)
        return base.project(prior.mean), width * deviations

    @property
    def parameters(self) -> Array:
        """Current base parameters, (r,)."""
        return self.filter.values[:self.base.rank]

    @property
    def shape(self) -> Array:
        """Current nonlinear friction parameters of the m actuators, (m, s)."""
        shape: Array = self.base.structure.shape
        return (np.exp(self.filter.values[self.base.rank:]).reshape(shape.shape)
                if self._nonlinear else shape)

    def run(self, regression: Regression, memory: float) -> None:
        """
        Update the filter with all samples of the recordings.

        Parameters
        ----------
        regression
            The regression problem of the recordings.
        memory
            Time constant of the forgetting [s]; ignored if `forgetting` is 'none'.

        """
        for chunk in row_chunks(regression):
            keep = float(np.exp(-(1 / chunk.decimator.decimated_rate) / memory))
            columns = chunk.stacked(self.base.rank)
            taps, step = chunk.decimator.taps, chunk.decimator.factor
            for row in range(len(chunk)):
                window = slice(row * step, row * step + len(taps))
                self.update(columns[row], chunk.torques[row], chunk.v[window], keep,
                            None if chunk.load is None else chunk.load[window], taps)

    def update(self, columns: Array, torque: Array, v: Array, keep: float = 1.0,
               load: Array | None = None,
               taps: Array = UNFILTERED) -> tuple[Array, NDArray[np.bool_]]:
        """
        Update the estimate with the torques of one sample, or of one row of a decimation filter.

        Parameters
        ----------
        columns
            Columns of the base parameters, (n, r). If the shape is estimated, friction columns are
            computed anew at the current shape.
        torque
            Joint torques, (n,) [N m or N].
        v, load
            Velocities and transmitted torques of the joints at the L samples of the decimation
            filter, (L, n).
        keep
            Fraction of the old information that is kept.
        taps
            Coefficients of the decimation filter, (L,).

        Returns
        -------
        tuple
            Measured torque minus the torque predicted before the update, (n,) [N m or N]; and
            whether the torque of each joint was used, (n,) bool, False if one of its actuators is
            at rest or its columns are zero.

        """
        speeds = v @ self._transmission.T
        jacobian, second_order = columns, np.zeros(len(columns))
        if self._nonlinear:
            jacobian, second_order = self._linearise(columns, v, load, taps)
        rank = self.base.rank
        innovation = torque - jacobian[:, :rank] @ self.parameters
        resting = np.abs(taps @ speeds) < self.rest_speed
        used: NDArray[np.bool_] = ~(resting @ self._acts)
        if self._nonlinear:    # without shapes, rows that are zero change nothing
            used &= columns.any(axis=1)
        if not used.any():
            return innovation, used
        rows, noise = jacobian[used], self.noise[used]
        if self._nonlinear:
            # The linearisation error of an uncertain shape is added to the noise; otherwise the
            # torques get too much weight and the filter diverges. The first-order term is the
            # variance due to the shape. It is zero while the linear parameters that multiply the
            # shape are zero, so the second-order term (A. H. Jazwinski, "Stochastic Processes and
            # Filtering Theory", 1970, section 9.7) is needed as well.
            by_shape = np.where(np.arange(rows.shape[1]) < rank, 0.0, rows)
            noise = np.sqrt(noise ** 2 + self.filter.row_deviations(by_shape) ** 2
                            + second_order[used])
        self.filter.update(rows, innovation[used], noise, keep)
        if self._nonlinear:
            self.filter.values[rank:] = np.clip(self.filter.values[rank:], *self._bounds.T)
        return innovation, used

    def _linearise(self, columns: Array, v: Array, load: Array | None,
                   taps: Array) -> tuple[Array, Array]:
        """
        Return the Jacobian of the torques, (n, r + m s), and the second-order variance, (n,).

        The second-order terms are products of the error of a nonlinear parameter and the errors of
        the linear parameters whose columns depend on it.
        """
        structure, shape, rank = self.base.structure, self.shape, self.base.rank
        motion = structure.friction_input(None, v, load)
        values, slopes = (np.stack([
            np.einsum('l,l...', taps, function(motion.actuator(e), shape[e]))
            for e in range(len(shape))])
            for function in (structure.friction.columns, structure.friction.shape_gradient))
        e, acts = self._actuators, self._transmission.T
        slopes = slopes[e, self._columns] * shape[e]    # with respect to log(shape)
        jacobian = np.zeros((len(columns), len(self.filter.values)))
        jacobian[:, :rank] = columns
        jacobian[:, self._indices] = acts[:, e] * values[e, self._columns]
        change = np.zeros_like(shape)
        np.add.at(change, e, self.parameters[self._indices, None] * slopes)
        jacobian[:, rank:] = (acts[:, :, None] * change).reshape(len(columns), -1)
        parameters, shapes = np.split(self.filter.row_deviations(self._units), [len(e)])
        products = parameters[:, None] * shapes.reshape(shape.shape)[e] * slopes
        return jacobian, acts[:, e] ** 2 @ np.sum(products ** 2, axis=1)
