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
"""The content of results.json: an identification as plain mappings, lists, texts and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
from datetime import datetime, timezone
import platform
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.excitation import Excitation
from robot_identification.identification_data import Identification
from robot_identification.reporting.parameter_dicts import (
    base_parameter_dicts,
    friction_dict,
    link_dicts,
    standard_parameter_dicts,
)
from robot_identification.signals import Samples
from robot_identification.signals.process import add_notes
from robot_identification.validation import Finding, HeldOut, Thresholds, Verdict
from robot_identification.validation.checks import get_check
from robot_identification.validation.next_steps import suggest_next_steps

SCHEMA = 'robot_identification/results/1'
CONFIDENCE = 0.95
"""Level of the confidence intervals in files and reports."""
QUANTITIES = ('position', 'velocity', 'acceleration')
MOTION_LIMITS = ('lower', 'upper', 'velocity', 'acceleration')


def results_to_dict(result: Identification,
                    excitation: Excitation | None = None) -> dict[str, Any]:
    """
    Return an identification as plain mappings, lists, texts and numbers.

    Parameters
    ----------
    result
        What `identify` returned.
    excitation
        The designed motion that was recorded, if there is one.

    Returns
    -------
    dict
        The content of results.json. Values that are not known, not determined or not finite are
        None; units are given with the values, per joint where they differ.

    """
    estimate, consistent, arm = result.estimate, result.consistent, result.arm
    delay, choice, bootstrap = result.delay, result.choice, result.bootstrap
    free = np.linalg.norm(consistent.free_residual_rms / estimate.noise)
    plain_content: dict[str, Any] = plain({
        'schema': SCHEMA,
        'created': datetime.now(timezone.utc).isoformat(timespec='seconds'),
        'software': software_versions(),
        'arm': _arm(arm),
        'verdict': verdict_to_dict(arm, result.verdict),
        'next_steps': suggest_next_steps(arm, result.verdict, auto=choice is not None),
        'fit': [_evaluation(fitted, arm, result.verdict.thresholds) for fitted in result.fitted],
        'estimate': {
            **_attributes(estimate, ('estimator', 'status', 'message', 'interval_doubt',
                                     'iterations', 'rank', 'condition_number', 'unexcited')),
            'count': estimate.base.rank,
            **_by_joint(arm, estimate, ('noise', 'residual_rms', 'relative_error', 'rows')),
            'colour': dict(zip(arm.joint_names, estimate.autocorrelation_factor))},
        'delay': None if delay is None or not np.any(delay.deviations) else {
            'values': dict(zip(arm.joint_names, delay.values)),
            'std': dict(zip(arm.joint_names, delay.deviations)), 'unit': 's', 'of': delay.of},
        'choice': None if choice is None else {
            'blocks': choice.blocks,
            'trials': [dataclasses.asdict(trial) for trial in choice.trials]},
        'bootstrap': None if bootstrap is None else {
            'recordings': bootstrap.recordings, 'resamples': len(bootstrap.values),
            'against': bootstrap.against(estimate.standard_deviations)},
        'consistent': {
            'status': consistent.status, 'active': consistent.active,
            'prior_deviation': consistent.deviation,
            'cost': np.linalg.norm(consistent.residual_rms / estimate.noise) / free - 1,
            **_by_joint(arm, consistent, ('certificate', 'residual_rms', 'free_residual_rms'))},
        'confidence_level': CONFIDENCE,
        'base_parameters': base_parameter_dicts(result, CONFIDENCE),
        'standard_parameters': standard_parameter_dicts(result),
        'links': link_dicts(result),
        'friction': friction_dict(result),
        'effort_check': _attributes(result.effort, ('scale', 'message', 'joint_scale')),
        'recordings': _recordings(result),
        'motion': _recorded_motion(result) if excitation is None else _designed(excitation)})
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


def software_versions() -> dict[str, str]:
    """Return the versions of the software that results depend on."""
    from robot_identification import __version__
    return {'robot_identification': __version__, 'numpy': np.__version__,
            'pinocchio': pin.__version__, 'python': platform.python_version()}


def verdict_to_dict(arm: Arm, verdict: Verdict) -> dict[str, Any]:
    """Return the verdict on a model of an arm as plain mappings, lists, texts and numbers."""
    content: dict[str, Any] = plain({
        **_attributes(verdict, ('passed', 'status', 'reasons', 'notes')),
        'thresholds': _attributes(verdict.thresholds, ('overall', 'joint', 'rated')),
        'held_out': [_evaluation(h, arm, verdict.thresholds) for h in verdict.held_out],
        'alarms': [finding.sentence for finding in verdict.alarms],
        'checks': [_finding(finding) for finding in verdict.findings]})
    return content


def _attributes(source: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def _by_joint(arm: Arm, source: object, names: Iterable[str]) -> dict[str, Any]:
    """Return attributes with a value for each joint as mappings from the joints' names."""
    return {name: dict(zip(arm.joint_names, getattr(source, name))) for name in names}


