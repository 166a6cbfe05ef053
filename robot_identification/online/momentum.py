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

import numpy as np
from numpy.typing import ArrayLike
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.errors import ConfigurationError

REST = 0.02
"""[rad/s or m/s] Speed below which the direction of Coulomb friction is uncertain. Below it, the
modelled friction is proportional to the speed, and stiction is added to the standard deviation.
The value is of the order of the noise of measured speeds: 10 counts of a 17-bit encoder in 10 ms
are 0.05 rad/s. A sine of 0.1 Hz and 2 degrees, a slow motion, has a peak speed of 0.02 rad/s."""
GAP = 0.1
"""[s] Time between joint states beyond which the observer is reset: ten samples of a slow driver
(100 Hz)."""


class MomentumObserver:
    """
    Momentum observer: computes external torques from positions, velocities and joint torques.

    Its output is the residual

        r = K (p - p(0) - integral of (tau - friction - springs + C'v - g + r) dt)

    with the momentum p = M(q) v, the Coriolis matrix C and the gravity torque g. r is the external
    torque, filtered by a first-order low-pass with the cut-off frequency K / (2 pi).

    Parameters
    ----------
    model
        The identified model.
    bandwidth
        Cut-off frequency of the low-pass [Hz].

    Raises
    ------
    ConfigurationError
        The bandwidth is not positive.

    References
    ----------
    A. De Luca, R. Mattone, "Sensorless robot collision detection and hybrid force/motion
    control", IEEE ICRA 2005; S. Haddadin, A. De Luca, A. Albu-Schaffer, "Robot collisions: a
    survey on detection, isolation, and identification", IEEE Trans. Robotics 33(6), 2017.

    Examples
    --------
    >>> observer = MomentumObserver(load_model('result/model.yaml'))    # doctest: +SKIP
    >>> external = observer.run(t, q, v, tau)    # (N, n) [N m]    # doctest: +SKIP

    """

    def __init__(self, model: IdentifiedModel, bandwidth: float = 10.0) -> None:
        if not bandwidth > 0:
            raise ConfigurationError(f'the bandwidth of the observer must be positive, not '
                                     f'{bandwidth:g} Hz')
        self.model, self.bandwidth = model, bandwidth
        self._pin = model.arm.model.copy()
        for i, parameters in enumerate(model.inertial, start=1):
            self._pin.inertias[i] = pin.Inertia.FromDynamicParameters(np.array(parameters))
        self._data = self._pin.createData()
        transmission = model.arm.transmission
        self._rotors = transmission.T @ (model.rotor_inertia[:, None] * transmission)
        self.reset()

    def reset(self) -> None:
        """Reset the residual to zero, for instance after a gap in the joint states."""
        self._t: float | None = None
        self._residual = self._integral = self._rate = np.zeros(self.model.arm.n)

    def step(self, t: float, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
        """
        Process a joint state and return the external joint torques, (n,) [N m or N].

        Parameters
        ----------
        t
            Stamp [s], later than the previous one.
        q, v, tau
            Position, velocity and torque of the joints, (n,).

        Raises
        ------
        ConfigurationError
            The stamp is not later than the previous one, or a value is not finite.

        """
        q, v, tau = (np.asarray(x, dtype=float) for x in (q, v, tau))
        # a NaN in the integral would remain for all later steps
        if not all(np.isfinite(x).all() for x in (t, q, v, tau)):
            raise ConfigurationError(f'the joint state at {t:.6f} s is not finite')
        momentum, rate = self._momentum(q[None], v[None], tau[None])
        return self._advance(t, momentum[0], rate[0])

    def _advance(self, t: float, momentum: Array, rate: Array) -> Array:
        """Integrate the rate of the momentum and return the external torque, (n,)."""
        if self._t is None:
            self._integral = momentum
        else:
            step = t - self._t
            if not step > 0:
                raise ConfigurationError(f'the stamp {t:.6f} s is not later than the one before')
            # trapezoidal rule, implicit in the new residual: stable for any step size
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
        Return the external torques of a recording, (N, n) [N m or N].

        The observer is reset at the start and after each gap.

        Parameters
        ----------
        t
            Stamps, (N,) [s].
        q, v, tau
            Positions, velocities and torques of the joints, (N, n) each.

        """
        self.reset()
        t, q, v, tau = (np.asarray(x, dtype=float) for x in (t, q, v, tau))
        momentum, rate = self._momentum(q, v, tau)
        external, starts = np.zeros_like(q), set(self.segment_starts(t))
        for k in range(len(t)):
            if k in starts:
                self.reset()
            external[k] = self._advance(float(t[k]), momentum[k], rate[k])
        return external

    @staticmethod
    def segment_starts(t: Array) -> list[int]:
        """
        Return the indices of the first sample and of each sample after a gap.

        A gap is longer than `GAP` and than three median sampling intervals.

        Parameters
        ----------
        t
            Stamps, (N,) [s].

        """
        steps = np.diff(t)
        longest = max(GAP, 3 * float(np.median(steps))) if len(steps) else GAP
        return [0, *(int(k) + 1 for k in np.flatnonzero(steps > longest))]

    def _momentum(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Return the momentum and its derivative without external torque, (N, n) each."""
        momentum, coriolis, gravity = np.empty((3, *q.shape))
        for k, (position, velocity) in enumerate(zip(q, v)):
            c = pin.computeCoriolisMatrix(self._pin, self._data, position, velocity)
            mass = pin.crba(self._pin, self._data, position)
            mass = np.triu(mass) + np.triu(mass, 1).T + self._rotors
            momentum[k], coriolis[k] = mass @ velocity, c.T @ velocity
            gravity[k] = pin.computeGeneralizedGravity(self._pin, self._data, position)
        springs = self.model.balancer_torque(q)
        friction = (model_friction(self.model, q, v, gravity + springs)
                    + self.model.residual_torque(q, v))
        return momentum, tau - friction - springs + coriolis - gravity


def holding_torque(model: IdentifiedModel, q: Array) -> Array:
    """Return the torques that hold the arm against gravity and springs, (N, n) [N m or N]."""
    zero = np.zeros_like(q)
    return model.transmitted_torque(q, zero, zero)


def model_friction(model: IdentifiedModel, q: Array, v: Array, load: Array) -> Array:
    """
    Return the friction torques at the joints, continuous at zero speed, (N, n) [N m or N].

    Below the speed `REST`, the torque is interpolated linearly between its values at -`REST` and
    at `REST`. Friction with memory is evaluated in its sliding state, which it reaches
    after a reversal once the joint has moved by twice the presliding distance.

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
    return 0.5 * ((1 + fraction) * forward + (1 - fraction) * back)
