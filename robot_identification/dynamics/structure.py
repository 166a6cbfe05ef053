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
"""Model structure: the standard parameters of an arm and their regressor columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics.friction import FrictionInput, FrictionModel, get_friction
from robot_identification.dynamics.inertial import INERTIAL_NAMES, INERTIAL_UNITS
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.dynamics.regressor import inverse_dynamics, joint_torque_regressor
from robot_identification.errors import ConfigurationError


@dataclass(frozen=True, eq=False)
class ModelStructure:
    """
    Standard parameters of an arm and its friction model, and their regressor columns.

    The torques are linear in the standard parameters:

        tau - known_torque = [W_inertial, W_balancer, W_rotor, W_friction] standard.

    The standard parameters are, in this order, 10 inertial parameters for each of the n links, the
    strength of each of the b balancers that is estimated, one rotor inertia for each of the m
    joints and coupled drives (rows of `arm.transmission`), and k friction parameters for each of
    these. `known_torque` is the torque of balancers whose strength is known.

    Parameters
    ----------
    arm
        The arm.
    friction
        Friction model of every joint and drive.
    backend
        Regressor backend, see `joint_torque_regressor`.
    shape
        Nonlinear friction parameters of each joint and drive, (m, s); the geometric mean of their
        bounds if None. They change the columns, not the list of standard parameters.

    Raises
    ------
    ConfigurationError
        The shape is not an array (m, s) of positive numbers.

    Examples
    --------
    >>> structure = ModelStructure.of(load_arm('panda'), 'coulomb_viscous')
    >>> columns = structure.columns(q, v, a)    # (N, n, count)    # doctest: +SKIP

    """

    arm: Arm
    friction: FrictionModel
    backend: str | None = None
    shape: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.friction.active_terms(self.arm.actuator_names)
        nominal = np.exp(np.mean(np.log(self.shape_bounds), axis=-1))
        shape = read_only(nominal if self.shape is None else self.shape)
        if shape.shape != self.shape_bounds.shape[:2] or not np.all(shape > 0):
            raise ConfigurationError(
                f"the shape parameters of the friction '{self.friction.key}' must be positive and "
                f'have shape {self.shape_bounds.shape[:2]}; got {shape.shape}')
        object.__setattr__(self, 'shape', shape)

    @classmethod
    def of(cls, arm: Arm, friction: str = 'coulomb_viscous',
           backend: str | None = None) -> ModelStructure:
        """Return the structure of an arm with a friction model by name, see `get_friction`."""
        return cls(arm, get_friction(friction), backend)

    def with_friction_shape(self, shape: Array) -> ModelStructure:
        """Return the structure with other nonlinear friction parameters, (m, s)."""
        return replace(self, shape=shape)

    @property
    def shape_bounds(self) -> Array:
        """
        Lower and upper bound of each nonlinear friction parameter, (m, s, 2).

        The bounds of prismatic actuators follow from those of revolute ones with 0.1 m for 1 rad.
        """
        bounds = np.array(self.friction.shape_bounds, dtype=float).reshape(-1, 2)
        powers = np.array(self.friction.shape_powers, dtype=float)
        scale = np.where(self.slides, 0.1, 1.0)
        return read_only(bounds[None] * (scale[:, None] ** powers[None])[..., None])

    @property
    def shape_names(self) -> tuple[str, ...]:
        """Names of the nonlinear friction parameters, 'actuator.parameter'."""
        return tuple(f'{actuator}.{name}' for actuator in self.arm.actuator_names
                     for name in self.friction.nonlinear)

    @cached_property
    def slides(self) -> NDArray[np.bool_]:
        """Whether each joint or drive is prismatic, (m,) bool."""
        return np.asarray(np.any((self.arm.transmission != 0) & self.arm.prismatic, axis=1))

    @property
    def inertial_slice(self) -> slice:
        """Indices of the inertial parameters among the standard parameters."""
        return slice(0, 10 * self.arm.n)

    @property
    def balancer_slice(self) -> slice:
        """Indices of the strengths of the balancers that are estimated."""
        return slice(10 * self.arm.n, 10 * self.arm.n + len(self.unknown_balancers))

    @cached_property
    def unknown_balancers(self) -> list[int]:
        """Indices of the balancers whose strength is estimated."""
        return [k for k, b in enumerate(self.arm.balancers) if b.strength is None]

    @property
    def rotor_slice(self) -> slice:
        """Indices of the rotor inertias."""
        first = self.balancer_slice.stop
        return slice(first, first + len(self.arm.transmission))

    @property
    def friction_slice(self) -> slice:
        """Indices of the friction parameters, ordered by actuator."""
        return slice(self.rotor_slice.stop, self.count)

    @property
    def count(self) -> int:
        """Number of standard parameters."""
        return self.rotor_slice.stop + len(self.arm.transmission) * len(self.friction.parameters)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the standard parameters, 'joint.parameter'."""
        actuators = self.arm.actuator_names
        return (*(f'{joint}.{name}' for joint in self.arm.joint_names for name in INERTIAL_NAMES),
                *(self.arm.balancers[k].label for k in self.unknown_balancers),
                *(f'{actuator}.rotor_inertia' for actuator in actuators),
                *(f'{actuator}.{name}' for actuator in actuators
                  for name in self.friction.parameters))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the standard parameters."""
        slides = self.slides
        balancers = [self.arm.balancers[k] for k in self.unknown_balancers]
        prismatic = dict(zip(self.arm.joint_names, self.arm.prismatic))
        return (*(INERTIAL_UNITS * self.arm.n),
                *(b.sliding_unit if prismatic[b.joint] else b.unit for b in balancers),
                *('kg' if linear else 'kg m^2' for linear in slides),
                *(unit.replace('N m', 'N').replace('rad', 'm') if linear else unit
                  for linear in slides for unit in self.friction.units))

    @property
    def support(self) -> Array:
        """Mask (n, count) whose entry [j, c] says whether parameter c can act on joint j."""
        carries = np.repeat(Kinematics.of(self.arm).subtree_mask(), 10, axis=1)
        return read_only(np.hstack([carries, self.spread != 0]), dtype=bool)

    def columns(self, q: Array, v: Array, a: Array, load: Array | None = None,
                states: Array | None = None) -> Array:
        """
        Return the regressor columns of all standard parameters, (N, n, count).

        Parameters
        ----------
        q, v, a
            Positions, velocities, accelerations, (N, n) [rad or m, per s, per s^2].
        load
            Torques that the joints transmit, (N, n) [N m or N]; for load-dependent friction.
        states
            States of friction with memory, (N, m, terms), from `states`; computed from q in
            chronological order if None.

        """
        out = np.empty((len(q), self.arm.n, self.count))
        out[:, :, self.inertial_slice] = joint_torque_regressor(self.arm, q, v, a,
                                                                backend=self.backend)
        out[:, :, self.balancer_slice.start:] = (
            self.actuator_columns(q, v, a, load, states)[:, None] * self.spread)
        return out

    def known_torque(self, q: Array) -> Array:
        """Return the torque of balancers whose strength is known, (N, n) [N m or N]."""
        return self.arm.balancer_torque(q, self.strengths(np.zeros(self.count)))

    def strengths(self, standard: Array) -> Array:
        """Return the strengths of all balancers, known or from standard parameters, (b,)."""
        strengths = np.array([b.strength or 0.0 for b in self.arm.balancers])
        strengths[self.unknown_balancers] = standard[self.balancer_slice]
        return strengths

    def actuator_columns(self, q: Array, v: Array, a: Array, load: Array | None = None,
                         states: Array | None = None) -> Array:
        """
        Return the columns of all parameters that are not inertial, (N, b + m + m k).

        They are the torques per unit of each balancer strength, rotor inertia and friction
        parameter, at the joint or drive on which it acts.
        """
        friction = self.friction_columns(q, v, load, states)           # (N, m, k)
        balancers = self.arm.balancer_columns(q)[:, self.unknown_balancers]
        return np.concatenate([balancers, a @ self.arm.transmission.T,
                               friction.reshape(len(v), -1)], axis=1)

    @cached_property
    def spread(self) -> Array:
        """Factors from `actuator_columns` to the torque of each joint, (n, b + m + m k)."""
        acts = self.arm.transmission.T
        return read_only(np.hstack([self.arm.balanced_joints[self.unknown_balancers].T, acts,
                                    np.repeat(acts, len(self.friction.parameters), axis=1)]))

    def torque(self, q: Array, v: Array, a: Array, standard: Array,
               load: Array | None = None, states: Array | None = None) -> Array:
        """
        Return the joint torques for standard parameters, (N, n) [N m or N].

        Parameters
        ----------
        q, v, a, load, states
            As for `columns`.
        standard
            Standard parameters, (count,).

        """
        rigid = inverse_dynamics(self.arm, q, v, a, standard[self.inertial_slice].reshape(-1, 10))
        others = standard[self.balancer_slice.start:]
        return rigid + self.known_torque(q) + (self.actuator_columns(q, v, a, load, states)
                                               @ (others[:, None] * self.spread.T))

    def friction_columns(self, q: Array | None, v: Array, load: Array | None = None,
                         states: Array | None = None) -> Array:
        """Return the friction columns of each joint and drive, (N, m, k); see `columns`."""
        return self.actuator_friction(self.friction_input(q, v, load, states))

    def friction_input(self, q: Array | None, v: Array, load: Array | None = None,
                       states: Array | None = None) -> FrictionInput:
        """
        Return the input of friction of all joints and drives, (N, m); see `columns`.

        A drive coupled to several joints transmits the torque of its own joint.
        """
        transmission = self.arm.transmission.T
        return FrictionInput(
            v @ transmission, None if q is None else q @ transmission,
            None if load is None else load[:, self.arm.drives.owners], states)

    def actuator_friction(self, motion: FrictionInput) -> Array:
        """Return the friction columns (N, m, k) from those of `friction_input`, (N, m)."""
        if self.friction.velocity_only and not self.friction.nonlinear:
            # the columns have the same formula for all actuators: one call computes them
            columns = self.friction.columns(motion)
            return columns if self.active.all() else columns * self.active
        columns = np.stack([self.friction.columns(motion.actuator(e), shape)
                            for e, shape in enumerate(self.shape)], axis=1)
        columns *= self.active
        return columns

    def states(self, q: Array, start: Array | None = None) -> Array | None:
        """
        Return the states of friction with memory, (N, m, terms); None for friction without memory.

        Across a gap in the data the states follow the net displacement. The error that this causes
        vanishes once the joint has moved by twice the presliding distance.

        Parameters
        ----------
        q
            Positions in chronological order, (N, n) [rad or m].
        start
            States at the first position, (m, terms); zeros if None.

        """
        if not self.friction.has_state:
            return None
        position = q @ self.arm.transmission.T
        return np.stack([self.friction.state(position[:, e], shape, None if start is None
                                             else start[e])
                         for e, shape in enumerate(self.shape)], axis=1)

    def sliding_state(self, v: Array) -> Array | None:
        """
        Return the states of sliding friction, (N, m, terms); None for friction without memory.

        They replace the states where only the present velocity is known, and are exact once the
        joint has moved by twice the presliding distance in one direction.

        Parameters
        ----------
        v
            Velocities, (N, n) [rad/s or m/s].

        """
        if not self.friction.has_state:
            return None
        return self.friction.sliding_state(v @ self.arm.transmission.T)

    @cached_property
    def active(self) -> NDArray[np.bool_]:
        """Whether each linear friction parameter acts on each joint and drive, (m, k) bool."""
        return self.friction.active(self.arm.actuator_names)

    @property
    def active_shape(self) -> NDArray[np.bool_]:
        """Whether each nonlinear parameter acts on each joint and drive, (m, s) bool."""
        return self.friction.active_shape(self.arm.actuator_names)
