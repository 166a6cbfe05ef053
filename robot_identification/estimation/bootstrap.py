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
"""Bootstrap over recordings: how an estimate scatters when whole recordings are drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.consistent import with_data_covariance
from robot_identification.estimation.fit import Fit, FitOptions
from robot_identification.parallel import parallel_map
from robot_identification.regression import NormalForm

FEWEST = 5
"""Recordings: four of them can be drawn in 35 ways, too few for tails of 2.5 %."""
LEAST = 100
"""Resamples: fewer leave the tails of an interval of 95 % to two or three of them."""
SEED = 0
ROUNDING = 1e-13
"""Relative eigenvalue of what no recording that was drawn shows."""
TOO_OFTEN = 0.025
"""Share of resamples that do not determine a parameter from which its interval has no end."""


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """
    Estimates of recordings that were drawn with replacement, as many as there are.

    Recordings are independent where samples are not: what differs from day to day, as temperature,
    friction or the rest of an incomplete model, is in these intervals, whatever its colour.

    Parameters
    ----------
    recordings
        How many there are.
    values
        Base parameters of each resample, (resamples, r); NaN where it does not determine one.
    standard
        Standard deviations of the consistent model's standard parameters, (count,): of the prior
        and of data whose covariance has these deviations and the correlations of the noise model.

    References
    ----------
    B. Efron, R. J. Tibshirani, "An introduction to the bootstrap", 1993, section 13 (percentile
    intervals); A. C. Davison, D. V. Hinkley, "Bootstrap methods and their application", 1997,
    section 3.8 (whole groups are drawn).

    """

    recordings: int
    values: Array
    standard: Array

    @staticmethod
    def check(options: FitOptions | None, arm: Arm, recordings: int, resamples: int) -> None:
        """
        Refuse what has no bootstrap.

        Parameters
        ----------
        options
            What is fitted; None where that is still to be chosen.
        arm
            The arm.
        recordings, resamples
            Their numbers.

        Raises
        ------
        ConfigurationError
            Too few resamples, or a fit that is more than a linear estimate.
        EstimationError
            Too few recordings.

        """
        if not isinstance(resamples, Integral) or resamples < LEAST:
            raise ConfigurationError(f'a bootstrap needs {LEAST} resamples or more, not '
                                     f'{resamples}; 1000 are usual')
        why = ("'auto' chooses it from all samples" if options is None
               else 'ridge leans on a prior, whose part does not scatter'
               if options.estimator.own_covariance and options.estimator.needs_only_factors
               else options.nonlinear(arm))
        if why:
            raise ConfigurationError(
                f'a bootstrap repeats a linear estimate from triangular factors, but {why}; take '
                'wls or ols, friction that is linear in its parameters, and no delays')
        if recordings < FEWEST:
            raise EstimationError(f'a bootstrap over recordings needs {FEWEST} or more, not '
                                  f'{recordings}; record more, or leave it out')

    @classmethod
    def of(cls, fit: Fit, options: FitOptions, resamples: int) -> Bootstrap:
        """
        Draw recordings and fit them again.

        Parameters
        ----------
        fit
            The fit of all recordings.
        options
            What it was made of.
        resamples
            How often.

        """
        drawing = _Drawing(fit.regression.reduced_per_recording())
        count = len(drawing.rows)
        draws = list(np.random.default_rng(SEED).multinomial(
            count, np.full(count, 1 / count), size=resamples))

        def one(counts: Array) -> Array:
            values, unexcited = options.estimator.refit(
                replace(fit.regression, reduced=drawing.normal(counts)), fit.estimate)
            values[unexcited] = np.nan
            return values

        drawn = cls(count, np.array(list(parallel_map(one, draws))), np.zeros(0))
        return replace(drawn, standard=drawn._of_standard(fit))

    def __post_init__(self) -> None:
        for name in ('values', 'standard'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def undetermined(self) -> Array:
        """Share of the resamples that do not determine a parameter, (r,)."""
        share: Array = np.isnan(self.values).mean(axis=0)
        return share

    @property
    def deviations(self) -> Array:
        """Standard deviations of the base parameters, (r,)."""
        known = self.undetermined <= TOO_OFTEN
        found = np.full(len(known), np.inf)
        found[known] = np.nanstd(self.values[:, known], axis=0, ddof=1)
        return found

    def interval(self, level: float = 0.95) -> Array:
        """Return lower and upper percentiles of the base parameters, (r, 2)."""
        known = self.undetermined <= TOO_OFTEN
        found = np.tile([-np.inf, np.inf], (len(known), 1))
        found[known] = np.nanquantile(self.values[:, known], [0.5 - level / 2, 0.5 + level / 2],
                                      axis=0).T
        return found

    def against(self, deviations: Array) -> str:
        """Return in words how these compare with deviations of the noise model, (r,)."""
        both = np.isfinite(self.deviations) & np.isfinite(deviations)
        low, middle, high = np.quantile(self.deviations[both] / deviations[both], [0.0, 0.5, 1.0])
        return (f'deviations of a bootstrap over {self.recordings} recordings ({len(self.values)} '
                f'resamples) are {middle:.2g} times those of the noise model in the median of the '
                f'base parameters, {low:.2g} to {high:.2g} times')

    def _of_standard(self, fit: Fit) -> Array:
        covariance = np.array(fit.estimate.covariance)
        spread, known = np.sqrt(np.diag(covariance)), np.isfinite(np.diag(covariance))
        factor = np.where(known, self.deviations / np.where(known, spread, 1.0), np.inf)
        known = np.isfinite(factor)
        covariance[np.ix_(known, known)] *= np.outer(factor[known], factor[known])
        covariance[~known, ~known] = np.inf
        consistent = with_data_covariance(
            fit.consistent, replace(fit.estimate, covariance=covariance))
        return np.sqrt(np.diag(consistent.covariance))


class _Drawing:
    """
    Normal forms of recordings that are drawn.

    For each joint [F_1; F_2; ...] = Q F with orthonormal Q, so the rows of recordings drawn k_1,
    k_2, ... times have the square F' (sum of k_i Q_i' Q_i) F: one small sum a resample, however
    many recordings there are, and F' F, which would square the condition, is never made.
    """

    def __init__(self, parts: Sequence[NormalForm]) -> None:
        self.first, self.rows = parts[0], np.array([part.rows for part in parts])
        self.factors, self.squares = [], []
        for factors in zip(*(part.factors for part in parts)):
            left, factor = np.linalg.qr(np.vstack(factors))
            left = left.reshape(len(parts), *factor.shape)
            self.factors.append(factor)
            self.squares.append(left.transpose(0, 2, 1) @ left)

    def normal(self, counts: Array) -> NormalForm:
        """Return the normal form of recordings, each drawn so many times, (recordings,)."""
        factors = []
        for factor, squares in zip(self.factors, self.squares):
            values, vectors = np.linalg.eigh(np.tensordot(counts, squares, 1))
            values = np.where(values > ROUNDING * values[-1], values, 0.0)
            factors.append(np.sqrt(values)[:, None] * vectors.T @ factor)
        return replace(self.first, factors=tuple(factors), rows=counts @ self.rows)
