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
"""The identified model: one feasible set of parameters, which alone predicts torques."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arm import Arm
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics.friction import get_friction
from robot_identification.dynamics.regressor import inverse_dynamics
from robot_identification.dynamics.structure import ModelStructure
from robot_identification.errors import ConfigurationError, ModelFileError
from robot_identification.files import write_text
from robot_identification.yaml_file import read_typed, read_yaml
import yaml

SCHEMA = 'robot_identification/model/2'
READABLE = (SCHEMA, 'robot_identification/model/1')
"""The first schema has no shape of the friction and no delay."""
HEADER = """\
# Identified dynamic model: robot_identification.load_model reads it and predicts torques.
# inertial: m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each link and what is fixed to it,
#   about the origin of its joint's frame [kg, kg m, kg m^2]
# rotor_inertia: seen at the joint [kg m^2, or kg where it slides]
# friction: at the joint [N m, N m s/rad; N, N s/m]
# delay: by how much measured positions lag the torques [s]; delay_of: torques (that of a joint
#   against all positions) or positions (that of a joint against all torques)
# balancers: stiffness of springs [N m/rad, N/m], scale of gas springs [-]
# digest: of the numbers below; a file that was changed by hand is not loaded while it is there
"""
_BLOCK = 4096
"""Samples whose friction is predicted at once."""
DIGEST = 'digest'
DELAYED = ('torques', 'positions')
"""What delays move: the torque of a joint against all positions, or its position against all
torques."""


@dataclass(frozen=True)
class _MotionTrace:
    """Positions of the training motion, [rad or m], at a rate [Hz]."""

    rate: float
    q: tuple[tuple[float, ...], ...]


CONTENT: dict[str, Any] = {
    'arm': Mapping[str, Any],
    'inertial': {str: tuple[float, ...]},
    'rotor_inertia': {str: float},
    'friction': {'model': str, 'parameters': {str: tuple[float, ...]},
                 'shape': Mapping[str, tuple[float, ...]] | None},
    'information': {'training_motion': tuple[_MotionTrace, ...] | None},
    'delay': Mapping[str, float] | None,
    'delay_of': str | None,
    'balancers': Mapping[str, float] | None}
"""Types of the content of a file."""


@dataclass(frozen=True, eq=False)
class IdentifiedModel:
    """
    Everything that predicts the joint torques of an arm.

    Parameters
    ----------
    arm
        Kinematics, gravity and drives' coupling.
    inertial
        Inertial parameters of each link, (n, 10), Pinocchio's order, about the joint frame.
    rotor_inertia
        Rotor inertia of each joint and coupled drive, at its output, (m,) [kg m^2 or kg].
    friction
        Name of the friction model.
    friction_parameters
        (m, k), in the order of the friction model.
    information
        Where the model comes from: plain numbers and texts.
    friction_shape
        Shape numbers of the friction of each joint and drive, (m, s); None for a friction model
        without.
    delay
        By how much each joint's measured positions lag its torque, (n,) [s]; zeros when None.
        `torque` predicts without delay, `validate` compares at the delayed instants.
    delay_of
        'torques': the torque of a joint against the positions of all joints; 'positions': the
        position of a joint against the torques of all joints.
    balancers
        Strengths of the arm's balancers, (b,); those that the arm knows when None.
    source
        Path of the file that it was read from; empty where it was not.
    digest_verified
        Whether that file had a digest, which fits.

    """

    arm: Arm
    inertial: Array
    rotor_inertia: Array
    friction: str
    friction_parameters: Array
    information: Mapping[str, Any] = field(default_factory=dict)
    friction_shape: Array = None  # type: ignore[assignment]
    delay: Array = None  # type: ignore[assignment]
    balancers: Array = None  # type: ignore[assignment]
    delay_of: str = DELAYED[0]
    source: str = ''
    digest_verified: bool = False

    def __post_init__(self) -> None:
        elements, friction = len(self.arm.transmission), get_friction(self.friction)
        shapes = {'inertial': (self.arm.n, 10), 'rotor_inertia': (elements,),
                  'friction_parameters': (elements, len(friction.parameters)),
                  'friction_shape': (elements, len(friction.nonlinear)), 'delay': (self.arm.n,),
                  'balancers': (len(self.arm.balancers),)}
        if self.friction_shape is None:
            object.__setattr__(self, 'friction_shape', np.zeros((elements, 0)))
        if self.delay is None:
            object.__setattr__(self, 'delay', np.zeros(self.arm.n))
        if self.balancers is None:
            expected = [b.expected for b in self.arm.balancers]
            object.__setattr__(self, 'balancers', np.array(expected))
        for name, shape in shapes.items():
            object.__setattr__(self, name, read_only(getattr(self, name)))
            if getattr(self, name).shape != shape:
                raise ModelFileError(f'{name} must have the shape {shape} for the arm '
                                     f"'{self.arm.name}', not {getattr(self, name).shape}")
        if self.delay_of not in DELAYED:
            raise ModelFileError(f"delays are of {' or of '.join(DELAYED)}, not of "
                                 f"'{self.delay_of}'")
        if not np.all(self.friction_shape > 0):
            raise ModelFileError('every shape number of the friction must be positive')
        if np.any(self.friction_parameters[~friction.active(self.arm.actuator_names)]):
            raise ModelFileError('a joint has a friction parameter of a term that the model '
                                 f"'{self.friction}' does not give it")

    def __repr__(self) -> str:
        return (f'<IdentifiedModel of {self.arm.name}: {self.arm.n} joints, friction '
                f"'{self.friction}'>")

    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
               states: Array | None = None) -> Array:
        """
        Predict the joint torques, (N, n) [N m or N].

        Parameters
        ----------
        q, v, a
            Positions, velocities, accelerations, (N, n) [rad or m, per s, per s^2].
        states
            States of friction with memory, from `states`. If None, the positions are taken in
            the order of time, from a state of zero: after a gap the friction is right again when
            a joint has travelled twice the distance that it remembers.

        Raises
        ------
        ConfigurationError
            Shapes that do not fit the arm.

        """
        q, v, a = (np.asarray(x, dtype=float) for x in (q, v, a))
        torque = self.transmitted_torque(q, v, a)
        states = self.states(q) if states is None else states
        for first in range(0, len(q), _BLOCK):    # columns of all rows at once would be large
            rows = slice(first, first + _BLOCK)
            torque[rows] += self.drive_torque(v[rows], a[rows], torque[rows], q[rows],
                                              None if states is None else states[rows])
        return torque

    def transmitted_torque(self, q: Array, v: Array, a: Array) -> Array:
        """Return what the gears transmit: links, less what balancers carry, (N, n) [N m or N]."""
        torque = inverse_dynamics(self.arm, q, v, a, self.inertial)
        if self.arm.balancers:
            torque += self.balancer_torque(q)
        return torque

    def balancer_torque(self, q: Array) -> Array:
        """Return what balancers add to the drives' torques, (N, n) [N m or N]."""
        return self.arm.balancer_torque(q, self.balancers)

    def drive_torque(self, v: Array, a: Array, load: Array | None = None,
                     q: Array | None = None, states: Array | None = None) -> Array:
        """
        Return what rotors and friction take of the joint torques, (N, n) [N m or N].

        Parameters
        ----------
        v, a
            Velocities and accelerations, (N, n).
        load
            Torques that the joints transmit, (N, n) [N m or N]; for friction that needs it.
        q, states
            As for `torque`, for friction that depends on positions or remembers.

        """
        transmission = self.arm.transmission
        torques = ((a @ transmission.T) * self.rotor_inertia
                   + self.friction_torque(v, load, q, states))
        joint_torques: Array = torques @ transmission
        return joint_torques

    def friction_torque(self, v: Array, load: Array | None = None, q: Array | None = None,
                        states: Array | None = None) -> Array:
        """Return the friction of each joint and drive, (N, m); arguments as `drive_torque`."""
        columns = self.structure.friction_columns(q, v, load, states)
        torque = np.zeros(columns.shape[:2])
        for k, values in enumerate(self.friction_parameters.T):    # einsum takes thrice the time
            torque += columns[..., k] * values
        return torque

    def states(self, q: ArrayLike, start: Array | None = None) -> Array | None:
        """
        Return what the friction remembers after each of these positions, (N, m, terms).

        None for friction without memory.

        Parameters
        ----------
        q
            Positions in the order of time, (N, n) [rad or m].
        start
            What it remembers at the first of them, (m, terms); zeros when None.

        """
        return self.structure.states(np.asarray(q, dtype=float), start)

    @cached_property
    def structure(self) -> ModelStructure:
        """Which standard parameters the model has, and their columns."""
        friction = get_friction(self.friction)
        return ModelStructure(self.arm, friction, shape=self.friction_shape)

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
        for j in range(self.arm.n):
            push = zero.copy()
            push[:, j] = 1.0
            out[:, :, j] = inverse_dynamics(self.arm, q, zero, push, self.inertial) - rest
        transmission = self.arm.transmission
        return out + transmission.T @ (self.rotor_inertia[:, None] * transmission)

    def save(self, path: str | Path) -> None:
        """
        Write the model to a YAML file that needs no other file.

        Parameters
        ----------
        path
            The file; it is written whole or not at all.

        """
        content = {
            'schema': SCHEMA,
            'inertial': dict(zip(self.arm.joint_names, _rows(self.inertial))),
            'rotor_inertia': dict(zip(self.arm.actuator_names, map(float, self.rotor_inertia))),
            'friction': self._friction(),
            'delay': dict(zip(self.arm.joint_names, map(float, self.delay))),
            'delay_of': self.delay_of,
            'balancers': {b.label: float(x) for b, x in zip(self.arm.balancers, self.balancers)},
            'information': dict(self.information),
            'arm': arm_to_mapping(self.arm)}
        content = {'schema': content.pop('schema'), DIGEST: digest(content), **content}
        text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=100,
                         default_flow_style=None, allow_unicode=True)
        write_text(path, HEADER + text)

    def _friction(self) -> dict[str, Any]:
        friction, elements = get_friction(self.friction), self.arm.actuator_names
        content = {'model': self.friction, 'names': list(friction.parameters),
                   'parameters': dict(zip(elements, _rows(self.friction_parameters)))}
        if friction.nonlinear:
            content['shape_names'] = list(friction.nonlinear)
            content['shape'] = dict(zip(elements, _rows(self.friction_shape)))
        return content


