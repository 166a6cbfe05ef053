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
"""Resampling: blocks of a motion, and the delete-one-block jackknife."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
import operator

import numpy as np
from robot_identification.arrays import Array, IndexArray, true_runs
from robot_identification.dynamics import BaseParameters
from robot_identification.errors import EstimationError
from robot_identification.estimation.consistent import fit_consistent
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.fit import Fit, FitOptions
from robot_identification.estimation.recording_effects import RecordingEffects, refit
from robot_identification.regression import ReducedRegression, Regression
from robot_identification.regression.packing import expand_rows
from robot_identification.regression.reduced_regression import triangle
from robot_identification.signals import Samples
from robot_identification.signals.shift import select
from robot_identification.spilling_list import SpillingList

BLOCKS, WINDOWS, MIN_BLOCKS = 5, 30, 4
"""Jackknife blocks of each recording, windows of which they consist, and smallest number of blocks
of all recordings. With 10 blocks, parameters of two motions of one arm differ by more than their
intervals say; see `OTHER_MOTION`."""
PRIOR_FREEDOM = 10.0
"""Degrees of freedom of the prior for the variance ratios: the mean ratio of all parameters counts
more than a parameter's own ratio from few blocks."""
OTHER_MOTION = 2.0
"""Factor of the variance of a model error: another motion differs more than parts of one do. With
1, the parameters of two motions of simulated arms with friction that the model lacks (own_plant.py
in benchmarks, 6 arms) have a chi-square of 1.3 per degree of freedom, with 2 of 0.9."""


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
        runs += [slice(segment.start + run.start, segment.start + run.stop)
                 for run in true_runs(mask[segment]) if run.stop - run.start >= shortest]
    return runs


def split_folds(samples: Samples, folds: int, block: IndexArray | None = None,
                ) -> tuple[list[tuple[Samples, Samples]], str]:
    """
    Return training and left-out samples of each cross-validation fold, and a description.

    Parameters
    ----------
    samples
        Processed samples.
    folds
        Number of folds, each of which leaves out one block, see `block_indices`.
    block
        Index of each sample's fold, (N,), if not that of `block_indices`. Folds without a run that
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
    fold = block_indices(samples, folds) if block is None else block
    pairs = []
    for k in range(folds):
        training, left_out = find_runs(fold != k, samples), find_runs(fold == k, samples)
        if training and left_out:
            pairs.append((select(samples, training), select(samples, left_out)))
        elif block is None:
            raise EstimationError(
                f'{length:.3g} s of motion cannot be split into {folds} blocks at a decimation '
                f'cut-off of {samples.decimation_cutoff:.3g} Hz; record longer, or name the '
                f'estimator and the friction model')
    return pairs, text


def posture_level(window: IndexArray, count: int, q: Array) -> Array:
    """Return the first principal component of each window's mean positions, (count,)."""
    return np.linalg.svd(_scaled_means(window, count, q), full_matrices=False)[0][:, 0]


def speed_level(window: IndexArray, count: int, speed: Array) -> Array:
    """Return the sum of each window's scaled mean speeds, (count,)."""
    return _scaled_means(window, count, speed).sum(axis=1)


def _scaled_means(window: IndexArray, count: int, values: Array) -> Array:
    """Return the mean values of each window, scaled to unit deviation over windows, (count, n)."""
    means = np.array([values[window == i].sum(axis=0) / max(np.sum(window == i), 1)
                      for i in range(count)])    # a gap may leave a window empty
    return (means - means.mean(axis=0)) / np.maximum(means.std(axis=0), 1e-9)


def inflate_covariance(estimate: Estimate, regression: Regression,
                       effects: RecordingEffects | None = None) -> Estimate:
    """
    Return the estimate with its covariance inflated for model error, by a block jackknife.

    Residuals of an incomplete model depend on the motion: they are correlated in time, repeat with
    the period, and differ on another motion. A covariance that assumes independent rows is
    therefore too small. The delete-one-block jackknife refits the parameters without blocks of
    time, without ranges of postures and without ranges of speeds, and its variance is divided by
    its expectation for independent rows. The largest of the three ratios counts. As they are based
    on few blocks, they are shrunk to their mean and enlarged as for Student's t distribution. With
    several recordings, the jackknife is repeated with whole recordings as blocks, and a larger
    mean ratio is used. No variance of the estimate is reduced. Parameters that the data do not
    determine keep their infinite variance.

    Parameters
    ----------
    estimate
        The estimate.
    regression
        The regression problem that it solves.
    effects
        What differs between its recordings, if this was estimated.

    References
    ----------
    J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance matrix estimators
    with improved finite sample properties", J. Econometrics 29, 1985 (the jackknife); G. K. Smyth,
    "Linear models and empirical Bayes methods", Statistical Applications in Genetics and Molecular
    Biology 3(1), 2004 (variances shrunk to their mean).

    """
    known = np.flatnonzero(np.isfinite(np.diag(estimate.covariance)))
    regression, weights = regression.of(estimate.base), 1 / estimate.noise
    owners = regression.owners
    own = np.zeros((owners[-1] + 1, len(estimate.values))) if effects is None else effects.values
    pieces = SpillingList(
        _block_equations(samples, rows, regression.base, weights, own[owner])
        for samples, rows, owner in zip(regression.samples, regression.rows_per_piece(), owners))
    count = sum(int(np.sum(piece[0].any(axis=(1, 2)))) for piece in pieces)
    ratios = [ratio for kind in range(3) if (ratio := _variance_ratios(SpillingList(
        piece[kind] for piece in pieces), known)) is not None]
    if count < MIN_BLOCKS or not ratios:
        return estimate
    freedom = PRIOR_FREEDOM + count - 1
    shrunk = np.max([(PRIOR_FREEDOM * np.mean(ratio) + (count - 1) * ratio) / freedom
                     for ratio in ratios], axis=0)
    variances = 1 + OTHER_MOTION * np.maximum(shrunk - 1, 0.0)
    if owners[-1]:
        between = _variance_ratios([_equations(*normal.stacked(weights))[None] for normal in (
            regression.reduced_per_recording() if effects is None else effects.normals)], known)
        variances = np.maximum(variances, 0.0 if between is None else np.mean(between))
    rows = regression.normal.stacked(weights)[0][:, known]
    independent = np.diag(np.linalg.pinv(rows.T @ rows, rcond=1e-14, hermitian=True))
    # enlarged to the variance of Student's t distribution
    factor = np.ones(len(estimate.values))
    factor[known] = np.sqrt(np.maximum(1.0, variances * freedom / (freedom - 2) * independent
                                       / np.diag(estimate.covariance)[known]))
    return replace(estimate, covariance=estimate.covariance * np.outer(factor, factor))


