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
"""The identified model: predicts torques, and is saved to and loaded from a YAML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from functools import cached_property
import hashlib
import json
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from robot_identification import files
from robot_identification.arm import Arm, robot_file
from robot_identification.arrays import Array, read_only, ReadOnlyArrays
from robot_identification.dynamics.friction import get_friction
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.dynamics.structure import ModelStructure
from robot_identification.errors import ListedAttributes, ModelFileError
import yaml

if TYPE_CHECKING:
    from robot_identification.dynamics.joint_residual import JointResidual

SCHEMA = 'robot_identification/model/2'
HEADER = """\
# Identified dynamic model: robot_identification.load_model reads it and predicts torques.
# inertial: m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each link and what is fixed to it,
#   about the origin of its joint's frame [kg, kg m, kg m^2]
# rotor_inertia: reflected to the joint [kg m^2, or kg for a prismatic joint]
# friction: at the joint [N m, N m s/rad; N, N s/m]
# delay: by how much measured positions lag the torques [s]; delay_of: torques (that of a joint
#   against all positions) or positions (that of a joint against all torques)
# residual: torque of a Gaussian process added to the physics, for each joint that has one, see
#   robot_identification.dynamics.joint_residual
# balancers: stiffness of springs [N m/rad, N/m], scale of gas springs [-]
# digest: of the content; a file that was edited by hand is not loaded unless this line is deleted
"""
_BLOCK = 4096
"""Number of samples whose friction is computed at once: their columns fit into the cache."""
DIGEST = 'digest'
UNCERTAINTY = 'uncertain_directions'
"""Key of the parameter covariance in `IdentifiedModel.information`."""
TORQUE_BAND = 'torque_band'
"""Key in `IdentifiedModel.information`."""
COVERAGE = 0.95
"""Fraction of torques that the interval is meant to contain."""
BEYOND = 0.5
"""Standard deviation of the change of friction at speeds above those of training, relative to the
change that the model predicts."""
DELAYED = ('torques', 'positions')
"""Signal that the delay of a joint shifts: its torque relative to the positions of all joints, or
its position relative to the torques of all joints."""


@dataclasses.dataclass(frozen=True, eq=False)
class TorqueBand(ReadOnlyArrays):
    """
    Half-width of the 95 % prediction interval of each joint's torque.

    For low-passed torques it is factor * sqrt((left * rest)^2 + uncertain^2 + beyond^2), where
    `left` is the fraction that a residual part leaves, `uncertain` the standard deviation of the
    torque from the covariance of the parameters, which grows with the distance from the training
    motion, and `beyond` that of friction above training speeds. For others, noise is added.

    Parameters
    ----------
    rest
        Root mean square of the low-passed residuals of the training motion, (n,) [N m or N].
    factor
        95 % quantile of errors on left-out blocks and held-out motion over their expected size,
        (n,).
    noise
        95 % quantile of the measured torque's noise above the low-pass, (n,) [N m or N].
    speed
        Largest speed of the training motion, (n,) [rad/s or m/s].

    """

    rest: Array
    factor: Array
    noise: Array
    speed: Array

    def to_dict(self, joint_names: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the numbers by name and joint, for a model file."""
        return {name: dict(zip(joint_names, values.tolist()))
                for name, values in vars(self).items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Mapping[str, float]],
                  joint_names: Sequence[str]) -> TorqueBand:
        """Return the band that `to_dict` stored."""
        return cls(**{name: np.array([values[joint] for joint in joint_names], dtype=float)
                      for name, values in content.items()})