def load_model(path: str | Path) -> IdentifiedModel:
    """
    Read a model file.

    Parameters
    ----------
    path
        A file that `IdentifiedModel.save` wrote.

    Raises
    ------
    ModelFileError
        The file is missing, damaged, of another schema, or was changed after it was written.

    """
    path = Path(path)
    content = read_yaml(path, 'model file', ModelFileError)
    if not isinstance(content, dict) or content.get('schema') not in READABLE:
        found = content.get('schema') if isinstance(content, dict) else None
        raise ModelFileError(f"'{path}' is not a model file of the schema {SCHEMA} "
                             f'(it says: {found})')
    read_typed(CONTENT, content, f"the model file '{path}'", ModelFileError)
    try:
        digest_verified = _check_digest(content, path)
        arm = arm_from_mapping(content['arm'], folder=path.parent, label=f"the model '{path}'")
        later: dict[str, Any] = {}
        if 'shape' in content['friction']:
            later['friction_shape'] = _ordered(content['friction']['shape'], arm.actuator_names)
        if 'delay' in content:
            later['delay'] = _ordered(content['delay'], arm.joint_names)
        if 'delay_of' in content:
            later['delay_of'] = content['delay_of']
        if arm.balancers:
            later['balancers'] = _ordered(content['balancers'],
                                          tuple(b.label for b in arm.balancers))
        return IdentifiedModel(
            arm=arm,
            inertial=_ordered(content['inertial'], arm.joint_names),
            rotor_inertia=_ordered(content['rotor_inertia'], arm.actuator_names),
            friction=content['friction']['model'],
            friction_parameters=_parameters(content['friction'], arm.actuator_names),
            information=content['information'],
            source=str(path), digest_verified=digest_verified, **later)
    except (KeyError, TypeError, ValueError, ConfigurationError) as error:
        raise ModelFileError(f"the model file '{path}' is damaged: {error}") from error


