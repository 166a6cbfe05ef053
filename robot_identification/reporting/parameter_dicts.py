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
"""The parameters in results.json, as plain mappings."""

from __future__ import annotations

from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import ModelStructure
from robot_identification.dynamics.friction import get_friction
from robot_identification.dynamics.inertial import INERTIAL_NAMES, smallest_eigenvalues
from robot_identification.identification_data import Identification


def _urdf_values(structure: ModelStructure) -> Array:
    """Return the standard parameters of URDF and robot YAML, (count,); NaN where not given."""
    values = np.full(structure.count, np.nan)
    values[structure.inertial_slice] = structure.arm.inertial_parameters.ravel()
    values[structure.rotor_slice][:structure.arm.n] = structure.arm.drives.rotor_inertia
    return values


def base_parameter_dicts(result: Identification, level: float) -> list[dict[str, Any]]:
    """
    Return a mapping for each base parameter of the free estimate.

    `urdf` is the combination of the URDF's values, with zero for a rotor inertia that was not
    given, and NaN when none of its parameters is known; `model` is the combination of the
    consistent parameters.

    Parameters
    ----------
    result
        The identification.
    level
        Level of the confidence intervals.

    """
    estimate = result.estimate
    base = estimate.base
    known = _urdf_values(base.structure)
    urdf = base.project(np.nan_to_num(known))
    unknown = ~np.any((np.abs(base.matrix) > 1e-9) & np.isfinite(known), axis=1)
    urdf = np.where(unknown, np.nan, urdf)
    intervals = estimate.confidence_interval(level)
    return [
        {'label': label, 'combination': name, 'unit': unit, 'value': value, 'std': deviation,
         'lower': interval[0], 'upper': interval[1], 'urdf': nominal, 'model': model, **drawn}
        for label, name, unit, value, deviation, interval, nominal, model, drawn in zip(
            base.labels, base.names, base.units, estimate.values, estimate.standard_deviations,
            intervals, urdf, base.project(result.consistent.values), _bootstrap(result, level))]


def _bootstrap(result: Identification, level: float) -> list[dict[str, Any]]:
    """Return bootstrap statistics of each base parameter; empty mappings without a bootstrap."""
    drawn = result.bootstrap
    if drawn is None:
        return [{}] * len(result.estimate.values)
    return [{'bootstrap_std': deviation, 'bootstrap_lower': lower, 'bootstrap_upper': upper}
            for deviation, (lower, upper) in zip(drawn.deviations, drawn.interval(level))]


def standard_parameter_dicts(result: Identification) -> list[dict[str, Any]]:
    """Return a mapping for each standard parameter of the consistent model."""
    consistent = result.consistent
    structure = consistent.structure
    deviations = np.sqrt(np.diag(consistent.covariance))
    drawn = ([{}] * structure.count if result.bootstrap is None else
             [{'bootstrap_std': each} for each in result.bootstrap.standard])
    rows = []
    for name, unit, value, deviation, nominal, word, more in zip(
            structure.names, structure.units, consistent.values, deviations,
            _urdf_values(structure), result.estimate.base.identifiability, drawn):
        element, parameter = name.rsplit('.', 1)
        rows.append({'name': name, 'element': element, 'parameter': parameter, 'unit': unit,
                     'value': value, 'std': deviation, 'urdf': nominal, 'identifiability': word,
                     **more})
    return rows


def link_dicts(result: Identification) -> list[dict[str, Any]]:
    """Return mass, centre of mass and inertia of each link, identified and of the URDF."""
    arm = result.arm
    nominal = arm.inertial_parameters
    return [
        {'joint': joint, 'identified': body_properties(values), 'urdf': body_properties(before),
         'certificate': certificate, 'urdf_certificate': urdf_certificate}
        for joint, values, before, certificate, urdf_certificate in zip(
            arm.joint_names, result.model.inertial, nominal, result.consistent.certificate,
            smallest_eigenvalues(nominal))]


def body_properties(parameters: Array) -> dict[str, Any]:
    """
    Return mass, centre of mass and the inertia about it.

    The inertia is `I_c = I - m (c^T c 1 - c c^T)` (parallel-axis theorem), with the axes of the
    joint frame.

    Parameters
    ----------
    parameters
        (10,), Pinocchio's order, about the joint frame.

    Returns
    -------
    dict
        'mass' [kg], 'com' (3,) [m], 'inertia' [kg m^2] by 'Ixx' to 'Iyz'; None for the last two
        if the mass is zero.

    """
    values = dict(zip(INERTIAL_NAMES, map(float, parameters)))
    mass = values['m']
    if mass == 0:
        return {'mass': 0.0, 'com': None, 'inertia': None}
    centre = np.array([values[name] for name in ('mcx', 'mcy', 'mcz')]) / mass
    about = np.array([[values[f'I{min(i, j)}{max(i, j)}'] for j in 'xyz'] for i in 'xyz'])
    central = about - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return {'mass': mass, 'com': centre,
            'inertia': {f'I{a}{b}': central['xyz'.index(a), 'xyz'.index(b)]
                        for a, b in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')}}


def friction_dict(result: Identification) -> dict[str, Any]:
    """Return friction parameters and rotor inertia of each joint and coupled drive."""
    structure = result.consistent.structure
    friction = get_friction(result.model.friction)
    deviations = np.sqrt(np.diag(result.consistent.covariance))
    k = len(friction.parameters)
    units = structure.units
    known = _urdf_values(structure)
    spread = _shape_deviations(result)
    active, active_shape = structure.active, structure.active_shape
    elements = {}
    for e, element in enumerate(result.arm.actuator_names):
        shape_units = [unit.replace('rad', 'm') if structure.slides[e] else unit
                       for unit in friction.shape_units]
        rotor, first = structure.rotor_slice.start + e, structure.friction_slice.start + e * k
        elements[element] = {
            'rotor_inertia': {'value': result.model.rotor_inertia[e], 'std': deviations[rotor],
                              'unit': units[rotor], 'nominal': known[rotor]},
            'parameters': {
                name: {'value': result.model.friction_parameters[e, i],
                       'std': deviations[first + i], 'unit': units[first + i]}
                for i, name in enumerate(friction.parameters) if active[e, i]} | {
                name: {'value': result.model.friction_shape[e, i], 'std': spread[e, i],
                       'unit': shape_units[i]}
                for i, name in enumerate(friction.nonlinear) if active_shape[e, i]}}
    return {'model': friction.key, 'formula': friction.formula, 'elements': elements}


def _shape_deviations(result: Identification) -> np.ndarray:
    """Return standard deviations of the nonlinear friction parameters, (m, s); NaN if unknown."""
    shape = result.model.friction_shape
    covariance = result.estimate.shape_covariance
    if covariance.shape != (shape.size, shape.size):
        return np.full(shape.shape, np.nan)
    deviations: np.ndarray = shape * np.sqrt(np.diag(covariance)).reshape(shape.shape)
    return deviations
