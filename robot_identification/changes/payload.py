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
Identification of the inertial parameters of a payload.

No payload follows from a recording in which it changes or whose poses are too similar.
"""

from collections.abc import Sequence
import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.changes import joint_fit, motion_run, torque_columns
from robot_identification.dynamics import (
    from_pseudo_inertia,
    IdentifiedModel,
    INERTIAL_NAMES,
    inverse_dynamics,
)
from robot_identification.dynamics.inertial import BODY_SCALE, smallest_eigenvalues
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation.cone_program import solve_conic_least_squares
from robot_identification.estimation.prior import feasible_bound, link_transform
from robot_identification.online.load_change import CarriedBody
from robot_identification.recording import Recording
from robot_identification.signals import process
from scipy.special import ndtri

_SIGNIFICANT = 3.0
"""Standard deviations of the mass above which a payload is found: one false detection in 370."""
_NOTICEABLE = 0.5
"""Mass relative to the last link's that a motion must be able to detect before the verdict 'none'
is given, unless it is a small part of what the arm can carry."""
_CARRIED = 0.1
"""That part: mass relative to the one that a joint's torque limit holds at the tool."""
_SHORT = 'the recording is too short to identify a payload; record several seconds of motion'
_STILL = ('no joint moves in the recording, and friction at rest hides a payload: move the last '
          'joints through at least four poses that differ')
_MOMENTS = [INERTIAL_NAMES.index(name) for name in ('Ixx', 'Iyy', 'Izz')]
_MARGIN = 1e-4
"""Distance of the pseudo-inertia from the boundary of the feasible cone, in units of its scale."""
_WEAK_DEVIATION = 10.0
"""Prior standard deviation in units of the payload's scale: it only affects undetermined
parameters."""
_LEVEL = 0.001
"""Probability that a payload that does not change is said to change."""
_PARTS = 8
"""Number of equal parts of a recording, between which a change is searched."""
_FINEST = 1 / _PARTS ** 2
"""Smallest distance of two splits, as a part of the recording: an eighth of these parts."""
_CHANGED = 0.1, 0.02
"""Smallest change of the mass, relative to it, and of the centre of mass [m] that counts."""
_PAUSE, _STANDSTILL = 0.2, 0.002
"""A joint that moves less than the second number [rad or m] in the first [s] rests."""
_RESTING = 0.25
"""Part of the recording at rest above which only poses at rest count."""
_MAX_POSES = 2000
"""Largest number of samples whose poses are compared."""
FEWEST_POSES = 4
"""Poses that must differ; UR's payload wizard asks for as many."""
_DIFFERENT = 0.2
"""[rad or m] Norm of the difference of the joints' positions between poses that differ."""


