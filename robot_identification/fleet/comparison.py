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

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError
from robot_identification.reporting.results_dict import plain
from robot_identification.reporting.stored_results import StoredResults
from scipy.stats import norm

LEVEL = 0.05
"""Family-wise significance level: probability that an unchanged arm shows any change."""
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
        The second value minus the first, with its standard deviation.
    relative
        The difference relative to the first value; NaN if that is within 2 std of zero.
    p
        p-value of the difference, adjusted for the number of parameters (Holm).
    changed
        Whether p is below `LEVEL`.

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

    """

    actuator: str
    units: tuple[str, str]
    speeds: tuple[float, ...]
    torques: Array
    curves: tuple[Array, Array]


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

    """

    names: tuple[str, str]
    arm: str
    parameters: tuple[Change, ...]
    errors: Mapping[str, tuple[float, float]]
    friction: tuple[FrictionChange, ...]
    notes: tuple[str, ...] = ()
    models: tuple[str, str] = ('', '')

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


def compare(first: StoredResults, second: StoredResults,
            names: tuple[str, str]) -> ModelComparison:
    """
    Return the differences between two identifications of one arm.

    Each base parameter of the unconstrained estimates is tested with
    `z = |b2 - b1| / sqrt(s1^2 + s2^2)` and the normal distribution. Model error counts too: where
    errors on held-out motion are k times as large as noise and the standard deviations explain
    (check 'lack of fit'), the standard deviations of this identification are multiplied by k. The
    p-values are adjusted by
    Holm's procedure, which is valid for dependent parameters. A base parameter is compared if it
    is the same combination of standard parameters in both identifications, and a friction
    parameter if the friction models are also equal.

    Parameters
    ----------
    first, second
        The identifications, from `load_results`.
    names
        Names of the two identifications.

    Raises
    ------
    ConfigurationError
        The identifications have different joints, or no parameter in common.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6(2), 1979.

    """
    a, b = first.content, second.content
    if first.joints != second.joints:
        raise ConfigurationError(
            f"'{names[0]}' has the joints {', '.join(first.joints)}, '{names[1]}' "
            f'{", ".join(second.joints)}; only identifications of one arm can be compared')
    notes = _notes(a, b, names)
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
    errors = {joint or 'all joints': (_error(a, joint), _error(b, joint))
              for joint in (None, *first.joints)}
    return ModelComparison(names, str(a['arm']['name']),
                           _changes(pairs, (_model_error(a), _model_error(b))),
                           errors, _friction(first, second), tuple(notes),
                           models=(_model_digest(a), _model_digest(b)))


def _model_digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 digest of the model file of results; empty in earlier versions."""
    return str(content.get('files', {}).get('model.yaml', ''))


def holm(p: Array) -> Array:
    """
    Return p-values adjusted for multiple comparisons with Holm's procedure, (m,).

    Parameters
    ----------
    p
        The p-values, (m,).

    """
    order = np.argsort(p)
    scaled = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(scaled)
    adjusted[order] = np.minimum(scaled, 1.0)
    return adjusted


def comparison_to_dict(comparison: ModelComparison) -> dict[str, Any]:
    """Return a comparison as a dictionary for JSON."""
    content: dict[str, Any] = plain({
        **vars(comparison), 'level': LEVEL,
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
             factors: tuple[float, float]) -> tuple[Change, ...]:
    """Return the changes of base parameters from pairs of table rows, most significant first."""
    values, std = (np.array([[row[key] for row in pair] for pair in pairs])
                   for key in ('value', 'std'))
    std = std * factors
    difference, difference_std = values[:, 1] - values[:, 0], np.hypot(*std.T)
    distance = np.abs(difference) / difference_std
    size = np.where(np.abs(values[:, 0]) > 2 * std[:, 0], np.abs(values[:, 0]), np.nan)
    p = holm(2 * norm.sf(distance))
    columns = [column.tolist() for column in (
        values, std, difference, difference_std, difference / size, p, p < LEVEL)]
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
        changes.append(FrictionChange(actuator, units, speeds, torques, curves))
    return tuple(changes)
