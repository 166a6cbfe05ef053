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
"""Recursive estimation of base parameters in a control loop."""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only, ReadOnlyArrays
from robot_identification.dynamics import base_parameters, BaseParameters, ModelStructure
from robot_identification.errors import ConfigurationError
from robot_identification.online.load_change import (
    CorrelatedNoise,
    LARGEST,
    LoadChange,
    LoadEstimate,
    LoadMonitor,
    MEMORY,
    Sample,
)
from robot_identification.online.recursive_estimators import RECURSIVE
from robot_identification.online.torque_filter import REST_SPEED, TorqueFilter, WIDTH

EVERY = 0.25
"""[s] Time between two states of the filter to which it can return."""


@dataclass(frozen=True, eq=False)
class OnlineUpdate(ReadOnlyArrays):
    """
    Result of one update of an `OnlineEstimator`.

    Parameters
    ----------
    parameters : numpy.ndarray
        Base parameters after the update, (r,).
    shape
        Nonlinear friction parameters of each actuator, (m, s).
    innovation
        Measured torque minus the torque predicted before the update, (n,) [N m or N].
    used
        Whether the torque of each joint was used, (n,) bool; False while the joint is at rest.

    """

    parameters: Array
    shape: Array
    innovation: Array
    used: NDArray[np.bool_]