@dataclasses.dataclass(frozen=True)
class PayloadChange:
    """
    Change of the payload during a recording.

    Parameters
    ----------
    time
        Time from the start of the recording [s], to the accuracy of 1/64 of it; an eighth if the
        arm often rests.
    mass, deviation
        Change of the mass and its standard deviation [kg].
    moment
        Change of mass times centre, (3,) [kg m].

    """

    time: float
    mass: float
    deviation: float
    moment: tuple[float, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class PayloadEstimate(CarriedBody):
    """
    Inertial parameters of a payload.

    Parameters
    ----------
    parameters : numpy.ndarray
        Ten inertial parameters, Pinocchio's order, about the frame of the last joint, (10,);
        zeros if there is no payload, negative if a body was removed.
    covariance
        Covariance of the unconstrained estimate, (10, 10). It includes errors that are correlated
        in time and errors of the model. For combinations of parameters that the motion does not
        determine it is the covariance of the prior.
    certificate
        Smallest eigenvalue of the pseudo-inertia of the payload, or of what was removed.
    relative_error
        Norm of the residuals over norm of the payload's torques, both in units of the noise of
        each joint; NaN without payload.
    free_mass
        Mass of the unconstrained estimate [kg]; it may be negative.
    verdict
        'found'; 'removed' if the arm carries less than the model, for instance without its tool;
        'none' if the mass is not significant; 'undetermined' if it is not, and the motion does not
        exclude half of the last link's mass or a tenth of what the arm can carry, or if
        fewer than four poses differ; 'changes' if the payload changes during the recording.
    change
        That change, or None.
    few_poses
        Whether the verdict is 'undetermined' because fewer than four poses differ.

    """

    certificate: float
    relative_error: float
    free_mass: float
    verdict: str
    change: PayloadChange | None = None
    few_poses: bool = False

    @property
    def centre_deviation(self) -> Array:
        """Standard deviation of the centre of mass, (3,) [m]; NaN without payload."""
        return self.deviations[1:]

    @property
    def undetermined(self) -> NDArray[np.bool_]:
        """
        Whether the motion does not determine a moment or product of inertia, (10,).

        The 95 % interval of the moment contains zero, that of the product is as wide as the mean
        of the moments.
        """
        half = 1.96 * np.sqrt(np.diag(self.covariance))
        moments = np.abs(self.parameters[_MOMENTS])
        size = np.array([*[np.inf] * 4, *[np.mean(moments)] * 6])
        size[_MOMENTS] = moments
        return np.asarray(half > size)

    def centre_in(self, arm: Arm, frame: str) -> tuple[Array, Array]:
        """
        Return the centre of mass and its standard deviation in a frame, (3,) [m] each.

        Parameters
        ----------
        arm, frame
            As for `frame_on_last_link`.

        """
        rotation, position = frame_on_last_link(arm, frame)
        return (rotation.T @ (self.centre - position),
                np.sqrt(np.diag(rotation.T @ self.centre_covariance @ rotation)))

    @property
    def detectable(self) -> float:
        """Smallest mass that is significant with this motion [kg]."""
        return float(_SIGNIFICANT * np.sqrt(self.covariance[0, 0]))

    def intervals(self, level: float = 0.95) -> Array:
        """
        Return intervals of the ten parameters, (10, 2).

        The mass is not negative, unless a body was removed.

        Parameters
        ----------
        level
            Confidence level, under a normal distribution.

        """
        middle = np.array(self.parameters)
        if self.verdict in ('none', 'undetermined'):
            middle[0] = self.free_mass
        half = ndtri((1 + level) / 2) * np.sqrt(np.diag(self.covariance))
        bounds = np.column_stack([middle - half, middle + half])
        if self.verdict != 'removed':
            bounds[0] = np.maximum(bounds[0], 0.0)
        return bounds


def identify_payload(model: IdentifiedModel, loaded: Recording,
                     unloaded: Recording | None = None, *,
                     sensor_deviation: float | None = None) -> PayloadEstimate:
    """
    Return the ten inertial parameters of a payload, with the model of the arm fixed.

    Any motion that turns the last links is suitable, also with other joints at rest; undetermined
    parameters have wide intervals. The friction that holds a joint at rest is unknown, up to
    breakaway: its torques do not count.

    Parameters
    ----------
    model
        Identified without payload.
    loaded
        A recording with the payload.
    unloaded
        A recording without it, which is fitted together with the loaded one: errors of the model
        that both have in common do not count, and all of them cancel if the motion is the same.
    sensor_deviation
        Standard deviation of the gain of each joint's torque sensor [-], which the intervals
        contain; None selects that of the robot file or `SENSOR_DEVIATION`.

    Raises
    ------
    ConfigurationError
        The deviation of the sensors is negative, or both recordings have the same torques.
    EstimationError
        The recording is too short, or no joint moves.

    """
    sensors = torque_columns.sensor_deviations(model.arm, sensor_deviation)
    carrying, empty = ([] if recording is None else motion_run.recorded_runs(process(
        recording, model.arm, standstill='zero'), model)    # rests do not end runs
        for recording in (loaded, unloaded))
    if unloaded is not None and np.array_equal(np.asarray(loaded.tau), np.asarray(unloaded.tau)):
        raise ConfigurationError(f"the recordings '{loaded.name}' and '{unloaded.name}' have the "
                                 'same torques; give one with the payload and one without it')
    if not carrying or (unloaded is not None and not empty):
        raise EstimationError(_SHORT)
    estimate = _estimate(model, empty, carrying, sensors)
    change = find_change(model, carrying, estimate.free_mass, empty)
    if change is not None:
        return dataclasses.replace(estimate, verdict='changes', change=change)
    if estimate.verdict != 'undetermined' and count_poses(loaded) < FEWEST_POSES:
        return dataclasses.replace(estimate, parameters=np.zeros(10), certificate=0.0,
                                   relative_error=float('nan'), verdict='undetermined',
                                   few_poses=True)
    return estimate


def _estimate(model: IdentifiedModel, empty: list[motion_run.MotionRun],
              carrying: list[motion_run.MotionRun],
              sensors: Array) -> PayloadEstimate:
    """
    Return the physical payload that explains the torque errors of the model.

    If its mass is not significant, all its parameters are zero.
    With a recording of the empty arm both are fitted together, see `join_runs`. Without it,
    `model_errors` are estimated beside the payload, with their standard deviations as prior.
    """
    both = (*empty, *carrying)
    top = motion_run.top_speed(both)
    bodies, friction = ([run.apply(partial(torques, model)) for run in carrying] for torques in (
        torque_columns.body_torques, torque_columns.body_friction))
    if empty:
        equations, _ = joint_fit.join_runs(
            model, (empty, carrying), [run.residual for run in both],
            [np.concatenate(each, axis=2) for each in zip(bodies, friction)], top)
    else:
        learnt = torque_columns.learnt_errors(model)
        equations = [joint_fit.Equations(
            run.residual, np.zeros((*run.residual.shape, 0)), np.concatenate([
                body, run.apply(
                    lambda q, v, a: torque_columns.model_errors(model, q, v, a, learnt)), load],
                axis=2), run.moving(top) & model.arm.measured,
            joint_fit.time_blocks(run.clock, run.period))
            for run, body, load in zip(carrying, bodies, friction)]
    rows = np.sum([each.used.sum(axis=0) for each in equations], axis=0)
    if rows.max() < motion_run.FEWEST_ROWS:
        raise EstimationError(_STILL)
    equations = [dataclasses.replace(each, used=each.used & (rows >= motion_run.FEWEST_ROWS))
                 for each in equations]
    count = equations[0].effects.shape[2] - 10    # the last ten are not estimated
    prior = np.array([*joint_fit.LARGEST * BODY_SCALE, *np.ones(count - 10)])
    fit = joint_fit.JointFit.of(equations, range(10))
    whole = fit.estimate(range(count), prior, unbiased=True)
    free = whole.values[:10]
    covariance = (whole.normal_covariance + fit.sensor_covariance(
        range(count), whole.values, sensors, prior,
        {k: count + k for k in range(10)}))[:10, :10]
    mass, deviation = float(free[0]), float(np.sqrt(covariance[0, 0]))
    if abs(mass) < _SIGNIFICANT * deviation:
        noticeable = max(_NOTICEABLE * float(model.inertial[-1, 0]),
                         _CARRIED * _largest_mass(model, np.concatenate(bodies)[..., 0]))
        largest = max(_SIGNIFICANT, abs(mass) / deviation + 1.96) * deviation
        verdict = 'none' if largest < noticeable else 'undetermined'
        return PayloadEstimate(np.zeros(10), covariance, 0.0, float('nan'), mass, verdict)
    # the payload alone, in units of the noise; `squares` are those that it does not explain
    matrix, target = fit.equations_of(10, prior[10:])
    squares = whole.squares - float(np.sum((target - matrix @ free) ** 2))
    sign = 1.0 if mass > 0 else -1.0
    body = _feasible_body(matrix, sign * target, sign * free)
    predicted = sign * (matrix @ body)
    squares += float(np.sum((target - predicted) ** 2))
    return PayloadEstimate(
        sign * body, covariance, float(smallest_eigenvalues(body)),
        float(np.sqrt(max(squares, 0.0)) / np.linalg.norm(predicted)), mass,
        'found' if sign > 0 else 'removed')


def _largest_mass(model: IdentifiedModel, per_kilogram: Array) -> float:
    """Return the mass at the last joint that the torque limits can move as recorded [kg]."""
    torque = np.abs(per_kilogram).max(axis=0)
    limit = model.arm.limits.torque
    known = np.isfinite(limit) & (torque > 0)
    return float(np.min(limit[known] / torque[known], initial=np.inf)) if known.any() else 0.0


def _feasible_body(matrix: Array, target: Array, free: Array) -> Array:
    """
    Return the parameters with a positive definite pseudo-inertia that fit equations best, (10,).

    `free` is the unconstrained solution.

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, "Linear matrix inequalities for physically consistent
    inertial parameter identification", IEEE Robotics and Automation Letters 3(1), 2018.

    """
    mass, shift = max(float(free[0]), 1e-6), np.eye(4)
    shift[:3, 3] = free[1:4] / mass
    scale = mass * shift @ np.diag([torque_columns.RADIUS ** 2] * 3 + [1.0]) @ shift.T
    mean = from_pseudo_inertia(scale)
    transform = _WEAK_DEVIATION * link_transform(scale).T
    orthogonal, triangle = np.linalg.qr(matrix @ transform)
    solution, _ = solve_conic_least_squares(
        triangle, orthogonal.T @ (target - matrix @ mean),
        [(-_WEAK_DEVIATION * np.eye(10), feasible_bound(mean, scale, _MARGIN))])
    return mean + transform @ solution


def find_change(model: IdentifiedModel, runs: Sequence[motion_run.MotionRun], carried: float,
                unloaded: Sequence[motion_run.MotionRun] = ()) -> PayloadChange | None:
    """
    Return the change of the payload in a recording, or None if there is none.

    The recording is split between eighths, and, unless the arm often rests, then ever closer to
    the best split. The model of the arm and the payload are fitted to all of it, and a change of
    mass and first moment to what comes after the split. A recording without payload is fitted
    together with it, see `join_runs`; if the motion is the same, errors of the model cancel, and
    smaller changes are found. Covariances are those of a jackknife over blocks of time; p-values
    are adjusted for the splits (Bonferroni).

    Parameters
    ----------
    model
        The model of the arm.
    runs
        The runs of the recording, from `recorded_runs`.
    carried
        Mass of the payload [kg], to which changes are compared.
    unloaded
        The runs of a recording without payload.

    """
    top = motion_run.top_speed((*unloaded, *runs))
    starts = np.cumsum([0.0, *(run.t[-1] for run in runs)])
    count = sum(len(np.unique(joint_fit.time_blocks(run.clock))) for run in runs)
    bodies = [run.apply(partial(torque_columns.body_torques, model)) for run in runs]
    clocks = [(run.clock + start) / starts[-1] for run, start in zip(runs, starts)]
    dated = [np.concatenate([body, np.broadcast_to(clock[:, None, None], (*body.shape[:2], 1))],
                            axis=2) for body, clock in zip(bodies, clocks)]
    errors = [run.residual for run in (*unloaded, *runs)]
    # without `unloaded`, blocks are parts of the recording, and common columns contain the body's
    timed = runs if unloaded else [dataclasses.replace(run, period=None) for run in runs]
    equations, _ = joint_fit.join_runs(model, (unloaded, timed), errors, dated, top)
    body = range(10 if unloaded else 0)
    # errors within one pose at rest are alike: a part that ends within poses has too few of them
    rests = np.concatenate([~run.moving(top).any(axis=1) for run in runs]).mean() > _RESTING
    finest = 1 / _PARTS if rests else _FINEST
    effects: dict[float, joint_fit.Effect] = {}    # by the split as a part of the recording
    parts, step = list(np.arange(1, _PARTS) / _PARTS), 1 / _PARTS
    while parts:
        # a part has as many blocks as a change has parameters
        parts = [part for part in parts if min(part, 1 - part) * count >= 4]
        effects |= _changes_after(parts, equations, body)
        if not effects:
            return None
        best = min(effects, key=lambda part: effects[part].squares)
        step /= 2
        parts = [best - step, best + step] if step >= finest else []
    effect = effects[best]
    mass, *moment = map(float, effect.values)
    small, near = (share * abs(carried) for share in _CHANGED)
    if effect.p * len(effects) > _LEVEL or (
            abs(mass) < small and np.linalg.norm(moment) < near):
        return None
    return PayloadChange(float(starts[-1] * best), mass, float(effect.deviations[0]),
                         tuple(moment))


def _changes_after(parts: Sequence[float], equations: Sequence[joint_fit.Equations],
                   body: Sequence[int]) -> dict[float, joint_fit.Effect]:
    """
    Return the change of mass and first moment after each split that the recording determines.

    Parameters
    ----------
    parts
        The splits, as parts of the recording.
    equations
        Equations whose effects are the ten parameters of a body and the time of each row, as a
        part of the recording.
    body
        Indices of the parameters of the body that are fitted beside the change.

    """
    fit = joint_fit.JointFit.of([dataclasses.replace(each, effects=np.concatenate([
        each.effects[:, :, :10], *(each.effects[:, :, :4] * (each.effects[:, :, 10:] > part)
                                   for part in parts)], axis=2)) for each in equations], body)
    prior = np.array([*(joint_fit.LARGEST * BODY_SCALE)[:len(body)], *[np.inf] * 4])
    freedom = np.full(4, len(fit.by_block) - 1.0)    # of all blocks: a short part has few of them
    known = fit.by_block.sum(axis=0).diagonal()[fit.nuisance:]    # zero if nothing moves after it
    return {part: dataclasses.replace(
        fit.estimate([*body, *range(first, first + 4)], prior).part(len(body)), freedom=freedom)
        for part, first in zip(parts, range(10, 10 + 4 * len(parts), 4)) if known[first] > 0}


def describe_overload(model: IdentifiedModel, recording: Recording, body: Array) -> str:
    """
    Return a note if a joint's torque limit does not hold the arm with a payload, or ''.

    A URDF states no rated payload; its torque limits and the recorded poses do.

    Parameters
    ----------
    model
        The model of the arm.
    recording
        The recording, whose poses count.
    body
        Inertial parameters of the payload, (10,).

    """
    q = recording.q[::max(1, len(recording.q) // _MAX_POSES)]
    inertial = np.array(model.inertial)
    inertial[-1] += body
    still = np.zeros_like(q)
    used = (np.abs(inverse_dynamics(model.arm, q, still, still, inertial)).max(axis=0)
            / model.arm.limits.torque)
    joint = int(np.argmax(used))
    if not used[joint] > 1:
        return ''
    return (f'holding the payload takes {used[joint]:.0%} of the torque limit of '
            f'{model.arm.joint_names[joint]} in the recorded poses: it is above what the arm can '
            'carry')


def count_poses(recording: Recording) -> int:
    """
    Return the number of poses that differ, at most `FEWEST_POSES`.

    If the arm rests for a quarter of the recording or longer, only poses at rest count.

    Parameters
    ----------
    recording
        The recording.

    """
    q = recording.q
    step = max(1, int(_PAUSE / np.median(np.diff(recording.t))))
    moved = np.abs(q[step:] - q[:-step]).max(axis=1)
    still = q[:-step][moved < _STANDSTILL]
    q = still if len(still) > _RESTING * len(moved) else q
    q, count = q[::max(1, len(q) // _MAX_POSES)], 1
    nearest = np.linalg.norm(q - q[0], axis=1)
    while count < FEWEST_POSES and nearest.max() > _DIFFERENT:
        nearest = np.minimum(nearest, np.linalg.norm(q - q[np.argmax(nearest)], axis=1))
        count += 1
    return count


def frame_on_last_link(arm: Arm, frame: str) -> tuple[Array, Array]:
    """
    Return rotation (3, 3) and position (3,) [m] of a frame in that of the last joint.

    Parameters
    ----------
    arm
        The arm.
    frame
        Name of a link or frame that is fixed to the last joint, or an offset 'X,Y,Z' from the
        flange [m] (the last frame on the last link).

    Raises
    ------
    ConfigurationError
        The text is neither three numbers nor the name of such a frame.

    """
    frames = {each.name: each.placement for each in arm.model.frames if each.parentJoint == arm.n}
    if frame in frames:
        return np.array(frames[frame].rotation), np.array(frames[frame].translation)
    try:
        offset = np.array([float(x) for x in frame.split(',')])
        if offset.shape != (3,) or not np.all(np.isfinite(offset)):
            raise ValueError
    except ValueError:
        raise ConfigurationError(
            f"--frame is the name of a link that moves with the last joint, or an offset 'X,Y,Z' "
            f"from the flange in metres, not '{frame}'; there is: {', '.join(frames)}") from None
    flange = arm.model.frames[arm.tool].placement
    return np.array(flange.rotation), flange.rotation @ offset + flange.translation
