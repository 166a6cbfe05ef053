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

from collections.abc import Iterable, Mapping
import dataclasses
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
import os
from pathlib import Path
import platform
from typing import Any, TYPE_CHECKING

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.dynamics.joint_residual import RESIDUAL_GAINS
from robot_identification.pipeline import Identification
from robot_identification.reporting import parameter_dicts
from robot_identification.signals.process import add_notes
from robot_identification.validation import Finding, HeldOut, Thresholds, Verdict
from robot_identification.validation.checks import CHECKS
from robot_identification.validation.next_steps import suggest_next_steps

if TYPE_CHECKING:
    from robot_identification.excitation import Excitation

SCHEMA = 'robot_identification/results/1'
QUANTITIES = ('position', 'velocity', 'acceleration')
PACKAGES = ('scipy', 'numba', 'mujoco', 'clarabel', 'cma')
"""Packages, besides NumPy and Pinocchio, that affect the results of studies and benchmarks."""
MOTION_LIMITS = ('lower', 'upper', 'velocity', 'acceleration')


def results_to_dict(result: Identification,
                    excitation: Excitation | None = None) -> dict[str, Any]:
    """
    Return an identification as plain mappings, lists, texts and numbers.

    Parameters
    ----------
    result
        The result of `identify`.
    excitation
        The designed motion that was recorded, if there is one.

    Returns
    -------
    dict
        The content of results.json. Unknown, undetermined and non-finite values are None; units
        are given with the values, per joint where they differ.

    Examples
    --------
    >>> results_to_dict(result)['verdict']['passed']    # doctest: +SKIP
    True

    """
    estimate, consistent, arm = result.estimate, result.consistent, result.arm
    delay, choice, effects = result.delay, result.choice, result.effects
    free = np.linalg.norm(consistent.free_residual_rms / estimate.noise)
    return plain({
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
        'effects': None if effects is None else {
            'deviations': effects.deviations, 'text': effects.describe()},
        'consistent': {
            'status': consistent.status, 'active': consistent.active,
            'prior_deviation': consistent.deviation,
            'cost': np.linalg.norm(consistent.residual_rms / estimate.noise) / free - 1,
            **_by_joint(arm, consistent, ('certificate', 'residual_rms', 'free_residual_rms'))},
        'confidence_level': parameter_dicts.CONFIDENCE,
        'base_parameters': parameter_dicts.base_parameter_dicts(result),
        'standard_parameters': parameter_dicts.standard_parameter_dicts(result),
        'links': parameter_dicts.link_dicts(result),
        'friction': parameter_dicts.friction_dict(result),
        'residual': result.model.information.get(RESIDUAL_GAINS),
        'effort_check': _attributes(result.effort, ('scale', 'message', 'joint_scale')),
        'recordings': _recordings(result),
        'motion': _recorded_motion(result) if excitation is None else _designed(excitation)})


def plain(value: Any) -> Any:
    """Return a value of types that JSON has; NaN and infinity become None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


def software_versions() -> dict[str, str]:
    """Return the versions of the software that results depend on."""
    from robot_identification import __version__
    return {'robot_identification': __version__, 'numpy': np.__version__,
            'pinocchio': pin.__version__, 'python': platform.python_version()}


def environment() -> dict[str, str]:
    """Return processor, number of cores and package versions, which affect results."""
    machine = {'processor': _processor(), 'cores': str(os.cpu_count()), **software_versions()}
    for package in PACKAGES:
        try:
            machine[package] = version(package)
        except PackageNotFoundError:
            machine[package] = 'not installed'
    return machine


def _processor() -> str:
    """Return the name of the processor."""
    try:
        for line in Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines():
            if line.startswith('model name'):
                return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def verdict_to_dict(arm: Arm, verdict: Verdict) -> dict[str, Any]:
    """Return the verdict on a model of an arm as plain mappings, lists, texts and numbers."""
    return plain({
        **_attributes(verdict, ('passed', 'status', 'reasons', 'doubts', 'notes')),
        'thresholds': _attributes(verdict.thresholds, ('overall', 'joint', 'rated', 'strict')),
        'held_out': [_evaluation(h, arm, verdict.thresholds) for h in verdict.held_out],
        'alarms': [finding.sentence for finding in verdict.alarms],
        'checks': [_finding(finding) for finding in verdict.findings]})


def _attributes(source: object, names: Iterable[str]) -> dict[str, Any]:
    """Return attributes of an object as a mapping from their names."""
    return {name: getattr(source, name) for name in names}


def _by_joint(arm: Arm, source: object, names: Iterable[str]) -> dict[str, Any]:
    """Return, by attribute name, the mapping from each joint's name to its value."""
    return {name: dict(zip(arm.joint_names, getattr(source, name))) for name in names}


