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
"""Significant differences between two identifications of one arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import os
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.changes import explanations
from robot_identification.changes.joint_fit import join_runs, JointFit
from robot_identification.changes.motion_run import MotionRun, path_torque, stored_runs, top_speed
from robot_identification.changes.torque_columns import sensor_deviations, standard_columns
from robot_identification.dynamics import base_parameters, IdentifiedModel
from robot_identification.dynamics.model_file import load_model
from robot_identification.errors import ConfigurationError
from robot_identification.regression.blocked_regression import holm
from robot_identification.reporting.results_dict import plain
from robot_identification.reporting.results_files import StoredResults
from scipy.special import stdtr

TINY = 1e-9
"""p-values below this are shown as an upper bound."""
SPEEDS = (0.1, 0.5)
"""Speeds at which friction is compared, as fractions of the highest speed of both curves."""


@dataclass(frozen=True)
class Change:
    """
    Values of one base parameter in two identifications.

    Parameters
    ----------
    label, combination, unit
        Label, combination of standard parameters, and unit of the parameter.
    values, std
        Values in the first and the second identification, with their standard deviations.
    difference, difference_std
        Change, with its standard deviation: estimated from both recordings together if their
        motions are stored, see `compare_motions`; else the difference of the values.
    relative
        The difference relative to the first value; NaN if that is within 2 std of zero.
    p
        p-value of the difference, adjusted for the number of parameters (Holm); not smaller than
        that of the parameter that explains most of the recordings without the others.
    changed
        Whether p is below `FURTHER_LEVEL`, or below `LEVEL` where no explanation was tried.

    """

    label: str
    combination: str
    unit: str
    values: tuple[float, float]
    std: tuple[float, float]
    difference: float
    difference_std: float
    relative: float
    p: float
    changed: bool


@dataclass(frozen=True)
class MotionComparison:
    """
    Difference between two identifications of one arm, from both recordings together.

    Parameters
    ----------
    same_motion
        Whether both made the same motion; then errors of the model cancel.
    explanation
        The simplest changes that explain the difference.
    parameters
        Change of each base parameter of the first model, by label and combination, with its
        standard deviation and the degrees of freedom of that.
    alone
        p-value of the parameter that explains most without the others, adjusted for their number
        (Bonferroni).
    prediction
        Errors of the first and the second model on the motion of the second identification,
        relative to its torques while the joints move.

    """

    same_motion: bool
    explanation: explanations.Explanation
    parameters: Mapping[tuple[str, str], tuple[float, float, float]]
    alone: float
    prediction: tuple[float, float]


@dataclass(frozen=True, eq=False)
class FrictionChange:
    """
    Friction of one joint or coupled drive in two identifications.

    Parameters
    ----------
    actuator, units
        The joint or drive, and its units of velocity and torque.
    speeds
        Speeds at which friction is compared [rad/s or m/s].
    torques
        Friction at these speeds, mean of both directions, in each identification,
        (2, speeds) [N m or N].
    curves
        Friction curve of each identification: velocities and torques, (2, points).
    std
        Standard deviation of the torque of each curve, (points,); None if it is not stored.

    """

    actuator: str
    units: tuple[str, str]
    speeds: tuple[float, ...]
    torques: Array
    curves: tuple[Array, Array]
    std: tuple[Array | None, Array | None] = (None, None)


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """
    Differences between two identifications of one arm.

    Parameters
    ----------
    names
        Names of the two identifications.
    arm
        Name of the arm.
    parameters
        Base parameters of both, in ascending order of their p-values.
    errors
        Largest relative torque error of each identification on held-out motions, for 'all joints'
        and for each joint; NaN if unknown.
    friction
        Friction of each joint or coupled drive.
    notes
        Reasons why the comparison may mislead.
    models
        SHA-256 digests of the two model files; empty for results of earlier versions.
    explanation
        The simplest changes that explain the difference, and every change that was tried; None if
        the recordings could not be compared.
    same_motion
        Whether both made the same motion, so that errors of the models cancel.
    prediction
        Relative torque errors while the joints make the motion of the second identification: of
        the first model, and of the second one, which was fitted to it; NaN if unknown.
    predicts
        Whether the error of the first model is within the threshold of its own verdict.
    dates
        Date of each identification, such as '2026-05-12'; empty for results of earlier versions.

    """

    names: tuple[str, str]
    arm: str
    parameters: tuple[Change, ...]
    errors: Mapping[str, tuple[float, float]]
    friction: tuple[FrictionChange, ...]
    notes: tuple[str, ...] = ()
    models: tuple[str, str] = ('', '')
    explanation: explanations.Explanation | None = None
    same_motion: bool = False
    prediction: tuple[float, float] = (float('nan'), float('nan'))
    predicts: bool = False
    dates: tuple[str, str] = ('', '')

    @property
    def verdict(self) -> str:
        """The verdict: 'explained', 'changed' without a simple explanation, or 'unchanged'."""
        if self.explanation is not None and self.explanation.changes:
            return 'explained'
        return 'changed' if self.changed else 'unchanged'

    @property
    def headline(self) -> str:
        """One sentence: the explanation, or what changed, or what would have been found."""
        explanation, count = self.explanation, len(self.parameters)
        if self.verdict == 'explained' and explanation is not None:
            kinds = {change.kind for change in explanation.changes}
            rest = '' if kinds & {'friction', 'all friction'} else '; friction unchanged'
            text = f'{" and ".join(change.text for change in explanation.changes)}{rest}.'
            return text[0].upper() + text[1:]
        if self.verdict == 'changed':
            names = '; '.join(f'{joint}: {", ".join(labels)}'
                              for joint, labels in self.joints.items())
            simple = '' if explanation is None else 'by no simple explanation: '
            return f'Changed, {simple}{len(self.changed)} of {count} parameters ({names}).'
        if explanation is None:
            return f'No significant change in {count} parameters.'
        return f'No significant change. {describe_detectable(explanation)} would have been found.'

    @property
    def prediction_sentence(self) -> str:
        """Whether the first model predicts the torques of the second motion; '' if unknown."""
        error, own = self.prediction
        if np.isnan(error):
            return ''
        return (f"'{self.names[0]}' {'predicts' if self.predicts else 'does not predict'} the "
                f"motion of '{self.names[1]}': torque error {error:.1%}, that of the model fitted "
                f'to it {own:.1%}.')

    @property
    def changed(self) -> tuple[Change, ...]:
        """The parameters that changed significantly."""
        return tuple(change for change in self.parameters if change.changed)

    @property
    def joints(self) -> dict[str, list[str]]:
        """Names of the changed parameters of each joint, without the joint's name."""
        by_joint: dict[str, list[str]] = {}
        for change in self.changed:
            joint, parameter = change.label.rsplit('.', 1)
            by_joint.setdefault(joint, []).append(parameter)
        return by_joint


