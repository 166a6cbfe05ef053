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
from typing import Any

import numpy as np
from robot_identification.dynamics.base_parameters import VISIBLE
from robot_identification.dynamics.identified_model import UNCERTAINTY
from robot_identification.estimation import Fit
from robot_identification.estimation.estimate import low_rank_covariance, to_rows
from robot_identification.estimation.tilt import estimate_tilt, Tilt
from robot_identification.signals import Samples
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
