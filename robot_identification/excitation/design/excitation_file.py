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
"""Excitations as YAML files."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import hashlib
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from robot_identification.arm import Limits
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.excitation.certificate.claim import Certificate, CertificateClaim
from robot_identification.excitation.certificate.requirements import Requirements
from robot_identification.excitation.design.excitation import ColumnChoice, Excitation
from robot_identification.excitation.motion import get_series, Trajectory
from robot_identification.excitation.motion.limits import check_limits, QUANTITIES
from robot_identification.files import atomic_write
from robot_identification.yaml_file import Number, read_typed, read_yaml, to_plain
import yaml

SCHEMA = 'robot_identification/excitation/1'
CONTENT: dict[str, Any] = {
    'digest': str,
    'arm': {'name': str, 'urdf_sha256': str, 'joints': tuple[str, ...]},
    'trajectory': {'kind': str, 'period': float, 'harmonics': int,
                   'coefficients': {str: tuple[float, ...]}},
    'limits': {str: {'position': tuple[Number, Number],
                     **dict.fromkeys((*QUANTITIES[1:], 'torque'), Number)}},
    'margin': float,
    'usage': {str: dict.fromkeys(QUANTITIES, Number)},
    'criterion': {'name': str, 'value': Number, 'condition_number': Number, 'rank': int,
                  'samples_per_period': int, 'drives': str, 'scaling': str,
                  'noise': tuple[Number, ...], 'earlier': tuple[str, ...]},
    'design': {'seed': int, 'starts': int, 'seconds': Number, 'status': str,
               'history': tuple[Number, ...]},
    'notes': tuple[str, ...],
    'requirements': Requirements,
    'certificate': tuple[CertificateClaim, ...]}
"""Types of the content of a file."""
COLUMN_KEYS = tuple(item.name for item in dataclasses.fields(ColumnChoice))
AT_LEAST = ('clearance', 'workspace')    # claims that older files do not mark as `at_least`
T = TypeVar('T')


def save_excitation(excitation: Excitation, path: str | Path) -> None:
    """
    Write an excitation; the file is written whole or not at all.

    Parameters
    ----------
    excitation
        What to write; numbers are written so that reading gives them back exactly.
    path
        The file.

    """
    content = _to_content(excitation)
    text = yaml.safe_dump({**content, 'digest': _digest(content)}, sort_keys=False, width=10_000)
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding='utf-8')


def load_excitation(path: str | Path) -> Excitation:
    """
    Read an excitation.

    Parameters
    ----------
    path
        A file of `save_excitation`.

    Raises
    ------
    ExcitationError
        The file is missing, not YAML, of another schema, lacks a key, or was changed by hand.

    """
    path = Path(path)
    content = read_yaml(path, 'excitation', ExcitationError)
    if not isinstance(content, dict) or content.get('schema') != SCHEMA:
        found = content.get('schema') if isinstance(content, dict) else None
        raise ExcitationError(
            f"'{path}' is not an excitation of the schema '{SCHEMA}'"
            + (f", its schema is '{found}'" if found else '')
            + '; design one with: robot-identification excite')
    label = f"the excitation '{path}'"
    typed = read_typed(CONTENT, content, label, ExcitationError)
    try:
        excitation = _from_content(typed)
    except KeyError as error:
        raise ExcitationError(f'{label} lacks the key {error}') from error
    except (TypeError, ValueError, ConfigurationError) as error:
        raise ExcitationError(f'{label} is damaged: {error}') from error
    if content.pop('digest') != _digest(content):
        raise ExcitationError(f"the excitation '{path}' was changed after its design, and what "
                              f'was proven no longer counts; design it again')
    return excitation


def _digest(content: dict[str, Any]) -> str:
    """Return the SHA-256 of the content: a slip of the editor must not pass as a design."""
    text = yaml.safe_dump(content, sort_keys=True, width=10_000)
    return hashlib.sha256(text.encode()).hexdigest()


def _to_content(excitation: Excitation) -> dict[str, Any]:
    names, limits, columns = excitation.joint_names, excitation.limits, excitation.columns
    coefficients = excitation.trajectory.coefficients

    def by_joint(value: Callable[[int], T]) -> dict[str, T]:
        return {joint: value(i) for i, joint in enumerate(names)}

    content: dict[str, Any] = to_plain({
        'schema': SCHEMA,
        'arm': {'name': excitation.arm_name, 'urdf_sha256': excitation.urdf_sha256,
                'joints': names},
        'trajectory': {**excitation.trajectory.series.to_mapping(),
                       'coefficients': by_joint(lambda i: coefficients[:, i])},
        'limits': by_joint(lambda i: {
            'position': (limits.lower[i], limits.upper[i]),
            **{name: getattr(limits, name)[i] for name in (*QUANTITIES[1:], 'torque')}}),
        'margin': excitation.margin,
        'usage': by_joint(lambda i: dict(zip(QUANTITIES, excitation.usage[:, i]))),
        'criterion': {'name': excitation.criterion, 'value': excitation.value,
                      'condition_number': excitation.condition_number, 'rank': excitation.rank,
                      'samples_per_period': excitation.samples_per_period,
                      **to_plain(columns)},
        'design': {name: getattr(excitation, name) for name in CONTENT['design']},
        'notes': excitation.notes,
        'requirements': excitation.requirements,
        'certificate': excitation.certificate.claims})
    return content


def _from_content(content: dict[str, Any]) -> Excitation:
    arm, trajectory, criterion = content['arm'], content['trajectory'], content['criterion']
    names = arm['joints']
    series = get_series(trajectory['kind'], trajectory['period'], trajectory['harmonics'])
    coefficients = np.array([trajectory['coefficients'][joint] for joint in names], dtype=float).T
    rows = [content['limits'][joint] for joint in names]
    lower, upper = np.array([row['position'] for row in rows], dtype=float).reshape(-1, 2).T
    limits = Limits(lower, upper, **{name: np.array([row[name] for row in rows], dtype=float)
                                     for name in (*QUANTITIES[1:], 'torque')})
    check_limits(limits, names)
    usage = np.array([[content['usage'][joint][name] for joint in names] for name in QUANTITIES])
    claims = tuple(dataclasses.replace(claim, at_least=claim.at_least
                                       or claim.quantity in AT_LEAST)
                   for claim in content['certificate'])
    return Excitation(
        trajectory=Trajectory(series, coefficients), joint_names=names, arm_name=arm['name'],
        urdf_sha256=arm['urdf_sha256'], limits=limits, margin=content['margin'], usage=usage,
        criterion=criterion['name'], notes=content['notes'],
        requirements=content['requirements'], certificate=Certificate(claims),
        columns=ColumnChoice(*(criterion[name] for name in COLUMN_KEYS)),
        **{name: criterion[name] for name in ('value', 'condition_number', 'rank',
                                              'samples_per_period')}, **content['design'])
