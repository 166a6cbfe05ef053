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
"""The optimisation problem of a design: its objective, within constraints."""

from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExcitationError
from robot_identification.excitation.certificate.constraint import Constraint
from robot_identification.excitation.design.criteria import Criterion
from robot_identification.excitation.design.regressor import DesignRegressor
from robot_identification.excitation.motion import Series
from robot_identification.excitation.motion.limits import centre, half_ranges
from robot_identification.excitation.motion.series import TIMES_PER_HARMONIC
from scipy.linalg import eigh

AMPLITUDE = 0.7      # [-] fraction of the ranges that a random start uses
OFFSET = 0.2         # [-] largest |x_0 - middle of the range| at the first attempt, in half ranges
SMALLEST = 1e-3      # [-] fraction of that amplitude below which a start is rejected
ATTEMPTS = 40        # random starts, or poses at rest, before a search for one fails


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
        q, v, a = (basis @ coefficients for basis in self._basis)
        regressor = self.columns.regressor(q, v, a)
        projected = regressor.reshape(-1, self.columns.size) @ self.columns.row_space
        information = projected.T @ projected + self.earlier
        if self.columns.equal:
            norms = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
            information = information / norms / norms[:, None]
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


@dataclass(frozen=True)
class Problem:
    """
    Minimisation of an objective over the coefficients of a motion, within constraints.

    Parameters
    ----------
    series
        The parametrisation.
    objective
        The function to minimise.
    constraints
        The constraints, each with slacks that must stay positive.
    limits
        Complete joint limits, which scale the coefficients and the random starts.
    free
        Mask of the coefficients that may change, (size, n) bool.
    rest
        Values of the coefficients that are fixed, (size, n).
    margin
        Fraction of the joint limits that stays free.

    """

    series: Series
    objective: DesignObjective
    constraints: tuple[Constraint, ...]
    limits: Limits
    free: Array
    rest: Array
    margin: float = 0.0

    @property
    def scale(self) -> Array:
        """Scales of the coefficients, (size, n): half ranges of position, then of velocity."""
        ranges = half_ranges(self.limits)
        scale = np.tile(ranges[1], (self.series.size, 1))
        scale[0] = ranges[0]
        return scale

    def start(self, rng: np.random.Generator) -> Array:
        """
        Return the coefficients of a random motion within the constraints, (size, n).

        Parameters
        ----------
        rng
            Random generator.

        Raises
        ------
        ExcitationError
            A constraint is violated even at negligible amplitude.

        """
        for attempt in range(ATTEMPTS):
            swing = self._draw(rng, min(0.95, OFFSET + attempt / ATTEMPTS))
            still = np.zeros_like(swing)
            still[0] = swing[0]
            fraction = 1.0 if self.most_violated(still) is None else 0.0
            while fraction > SMALLEST:
                if self.most_violated(swing) is None:
                    return swing
                fraction /= 2
                swing[1:] /= 2
        obstacle, hint = self.describe_obstacle(rng)
        raise ExcitationError(f'no motion is possible: {obstacle}, even at rest; {hint}')

    def describe_obstacle(self, rng: np.random.Generator) -> tuple[str, str]:
        """
        Describe the most violated constraint in the best of several random poses, with a hint.

        Parameters
        ----------
        rng
            Random generator of the poses.

        """
        best, description, hint = -np.inf, '', ''
        for _ in range(ATTEMPTS):
            still = self._draw(rng, 0.95)
            still[1:] = 0.0
            slack, constraint, index = self._nearest(still)
            if slack > best:
                best, hint = slack, constraint.hint
                description = ' is missed by '.join(constraint.describe(index, slack))
        if np.any(self.free[0]):
            return f'{description} in the best of {ATTEMPTS} poses tried', hint
        return f'{description} at the given start', f'give another start, or {hint}'

    def _draw(self, rng: np.random.Generator, offset: float) -> Array:
        ranges, middle = half_ranges(self.limits), centre(self.limits)
        position = np.where(self.free[0], middle + offset * rng.uniform(-1, 1, len(middle))
                            * ranges[0], self.rest[0])
        swing = rng.normal(size=self.scale.shape) * self.scale * self.free
        swing[0] = 0.0
        margin = np.ones_like(ranges)
        margin[0] = 1.0 - np.abs(position - middle) / ranges[0]
        times = np.linspace(0.0, self.series.period, TIMES_PER_HARMONIC * self.series.resolution)
        used = [np.abs(self.series.basis(times, d) @ swing).max(axis=0) / ranges[d] / margin[d]
                for d in range(len(ranges))]
        swing *= AMPLITUDE / np.maximum(np.max(used, axis=0), 1e-300)
        swing[0] = position
        return swing

    def _nearest(self, coefficients: Array) -> tuple[float, Constraint, int]:
        """Return the smallest slack, its constraint and its index."""
        slacks = [constraint.slack(coefficients) for constraint in self.constraints]
        slack, constraint = min(zip(slacks, self.constraints), key=lambda pair: pair[0].min())
        index = int(np.argmin(slack))
        return float(slack[index]), constraint, index

    def most_violated(self, coefficients: Array) -> str | None:
        """Describe the most violated constraint; None if all hold."""
        slack, constraint, index = self._nearest(coefficients)
        return constraint.describe(index, slack)[0] if slack <= 0 else None


@dataclass(frozen=True)
class Minimum:
    """
    Best motion that an optimiser found from one start.

    Parameters
    ----------
    coefficients
        (size, n), within the constraints.
    value
        Value of its criterion.
    finished
        Whether the optimiser finished; False if it was stopped.
    earlier
        Value and coefficients of the best motion at the end of each phase.

    """

    coefficients: Array
    value: float
    finished: bool
    earlier: tuple[tuple[float, Array], ...] = ()
