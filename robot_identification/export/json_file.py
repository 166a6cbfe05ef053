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
"""Export to JSON with a JSON schema."""

from collections.abc import Mapping
import dataclasses
import json
from typing import Any

import numpy as np
from robot_identification.dynamics import get_friction
from robot_identification.dynamics.identified_model import DELAYED
from robot_identification.dynamics.inertial import INERTIAL_NAMES, INERTIAL_UNITS
from robot_identification.export.bodies import MovingLink
from robot_identification.export.target import ExportContext, Exported

SCHEMA_NAME = 'robot_identification/export/1'
STRING = {'type': 'string'}
NUMBER = {'type': 'number'}
LIMITS = ('lower', 'upper', 'velocity', 'effort')
LIMIT = {'type': ['number', 'null']}


def _array(items: dict[str, Any], size: int | None = None) -> dict[str, Any]:
    """Return the JSON schema of an array."""
    limits = {} if size is None else {'minItems': size, 'maxItems': size}
    return {'type': 'array', 'items': items, **limits}


def _record(**properties: Any) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties."""
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
        schema={'const': SCHEMA_NAME}, name=STRING,
        gravity={**_array(NUMBER, 3), 'description': 'in the base frame [m/s^2]'},
        inertial_names={**_array(STRING), 'description': 'order of the inertial parameters'},
        inertial_units=_array(STRING),
        delay_of={'enum': list(DELAYED), 'description': 'signal that a delay shifts: the torque '
                  'of a joint against all positions, or its position against all torques'},
        joints=_array(_record(
            name=STRING, link=STRING, type={'enum': ['revolute', 'continuous', 'prismatic']},
            parent={'type': 'integer', 'description': 'index of the parent joint; -1: the base'},
            placement={**_array(_array(NUMBER, 4), 4), 'description':
                       'joint frame in the frame of the parent joint, at q = 0'},
            axis=_array(NUMBER, 3), lower=LIMIT, upper=LIMIT, velocity=LIMIT, effort=LIMIT,
            mass=NUMBER,
            centre_of_mass={**_array(NUMBER, 3), 'description': 'in the joint frame [m]'},
            inertia={**_array(_array(NUMBER, 3), 3), 'description':
                     'about the centre of mass, axes of the joint [kg m^2]'},
            inertial_parameters={**_array(NUMBER, 10), 'description': 'about the joint frame'},
            delay={**NUMBER, 'description': 'of measured positions after the torques [s]'},
            coulomb={**NUMBER, 'description': 'of the fit of simple friction'},
            viscous={**NUMBER, 'description': 'of the fit of simple friction'},
            fit_error={**NUMBER, 'description': 'residual of the fit, rms [N m or N]'})),
        drives=_array(_record(
            name=STRING, transmission=_array(NUMBER), rotor_inertia=NUMBER,
            friction_parameters=_array(NUMBER), friction_shape=_array(NUMBER))),
        residual={'type': 'object', 'description': 'by joint: points and lengths of a Gaussian '
                  'process whose mean is added to the joint torque, sum of weights exp(-d / 2), '
                  'd = ((q - q_i) / length_q)^2 + ((v - v_i) / length_v)^2 + (sign_weight '
                  '(tanh(v / sign_speed) - tanh(v_i / sign_speed)))^2'},
        balancers=_array(_record(
            name=STRING, joint=STRING, kind=STRING, strength=NUMBER,
            geometry={'type': 'object'})),
        friction=_record(
            model=STRING, formula=STRING, parameter_names=_array(STRING),
            shape_names=_array(STRING), fitted_over=STRING))}


def export_json(context: ExportContext) -> Exported:
    """Return a JSON file with the complete model, and the JSON schema of this file."""
    model, fit = context.model, context.fit
    arm, friction = model.arm, get_friction(model.friction)
    joints = {'inertial_parameters': model.inertial, 'delay': model.delay,
              'coulomb': fit.coulomb, 'viscous': fit.viscous, 'fit_error': fit.residual()}
    drives = {'name': arm.actuator_names, 'transmission': arm.transmission,
              'rotor_inertia': model.rotor_inertia,
              'friction_parameters': model.friction_parameters,
              'friction_shape': model.friction_shape}
    content = {
        'schema': SCHEMA_NAME, 'name': context.name, 'gravity': arm.gravity,
        'inertial_names': INERTIAL_NAMES, 'inertial_units': INERTIAL_UNITS,
        'delay_of': model.delay_of,
        'joints': [
            {key: None if key in LIMITS and not np.isfinite(value) else value
             for key, value in vars(link).items() if key != 'kind'} | {'type': link.kind} | row
            for link, row in zip(MovingLink.of(model), rows_of_columns(joints))],
        'drives': rows_of_columns(drives),
        'residual': {joint: part.to_dict() for joint, part in model.residual.items()},
        'balancers': [
            {'name': b.name, 'joint': b.joint, 'kind': b.kind, 'strength': float(strength),
             'geometry': {key: value for key, value in dataclasses.asdict(b).items()
                          if key not in ('name', 'joint', 'strength')}}
            for b, strength in zip(arm.balancers, model.balancers)],
        'friction': {'model': model.friction, 'formula': friction.formula,
                     'parameter_names': friction.parameters, 'shape_names': friction.nonlinear,
                     'fitted_over': context.states.description}}
    text = json.dumps(content, indent=1, allow_nan=False, default=np.ndarray.tolist)
    return Exported({f'{context.name}.json': text + '\n',
                     f'{context.name}.schema.json': json.dumps(SCHEMA, indent=1) + '\n'},
                    residual=True)


def rows_of_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table, as mappings from column name to value."""
    return [dict(zip(columns, row)) for row in zip(*columns.values(), strict=True)]
