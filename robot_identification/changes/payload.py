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
"""Identification of the inertial parameters of a payload."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.changes import joint_fit, motion_run, payload_checks, torque_columns
from robot_identification.dynamics import from_pseudo_inertia, IdentifiedModel, INERTIAL_NAMES
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
    change: payload_checks.PayloadChange | None = None
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
        rotation, position = payload_checks.frame_on_last_link(arm, frame)
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
    change = payload_checks.find_change(model, carrying, estimate.free_mass, empty)
    if change is not None:
        return dataclasses.replace(estimate, verdict='changes', change=change)
    if (estimate.verdict != 'undetermined'
            and payload_checks.count_poses(loaded) < payload_checks.FEWEST_POSES):
        return dataclasses.replace(estimate, parameters=np.zeros(10), certificate=0.0,
                                   relative_error=float('nan'), verdict='undetermined',
                                   few_poses=True)
    return estimate


def _estimate(model: IdentifiedModel, empty: list[motion_run.MotionRun],
              carrying: list[motion_run.MotionRun],
              sensors: Array) -> PayloadEstimate:
    """
    Return the payload that explains the torque errors of the model.

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
    matrix, target = fit.equations_of(10, prior[10:])
    return _make_estimate(model, (matrix, target), free, covariance,
                          np.concatenate(bodies)[..., 0],
                          whole.squares - float(np.sum((target - matrix @ free) ** 2)))


def _make_estimate(model: IdentifiedModel, equations: tuple[Array, Array], free: Array,
                   covariance: Array, per_kilogram: Array,
                   squares: float) -> PayloadEstimate:
    """
    Return the physical payload, or none if its mass is not significant.

    Parameters
    ----------
    model
        The model of the arm.
    equations
        Equations of the payload alone, (10, 10) and (10,), in units of the noise.
    free, covariance
        Unconstrained estimate (10,) and its covariance (10, 10).
    per_kilogram
        Torques per mass, (N, n).
    squares
        Sum of squares of the residuals that the equations do not contain.

    """
    mass, deviation = float(free[0]), float(np.sqrt(covariance[0, 0]))
    if abs(mass) < _SIGNIFICANT * deviation:
        noticeable = max(_NOTICEABLE * float(model.inertial[-1, 0]),
                         _CARRIED * _largest_mass(model, per_kilogram))
        largest = max(_SIGNIFICANT, abs(mass) / deviation + 1.96) * deviation
        verdict = 'none' if largest < noticeable else 'undetermined'
        return PayloadEstimate(np.zeros(10), covariance, 0.0, float('nan'), mass, verdict)
    sign, (matrix, target) = 1.0 if mass > 0 else -1.0, equations
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
