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
from importlib.metadata import distributions
import os
from pathlib import Path
import platform
import re
from typing import Any, TYPE_CHECKING

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters, ModelStructure
from robot_identification.dynamics.base_parameters import VISIBLE
from robot_identification.dynamics.friction import get_friction
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.dynamics.joint_residual import RESIDUAL_GAINS
from robot_identification.errors import explain_missing, UnknownNameError
from robot_identification.export.json_file import rows_of_columns
from robot_identification.pipeline import Identification
from robot_identification.signals.process import add_notes
from robot_identification.validation import Finding, HeldOut, Thresholds, Verdict
from robot_identification.validation.checks import CHECKS
from robot_identification.validation.verdict import suggest_next_steps
from scipy.special import ndtri

if TYPE_CHECKING:
    from robot_identification.excitation import Excitation

CONFIDENCE = 0.95
"""Level of the confidence intervals in files and reports."""
QUANTILE = float(ndtri((1 + CONFIDENCE) / 2))
"""Half-width of these intervals in standard deviations."""
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
        'confidence_level': CONFIDENCE,
        'base_parameters': base_parameter_dicts(result),
        'standard_parameters': standard_parameter_dicts(result),
        'links': link_dicts(result),
        'friction': friction_dict(result),
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
    versions = {each.name: each.version for each in distributions()}
    path = Path('/proc/cpuinfo')
    model = re.search('^model name.*?:(.*)', path.read_text('utf-8') if path.exists() else '',
                      re.MULTILINE)
    return {'processor': model[1].strip() if model else platform.processor() or platform.machine(),
            'cores': str(os.cpu_count()), **software_versions(),
            **{package: versions.get(package, 'not installed') for package in PACKAGES}}


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


def _urdf_values(structure: ModelStructure) -> Array:
    """Return the standard parameters of URDF and robot YAML, (count,); NaN where missing."""
    values = np.full(structure.count, np.nan)
    values[structure.inertial_slice] = structure.arm.inertial_parameters.ravel()
    values[structure.rotor_slice][:structure.arm.n] = structure.arm.drives.rotor_inertia
    return values


def find_identifiability(base: BaseParameters) -> tuple[str, ...]:
    """
    Return the identifiability of each standard parameter: 'alone', 'combination' or 'none'.

    'alone': the torques determine the parameter itself. 'combination': the torques determine only
    a linear combination of it with others. 'none': the parameter affects no torque.
    """
    visible = np.abs(base.matrix) > VISIBLE
    combinations = visible[visible.sum(axis=1) > 1]
    return tuple(np.where(combinations.any(axis=0), 'combination', np.where(
        visible.any(axis=0), 'alone', 'none')).tolist())


def base_parameter_dicts(result: Identification) -> list[dict[str, Any]]:
    """
    Return a mapping for each base parameter of the free estimate.

    `urdf` is the combination of the URDF's values; a missing rotor inertia counts as zero, and the
    value is NaN if all parameters of the combination are missing. `model` is the combination of
    the consistent parameters.
    """
    estimate, base = result.estimate, result.estimate.base
    known = _urdf_values(base.structure)
    urdf = base.project(np.nan_to_num(known))
    unknown = ~np.any((np.abs(base.matrix) > 1e-9) & np.isfinite(known), axis=1)
    lower, upper = np.transpose(estimate.confidence_interval(CONFIDENCE))
    return rows_of_columns({
        'label': base.labels, 'combination': base.names, 'unit': base.units,
        'value': estimate.values, 'std': estimate.standard_deviations, 'lower': lower,
        'upper': upper, 'urdf': np.where(unknown, np.nan, urdf),
        'model': base.project(result.consistent.values)})


def standard_parameter_dicts(result: Identification) -> list[dict[str, Any]]:
    """Return a mapping for each standard parameter of the consistent model."""
    consistent, structure = result.consistent, result.consistent.structure
    actuators, parameters = zip(*(name.rsplit('.', 1) for name in structure.names))
    return rows_of_columns({
        'name': structure.names, 'element': actuators, 'parameter': parameters,
        'unit': structure.units, 'value': consistent.values,
        'std': np.sqrt(np.diag(consistent.covariance)), 'urdf': _urdf_values(structure),
        'identifiability': find_identifiability(result.estimate.base)})


def link_dicts(result: Identification) -> list[dict[str, Any]]:
    """Return mass, centre of mass and inertia of each link, identified and of the URDF."""
    nominal = result.arm.inertial_parameters
    return rows_of_columns({
        'joint': result.arm.joint_names,
        'identified': list(map(body_properties, result.model.inertial)),
        'urdf': list(map(body_properties, nominal)),
        'certificate': result.consistent.certificate,
        'urdf_certificate': smallest_eigenvalues(nominal)})


