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
"""Coulomb and viscous friction that approximate the model's friction, and the residual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel, inverse_dynamics
from scipy.interpolate import CubicSpline
from scipy.optimize import nnls

EXACT = 1e-6
"""Residual, relative to the largest friction, below which a fit counts as exact (rounding)."""
RATE = 50.0
"""Sampling rate of a training motion [Hz]."""
SAMPLES = 2000
"""Number of states of the motion that replaces a missing training motion."""
PERIOD = 10.0
"""Period of this motion [s]."""
SPEED = 0.5
"""Its highest speed as a fraction of the limit; without a limit it is 1 rad/s or 0.1 m/s."""


@dataclass(frozen=True, eq=False)
class WorkingStates:
    """
    States of a motion.

    Parameters
    ----------
    q, v, a
        (N, n) [rad or m, per s, per s^2].
    origin
        Description of their source, for reports.

    """

    q: Array
    v: Array
    a: Array
    origin: str

    def __post_init__(self) -> None:
        for name in ('q', 'v', 'a'):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def working_states(model: IdentifiedModel) -> WorkingStates:
    """Return the states of the training motion in a model file, or of sines if it has none."""
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
        return WorkingStates(q, v, a, 'the training motion')
    return _sines(model)


def _sines(model: IdentifiedModel) -> WorkingStates:
    """Return one sine per joint with distinct frequencies, within the middle of the limits."""
    limits, n = model.arm.limits, model.arm.n
    lower = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
    upper = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
    usual = np.where(model.arm.prismatic, 0.2, 2.0)
    speed = SPEED * np.where(np.isfinite(limits.velocity), limits.velocity, usual)
    omega = 2 * np.pi / PERIOD * np.arange(2, n + 2)
    size = np.minimum(speed / omega, 0.4 * (upper - lower))
    angle = omega * np.linspace(0, PERIOD, SAMPLES, endpoint=False)[:, None] + np.arange(n)
    return WorkingStates((lower + upper) / 2 + size * np.sin(angle), size * omega * np.cos(angle),
                         -size * omega ** 2 * np.sin(angle),
                         f'sines up to {SPEED:.0%} of the speed limits')


@dataclass(frozen=True, eq=False)
class FrictionFit:
    """
    Friction Fc sgn(v) + Fv v of each joint, fitted to the model's over the working states.

    Parameters
    ----------
    coulomb
        (n,) [N m or N], not negative.
    viscous
        (n,) [N m s/rad or N s/m], not negative.
    offset
        Constant part of the model's friction, which is fitted but no target expresses, (n,).
    speeds, torque
        Joint velocities and friction torques of the fit, (N, n).

    """

    coulomb: Array
    viscous: Array
    offset: Array
    speeds: Array
    torque: Array

    def __post_init__(self) -> None:
        for name in ('coulomb', 'viscous', 'offset', 'speeds', 'torque'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def left(self, carried: bool = True) -> Array:
        """
        Return the root mean square of the residual, (n,) [N m or N].

        Parameters
        ----------
        carried
            Whether the target has the fitted friction; otherwise all friction is residual.

        """
        fitted = carried * (self.coulomb * np.sign(self.speeds) + self.viscous * self.speeds)
        left: Array = np.sqrt(np.mean((self.torque - fitted) ** 2, axis=0))
        return left

    def describe_residual(self, friction: str) -> str:
        """
        Return a description of the residual.

        Parameters
        ----------
        friction
            Name of the model's friction.

        """
        rest = np.abs(self.torque - self.coulomb * np.sign(self.speeds)
                      - self.viscous * self.speeds - self.offset)
        if np.all(rest <= EXACT * np.abs(self.torque).max(axis=0)):
            return 'the constant part of the friction'
        return f"friction '{friction}', Coulomb and viscous friction in its place"

    @property
    def relative(self) -> Array:
        """Residual over the root mean square of the friction, (n,)."""
        size = np.sqrt(np.mean(self.torque ** 2, axis=0))
        return read_only(self.left() / np.where(size > 0, size, 1.0))


def fit_friction(model: IdentifiedModel, states: WorkingStates) -> FrictionFit:
    """
    Fit Coulomb and viscous friction to each joint's friction by least squares.

    Parameters
    ----------
    model
        The identified model, with friction of any kind.
    states
        States of the least-squares fit; the rigid-body torque there is the load.

    """
    torque = element_friction(model, states) @ model.arm.transmission
    coulomb, viscous, offset = _fitted(states.v, torque)
    return FrictionFit(coulomb, viscous, offset, states.v, torque)


def fit_element_friction(model: IdentifiedModel,
                         states: WorkingStates) -> tuple[Array, Array, Array]:
    """
    Fit the friction of each joint and coupled drive at its own speed.

    Parameters
    ----------
    model, states
        As for `fit_friction`.

    Returns
    -------
    tuple
        Coulomb and viscous friction of the elements, (m,) each, and the root mean square of the
        residual at the joints, (n,) [N m or N].

    """
    speeds = states.v @ model.arm.transmission.T
    torque = element_friction(model, states)
    coulomb, viscous, _ = _fitted(speeds, torque)
    left = (torque - coulomb * np.sign(speeds) - viscous * speeds) @ model.arm.transmission
    return coulomb, viscous, np.sqrt(np.mean(left ** 2, axis=0))


def fit_viscous_friction(fit: FrictionFit) -> tuple[Array, Array]:
    """
    Fit viscous friction alone, for targets without Coulomb friction.

    Parameters
    ----------
    fit
        The fit with Coulomb friction, for its velocities and torques.

    Returns
    -------
    tuple
        Viscous friction, (n,), and the root mean square of the residual, (n,) [N m or N].

    """
    squares = np.maximum(np.sum(fit.speeds ** 2, axis=0), 1e-300)
    viscous = np.maximum(np.sum(fit.speeds * fit.torque, axis=0) / squares, 0.0)
    return viscous, np.sqrt(np.mean((fit.torque - viscous * fit.speeds) ** 2, axis=0))


def element_friction(model: IdentifiedModel, states: WorkingStates,
                     memory: Array | None = None) -> Array:
    """Return the friction of each joint and coupled drive over the states, (N, m)."""
    load = inverse_dynamics(model.arm, states.q, states.v, states.a, model.inertial)
    return model.friction_torque(states.v, load, states.q, memory)


def _fitted(speeds: Array, torque: Array) -> Array:
    """Return Coulomb, viscous and constant friction, (3, m); the first two are not negative."""
    found = np.zeros((3, speeds.shape[1]))
    for j, v in enumerate(speeds.T):
        peak = max(float(np.abs(v).max()), 1e-12)
        columns = np.column_stack([np.sign(v), v / peak, np.ones(len(v)), -np.ones(len(v))])
        values = nnls(columns, torque[:, j])[0]
        found[:, j] = values[0], values[1] / peak, values[2] - values[3]
    return found
