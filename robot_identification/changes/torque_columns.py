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
"""Torques of bodies, friction and sensor errors, as columns of fits of several recordings."""

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, solve_normal
from robot_identification.changes.motion_run import MotionRun, path_torque
from robot_identification.dynamics import IdentifiedModel, joint_torque_regressor
from robot_identification.errors import ConfigurationError
from scipy.interpolate import CubicSpline

SENSOR_DEVIATION = 0.02
"""Standard deviation of the gain of a joint's torque sensor, assumed: 2 % are common for strain
gauges in joints and for torque constants of motors."""
_SPEEDS = (0.03, 0.15)
"""Speeds, relative to the highest, over which the shapes of `friction_shapes` fall."""
SHAPES = len(_SPEEDS) + 2
"""Number of columns of `friction_shapes` for each joint or drive."""
FRICTION, LOAD = 0.3, 0.03
"""Standard deviation of friction relative to that of the model, on another day or at low speed,
and of the friction per load of a drive [-]: friction changes by tens of per cent with the
temperature of a gear, and some per cent of the load are common."""
RADIUS = 0.1
"""[m] Radius of gyration of a payload before it is identified, typical of tools."""
_TRAINING_RATE, _TRAINING_ROWS = 50.0, 1500
"""Rate [Hz] and largest number of samples of a part of the training motion in `learnt_errors`."""


def sensor_deviations(arm: Arm, stated: float | None = None,
                      default: float = SENSOR_DEVIATION) -> Array:
    """
    Return the standard deviation of the gain of each joint's torque sensor or drive, (n,) [-].

    Parameters
    ----------
    arm
        The arm; `Arm.sensor_deviation` has what its robot file states.
    stated
        Standard deviation of all joints that replaces that of the robot file.
    default
        Standard deviation where neither states one.

    Raises
    ------
    ConfigurationError
        The deviation is negative, or 1 or more.

    """
    if stated is None:
        return np.array([arm.sensor_deviation.get(joint, default) for joint in arm.joint_names])
    if not 0 <= stated < 1:
        raise ConfigurationError(f'the deviation of the sensors must be from 0 to 1, not '
                                 f'{stated:g}')
    return np.full(arm.n, stated)


def common_columns(model: IdentifiedModel, run: MotionRun, top: Array) -> Array:
    """Return the columns that all runs have in common, (K, n, p); see `join_runs`."""
    return run.apply(lambda q, v, a: np.concatenate([
        standard_columns(model, q, v, a), friction_shapes(model, q, v, a, top),
        sensor_columns(model, q, v, a, run.rate)], axis=2))


def body_torques(model: IdentifiedModel, q: Array, v: Array, a: Array) -> Array:
    """Return the torques per inertial parameter of a body at the last link, (N, n, 10)."""
    return joint_torque_regressor(model.arm, q, v, a, first_link=model.arm.n - 1)


def body_friction(model: IdentifiedModel, q: Array, v: Array, a: Array) -> Array:
    """
    Return the friction of a body at the last link, for friction of one per load, (N, n, 10).

    Friction grows where the body adds to the load of the arm, and falls where it relieves it.
    """
    grows = np.sign(v * model.transmitted_torque(q, v, a))
    return body_torques(model, q, v, a) * grows[:, :, None]


def friction_shapes(model: IdentifiedModel, q: Array, v: Array, a: Array, top: Array) -> Array:
    """
    Return columns of friction that Coulomb and viscous friction lack, (N, n, 4 m).

    These are friction that falls with speed (Stribeck effect) over two ranges of speed, grows with
    the load, or with the square of speed. Recordings of one arm have them in common.

    Parameters
    ----------
    model
        The model of the arm.
    q, v, a
        Positions, velocities and accelerations, (N, n).
    top
        Highest speed of each joint, (n,).

    """
    transmission = model.arm.transmission
    load = np.abs(model.transmitted_torque(q, v, a)) @ np.abs(transmission).T
    speed = v @ transmission.T
    size, sign = np.abs(speed), np.sign(speed)
    shapes = [*(sign * each for each in _low_speeds(model, size, top)), sign * load,
              sign * size ** 2]
    columns = np.stack(shapes, axis=2)[:, :, :, None] * transmission[:, None, :]
    return columns.reshape(len(q), -1, q.shape[1]).transpose(0, 2, 1)


def _low_speeds(model: IdentifiedModel, size: Array, top: Array) -> list[Array]:
    """Return exp(-speed / s) of each drive, (N, m), for s of `_SPEEDS` times its top speed."""
    highest = np.maximum(top @ np.abs(model.arm.transmission).T, 1e-6)
    return [np.exp(-size / (fraction * highest)) for fraction in _SPEEDS]


