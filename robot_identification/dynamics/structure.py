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
"""Model structure: which parameters the torque of an arm is linear in, and their columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics.friction import FrictionModel, get_friction
from robot_identification.dynamics.inertial import INERTIAL_NAMES, INERTIAL_UNITS
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.dynamics.regressor import inverse_dynamics, joint_torque_regressor
from robot_identification.errors import ConfigurationError


@dataclass(frozen=True, eq=False)
class ModelStructure:
    """
    The standard parameters of an arm and the columns that belong to them.

    tau - known = [W_inertial, W_balancer, W_rotor, W_friction] [pi; strengths; rotor inertias;
    friction], with 10 parameters for each of the n links, the strength of each of the b balancers
    to be estimated, then one rotor inertia and k friction parameters for each of the m rows of
    `arm.transmission` (joints, then coupled drives). `known_torque` is that of balancers whose
    strength is known.

    Parameters
    ----------
    arm
        The arm.
    friction
        Friction model of every joint and drive.
    backend
        Regressor backend, None for what is installed.
    shape
        Shape numbers of the friction of each joint and drive, (m, s); None for the middle of their
        bounds. The columns depend on them, the meaning of the standard parameters does not.

    Raises
    ------
    ConfigurationError
        A shape that is not (m, s) positive numbers.

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
                f"the shape of the friction '{self.friction.key}' must be positive numbers "
                f'{self.shape_bounds.shape[:2]}, not of shape {shape.shape}')
        object.__setattr__(self, 'shape', shape)

    @classmethod
    def of(cls, arm: Arm, friction: str = 'coulomb_viscous',
           backend: str | None = None) -> ModelStructure:
        """Return the structure with the friction model of that name."""
        return cls(arm, get_friction(friction), backend)

    def with_friction_shape(self, shape: Array) -> ModelStructure:
        """Return the structure with other shape numbers of the friction, (m, s)."""
        return replace(self, shape=shape)

    @property
    def shape_bounds(self) -> Array:
        """
        Lowest and highest shape number of each joint and drive, (m, s, 2).

        Sliding elements are as fast in decimetres as turning ones in radians.
        """
        bounds = np.array(self.friction.shape_bounds, dtype=float).reshape(-1, 2)
        powers = np.array(self.friction.shape_powers, dtype=float)
        scale = np.where(self.slides, 0.1, 1.0)
        return read_only(bounds[None] * (scale[:, None] ** powers[None])[..., None])

    @property
    def shape_names(self) -> tuple[str, ...]:
        """Names of the shape numbers, 'joint.number', of one element after the other."""
        return tuple(f'{element}.{name}' for element in self.arm.actuator_names
                     for name in self.friction.nonlinear)

    @cached_property
    def slides(self) -> NDArray[np.bool_]:
        """Which joints and drives slide, (m,) bool."""
        acts = self.arm.transmission != 0
        return np.asarray(read_only(np.any(acts & self.arm.prismatic, axis=1), dtype=bool),
                          dtype=bool)

    @property
    def inertial_slice(self) -> slice:
        """Place of the inertial parameters among the standard parameters."""
        return slice(0, 10 * self.arm.n)

    @property
    def balancer_slice(self) -> slice:
        """Place of the strengths of the balancers that are to be estimated."""
        return slice(10 * self.arm.n, 10 * self.arm.n + len(self.unknown_balancers))

    @property
    def unknown_balancers(self) -> list[int]:
        """Which of the arm's balancers are to be estimated."""
        return [k for k, b in enumerate(self.arm.balancers) if b.strength is None]

    @property
    def rotor_slice(self) -> slice:
        """Place of the rotor inertias."""
        first = self.balancer_slice.stop
        return slice(first, first + len(self.arm.transmission))

    @property
    def friction_slice(self) -> slice:
        """Place of the friction parameters, all of one element after the other."""
        return slice(self.rotor_slice.stop, self.count)

    @property
    def count(self) -> int:
        """Number of standard parameters."""
        return self.rotor_slice.stop + len(self.arm.transmission) * len(self.friction.parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the standard parameters, 'joint.parameter'."""
        elements = self.arm.actuator_names
        return (*(f'{joint}.{name}' for joint in self.arm.joint_names for name in INERTIAL_NAMES),
                *(self.arm.balancers[k].label for k in self.unknown_balancers),
                *(f'{element}.rotor_inertia' for element in elements),
                *(f'{element}.{name}' for element in elements
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
                *(_linear(unit) if linear else unit
                  for linear in slides for unit in self.friction.units))

    @property
    def support(self) -> Array:
        """Whether parameter c can act on joint j, (n, count) bool at [j, c]."""
        carries = np.repeat(Kinematics.of(self.arm).subtree_mask(), 10, axis=1)
        acts = (self.arm.transmission != 0).T
        k = len(self.friction.parameters)
        balanced = self.arm.balanced_joints[self.unknown_balancers].T != 0
        return read_only(np.hstack([carries, balanced, acts, np.repeat(acts, k, axis=1)]),
                         dtype=bool)

    def columns(self, q: Array, v: Array, a: Array, load: Array | None = None,
                states: Array | None = None) -> Array:
        """
        Return all columns, (N, n, count), for states of shape (N, n).

        Parameters
        ----------
        q, v, a
            Positions, velocities, accelerations [rad or m, per s, per s^2].
        load
            Torques that the joints transmit, (N, n) [N m or N]; for friction that needs it.
        states
            States of friction with memory, (N, m, terms), from `states`; those of q, taken in the
            order of time, when None.

        """
        out = np.empty((len(q), self.arm.n, self.count))
        out[:, :, self.inertial_slice] = joint_torque_regressor(self.arm, q, v, a,
                                                                backend=self.backend)
        out[:, :, self.balancer_slice] = self.balancer_columns(q)
        out[:, :, self.rotor_slice.start:] = self.drive_columns(q, v, a, load, states)
        return out

    def balancer_columns(self, q: Array) -> Array:
        """Return the columns of the balancers that are to be estimated, (N, n, b)."""
        unknown = self.unknown_balancers
        columns: Array = (self.arm.balancer_columns(q)[:, None, unknown]
                          * self.arm.balanced_joints[unknown].T)
        return columns

    def known_torque(self, q: Array) -> Array:
        """Return the torque of balancers whose strength is known, (N, n) [N m or N]."""
        return self.arm.balancer_torque(q, self.strengths(np.zeros(self.count)))

    def strengths(self, standard: Array) -> Array:
        """Return the strengths of all balancers, known ones too, (b,), of standard parameters."""
        strengths = np.array([b.strength or 0.0 for b in self.arm.balancers])
        strengths[self.unknown_balancers] = standard[self.balancer_slice]
        return strengths

    def drive_columns(self, q: Array, v: Array, a: Array, load: Array | None = None,
                      states: Array | None = None) -> Array:
        """Return the columns of rotor inertias and friction, (N, n, m + m k)."""
        columns: Array = self.element_columns(q, v, a, load, states)[:, None] * self.spread
        return columns

    def element_columns(self, q: Array, v: Array, a: Array, load: Array | None = None,
                        states: Array | None = None) -> Array:
        """Return rotor inertia's and friction's columns of the elements, (N, m + m k)."""
        friction = self.friction_columns(q, v, load, states)           # (N, m, k)
        return np.hstack([a @ self.arm.transmission.T, friction.reshape(len(v), -1)])

    @property
    def spread(self) -> Array:
        """Map from the actuators' columns to the joints, (n, m + m k)."""
        acts = self.arm.transmission.T
        return np.hstack([acts, np.repeat(acts, len(self.friction.parameters), axis=1)])

    def torque(self, q: Array, v: Array, a: Array, standard: Array,
               load: Array | None = None, states: Array | None = None) -> Array:
        """
        Return the joint torques of standard parameters, (N, n) [N m or N], without columns.

        Parameters
        ----------
        q, v, a, load, states
            As for `columns`.
        standard
            Any standard parameters, (count,).

        """
        rigid = inverse_dynamics(self.arm, q, v, a, standard[self.inertial_slice].reshape(-1, 10))
        if self.arm.balancers:
            rigid = (rigid + self.known_torque(q)
                     + self.balancer_columns(q) @ standard[self.balancer_slice])
        drive = standard[self.rotor_slice.start:]
        torque: Array = rigid + (self.element_columns(q, v, a, load, states)
                                 @ (drive[:, None] * self.spread.T))
        return torque

    def friction_columns(self, q: Array | None, v: Array, load: Array | None = None,
                         states: Array | None = None) -> Array:
        """Return the friction columns of each joint and drive at its own speed, (N, m, k)."""
        needed = self.friction.needs_position or (self.friction.has_state and states is None)
        place = q @ self.arm.transmission.T if needed and q is not None else None
        return self.element_friction(place, v @ self.arm.transmission.T, load, states)

    def element_friction(self, place: Array | None, speed: Array, load: Array | None = None,
                         states: Array | None = None) -> Array:
        """Return these columns at places and speeds of the elements, (N, m) each."""
        if self.friction.velocity_only and not self.friction.nonlinear:    # all elements at once
            columns = self.friction.columns(speed, None, None, place)
            return columns if np.all(self.active) else columns * self.active
        loads = element_loads(self.arm, load)
        columns = np.stack([
            self.friction.columns(speed[:, e], shape, loads[e],
                                  None if place is None else place[:, e],
                                  None if states is None else states[:, e])
            for e, shape in enumerate(self.shape)], axis=1)
        columns *= self.active
        return columns

    def states(self, q: Array, start: Array | None = None) -> Array | None:
        """
        Return the states of friction with memory, (N, m, terms); None for friction without.

        Over gaps they follow the net displacement; what that misses is forgotten after the travel
        that a term remembers.

        Parameters
        ----------
        q
            Positions in the order of time, (N, n) [rad or m].
        start
            States at the first of them, (m, terms); zeros when None.

        """
        if not self.friction.has_state:
            return None
        place = q @ self.arm.transmission.T
        return np.stack([self.friction.state(place[:, e], shape, None if start is None
                                             else start[e])
                         for e, shape in enumerate(self.shape)], axis=1)

    def sliding_state(self, v: Array) -> Array | None:
        """
        Return the states of friction that has slipped, (N, m, terms); None without memory.

        They stand for the true ones where only the present speed is known: they are reached after
        the travel that a term remembers.

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
        """Which friction parameters act on which joints and drives, (m, k) bool."""
        return np.asarray(read_only(self.friction.active(self.arm.actuator_names), dtype=bool),
                          dtype=bool)

    @property
    def active_shape(self) -> NDArray[np.bool_]:
        """Which shape numbers act on which joints and drives, (m, s) bool."""
        return self.friction.active_shape(self.arm.actuator_names)


def element_loads(arm: Arm, load: Array | None) -> list[Array | None]:
    """
    Return the torque that each joint and coupled drive transmits.

    Parameters
    ----------
    arm
        The arm with m joints and coupled drives; a drive that turns with several joints transmits
        the torque of its own joint.
    load
        Torques that the joints transmit, (N, n) [N m or N], or None.

    Returns
    -------
    list
        m arrays (N,), or m times None.

    """
    return [None if load is None else load[:, j] for j in arm.drives.owners]


def _linear(unit: str) -> str:
    return unit.replace('N m', 'N').replace('rad', 'm')