@dataclasses.dataclass(frozen=True, eq=False)
class IdentifiedModel(ListedAttributes):
    """
    Dynamic model that predicts the joint torques of an arm.

    Parameters
    ----------
    arm
        Kinematics, gravity and coupling of the drives.
    inertial
        Inertial parameters of each link about its joint frame, (n, 10), in Pinocchio's order.
    rotor_inertia
        Rotor inertia of each joint and coupled drive, at its output, (m,) [kg m^2 or kg].
    friction
        Name of the friction model.
    friction_parameters
        Linear friction parameters of each joint and drive, (m, k), in the order of the model.
    information
        Provenance of the model, as plain numbers and strings.
    friction_shape
        Nonlinear friction parameters of each joint and drive, (m, s); None for a friction model
        without any.
    delay
        Delay of each joint's measured position relative to its torque, (n,) [s]; zeros if None.
        `torque` ignores delays, `validate` compensates them.
    delay_of
        'torques' shifts the torque of a joint relative to the positions of all joints,
        'positions' the position of a joint relative to the torques of all joints.
    balancers
        Strengths of the arm's balancers, (b,); the arm's nominal ones if None.
    source
        Path of the file from which the model was read, or empty.
    digest_verified
        Whether the file has a digest that matches its content.
    residual
        Torque that is added to the physical model, by the name of each joint that has one.

    Examples
    --------
    >>> model = identify(load_arm('panda'), ['motion.csv']).model    # doctest: +SKIP
    >>> tau = model.torque(q, v, a)    # (N, 7) [N m]    # doctest: +SKIP
    >>> model.save('model.yaml')    # doctest: +SKIP

    """

    arm: Arm
    inertial: Array
    rotor_inertia: Array
    friction: str
    friction_parameters: Array
    information: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    friction_shape: Array = None  # type: ignore[assignment]
    delay: Array = None  # type: ignore[assignment]
    balancers: Array = None  # type: ignore[assignment]
    delay_of: str = DELAYED[0]
    source: str = ''
    digest_verified: bool = False
    residual: Mapping[str, JointResidual] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        n, m, friction = self.arm.n, len(self.arm.transmission), get_friction(self.friction)
        shapes = {'inertial': (n, 10), 'rotor_inertia': (m,), 'delay': (n,),
                  'friction_parameters': (m, len(friction.parameters)),
                  'friction_shape': (m, len(friction.nonlinear)),
                  'balancers': (len(self.arm.balancers),)}
        defaults: dict[str, Any] = {
            'friction_shape': np.zeros((m, 0)), 'delay': np.zeros(n),
            'balancers': [b.expected for b in self.arm.balancers]}
        for name, shape in shapes.items():
            value = getattr(self, name)
            values = read_only(defaults[name] if value is None else value)
            object.__setattr__(self, name, values)
            if values.shape != shape:
                raise ModelFileError(f'{name} must have the shape {shape} for the arm '
                                     f"'{self.arm.name}', not {values.shape}")
        if self.delay_of not in DELAYED:
            raise ModelFileError(f"delays shift {' or '.join(DELAYED)}, not "
                                 f"'{self.delay_of}'")
        if not np.all(self.friction_shape > 0):
            raise ModelFileError('every shape parameter of the friction must be positive')
        if np.any(self.friction_parameters[~friction.active(self.arm.actuator_names)]):
            raise ModelFileError('a joint has a parameter of a friction term that it does not '
                                 f"have in the model '{self.friction}'")

    def __repr__(self) -> str:
        return (f'<IdentifiedModel of {self.arm.name}: {self.arm.n} joints, friction '
                f"'{self.friction}'>")

    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
               states: Array | None = None) -> Array:
        """
        Return the predicted joint torques, (N, n) [N m or N]; (n,) for one configuration.

        Parameters
        ----------
        q, v, a
            Positions, velocities, accelerations, (N, n) or (n,) [rad or m, per s, per s^2].
        states
            States of friction with memory, (N, m, terms). If None, each row is evaluated on its
            own, as after long sliding in the direction of v. For a path in chronological order
            give `states(q)`.

        Raises
        ------
        ConfigurationError
            The shapes do not match the arm.

        """
        q, v, a = (np.asarray(x, dtype=float) for x in (q, v, a))
        if q.ndim == v.ndim == a.ndim == 1:
            return self.torque(q[None], v[None], a[None], states)[0]
        torque = self.transmitted_torque(q, v, a)
        for first in range(0, len(q), _BLOCK):
            rows = slice(first, first + _BLOCK)
            torque[rows] += self.drive_torque(v[rows], a[rows], torque[rows], q[rows],
                                              None if states is None else states[rows])
            torque[rows] += self.residual_torque(q[rows], v[rows])
        return torque

    def residual_torque(self, q: Array, v: Array) -> Array:
        """
        Return the part of the torque that the residual adds to the physics, (N, n) [N m or N].

        Parameters
        ----------
        q, v
            Positions and velocities, (N, n) [rad or m, per s].

        """
        torque = np.zeros_like(q)
        for joint, residual in self.residual.items():
            j = self.arm.joint_names.index(joint)
            torque[:, j] = residual.torque(q[:, j], v[:, j])
        return torque

    def torque_interval(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, states: Array | None = None, *,
        low_pass: bool = False,
    ) -> tuple[Array, Array]:
        """
        Return lower and upper ends of the 95 % prediction intervals of torques, (N, n) [N m or N].

        The interval follows from errors on left-out blocks of the training motion and on held-out
        motion, and grows with the uncertainty of the parameters at a state and with speeds beyond
        those of training, see `TorqueBand`. Near the points of a residual part it shrinks as the
        left-out error did with this part. For one configuration (n,) both ends are (n,).

        Parameters
        ----------
        q, v, a, states
            As for `torque`.
        low_pass
            Whether the interval is for torques without measurement noise (low-passed at some
            7 to 10 Hz); by default it is for single measured torques.

        Raises
        ------
        ModelFileError
            The model has no band: its file is of an earlier version, or the recordings were short.

        Examples
        --------
        >>> lower, upper = model.torque_interval(q, v, a)    # doctest: +SKIP

        """
        torque = self.torque(q, v, a, states)
        q, v, a = (np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, v, a))
        half = self.torque_half_width(q, v, a, states, low_pass).reshape(torque.shape)
        return torque - half, torque + half

    def torque_half_width(self, q: Array, v: Array, a: Array, states: Array | None = None,
                          low_pass: bool = False) -> Array:
        """Return half the width of the intervals of `torque_interval`, (N, n) [N m or N]."""
        if (band := self.band) is None:
            raise ModelFileError('the model has no torque interval: an earlier version identified '
                                 'it, or the recordings were too short; identify it again')
        load = self.transmitted_torque(q, v, a)
        states = self.structure.sliding_state(v) if states is None else states
        uncertain = np.zeros_like(q)
        if (directions := self.uncertain_directions) is not None:
            for first in range(0, len(q), _BLOCK):
                rows = slice(first, first + _BLOCK)
                columns = self.structure.columns(q[rows], v[rows], a[rows], load[rows],
                                                 None if states is None else states[rows])
                uncertain[rows] = np.linalg.norm(columns @ directions.T, axis=2)
        left = np.ones_like(q)
        for joint, part in self.residual.items():
            j = self.arm.joint_names.index(joint)
            left[:, j] = part.error_left(q[:, j], v[:, j], joint, self.information)
        beyond = self.friction_beyond(q, v, load, states)
        slow = band.factor * np.sqrt((left * band.rest) ** 2 + uncertain ** 2 + beyond ** 2)
        return slow if low_pass else np.hypot(slow, band.noise)

    def friction_beyond(self, q: Array, v: Array, load: Array | None = None,
                        states: Array | None = None) -> Array:
        """
        Return the standard deviation of friction at speeds above those of training, (N, n).

        It is `BEYOND` times the change of the model's friction between the highest speed of
        training and a speed above it; zero for a model that does not know its training speeds.
        Parameters as for `drive_torque`.
        """
        if (band := self.band) is None:
            return np.zeros_like(v)
        reach = np.abs(self.arm.transmission) @ band.speed
        motion = self.structure.friction_input(q, v, load, states)
        change = (self.structure.actuator_friction(motion) - self.structure.actuator_friction(
            dataclasses.replace(motion, v=np.clip(motion.v, -reach, reach))))
        beyond = np.einsum('nek,ek->ne', change, self.friction_parameters)
        return np.asarray(BEYOND * np.abs(beyond @ self.arm.transmission))

    @cached_property
    def band(self) -> TorqueBand | None:
        """The stored widths of prediction intervals, or None."""
        stored = self.information.get(TORQUE_BAND)
        return None if stored is None else TorqueBand.from_dict(stored, self.arm.joint_names)

    @cached_property
    def uncertain_directions(self) -> Array | None:
        """The stored factor D (r, p) of the covariance D'D of the standard parameters, or None."""
        stored = self.information.get(UNCERTAINTY)
        return None if stored is None else np.array(stored, dtype=float).reshape(
            -1, self.structure.count)

    def transmitted_torque(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torques at the gear outputs (links and balancers), (N, n) [N m or N]."""
        return inverse_dynamics(self.arm, q, v, a, self.inertial) + self.balancer_torque(q)

    def balancer_torque(self, q: Array) -> Array:
        """Return the contribution of the balancers to the joint torques, (N, n) [N m or N]."""
        return self.arm.balancer_torque(q, self.balancers)

    def drive_torque(self, v: Array, a: Array, load: Array | None = None,
                     q: Array | None = None, states: Array | None = None) -> Array:
        """
        Return the joint torques due to rotor inertia and friction, (N, n) [N m or N].

        Parameters
        ----------
        v, a
            Velocities and accelerations, (N, n) [rad or m, per s, per s^2].
        load
            Torques that the joints transmit, (N, n) [N m or N]; for load-dependent friction.
        q, states
            As for `torque`; for friction that depends on positions or has memory.

        """
        transmission = self.arm.transmission
        torques = ((a @ transmission.T) * self.rotor_inertia
                   + self.friction_torque(v, load, q, states))
        return torques @ transmission

    def friction_torque(self, v: Array, load: Array | None = None, q: Array | None = None,
                        states: Array | None = None) -> Array:
        """Return the friction torque of each joint and drive, (N, m); see `drive_torque`."""
        states = self.structure.sliding_state(v) if states is None else states
        return np.sum(self.structure.friction_columns(q, v, load, states)
                      * self.friction_parameters, axis=2)

    def states(self, q: ArrayLike, start: Array | None = None) -> Array | None:
        """
        Return the states of friction with memory, (N, m, terms); None for friction without memory.

        Parameters
        ----------
        q
            Positions in chronological order, (N, n) [rad or m].
        start
            States at the first position, (m, terms); zeros if None.

        """
        return self.structure.states(np.asarray(q, dtype=float), start)

    @cached_property
    def structure(self) -> ModelStructure:
        """The model structure: standard parameters and their regressor columns."""
        return ModelStructure(self.arm, get_friction(self.friction), shape=self.friction_shape)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """
        Return the mass matrices including rotor inertia, (N, n, n) [kg m^2, kg m or kg].

        Parameters
        ----------
        q
            Positions, (N, n) [rad or m].

        """
        q = np.asarray(q, dtype=float)
        zero = np.zeros_like(q)
        rest = inverse_dynamics(self.arm, q, zero, zero, self.inertial)
        out = np.empty((len(q), self.arm.n, self.arm.n))
        for j, unit in enumerate(np.eye(self.arm.n)):
            out[:, :, j] = inverse_dynamics(self.arm, q, zero, zero + unit, self.inertial) - rest
        transmission = self.arm.transmission
        return out + transmission.T @ (self.rotor_inertia[:, None] * transmission)

    def save(self, path: str | Path) -> None:
        """
        Write the model to a self-contained YAML file.

        Parameters
        ----------
        path
            The file; it is written atomically.

        """
        terms, actuators = get_friction(self.friction), self.arm.actuator_names
        friction = {'model': self.friction, 'names': list(terms.parameters),
                    'parameters': dict(zip(actuators, self.friction_parameters.tolist()))}
        if terms.nonlinear:
            friction |= {'shape_names': list(terms.nonlinear),
                         'shape': dict(zip(actuators, self.friction_shape.tolist()))}
        content = {
            'inertial': dict(zip(self.arm.joint_names, self.inertial.tolist())),
            'rotor_inertia': dict(zip(actuators, self.rotor_inertia.tolist())),
            'friction': friction,
            'delay': dict(zip(self.arm.joint_names, self.delay.tolist())),
            'delay_of': self.delay_of,
            'balancers': {b.label: float(x) for b, x in zip(self.arm.balancers, self.balancers)},
            **({'residual': {joint: part.to_dict() for joint, part in self.residual.items()}}
               if self.residual else {}),
            'information': dict(self.information),
            'arm': robot_file.arm_to_mapping(self.arm)}
        content = {'schema': SCHEMA, DIGEST: digest(content), **content}
        text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=100,
                         default_flow_style=None, allow_unicode=True)
        files.write_text(path, HEADER + text)


def digest(content: Mapping[str, Any]) -> str:
    """
    Return the SHA-256 digest of a model's content, regardless of the layout of its file.

    Parameters
    ----------
    content
        Content of the file; schema and digest are ignored.

    """
    rest = {key: value for key, value in content.items() if key not in (DIGEST, 'schema')}
    text = json.dumps(rest, sort_keys=True, default=str)
    return 'sha256:' + hashlib.sha256(text.encode('utf-8')).hexdigest()


class _Dumper(getattr(yaml, 'CSafeDumper', yaml.SafeDumper)):    # type: ignore[misc]
    """YAML dumper that writes multi-line strings, such as the URDF, as readable blocks."""


_Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar(
    'tag:yaml.org,2002:str', text, style='|' if '\n' in text else None))
