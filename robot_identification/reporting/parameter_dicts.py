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
"""The parameters of an identification, as plain mappings and as pandas DataFrames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.dynamics import BaseParameters, ModelStructure
from robot_identification.dynamics.base_parameters import VISIBLE
from robot_identification.dynamics.friction import get_friction
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.errors import explain_missing, UnknownNameError
from robot_identification.export.json_file import rows_of_columns
from robot_identification.pipeline import Identification

CONFIDENCE = 0.95
"""Level of the confidence intervals in files and reports."""


def _urdf_values(structure: ModelStructure) -> Array:
    """Return the standard parameters of URDF and robot YAML, (count,); NaN where missing."""
    values = np.full(structure.count, np.nan)
    values[structure.inertial_slice] = structure.arm.inertial_parameters.ravel()
    values[structure.rotor_slice][:structure.arm.n] = structure.arm.drives.rotor_inertia
    return values


def find_identifiability(base: BaseParameters) -> tuple[str, ...]:
    """
    Return the identifiability of each standard parameter: 'alone', 'combination' or 'none'.

    'alone': the torques determine the parameter itself. 'combination': the torques determine only
    a linear combination of it with others. 'none': the parameter affects no torque.
    """
    visible = np.abs(base.matrix) > VISIBLE
    combinations = visible[visible.sum(axis=1) > 1]
    return tuple(np.where(combinations.any(axis=0), 'combination', np.where(
        visible.any(axis=0), 'alone', 'none')).tolist())


def base_parameter_dicts(result: Identification) -> list[dict[str, Any]]:
    """
    Return a mapping for each base parameter of the free estimate.

    `urdf` is the combination of the URDF's values; a missing rotor inertia counts as zero, and the
    value is NaN if all parameters of the combination are missing. `model` is the combination of
    the consistent parameters.
    """
    estimate, base = result.estimate, result.estimate.base
    known = _urdf_values(base.structure)
    urdf = base.project(np.nan_to_num(known))
    unknown = ~np.any((np.abs(base.matrix) > 1e-9) & np.isfinite(known), axis=1)
    lower, upper = np.transpose(estimate.confidence_interval(CONFIDENCE))
    return rows_of_columns({
        'label': base.labels, 'combination': base.names, 'unit': base.units,
        'value': estimate.values, 'std': estimate.standard_deviations, 'lower': lower,
        'upper': upper, 'urdf': np.where(unknown, np.nan, urdf),
        'model': base.project(result.consistent.values)})


def standard_parameter_dicts(result: Identification) -> list[dict[str, Any]]:
    """Return a mapping for each standard parameter of the consistent model."""
    consistent, structure = result.consistent, result.consistent.structure
    actuators, parameters = zip(*(name.rsplit('.', 1) for name in structure.names))
    return rows_of_columns({
        'name': structure.names, 'element': actuators, 'parameter': parameters,
        'unit': structure.units, 'value': consistent.values,
        'std': np.sqrt(np.diag(consistent.covariance)), 'urdf': _urdf_values(structure),
        'identifiability': find_identifiability(result.estimate.base)})


def link_dicts(result: Identification) -> list[dict[str, Any]]:
    """Return mass, centre of mass and inertia of each link, identified and of the URDF."""
    nominal = result.arm.inertial_parameters
    return rows_of_columns({
        'joint': result.arm.joint_names,
        'identified': list(map(body_properties, result.model.inertial)),
        'urdf': list(map(body_properties, nominal)),
        'certificate': result.consistent.certificate,
        'urdf_certificate': smallest_eigenvalues(nominal)})


def body_properties(inertial: Array) -> dict[str, Any]:
    """
    Return mass, centre of mass and central inertia of a link, in the axes of its joint frame.

    These are 'mass' [kg], 'com' (3,) [m] and 'inertia' [kg m^2] by 'Ixx' to 'Iyz'; the last two
    are None if the mass is zero.

    Parameters
    ----------
    inertial
        Inertial parameters about the joint frame, (10,), Pinocchio's order.

    """
    if inertial[0] == 0:
        return {'mass': 0.0, 'com': None, 'inertia': None}
    body = pin.Inertia.FromDynamicParameters(np.array(inertial))
    return {'mass': body.mass, 'com': body.lever,
            'inertia': {f'I{a}{b}': body.inertia['xyz'.index(a), 'xyz'.index(b)]
                        for a, b in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')}}


def friction_dict(result: Identification) -> dict[str, Any]:
    """Return friction parameters and rotor inertia of each joint and coupled drive."""
    model, structure = result.model, result.consistent.structure
    friction = get_friction(model.friction)
    std = np.sqrt(np.diag(result.consistent.covariance))
    units, known = structure.units, _urdf_values(structure)
    shape, shape_variances = model.friction_shape, np.diag(result.estimate.shape_covariance)
    shape_std = (shape * np.sqrt(shape_variances).reshape(shape.shape)
                 if shape_variances.size == shape.size else np.full(shape.shape, np.nan))
    active, active_shape = structure.active, structure.active_shape
    elements = {}
    for e, actuator in enumerate(result.arm.actuator_names):
        rotor = structure.rotor_slice.start + e
        first = structure.friction_slice.start + e * len(friction.parameters)
        elements[actuator] = {
            'rotor_inertia': {'value': model.rotor_inertia[e], 'std': std[rotor],
                              'unit': units[rotor], 'nominal': known[rotor]},
            'parameters': {
                name: {'value': model.friction_parameters[e, i], 'std': std[first + i],
                       'unit': units[first + i]}
                for i, name in enumerate(friction.parameters) if active[e, i]} | {
                name: {'value': shape[e, i], 'std': shape_std[e, i],
                       'unit': unit.replace('rad', 'm') if structure.slides[e] else unit}
                for i, (name, unit) in enumerate(zip(friction.nonlinear, friction.shape_units))
                if active_shape[e, i]}}
    return {'model': friction.key, 'formula': friction.formula, 'elements': elements}


def to_frame(result: Identification, what: str = 'parameters') -> Any:
    """
    Return a table of a result as a pandas DataFrame.

    Parameters
    ----------
    result
        The identification.
    what
        'parameters': base parameters of the free estimate, with standard deviation, ends of the
        95 % confidence interval, unit, and the values of the URDF and of the consistent model.
        'standard': parameters of the consistent model. 'links': mass [kg], centre of mass [m] and
        inertia about it [kg m^2] of each link, in the axes of its joint. 'friction': friction and
        rotor inertia of each joint and coupled drive.

    Raises
    ------
    UnknownNameError
        There is no such table.
    MissingDependencyError
        pandas is not installed.

    Examples
    --------
    A table for a paper, in LaTeX:

    >>> print(to_frame(result, 'links').to_latex(float_format='%.3g'))    # doctest: +SKIP

    """
    with explain_missing('pandas', 'a table of parameters', 'plot'):
        import pandas
    tables = {'parameters': (base_parameter_dicts, ['label']),
              'standard': (standard_parameter_dicts, ['name']),
              'links': (_link_rows, ['joint']),
              'friction': (_friction_rows, ['joint', 'parameter'])}
    if what not in tables:
        raise UnknownNameError('table', what, tables)
    rows, index = tables[what]
    return pandas.DataFrame(rows(result)).set_index(index)


def _link_rows(result: Identification) -> list[dict[str, Any]]:
    """Return mass, centre and inertia of each link, and the mass in the URDF."""
    rows = []
    for link in link_dicts(result):
        found = link['identified']
        centre = (None,) * 3 if found['com'] is None else map(float, found['com'])
        rows.append({'joint': link['joint'], 'mass': found['mass'],
                     'urdf_mass': link['urdf']['mass'], **dict(zip(('cx', 'cy', 'cz'), centre)),
                     **(found['inertia'] or {})})
    return rows


def _friction_rows(result: Identification) -> list[dict[str, Any]]:
    """Return a row for each friction parameter and rotor inertia."""
    return [{'joint': joint, 'parameter': name,
             **{key: item[key] for key in ('value', 'std', 'unit')}}
            for joint, element in friction_dict(result)['elements'].items()
            for name, item in {'rotor_inertia': element['rotor_inertia'],
                               **element['parameters']}.items()]
