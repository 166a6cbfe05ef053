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
"""What results.json says about an identification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from datetime import datetime, timezone
import platform
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.excitation import Excitation
from robot_identification.pipeline import Identification
from robot_identification.reporting.parameter_contents import (
    base_parameter_contents,
    friction_contents,
    link_contents,
    standard_parameter_contents,
)
from robot_identification.signals import Samples
from robot_identification.validation import Finding, HeldOut, Thresholds, Verdict
from robot_identification.validation.checks import get_check
from robot_identification.validation.next_steps import suggest_next_steps

SCHEMA = 'robot_identification/results/1'
CONFIDENCE = 0.95
"""Level of the confidence intervals in files and reports."""
QUANTITIES = ('position', 'velocity', 'acceleration')


def contents(result: Identification, excitation: Excitation | None = None) -> dict[str, Any]:
    """
    Return an identification as plain mappings, lists, texts and numbers.

    Parameters
    ----------
    result
        What `identify` returned.
    excitation
        The motion that was designed for it, where there is one.

    """
    content = {
        'schema': SCHEMA,
        'created': datetime.now(timezone.utc).isoformat(timespec='seconds'),
        'software': software(),
        'arm': _arm(result.arm),
        'verdict': verdict_contents(result.arm, result.verdict),
        'next_steps': suggest_next_steps(result.arm, result.verdict,
                                         auto=result.choice is not None),
        'fit': [_evaluation(fitted, result.arm, result.verdict.thresholds)
                for fitted in result.fitted],
        'estimate': _estimate(result),
        'delay': _delay(result),
        'choice': _choice(result),
        'bootstrap': _bootstrap(result),
        'consistent': _consistent(result),
        'confidence_level': CONFIDENCE,
        'base_parameters': base_parameter_contents(result, CONFIDENCE),
        'standard_parameters': standard_parameter_contents(result),
        'links': link_contents(result),
        'friction': friction_contents(result),
        'effort_check': {'scale': result.effort.scale, 'message': result.effort.message,
                         'joint_scale': result.effort.joint_scale},
        'recordings': list(map(_recording, result.fitted, result.training)),
        'motion': _recorded_motion(result) if excitation is None else _designed(excitation)}
    plain_content: dict[str, Any] = plain(content)
    return plain_content


def plain(value: Any) -> Any:
    """Return a value that strict JSON can hold: NaN and infinity become None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


def software() -> dict[str, str]:
    """Return the versions that results depend on."""
    from robot_identification import __version__
    return {'robot_identification': __version__, 'numpy': np.__version__,
            'pinocchio': pin.__version__, 'python': platform.python_version()}


def _arm(arm: Arm) -> dict[str, Any]:
    limits = arm.limits
    effort = None if arm.effort is None else {
        'quantity': arm.effort.quantity, 'side': arm.effort.side, 'sign': arm.effort.sign,
        'gravity_compensated': arm.effort.gravity_compensated}
    return {
        'name': arm.name, 'joints': arm.joint_names, 'elements': arm.element_names,
        'units': {'position': arm.units('rad', 'm'), 'velocity': arm.units('rad/s', 'm/s'),
                  'acceleration': arm.units('rad/s^2', 'm/s^2'), 'torque': arm.units('N m', 'N')},
        'urdf_sha256': arm.urdf_sha256, 'gravity': arm.gravity, 'locked': arm.locked,
        'effort': effort,
        'limits': {name: getattr(limits, name) for name in (
            'lower', 'upper', 'velocity', 'acceleration', 'jerk', 'torque')}}


def verdict_contents(arm: Arm, verdict: Verdict) -> dict[str, Any]:
    """
    Return a verdict as plain mappings, lists, texts and numbers.

    Parameters
    ----------
    arm
        The arm that was judged.
    verdict
        The verdict.

    """
    limits = verdict.thresholds
    content: dict[str, Any] = plain({
        'passed': verdict.passed, 'status': verdict.status, 'reasons': verdict.reasons,
        'notes': verdict.notes,
        'thresholds': {name: getattr(limits, name) for name in ('overall', 'joint', 'rated')},
        'held_out': [_evaluation(h, arm, limits) for h in verdict.held_out],
        'alarms': [finding.sentence for finding in verdict.alarms],
        'checks': [_finding(finding) for finding in verdict.findings]})
    return content


def _finding(finding: Finding) -> dict[str, Any]:
    check = get_check(finding.check)
    return {'name': finding.check, 'subject': finding.subject, 'joint': finding.joint,
            'alarm': finding.alarm, 'figure': finding.figure, 'threshold': finding.threshold,
            'unit': finding.unit, 'text': finding.text, 'question': check.question,
            'origin': check.threshold_source}