def _arm(arm: Arm) -> dict[str, Any]:
    return {
        'name': arm.name, 'joints': arm.joint_names, 'elements': arm.actuator_names,
        'units': {'position': arm.units('rad', 'm'), 'velocity': arm.units('rad/s', 'm/s'),
                  'acceleration': arm.units('rad/s^2', 'm/s^2'), 'torque': arm.units('N m', 'N')},
        'urdf_sha256': arm.urdf_sha256, 'gravity': arm.gravity, 'locked': arm.locked,
        'effort': None if arm.effort is None else _attributes(
            arm.effort, ('quantity', 'side', 'sign', 'gravity_compensated')),
        'limits': _attributes(arm.limits, (*MOTION_LIMITS, 'jerk', 'torque'))}


def _finding(finding: Finding) -> dict[str, Any]:
    check = get_check(finding.check)
    return {'name': finding.check, 'question': check.question, 'origin': check.threshold_source,
            **_attributes(finding, ('subject', 'joint', 'alarm', 'figure', 'threshold', 'unit',
                                    'text'))}


def _evaluation(held_out: HeldOut, arm: Arm, thresholds: Thresholds) -> dict[str, Any]:
    joints = {
        joint: {**_attributes(errors, ('rmse', 'relative_error', 'correlation', 'nrmse')),
                'unit': unit, 'of_rated': errors.rmse / rated,
                'within': thresholds.accepts(errors, rated)}
        for (joint, errors), rated, unit in zip(held_out.joints.items(), arm.limits.torque,
                                                arm.units('N m', 'N'))}
    return {**_attributes(held_out, ('name', 'relative_error', 'free_relative_error', 'repeated',
                                     'repeat')),
            'whole_relative_error': held_out.full_relative_error, 'cutoff_hz': held_out.cutoff,
            'seconds': held_out.t[-1] - held_out.t[0], 'rows': len(held_out.t), 'joints': joints}


def _recordings(result: Identification) -> list[dict[str, Any]]:
    """Return samples and processing of each fitted recording, over all its pieces."""
    recordings: list[dict[str, Any]] = []
    fitted = iter(result.fitted)
    for part in result.training:
        if part.piece == 0:
            recordings.append({
                'name': next(fitted).name, 'used_for': 'fit', 'samples': 0, 'rate_hz': part.rate,
                'seconds': 0.0, 'runs': 0, 'processing': dict(part.processing)})
        entry = recordings[-1]
        entry['samples'] += len(part)
        entry['seconds'] += len(part) / part.rate
        entry['runs'] += len(part.segments)
        if part.piece:
            entry['processing'] = add_notes(entry['processing'], part.processing)
    return recordings


def _recorded_motion(result: Identification) -> dict[str, Any]:
    return {'kind': 'recorded', 'name': result.fitted[0].name if result.fitted else '',
            'usage': _usage(result.arm, result.training),
            'limits': _attributes(result.arm.limits, MOTION_LIMITS)}


def _usage(arm: Arm, recordings: Sequence[Samples]) -> dict[str, np.ndarray]:
    """Return the largest used fraction of each range; NaN where there is no limit."""
    limits = arm.limits
    bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    lower, upper = np.where(bounded, [limits.lower, limits.upper], np.nan)
    middle, half = np.where(bounded, (lower + upper) / 2, 0.0), (upper - lower) / 2
    peaks = np.max([[np.abs(x).max(axis=0) for x in (samples.q - middle, samples.v, samples.a)]
                    for samples in recordings], axis=0)    # (3, n)
    return {name: peak / np.where(np.isfinite(limit), limit, np.nan) for name, peak, limit in zip(
        QUANTITIES, peaks, (half, limits.velocity, limits.acceleration))}


def _designed(excitation: Excitation) -> dict[str, Any]:
    return {'kind': 'designed', 'trajectory': excitation.trajectory.series.to_mapping(),
            **_attributes(excitation, ('criterion', 'value', 'condition_number', 'rank', 'margin',
                                       'seed', 'starts', 'seconds', 'status', 'notes')),
            'usage': dict(zip(QUANTITIES, excitation.usage)),
            'limits': _attributes(excitation.limits, MOTION_LIMITS)}