def digest(content: Mapping[str, Any]) -> str:
    """
    Return the fingerprint of a model's content, whatever the layout of its file.

    Parameters
    ----------
    content
        Content of the file; schema and digest do not count.

    """
    rest = {key: value for key, value in content.items() if key not in (DIGEST, 'schema')}
    text = json.dumps(rest, sort_keys=True, default=str)
    return 'sha256:' + hashlib.sha256(text.encode('utf-8')).hexdigest()


def _check_digest(content: dict[str, Any], path: Path) -> bool:
    """Return whether there is a digest, which fits."""
    if content.get(DIGEST) is None:
        return False
    if content[DIGEST] != digest(content):
        raise ModelFileError(
            f"the model file '{path}' was changed after it was written: its digest does not fit "
            f'its numbers. Identify again; or, where the change is meant, delete the line '
            f"'{DIGEST}: ...', and the model counts as changed by hand")
    return True


def _rows(matrix: Array) -> list[list[float]]:
    return [[float(x) for x in row] for row in matrix]


def _parameters(content: Mapping[str, Any], elements: tuple[str, ...]) -> Array:
    """Return the parameters in the order of the model's, whatever the order in the file."""
    values, names = _ordered(content['parameters'], elements), get_friction(
        content['model']).parameters
    written = list(content.get('names', names))
    if sorted(written) != sorted(names):
        raise ValueError(f"the friction '{content['model']}' has the parameters "
                         f"{', '.join(names)}, the file {', '.join(written)}")
    return values[:, [written.index(name) for name in names]]


def _ordered(values: Mapping[str, Any], names: tuple[str, ...]) -> Array:
    array = np.array([values[name] for name in names], dtype=float)
    if not np.all(np.isfinite(array)):
        raise ValueError('a parameter is not a finite number')
    return array


class _Dumper(getattr(yaml, 'CSafeDumper', yaml.SafeDumper)):    # type: ignore[misc]
    """Writes the URDF as a readable block."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar('tag:yaml.org,2002:str', value,
                                   style='|' if '\n' in value else None)


_Dumper.add_representer(str, _text)
