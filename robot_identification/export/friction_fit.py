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
"""Approximation of the friction of a model by Coulomb and viscous friction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from scipy.interpolate import CubicSpline
from scipy.optimize import nnls

EXACT = 1e-9
"""[-] Largest torque error, relative to the torque, of a part of the model that counts as exact:
above rounding, which least squares raises to 1e-12."""
RATE = 50.0
"""[Hz] Rate at which a stored training motion, or sines in its place, are sampled."""
PERIOD = 10.0
"""Period of the sines [s]."""
SPEED = 0.5
"""[-] Peak velocity of the sines as a fraction of the velocity limit, see `velocity_limits`."""


@dataclass(frozen=True, eq=False)
class WorkingStates(ReadOnlyArrays):
    """
    States over which friction is fitted and export errors are evaluated.

    Parameters
    ----------
    q, v, a
        Positions, velocities and accelerations of the joints, (N, n) [rad or m, per s, per s^2].
    description
        Source of the states, for messages, for instance 'the training motion'.

    """

    q: Array
    v: Array
    a: Array
    description: str

    @classmethod
    def of(cls, model: IdentifiedModel) -> WorkingStates:
        """Return the states of the training motion in a model, or of sines if it has none."""
        parts = []
        for trace in model.information.get('training_motion', []):
            q = np.array(trace['q'], dtype=float)
            if len(q) > 5 and q.ndim == 2 and q.shape[1] == model.arm.n:
                t = np.arange(len(q)) / float(trace['rate'])
                spline = CubicSpline(t, q)
                fine = np.arange(t[1], t[-2], 1 / RATE)
                parts.append(np.stack([spline(fine, order) for order in range(3)]))
        if parts:
            q, v, a = np.concatenate(parts, axis=1)
            return cls(q, v, a, 'the training motion')
        return _sines(model)


def _sines(model: IdentifiedModel) -> WorkingStates:
    """Return states on a sine for each joint, with distinct frequencies and within the limits."""
    limits, n = model.arm.limits, model.arm.n
    lower = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
    upper = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
    speed = SPEED * velocity_limits(model.arm)
    omega = 2 * np.pi / PERIOD * np.arange(2, n + 2)
    size = np.minimum(speed / omega, 0.4 * (upper - lower))
    angle = omega * np.arange(0, PERIOD, 1 / RATE)[:, None] + np.arange(n)
    return WorkingStates((lower + upper) / 2 + size * np.sin(angle), size * omega * np.cos(angle),
                         -size * omega ** 2 * np.sin(angle),
                         f'sines up to {SPEED:.0%} of the speed limits')


def velocity_limits(arm: Arm) -> Array:
    """Return the velocity limits, (n,); an unknown one counts as 2 rad/s or 0.2 m/s."""
    usual = np.where(arm.prismatic, 0.2, 2.0)
    return np.where(np.isfinite(arm.limits.velocity), arm.limits.velocity, usual)


@dataclass(frozen=True, eq=False)
class FrictionFit(ReadOnlyArrays):
    """
    Friction Fc sgn(v) + Fv v of k joints or actuators, fitted to the friction of a model.

    Parameters
    ----------
    coulomb
        Coulomb friction Fc, (k,) [N m or N]; not negative.
    viscous
        Viscous friction Fv, (k,) [N m s/rad or N s/m]; not negative.
    offset
        Constant friction, (k,) [N m or N]; it is fitted too, but most targets cannot express it.
    speeds, torque
        Velocities [rad/s or m/s] and friction torques of the model [N m or N] at the states of
        the fit, (N, k).
    to_joints
        Matrix that maps the k torques to joint torques, (k, n).

    """

    coulomb: Array
    viscous: Array
    offset: Array
    speeds: Array
    torque: Array
    to_joints: Array

    @classmethod
    def of(cls, model: IdentifiedModel, states: WorkingStates,
           actuators: bool = False) -> FrictionFit:
        """
        Fit Coulomb, viscous and constant friction to the friction of a model by least squares.

        Parameters
        ----------
        model
            The identified model, with any friction model.
        states
            States of the least-squares fit; the rigid-body torque at a state is the load.
        actuators
            True fits the friction of each actuator (joint or coupled drive) over its own velocity;
            False fits the total friction at each joint over the joint velocity.

        """
        torque, to_joints = actuator_friction(model, states), model.arm.transmission
        if not actuators:
            torque, to_joints = torque @ to_joints, np.eye(model.arm.n)
        speeds = states.v @ to_joints.T
        coulomb, viscous, offset = coefficients = np.zeros((3, speeds.shape[1]))
        for j, v in enumerate(speeds.T):
            peak = max(float(np.abs(v).max()), 1e-12)
            columns = np.column_stack([np.sign(v), v / peak, np.ones(len(v)), -np.ones(len(v))])
            values = nnls(columns, torque[:, j])[0]
            coefficients[:, j] = values[0], values[1] / peak, values[2] - values[3]
        return cls(coulomb, viscous, offset, speeds, torque, to_joints)

    @property
    def fitted(self) -> Array:
        """Fitted Coulomb and viscous friction at the states, (N, k) [N m or N]."""
        return self.coulomb * np.sign(self.speeds) + self.viscous * self.speeds

    def residual(self, offset: bool = False) -> Array:
        """
        Return the rms torque error of the fit at each joint over the states, (n,) [N m or N].

        Parameters
        ----------
        offset
            Whether the target has the constant friction, too.

        """
        error = self.torque - self.fitted - offset * self.offset
        return root_mean_square(error @ self.to_joints)

    def describe_residual(self, friction: str, offset: bool = False) -> str:
        """
        Return a description of the friction that Coulomb and viscous friction do not express.

        Parameters
        ----------
        friction
            Name of the friction model that was fitted.
        offset
            Whether the target has the constant friction, too.

        """
        size = EXACT * np.abs(self.torque).max(axis=0)
        if np.all(np.abs(self.torque - self.fitted - self.offset) <= size):
            return 'constant part (offset) of the friction'
        text = f"friction '{friction}', approximated by Coulomb and viscous friction"
        lost = not offset and np.any(np.abs(self.offset) > size)
        return text + ' without its constant part (offset)' * bool(lost)


def root_mean_square(torque: Array) -> Array:
    """Return the root mean square of each column, (n,), of torques (N, n) [N m or N]."""
    return np.sqrt(np.mean(torque ** 2, axis=0))


def actuator_friction(model: IdentifiedModel, states: WorkingStates,
                      memory: Array | None = None) -> Array:
    """Return the friction of each actuator (joint or coupled drive) at the states, (N, m)."""
    load = inverse_dynamics(model.arm, states.q, states.v, states.a, model.inertial)
    return model.friction_torque(states.v, load, states.q,
                                 model.states(states.q) if memory is None else memory)
