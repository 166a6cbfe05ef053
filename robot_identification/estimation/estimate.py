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
"""What an estimator returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import BaseParameters
from scipy import stats

OK = 'ok'
RANK_DEFICIENT = 'rank_deficient'
NOT_CONVERGED = 'not_converged'


@dataclass(frozen=True, eq=False)
class Estimate:
    """
    Base parameters with their covariance.

    Parameters
    ----------
    estimator
        Name of the estimator.
    base
        What the values mean.
    values
        (r,) base parameters.
    covariance
        (r, r); infinite variances where the data say nothing.
    noise
        Standard deviation of each joint's torque noise, (n,) [N m or N], per independent row.
    autocorrelation_factor
        Density of each joint's residuals at low frequencies over that of white noise with the same
        variance, (n,) >= 1; contained in the covariance.
    residual_rms
        Root mean square of each joint's residual on the fitted rows, (n,) [N m or N].
    relative_error
        Norm of residuals over norm of torques on the fitted rows, per joint, (n,).
    rows
        Rows per joint, (n,).
    condition_number
        Condition number of the unweighted regressor of the base parameters, in SI units.
    rank
        Numerical rank; `base.rank` when everything is excited.
    unexcited
        Base parameters that the data do not determine, by label.
    status
        'ok', 'rank_deficient' or 'not_converged'.
    message
        What that means and what to do.
    iterations
        Rounds of re-weighting.
    shape_covariance
        Covariance of the logarithms of the friction's shape numbers, (m s, m s); infinite
        variances for those that the data do not determine or that lie on their bounds. Empty when
        the shape was given, or the friction has none.
    own_values
        Whether the values are not a minimum of the rows' weighted squares, so that a consistent
        model has to be the nearest to values and covariance instead of being fitted to the rows.
    equal_weights
        Whether all joints weigh the same, in N m or N, instead of by their noise.
    interval_doubt
        Why intervals from this covariance hold less often than they state; empty where they hold.

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

    def __repr__(self) -> str:
        return (f'<Estimate {self.estimator}: {self.base.rank} base parameters, condition number '
                f'{self.condition_number:.4g}, {self.status}>')

    def __post_init__(self) -> None:
        for name in ('values', 'covariance', 'noise', 'autocorrelation_factor', 'residual_rms',
                     'relative_error', 'shape_covariance'):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        object.__setattr__(self, 'rows', read_only(self.rows, np.int64))

    @property
    def labels(self) -> tuple[str, ...]:
        """Short names of the values."""
        return self.base.labels

    @property
    def names(self) -> tuple[str, ...]:
        """The combinations that the values are of."""
        return self.base.names

    @property
    def shape(self) -> Array:
        """Shape numbers of the friction of each joint and drive, (m, s)."""
        return self.base.structure.shape

    @property
    def standard_deviations(self) -> Array:
        """Standard deviations of the values, (r,)."""
        return read_only(np.sqrt(np.diag(self.covariance)))

    def confidence_interval(self, level: float = 0.95) -> Array:
        """Return lower and upper bounds of the values, (r, 2), at a confidence level."""
        half = stats.norm.ppf(0.5 + level / 2) * self.standard_deviations
        return read_only(np.column_stack([self.values - half, self.values + half]))