def model_errors(model: IdentifiedModel, q: Array, v: Array, a: Array,
                 learnt: Array | None) -> Array:
    """
    Return torques of likely errors of a model, each of one standard deviation, (N, n, p).

    These are the directions of the covariance of its parameters, friction that differs by
    `FRICTION` on another day, and `lacking_torques` less what the parameters learnt of them.

    Parameters
    ----------
    model
        The model of the arm.
    q, v, a
        Positions, velocities and accelerations along a path, (N, n).
    learnt
        Changes of the parameters due to these torques, from `learnt_errors`. If None, gain errors
        of the torque sensors do not count: a model learns most of them.

    """
    columns = standard_columns(model, q, v, a)
    friction = model.friction_torque(v, model.transmitted_torque(q, v, a), q, model.states(q))
    drives = FRICTION * friction[:, None, :] * model.arm.transmission.T
    directions, lacking = model.uncertain_directions, lacking_torques(model, q, v, a)
    return np.concatenate([
        *([] if directions is None else [columns @ directions.T]), drives,
        lacking[:, :, :-model.arm.n] if learnt is None else lacking - columns @ learnt], axis=2)


def lacking_torques(model: IdentifiedModel, q: Array, v: Array, a: Array) -> Array:
    """
    Return likely torques that a model lacks, each of one standard deviation, (N, n, p).

    These are friction that differs by `FRICTION` from the model's below two speeds, before or
    after a reversal (presliding), friction that grows with the load (`LOAD`), and gain errors of
    the torque sensors.

    Parameters
    ----------
    model
        The model of the arm.
    q, v, a
        Positions, velocities and accelerations along a path, (N, n).

    """
    transmission, load = model.arm.transmission, model.transmitted_torque(q, v, a)
    speed, band = v @ transmission.T, model.band
    top = np.abs(v).max(axis=0) if band is None else band.speed
    friction = FRICTION * model.friction_torque(v, load, q, model.states(q))
    slow = [friction * each for each in _low_speeds(model, np.abs(speed), top)]
    away = np.sign(speed * (a @ transmission.T))    # from a reversal
    through = np.abs(load) @ np.abs(transmission).T
    drives = np.concatenate([each[:, :, None] * transmission for each in (
        *slow, *(shape * away for shape in slow), LOAD * np.sign(speed) * through)], axis=1)
    gains = (sensor_deviations(model.arm) * path_torque(model, q, v, a))[:, :, None]
    return np.concatenate([drives.transpose(0, 2, 1), gains * np.eye(model.arm.n)], axis=2)


def learnt_errors(model: IdentifiedModel) -> Array | None:
    """
    Return the changes of the parameters that `lacking_torques` caused in training, (count, p).

    They are a least-squares fit of these torques alone on the training motion, with the residuals
    of the model as weights; None for a model that does not know its training motion.
    """
    if model.band is None:
        return None
    normal, right = np.zeros((model.structure.count,) * 2), np.zeros((1, 1))
    for trace in model.information.get('training_motion', ()):
        t = np.arange(len(trace['q'])) / trace['rate']
        if len(t) < 4:
            continue
        path = CubicSpline(t, trace['q'])
        fine = np.arange(0, t[-1], max(1 / _TRAINING_RATE, t[-1] / _TRAINING_ROWS))
        q, v, a = (path(fine, k) for k in range(3))
        weight = 1 / np.maximum(model.band.rest, 1e-9)[:, None]
        rows, lacking = ((x * weight).reshape(-1, x.shape[2]) for x in (
            standard_columns(model, q, v, a), lacking_torques(model, q, v, a)))
        normal, right = normal + rows.T @ rows, right + rows.T @ lacking
    if not np.any(normal):
        return None
    return solve_normal(normal, right, 1 / np.sqrt(np.maximum(np.diag(normal), 1e-300)))


def sensor_columns(model: IdentifiedModel, q: Array, v: Array, a: Array, rate: float) -> Array:
    """
    Return the torques of sensor errors that all recordings have in common, (N, n, 2 n).

    These are an error of one of the gain of each joint's torque sensor, and a delay of its torque
    by one second.

    Parameters
    ----------
    model
        The model of the arm.
    q, v, a
        Positions, velocities and accelerations along a path, (N, n).
    rate
        Sampling rate [Hz].

    """
    torque = path_torque(model, q, v, a)
    slope = np.gradient(torque, 1 / rate, axis=0)
    joints = np.eye(q.shape[1])
    return np.concatenate([torque[:, :, None] * joints, slope[:, :, None] * joints], axis=2)


def standard_columns(model: IdentifiedModel, q: Array, v: Array, a: Array) -> Array:
    """Return the regressor of the standard parameters along a path, (N, n, count)."""
    return model.structure.columns(q, v, a, model.transmitted_torque(q, v, a), model.states(q))
