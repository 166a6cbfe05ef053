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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import product
import operator

import numpy as np
from robot_identification.arrays import Array, IndexArray, true_runs
from robot_identification.errors import EstimationError
from robot_identification.estimation.consistent import fit_consistent
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.fit import Fit, FitOptions
from robot_identification.estimation.recording_effects import RecordingEffects, refit
from robot_identification.regression import ReducedRegression, Regression
from robot_identification.regression.blocked_regression import (
    block_labels,
    BlockedRegression,
    BlockEquations,
    inverse,
    repeated_period,
)
from robot_identification.regression.packing import row_residuals
from robot_identification.regression.reduced_regression import triangle
from robot_identification.signals import Samples
from robot_identification.signals.samples import select
from robot_identification.spilling_list import SpillingList

BLOCKS, MIN_BLOCKS = 5, 4
"""Jackknife blocks of each recording, and smallest number of blocks of all recordings. With 10
blocks, parameters of two motions of one arm differ by more than their intervals say; see
`OTHER_MOTION`."""
PRIOR_FREEDOM = 10.0
"""Degrees of freedom of the prior for the variance ratios: the mean ratio of all parameters counts
more than a parameter's own ratio from few blocks."""
OTHER_MOTION = 2.0
"""Factor of the variance of a model error: another motion differs more than parts of one do. With
1, the parameters of two motions of simulated arms with friction that the model lacks (own_plant.py
in benchmarks, 6 arms) have a chi-square of 1.3 per degree of freedom, with 2 of 0.9."""


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
        Number of folds, each of which leaves out one block, see `block_labels`.
    block
        Index of each sample's fold, (N,), if not that of `block_labels`. Folds without a run that
        is long enough to decimate are then omitted.

    Raises
    ------
    EstimationError
        The recording is too short for this number of folds.

    """
    length = samples.t[-1] - samples.t[0] + 1 / samples.rate
    period = repeated_period(samples.t, samples.period_seconds)
    text = (f'{folds} blocks of time, {length / folds:.3g} s each' if period is None
            else f'{folds} blocks of phase across all periods of {period:.4g} s')
    fold = (block_labels(samples.t, folds, samples.period_seconds) if block is None
            else block)
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
    G. K. Smyth, "Linear models and empirical Bayes methods", Statistical Applications in Genetics
    and Molecular Biology 3(1), 2004 (variances shrunk to their mean). `BlockEquations` has those
    of the jackknife.

    """
    known = np.flatnonzero(np.isfinite(np.diag(estimate.covariance)))
    regression, weights = regression.of(estimate.base), 1 / estimate.noise
    own = (np.zeros((regression.owners[-1] + 1, len(estimate.values))) if effects is None
           else effects.values)
    pieces = SpillingList(_block_products(regression, weights, own))
    count = sum(int(np.sum(piece[0].any(axis=(1, 2)))) for piece in pieces)
    ratios = [ratio for kind in range(3) if (ratio := _variance_ratios(SpillingList(
        piece[kind] for piece in pieces), known)) is not None]
    if count < MIN_BLOCKS or not ratios:
        return estimate
    freedom = PRIOR_FREEDOM + count - 1
    shrunk = np.max([(PRIOR_FREEDOM * np.mean(ratio) + (count - 1) * ratio) / freedom
                     for ratio in ratios], axis=0)
    variances = 1 + OTHER_MOTION * np.maximum(shrunk - 1, 0.0)
    if len(own) > 1:
        stacked = [np.column_stack(normal.stacked(weights)) for normal in (
            regression.reduced_per_recording() if effects is None else effects.normals)]
        between = _variance_ratios([np.array([rows.T @ rows for rows in stacked])], known)
        variances = np.maximum(variances, 0.0 if between is None else np.mean(between))
    rows = regression.normal.stacked(weights)[0][:, known]
    independent = np.diag(inverse(rows.T @ rows))
    # enlarged to the variance of Student's t distribution
    factor = np.ones(len(estimate.values))
    factor[known] = np.sqrt(np.maximum(1.0, variances * freedom / (freedom - 2) * independent
                                       / np.diag(estimate.covariance)[known]))
    return replace(estimate, covariance=estimate.covariance * np.outer(factor, factor))


def _variance_ratios(groups: Sequence[Array], known: IndexArray) -> Array | None:
    """
    Return ratios of jackknife variances to their expectation, (k,); None if undetermined.

    Parameters
    ----------
    groups
        Products of the rows of the blocks of each recording, (blocks, r + 1, r + 1).
    known
        Indices of the parameters that the data determine, (k,).

    """
    total = reduce(operator.add, (blocks.sum(axis=0) for blocks in groups))
    if not np.all(np.diag(total)[known] > 0):
        return None
    squares, expected = np.sum([
        (np.sum(equations.changes ** 2, axis=0), equations.expected) for equations in (
            BlockEquations.of(blocks, total).select(known) for blocks in groups)], axis=0)
    return squares / expected if np.all(expected > 0) else None


def _block_products(regression: Regression, weights: Array, own: Array) -> Iterator[Array]:
    """
    Yield the products of the rows in three kinds of blocks, (3, `BLOCKS`, r + 1, r + 1).

    Each item belongs to a piece. `own` (recordings, r) is what differs in its recording; its
    torques are subtracted.
    """
    columns = regression.base.joint_columns
    for samples, packed, owner in zip(regression.samples, regression.rows_per_piece,
                                      regression.owners):
        labels = row_blocks(samples)
        rows = BlockedRegression.of(columns, packed, weights, own[owner], labels[0])
        products = np.zeros((3, BLOCKS, len(own[0]) + 1, len(own[0]) + 1))
        for each, label in zip(products, labels):
            each[:label.max() + 1] = replace(rows, block=label).by_block
        yield products


def row_blocks(samples: Samples) -> IndexArray:
    """
    Return the block of time, of posture and of speed of each decimated row, (3, rows).

    The windows of postures and speeds may be as short as two rows: neighbouring rows share
    samples, but their noise is independent, see `Decimator`.
    """
    t, q, v = map(samples.decimate, (samples.t, samples.q, np.abs(samples.v)))
    labels = partial(block_labels, t, BLOCKS, samples.period_seconds)
    return np.array([labels(), labels(posture=q), labels(speed=v)])


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
        errors[kind] += np.sum(row_residuals(rows, base.joint_columns, beta)[inside] ** 2, axis=0)
    return errors