def _arm(arm: Arm) -> dict[str, Any]:
    """Return names, units, effort and limits of an arm."""
    return {
        'name': arm.name, 'joints': arm.joint_names, 'elements': arm.actuator_names,
        'units': {'position': arm.units('rad', 'm'), 'velocity': arm.units('rad/s', 'm/s'),
                  'acceleration': arm.units('rad/s^2', 'm/s^2'), 'torque': arm.units('N m', 'N')},
        'urdf_sha256': arm.urdf_sha256, 'gravity': arm.gravity, 'locked': arm.locked,
        'effort': None if arm.effort is None else _attributes(
            arm.effort, ('quantity', 'side', 'sign', 'gravity_compensated')),
        'limits': _attributes(arm.limits, (*MOTION_LIMITS, 'jerk', 'torque'))}


def _finding(finding: Finding) -> dict[str, Any]:
    """Return a finding with the question and the threshold source of its check."""
    check = CHECKS.find(finding.check)
    return {'name': finding.check, 'question': check.question, 'origin': check.threshold_source,
            **_attributes(finding, ('subject', 'joint', 'alarm', 'figure', 'threshold', 'unit',
                                    'text'))}


def _evaluation(held_out: HeldOut, arm: Arm, thresholds: Thresholds) -> dict[str, Any]:
    """Return the torque errors on a recording, over all joints and of each joint."""
    joints = {
        joint: {**_attributes(errors, ('rmse', 'relative_error', 'correlation', 'nrmse')),
                'unit': unit, 'of_rated': errors.rmse / rated,
                'within': thresholds.accepts(errors, rated)}
        for (joint, errors), rated, unit in zip(held_out.joints.items(), arm.limits.torque,
                                                arm.units('N m', 'N'))}
    return {**_attributes(held_out, ('name', 'relative_error', 'repeated', 'repeat',
                                     'coverage', 'distance', 'noise_error',
                                     'physical_relative_error')),
            'whole_relative_error': held_out.full_relative_error, 'cutoff_hz': held_out.cutoff,
            'seconds': held_out.t[-1] - held_out.t[0], 'rows': len(held_out.t), 'joints': joints}


def _recordings(result: Identification) -> list[dict[str, Any]]:
    """Return duration and processing of each fitted recording, whose pieces are combined."""
    recordings: list[dict[str, Any]] = []
    fitted = iter(result.fitted)
    for piece in result.training:
        if piece.piece == 0:
            recordings.append({
                'name': next(fitted).name, 'used_for': 'fit', 'samples': 0, 'rate_hz': piece.rate,
                'seconds': 0.0, 'runs': 0, 'processing': dict(piece.processing)})
        entry = recordings[-1]
        entry['samples'] += len(piece)
        entry['seconds'] += len(piece) / piece.rate
        entry['runs'] += len(piece.segments)
        if piece.piece:
            entry['processing'] = add_notes(entry['processing'], piece.processing)
    return recordings


def _recorded_motion(result: Identification) -> dict[str, Any]:
    """Return the recorded motion and the fractions of the limits it uses; NaN without limit."""
    limits = result.arm.limits
    bounded = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    lower, upper = np.where(bounded, [limits.lower, limits.upper], np.nan)
    middle, half = np.where(bounded, (lower + upper) / 2, 0.0), (upper - lower) / 2
    peaks = np.max([[np.abs(x).max(axis=0) for x in (samples.q - middle, samples.v, samples.a)]
                    for samples in result.training], axis=0)    # (3, n)
    ranges = np.stack([half, limits.velocity, limits.acceleration])
    return {'kind': 'recorded', 'name': result.fitted[0].name if result.fitted else '',
            'usage': dict(zip(QUANTITIES, peaks / np.where(np.isfinite(ranges), ranges, np.nan))),
            'limits': _attributes(limits, MOTION_LIMITS), 'notes': ()}


def _designed(excitation: Excitation) -> dict[str, Any]:
    """Return a designed motion, its optimality and the fractions of the limits it uses."""
    return {'kind': 'designed', 'trajectory': excitation.trajectory.series.to_mapping(),
            **_attributes(excitation, ('criterion', 'value', 'condition_number', 'rank', 'margin',
                                       'seed', 'starts', 'seconds', 'status', 'notes')),
            'usage': dict(zip(QUANTITIES, excitation.usage)),
            'limits': _attributes(excitation.limits, MOTION_LIMITS)}
