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

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, IndexArray, ReadOnlyArrays
from robot_identification.dynamics import from_pseudo_inertia, IdentifiedModel
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.errors import EstimationError
from robot_identification.estimation import payload_errors
from robot_identification.estimation.cone_program import solve_conic_least_squares
from robot_identification.estimation.payload_errors import LARGEST, SCALE
from robot_identification.estimation.prior import feasible_bound, link_transform
from robot_identification.online.load_change import centre_covariance
from robot_identification.recording import Recording
from robot_identification.signals import delayed, process, Samples
from robot_identification.tools import joint_fit, motion_run, payload_checks
from scipy import stats

_SIGNIFICANT = 3.0
"""Standard deviations of the mass above which a payload is found: one false detection in 370."""
_NOTICEABLE = 0.5
"""Mass relative to the last link's that a motion must be able to detect before the verdict 'none'
is given, unless it is a small part of what the arm can carry."""
_CARRIED = 0.1
"""That part: mass relative to the one that a joint's torque limit holds at the tool."""
_SHORT = 'the recording is too short to identify a payload; record several seconds of motion'
_BLOCKS = 24
"""Number of blocks of time, and of similar states; more than twice the ten parameters."""
_MARGIN = 1e-4
"""Distance of the pseudo-inertia from the boundary of the feasible cone, in units of its scale."""
_WEAK_DEVIATION = 10.0
"""Prior standard deviation in units of the payload's scale: it only affects undetermined
parameters."""
_RADIUS = 0.1
"""[m] Prior radius of gyration of a payload, typical of tools."""


@dataclasses.dataclass(frozen=True, eq=False)
class PayloadEstimate(ReadOnlyArrays):
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

    """

    parameters: Array
    covariance: Array
    certificate: float
    relative_error: float
    free_mass: float
    verdict: str
    change: payload_checks.PayloadChange | None = None

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.parameters[0])

    @property
    def centre(self) -> Array:
        """Centre of mass in the frame of the last joint, (3,) [m]; NaN without payload."""
        return self.parameters[1:4] / (self.mass or np.nan)

    @property
    def centre_deviation(self) -> Array:
        """Standard deviation of the centre of mass, (3,) [m]; NaN without payload."""
        return np.sqrt(np.diag(self.centre_covariance))

    @property
    def centre_covariance(self) -> Array:
        """Covariance of the centre of mass, (3, 3) [m^2]; NaN without payload."""
        return centre_covariance(self.parameters, self.covariance)

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
        half = stats.norm.ppf((1 + level) / 2) * np.sqrt(np.diag(self.covariance))
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
    breakaway, and counts as an offset of its torque.

    Parameters
    ----------
    model
        Identified without payload.
    loaded
        A recording with the payload.
    unloaded
        A recording without it, which is fitted together with the loaded one: errors of the model
        that both have in common do not count, and all of them cancel if the motion is the same.
        Torques of joints that rest do not count then.
    sensor_deviation
        Standard deviation of the gain of each joint's torque sensor [-], which the intervals
        contain; None selects that of the robot file or `SENSOR_DEVIATION`.

    Raises
    ------
    ConfigurationError
        The deviation of the sensors is negative.
    EstimationError
        The recording is too short.

    """
    sensors = joint_fit.SensorErrors.of(model.arm, sensor_deviation)
    samples = [process(recording, model.arm)
               for recording in (unloaded, loaded) if recording is not None]
    carrying, *empty = (motion_run.recorded_runs(each, model) for each in reversed(samples))
    if unloaded is not None:
        estimate = _joint_estimate(model, (empty[0], carrying), sensors)
    else:
        estimate = _single_estimate(model, samples[-1], sensors)
    change = payload_checks.find_change(model, carrying, estimate.free_mass,
                                        empty[0] if empty else ())
    if change is not None:
        return dataclasses.replace(estimate, verdict='changes', change=change)
    if (estimate.verdict != 'undetermined'
            and payload_checks.count_poses(loaded) < payload_checks.FEWEST_POSES):
        return dataclasses.replace(estimate, parameters=np.zeros(10), certificate=0.0,
                                   relative_error=float('nan'), verdict='undetermined')
    return estimate


