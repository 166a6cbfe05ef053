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
"""Resampling: blocks of a motion, the delete-one-block jackknife and the bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Integral
import operator

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, IndexArray, ReadOnlyArrays
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.consistent import with_data_covariance
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.fit import Fit, FitOptions
from robot_identification.parallel import parallel_map
from robot_identification.regression import ReducedRegression, Regression
from robot_identification.regression.reduce import reduce_samples
from robot_identification.signals import Samples
from robot_identification.signals.shift import select
from robot_identification.spilling_list import SpillingList

BLOCKS = 10
"""Jackknife blocks of each recording: long enough that residuals of different blocks are nearly
independent, short enough that nine of them determine every parameter."""
PRIOR_FREEDOM = 10.0
"""Degrees of freedom of the prior for the variance ratios, as many as there are blocks: the mean
ratio of all parameters and a parameter's own ratio then have equal weight."""
MIN_RECORDINGS = 5
"""Smallest number of recordings for a bootstrap: four give only 35 different resamples, too few
for tails of 2.5 %."""
MIN_RESAMPLES = 100
"""Smallest number of resamples: with fewer, two or three of them make up a tail of 2.5 %."""
SEED = 0
ROUNDING = 1e-13
"""Eigenvalue, relative to the largest, below which the recordings drawn do not excite a direction;
rounding errors are smaller."""
MAX_UNDETERMINED = 0.025
"""Fraction of resamples that may leave a parameter undetermined; above it, the tail of the 95 %
interval is unbounded."""


def repetition_period(samples: Samples, t: Array) -> float | None:
    """
    Return the period of a repeated motion; None if the stamps t cover at most 1.2 periods.

    Parameters
    ----------
    samples
        Processed samples.
    t
        Increasing stamps of these samples, or of rows computed from them, (N,) [s].

    """
    if samples.period is None:
        return None
    period = samples.period / samples.rate
    return period if t[-1] - t[0] > 1.2 * period else None


def block_indices(samples: Samples, count: int) -> IndexArray:
    """
    Return the index of each sample's block, 0 to count - 1, (N,).

    If the motion repeats, a block contains the same phase of all periods, so that no sample
    outside the block repeats a sample inside it. Otherwise a block is an interval of time.

    Parameters
    ----------
    samples
        Processed samples.
    count
        Number of blocks, equally long.

    """
    elapsed = samples.t - samples.t[0]
    period = repetition_period(samples, samples.t)
    phase = (elapsed / (elapsed[-1] + 1 / samples.rate) if period is None
             else (elapsed / period) % 1.0)
    return np.minimum((phase * count).astype(int), count - 1)


def find_runs(mask: Array, samples: Samples) -> list[slice]:
    """
    Return the runs of selected samples that are long enough to decimate.

    Parameters
    ----------
    mask
        The selected samples, (N,) bool.
    samples
        Processed samples; a run does not extend over several segments.

    """
    shortest = len(samples.decimator().taps) + 1
    runs = []
    for segment in samples.segments:
        inside = np.concatenate([[0], mask[segment].astype(np.int8), [0]])
        edges = segment.start + np.flatnonzero(np.diff(inside))
        runs += [slice(int(first), int(end)) for first, end in zip(edges[::2], edges[1::2])
                 if end - first >= shortest]
    return runs


def split_folds(samples: Samples, folds: int,
                by: str = '') -> tuple[list[tuple[Samples, Samples]], str]:
    """
    Return training and left-out samples of each cross-validation fold, and a description.

    Parameters
    ----------
    samples
        Processed samples.
    folds
        Number of folds, each of which leaves out one block, see `block_indices`.
    by
        'posture' or 'speed' to leave out windows of time in a range of postures (the first
        principal component of the mean positions) or mean speeds instead. Folds without a run that
        is long enough to decimate are then omitted.

    Raises
    ------
    EstimationError
        The recording is too short for this number of folds.

    """
    length = samples.t[-1] - samples.t[0] + 1 / samples.rate
    period = repetition_period(samples, samples.t)
    text = (f'{folds} blocks of time, {length / folds:.3g} s each' if period is None
            else f'{folds} blocks of phase across all periods of {period:.4g} s')
    block = _range_indices(samples, folds, by) if by else block_indices(samples, folds)
    pairs = []
    for k in range(folds):
        training, left_out = find_runs(block != k, samples), find_runs(block == k, samples)
        if training and left_out:
            pairs.append((select(samples, training), select(samples, left_out)))
        elif not by:
            raise EstimationError(
                f'{length:.3g} s of motion cannot be split into {folds} blocks at a decimation '
                f'cut-off of {samples.decimation_cutoff:.3g} Hz; record longer, or name the '
                f'estimator and the friction model')
    return pairs, text


