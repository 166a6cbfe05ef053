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
"""The model as JSON, with its schema."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
from robot_identification.dynamics import get_friction
from robot_identification.dynamics.identified_model import DELAYED
from robot_identification.dynamics.inertial import INERTIAL_NAMES, INERTIAL_UNITS
from robot_identification.export.bodies import moving_links, MovingLink
from robot_identification.export.target import ExportContext, Exported

SCHEMA_NAME = 'robot_identification/export/1'
NUMBER: dict[str, Any] = {'type': 'number'}
NUMBER_OR_NULL: dict[str, Any] = {'type': ['number', 'null']}
NAMES: dict[str, Any] = {'type': 'array', 'items': {'type': 'string'}}


def _vector(size: int | None = None) -> dict[str, Any]:
    limits = {} if size is None else {'minItems': size, 'maxItems': size}
    return {'type': 'array', 'items': NUMBER, **limits}


def _record(**properties: Any) -> dict[str, Any]:
    return {'type': 'object', 'properties': properties, 'required': sorted(properties),
            'additionalProperties': False}


SCHEMA: dict[str, Any] = {
    '$schema': 'https://json-schema.org/draft/2020-12/schema',
    '$id': 'urn:robot_identification:export:1',
    'title': 'Identified dynamic model of a robot arm',
    'description': 'SI units: m, kg, s, rad, N m (sliding joints: N). Joint torque = rigid bodies '
                   "+ transmission' (rotor_inertia transmission a + friction) + "
                   'balancers.',
    **_record(
        schema={'const': SCHEMA_NAME},
        name={'type': 'string'},
        gravity={**_vector(3), 'description': 'in the base frame [m/s^2]'},
        inertial_names={**NAMES, 'description': 'order of the inertial parameters'},
        inertial_units=NAMES,
        delay_of={'enum': list(DELAYED), 'description': 'what a delay moves: the torque of a '
                  'joint against all positions, or its position against all torques'},
        joints={'type': 'array', 'items': _record(
            name={'type': 'string'}, link={'type': 'string'},
            type={'enum': ['revolute', 'continuous', 'prismatic']},
            parent={'type': 'integer', 'description': 'index of the joint before, -1: the base'},
            placement={'type': 'array', 'items': _vector(4), 'minItems': 4, 'maxItems': 4,
                       'description': 'joint frame in the frame of the joint before, at q = 0'},
            axis=_vector(3), lower=NUMBER_OR_NULL, upper=NUMBER_OR_NULL,
            velocity=NUMBER_OR_NULL, effort=NUMBER_OR_NULL, mass=NUMBER,
            centre_of_mass={**_vector(3), 'description': 'in the joint frame [m]'},
            inertia={'type': 'array', 'items': _vector(3), 'minItems': 3, 'maxItems': 3,
                     'description': 'about the centre of mass, axes of the joint [kg m^2]'},
            inertial_parameters={**_vector(10), 'description': 'about the joint frame'},
            delay={**NUMBER, 'description': 'of measured positions after the torques [s]'},
            coulomb={**NUMBER, 'description': 'of the fit of simple friction'},
            viscous={**NUMBER, 'description': 'of the fit of simple friction'},
            fit_error={**NUMBER, 'description': 'what the fit leaves, rms [N m or N]'})},
        drives={'type': 'array', 'items': _record(
            name={'type': 'string'}, transmission=_vector(), rotor_inertia=NUMBER,
            friction_parameters=_vector(), friction_shape=_vector())},
        balancers={'type': 'array', 'items': _record(
            name={'type': 'string'}, joint={'type': 'string'}, kind={'type': 'string'},
            strength=NUMBER, geometry={'type': 'object'})},
        friction=_record(
            model={'type': 'string'}, formula={'type': 'string'}, parameter_names=NAMES,
            shape_names=NAMES, fitted_over={'type': 'string'}))}


def export_json(context: ExportContext) -> Exported:
    """Return the complete model in JSON and its JSON schema."""
    text = json.dumps(model_to_dict(context), indent=1, allow_nan=False) + '\n'
    return Exported({f'{context.name}.json': text,
                     f'{context.name}.schema.json': json.dumps(SCHEMA, indent=1) + '\n'})


def model_to_dict(context: ExportContext) -> dict[str, Any]:
    """Return the model as mappings, lists, texts and numbers for JSON."""
    model = context.model
    arm, friction = model.arm, get_friction(model.friction)
    return {
        'schema': SCHEMA_NAME, 'name': context.name, 'gravity': _list(arm.gravity),
        'inertial_names': list(INERTIAL_NAMES), 'inertial_units': list(INERTIAL_UNITS),
        'delay_of': model.delay_of,
        'joints': [_joint(context, j, body) for j, body in enumerate(moving_links(model))],
        'drives': [
            {'name': name, 'transmission': _list(row), 'rotor_inertia': float(inertia),
             'friction_parameters': _list(parameters), 'friction_shape': _list(shape)}
            for name, row, inertia, parameters, shape in zip(
                arm.actuator_names, arm.transmission, model.rotor_inertia,
                model.friction_parameters, model.friction_shape)],
        'balancers': [
            {'name': b.name, 'joint': b.joint, 'kind': b.kind, 'strength': float(strength),
             'geometry': {key: value for key, value in dataclasses.asdict(b).items()
                          if key not in ('name', 'joint', 'strength')}}
            for b, strength in zip(arm.balancers, model.balancers)],
        'friction': {'model': model.friction, 'formula': friction.formula,
                     'parameter_names': list(friction.parameters),
                     'shape_names': list(friction.nonlinear),
                     'fitted_over': context.states.origin}}


def _joint(context: ExportContext, j: int, body: MovingLink) -> dict[str, Any]:
    return {
        'name': body.joint, 'link': body.link,
        'type': body.kind,
        'parent': body.parent, 'placement': [_list(row) for row in body.placement],
        'axis': _list(body.axis), 'lower': _known(body.lower), 'upper': _known(body.upper),
        'velocity': _known(body.velocity), 'effort': _known(body.effort), 'mass': body.mass,
        'centre_of_mass': _list(body.centre), 'inertia': [_list(row) for row in body.inertia],
        'inertial_parameters': _list(context.model.inertial[j]),
        'delay': float(context.model.delay[j]), 'coulomb': float(context.fit.coulomb[j]),
        'viscous': float(context.fit.viscous[j]), 'fit_error': float(context.fit.left()[j])}


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _list(values: Any) -> list[float]:
    return [float(x) for x in values]