def _evaluation(held_out: HeldOut, arm: Arm, thresholds: Thresholds) -> dict[str, Any]:
    joints = {}
    for (joint, e), rated, unit in zip(held_out.joints.items(), arm.limits.torque,
                                       arm.units('N m', 'N')):
        joints[joint] = {
            'rmse': e.rmse, 'relative_error': e.relative_error, 'correlation': e.correlation,
            'nrmse': e.nrmse, 'unit': unit, 'of_rated': e.rmse / rated,
            'within': thresholds.accepts(e, rated)}
    return {'name': held_out.name, 'relative_error': held_out.relative_error,
            'whole_relative_error': held_out.full_relative_error,
            'free_relative_error': held_out.free_relative_error, 'cutoff_hz': held_out.cutoff,
            'repeated': held_out.repeated, 'repeat': held_out.repeat,
            'seconds': float(held_out.t[-1] - held_out.t[0]), 'rows': len(held_out.t),
            'joints': joints}


def _by_joint(arm: Arm, values: Sequence[float] | np.ndarray) -> dict[str, Any]:
    return dict(zip(arm.joint_names, np.asarray(values).tolist()))


def _estimate(result: Identification) -> dict[str, Any]:
    estimate, arm = result.estimate, result.arm
    return {
        'estimator': estimate.estimator, 'status': estimate.status, 'message': estimate.message,
        'interval_doubt': estimate.interval_doubt,
        'iterations': estimate.iterations, 'rank': estimate.rank, 'count': estimate.base.rank,
        'condition_number': estimate.condition_number, 'unexcited': estimate.unexcited,
        **{name: _by_joint(arm, getattr(estimate, name)) for name in (
            'noise', 'colour', 'residual_rms', 'relative_error', 'rows')}}


def _delay(result: Identification) -> dict[str, Any] | None:
    delay = result.delay
    if delay is None or not np.any(delay.deviations):
        return None
    return {'values': _by_joint(result.arm, delay.values),
            'std': _by_joint(result.arm, delay.deviations), 'unit': 's', 'of': delay.of}


def _choice(result: Identification) -> dict[str, Any] | None:
    if result.choice is None:
        return None
    return {'blocks': result.choice.blocks,
            'trials': [dataclasses.asdict(trial) for trial in result.choice.trials]}


def _bootstrap(result: Identification) -> dict[str, Any] | None:
    drawn = result.bootstrap
    return None if drawn is None else {
        'recordings': drawn.recordings, 'resamples': len(drawn.values),
        'against': drawn.against(result.estimate.standard_deviations)}


def _consistent(result: Identification) -> dict[str, Any]:
    consistent, arm = result.consistent, result.arm
    noise = result.estimate.noise
    free = np.linalg.norm(consistent.free_residual_rms / noise)
    return {
        'status': consistent.status, 'active': consistent.active,
        'prior_deviation': consistent.deviation,
        'cost': float(np.linalg.norm(consistent.residual_rms / noise) / free - 1),
        **{name: _by_joint(arm, getattr(consistent, name)) for name in (
            'certificate', 'residual_rms', 'free_residual_rms')}}


def _recording(fitted: HeldOut, samples: Samples) -> dict[str, Any]:
    return {'name': fitted.name, 'used_for': 'fit', 'samples': len(samples),
            'rate_hz': samples.rate, 'seconds': len(samples) / samples.rate,
            'runs': len(samples.segments), 'processing': dict(samples.processing)}


def _usage(arm: Arm, parts: Sequence[Samples]) -> dict[str, np.ndarray]:
    """Return which part of each range the recordings use at most; NaN where there is no limit."""
    limits = arm.limits
    bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    lower, upper = np.where(bounded, [limits.lower, limits.upper], np.nan)
    middle, half = np.where(bounded, (lower + upper) / 2, 0.0), (upper - lower) / 2

    peaks = np.max([_peaks(part, middle) for part in parts], axis=0)
    return {name: peak / np.where(np.isfinite(limit), limit, np.nan) for name, peak, limit in zip(
        QUANTITIES, peaks, (half, limits.velocity, limits.acceleration))}


def _peaks(samples: Samples, middle: np.ndarray) -> np.ndarray:
    """Return the largest magnitudes of position, velocity and acceleration, (3, n)."""
    return np.array([np.abs(x).max(axis=0) for x in (samples.q - middle, samples.v, samples.a)])


def _recorded_motion(result: Identification) -> dict[str, Any]:
    limits = result.arm.limits
    return {'kind': 'recorded',
            'name': result.fitted[0].name if result.fitted else '',
            'usage': _usage(result.arm, result.training),
            'limits': {name: getattr(limits, name) for name in (
                'lower', 'upper', 'velocity', 'acceleration')}}


def _designed(excitation: Excitation) -> dict[str, Any]:
    limits = excitation.limits
    return {
        'kind': 'designed', 'trajectory': excitation.trajectory.series.to_mapping(),
        'criterion': excitation.criterion, 'value': excitation.value,
        'condition_number': excitation.condition_number, 'rank': excitation.rank,
        'margin': excitation.margin, 'seed': excitation.seed, 'starts': excitation.starts,
        'seconds': excitation.seconds, 'status': excitation.status, 'notes': excitation.notes,
        'usage': dict(zip(QUANTITIES, excitation.usage)),
        'limits': {name: getattr(limits, name) for name in (
            'lower', 'upper', 'velocity', 'acceleration')}}
