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
"""Friction models: gradients, passivity, names, and their use by model structures and models."""

import numpy as np
import pytest
from robot_identification.dynamics import (
    base_parameters,
    FRICTION_MODELS,
    get_friction,
    IdentifiedModel,
    ModelStructure,
)
from robot_identification.dynamics.friction import FRICTION_TERMS, FrictionInput, SHORT_NAMES
from robot_identification.dynamics.model_file import load_model
from robot_identification.errors import ConfigurationError, ModelFileError, UnknownNameError
from simulation_arms import two_link
import yaml

KNOWN = {term for terms in SHORT_NAMES.values() for term in terms.split(' + ')}
ALONE = [name for name, term in FRICTION_TERMS.items() if term.velocity_only and name not in KNOWN]
NAMES = [*FRICTION_MODELS, *ALONE, 'stribeck_asymmetric', 'coulomb_viscous_asymmetric']
V = np.concatenate([-np.geomspace(3, 0.01, 30), np.geomspace(0.01, 3, 30)])


def shapes(model, rng):
    lower, upper = np.log(np.array(model.shape_bounds).reshape(-1, 2).T)
    return np.exp(rng.uniform(lower, upper))


def slopes_of_slip(v, shape, q):
    """Return d z / d delta: z = z_c + (q - q_c) / delta since the last slip at q_c."""
    z = FRICTION_TERMS['slip'].state(q, shape)
    last = np.maximum.accumulate(np.where(np.abs(z) >= 1, np.arange(len(z)), -1))
    slipped = np.where(last >= 0, z[np.maximum(last, 0)], 0.0)
    return [[-(z - slipped) / shape[0]]]


SLOPES = {    # of each column by each nonlinear parameter, in closed form
    'atan': lambda v, shape, q: [[v / (1 + (shape[0] * v) ** 2)]],
    'stribeck': lambda v, shape, q: [
        [sign * np.sign(v) * 2 * v ** 2 / shape[0] ** 3 * np.exp(-(v / shape[0]) ** 2)]
        for sign in (-1, 1)],
    'bompos': lambda v, shape, q: [
        [0 * v, 0 * v],
        [-np.sign(v) * np.exp(-np.abs(v) / shape[0]) * np.abs(v) / shape[0] ** 2, 0 * v],
        [0 * v, -np.sign(v) * np.exp(-1 / (shape[1] * np.maximum(np.abs(v), 1e-300)))
         / (np.maximum(np.abs(v), 1e-300) * shape[1] ** 2)]],
    'sech_tanh': lambda v, shape, q: [
        [0 * v, v / np.cosh(shape[1] * v) ** 2],
        [-v * np.tanh(shape[0] * v) / np.cosh(shape[0] * v) * np.tanh(shape[1] * v),
         v / np.cosh(shape[0] * v) / np.cosh(shape[1] * v) ** 2]],
    'slip': slopes_of_slip}


@pytest.mark.parametrize('name', SLOPES)
def test_gradients_are_those_of_closed_forms(name):
    model, rng = get_friction(f'{name} + viscous'), np.random.default_rng(1)
    q, v = np.cumsum(rng.normal(size=V.shape)) * 1e-3, V / 10
    for _ in range(5):
        shape = np.sqrt(shapes(model, rng) * shapes(model, rng))
        gradient = model.shape_gradient(FrictionInput(v, q), shape)
        closed = np.moveaxis(SLOPES[name](v, shape, q), -1, 0)
        scale = np.abs(closed).max(axis=0) + 1e-12
        np.testing.assert_allclose(gradient[:, :-1] / scale, closed / scale, atol=1e-7)
        assert not np.any(gradient[:, -1])


