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

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only, ReadOnlyArrays
from robot_identification.dynamics import base_parameters, BaseParameters, ModelStructure
from robot_identification.errors import ConfigurationError
from robot_identification.online.recursive_estimators import RECURSIVE
from robot_identification.online.torque_filter import REST_SPEED, TorqueFilter, WIDTH


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
        if structure.friction.needs_load:
            raise ConfigurationError(
                f"the friction model '{structure.friction.key}' needs the transmitted torque, "
                f'which is not known while the arm moves; use another one')
        if structure.friction.has_state or structure.friction.needs_position:
            raise ConfigurationError(
                f"the friction model '{structure.friction.key}' depends on positions or "
                f'has memory, which recursive filters cannot follow; identify it from a '
                f'recording')
        noise = np.broadcast_to(np.asarray(noise, dtype=float), (arm.n,)).copy()
        if not np.all(noise > 0) or not period > 0 or not (memory is None or memory > 0):
            raise ConfigurationError('noise, period and memory of an online estimator must be '
                                     'positive')
        self.keep = 1.0 if memory is None else float(np.exp(-period / memory))
        self._filter = TorqueFilter(
            self.base, bool(structure.friction.nonlinear),
            TorqueFilter.urdf_start(self.base, width), noise,
            'none' if memory is None else forgetting, rest_speed)

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
        return read_only(self._filter.filter.deviations)

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
        columns = structure.columns(q, v, a)[0][:, self.base.columns]
        torque = np.asarray(tau, dtype=float) - structure.known_torque(q)[0]
        innovation, used = self._filter.update(columns, torque, v, self.keep)
        return OnlineUpdate(self._filter.parameters, self._filter.shape, innovation, used)


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
