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
"""The verdict on an identified model, with notes on its fit, and what its file records of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.estimation import Fit
from robot_identification.estimation.payload_errors import payload_covariance
from robot_identification.estimation.resampling import Bootstrap
from robot_identification.estimation.tilt import estimate_tilt, Tilt
from robot_identification.estimation.uncertainty import (
    low_rank_covariance,
    to_rows,
    UNCERTAINTY,
)
from robot_identification.recording.inputs import RecordingSummary
from robot_identification.signals import Samples
from robot_identification.validation.finding import Finding
from robot_identification.validation.held_out import HeldOut
from robot_identification.validation.repeats import MotionTrace, STORED_SECONDS
from robot_identification.validation.verdict import make_verdict, Thresholds, Verdict


def make_fit_verdict(fit: Fit, held_out: Sequence[HeldOut], thresholds: Thresholds,
                     findings: Sequence[Finding], tilt: Tilt | None = None,
                     bootstrap: Bootstrap | None = None) -> Verdict:
    """
    Return the verdict on the model of a fit.

    Parameters
    ----------
    fit
        The fit.
    held_out
        Errors of its model on recordings that were not fitted.
    thresholds
        Largest errors.
    findings
        Findings of the checks.
    tilt
        Tilt of the base, if gravity was estimated.
    bootstrap
        Bootstrap over the recordings, if there was one.

    """
    arm, consistent = fit.consistent.structure.arm, fit.consistent
    notes = [*_fit_notes(fit), *_tilt_notes(fit, tilt), *_arm_notes(arm)]
    if bootstrap is not None:
        notes.append(bootstrap.against(fit.estimate.standard_deviations))
    if consistent.active:
        notes.append(f'at the limit of physical feasibility: {", ".join(consistent.active)}')
    return make_verdict(
        held_out, thresholds, rated_torque=arm.limits.torque, unexcited=fit.estimate.unexcited,
        infeasible=[joint for joint, value in zip(arm.joint_names, consistent.certificate)
                    if not value > 0], notes=notes, findings=findings)


def _fit_notes(fit: Fit) -> list[str]:
    """Return notes on consistency, convergence, intervals and delays."""
    estimate, consistent, arm = fit.estimate, fit.consistent, fit.consistent.structure.arm
    increase = (np.linalg.norm(consistent.residual_rms / estimate.noise)
                / np.linalg.norm(consistent.free_residual_rms / estimate.noise) - 1)
    notes = [f'residual increase from physical consistency: {increase:.1%}']
    if estimate.status == 'not_converged':
        notes.append(estimate.message)
    if estimate.interval_doubt:
        notes.append(f'intervals of the base parameters cover less than stated: '
                     f'{estimate.interval_doubt}')
    leads = fit.delay.implausible(1 / min(part.rate for part in fit.regression.samples))
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
        return [f'gravity was estimated: the base is tilted by {tilt} (two standard deviations) '
                f'against the robot file']
    if not np.any(fit.consistent.structure.arm.gravity):
        return []
    estimated = estimate_tilt(fit)
    if not estimated.significant:
        return []
    return [f'the base seems to be tilted by {estimated} (two standard deviations) against the '
            f'robot file; level it, correct `gravity` or `mount` in the robot file, or estimate '
            f'it with `gravity: estimate`']


def _arm_notes(arm: Arm) -> list[str]:
    """Return a note on joints without effort."""
    return [f'joints without effort are neither fitted nor validated, and their friction is '
            f'unknown: {", ".join(arm.unmeasured)}'] if arm.unmeasured else []


def describe_fit(fit: Fit, recordings: Sequence[RecordingSummary],
                 samples: Sequence[Samples]) -> dict[str, Any]:
    """
    Return what a model file records of the fit: recordings, training motion, covariances.

    Parameters
    ----------
    fit
        The fit.
    recordings, samples
        The recordings that were fitted, and their processed pieces.

    """
    estimate, consistent = fit.estimate, fit.consistent
    return {
        'estimator': estimate.estimator,
        'recordings': [recording.name for recording in recordings],
        'seconds': [float(round(recording.duration, 3)) for recording in recordings],
        'training_motion': _training_motion(samples),
        'rows_per_joint': int(estimate.rows[0]),
        'condition_number': float(estimate.condition_number),
        'status': estimate.status,
        UNCERTAINTY: to_rows(low_rank_covariance(consistent.structure, consistent.covariance)),
        'smallest_pseudo_inertia_eigenvalue': {
            joint: float(value)
            for joint, value in zip(consistent.structure.arm.joint_names, consistent.certificate)},
        'payload_covariance': [[float(x) for x in row] for row in payload_covariance(
            fit.model({}), consistent.covariance, samples)]}


def _training_motion(samples: Sequence[Samples]) -> list[dict[str, Any]]:
    """Return the motion that a model file stores; of long recordings the first minutes."""
    traces, start = [], 0.0
    for part in samples:
        start = start if part.piece else float(part.t[0])
        if part.piece == 0 or part.t[0] - start < STORED_SECONDS:
            traces += [trace.to_dict() for trace in MotionTrace.of(part)]
    return traces
