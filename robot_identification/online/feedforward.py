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
"""Feed-forward efforts of trajectories, and compensation of gravity and friction."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError, ExecutionError
from robot_identification.online.momentum import holding_torque, model_friction
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline

BETWEEN = 10
"""Number of intervals between two points of a trajectory, at whose ends limits are checked."""
ROUNDING = 1e-6
"""Tolerance of position limits [rad or m], and of velocity limits relative to the limit. It covers
rounding errors of the interpolation."""


def trajectory_efforts(
    model: IdentifiedModel, t: ArrayLike, q: ArrayLike, v: ArrayLike | None = None,
    a: ArrayLike | None = None, *, fraction: float = 1.0,
) -> Array:
    """
    Return the feed-forward efforts of a trajectory, (N, n) [N m or N].

    Limits of position, velocity and torque are checked along the polynomials with which a
    joint_trajectory_controller interpolates between the points. Missing velocities or
    accelerations are taken from cubic splines through the points. Without velocities, the
    controller interpolates linearly: the efforts are then checked at the points only, and they
    cannot follow the jumps of the velocity.

    Parameters
    ----------
    model
        The identified model.
    t
        Times of the points, (N,) [s], increasing.
    q, v, a
        Positions, velocities and accelerations at the points, (N, n) [rad or m, per s, per s^2].
    fraction
        Largest allowed effort as a fraction of the arm's torque limits.

    Raises
    ------
    ConfigurationError
        Shapes do not match, times do not increase, or values are not finite.
    ExecutionError
        The trajectory exceeds a limit; the reason is 'position_limit', 'velocity_limit' or
        'effort_limit'.

    Examples
    --------
    >>> model = load_model('result/model.yaml')    # doctest: +SKIP
    >>> tau = trajectory_efforts(model, t, q, v, a, fraction=0.8)    # (N, n)    # doctest: +SKIP

    """
    t, q = np.asarray(t, dtype=float), np.asarray(q, dtype=float)
    if t.ndim != 1 or q.shape != (len(t), model.arm.n):
        raise ConfigurationError(f'a trajectory of {model.arm.name} has positions of shape '
                                 f'({t.size}, {model.arm.n}), not {q.shape}')
    curves = [np.asarray(x, dtype=float) for x in (q, v, a) if x is not None]
    if len(t) < 2 or not np.all(np.diff(t) > 0):
        raise ConfigurationError('a trajectory needs at least two points, in the order of time')
    if any(x.shape != q.shape or not np.all(np.isfinite(x)) for x in curves):
        raise ConfigurationError('positions, velocities and accelerations must have one shape '
                                 'and finite values')
    if v is None:
        curve = CubicSpline(t, q, bc_type='clamped')
        _check_motion(model, t, q, np.diff(q, axis=0) / np.diff(t)[:, None])
        v = curve(t, 1)
        # a spline through only two velocities would have constant acceleration
        a = (curve(t, 2) if len(t) == 2 else CubicSpline(t, v)(t, 1)) if a is None else a
        return _efforts(model, t, q, np.asarray(v), np.asarray(a, dtype=float), fraction)
    fine = np.unique(np.concatenate([np.linspace(x, y, BETWEEN + 1) for x, y in pairwise(t)]))
    at = np.searchsorted(fine, t)
    v = np.asarray(v, dtype=float)
    path = CubicHermiteSpline(t, q, v) if a is None else BPoly.from_derivatives(
        t, np.stack([q, v, np.asarray(a, dtype=float)], axis=1))
    position, velocity, acceleration = (path(fine, order) for order in range(3))
    if a is None and len(t) > 2:
        # the acceleration of the cubics jumps at the points: use that of a spline through v
        acceleration = CubicSpline(t, v)(fine, 1)
    position[at], velocity[at] = q, v
    _check_motion(model, fine, position, velocity)
    return _efforts(model, fine, position, velocity, acceleration, fraction)[at]


def _check_motion(model: IdentifiedModel, t: Array, q: Array, v: Array) -> None:
    """Raise ExecutionError if a position (N, n) or velocity (N or N - 1, n) exceeds its limit."""
    limits = model.arm.limits
    for what, wrong in (
            ('position', (q < limits.lower - ROUNDING) | (q > limits.upper + ROUNDING)),
            ('velocity', np.abs(v) > limits.velocity * (1 + ROUNDING))):
        if wrong.any():
            k, j = np.argwhere(wrong)[0]
            raise ExecutionError(f'{what}_limit', f"'{model.arm.joint_names[j]}' is beyond its "
                                 f'{what} limit at {t[k]:.3g} s')


def _efforts(model: IdentifiedModel, t: Array, q: Array, v: Array, a: Array,
             fraction: float) -> Array:
    """Return the efforts of a motion, (N, n); raise ExecutionError if one exceeds its limit."""
    rotors = (a @ model.arm.transmission.T * model.rotor_inertia) @ model.arm.transmission
    load = model.transmitted_torque(q, v, a)
    efforts = (load + rotors + model_friction(model, q, v, load)
               + model.residual_torque(q, v))
    excess = np.abs(efforts) / np.maximum(fraction * model.arm.limits.torque, 1e-300)
    k, j = np.unravel_index(int(np.argmax(excess)), excess.shape)
    if excess[k, j] > 1:
        joint = model.arm.joint_names[j]
        raise ExecutionError(
            'effort_limit', f"the trajectory requires {efforts[k, j]:.4g} of '{joint}' at "
            f'{t[k]:.3g} s, but {fraction * model.arm.limits.torque[j]:.4g} is allowed: make it '
            f'slower')
    return efforts


@dataclass(frozen=True)
class CompensationLimits:
    """
    Limits of a gravity and friction compensation, which ends when one is exceeded.

    Parameters
    ----------
    effort
        Largest effort as a fraction of the torque limits.
    friction
        Fraction of the friction that is compensated. With 1, an error of the friction model can
        accelerate a joint.
    speed
        Largest speed as a fraction of the velocity limits.
    stale
        Longest time without a joint state [s].

    """

    effort: float = 0.8
    friction: float = 0.7
    speed: float = 0.5
    stale: float = 0.05

    def __post_init__(self) -> None:
        for name in ('effort', 'friction', 'speed'):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigurationError(f'{name} must be a fraction between 0 and 1, not '
                                         f'{getattr(self, name):g}')


class Compensation:
    """
    Gravity and friction compensation for an arm with effort commands.

    After a fault, `effort` raises an error until `reset` is called. The caller must then command
    `last`, the gravity torques at the last known position, to hold the arm.

    Parameters
    ----------
    model
        The identified model.
    limits
        Limits of the compensation; if None, the defaults.

    Examples
    --------
    >>> compensation = Compensation(model, CompensationLimits(friction=0.5))    # doctest: +SKIP
    >>> command = compensation.effort(t, q, v)    # (n,) [N m or N]    # doctest: +SKIP

    """

    def __init__(self, model: IdentifiedModel, limits: CompensationLimits | None = None) -> None:
        self.model, self.limits = model, limits or CompensationLimits()
        self.fault = ''
        self._last: tuple[float, Array] | None = None

    def reset(self) -> None:
        """Clear a fault and forget the last joint state."""
        self.fault, self._last = '', None

    def effort(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """
        Return the efforts at a joint state, (n,) [N m or N].

        Parameters
        ----------
        t
            Time at which the state was measured [s].
        q, v
            Positions and velocities of the joints, (n,) each.

        Raises
        ------
        ExecutionError
            A value is not finite, a joint is too fast, an effort exceeds its limit, or the
            compensation has already ended. Command the efforts `last` instead.

        """
        if self.fault:
            raise ExecutionError('faulted', self.fault)
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        arm = self.model.arm
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
            self._end('joint_states', 'a joint state is not finite')
        speed = np.abs(v) / arm.limits.velocity
        if np.any(speed > self.limits.speed):
            joint = arm.joint_names[int(np.argmax(speed))]
            self._end('velocity', f"'{joint}' moves at {speed.max():.0%} of its speed limit, "
                      f'{self.limits.speed:.0%} is allowed')
        gravity = holding_torque(self.model, q[None])[0]
        efforts: Array = gravity + self.limits.friction * model_friction(
            self.model, q[None], v[None], gravity[None])[0]
        allowed = self.limits.effort * arm.limits.torque
        if np.any(np.abs(efforts) > allowed):
            j = int(np.argmax(np.abs(efforts) / allowed))
            self._end('effort_limit', f"holding '{arm.joint_names[j]}' requires {efforts[j]:.4g}, "
                      f'but {allowed[j]:.4g} is allowed')
        self._last = (t, q)
        return efforts

    def watch(self, now: float) -> None:
        """
        Check the age of the last joint state; end the compensation if it is too old.

        Parameters
        ----------
        now
            Current time on the clock of the joint states [s].

        Raises
        ------
        ExecutionError
            The joint state is too old; the reason is 'stale_joint_states'.

        """
        if not self.fault and self._last and now - self._last[0] > self.limits.stale:
            self._end('stale_joint_states', f'no joint state for {now - self._last[0]:.3f} s')

    @property
    def last(self) -> Array | None:
        """Gravity torques at the last known position, (n,) [N m or N]; None before the first."""
        if self._last is None:
            return None
        return read_only(holding_torque(self.model, self._last[1][None])[0])

    def _end(self, reason: str, text: str) -> None:
        """Store the fault and raise it as ExecutionError."""
        self.fault = f'{text}; compensation ended with gravity alone'
        raise ExecutionError(reason, self.fault)