class OnlineEstimator:
    """
    Recursive estimator of base parameters and friction while the arm moves.

    With forgetting, it detects a body that the arm picks up or puts down (`load_change`), returns
    to the parameters before the change, and widens their covariance in the directions of such a
    body only, so that the estimate follows within seconds whatever the memory. Standard deviations
    account for noise that is correlated in time (`CorrelatedNoise`).

    Parameters
    ----------
    arm
        The arm.
    noise
        Standard deviation of the torques, (n,) or one number [N m or N].
    friction
        Name of the friction model, or base parameters that were computed before. If the friction
        has nonlinear parameters, an extended Kalman filter estimates them too.
    period
        Time between updates [s].
    memory
        Time constant of the forgetting [s]; None for a Kalman filter of constant parameters.
    forgetting
        'directional' or 'uniform', see `InformationFilter`; ignored if `memory` is None.
    rest_speed
        Speed of an actuator below which the torques of its joints are not used [rad/s or m/s].
    width
        Ratio of the initial standard deviations to those of the prior around the URDF [-].

    Raises
    ------
    ConfigurationError
        Noise, period or memory is not positive, or the friction depends on load or position or has
        memory.

    Examples
    --------
    >>> online = OnlineEstimator(load_arm('panda'), noise=1.0, memory=60.0)    # doctest: +SKIP
    >>> update = online.update(q, v, a, tau)    # doctest: +SKIP

    """

    def __init__(self, arm: Arm, noise: ArrayLike,
                 friction: str | BaseParameters = 'coulomb_viscous', *, period: float = 1e-3,
                 memory: float | None = None, forgetting: str = 'directional',
                 rest_speed: float = REST_SPEED, width: float = WIDTH) -> None:
        self.arm = arm
        self.base = (friction if isinstance(friction, BaseParameters) else
                     base_parameters(ModelStructure.of(arm, friction)))
        structure = self.base.structure
        law = structure.friction
        if law.needs_load or law.has_state or law.needs_position:
            raise ConfigurationError(
                f"the friction model '{law.key}' depends on positions or the transmitted torque, "
                'or has memory, which recursive filters cannot follow; identify it from a '
                'recording')
        noise = np.broadcast_to(np.asarray(noise, dtype=float), (arm.n,)).copy()
        if not np.all(noise > 0) or not period > 0 or not (memory is None or memory > 0):
            raise ConfigurationError('noise, period and memory of an online estimator must be '
                                     'positive')
        self.keep = 1.0 if memory is None else float(np.exp(-period / memory))
        self._filter = TorqueFilter(
            self.base, bool(structure.friction.nonlinear),
            TorqueFilter.urdf_start(self.base, width), noise,
            'none' if memory is None else forgetting, rest_speed)
        self._noise = CorrelatedNoise(noise, period)
        self._monitor = None if memory is None else LoadMonitor(
            self.base.matrix[:, 10 * (arm.n - 1):10 * arm.n],
            np.flatnonzero(np.asarray(self.base.columns) >= structure.friction_slice.start),
            noise, period)
        self._suspected: LoadEstimate | None = None
        self._estimate: LoadEstimate | None = None
        self._count, self._samples = 0, 0
        # the first state is older than the samples of the monitor, or of a suspicion
        self._states: deque[tuple[Array, Array]] = deque(maxlen=round(MEMORY / EVERY) + 1)
        self._between = max(1, round(EVERY / period))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.base.labels

    @property
    def parameters(self) -> Array:
        """Current base parameters, (r,)."""
        return read_only(self._filter.parameters)

    @property
    def deviations(self) -> Array:
        """
        Standard deviations, (r + m s,).

        The first r are those of the base parameters, the others those of the logarithms of the
        nonlinear friction parameters, if these are estimated.
        """
        return read_only(np.sqrt(self._noise.ratio) * self._filter.filter.deviations)

    @property
    def noise_ratio(self) -> float:
        """
        Long-run variance of the innovations over that of white noise with the given deviation.

        It is 1 if `noise` is right and white, 20 if it is correlated over ten samples, and it is
        contained in `deviations`.
        """
        return self._noise.ratio

    @property
    def load_change(self) -> LoadChange | None:
        """The body that was last picked up or put down, or None; None without forgetting."""
        return None if self._estimate is None else self._estimate.change(self._noise.ratio)

    def update(self, q: Array, v: Array, a: Array, tau: Array) -> OnlineUpdate:
        """
        Update the estimate with one sample.

        Parameters
        ----------
        q, v, a
            Positions, velocities and accelerations, (n,) [rad or m, per s, per s^2].
        tau
            Joint torques, (n,) [N m or N].

        """
        q, v, a = (np.asarray(x, dtype=float).reshape(1, -1) for x in (q, v, a))
        structure = self.base.structure
        columns = structure.columns(q, v, a)[0].take(self.base.columns, axis=1)
        torque = np.asarray(tau, dtype=float) - structure.known_torque(q)[0]
        before, index, self._count = self._filter.parameters, self._count, self._count + 1
        innovation, used = self._filter.update(columns, torque, v, self.keep)
        if used.any():
            self._noise.add(innovation, used)
            self._follow_load(Sample(index, columns, innovation, before, used))
        return OnlineUpdate(self._filter.parameters, self._filter.shape, innovation, used)

    def _follow_load(self, sample: Sample) -> None:
        """Detect a change of the load, and let the filter adapt to it."""
        monitor, running = self._monitor, self._filter.filter
        if monitor is None:
            return
        monitor.add(sample)
        self._samples += 1
        if self._estimate is not None:
            self._estimate.add(sample)
        if self._suspected is not None:
            self._suspected.add(sample)
            decision = self._suspected.decide(self._noise)
            if decision:
                self._confirm(self._suspected, monitor)
            elif self._suspected.passed:
                running.restore_state(self._states[0])
            if decision is not None:
                monitor.restart(MEMORY)
                self._suspected = None
                self._states.clear()
                self._states.append(running.copy_state())
        elif monitor.suspects(lambda rows: running.projected_covariance(self._padded(rows)),
                              self._noise.ratio):
            self._suspected = LoadEstimate(monitor, self._states[0][0][:self.base.rank])
        elif self._samples % self._between == 0:
            self._states.append(running.copy_state())

    def _confirm(self, suspected: LoadEstimate, monitor: LoadMonitor) -> None:
        """Return to the state before the change, and widen it in the directions of a body."""
        running, rank = self._filter.filter, self.base.rank
        running.restore_state(self._states[0])
        suspected.covariance = self._noise.ratio * running.projected_covariance(
            self._padded(np.eye(rank)))
        running.widen(self._padded(LARGEST * monitor.body.T).T)
        self._estimate = suspected
        self._noise.drop_block()

    def _padded(self, rows: Array) -> Array:
        """Extend rows for base parameters, (k, r), by zeros for the other unknowns."""
        others = len(self._filter.filter.values) - self.base.rank
        return np.pad(rows, ((0, 0), (0, others)))


def start_online(name: str, arm: Arm, noise: ArrayLike, friction: str | BaseParameters, *,
                 memory: float, **options: Any) -> OnlineEstimator:
    """
    Return a recursive estimator by name, ready for the updates of a control loop.

    Parameters
    ----------
    name
        Key in `RECURSIVE`.
    arm, noise, friction, options
        As for `OnlineEstimator`.
    memory
        Time constant of the forgetting [s]; ignored by estimators without forgetting.

    Raises
    ------
    UnknownNameError
        There is no such estimator.
    ConfigurationError
        An option is invalid, or the friction depends on load or position or has memory.
    EstimationError
        The friction has nonlinear parameters and the estimator is linear.

    Examples
    --------
    >>> online = start_online('kalman', load_arm('panda'), noise=1.0)    # doctest: +SKIP
    >>> online.update(q, v, a, tau).parameters    # (r,)    # doctest: +SKIP

    """
    kind = RECURSIVE.find(name)
    online = OnlineEstimator(arm, noise, friction, memory=memory if kind.forgets else None,
                             **options)
    if online.base.structure.friction.nonlinear:
        kind.require_nonlinear(online.base.structure.friction.key)
    return online
