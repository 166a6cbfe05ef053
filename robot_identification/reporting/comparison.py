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
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError
from robot_identification.reporting.stored_results import StoredResults
from scipy.stats import norm

LEVEL = 0.05
"""Family-wise significance level: probability of any false change of an unchanged arm."""
TINY = 1e-9
"""p-values below this are shown as an upper bound."""
SPEEDS = (0.1, 0.5)
"""Fractions of the highest common speed at which friction is compared."""


@dataclass(frozen=True)
class Change:
    """
    A base parameter in both identifications.

    Parameters
    ----------
    label, combination, unit
        Name, combination of standard parameters and unit.
    values, deviations
        Values in the first and the second identification, with their standard deviations.
    p
        p-value of the difference, adjusted for the number of parameters (Holm).
    changed
        Whether p is below `LEVEL`.

    """

    label: str
    combination: str
    unit: str
    values: tuple[float, float]
    deviations: tuple[float, float]
    p: float
    changed: bool

    @property
    def difference(self) -> float:
        """The second value minus the first."""
        return self.values[1] - self.values[0]

    @property
    def relative(self) -> float:
        """The difference relative to the first value; NaN where that may be zero."""
        nonzero = abs(self.values[0]) > 2 * self.deviations[0]
        return self.difference / abs(self.values[0]) if nonzero else float('nan')

    @property
    def deviation(self) -> float:
        """Standard deviation of the difference."""
        return float(np.hypot(*self.deviations))


@dataclass(frozen=True, eq=False)
class FrictionChange:
    """
    Friction of a joint or coupled drive in both identifications.

    Parameters
    ----------
    element, linear
        The joint or drive, and whether it slides.
    speeds
        Speeds at which they are compared [rad/s or m/s].
    torques
        Mean of both directions at these speeds, (2, speeds) [N m or N].
    curves
        Curves of the first and the second: velocities and torques, (2, points).

    """

    element: str
    linear: bool
    speeds: tuple[float, ...]
    torques: Array
    curves: tuple[Array, Array]

    @property
    def units(self) -> tuple[str, str]:
        """Units of velocity and torque."""
        return ('m/s', 'N') if self.linear else ('rad/s', 'N m')


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """
    Two identifications side by side.

    Parameters
    ----------
    names
        Names of the two.
    arm
        Name of the arm.
    parameters
        Base parameters of both, in the order of their p-values.
    errors
        Relative errors on held-out motion of 'all joints' and of each joint; NaN without one.
    friction
        Friction of each joint or coupled drive.
    notes
        Reasons for caution.

    """

    names: tuple[str, str]
    arm: str
    parameters: tuple[Change, ...]
    errors: Mapping[str, tuple[float, float]]
    friction: tuple[FrictionChange, ...]
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def changed(self) -> tuple[Change, ...]:
        """The parameters that changed significantly."""
        return tuple(change for change in self.parameters if change.changed)

    @property
    def joints(self) -> dict[str, list[str]]:
        """The changed parameters by joint, without the joint's name."""
        by_joint: dict[str, list[str]] = {}
        for change in self.changed:
            joint, parameter = change.label.rsplit('.', 1)
            by_joint.setdefault(joint, []).append(parameter)
        return by_joint