def _range_indices(samples: Samples, folds: int, by: str) -> IndexArray:
    """Return for each sample the range of postures or speeds of its window of time, (N,)."""
    elapsed = samples.t - samples.t[0]
    shortest = 2 * len(samples.decimator().taps) / samples.rate
    count = max(int(elapsed[-1] / max(shortest, elapsed[-1] / (10 * folds))), 1)
    window = np.minimum((elapsed / elapsed[-1] * count).astype(int), count - 1)
    values = samples.q if by == 'posture' else np.abs(samples.v)
    means = np.array([values[window == i].sum(axis=0) / max(np.sum(window == i), 1)
                      for i in range(count)])    # a gap may leave a window empty
    scaled = (means - means.mean(axis=0)) / np.maximum(means.std(axis=0), 1e-9)
    level = (np.linalg.svd(scaled, full_matrices=False)[0][:, 0] if by == 'posture'
             else scaled.sum(axis=1))
    return np.asarray((np.argsort(np.argsort(level)) * folds // count)[window])


def inflate_covariance(estimate: Estimate, regression: Regression) -> Estimate:
    """
    Return the estimate with its covariance inflated for model error, by a block jackknife.

    Residuals of an incomplete model depend on the motion: they are correlated in time, repeat with
    the period, and differ on another motion. A covariance that assumes independent rows is
    therefore too small. The delete-one-block jackknife covers such residuals, because it refits
    the parameters without each tenth of the motion. Each jackknife variance is divided by the
    variance for independent rows. As these ratios are based on few blocks, they are shrunk to
    their mean and enlarged as for Student's t distribution. With several recordings, the jackknife
    is repeated with whole recordings as blocks, and the larger mean ratio is used. No variance of
    the estimate is reduced. If no joint's residuals are autocorrelated, rows are independent and
    the estimate is returned unchanged.

    Parameters
    ----------
    estimate
        The estimate.
    regression
        The regression problem that it solves.

    References
    ----------
    J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators
    with improved finite sample properties", J. Econometrics 29, 1985 (the jackknife); G. K. Smyth,
    "Linear models and empirical Bayes methods", Statistical Applications in Genetics and Molecular
    Biology 3(1), 2004 (variances shrunk to their mean).

    """
    determined = np.isfinite(np.diag(estimate.covariance))
    if np.all(estimate.autocorrelation_factor <= 1) or not np.all(determined):
        return estimate
    regression = regression.of(estimate.base)
    weights = 1 / estimate.noise
    recordings = SpillingList(_block_equations(samples, load, regression.base, weights)
                              for samples, load in regression.samples_with_loads)
    count = sum(map(len, recordings))
    ratios = _variance_ratios(recordings)
    if ratios is None or count < BLOCKS // 2:
        return estimate
    mean = float(np.mean(ratios))
    if len(recordings) > 1:
        between = _variance_ratios(SpillingList(
            blocks.sum(axis=0)[None] for blocks in recordings if len(blocks)))
        mean = mean if between is None else max(mean, float(np.mean(between)))
    # the mean over all degrees of freedom, enlarged to the variance of Student's t distribution
    freedom = PRIOR_FREEDOM + count - 1
    shrunk = (PRIOR_FREEDOM * mean + (count - 1) * ratios) / (freedom - 2)
    rows = regression.normal.stacked(weights)[0]
    independent = np.diag(np.linalg.pinv(rows.T @ rows, rcond=1e-14, hermitian=True))
    factor = np.sqrt(np.maximum(1.0, shrunk * independent / np.diag(estimate.covariance)))
    return replace(estimate, covariance=estimate.covariance * np.outer(factor, factor))


def _variance_ratios(groups: Sequence[Array]) -> Array | None:
    """
    Return ratios of jackknife variances to those of independent rows, (r,); None if undetermined.

    G and h are the Gram matrix and right-hand side of all B blocks, G_b and h_b those of block b,
    and beta = G^-1 h. The jackknife variance is (B - 1)/B sum_b ((G - G_b)^-1 (h - h_b) - beta)^2.
    The variance for independent rows is diag(G^-1).

    Parameters
    ----------
    groups
        Normal equations [G_b, h_b] of the blocks of each recording, (blocks, r, r + 1).

    """
    count = sum(map(len, groups))
    if count < 2:
        return None
    total = reduce(operator.add, (blocks.sum(axis=0) for blocks in groups))
    scale = np.sqrt(np.diag(total))
    if not np.all(scale > 0):
        return None

    def solve(equations: Array) -> tuple[Array, Array]:
        inverse = np.linalg.pinv(equations[:, :-1] / np.outer(scale, scale), rcond=1e-13,
                                 hermitian=True)
        return inverse, inverse @ (equations[:, -1] / scale)

    inverse, beta = solve(total)
    squares = np.sum([(solve(total - block)[1] - beta) ** 2
                      for blocks in groups for block in blocks], axis=0)
    return (count - 1) / count * squares / np.diag(inverse)


def _block_equations(samples: Samples, load: Array | None, base: BaseParameters,
                     weights: Array) -> Array:
    """Return the normal equations [G, h] of each jackknife block, (blocks, r, r + 1)."""
    blocks = block_indices(samples, BLOCKS)
    equations = [np.zeros((0, base.rank, base.rank + 1))]
    for block in range(BLOCKS):
        runs = find_runs(blocks == block, samples)
        if not runs:
            continue
        chosen = None if load is None else np.concatenate([load[run] for run in runs])
        rows, target = reduce_samples(base, select(samples, runs), load=chosen).stacked(weights)
        equations.append(np.column_stack([rows.T @ rows, rows.T @ target])[None])
    return np.concatenate(equations)


@dataclass(frozen=True, eq=False)
class Bootstrap(ReadOnlyArrays):
    """
    Estimates from resampled recordings.

    Each resample draws as many recordings as were made, with replacement. Recordings are
    independent of one another, unlike samples of a recording. The intervals therefore include
    everything that varies between recordings: temperature, friction, and errors of an incomplete
    model, whatever their autocorrelation.

    Parameters
    ----------
    recordings
        Number of recordings.
    values
        Base parameters of each resample, (resamples, r); NaN if undetermined.
    standard
        Standard deviations of the consistent model's standard parameters, (count,), from prior and
        data together. The covariance of the data has the standard deviations of the bootstrap and
        the correlations of the noise model.

    References
    ----------
    B. Efron, R. J. Tibshirani, "An introduction to the bootstrap", 1993, section 13 (percentile
    intervals); A. C. Davison, D. V. Hinkley, "Bootstrap methods and their application", 1997,
    section 3.8 (resampling of whole groups).

    """

    recordings: int
    values: Array
    standard: Array

    @staticmethod
    def check(options: FitOptions | None, arm: Arm, recordings: int, resamples: int) -> None:
        """
        Raise an error if a fit with these options cannot be bootstrapped.

        Parameters
        ----------
        options
            Options of the fit; None if model selection chooses them from the data.
        arm
            The arm.
        recordings, resamples
            Number of recordings and of resamples.

        Raises
        ------
        ConfigurationError
            Too few resamples, or the fit is not a linear estimate from R factors.
        EstimationError
            Too few recordings.

        """
        if not isinstance(resamples, Integral) or resamples < MIN_RESAMPLES:
            raise ConfigurationError(f'a bootstrap needs {MIN_RESAMPLES} resamples or more, not '
                                     f'{resamples}; 1000 is usual')
        reason = ("'auto' chooses it from all samples" if options is None
                  else "the prior of 'ridge' is the same in every resample"
                  if options.estimator.own_covariance and options.estimator.needs_only_factors
                  else options.nonlinear(arm))
        if reason:
            raise ConfigurationError(
                f'a bootstrap repeats a linear estimate from triangular factors, but {reason}; '
                'use wls or ols, friction that is linear in its parameters, and no delays')
        if recordings < MIN_RECORDINGS:
            raise EstimationError(f'a bootstrap over recordings needs {MIN_RECORDINGS} or more, '
                                  f'not {recordings}; record more, or omit the bootstrap')

    @classmethod
    def of(cls, fit: Fit, options: FitOptions, resamples: int) -> Bootstrap:
        """
        Return the estimates from resampled recordings.

        Parameters
        ----------
        fit
            The fit of all recordings.
        options
            Its options.
        resamples
            Number of resamples.

        """
        recordings = _ResampledRegression(fit.regression.reduced_per_recording())
        count = len(recordings.rows)
        draws = list(np.random.default_rng(SEED).multinomial(
            count, np.full(count, 1 / count), size=resamples))

        def refit(counts: Array) -> Array:
            values, unexcited = options.estimator.refit(
                replace(fit.regression, reduced=recordings.draw(counts)), fit.estimate)
            values[unexcited] = np.nan
            return values

        result = cls(count, np.array(list(parallel_map(refit, draws))), np.zeros(0))
        return replace(result, standard=result._standard_deviations(fit))

    @property
    def undetermined(self) -> Array:
        """Fraction of the resamples that do not determine each parameter, (r,)."""
        return np.isnan(self.values).mean(axis=0)

    @property
    def deviations(self) -> Array:
        """Standard deviations of the base parameters, (r,); infinite if undetermined."""
        determined = self.undetermined <= MAX_UNDETERMINED
        result = np.full(len(determined), np.inf)
        result[determined] = np.nanstd(self.values[:, determined], axis=0, ddof=1)
        return result

    def interval(self, level: float = 0.95) -> Array:
        """Return percentile intervals of the base parameters, (r, 2)."""
        determined = self.undetermined <= MAX_UNDETERMINED
        result = np.tile([-np.inf, np.inf], (len(determined), 1))
        result[determined] = np.nanquantile(
            self.values[:, determined], [0.5 - level / 2, 0.5 + level / 2], axis=0).T
        return result

    def compare_with(self, deviations: Array) -> str:
        """Return a comparison, as a sentence, with the noise model's standard deviations (r,)."""
        both = np.isfinite(self.deviations) & np.isfinite(deviations)
        low, middle, high = np.quantile(self.deviations[both] / deviations[both], [0.0, 0.5, 1.0])
        return (f'standard deviations of a bootstrap over {self.recordings} recordings '
                f'({len(self.values)} resamples) are {middle:.2g} times those of the noise model '
                f'(median of the base parameters; range {low:.2g} to {high:.2g})')

    def _standard_deviations(self, fit: Fit) -> Array:
        """Return the standard deviations of the consistent model's parameters, (count,)."""
        noise_model = fit.estimate.standard_deviations
        determined = np.isfinite(noise_model) & np.isfinite(self.deviations)
        factor = np.ones(len(determined))
        factor[determined] = self.deviations[determined] / noise_model[determined]
        covariance = fit.estimate.covariance * np.outer(factor, factor)
        covariance[~determined, ~determined] = np.inf
        consistent = with_data_covariance(
            fit.consistent, replace(fit.estimate, covariance=covariance))
        return np.sqrt(np.diag(consistent.covariance))


class _ResampledRegression:
    """
    R factors of recordings drawn with replacement.

    For each joint [F_1; F_2; ...] = Q F with orthonormal Q. If recording i is drawn k_i times, the
    Gram matrix is F' (sum of k_i Q_i' Q_i) F. A resample therefore costs one sum of small matrices
    and a factorisation, independent of the lengths of the recordings. F' F is never formed,
    because it would square the condition number.
    """

    def __init__(self, recordings: Sequence[ReducedRegression]) -> None:
        self.first, self.rows = recordings[0], np.array([each.rows for each in recordings])
        self.factors, self.grams = [], []
        for factors in zip(*(each.factors for each in recordings)):
            left, factor = np.linalg.qr(np.vstack(factors))
            left = left.reshape(len(recordings), *factor.shape)
            self.factors.append(factor)
            self.grams.append(left.transpose(0, 2, 1) @ left)

    def draw(self, counts: Array) -> ReducedRegression:
        """Return the R factors of a resample with `counts[i]` copies of recording i."""
        factors = []
        for factor, grams in zip(self.factors, self.grams):
            values, vectors = np.linalg.eigh(np.tensordot(counts, grams, 1))
            values = np.where(values > ROUNDING * values[-1], values, 0.0)
            factors.append(np.sqrt(values)[:, None] * vectors.T @ factor)
        return replace(self.first, factors=tuple(factors), rows=counts @ self.rows)
