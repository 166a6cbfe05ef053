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
"""Inertial parameters, friction models, and the identified model with its file."""

from __future__ import annotations

import re
import threading

from excitation_arms import chain
import numpy as np
import pinocchio as pin
import pytest
from robot_identification import IdentifiedModel, load_model, parallel
from robot_identification.arm.robot_file import arm_from_mapping
from robot_identification.dynamics import (
    FRICTION_MODELS,
    FRICTION_TERMS,
    from_pseudo_inertia,
    get_friction,
    pseudo_inertia,
)
from robot_identification.dynamics.friction import FrictionInput
from robot_identification.dynamics.inertial import smallest_eigenvalues
from robot_identification.errors import ConfigurationError, ModelFileError, UnknownNameError
from simulation_arms import example


def model_of(arm, seed=0, friction='coulomb_viscous'):
    rng = np.random.default_rng(seed)
    elements = len(arm.transmission)
    k = len(get_friction(friction).parameters)
    return IdentifiedModel(arm, arm.inertial_parameters, rng.uniform(size=elements), friction,
                           rng.uniform(size=(elements, k)), {'estimator': 'wls'})


def test_pseudo_inertia_is_pinocchios():
    for parameters in example('panda').inertial_parameters:
        inertia = pin.Inertia.FromDynamicParameters(parameters)
        theirs = pin.PseudoInertia.FromInertia(inertia).toMatrix()
        assert np.allclose(pseudo_inertia(parameters), theirs, atol=1e-12)
        assert np.allclose(from_pseudo_inertia(theirs), parameters, atol=1e-12)


def test_the_certificate_tells_bodies_from_impossible_ones():
    body = np.array([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1])
    thin = body.copy()
    thin[9] = 0.21    # Izz > Ixx + Iyy
    assert smallest_eigenvalues(body) > 0
    assert smallest_eigenvalues(thin) < 0
    body[0] = -1.0
    assert smallest_eigenvalues(body) < 0


@pytest.mark.parametrize('name', sorted(FRICTION_MODELS))
def test_friction_is_odd_but_for_its_offset(name):
    model = get_friction(name)
    v = np.linspace(-3, 3, 61)
    parameters = np.ones(len(model.parameters))
    parameters[list(model.parameters).index('offset')] = 0.0
    load = 2 * v + np.sin(v)    # odd in v, too, for the literal form of load-dependent friction
    shape = np.sqrt(np.prod(np.reshape(model.shape_bounds, (-1, 2)), axis=1))
    torque = model.torque(FrictionInput(v, load=load), parameters, shape)
    assert np.allclose(torque, -torque[::-1])
    assert len(model.parameters) == len(model.units) == len(model.nonnegative)
    assert len(model.nonlinear) == len(model.shape_units) == len(model.shape_bounds)


def test_smooth_coulomb_has_reached_nine_tenths_where_it_says():
    model, smooth = get_friction('smooth_coulomb'), FRICTION_TERMS['smooth']
    motion = FrictionInput(np.array([6.314 / smooth.steepness]))
    assert model.torque(motion, np.array([1.0, 0, 0]))[0] == pytest.approx(0.9, abs=1e-4)


def test_unknown_friction_lists_what_there_is():
    with pytest.raises(UnknownNameError, match=r'choose from: .*coulomb_viscous'):
        get_friction('sticky')


def test_torque_is_rigid_body_plus_rotor_plus_friction():
    arm = example('panda')
    model = model_of(arm)
    q, v, a = np.random.default_rng(1).normal(size=(3, 20, 7))
    data = arm.model.createData()
    rigid = np.array([pin.rnea(arm.model, data, *state) for state in zip(q, v, a)])
    fc, fv, offset = model.friction_parameters.T
    expected = rigid + model.rotor_inertia * a + fc * np.sign(v) + fv * v + offset
    assert np.allclose(model.torque(q, v, a), expected, rtol=1e-12, atol=1e-10)
    mass = pin.crba(arm.model, data, q[0])
    mass = np.triu(mass) + np.triu(mass, 1).T + np.diag(model.rotor_inertia)
    assert np.allclose(model.mass_matrix(q[:1])[0], mass, atol=1e-10)


def test_friction_of_a_coupled_drive_acts_on_both_joints(tmp_path):
    arm = arm_from_mapping({'urdf': chain().urdf, 'coupling': {'wrist': {'elbow': 1.0}}},
                           folder=tmp_path, label='test')
    friction = np.zeros((4, 3))
    friction[3] = [2.0, 0.0, 0.0]
    model = IdentifiedModel(arm, arm.inertial_parameters, np.zeros(4), 'coulomb_viscous', friction)
    v = np.array([[0.3, -0.5, 0.2]])
    assert np.allclose(model.drive_torque(v, 0 * v), [[0, -2.0, -2.0]])


@pytest.mark.parametrize('friction', ('coulomb_viscous', 'smooth_coulomb', 'cube_root'))
def test_the_file_gives_back_every_digit(tmp_path, friction):
    model = model_of(example('panda'), friction=friction)
    model.save(tmp_path / 'model.yaml')
    again = load_model(tmp_path / 'model.yaml')
    states = np.random.default_rng(1).normal(size=(3, 20, 7))
    assert np.array_equal(model.torque(*states), again.torque(*states))
    assert again.arm.urdf == model.arm.urdf
    assert again.information == {'estimator': 'wls'}


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / 'model.yaml'
    with pytest.raises(ModelFileError, match='there is no model file'):
        load_model(path)
    model_of(chain()).save(path)
    text = re.sub(r'^digest: .*\n', '', path.read_text(), flags=re.MULTILINE)
    for change, words in (
            (('model/2', 'model/99'), 'not a model file of the schema'),
            (('\ninertial:', '\ninertia:'), 'damaged'),
            (('coulomb_viscous', 'sticky'), "no friction model 'sticky'"),
            (('elbow: [', 'elbow: [.nan, '), 'damaged'),
            (('schema:', 'schema: ['), 'cannot be read')):
        path.write_text(text.replace(*change, 1))
        with pytest.raises(ModelFileError, match=words):
            load_model(path)


def test_wrong_shapes():
    arm = chain()
    with pytest.raises(ModelFileError, match=r'rotor_inertia must have the shape \(3,\)'):
        IdentifiedModel(arm, arm.inertial_parameters, np.zeros(4), 'coulomb_viscous',
                        np.zeros((3, 3)))
    with pytest.raises(ConfigurationError, match='q must have shape'):
        model_of(arm).torque(np.zeros(4), np.zeros(4), np.zeros(4))
    with pytest.raises(ConfigurationError, match='q must have shape'):
        model_of(arm).torque(np.zeros(3), np.zeros((1, 3)), np.zeros(3))


def test_threads_keep_the_order_and_start_no_further_ones(monkeypatch):
    monkeypatch.setattr(parallel, 'core_count', lambda: 2)

    def inner(_):
        return threading.get_ident()

    def outer(item):
        if item < 0:
            raise ValueError('a negative item')
        return item, threading.get_ident(), set(parallel.parallel_map(inner, range(4)))

    found = list(parallel.parallel_map(outer, range(8)))
    assert [item for item, _, _ in found] == list(range(8))
    for _, own, called in found:
        assert own != threading.get_ident() and called == {own}
    assert threading.get_ident() not in set(parallel.parallel_map(inner, range(4)))
    with pytest.raises(ValueError, match='a negative item'):
        list(parallel.parallel_map(outer, [1, -1, 2]))
    assert list(parallel.parallel_map(outer, [])) == []
