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
"""The recursive estimator for a control loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import (
    base_parameters,
    BaseParameters,
    joint_torque_regressor,
    ModelStructure,
)
from robot_identification.errors import ConfigurationError
from robot_identification.estimation.prior import Prior
from robot_identification.online.recursive.information_filter import InformationFilter
from robot_identification.online.recursive.linearisation import Linearisation

REST_SPEED = 0.01
"""Speed of an element below which its joint's row is left out [rad/s; m/s]: friction is not
determined there."""
WIDTH = 3.0
"""Initial standard deviations, in units of the prior's."""


@dataclass(frozen=True, eq=False)
class OnlineUpdate:
    """
    Result of one update.

    Parameters
    ----------
    parameters
        Base parameters, (r,).
    shape
        Shape of the friction of each joint and drive, (m, s).
    innovation
        Measured minus predicted torque before the update, (n,) [N m or N].
    used
        Whether the row of each joint was used, (n,) bool; not at rest.

    """

    parameters: Array
    shape: Array
    innovation: Array
    used: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for name in ('parameters', 'shape', 'innovation'):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        object.__setattr__(self, 'used', read_only(self.used, bool))


class OnlineEstimator:
    """
    Recursive estimator of base parameters and friction while the arm moves.

    Examples
    --------
    >>> online = OnlineEstimator(load_arm('panda'), noise=1.0, memory=60.0)    # doctest: +SKIP
    >>> update = online.update(q, v, a, tau)    # doctest: +SKIP

    Parameters
    ----------
    arm
        The arm.
    noise
        Standard deviation of the torques, (n,) or one number [N m or N].
    friction
        Name of the friction model, or the base parameters with it, which are not computed again
        then; a model with a shape makes the filter an extended one.
    period
        Time between updates [s].
    memory
        Time constant of the forgetting [s]; None for a Kalman filter of constant parameters.
    forgetting
        'directional' or 'uniform', with a memory.
    rest_speed
        See `REST_SPEED`.
    width
        Initial standard deviations, in units of the prior's.

    Raises
    ------
    ConfigurationError
        Noise, period or memory is not positive, or the friction depends on load, position or
        memory.

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
                f'which is not known while the arm moves; take another one')
        if structure.friction.has_state or structure.friction.needs_position:
            raise ConfigurationError(
                f"the friction model '{structure.friction.key}' depends on positions or "
                f'remembers, which recursive filters cannot follow; identify it from a '
                f'recording')
        self.noise = np.broadcast_to(np.asarray(noise, dtype=float), (arm.n,)).copy()
        if not np.all(self.noise > 0) or not period > 0 or not (memory is None or memory > 0):
            raise ConfigurationError('noise, period and memory of an online estimator must be '
                                     'positive')
        self.keep = 1.0 if memory is None else float(np.exp(-period / memory))
        self.rest_speed = rest_speed
        self._rows = Linearisation(self.base, bool(structure.friction.nonlinear))
        self.filter = start_filter(self._rows, width, 'none' if memory is None else forgetting)
        self._transmission = arm.transmission
        self._acts = self._transmission != 0
        self._taps = np.ones(1)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.base.labels

    @property
    def parameters(self) -> Array:
        """Base parameters now, (r,)."""
        return read_only(self.filter.values[:self.base.rank])

    @property
    def deviations(self) -> Array:
        """Standard deviations of the base parameters, then of the logarithms of shapes."""
        return read_only(self.filter.deviations)

    def update(self, q: Array, v: Array, a: Array, tau: Array) -> OnlineUpdate:
        """
        Update the estimate with one sample.

        Parameters
        ----------
        q, v, a
            State, (n,) [rad or m, per s, per s^2].
        tau
            Joint torques, (n,) [N m or N].

        """
        q, v, a = (np.asarray(x, dtype=float).reshape(1, -1) for x in (q, v, a))
        structure = self.base.structure
        columns = np.zeros((self.arm.n, structure.count))
        columns[:, structure.inertial_slice] = joint_torque_regressor(
            self.arm, q, v, a, backend=structure.backend)[0]
        columns[:, structure.balancer_slice] = structure.balancer_columns(q)[0]
        if self._rows.elements:    # friction columns follow with the present shape
            columns[:, structure.rotor_slice] = (self._transmission @ a[0]) * self._transmission.T
        else:
            columns[:, structure.rotor_slice.start:] = structure.drive_columns(q, v, a)[0]
        columns = columns[:, self.base.columns]
        speeds = v @ self._transmission.T
        jacobian, predicted, curvature = self._rows.rows(columns, speeds, None, self._taps,
                                                         self.filter)
        innovation = np.asarray(tau, dtype=float) - structure.known_torque(q)[0] - predicted
        used = moving_joints(self._acts, speeds[0], self.rest_speed)
        if used.any():
            noise = self._rows.inflated_noise(self.filter, jacobian[used], self.noise[used],
                                              curvature[used])
            self.filter.update(jacobian[used], innovation[used], noise, self.keep)
            self._rows.clip_shapes(self.filter)
        return OnlineUpdate(self.filter.values[:self.base.rank],
                            self._rows.shape(self.filter.values), innovation, used)


def start_filter(rows: Linearisation, width: float, forgetting: str) -> InformationFilter:
    """
    Return a filter with the prior of the URDF.

    Parameters
    ----------
    rows
        The linearisation, which has the unknowns.
    width
        Initial deviations in units of the prior's; shapes start in the middle of their bounds with
        a quarter of the bounds' logarithmic width.
    forgetting
        As for `InformationFilter`.

    """
    base, structure = rows.base, rows.structure
    prior = Prior.from_urdf(structure)
    mean = base.project(prior.mean)
    deviation = width * np.linalg.norm(base.matrix @ prior.transform, axis=1)
    if rows.elements:
        bounds = np.log(structure.shape_bounds.reshape(-1, 2))
        mean = np.append(mean, bounds.mean(axis=1))
        deviation = np.append(deviation, np.diff(bounds, axis=1)[:, 0] / 4)
    return InformationFilter(mean, deviation, forgetting)


def moving_joints(acts: NDArray[np.bool_], speeds: Array, rest_speed: float) -> NDArray[np.bool_]:
    """
    Return whether each joint has only moving elements, (n,) bool.

    Parameters
    ----------
    acts
        Whether element e acts on joint j, (m, n) bool.
    speeds
        Speeds of the elements, (m,) [rad/s or m/s].
    rest_speed
        Speed below which an element is at rest.

    """
    moving: NDArray[np.bool_] = ~np.any(acts & (np.abs(speeds) < rest_speed)[:, None], axis=0)
    return moving
