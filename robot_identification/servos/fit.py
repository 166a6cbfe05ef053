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
"""Output-error identification of servos from commanded and measured positions."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.errors import RecordingError
from robot_identification.parallel import single_threaded_blas
from robot_identification.recording import Recording
from robot_identification.servos.model import Course, ServoModel, ServoRecording
from robot_identification.servos.parameters import NAMES
from robot_identification.servos.problem import ServoProblem, TICK
from robot_identification.servos.result import (
    FACTOR,
    HorizonError,
    HORIZONS,
    RATIOS,
    ServoResult,
)
from robot_identification.servos.solve import solve_servos
from robot_identification.servos.starts import tracking_delays
from robot_identification.servos.uncertainty import covariance

RUN = HORIZONS[-1]    # [s] length of the simulated runs; each starts at the measured state
_BEYOND = 1.2    # ratio of held-out to fitted torque above which a message is given


def identify_servos(
    arm: Arm,
    recordings: Sequence[Recording | ServoRecording],
    held_out: Sequence[Recording | ServoRecording] = (),
    progress: Callable[[str, float], None] = lambda text, fraction: None,
) -> ServoResult:
    """
    Identify position servos from commanded and measured positions without torque measurements.

    The closed loop of arm and servos is simulated from the commands in runs of 5 s, each of which
    starts at the measured position with an estimated velocity. Nonlinear least squares adjusts
    the parameters of `ServoModel` of each joint, and one delay for all joints, until the simulated
    positions fit the measured ones. It starts from the best of many initial values, which are
    computed from smoothed positions with and without limits of the servo, and keeps an effect
    that not every servo has only if it reduces the error clearly. The masses of the URDF set the
    scale of all torques: with doubled masses all gains and torques double. For joints with little
    gravity load and inertia, only ratios of parameters can be determined. A weak prior keeps
    undetermined parameters near their initial values; the result lists them.

    Parameters
    ----------
    arm
        Arm with the inertial parameters of its URDF.
    recordings
        Recordings with commanded positions; the arm must not touch anything. A `ServoRecording`
        states gain and payload, so that one set of parameters is fitted to several of them.
    held_out
        Recordings or trials of other motions, for the verdict.
    progress
        Called with the name of the current step and the completed fraction, 0 to 1.

    Returns
    -------
    ServoResult
        The servo model with its standard deviations, its position errors, and messages on
        quantities that the motion does not determine.

    Raises
    ------
    RecordingError
        The recordings have no commands or no motion, are too short, or the simulated arm diverges.

    References
    ----------
    L. Ljung, System Identification, 2nd ed., 1999, ch. 7 (output error); W. K. Newey and
    K. D. West, Econometrica 55(3), 1987 (covariance of correlated residuals).

    Examples
    --------
    >>> arm = load_arm('so101.yaml')    # doctest: +SKIP
    >>> result = identify_servos(arm, [load_recording('log.csv', arm)])    # doctest: +SKIP
    >>> result.model.kp    # (n,) [N m/rad]    # doctest: +SKIP

    """
    if not recordings:
        raise RecordingError('at least one recording is needed to identify servos')
    trials = [ServoRecording.of(each) for each in recordings]
    courses = [Course.of(arm, each, min(RUN, each.recording.duration)) for each in trials]
    if not any(np.any(course.moved) for course in courses):
        raise RecordingError('no joint moves by more than one degree in '
                             + ', '.join(each.recording.label for each in trials))
    with single_threaded_blas():
        problem, x = solve_servos(arm, courses, progress)
        progress('intervals', 0.85)
        spread = covariance(problem, x)
    naive = tracking_delays(courses)
    model, residual, worse = _fall_back(problem, x, naive)
    progress('validating', 0.95)
    deviations = _deviations(spread, model)
    reached = np.max([model.largest_torque(each) for each in trials], axis=0)
    errors = [HorizonError.of(model, each, naive) for each in held_out or recordings]
    beyond = [sentence for recording, of_one in zip(held_out, errors)
              for sentence in _beyond(model, reached, recording, of_one[-1].model > 2 * residual)]
    return ServoResult(
        model, deviations, float(TICK * np.sqrt(spread[-1, -1])), read_only(residual),
        tuple(error for of_one in errors for error in of_one), bool(held_out),
        (*worse, *_undetermined(model, deviations, courses)), read_only(reached), tuple(beyond),
        problem.message)


def _fall_back(problem: ServoProblem, x: Array, delays: Array
               ) -> tuple[ServoModel, Array, list[str]]:
    """
    Return servos that predict no joint worse than its delayed command, and messages.

    The second value is the root mean square residual of each joint, (n,) [rad or m].
    """
    model, tracking, sentences = problem.model(x), np.full(problem.arm.n, np.nan), []
    follows = replace(model, tracking=delays)
    own, delayed = (problem.rms(each) for each in (model, follows))
    for i in np.flatnonzero(problem.moving & ~(own <= delayed)):
        tracking[i] = delays[i]
        sentences.append(
            f'{problem.arm.joint_names[i]}: the command with a delay of {1e3 * delays[i]:.0f} ms '
            'predicts the positions better than the fitted servo and replaces it; check the URDF, '
            'the zeros of the encoders and that nothing touched the arm')
    model = replace(model, tracking=tracking)
    return model, np.where(np.isnan(tracking), own, delayed), sentences


def _deviations(covariance: Array, model: ServoModel) -> dict[str, Array]:
    n = model.arm.n
    at = {name: slice(k * n, k * n + n) for k, name in enumerate(NAMES)}
    variances = {name: np.diag(covariance)[rows] for name, rows in at.items()}
    for ratio in RATIOS:
        over, under = ratio.split('/')
        cross = np.diag(covariance[at[over], at[under]])
        variances[ratio] = variances[over] + variances[under] - 2 * cross
    follows = np.isfinite(model.tracking)
    return {name: read_only(np.where(np.isnan(v) | follows, np.inf, np.sqrt(np.maximum(v, 0.0))))
            for name, v in variances.items()}


def _undetermined(model: ServoModel, deviations: dict[str, Array],
                  courses: Sequence[Course]) -> tuple[str, ...]:
    """Return messages on quantities that the motion does not determine."""
    rests = ~np.any([c.moved for c in courses], axis=0)
    sentences = [f'{joint} did not move: none of its parameters is determined'
                 for joint, still in zip(model.arm.joint_names, rests) if still]
    for i, joint in enumerate(model.arm.joint_names):
        weak = [f'{name} ({_percent(width)})' for name in NAMES[:4]
                if (width := float(1.96 * deviations[name][i])) > np.log(FACTOR)]
        if weak and not rests[i]:
            sentences.append(f'{joint}: {", ".join(weak)}, not determined by this motion')
    return tuple(sentences)


def _percent(width: float) -> str:
    return f'\u00b1{np.expm1(width):.0%}' if width < np.log(2) else 'unknown'


def _beyond(model: ServoModel, reached: Array, recording: Recording | ServoRecording,
            worse: NDArray[np.bool_]) -> list[str]:
    """Return messages on joints without a torque limit that need more torque than in the fit."""
    largest = model.largest_torque(recording)
    rows = np.flatnonzero(np.isinf(model.limit) & worse & (largest > _BEYOND * reached))
    units = np.where(model.arm.prismatic, 'N', 'N m')
    name = ServoRecording.of(recording).recording.name
    return [f'{model.arm.joint_names[i]}: {name} demands up to {largest[i]:.2g} '
            f'{units[i]}, the fitted motion at most {reached[i]:.2g}; a torque limit above that '
            'is not identified. Include a recording with fast motions of this joint in the fit'
            for i in rows]
