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
"""A friction term and estimators from outside the package, in a complete identification."""

import json

from command_line import call
from known_truth import friction_samples, two_link_recording
import numpy as np
import pytest
from reporting_results import chain, record
from robot_identification import identify, load_model, Recording
from robot_identification.dynamics import FRICTION_TERMS, FrictionTerm, get_friction
from robot_identification.estimation import (
    Estimator,
    EstimatorInfo,
    ESTIMATORS,
    fit_samples,
    FitOptions,
    get_estimator,
)
from robot_identification.reporting import save_results
from simulation_arms import two_link


class Power(FrictionTerm):
    """Friction c |v|^p sgn(v): the exponent has no unit, so scaling the velocity keeps it."""

    name = 'power'
    formula = 'c |v|^p sgn(v)'
    parameters = ('power',)
    units = ('N m (s/rad)^p',)
    nonnegative = (True,)
    nonlinear = ('p',)
    shape_units = ('1',)
    shape_powers = (0.0,)
    shape_bounds = ((1.5, 3.5),)

    def columns(self, motion, shape):
        return (np.abs(motion.v) ** shape[..., 0] * np.sign(motion.v))[..., None]

    def shape_gradient(self, motion, shape):
        speed = np.abs(motion.v)
        slope = np.log(np.where(speed > 0, speed, 1.0)) * speed ** shape[..., 0]
        return (slope * np.sign(motion.v))[..., None, None]


class Halved(Estimator):
    """Weighted least squares in which the first joint has half the weight."""

    name = 'halved'
    summary = 'weighted least squares, the first joint counts half'
    info = EstimatorInfo()
    candidate = True

    def weights(self, regression, reweighted):
        weights = np.array(reweighted.weights)
        weights[0] /= 2
        return weights


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(FRICTION_TERMS, 'power', Power())
    monkeypatch.setitem(ESTIMATORS, 'halved', Halved)


def test_bounds_without_dimension_do_not_scale_with_sliding(registered):
    from robot_identification.dynamics import ModelStructure
    arm = chain(['a', 'b'])
    bounds = ModelStructure.of(arm, 'coulomb + viscous + power').shape_bounds
    np.testing.assert_allclose(bounds[:, 0], [[1.5, 3.5]] * len(bounds))


def test_the_term_is_identified_by_name_with_its_exponent(registered):
    arm = two_link()
    data, shape, *_ = friction_samples(
        arm, 'coulomb + viscous + power + offset', noise=0.02, seconds=10.0)
    fit = fit_samples(arm, [data], FitOptions(get_estimator('halved'),
                                              'coulomb + viscous + power + offset'))
    np.testing.assert_allclose(fit.estimate.shape, shape, rtol=0.05)
    assert fit.estimate.estimator == 'halved' and np.all(fit.consistent.certificate > 0)


def test_both_go_through_auto_report_and_model_file(registered, tmp_path):
    arm = chain(['a', 'b'])
    plain = record(arm, 1, 'x', 12.0)
    v = np.gradient(plain.q, plain.t, axis=0)
    tau = plain.tau + 4.0 * v ** 2 * np.sign(v)
    recording = Recording(plain.t, plain.q, tau, joint_names=arm.joint_names, name='x')
    result = identify(arm, [recording], 'auto', delay=False)
    assert 'power' in result.model.friction
    assert 'halved' in {trial.estimator for trial in result.choice.trials}
    save_results(result, tmp_path / 'out')
    stored = json.loads((tmp_path / 'out' / 'results.json').read_text())
    elements = stored['friction']['elements'].values()
    assert any('power' in values['parameters'] for values in elements)
    assert 'c |v|^p sgn(v)' in (tmp_path / 'out' / 'report.html').read_text()
    again = load_model(tmp_path / 'out' / 'model.yaml')
    q, v, a = np.random.default_rng(0).normal(size=(3, 20, 2))
    np.testing.assert_array_equal(again.torque(q, v, a), result.model.torque(q, v, a))
    assert get_friction(again.friction).terms


OWN = """
from robot_identification.estimation import Estimator, EstimatorInfo


class FirstHalved(Estimator):

    name = 'first_halved'
    summary = 'weighted least squares, the first joint counts half'
    info = EstimatorInfo()

    def weights(self, regression, reweighted):
        return reweighted.weights * [0.5, 1.0]


def not_an_estimator():
    return 1
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'first_halved.py').write_text(OWN)
    (tmp_path / 'broken_file.py').write_text('import module_that_nobody_has\n')
    motion = two_link_recording(0)
    np.savez(tmp_path / 'motion.npz', t=motion.t, q=motion.q, tau=motion.tau)
    return tmp_path


@pytest.mark.parametrize('place', ['first_halved:FirstHalved', 'first_halved.py:FirstHalved'])
def test_a_file_of_the_user_is_an_estimator_on_the_command_line(folder, place):
    done = call('identify', 'two_link', 'motion.npz', '--estimator', place, '--json', cwd=folder)
    assert done.returncode in (0, 1, 3), done.stderr    # a verdict
    assert json.loads(done.stdout)['estimate']['estimator'] == 'first_halved'


@pytest.mark.parametrize(('place', 'message'), [
    ('first_halved:Missing', "has no attribute 'Missing'"),
    ('broken_file.py:Any', 'module_that_nobody_has'),
    ('first_halved:not_an_estimator', 'is not a subclass of')])
def test_a_place_without_an_estimator_is_an_error_with_its_reason(folder, place, message):
    done = call('identify', 'two_link', 'motion.npz', '--estimator', place, cwd=folder)
    assert done.returncode == 2
    assert place in done.stderr and message in done.stderr and done.stderr.count('\n') == 1
