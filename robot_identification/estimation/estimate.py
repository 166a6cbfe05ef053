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
"""Estimate of the base parameters with its diagnostics, and the covariance of a model file."""

from dataclasses import dataclass, field

import numpy as np
from robot_identification.arrays import Array, ReadOnlyArrays, svd
from robot_identification.dynamics import BaseParameters, inverse_dynamics
from robot_identification.dynamics.structure import ModelStructure
from scipy import special

OK = 'ok'
RANK_DEFICIENT = 'rank_deficient'
NOT_CONVERGED = 'not_converged'


@dataclass(frozen=True, eq=False)
class Estimate(ReadOnlyArrays):
    """
    Base parameters with their covariance.

    Parameters
    ----------
    estimator
        Name of the estimator.
    base
        The base parameters and the model structure.
    values
        (r,) base parameters.
    covariance
        (r, r); infinite variances of undetermined parameters.
    noise
        Standard deviation of each joint's torque noise, (n,) [N m or N], per independent row.
    autocorrelation_factor
        Spectral density of each joint's residuals at low frequencies over that of white noise with
        the same variance, (n,) >= 1; the covariance includes it.
    residual_rms
        Root mean square of each joint's residual on the fitted rows, (n,) [N m or N].
    relative_error
        Norm of residuals over norm of torques on the fitted rows, per joint, (n,).
    rows
        Rows per joint, (n,).
    condition_number
        Condition number of the unweighted base regressor, in SI units.
    rank
        Numerical rank; `base.rank` if the motion excites all parameters.
    unexcited
        Labels of the base parameters that the data do not determine.
    status
        'ok', 'rank_deficient' or 'not_converged'.
    message
        Explanation of the status, and a remedy.
    iterations
        Iterations of the reweighting.
    shape_covariance
        Covariance of the logarithms of the nonlinear friction parameters, (m s, m s); infinite
        variances of those that the data do not determine or that lie on their bounds. Empty if
        they were given, or the friction has none.
    own_values
        Whether the values do not minimise the weighted squared residuals; the consistent model is
        then the nearest one in the metric of the covariance instead of a fit to the rows.
    equal_weights
        Whether all joints have the same weight instead of one from their noise.
    interval_doubt
        Why the confidence intervals are too narrow; empty if they are not.
    has_intervals
        Whether confidence intervals are stated. They are infinite otherwise: with this estimator
        or friction they would contain the true value much less often than they state.

    """

    estimator: str
    base: BaseParameters
    values: Array
    covariance: Array
    noise: Array
    autocorrelation_factor: Array
    residual_rms: Array
    relative_error: Array
    rows: Array
    condition_number: float
    rank: int
    unexcited: tuple[str, ...]
    status: str
    message: str
    iterations: int
    shape_covariance: Array = field(default_factory=lambda: np.zeros((0, 0)))
    own_values: bool = False
    equal_weights: bool = False
    interval_doubt: str = ''
    has_intervals: bool = True

    def __repr__(self) -> str:
        return (f'<Estimate {self.estimator}: {self.base.rank} base parameters, condition number '
                f'{self.condition_number:.4g}, {self.status}>')

    @property
    def labels(self) -> tuple[str, ...]:
        """Short names of the base parameters."""
        return self.base.labels

    @property
    def names(self) -> tuple[str, ...]:
        """Linear combinations of standard parameters that the base parameters represent."""
        return self.base.names

    @property
    def shape(self) -> Array:
        """Nonlinear friction parameters of each joint and drive, (m, s)."""
        return self.base.structure.shape

    @property
    def weights(self) -> Array:
        """Reciprocal standard deviation of each joint's noise, autocorrelation included, (n,)."""
        return 1 / (self.noise * np.sqrt(self.autocorrelation_factor))

    @property
    def standard_deviations(self) -> Array:
        """Standard deviations of the values, (r,)."""
        return np.sqrt(np.diag(self.covariance))

    def confidence_interval(self, level: float = 0.95) -> Array:
        """Return confidence intervals of the values, (r, 2); infinite if none are stated."""
        half = special.ndtri(0.5 + level / 2) * (
            self.standard_deviations if self.has_intervals else np.inf)
        return np.column_stack([self.values - half, self.values + half])


STATES = 500
"""Number of states at which the torque of a direction is evaluated."""
SPEED = 0.5
"""Largest velocity of these states over the limit; 1 rad/s or m/s if there is no limit."""
KEPT = 0.97
"""Fraction of the torque variance that the stored directions explain; each joint is normalised."""
DIGITS = 4
"""Significant digits of the directions in the file; the parameters have all digits."""


def low_rank_covariance(structure: ModelStructure, covariance: Array) -> Array:
    """
    Return a factor D (r, p) of low rank whose product D'D approximates the covariance.

    The omitted directions cause less than 1 - `KEPT` of the torque variance, over states within
    the limits of the arm rather than those of the training motion.

    Parameters
    ----------
    structure
        Structure of the model, with p standard parameters.
    covariance
        Covariance of these parameters, (p, p).

    """
    limits, n = structure.arm.limits, structure.arm.n
    bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    lower, upper = np.where(bounded, [limits.lower, limits.upper], [[-np.pi], [np.pi]])
    points = halton_points(STATES, 2 * n)
    q = lower + points[:, :n] * (upper - lower)
    v = (2 * points[:, n:] - 1) * SPEED * np.where(np.isfinite(limits.velocity),
                                                   limits.velocity, 1 / SPEED)
    a = np.zeros_like(q)
    load = inverse_dynamics(structure.arm, q, v, a)
    half = covariance_root(covariance)
    errors = structure.columns(q, v, a, load, structure.sliding_state(v)) @ half.T    # (N, n, p)
    scale = np.maximum(np.sqrt(np.mean(np.sum(errors ** 2, axis=2), axis=0)), 1e-300)
    _, sizes, right = svd((errors / scale[:, None]).reshape(q.size, -1))
    explained = np.cumsum(sizes ** 2) / max(float(np.sum(sizes ** 2)), 1e-300)
    count = int(np.searchsorted(explained, KEPT)) + 1
    return right[:count] @ half


def halton_points(count: int, dimensions: int) -> Array:
    """Return Halton's sequence in the unit cube, (count, dimensions), as `scipy.stats.qmc`."""
    primes = [p for p in range(2, 8 * dimensions) if all(p % k for k in range(2, p))]
    points = np.zeros((count, dimensions))
    for base, column in zip(primes, points.T):
        digits, scale = np.arange(count), 1.0
        while np.any(digits):
            scale /= base
            column += scale * (digits % base)
            digits //= base
    return points


def to_rows(directions: Array) -> list[list[float]]:
    """Return the directions as plain numbers with `DIGITS` digits."""
    return [[float(f'{x:.{DIGITS}g}') for x in row] for row in directions]


def covariance_root(covariance: Array) -> Array:
    """Return the matrix H (p, p) with H'H = covariance."""
    sizes, vectors = np.linalg.eigh(np.asarray(covariance, dtype=float))
    return np.sqrt(np.maximum(sizes, 0.0))[:, None] * vectors.T
