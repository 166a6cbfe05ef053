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
"""Estimate of the base parameters with its covariance and diagnostics."""

from dataclasses import dataclass, field

import numpy as np
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import BaseParameters
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