def describe_detectable(explanation: explanations.Explanation) -> str:
    """Return the smallest changes of an arm that would have been found, as text."""
    found = []
    for kind, words in (('body', ''), ('friction', 'a change of friction of '),
                        ('gain', 'of gain of '), ('tilt', 'a tilt of ')):
        each = sorted((change for change in explanation.considered if change.kind == kind
                       and np.isfinite(change.detectable)), key=lambda change: change.detectable)
        if not each:
            continue
        text = words + each[0].found_above
        if kind == 'body':
            text = f'{text} at {each[0].subject}'
        elif len(each) > 1:
            text = (f'{text} ({each[0].subject}) to {each[-1].found_above} '
                    f'({each[-1].subject})')
        found.append(text)
    return ' or '.join([', '.join(found[:-1]), found[-1]] if len(found) > 1 else found)


def compare(first: StoredResults, second: StoredResults,
            names: tuple[str, str],
            sensor_deviation: float | None = None) -> ModelComparison:
    """
    Return the differences between two identifications of one arm, simple explanations first.

    Explanations are tried on the stored motions and torques of both, see `compare_motions` and
    `find_explanation`. Then the change of each base parameter is tested. The p-values are adjusted
    by Holm's procedure, which is valid for dependent parameters. A base parameter is compared if
    it is the same combination of standard parameters in both identifications, and a friction
    parameter if the friction models are also equal.

    Without stored motions each parameter is tested with `z = |b2 - b1| / sqrt(s1^2 + s2^2)`. Model
    error then counts by the check 'lack of fit': where errors on held-out motion are k times as
    large as noise and the standard deviations explain, these are multiplied by k.

    Parameters
    ----------
    first, second
        The identifications, from `load_results`.
    names
        Names of the two identifications.
    sensor_deviation
        Standard deviation of the gain of each joint's torque sensor [-], which the interval of an
        added body contains; None selects that of the robot file or `SENSOR_DEVIATION`.

    Raises
    ------
    ConfigurationError
        The identifications have different joints, or no parameter in common.

    Examples
    --------
    >>> compare(load_results('may'), load_results('june'), ('may', 'june')).headline
    ... # doctest: +SKIP
    '1.01 \u00b1 0.04 kg were added at wrist_3_joint; friction unchanged.'

    """
    a, b = first.content, second.content
    if first.joints != second.joints:
        raise ConfigurationError(
            f"'{names[0]}' has the joints {', '.join(first.joints)}, '{names[1]}' "
            f'{", ".join(second.joints)}; only identifications of one arm can be compared')
    notes = _notes(a, b, names)
    pairs = _comparable_rows(a, b, names, notes)
    motion = _compare_motions(first, second, notes, sensor_deviation)
    errors = {joint or 'all joints': (_error(a, joint), _error(b, joint))
              for joint in (None, *first.joints)}
    comparison = ModelComparison(
        names, str(a['arm']['name']), _changes(pairs, (_model_error(a), _model_error(b)), motion),
        errors, _friction(first, second), tuple(notes),
        models=(_model_digest(a), _model_digest(b)),
        dates=(str(a.get('created', ''))[:10], str(b.get('created', ''))[:10]))
    if motion is None:
        return comparison
    return replace(
        comparison, explanation=motion.explanation, same_motion=motion.same_motion,
        prediction=motion.prediction,
        predicts=motion.prediction[0] <= float(a['verdict']['thresholds']['overall']))


