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
"""
The command payload-motion: a short motion of the last joints that identifies a payload.

Its expected accuracy is stated, too.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from robot_identification import console
from robot_identification.arm import load_arm
from robot_identification.arrays import Array
from robot_identification.changes import motion_run, torque_columns
from robot_identification.changes.joint_fit import LARGEST, time_blocks
from robot_identification.cli.excite import DesignArguments, print_design, write_motions
from robot_identification.dynamics import from_pseudo_inertia, IdentifiedModel
from robot_identification.dynamics.inertial import BODY_SCALE
from robot_identification.dynamics.model_file import load_model
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.excitation import DesignOptions, Excitation, Payload
from robot_identification.online.load_change import CarriedBody
from robot_identification.regression import blocked_regression

PERIOD, JOINTS = 8.0, 4
"""Default period [s], and number of the last joints that move: elbow and wrist of common arms."""
_REST = 1e6
"""Noise of joints that rest, relative to that of the others: static friction hides the payload."""
_CORRELATED = 0.2
"""[s] Time over which errors below the low-pass are assumed to be correlated; those of the
difference of two recordings have the variance of the white noise that the model knows."""
_EXAMPLE = Payload(1.0, (0.0, 0.0, 0.05))
"""Payload whose accuracy is stated if none is given."""
_RADIUS = 0.05
"""[m] Radius of gyration of that payload."""


def payload_request(model: IdentifiedModel, request: DesignOptions) -> DesignOptions:
    """
    Return the options of a short motion that identifies a payload.

    The criterion is the determinant of the information on the ten parameters of a body at the last
    link. Torques are weighted by the residuals of the model; joints that rest do not count.

    Parameters
    ----------
    model
        The identified model of the arm.
    request
        Options of the design; `moving`, if given, `requirements` and others are kept.

    Raises
    ------
    ConfigurationError
        The model does not know its torque errors.

    """
    if model.band is None:
        raise ConfigurationError('the model does not know its torque errors: an earlier version '
                                 'identified it, or the recordings were too short')
    moving = request.moving or model.arm.joint_names[-JOINTS:]
    still = np.array([joint not in moving for joint in model.arm.joint_names])
    noise = np.maximum(model.band.rest, 1e-9) * np.where(still, _REST, 1.0)
    return replace(request, bodies='payload', criterion='logdet', moving=moving,
                   noise=tuple(noise.tolist()))


def expected_accuracy(model: IdentifiedModel, motion: Excitation) -> tuple[Payload, Array, Array]:
    """
    Return a payload and its expected accuracy with and without a recording of the empty arm.

    The accuracy is the standard deviation of the mass [kg] and of the centre of mass [m], (4,).
    With a recording of the same motion without the payload, errors of the model cancel; noise of
    both recordings, gain errors of the torque sensors and friction due to the payload are left.
    Without it, `model_errors` are estimated beside the payload.

    Parameters
    ----------
    model
        The identified model of the arm.
    motion
        The designed motion; the payload of its requirements counts, or else one of 1 kg.

    Raises
    ------
    ExcitationError
        No joint moves.

    """
    payload = motion.requirements.payload or _EXAMPLE
    body = _inertial(payload)
    run = motion_run.planned_run(*motion.sample(rate=motion_run.FINE))
    used = run.moving(motion_run.top_speed([run])) & model.arm.measured
    used &= used.sum(axis=0) >= motion_run.FEWEST_ROWS
    if not used.any():
        raise ExcitationError('no joint moves in this motion')
    band, n = model.band, model.arm.n
    white, rest = (np.full((2, n), 1e-9) if band is None else
                   np.maximum([band.noise / 1.96, band.rest], 1e-9))
    columns, friction = (run.apply(partial(each, model)) for each in (
        torque_columns.body_torques, torque_columns.body_friction))
    load, rows = columns @ body, columns * BODY_SCALE
    changes = np.concatenate([each[:, :, None] * np.eye(n) for each in (
        load * torque_columns.sensor_deviations(model.arm),
        torque_columns.LOAD * friction @ body)], axis=2)
    learnt = torque_columns.learnt_errors(model)
    modelled = np.concatenate([rows, run.apply(
        lambda q, v, a: torque_columns.model_errors(model, q, v, a, learnt))], axis=2)
    unloaded, alone = (
        CarriedBody(body, _expected_covariance(each, changes, used / size, noise)).deviations
        for each, size, noise in ((rows, white, np.sqrt(2) * white), (modelled, rest, white)))
    return payload, unloaded, alone


def _expected_covariance(columns: Array, changes: Array, weights: Array, noise: Array) -> Array:
    """
    Return the covariance of a body whose torques are the first ten columns, (10, 10).

    It is that of normal errors with the same 95 % intervals, as `payload` states them.

    Parameters
    ----------
    columns
        Torques of the body, in units of `BODY_SCALE`, and of errors of one standard deviation that
        are estimated beside it, (N, n, 10 + p).
    changes
        Torques of errors of one standard deviation that are not estimated, (N, n, c).
    weights
        Weights of the torques in the fit [1/(N m) or 1/N], (N, n); zero if they do not count.
    noise
        Standard deviation of each joint's errors that are correlated over `_CORRELATED`, (n,).

    """
    decay = np.exp(-1 / motion_run.ROWS / _CORRELATED)
    size = noise * weights * np.sqrt((1 + decay) / (1 - decay))
    flat, others, errors = ((x * weight[:, :, None]).reshape(weights.size, -1) for x, weight in (
        (columns, weights), (changes, weights), (columns, weights * size)))
    prior = np.diag([*[LARGEST ** -2.0] * 10, *[1.0] * (columns.shape[2] - 10)])
    block = np.repeat(time_blocks(np.arange(len(weights)) / motion_run.ROWS), weights.shape[1])
    equations = blocked_regression.BlockEquations.of(blocked_regression.label_products(
        np.column_stack([flat, np.zeros(len(flat))]), block), precision=prior)
    noisy, known, change = (equations.inverses[0] @ each for each in (
        errors.T, np.sqrt(prior), flat.T @ others))
    noisy *= blocked_regression.interval_factor(equations.degrees_of_freedom())[:, None]
    covariance = sum(each @ each.T for each in (noisy, known, change))
    return np.asarray(covariance[:10, :10] * np.outer(BODY_SCALE, BODY_SCALE))


def payload_condition(model: IdentifiedModel, motion: Excitation) -> float:
    """Return the condition number of the scaled columns of a payload in the moving joints."""
    _, q, v, a = motion.sample(rate=motion_run.ROWS)
    columns = torque_columns.body_torques(model, q, v, a) * BODY_SCALE
    return float(np.linalg.cond(columns[:, np.ptp(q, axis=0) > 1e-9].reshape(-1, 10)))


def describe_accuracy(expected: tuple[Payload, Array, Array]) -> list[str]:
    """Return two sentences with the results of `expected_accuracy`, as 95 % intervals."""
    payload, *both = expected
    centre = ', '.join(f'{1000 * x:.0f}' for x in payload.centre)
    sentences = []
    for words, each in zip(('with `payload --unloaded` and a recording of the same motion '
                            'without it', 'with the model alone'), both):
        spread = ', '.join(f'{1960 * x:.1f}' for x in each[1:])
        sentences.append(f'expected for {payload.mass:g} kg at ({centre}) mm, {words}: '
                         f'+- {1.96 * each[0]:.2g} kg and +- ({spread}) mm')
    return sentences


def _inertial(payload: Payload) -> Array:
    """Return the ten inertial parameters of a payload, (10,)."""
    point = np.array([*payload.centre, 1.0])
    return from_pseudo_inertia(payload.mass * (
        np.outer(point, point) + np.diag([_RADIUS ** 2 / 2] * 3 + [0.0])))


def payload_motion_command(
    robot: str,
    model: Path,
    /,
    *,
    arguments: DesignArguments,
    joint: list[str] | None = None,
) -> None:
    """
    Design a motion for payload identification.

    It is short, moves few joints, and its expected accuracy is printed. The other joints rest in a
    pose that the design chooses. --payload is the expected payload, for the torque limits and the
    stated accuracy. Record the motion with and without it, and identify it with `payload`.

    Parameters
    ----------
    model : MODEL
        Model file of the arm, identified without payload.
    joint
        A joint that moves; repeatable. By default the last 4.

    """
    arm, identified = load_arm(robot), load_model(model)
    if arm.joint_names != identified.arm.joint_names:
        raise ConfigurationError(
            f"the model has the joints {', '.join(identified.arm.joint_names)}; "
            f"the arm '{arm.name}' has {', '.join(arm.joint_names)}")
    request = arguments.read_request(period=PERIOD)
    request = payload_request(
        identified, replace(request, moving=tuple(joint)) if joint else request)
    designs, watch, paths = arguments.design(arm, request, model)
    motion = designs.motions[''] = replace(
        designs.motions[''], condition_number=payload_condition(identified, designs.motions['']))
    written = write_motions(arm, designs, paths, watch, arguments.csv, arguments.report)
    expected = expected_accuracy(identified, motion)
    if arguments.as_json:
        console.emit({
            'excitation': str(arguments.output), 'moving': request.moving, 'period': motion.period,
            'condition_number': motion.condition_number, 'status': motion.status,
            'notes': motion.notes, 'written': written, 'payload': vars(expected[0]),
            'expected_std': {name: {'mass': each[0], 'centre': each[1:]} for name, each in zip(
                ('unloaded', 'model'), expected[1:])}})
        return
    print_design(motion)
    console.print_lines(*(f'note: {note}' for note in motion.notes), style='yellow')
    console.print_lines(*describe_accuracy(expected), *(f'wrote {path}' for path in written))