def _joint_estimate(model: IdentifiedModel,
                    runs: tuple[list[motion_run.MotionRun], list[motion_run.MotionRun]],
                    sensors: joint_fit.SensorErrors) -> PayloadEstimate:
    """Return the payload from recordings without and with it, fitted together; `join_runs`."""
    if not all(runs):
        raise EstimationError(_SHORT)
    both = (*runs[0], *runs[1])
    effects = [joint_fit.body_columns(model, run) for run in runs[1]]
    equations, _ = joint_fit.join_runs(
        model, runs, [run.residual for run in both], effects,
        motion_run.top_speed(both))
    columns, prior = range(10), LARGEST * SCALE
    fit = joint_fit.JointFit.of(equations, columns)
    free = fit.estimate(columns, prior)
    widening = stats.t.ppf(0.975, free.freedom) / stats.norm.ppf(0.975)
    covariance = (free.covariance * np.outer(widening, widening)
                  + fit.sensor_covariance(columns, sensors, prior))
    matrix, target = fit.equations_of(columns)
    return _make_estimate(model, (matrix[:, None], target[:, None]), free.values, covariance,
                          np.concatenate(effects)[..., 0],
                          free.squares - float(np.sum((target - matrix @ free.values) ** 2)))


def _single_estimate(model: IdentifiedModel, loaded: Samples,
                     sensors: joint_fit.SensorErrors) -> PayloadEstimate:
    """Return the payload that explains the torque errors of the model."""
    rows, torques, states = payload_errors.body_equations(
        model, delayed(loaded, model.delay, of=model.delay_of))
    if not len(rows):
        raise EstimationError(_SHORT)
    noise = payload_errors.residual_noise(rows, torques)
    matrix, target = payload_checks.allow_static_friction(
        model, states, rows / noise[:, None], torques / noise, noise)
    free, covariance, inverse = _free_body(matrix, target, states)
    covariance = covariance + np.array(model.information.get('payload_covariance', 0), dtype=float)
    covariance += _sensor_covariance(matrix, free, inverse, sensors)
    return _make_estimate(model, (matrix, target), free, covariance, rows[..., 0])