def _variance_ratios(groups: Sequence[Array], known: IndexArray) -> Array | None:
    """
    Return ratios of jackknife variances to their expectation, (k,); None if undetermined.

    G and h are the Gram matrix and right-hand side of all blocks, G_b and h_b those of block b,
    and beta = G^-1 h. Without block b, the parameters change by (G - G_b)^-1 (h - h_b) - beta.
    For independent rows, this change d_b has the covariance (G - G_b)^-1 - G^-1. The ratio is the
    sum over the blocks of d_b^2 over that of these variances.

    Parameters
    ----------
    groups
        Normal equations [G_b, h_b] of the blocks of each recording, (blocks, r, r + 1).
    known
        Indices of the parameters that the data determine, (k,).

    """
    groups = [blocks[:, known][:, :, [*known, -1]] for blocks in groups]
    total = reduce(operator.add, (blocks.sum(axis=0) for blocks in groups))
    scale = np.sqrt(np.diag(total))
    if not np.all(scale > 0):
        return None

    def solve(equations: Array) -> tuple[Array, Array]:
        inverse = np.linalg.pinv(equations[:, :-1] / np.outer(scale, scale), rcond=1e-13,
                                 hermitian=True)
        return inverse, inverse @ (equations[:, -1] / scale)

    inverse, beta = solve(total)
    squares, expected = np.zeros((2, len(beta)))
    for block in (block for blocks in groups for block in blocks if block.any()):
        without, changed = solve(total - block)
        squares += (changed - beta) ** 2
        expected += np.diag(without) - np.diag(inverse)
    return squares / expected if np.all(expected > 0) else None


def _block_equations(samples: Samples, packed: Sequence[Array], base: BaseParameters,
                     weights: Array, own: Array) -> Array:
    """
    Return the normal equations [G, h] of the blocks of three kinds, (3, `BLOCKS`, r, r + 1).

    `own` (r,) is what differs in this recording; its torques are subtracted.
    """
    result = np.zeros((3, BLOCKS, base.rank, base.rank + 1))
    for blocks, label in zip(result, row_blocks(samples)):
        for k in range(BLOCKS):
            rows = expand_rows([part[label == k] for part in packed], base.joint_columns,
                               base.rank, weights)
            blocks[k] = _equations(rows[:, :-1], rows[:, -1] - rows[:, :-1] @ own)
    return result


def row_blocks(samples: Samples) -> IndexArray:
    """
    Return the block of time, of posture and of speed of each decimated row, (3, rows).

    The three kinds of `BLOCKS` blocks consist of the same windows of time (of phase if the motion
    repeats), which may be as short as two rows. Neighbouring rows share samples, but their noise
    is independent, see `Decimator`.
    """
    t, q, v = map(samples.decimate, (samples.t, samples.q, np.abs(samples.v)))
    period = repetition_period(samples, samples.t)
    elapsed = (t - t[0]) / (max(float(t[-1] - t[0]), 1e-9) if period is None else period)
    count = max(min(WINDOWS, len(t) // 2), 1)
    window = (elapsed / (1 + 1e-9) % 1.0 * count).astype(int)
    levels = (np.arange(count), posture_level(window, count, q), speed_level(window, count, v))
    return np.array([(np.argsort(np.argsort(level)) * BLOCKS // count)[window]
                     for level in levels])


def left_out_errors(fit: Fit, options: FitOptions) -> Array:
    """
    Return each joint's squared residuals on left-out blocks of time, posture and speed, (3, n).

    The physically consistent model is fitted without each block; nonlinear friction parameters,
    delays and loads are those of the whole fit.

    Parameters
    ----------
    fit
        The fit.
    options
        Its options.

    """
    regression, base = fit.regression, fit.regression.base
    rows, labels = regression.rows(), np.hstack([row_blocks(each) for each in regression.samples])
    errors = np.zeros((3, len(rows)))
    for kind, block in product(range(3), range(BLOCKS)):
        inside = labels[kind] == block
        training = ReducedRegression(base, tuple(triangle(part[~inside]) for part in rows),
                                     np.full(len(rows), np.sum(~inside)))
        estimate = refit(training, regression, fit.estimate, options.estimator)
        beta = base.project(fit_consistent(replace(regression, reduced=training), estimate,
                                           **options.consistency).values)
        errors[kind] += [np.sum((part[inside, -1] - part[inside, :-1] @ beta[chosen]) ** 2)
                         for part, chosen in zip(rows, base.joint_columns)]
    return errors


def _equations(rows: Array, target: Array) -> Array:
    """Return the normal equations [G, h] of weighted rows, (r, r + 1)."""
    return np.column_stack([rows.T @ rows, rows.T @ target])
