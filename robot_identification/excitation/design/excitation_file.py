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
import hashlib
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from robot_identification.arm import Limits
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.excitation.certificate import Certificate
from robot_identification.excitation.certificate.requirements import (
    Requirements,
    requirements_schema,
)
from robot_identification.excitation.design.excitation import ColumnChoice, Excitation
from robot_identification.excitation.motion import get_series, Trajectory
from robot_identification.excitation.motion.limits import check_limits, QUANTITIES
from robot_identification.files import written_whole
from robot_identification.yaml_file import read_yaml, Schema
import yaml

SCHEMA = 'robot_identification/excitation/1'
_S = Schema(ExcitationError)
_LIMITS = {'position': _S.items(_S.number, 2),
           **dict.fromkeys((*QUANTITIES[1:], 'torque'), _S.number)}
FILE = _S.record({
    'digest': _S.text,
    'arm': _S.record({'name': _S.text, 'urdf_sha256': _S.text, 'joints': _S.items(_S.text)}),
    'trajectory': _S.record({'kind': _S.text, 'period': _S.finite, 'harmonics': _S.integer,
                             'coefficients': _S.named(_S.items(_S.finite))}),
    'limits': _S.named(_S.record(_LIMITS)),
    'margin': _S.finite,
    'usage': _S.named(_S.record(dict.fromkeys(QUANTITIES, _S.number))),
    'criterion': _S.record(
        {'name': _S.text, 'value': _S.number, 'condition_number': _S.number, 'rank': _S.integer,
         'samples_per_period': _S.integer, 'drives': _S.text, 'scaling': _S.text,
         'noise': _S.items(_S.number), 'earlier': _S.items(_S.text)}),
    'design': _S.record(
        {'seed': _S.integer, 'starts': _S.integer, 'seconds': _S.number, 'status': _S.text,
         'history': _S.items(_S.number)}),
    'notes': _S.items(_S.text),
    'requirements': requirements_schema(_S),
    'certificate': _S.items(_S.record(
        {'quantity': _S.text, 'bound': _S.number, 'limit': _S.number, 'unit': _S.text,
         'method': _S.text, 'holds': _S.flag, 'detail': _S.text}, {'at_least': _S.flag}))})
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
    content = _to_mapping(excitation)
    text = yaml.safe_dump({**content, 'digest': _digest(content)}, sort_keys=False, width=10_000)
    with written_whole(path) as temporary:
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
    FILE(content, f"the excitation '{path}'")
    try:
        excitation = _from_mapping(content)
    except KeyError as error:
        raise ExcitationError(f"the excitation '{path}' lacks the key {error}") from error
    except (TypeError, ValueError, ConfigurationError) as error:
        raise ExcitationError(f"the excitation '{path}' is damaged: {error}") from error
    if content.pop('digest') != _digest(content):
        raise ExcitationError(f"the excitation '{path}' was changed after its design, and what "
                              f'was proven no longer counts; design it again')
    return excitation


def _digest(content: dict[str, Any]) -> str:
    """Return the SHA-256 of the content: a slip of the editor must not pass as a design."""
    text = yaml.safe_dump(content, sort_keys=True, width=10_000)
    return hashlib.sha256(text.encode()).hexdigest()


def _to_mapping(excitation: Excitation) -> dict[str, Any]:
    names, limits = excitation.joint_names, excitation.limits
    coefficients = excitation.trajectory.coefficients

    def by_joint(value: Callable[[int], T]) -> dict[str, T]:
        return {joint: value(i) for i, joint in enumerate(names)}

    return {
        'schema': SCHEMA,
        'arm': {'name': excitation.arm_name, 'urdf_sha256': excitation.urdf_sha256,
                'joints': list(names)},
        'trajectory': {
            **excitation.trajectory.series.to_mapping(),
            'coefficients': by_joint(lambda i: [float(x) for x in coefficients[:, i]])},
        'limits': by_joint(lambda i: {
            'position': [float(limits.lower[i]), float(limits.upper[i])],
            **{name: float(getattr(limits, name)[i]) for name in (*QUANTITIES[1:], 'torque')}}),
        'margin': float(excitation.margin),
        'usage': by_joint(lambda i: {name: float(excitation.usage[d, i])
                                     for d, name in enumerate(QUANTITIES)}),
        'criterion': {'name': excitation.criterion, 'value': float(excitation.value),
                      'condition_number': float(excitation.condition_number),
                      'rank': int(excitation.rank),
                      'samples_per_period': int(excitation.samples_per_period),
                      'drives': excitation.columns.drives, 'scaling': excitation.columns.scaling,
                      'noise': [float(x) for x in excitation.columns.noise],
                      'earlier': list(excitation.columns.earlier)},
        'design': {'seed': int(excitation.seed), 'starts': int(excitation.starts),
                   'seconds': float(excitation.seconds), 'status': excitation.status,
                   'history': [float(x) for x in excitation.history]},
        'notes': list(excitation.notes),
        'requirements': excitation.requirements.to_mapping(),
        'certificate': excitation.certificate.to_mapping()}


def _from_mapping(content: dict[str, Any]) -> Excitation:
    arm, trajectory = content['arm'], content['trajectory']
    criterion, design = content['criterion'], content['design']
    names = tuple(str(joint) for joint in arm['joints'])
    series = get_series(trajectory['kind'], float(trajectory['period']),
                        int(trajectory['harmonics']))
    coefficients = np.array([trajectory['coefficients'][joint] for joint in names], dtype=float).T
    rows = [content['limits'][joint] for joint in names]
    limits = Limits(
        lower=np.array([float(row['position'][0]) for row in rows]),
        upper=np.array([float(row['position'][1]) for row in rows]),
        **{name: np.array([float(row[name]) for row in rows])
           for name in (*QUANTITIES[1:], 'torque')})
    check_limits(limits, names)
    usage = np.array([[float(content['usage'][joint][name]) for joint in names]
                      for name in QUANTITIES])
    return Excitation(
        trajectory=Trajectory(series, coefficients), joint_names=names,
        arm_name=str(arm['name']), urdf_sha256=str(arm['urdf_sha256']), limits=limits,
        margin=float(content['margin']), usage=usage, criterion=str(criterion['name']),
        value=float(criterion['value']), condition_number=float(criterion['condition_number']),
        rank=int(criterion['rank']), samples_per_period=int(criterion['samples_per_period']),
        seed=int(design['seed']), starts=int(design['starts']), seconds=float(design['seconds']),
        history=tuple(float(x) for x in design['history']), status=str(design['status']),
        notes=tuple(str(note) for note in content['notes']),
        requirements=Requirements.from_mapping(content['requirements']),
        certificate=Certificate.from_mapping(content['certificate']),
        columns=ColumnChoice(
            str(criterion['drives']), str(criterion['scaling']),
            tuple(float(x) for x in criterion['noise']),
            tuple(str(name) for name in criterion['earlier'])))