def compare(first: StoredResults, second: StoredResults,
            names: tuple[str, str]) -> ModelComparison:
    """
    Compare two identifications of one arm.

    Each base parameter of the free estimates is tested with `z = |b2 - b1| / sqrt(s1^2 + s2^2)`
    and the normal distribution; the p-values are adjusted by Holm's procedure, which is valid
    for dependent parameters. Base parameters are compared if they are the same combination of
    standard parameters, friction parameters if the friction models are equal.

    Parameters
    ----------
    first, second
        The two, from `load_results`.
    names
        Names of the two.

    Raises
    ------
    ConfigurationError
        They are of different arms, or have no parameter in common.

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
                  for element in content['friction']['elements'].values()
                  for name in element['parameters']}
    rows = {(row['label'], row['combination']): row for row in b['base_parameters']}
    pairs = [(row, rows[key]) for row in a['base_parameters']
             if (key := (row['label'], row['combination'])) in rows
             and (same_friction or row['label'].rsplit('.', 1)[-1] not in frictional)
             and _known(row) and _known(rows[key])]
    if not pairs:
        raise ConfigurationError(f"'{names[0]}' and '{names[1]}' have no parameter in common that "
                                 'both determine')
    left = len(a['base_parameters']) - len(pairs)
    if left:
        notes.append(f'{left} of {len(a["base_parameters"])} parameters are not in both, or not '
                     'determined in both, and are not compared')
    return ModelComparison(names, str(a['arm']['name']), _changes(pairs),
                           _errors(a, b, first.joints), _friction(first, second), tuple(notes))


def holm(p: Array) -> Array:
    """
    Return p-values adjusted for multiple comparisons with Holm's procedure, (m,).

    Parameters
    ----------
    p
        (m,)

    """
    order = np.argsort(p)
    scaled = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(scaled)
    adjusted[order] = np.minimum(scaled, 1.0)
    return adjusted


def comparison_to_dict(comparison: ModelComparison) -> dict[str, Any]:
    """Return a comparison as plain mappings, lists, texts and numbers."""
    return {
        'names': list(comparison.names), 'arm': comparison.arm, 'level': LEVEL,
        'changed': [change.label for change in comparison.changed],
        'parameters': [
            {'label': c.label, 'combination': c.combination, 'unit': c.unit,
             'values': list(c.values), 'std': list(c.deviations), 'difference': c.difference,
             'difference_std': c.deviation, 'relative': c.relative, 'p': c.p,
             'changed': c.changed} for c in comparison.parameters],
        'errors': {name: list(pair) for name, pair in comparison.errors.items()},
        'friction': [{'element': f.element, 'speeds': list(f.speeds), 'first': f.torques[0],
                      'second': f.torques[1]} for f in comparison.friction],
        'notes': list(comparison.notes)}


def _known(row: Mapping[str, Any]) -> bool:
    return row['value'] is not None and row['std'] is not None and row['std'] > 0


def _notes(a: Mapping[str, Any], b: Mapping[str, Any], names: tuple[str, str]) -> list[str]:
    notes = []
    if a['arm']['urdf_sha256'] != b['arm']['urdf_sha256']:
        notes.append('the two were identified with different URDFs')
    if a['arm']['effort'] != b['arm']['effort']:
        notes.append('the two robot files give effort different meanings; that alone can change '
                     'every parameter')
    models = [content['friction']['model'] for content in (a, b)]
    if models[0] != models[1]:
        notes.append(f'the friction models differ ({models[0]}, {models[1]}): only '
                     'friction curves are compared, and effort offsets can move between terms')
    for content, name in zip((a, b), names):
        if content['verdict']['status'] == 'not validated':
            notes.append(f"'{name}' was not validated on another motion")
        elif not content['verdict']['passed']:
            notes.append(f"'{name}' failed its validation, so differences may be its own errors")
        if content['verdict']['alarms']:
            notes.append(f"'{name}' has alarms, which must be resolved first")
    return notes


def _changes(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> tuple[Change, ...]:
    values = np.array([[row['value'] for row in pair] for pair in pairs])
    deviations = np.array([[row['std'] for row in pair] for pair in pairs])
    distance = np.abs(values[:, 1] - values[:, 0]) / np.hypot(*deviations.T)
    adjusted = holm(2 * norm.sf(distance))
    found = [Change(pair[0]['label'], pair[0]['combination'], pair[0]['unit'],
                    (float(v[0]), float(v[1])), (float(s[0]), float(s[1])), float(p),
                    bool(p < LEVEL))
             for pair, v, s, p in zip(pairs, values, deviations, adjusted)]
    order = np.lexsort((-distance, adjusted))
    return tuple(found[k] for k in order)


def _errors(a: Mapping[str, Any], b: Mapping[str, Any],
            joints: Sequence[str]) -> dict[str, tuple[float, float]]:
    def of(content: Mapping[str, Any], joint: str | None) -> float:
        motions = content['verdict']['held_out']
        found = [(motion if joint is None else motion['joints'][joint])['relative_error']
                 for motion in motions if not motion['repeat']]
        known = [error for error in found if error is not None]
        return float(max(known)) if known else float('nan')
    return {name: (of(a, joint), of(b, joint))
            for name, joint in (('all joints', None), *((joint, joint) for joint in joints))}


def _friction(first: StoredResults, second: StoredResults) -> tuple[FrictionChange, ...]:
    found = []
    slides = [unit == 'm' for unit in first.units('position')]
    for e, element in enumerate(first.content['arm']['elements']):
        key = f'friction_{e}_curve'
        if key not in first.arrays or key not in second.arrays:
            continue
        curves = first.arrays[key], second.arrays[key]
        top = min(float(np.abs(curve[0]).max()) for curve in curves)
        speeds = tuple(float(part * top) for part in SPEEDS)
        torques = np.array([[(np.interp(speed, *curve) - np.interp(-speed, *curve)) / 2
                             for speed in speeds] for curve in curves])
        found.append(FrictionChange(element, e < len(slides) and slides[e], speeds, torques,
                                    curves))
    return tuple(found)