def _make_estimate(model: IdentifiedModel, equations: tuple[Array, Array], free: Array,
                   covariance: Array, per_kilogram: Array,
                   squares: float = 0.0) -> PayloadEstimate:
    """
    Return the physical payload, or none if its mass is not significant.

    Parameters
    ----------
    model
        The model of the arm.
    equations
        Regressor of the payload (N, n, 10) and torque errors (N, n), in units of the noise.
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
    sign, (rows, torques) = 1.0 if mass > 0 else -1.0, equations
    body = _feasible_body(rows, sign * torques)
    predicted = sign * (rows @ body)
    squares += float(np.sum((torques - predicted) ** 2))
    return PayloadEstimate(
        sign * body, covariance, float(smallest_eigenvalues(body)),
        float(np.sqrt(max(squares, 0.0)) / np.linalg.norm(predicted)), mass,
        'found' if sign > 0 else 'removed')


def _sensor_covariance(rows: Array, body: Array, inverse: Array,
                       sensors: joint_fit.SensorErrors) -> Array:
    """
    Return the covariance of the payload due to gain errors of the torque sensors, (10, 10).

    The gain error of a joint changes the torque that the payload causes there; the torques of the
    arm change as the model does, which was identified with the same sensors.
    """
    scaled = rows * SCALE
    changes = [deviation * inverse @ (scaled[:, j].T @ (rows[:, j] @ body)) * SCALE
               for j, deviation in enumerate(sensors.gain)]
    return np.asarray(np.sum([np.outer(change, change) for change in changes], axis=0))


def _largest_mass(model: IdentifiedModel, per_kilogram: Array) -> float:
    """Return the mass at the last joint that the torque limits can move as recorded [kg]."""
    torque = np.abs(per_kilogram).max(axis=0)
    limit = model.arm.limits.torque
    known = np.isfinite(limit) & (torque > 0)
    return float(np.min(limit[known] / torque[known], initial=np.inf)) if known.any() else 0.0


def _feasible_body(rows: Array, torques: Array) -> Array:
    """
    Return the parameters with a positive definite pseudo-inertia that fit the torques best, (10,).

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, "Linear matrix inequalities for physically consistent
    inertial parameter identification", IEEE Robotics and Automation Letters 3(1), 2018.

    """
    flat, target = rows.reshape(-1, 10), torques.ravel()
    free = payload_errors.solve_body(rows, torques)[0] * SCALE
    free[0] = max(free[0], 1e-6)
    shift = np.eye(4)
    shift[:3, 3] = free[1:4] / free[0]
    scale = free[0] * shift @ np.diag([_RADIUS ** 2] * 3 + [1.0]) @ shift.T
    mean = from_pseudo_inertia(scale)
    transform = _WEAK_DEVIATION * link_transform(scale).T
    orthogonal, triangle = np.linalg.qr(flat @ transform)
    solution, _ = solve_conic_least_squares(
        triangle, orthogonal.T @ (target - flat @ mean),
        [(-_WEAK_DEVIATION * np.eye(10), feasible_bound(mean, scale, _MARGIN))])
    return mean + transform @ solution


def _free_body(rows: Array, torques: Array, states: Array) -> tuple[Array, Array, Array]:
    """
    Return the unconstrained estimate, its covariance, and the inverse of its information matrix.

    The inverse is in units of `SCALE`. The covariance is a cluster-robust sandwich, so that model
    errors, which last longer than a sample, do not count as independent. Clusters are blocks of
    time, and blocks of similar states, because a repeated motion repeats the errors of the model;
    the larger covariance is returned.

    References
    ----------
    A. C. Cameron, D. L. Miller, "A practitioner's guide to cluster-robust inference", J. Human
    Resources 50(2), 2015.

    """
    free, inverse = payload_errors.solve_body(rows, torques)
    scaled = rows * SCALE
    residual = torques - scaled @ free
    scores = np.einsum('njk,nj->nk', scaled, residual)
    blocks_of_time = np.arange(len(scores)) * _BLOCKS // len(scores)
    covariances = [inverse * np.sum(residual ** 2) / max(residual.size - 10, 1)]
    for block in (blocks_of_time, _similar_states(states)):
        sums = np.array([scores[block == k].sum(axis=0) for k in range(_BLOCKS)])
        sandwich = inverse @ sums.T @ sums @ inverse * _BLOCKS / (_BLOCKS - 10)
        covariances.append(sandwich * _widening_factor(sums @ inverse[0]) ** 2
                           + inverse @ inverse / LARGEST ** 2)
    larger = max(covariances, key=lambda covariance: float(covariance[0, 0]))
    return free * SCALE, larger * np.outer(SCALE, SCALE), inverse


def _widening_factor(contributions: Array) -> float:
    """
    Return the factor by which few effective blocks widen the 95 % interval of the mass.

    Parameters
    ----------
    contributions
        Contribution of each block to the error of the mass, (blocks,).

    References
    ----------
    A. V. Carter, K. T. Schnepel, D. G. Steigerwald, "Asymptotic behavior of a t-test robust to
    cluster heterogeneity", Review of Economics and Statistics 99(4), 2017.

    """
    effective = float(np.sum(contributions ** 2) ** 2
                      / max(np.sum(contributions ** 4), 1e-300))
    return float(stats.t.ppf(0.975, max(effective - 1, 1.0)) / stats.norm.ppf(0.975))


def _similar_states(states: Array) -> IndexArray:
    """
    Return the index of the nearest of `_BLOCKS` centres for each state, (N,).

    Each centre is the state farthest from the previous centres (farthest-point sampling), so that
    repeated states belong to one block.
    """
    scaled = (states - states.mean(axis=0)) / np.maximum(states.std(axis=0), 1e-12)
    block = np.zeros(len(scaled), dtype=int)
    nearest = np.sum((scaled - scaled[0]) ** 2, axis=1)
    for k in range(1, _BLOCKS):
        distance = np.sum((scaled - scaled[np.argmax(nearest)]) ** 2, axis=1)
        block[distance < nearest] = k
        nearest = np.minimum(nearest, distance)
    return block
