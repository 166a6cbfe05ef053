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
"""External joint torques by a momentum observer, which needs no accelerations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError

REST = 0.02
"""Speed [rad/s or m/s] below which the sign of the friction is unknown: friction is proportional
to the speed there, and added to the deviation. Ten counts of a 17-bit encoder at 1 kHz smoothed
over 10 ms are 0.05 rad/s; a sine of 0.1 Hz and 2 degrees reaches 0.02 rad/s."""
GAP = 0.1
"""Time between joint states [s] beyond which the observer is reset."""


class MomentumObserver:
    """
    Momentum observer: external torques from positions, velocities and joint torques.

    r = K (p - p(0) - integral of (tau - friction + C'v - g + r)) with the momentum p = M(q) v,
    which is the external torque filtered by a first-order low-pass of bandwidth K / 2 pi.

    Parameters
    ----------
    model
        The identified model.
    bandwidth
        Bandwidth of the low-pass [Hz].

    Raises
    ------
    ConfigurationError
        The bandwidth is not positive.

    References
    ----------
    A. De Luca, R. Mattone, "Sensorless robot collision detection and hybrid force/motion
    control", IEEE ICRA 2005; S. Haddadin, A. De Luca, A. Albu-Schaffer, "Robot collisions: a
    survey on detection, isolation, and identification", IEEE Trans. Robotics 33(6), 2017.

    """

    def __init__(self, model: IdentifiedModel, bandwidth: float = 10.0) -> None:
        if not bandwidth > 0:
            raise ConfigurationError(f'the bandwidth of the observer must be positive, not '
                                     f'{bandwidth:g} Hz')
        self.model, self.bandwidth = model, bandwidth
        self._pin = _identified(model)
        self._data = self._pin.createData()
        transmission = model.arm.transmission
        self._rotors = transmission.T @ (model.rotor_inertia[:, None] * transmission)
        self.reset()

    def reset(self) -> None:
        """Start again from a residual of zero, for instance after a gap."""
        self._t: float | None = None
        self._residual = np.zeros(self.model.arm.n)
        self._integral = np.zeros(self.model.arm.n)
        self._rate = np.zeros(self.model.arm.n)

    def step(self, t: float, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
        """
        Return the external joint torques after a joint state, (n,) [N m or N].

        Parameters
        ----------
        t
            Stamp [s], later than the one before.
        q, v, tau
            Position, velocity and torque of the joints, (n,).

        Raises
        ------
        ConfigurationError
            The stamp is not later than the one before, or a value is not finite.

        """
        q, v, tau = (np.asarray(x, dtype=float) for x in (q, v, tau))
        # the integral would never recover from a NaN
        if not all(np.isfinite(x).all() for x in (t, q, v, tau)):
            raise ConfigurationError(f'the joint state at {t:.6f} s is not finite')
        momentum, coriolis, gravity = self._bodies(q, v)
        drives = self._drives(q[None], v[None], gravity[None])[0]
        rate = tau - drives + coriolis - gravity
        return self._advance(t, momentum, rate)

    def _advance(self, t: float, momentum: Array, rate: Array) -> Array:
        """Integrate the rate of the momentum and return the external torque, (n,)."""
        if self._t is None:
            self._integral = momentum
        else:
            step = t - self._t
            if not step > 0:
                raise ConfigurationError(f'the stamp {t:.6f} s is not later than the one before')
            # trapezoid of the rate; r enters implicitly, so that any step is stable
            gain = 2 * np.pi * self.bandwidth
            self._integral = self._integral + 0.5 * step * (rate + self._rate)
            free = momentum - self._integral - 0.5 * step * self._residual
            new = gain * free / (1 + 0.5 * gain * step)
            self._integral = self._integral + 0.5 * step * (self._residual + new)
            self._residual = new
        self._t, self._rate = t, rate
        return self._residual.copy()

    def run(self, t: ArrayLike, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
        """
        Return the external torques of a recording, (N, n) [N m or N]; gaps reset the observer.

        Parameters
        ----------
        t
            Stamps, (N,) [s].
        q, v, tau
            (N, n) each.

        """
        self.reset()
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        bodies = np.array([self._bodies(*row) for row in zip(q, v)])    # (N, 3, n)
        momentum, coriolis, gravity = bodies.transpose(1, 0, 2)
        rate = (np.asarray(tau, dtype=float) - self._drives(q, v, gravity) + coriolis - gravity)
        t = np.asarray(t, dtype=float)
        external, starts = np.zeros_like(q), set(self.segment_starts(t))
        for k in range(len(t)):
            if k in starts:
                self.reset()
            external[k] = self._advance(float(t[k]), momentum[k], rate[k])
        return external

    @staticmethod
    def segment_starts(t: Array) -> list[int]:
        """
        Return the index of the first sample of each segment between gaps.

        Parameters
        ----------
        t
            Stamps, (N,) [s].

        """
        steps = np.diff(t)
        longest = max(GAP, 3 * float(np.median(steps))) if len(steps) else GAP
        return [0, *(int(k) + 1 for k in np.flatnonzero(steps > longest))]

    def _bodies(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Return momentum, C'v and gravity, (n,) each."""
        coriolis = pin.computeCoriolisMatrix(self._pin, self._data, q, v)
        mass = pin.crba(self._pin, self._data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T + self._rotors
        gravity = pin.computeGeneralizedGravity(self._pin, self._data, q)
        return mass @ v, coriolis.T @ v, gravity.copy()

    def _drives(self, q: Array, v: Array, gravity: Array) -> Array:
        """Return friction and springs, (N, n); friction falls in proportion below `REST`."""
        springs = self.model.balancer_torque(q) if self.model.arm.balancers else np.zeros_like(q)
        torque: Array = model_friction(self.model, q, v, gravity + springs) + springs
        return torque


def holding_torque(model: IdentifiedModel, q: Array) -> Array:
    """Return the torques of gravity and springs, (N, n) [N m or N]."""
    zero = np.zeros_like(q)
    return model.transmitted_torque(q, zero, zero)


def model_friction(model: IdentifiedModel, q: Array, v: Array, load: Array) -> Array:
    """
    Return the friction at the joints without its jump at rest, (N, n) [N m or N].

    Below the speed `REST` friction is that at `REST`, scaled by the speed. Friction with memory is
    in its sliding state, which it reaches after a reversal within the travel that it remembers.

    Parameters
    ----------
    model
        The identified model.
    q, v, load
        Positions, velocities and transmitted torques, (N, n).

    """
    size = np.maximum(np.abs(v), REST)
    fast = np.where(v < 0, -size, size)
    fraction = np.abs(v) / size
    forward, back = (model.friction_torque(sign * fast, load, q, model.structure.sliding_state(
        sign * fast)) @ model.arm.transmission for sign in (1.0, -1.0))
    torque: Array = 0.5 * ((1 + fraction) * forward + (1 - fraction) * back)
    return torque


def _identified(model: IdentifiedModel) -> pin.Model:
    """Return the Pinocchio model with the identified inertias."""
    identified = model.arm.model.copy()
    for i, parameters in enumerate(model.inertial, start=1):
        identified.inertias[i] = pin.Inertia.FromDynamicParameters(np.array(parameters))
    return identified