def _comparable_rows(a: Mapping[str, Any], b: Mapping[str, Any], names: tuple[str, str],
                     notes: list[str]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return the rows of base parameters that can be compared; add a note on the others."""
    same_friction = a['friction']['model'] == b['friction']['model']
    frictional = {name for content in (a, b)
                  for actuator in content['friction']['elements'].values()
                  for name in actuator['parameters']}
    rows = {(row['label'], row['combination']): row for row in b['base_parameters']}
    pairs = [(row, rows[key]) for row in a['base_parameters']
             if (key := (row['label'], row['combination'])) in rows
             and (same_friction or row['label'].rsplit('.', 1)[-1] not in frictional)
             and _known(row) and _known(rows[key])]
    if not pairs:
        raise ConfigurationError(f"'{names[0]}' and '{names[1]}' have no parameter in common that "
                                 'is determined in both')
    rest = len(a['base_parameters']) - len(pairs)
    if rest:
        notes.append(f'{rest} of {len(a["base_parameters"])} parameters are not in both, or not '
                     'determined in both, and are not compared')
    return pairs


def _compare_motions(first: StoredResults, second: StoredResults,
                     notes: list[str],
                     sensor_deviation: float | None) -> MotionComparison | None:
    """Return the comparison of the stored motions; None with a note if there are none."""
    if _model_digest(first.content) and (
            _model_digest(first.content) == _model_digest(second.content)):
        notes.append('both results are the same identification, so nothing can differ')
        return None
    if all(each.folder and os.path.exists(os.path.join(each.folder, 'model.yaml'))
           for each in (first, second)):
        model, other = (load_model(results.folder) for results in (first, second))
        runs = stored_runs(first, model), stored_runs(second, other)
        if all(runs):
            return compare_motions(*runs, (model, other),
                                   sensor_deviations(model.arm, sensor_deviation))
    notes.append('no simple explanation was tried: the results do not contain the motion and the '
                 'torques of both identifications; identify again with this version')
    return None


def compare_motions(first: Sequence[MotionRun], second: Sequence[MotionRun],
                    models: tuple[IdentifiedModel, IdentifiedModel],
                    sensors: Array) -> MotionComparison:
    """
    Return the difference between two identifications, from both recordings together.

    See `join_runs` for the equations of both recordings together.

    Parameters
    ----------
    first, second
        Runs of the two identifications, from `stored_runs`; at least one each.
    models
        Their models.
    sensors
        Standard deviations of the gains of the torque sensors, (n,).

    """
    model = models[0]
    base = base_parameters(model.structure)
    top = top_speed((*first, *second))
    candidates = explanations.Candidates.of(model, top, first)
    errors = [*(run.residual for run in first), *(run.residual - run.apply(
        lambda q, v, a: path_torque(model, q, v, a) - path_torque(models[1], q, v, a))
        for run in second)]

    def effects(q: Array, v: Array, a: Array) -> Array:
        """Return the columns of the candidates and of the base parameters."""
        return np.concatenate([candidates.columns(q, v, a),
                               standard_columns(model, q, v, a)[:, :, base.columns]], axis=2)

    changed = [run.apply(effects) for run in second]
    equations, same = join_runs(model, (first, second), errors, changed, top)
    number = len(changed[0][0, 0]) - base.rank
    explanation = explanations.find_explanation(equations, candidates.members, sensors)
    own = range(number, number + base.rank)
    joint_fit = JointFit.of(equations, own)
    fit = joint_fit.estimate(own, unbiased=True)
    alone = min(1.0, base.rank * min(joint_fit.estimate([k], unbiased=True).p for k in own))
    used = [run.moving(top) & model.arm.measured for run in second]
    error, second_error, torque = (
        float(np.linalg.norm(np.concatenate([x[mask] for x, mask in zip(each, used)])))
        for each in (errors[len(first):], [run.residual for run in second],
                     [run.torque for run in second]))
    parameters = zip(fit.values, np.maximum(fit.deviations, 1e-300), fit.freedom)
    return MotionComparison(same, explanation, dict(zip(zip(base.labels, base.names), parameters)),
                            alone, (error / torque, second_error / torque))


def _model_digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 digest of the model file of results; empty in earlier versions."""
    return str(content.get('files', {}).get('model.yaml', ''))


def comparison_to_dict(comparison: ModelComparison) -> dict[str, Any]:
    """Return a comparison as a dictionary for JSON."""
    explanation = comparison.explanation
    content: dict[str, Any] = plain({
        **vars(comparison), 'level': explanations.LEVEL, 'verdict': comparison.verdict,
        'headline': comparison.headline, 'prediction_sentence': comparison.prediction_sentence,
        'explanation': None if explanation is None else {
            'changes': [change.text for change in explanation.changes],
            'causes': [vars(change) for change in explanation.changes],
            'explained': explanation.explained,
            'considered': [vars(change) for change in explanation.considered]},
        'prediction': dict(zip(('first', 'second'), comparison.prediction)),
        'changed': [change.label for change in comparison.changed],
        'parameters': [vars(change) for change in comparison.parameters],
        'friction': [{'element': f.actuator, 'speeds': f.speeds, 'first': f.torques[0],
                      'second': f.torques[1]} for f in comparison.friction]})
    return content


def _known(row: Mapping[str, Any]) -> bool:
    """Return whether a base parameter has a value and a positive standard deviation."""
    return row['value'] is not None and row['std'] is not None and row['std'] > 0


def _notes(a: Mapping[str, Any], b: Mapping[str, Any], names: tuple[str, str]) -> list[str]:
    """Return reasons why a comparison of two identifications may mislead."""
    notes = []
    if a['arm']['urdf_sha256'] != b['arm']['urdf_sha256']:
        notes.append('the two were identified with different URDFs')
    if a['arm']['effort'] != b['arm']['effort']:
        notes.append('the two robot files give effort different meanings; that alone can change '
                     'every parameter')
    models = [content['friction']['model'] for content in (a, b)]
    if models[0] != models[1]:
        notes.append(f'the friction models differ ({models[0]}, {models[1]}): of '
                     'friction, only the curves are compared; effort offsets can move between '
                     'terms')
    for content, name in zip((a, b), names):
        if content['verdict']['status'] == 'not validated':
            notes.append(f"'{name}' was not validated on another motion")
        elif content['verdict']['status'] == 'failed':
            notes.append(f"'{name}' failed its validation, so differences may be its own errors")
        if content['verdict']['alarms']:
            notes.append(f"'{name}' is doubtful: resolve the alarms of its checks first")
    return notes


def _model_error(content: Mapping[str, Any]) -> float:
    """Return the factor by which model error widens the standard deviations of results."""
    figures = [check['figure'] for check in content['verdict'].get('checks', ())
               if check['name'] == 'lack of fit' and check['figure'] is not None]
    return max([1.0, *map(float, figures)])


def _changes(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
             factors: tuple[float, float], motion: MotionComparison | None) -> tuple[Change, ...]:
    """Return the changes of base parameters from pairs of table rows, most significant first."""
    values, std = (np.array([[row[key] for row in pair] for pair in pairs])
                   for key in ('value', 'std'))
    std = std * factors
    difference, difference_std = values[:, 1] - values[:, 0], np.hypot(*std.T)
    freedom, level, alone = np.full(len(pairs), np.inf), explanations.LEVEL, 0.0
    if motion is not None:
        level, alone = explanations.FURTHER_LEVEL, motion.alone
        for k, (row, _) in enumerate(pairs):
            if (found := motion.parameters.get((row['label'], row['combination']))) is not None:
                difference[k], difference_std[k], freedom[k] = found
    distance = np.abs(difference) / difference_std
    size = np.where(np.abs(values[:, 0]) > 2 * std[:, 0], np.abs(values[:, 0]), np.nan)
    p = np.maximum(holm(2 * stdtr(freedom, -distance)), alone)
    columns = [column.tolist() for column in (
        values, std, difference, difference_std, difference / size, p, p < level)]
    changes = [Change(row['label'], row['combination'], row['unit'], *numbers)
               for (row, _), *numbers in zip(pairs, *columns)]
    return tuple(changes[k] for k in np.lexsort((-distance, p)))


def _error(content: Mapping[str, Any], joint: str | None) -> float:
    """Return the largest held-out relative error of a joint, or of all if None; NaN if unknown."""
    errors = [(motion if joint is None else motion['joints'][joint])['relative_error']
              for motion in content['verdict']['held_out'] if not motion['repeat']]
    return max((float(error) for error in errors if error is not None), default=float('nan'))


def _friction(first: StoredResults, second: StoredResults) -> tuple[FrictionChange, ...]:
    """Return the friction of each actuator for which both results have a friction curve."""
    changes = []
    joint_units = list(zip(first.units('velocity'), first.units('torque')))
    for e, actuator in enumerate(first.content['arm']['elements']):
        key = f'friction_{e}_curve'
        if key not in first.arrays or key not in second.arrays:
            continue
        curves = first.arrays[key], second.arrays[key]
        top = min(float(np.abs(curve[0]).max()) for curve in curves)
        speeds = tuple(fraction * top for fraction in SPEEDS)
        torques = np.array([[(np.interp(speed, *curve) - np.interp(-speed, *curve)) / 2
                             for speed in speeds] for curve in curves])
        units = joint_units[e] if e < len(joint_units) else ('rad/s', 'N m')
        key = f'friction_{e}_std'
        std = first.arrays.get(key), second.arrays.get(key)
        changes.append(FrictionChange(actuator, units, speeds, torques, curves, std))
    return tuple(changes)
