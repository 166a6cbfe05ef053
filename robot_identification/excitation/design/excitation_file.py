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
"""Files of excitations: YAML, and tables of the motion for controllers."""

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Limits
from robot_identification.arm.limits import MAGNITUDES
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.excitation.certificate.claim import Certificate, CertificateClaim
from robot_identification.excitation.certificate.requirements import Requirements
from robot_identification.excitation.design.excitation import ColumnChoice, Excitation
from robot_identification.excitation.motion import get_series, Trajectory
from robot_identification.excitation.motion.limits import LOCK, QUANTITIES
from robot_identification.excitation.motion.series import check_rate
from robot_identification.files import atomic_write, write_text
from robot_identification.yaml_file import Number, read_typed, read_yaml, to_plain
import yaml

SCHEMA = 'robot_identification/excitation/1'
CONTENT: dict[str, Any] = {
    'digest': str,
    'arm': {'name': str, 'urdf_sha256': str, 'joints': tuple[str, ...]},
    'trajectory': {'kind': str, 'period': float, 'harmonics': int,
                   'coefficients': {str: tuple[float, ...]}},
    'limits': {str: {'position': tuple[Number, Number],
                     **dict.fromkeys(MAGNITUDES, Number)}},
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
"""Types of the values in an excitation file."""
FIGURES = ('value', 'condition_number', 'rank', 'samples_per_period')
COLUMN_KEYS = tuple(item.name for item in dataclasses.fields(ColumnChoice))
AT_LEAST = ('clearance', 'workspace')    # claims that older files do not mark as `at_least`


def save_excitation(excitation: Excitation, path: str | Path) -> None:
    """
    Write an excitation to a YAML file, completely or not at all.

    Parameters
    ----------
    excitation
        The excitation; numbers are written with all digits.
    path
        The file.

    Raises
    ------
    ConfigurationError
        The file cannot be written.

    Examples
    --------
    >>> save_excitation(design_excitation(load_arm('panda')), 'motion.yaml')    # doctest: +SKIP

    """
    content = _to_content(excitation)
    text = yaml.safe_dump({**content, 'digest': _digest(content)}, sort_keys=False, width=10_000)
    write_text(path, text)


def load_excitation(path: str | Path) -> Excitation:
    """
    Load an excitation from a YAML file and return it.

    Parameters
    ----------
    path
        A file that `save_excitation` wrote.

    Raises
    ------
    ExcitationError
        The file is missing, not YAML, of another schema, incomplete, or was changed by hand.

    Examples
    --------
    >>> excitation = load_excitation('motion.yaml')    # doctest: +SKIP
    >>> motion = excitation.sample(rate=500.0)    # doctest: +SKIP

    """
    path = Path(path)
    content = read_yaml(path, 'excitation', ExcitationError)
    schema = content.get('schema') if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise ExcitationError(
            f"'{path}' is not an excitation of the schema '{SCHEMA}'; its schema is '{schema}'; "
            f'design one with: robot-identification excite')
    label = f"the excitation '{path}'"
    typed = read_typed(CONTENT, content, label, ExcitationError)
    try:
        excitation = _from_content(typed)
    except KeyError as error:
        raise ExcitationError(f'{label} lacks the key {error}') from error
    except (TypeError, ValueError, ConfigurationError) as error:
        raise ExcitationError(f'{label} is damaged: {error}') from error
    if content.pop('digest') != _digest(content):
        raise ExcitationError(f"the excitation '{path}' was changed after its design, so its "
                              f'certificate is no longer valid; design it again')
    return excitation


def save_motion_csv(excitation: Excitation, path: str | Path, rate: float,
                    periods: int = 1) -> None:
    """
    Write a CSV file with the columns t, q_<joint>..., v_<joint>..., a_<joint>...

    Parameters
    ----------
    excitation
        The motion.
    path
        The file.
    rate
        Rate of the rows [Hz].
    periods
        Number of periods.

    Raises
    ------
    ExcitationError
        The rate is above 50 kHz or below twice the highest frequency of the motion, or the number
        of periods is not positive.

    Examples
    --------
    >>> excitation = load_excitation('motion.yaml')    # doctest: +SKIP
    >>> save_motion_csv(excitation, 'motion.csv', rate=500.0)    # doctest: +SKIP

    """
    check_rate(rate, excitation.trajectory.series.harmonics, excitation.period)
    header = ['t', *(f'{quantity}_{joint}' for quantity in 'qva'
                     for joint in excitation.joint_names)]
    table = np.column_stack(excitation.sample(rate, periods))
    with atomic_write(path) as temporary:
        np.savetxt(temporary, table, fmt='%.17g', delimiter=',', header=','.join(header),
                   comments='')


def joint_trajectory(excitation: Excitation, rate: float, periods: int = 1) -> dict[str, Any]:
    """
    Return a trajectory_msgs/JointTrajectory as a dict.

    Parameters
    ----------
    excitation
        The motion.
    rate
        Rate of the points [Hz].
    periods
        Number of periods.

    Returns
    -------
    dict
        `joint_names` and `points`, each with `positions`, `velocities`, `accelerations` and
        `time_from_start: {sec, nanosec}`. The last point is the end of the last period.

    Raises
    ------
    ExcitationError
        The rate is above 50 kHz or below twice the highest frequency of the motion, or the number
        of periods is not positive.

    Examples
    --------
    >>> message = joint_trajectory(load_excitation('motion.yaml'), rate=100.0)    # doctest: +SKIP
    >>> message['joint_names'][0]    # doctest: +SKIP
    'panda_joint1'

    """
    check_rate(rate, excitation.trajectory.series.harmonics, excitation.period)
    motion = excitation.sample(rate, periods, endpoint=True)
    points = []
    for t, q, v, a in zip(*motion):
        nanoseconds = round(float(t) * 1e9)
        points.append({
            'positions': q.tolist(), 'velocities': v.tolist(), 'accelerations': a.tolist(),
            'time_from_start': {'sec': nanoseconds // 10 ** 9, 'nanosec': nanoseconds % 10 ** 9}})
    return {'joint_names': list(excitation.joint_names), 'points': points}


def save_joint_trajectory(excitation: Excitation, path: str | Path, rate: float,
                          periods: int = 1) -> None:
    """
    Write the result of `joint_trajectory` as YAML, which `ros2 topic pub` reads.

    Parameters
    ----------
    excitation, rate, periods
        As for `joint_trajectory`.
    path
        The file.

    Raises
    ------
    ExcitationError
        As for `joint_trajectory`.
    ConfigurationError
        The file cannot be written.

    """
    write_text(path, yaml.safe_dump(joint_trajectory(excitation, rate, periods), sort_keys=False,
                                    default_flow_style=None, width=10_000))


def _digest(content: dict[str, Any]) -> str:
    """Return the SHA-256 of the content, which detects manual changes of a file."""
    text = yaml.safe_dump(content, sort_keys=True, width=10_000)
    return hashlib.sha256(text.encode()).hexdigest()


def _to_content(excitation: Excitation) -> dict[str, Any]:
    names = excitation.joint_names
    return to_plain({
        'schema': SCHEMA,
        'arm': {'name': excitation.arm_name, 'urdf_sha256': excitation.urdf_sha256,
                'joints': names},
        'trajectory': {**excitation.trajectory.series.to_mapping(),
                       'coefficients': dict(zip(names, excitation.trajectory.coefficients.T))},
        'limits': excitation.limits.to_mapping(names),
        'margin': excitation.margin,
        'usage': {joint: dict(zip(QUANTITIES, row))
                  for joint, row in zip(names, excitation.usage.T)},
        'criterion': {'name': excitation.criterion,
                      **{name: getattr(excitation, name) for name in FIGURES},
                      **to_plain(excitation.columns)},
        'design': {name: getattr(excitation, name) for name in CONTENT['design']},
        'notes': excitation.notes,
        'requirements': excitation.requirements,
        'certificate': excitation.certificate.claims})


def _from_content(content: dict[str, Any]) -> Excitation:
    arm, trajectory, criterion = content['arm'], content['trajectory'], content['criterion']
    names = arm['joints']
    series = get_series(trajectory['kind'], trajectory['period'], trajectory['harmonics'])
    coefficients = np.array([trajectory['coefficients'][joint] for joint in names], dtype=float).T
    rows = [content['limits'][joint] for joint in names]
    limits = Limits(*np.array([[*row['position'], *(row[name] for name in MAGNITUDES)]
                               for row in rows]).T)
    limits.check(names, ExcitationError, LOCK)
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
        **{name: criterion[name] for name in FIGURES}, **content['design'])