def body_properties(inertial: Array) -> dict[str, Any]:
    """
    Return mass, centre of mass and central inertia of a link, in the axes of its joint frame.

    These are 'mass' [kg], 'com' (3,) [m] and 'inertia' [kg m^2] by 'Ixx' to 'Iyz'; the last two
    are None if the mass is zero.

    Parameters
    ----------
    inertial
        Inertial parameters about the joint frame, (10,), Pinocchio's order.

    """
    if inertial[0] == 0:
        return {'mass': 0.0, 'com': None, 'inertia': None}
    body = pin.Inertia.FromDynamicParameters(np.array(inertial))
    return {'mass': body.mass, 'com': body.lever,
            'inertia': {f'I{a}{b}': body.inertia['xyz'.index(a), 'xyz'.index(b)]
                        for a, b in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')}}


def friction_dict(result: Identification) -> dict[str, Any]:
    """Return friction parameters and rotor inertia of each joint and coupled drive."""
    model, structure = result.model, result.consistent.structure
    friction = get_friction(model.friction)
    std = np.sqrt(np.diag(result.consistent.covariance))
    units, known = structure.units, _urdf_values(structure)
    shape, shape_variances = model.friction_shape, np.diag(result.estimate.shape_covariance)
    shape_std = (shape * np.sqrt(shape_variances).reshape(shape.shape)
                 if shape_variances.size == shape.size else np.full(shape.shape, np.nan))
    active, active_shape = structure.active, structure.active_shape
    elements = {}
    for e, actuator in enumerate(result.arm.actuator_names):
        rotor = structure.rotor_slice.start + e
        first = structure.friction_slice.start + e * len(friction.parameters)
        elements[actuator] = {
            'rotor_inertia': {'value': model.rotor_inertia[e], 'std': std[rotor],
                              'unit': units[rotor], 'nominal': known[rotor]},
            'parameters': {
                name: {'value': model.friction_parameters[e, i], 'std': std[first + i],
                       'unit': units[first + i]}
                for i, name in enumerate(friction.parameters) if active[e, i]} | {
                name: {'value': shape[e, i], 'std': shape_std[e, i],
                       'unit': unit.replace('rad', 'm') if structure.slides[e] else unit}
                for i, (name, unit) in enumerate(zip(friction.nonlinear, friction.shape_units))
                if active_shape[e, i]}}
    return {'model': friction.key, 'formula': friction.formula, 'elements': elements}


def to_frame(result: Identification, what: str = 'parameters') -> Any:
    """
    Return a table of a result as a pandas DataFrame.

    Parameters
    ----------
    result
        The identification.
    what
        'parameters': base parameters of the free estimate, with standard deviation, ends of the
        95 % confidence interval, unit, and the values of the URDF and of the consistent model.
        'standard': parameters of the consistent model. 'links': mass [kg], centre of mass [m] and
        inertia about it [kg m^2] of each link, in the axes of its joint. 'friction': friction and
        rotor inertia of each joint and coupled drive.

    Raises
    ------
    UnknownNameError
        There is no such table.
    MissingDependencyError
        pandas is not installed.

    Examples
    --------
    A table for a paper, in LaTeX:

    >>> print(to_frame(result, 'links').to_latex(float_format='%.3g'))    # doctest: +SKIP

    """
    with explain_missing('pandas', 'a table of parameters', 'plot'):
        import pandas
    tables = {'parameters': (base_parameter_dicts, ['label']),
              'standard': (standard_parameter_dicts, ['name']),
              'links': (_link_rows, ['joint']),
              'friction': (_friction_rows, ['joint', 'parameter'])}
    if what not in tables:
        raise UnknownNameError('table', what, tables)
    rows, index = tables[what]
    return pandas.DataFrame(rows(result)).set_index(index)


def _link_rows(result: Identification) -> list[dict[str, Any]]:
    """Return mass, centre and inertia of each link, and the mass in the URDF."""
    rows = []
    for link in link_dicts(result):
        found = link['identified']
        centre = (None,) * 3 if found['com'] is None else map(float, found['com'])
        rows.append({'joint': link['joint'], 'mass': found['mass'],
                     'urdf_mass': link['urdf']['mass'], **dict(zip(('cx', 'cy', 'cz'), centre)),
                     **(found['inertia'] or {})})
    return rows


def _friction_rows(result: Identification) -> list[dict[str, Any]]:
    """Return a row for each friction parameter and rotor inertia."""
    return [{'joint': joint, 'parameter': name,
             **{key: item[key] for key in ('value', 'std', 'unit')}}
            for joint, element in friction_dict(result)['elements'].items()
            for name, item in {'rotor_inertia': element['rotor_inertia'],
                               **element['parameters']}.items()]