@pytest.mark.parametrize('name', [n for n in NAMES if not get_friction(n).needs_load])
def test_parameters_that_pass_the_passivity_rows_dissipate(name):
    model, rng = get_friction(name), np.random.default_rng(2)
    free = [not n.startswith('offset') for n in model.parameters]
    for _ in range(20):
        shape = shapes(model, rng)
        rows = model.passivity(shape)
        draws = rng.normal(size=(4000, len(model.parameters))) * free
        allowed = draws[np.all(draws @ rows.T >= 0, axis=1)]
        columns = model.columns(FrictionInput(V), shape)
        odd = columns - columns[::-1]    # V is symmetric: mean of both directions
        assert np.all((odd * np.sign(V)[:, None]) @ allowed.T >= -1e-3)
        refused = draws[np.any(draws @ rows.T < 0, axis=1)]
        assert len(refused) > 0


def test_names_and_shapes_are_checked():
    with pytest.raises(UnknownNameError, match=r"there is no friction model 'rust'.*stribeck"):
        get_friction('rust')
    for short in ('coulomb_viscous', 'coulomb_viscous_asymmetric'):
        with pytest.raises(ConfigurationError, match=r'write its terms: .coulomb . viscous . off'):
            get_friction(f'{short} + atan')
    with pytest.raises(ConfigurationError, match=r'needs 1 positive shape parameters \(fb\)'):
        get_friction('atan').columns(FrictionInput(V))
    with pytest.raises(ConfigurationError, match='needs 0 positive shape parameters'):
        get_friction('coulomb_viscous').columns(FrictionInput(V), [1.0])
    with pytest.raises(ConfigurationError, match='needs the torque that the joints transmit'):
        get_friction('load_dependent').columns(FrictionInput(V))
    with pytest.raises(ConfigurationError, match='must be positive'):
        ModelStructure.of(two_link(), 'atan').with_friction_shape(np.array([[1.0], [-1.0]]))


@pytest.mark.parametrize('name', NAMES)
def test_a_model_predicts_what_its_columns_say_and_survives_its_file(name, tmp_path):
    arm, rng = two_link(), np.random.default_rng(3)
    structure = ModelStructure.of(arm, name)
    shape = np.array([shapes(structure.friction, rng) for _ in range(2)]).reshape(2, -1)
    structure = structure.with_friction_shape(shape)
    standard = np.concatenate([arm.inertial_parameters.ravel(),
                               rng.uniform(0.1, 1, structure.count - 20)])
    q, v, a = rng.normal(size=(3, 40, 2))
    model = IdentifiedModel(arm, standard[:20].reshape(2, 10), standard[20:22], name,
                            standard[22:].reshape(2, -1), friction_shape=shape,
                            delay=np.array([0.001, 0.002]))
    load = (structure.columns(q, v, a, load=np.zeros_like(q))[:, :, :20] @ standard[:20])
    np.testing.assert_allclose(model.torque(q, v, a), structure.columns(q, v, a, load) @ standard,
                               atol=1e-9)
    model.save(tmp_path / 'model.yaml')
    again = load_model(tmp_path / 'model.yaml')
    np.testing.assert_array_equal(again.torque(q, v, a), model.torque(q, v, a))
    np.testing.assert_array_equal(again.delay, model.delay)
    assert base_parameters(structure).rank == base_parameters(ModelStructure.of(arm, name)).rank


def test_a_model_file_of_the_first_schema_is_read_and_one_of_the_future_is_not(tmp_path):
    arm = two_link()
    path = tmp_path / 'model.yaml'
    IdentifiedModel(arm, arm.inertial_parameters, np.ones(2), 'coulomb_viscous',
                    np.ones((2, 3))).save(path)
    content = yaml.safe_load(path.read_text())
    del content['delay'], content['digest']    # missing in files of the first schema
    for schema in ('robot_identification/model/1', 'robot_identification/model/9'):
        path.write_text(yaml.safe_dump({**content, 'schema': schema}))
        if schema.endswith('1'):
            np.testing.assert_array_equal(load_model(path).delay, np.zeros(2))
        else:
            with pytest.raises(ModelFileError, match='not a model file of the schema'):
                load_model(path)
