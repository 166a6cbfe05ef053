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
"""Verdict on a fitted model with notes on the fit, and entries about the fit in a model file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.dynamics.base_parameters import VISIBLE
from robot_identification.dynamics.identified_model import (
    COVERAGE,
    TORQUE_BAND,
    TorqueBand,
    UNCERTAINTY,
)
from robot_identification.estimation import Fit
from robot_identification.estimation.estimate import low_rank_covariance, to_rows
from robot_identification.estimation.tilt import estimate_tilt, Tilt
from robot_identification.regression.blocked_regression import block_labels
from robot_identification.signals import Samples
from robot_identification.signals.filters import filter_both_ways, lowpass_sections
from robot_identification.validation.checks.residual_regression import CUTOFF, ResidualRegression
from robot_identification.validation.held_out import HeldOut
from robot_identification.validation.repeats import MotionTrace, STORED_SECONDS
from robot_identification.validation.verdict import Finding, make_verdict, Thresholds, Verdict

STANDING = 1e-6    # [rad/s or m/s] largest computed speed of a joint that does not move
GUESS = 0.25    # [-] share of a guessed inertia in the result above which the model is doubtful


def make_fit_verdict(fit: Fit, held_out: Sequence[HeldOut], thresholds: Thresholds,
                     findings: Sequence[Finding], tilt: Tilt | None = None) -> Verdict:
    """
    Return the verdict on the model of a fit.

    Parameters
    ----------
    fit
        The fit.
    held_out
        Torque errors of its model on recordings that were not fitted.
    thresholds
        Largest torque errors with which the model passes.
    findings
        Findings of the checks.
    tilt
        Estimated tilt of the base; None if gravity was not estimated.

    """
    arm, consistent = fit.consistent.structure.arm, fit.consistent
    notes = [*_fit_notes(fit), *_tilt_notes(fit, tilt)]
    doubts = [fit.estimate.message] if fit.estimate.status == 'not_converged' else []
    if arm.unmeasured:
        notes.append('joints without effort are neither fitted nor validated, and their friction '
                     f'is unknown: {", ".join(arm.unmeasured)}')
    for joint in arm.guessed:
        share = _prior_share(fit, arm.joint_names.index(joint))
        (doubts if share > GUESS else notes).append(
            f'the inertia behind {joint} is a guess in the URDF, with {share:.0%} of the weight '
            'in the result; longer or faster motion determines it better')
    top = np.max([np.abs(piece.v).max(axis=0) for piece in fit.regression.samples], axis=0)
    notes += [f'{joint} does not move: what only its motion shows is undetermined; record a '
              'motion of all joints, or lock it in the robot file'
              for joint, speed in zip(arm.joint_names, top) if speed < STANDING]
    if fit.effects is not None:
        notes.append(fit.effects.describe())
    if consistent.active:
        notes.append(f'at the limit of physical feasibility: {", ".join(consistent.active)}')
    return make_verdict(
        held_out, thresholds, rated_torque=arm.limits.torque, unexcited=fit.estimate.unexcited,
        infeasible=[joint for joint, value in zip(arm.joint_names, consistent.certificate)
                    if not value > 0], doubts=doubts, notes=notes, findings=findings)


def _prior_share(fit: Fit, j: int) -> float:
    """Return the variance of the base parameters of body j over that of the prior, the mean."""
    consistent, matrix, start = fit.consistent, fit.regression.base.matrix, 10 * j
    own = matrix[:, fit.consistent.structure.inertial_slice][:, start:start + 10]
    rows = matrix[np.any(np.abs(own) > VISIBLE, axis=1)]
    prior = np.sum((rows @ consistent.prior_root) ** 2, axis=1)
    return float(np.mean(np.sum(rows @ consistent.covariance * rows, axis=1) / prior))


def _fit_notes(fit: Fit) -> list[str]:
    """Return notes on consistency, convergence, intervals and delays."""
    estimate, consistent, arm = fit.estimate, fit.consistent, fit.consistent.structure.arm
    increase = (np.linalg.norm(consistent.residual_rms / estimate.noise)
                / np.linalg.norm(consistent.free_residual_rms / estimate.noise) - 1)
    notes = [f'physical consistency costs {increase:.1%} of the fit']
    if estimate.interval_doubt:
        notes.append('confidence intervals of the base parameters are too narrow: '
                     + estimate.interval_doubt)
    leads = fit.delay.implausible(1 / min(piece.rate for piece in fit.regression.samples))
    if len(leads):
        delays = ', '.join(f'{-1e3 * fit.delay.values[j]:.1f} ms ({arm.joint_names[j]})'
                           for j in leads)
        notes.append(f'positions lead the torque by {delays}: no sensor causes this, so these '
                     'delays represent a filter of the torque or dynamics of the drive; compare '
                     'with --no-delay on held-out motion')
    return notes


def _tilt_notes(fit: Fit, tilt: Tilt | None) -> list[str]:
    """Return notes on the base orientation if it was estimated or contradicts the robot file."""
    if tilt is not None:
        return [f'gravity was estimated: the base is tilted by {tilt} (+- is two standard '
                f'deviations) relative to the robot file']
    if not np.any(fit.consistent.structure.arm.gravity):
        return []
    estimated = estimate_tilt(fit)
    if not estimated.significant:
        return []
    return [f'the base seems to be tilted by {estimated} (+- is two standard deviations) '
            f'relative to the robot file; level it, correct `gravity` or `mount` in the robot '
            f'file, or estimate the direction with `gravity: estimate`']


def describe_fit(fit: Fit, recordings: Sequence[tuple[str, float]],
                 samples: Sequence[Samples]) -> dict[str, Any]:
    """
    Return the entries of a model file about the fit: recordings, motion, status, covariances.

    Parameters
    ----------
    fit
        The fit.
    recordings
        Name and duration [s] of each fitted recording.
    samples
        The processed pieces of these recordings.

    """
    estimate, consistent = fit.estimate, fit.consistent
    return {
        'estimator': estimate.estimator,
        'recordings': [name for name, _ in recordings],
        'seconds': [float(round(duration, 3)) for _, duration in recordings],
        'training_motion': _training_motion(samples),
        'rows_per_joint': int(estimate.rows.max()),
        'condition_number': float(estimate.condition_number),
        'status': estimate.status,
        UNCERTAINTY: to_rows(low_rank_covariance(
            consistent.structure, consistent.covariance)),
        'smallest_pseudo_inertia_eigenvalue': dict(zip(
            consistent.structure.arm.joint_names, consistent.certificate.tolist()))}


def _training_motion(samples: Sequence[Samples]) -> list[dict[str, Any]]:
    """Return the traces that begin in the first `STORED_SECONDS` of each recording, as dicts."""
    traces, start = [], 0.0
    for piece in samples:
        start = start if piece.piece else float(piece.t[0])
        if piece.t[0] - start < STORED_SECONDS:
            traces += [trace.to_dict() for trace in MotionTrace.of(piece)]
    return traces


_FOLDS = 3
"""Blocks of each recording. Long blocks leave out other postures and speeds: with 5 blocks of the
recordings of real arms, coverage on other motion is up to 2 % lower."""
_SETTLE, _SHORTEST = 5.0, 30
"""Periods of the low-pass, and samples, that a run must exceed for its noise to be measured."""


def calibrate_band(model: IdentifiedModel, fit: Fit,
                   regressions: Sequence[ResidualRegression | None]) -> IdentifiedModel:
    """
    Return the model with prediction intervals from left-out blocks of its training motion.

    Each recording is split into three blocks of time, or of phase if the motion repeats. Errors on
    a block are those of the model after a linear change of its parameters that removes the block
    from the fit; the prior counts as in the fit. Their 95 % quantile over the expected error, of
    each joint, is the factor of the interval. Models from recordings too short for it have none.

    Parameters
    ----------
    model
        The identified model.
    fit
        The fit from which it was built, with the training samples.
    regressions
        Rows of each of these samples, see `build_residual_regression`.

    """
    base, names = fit.estimate.base, model.arm.joint_names
    half = base.matrix @ fit.consistent.prior_root
    precision = np.asarray(np.linalg.pinv(half @ half.T, rcond=1e-12, hermitian=True), float)
    rests, factors, noise, weights = [], [], [], []    # of each piece
    speed = np.zeros(model.arm.n)
    for samples, regression in zip(fit.regression.samples, regressions):
        speed = np.maximum(speed, np.quantile(np.abs(samples.v), 0.999, axis=0))
        noise += _noise(samples) if samples.diagnosed else []
        if regression is not None and regression.block.max() + 1 >= _FOLDS:
            rest, factor = _compare_blocks(regression, model, precision)
            rests.append(rest ** 2)
            factors.append(factor)
            weights.append(len(regression.block))
    if not weights:
        return model
    band = TorqueBand(
        np.sqrt(np.average(rests, axis=0, weights=weights)),
        np.average(factors, axis=0, weights=weights),
        np.mean(noise, axis=0) if noise else np.zeros(model.arm.n), speed)
    return _with_band(model, band, names)


def widen_band(model: IdentifiedModel, held_out: Sequence[HeldOut]) -> IdentifiedModel:
    """
    Return the model with a factor averaged over left-out blocks and each held-out motion.

    Parameters
    ----------
    model
        The model with the intervals of `calibrate_band`.
    held_out
        Errors of this model on held-out motions that do not repeat the training motion.

    """
    fresh = [each.band_ratio for each in held_out
             if not each.repeat and each.band_ratio is not None]
    if not fresh or (band := model.band) is None:
        return model
    names = model.arm.joint_names
    ratios = np.vstack([np.ones(len(names)), *(np.where(np.isfinite(r), r, 1.0) for r in fresh)])
    return _with_band(model, replace(band, factor=band.factor * ratios.mean(axis=0)), names)


def _with_band(model: IdentifiedModel, band: TorqueBand, names: Sequence[str]) -> IdentifiedModel:
    return replace(model, information={**model.information, TORQUE_BAND: band.to_dict(names)})


def _compare_blocks(regression: ResidualRegression, model: IdentifiedModel, precision: Array,
                    ) -> tuple[Array, Array]:
    """
    Return the root mean square residual, and the quantile of left-out over expected errors, (n,).

    The precision is that of the prior.
    """
    samples, equation = regression.samples, regression.equation
    block = block_labels(samples.decimate(np.array(samples.t)), _FOLDS, samples.period_seconds)
    left_out = replace(equation, block=block).left_out_residuals(precision)
    uncertain = regression.torque_deviation(model.uncertain_directions)
    rest = np.sqrt(np.mean(equation.target ** 2, axis=0)) / regression.weights
    expected = np.maximum(np.sqrt(rest ** 2 + uncertain ** 2), np.finfo(float).tiny)
    ratio = np.abs(left_out) / regression.weights / expected
    return rest, np.asarray(np.quantile(ratio, COVERAGE, axis=0))


def _noise(samples: Samples) -> list[Array]:
    """Return the quantile of the measured torques above the low-pass, (n,) of each run."""
    if 0.45 * samples.rate < CUTOFF:
        return []
    sections = lowpass_sections(CUTOFF, samples.rate)
    return [np.quantile(np.abs(samples.tau[run] - filter_both_ways(
        sections, samples.tau[run])), COVERAGE, axis=0) for run in samples.segments
            if run.stop - run.start > max(_SETTLE * samples.rate / CUTOFF, _SHORTEST)]
