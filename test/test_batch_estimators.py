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
"""Batch estimators: known truth with every friction model, outliers, noisy positions, errors."""

import dataclasses

from known_truth import friction_samples, standard_truth
import numpy as np
import pinocchio as pin
import pytest
from robot_identification import IdentifiedModel, Recording
from robot_identification.dynamics import FRICTION_MODELS, get_friction, ModelStructure
from robot_identification.dynamics.friction import FrictionInput
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import (
    ESTIMATORS,
    fit_samples,
    FitOptions,
    get_estimator,
)
import robot_identification.papers  # noqa: F401  (registers its searches)
from robot_identification.papers.closed_loop import ClosedLoop, periodic
from robot_identification.papers.searches import SEARCHES
from robot_identification.registry import load_extensions
from robot_identification.regression import build_regression
from robot_identification.signals import process
from robot_identification.simulation import simulate
from robot_identification.simulation.robot import JointController
from scipy import stats
from simulation_arms import Lively, matched_plant, two_link

load_extensions()


FITTED = ('ols', 'wls', 'mle', 'ridge', 'tls', 'huber')
LINEAR_FILTERS = ('kalman', 'exponential_forgetting')
FRICTIONS = tuple(name + end for end in ('', '_asymmetric') for name in FRICTION_MODELS
                  if 'literal' not in name)
SPEEDS = np.concatenate([-np.linspace(0.03, 1.5, 30), np.linspace(0.03, 1.5, 30)])
NOISE = 1e-3    # [rad] standard deviation of the positions


def curves_agree(structure, shape, truth, true_shape, values):
    """Return whether the friction curves over the excited speeds agree with the true ones."""
    friction, motion = structure.friction, FrictionInput(SPEEDS, load=np.full(60, 5.0))
    for e in range(len(shape)):
        found, true = (friction.torque(motion, parameters[e], numbers[e])
                       for parameters, numbers in ((values, shape), (truth, true_shape)))
        if np.max(np.abs(found - true)) > 0.06 * np.max(np.abs(true)):
            return False
    return True


def friction_of(standard, structure):
    return standard[structure.friction_slice].reshape(len(structure.arm.transmission), -1)


@pytest.mark.parametrize('friction', FRICTIONS)
def test_every_pair_recovers_the_truth_or_is_refused(friction):
    arm = two_link()
    data, shape, standard, *_ = friction_samples(arm, friction, seed=3, noise=0.05)
    data = dataclasses.replace(data, noise=np.full(2, 0.05 ** 2))
    shaped = bool(get_friction(friction).nonlinear)
    for name in (*FITTED, *LINEAR_FILTERS):
        options = FitOptions(get_estimator(name), friction)
        if shaped and not options.estimator.info.nonlinear:
            with pytest.raises(EstimationError, match='is linear and cannot find the shape'):
                fit_samples(arm, [data], options)
            continue
        fit = fit_samples(arm, [data], options)
        estimate, structure = fit.estimate, fit.regression.base.structure
        assert estimate.status == 'ok', (name, estimate.message)
        assert estimate.own_values == (options.estimator.info.consistent == 'nearest'), name
        inertial = estimate.base.columns < 22
        error = np.abs(estimate.values - estimate.base.project(standard))[inertial]
        limit = 5 if name != 'ridge' and not shaped else 8
        assert np.all(error < limit * estimate.standard_deviations[inertial] + 1e-3), name
        places = np.searchsorted(estimate.base.columns,
                                 np.arange(structure.friction_slice.start, structure.count))
        true = friction_of(standard, structure)
        for found in (estimate.values[places].reshape(2, -1),
                      fit.consistent.friction_parameters):
            assert curves_agree(structure, estimate.shape, true, shape, found), name
        assert np.all(fit.consistent.certificate > 0)
        assert np.all(fit.consistent.residual_rms < 1.3 * estimate.residual_rms), name


@pytest.mark.parametrize('name', sorted(ESTIMATORS))
def test_what_has_no_meaning_is_refused_with_a_sentence(name):
    arm = two_link()
    data, *_ = friction_samples(arm, 'coulomb_viscous', seconds=5.0)
    for literal in ('load_dependent_literal', 'load_dependent_literal_asymmetric'):
        with pytest.raises(EstimationError, match='cannot be identified from a recording'):
            fit_samples(arm, [data], FitOptions(get_estimator(name), literal))
    info = ESTIMATORS[name].info
    assert info.bounds == (name in SEARCHES or name == 'bounded')
    if info.control_law:
        with pytest.raises(EstimationError, match='needs the reference'):
            fit_samples(arm, [data], FitOptions(get_estimator(name)))
        for friction in ('stribeck', 'bompos_asymmetric'):
            with pytest.raises(EstimationError, match='cannot simulate reversals'):
                fit_samples(arm, [data], FitOptions(get_estimator(name), friction))


class Proportional:
    """Proportional and derivative feedback with the URDF's gravity torques."""

    def __init__(self, arm):
        self.arm, self.data = arm, arm.model.createData()

    def torque(self, q, v, q_ref, v_ref):
        gravity = pin.computeGeneralizedGravity(self.arm.model, self.data, q)
        return gravity + 400.0 * (q_ref - q) + 40.0 * (v_ref - v)


@pytest.mark.parametrize(('name', 'friction'), [
    *(('idim_iv', friction) for friction in (
        'coulomb_viscous', 'sech_tanh', 'coulomb_viscous_asymmetric', 'load_dependent')),
    ('didim', 'coulomb_viscous'), ('didim', 'sech_tanh')])
def test_closed_loop_estimators_recover_every_friction(name, friction):
    """Torque noise 0.05 N m, positions without noise; the closed loop of the true model."""
    arm = two_link()
    data, shape, standard, *_ = friction_samples(arm, friction, seed=3, seconds=3.0)
    structure = ModelStructure.of(arm, friction).with_friction_shape(shape)
    model = IdentifiedModel(arm, standard[:20].reshape(2, 10), standard[20:22], friction,
                            friction_of(standard, structure), friction_shape=shape)
    motion, law = Lively(arm), Proportional(arm)
    data = dataclasses.replace(data, segments=(slice(0, len(data)),))
    data = ClosedLoop(periodic(motion, 0.0), law).simulate(model, data)
    noise = 0.05 * np.random.default_rng(5).normal(size=data.q.shape)
    data = dataclasses.replace(data, tau=model.torque(data.q, data.v, data.a) + noise)
    fit = fit_samples(arm, [data], FitOptions(
        get_estimator(name, reference=motion, control_law=law), friction))
    estimate = fit.estimate
    assert estimate.status == 'ok', estimate.message
    inertial = estimate.base.columns < 22
    truth = estimate.base.project(standard)
    assert (np.linalg.norm((estimate.values - truth)[inertial])
            < 0.1 * np.linalg.norm(truth[inertial]))
    assert curves_agree(structure, estimate.shape, friction_of(standard, structure), shape,
                        fit.consistent.friction_parameters)


@pytest.mark.parametrize('name', FITTED)
def test_errors_are_as_large_as_the_covariance_says_with_unequal_noise(name):
    """Two-sided test over 25 seeds; half and twice the covariance must fail."""
    arm, sigma = two_link(), np.array([0.05, 0.2])
    data, _, standard, tau, _ = friction_samples(arm, 'coulomb_viscous', seed=1)
    total, count = 0.0, 0
    for seed in range(25):
        noise = sigma * np.random.default_rng(500 + seed).normal(size=tau.shape)
        regression = build_regression(arm, [dataclasses.replace(
            data, tau=tau + noise, noise=sigma ** 2)])
        estimate = get_estimator(name).fit(regression)
        error = estimate.values - estimate.base.project(standard)
        total += error @ np.linalg.solve(estimate.covariance, error)
        count += len(error)
    low, high = stats.chi2.ppf([0.0005, 0.9995], count)
    # the URDF is exact here, so ridge is more accurate than its covariance says
    assert (0.6 * count if name == 'ridge' else low) < total < high
    assert not low < total / 2 < high and not low < total * 2 < high


def test_huber_shrugs_off_collisions():
    arm = two_link()
    data, _, standard, *_ = friction_samples(arm, 'coulomb_viscous', noise=0.05)
    tau = np.array(data.tau)
    tau[300:330] += 8.0
    tau[1200:1215] -= 12.0
    hit = dataclasses.replace(data, tau=tau)
    regression = build_regression(arm, [hit])
    truth = regression.base.project(standard)
    wls, huber = (np.linalg.norm(get_estimator(name).fit(regression).values - truth)
                  for name in ('wls', 'huber'))
    assert huber < wls / 4


def test_huber_finds_isolated_spikes_before_the_decimation_smears_them():
    """One sample in 200 is an outlier of 200 standard deviations; each row averages 80 samples."""
    arm = two_link()
    data, _, standard, *_ = friction_samples(arm, 'coulomb_viscous', noise=0.05)
    clean = dataclasses.replace(data, decimation_cutoff=10.0)
    tau, rng = np.array(clean.tau), np.random.default_rng(0)
    for j in range(arm.n):
        tau[rng.choice(len(tau), len(tau) // 200, replace=False), j] += 10.0
    spiky = dataclasses.replace(clean, tau=tau)
    errors = {}
    for name, samples in (('clean', clean), ('spiky', spiky)):
        regression = build_regression(arm, [samples])
        found = get_estimator('huber').fit(regression)
        errors[name] = np.linalg.norm(found.values - regression.base.project(standard))
        assert ('isolated spikes' in found.message) == (name == 'spiky')
    wls = get_estimator('wls').fit(regression)
    assert errors['spiky'] < 1.5 * errors['clean']
    assert errors['spiky'] < np.linalg.norm(wls.values - regression.base.project(standard)) / 4


def test_ridge_keeps_the_urdf_where_the_motion_says_nothing():
    arm = two_link()
    data, *_ = friction_samples(arm, 'coulomb_viscous')
    still = dataclasses.replace(data, q=np.column_stack([data.q[:, 0], 0 * data.t]),
                                v=np.column_stack([data.v[:, 0], 0 * data.t]),
                                a=np.column_stack([data.a[:, 0], 0 * data.t]))
    regression = build_regression(arm, [still])
    assert get_estimator('wls').fit(regression).status == 'rank_deficient'
    estimate = get_estimator('ridge').fit(regression)
    assert estimate.status == 'ok' and np.all(np.isfinite(estimate.standard_deviations))
    with pytest.raises(EstimationError, match=r'excites every base parameter.*use ridge'):
        get_estimator('tls').fit(regression)


@pytest.fixture(scope='module')
def controlled():
    """Return an arm with a joint controller, Coulomb and viscous friction, and no delay."""
    arm = two_link()
    plant, motion = matched_plant(arm), Lively(arm)
    return arm, plant, motion, simulate(plant, motion, rng=np.random.default_rng(0), periods=2)


def test_instruments_take_care_of_noisy_positions(controlled):
    """White noise of 1 mrad on the positions; 'unfiltered' has a cutoff of 100 Hz."""
    arm, plant, motion, run = controlled
    noise = NOISE * np.random.default_rng(1).normal(size=run.recording.q.shape)
    noisy = Recording(run.recording.t, run.recording.q + noise, run.recording.tau,
                      joint_names=arm.joint_names)
    errors = {}
    for kind, cutoff in (('filtered', 8.0), ('unfiltered', 100.0)):
        regression = build_regression(arm, [process(noisy, arm, cutoff=cutoff,
                                                    decimation_cutoff=10.0)])
        truth = regression.base.project(standard_truth(regression.base.structure, plant.truth))
        for name in ('ols', 'idim_iv', 'didim') if kind == 'unfiltered' else ('ols',):
            settings = {} if name == 'ols' else {
                'reference': motion, 'control_law': JointController.tuned(plant)}
            estimate = get_estimator(name, **settings).fit(regression)
            errors[kind, name] = np.linalg.norm(estimate.values - truth)
            assert estimate.status == 'ok', estimate.message
            if name != 'ols':
                assert np.all(np.abs(estimate.values - truth)
                              < 5 * estimate.standard_deviations)
    for name in ('idim_iv', 'didim'):
        assert errors['unfiltered', name] < errors['unfiltered', 'ols'] / 3
        assert errors['unfiltered', name] < 1.5 * errors['filtered', 'ols']


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'deviation', 'better'), [
    ('clie', NOISE, 3), ('cloe', 0.0, 1)])    # CLOE with encoder counts only
def test_output_errors_of_the_closed_loop_find_the_parameters(controlled, name, deviation, better):
    """White noise on the positions of one period."""
    arm, plant, motion, run = controlled
    noise = deviation * np.random.default_rng(1).normal(size=run.recording.q.shape)
    period = slice(0, len(run.recording) // 2)
    recording = Recording(run.recording.t[period], (run.recording.q + noise)[period],
                          run.recording.tau[period], joint_names=arm.joint_names)
    regression = build_regression(arm, [process(recording, arm, cutoff=100.0,
                                                decimation_cutoff=10.0)])
    truth = regression.base.project(standard_truth(regression.base.structure, plant.truth))
    errors = {method: np.linalg.norm(get_estimator(method, **settings).fit(
        regression).values - truth) for method, settings in (
            ('ols', {}), (name, {'reference': motion, 'rounds': 2,
                                 'control_law': JointController.tuned(plant)}))}
    assert errors[name] < errors['ols'] / better, errors


def test_weak_instruments_are_no_success(controlled):
    """Without decimation, at 100 Hz, accelerations only contain noise."""
    arm, plant, motion, run = controlled
    noise = NOISE * np.random.default_rng(1).normal(size=run.recording.q.shape)
    noisy = Recording(run.recording.t, run.recording.q + noise, run.recording.tau,
                      joint_names=arm.joint_names)
    data = process(noisy, arm, cutoff=100.0, decimation_cutoff=float('inf'))
    estimate = get_estimator('idim_iv', reference=motion,
                             control_law=JointController.tuned(plant)).fit(
        build_regression(arm, [data]))
    assert estimate.status == 'not_converged'
    for word in ('the instruments are weak', 'lower the', 'cut-off'):
        assert word in estimate.message


def test_a_control_law_that_is_not_the_arms_is_no_success(controlled):
    arm, plant, motion, run = controlled
    data = process(run.recording, arm, cutoff=8.0, decimation_cutoff=10.0)
    law = JointController.tuned(plant)
    slow = JointController(arm, plant.truth.rotor_inertia, 0 * plant.truth.rotor_inertia, 2.0,
                           law.damping)
    estimate = get_estimator('didim', reference=motion, control_law=slow).fit(
        build_regression(arm, [data]))
    assert estimate.status == 'not_converged'
    for word in ('at the simulated states', 'check the control law'):
        assert word in estimate.message


def test_the_closed_loop_needs_reference_and_law_and_says_when_they_are_wrong(controlled):
    arm, _, motion, run = controlled
    data = process(run.recording, arm)
    with pytest.raises(EstimationError, match='needs the reference'):
        fit_samples(arm, [data], FitOptions(get_estimator('idim_iv')))
    with pytest.raises(ConfigurationError, match='must be an excitation'):
        fit_samples(arm, [data], FitOptions(get_estimator('didim', reference=3.0, bandwidth=15)))

    class Pushes:

        def torque(self, q, v, q_ref, v_ref):
            return np.full(2, 50.0)

    with pytest.raises(EstimationError, match='leaves its reference'):
        fit_samples(arm, [data], FitOptions(get_estimator('didim', reference=motion,
                                                          control_law=Pushes())))


def test_settings_are_checked():
    for name, settings in (('ridge', {'deviation': -1}), ('tls', {'ratio': 0}),
                           ('huber', {'threshold': 0}), ('wls', {'colour': 'red'})):
        with pytest.raises(ConfigurationError):
            get_estimator(name, **settings)


@pytest.mark.parametrize(('name', 'friction', 'words'), [
    ('wls', 'coulomb_viscous', ''), ('wls', 'bompos', 'fit almost equally well'),
    ('huber', 'atan', 'as known')])
def test_intervals_that_do_not_hold_are_said_to(name, friction, words):
    arm = two_link()
    data, *_ = friction_samples(arm, friction, seconds=6.0)
    doubt = fit_samples(arm, [data], FitOptions(get_estimator(name), friction)
                        ).estimate.interval_doubt
    assert words in doubt and bool(words) == bool(doubt)


@pytest.mark.parametrize(('estimator', 'friction', 'stated'), [
    ('wls', 'coulomb_viscous', True), ('wls', 'atan', True), ('wls', 'bompos', False),
    ('wls', 'sech_tanh', False), ('ga', 'coulomb_viscous', False),
    ('bounded', 'coulomb_viscous', True)])
def test_no_intervals_are_stated_where_they_would_be_wrong(estimator, friction, stated):
    data, *_ = friction_samples(two_link(), friction)
    estimate = fit_samples(two_link(), [data], FitOptions(
        get_estimator(estimator), friction)).estimate
    assert np.all(np.isfinite(estimate.confidence_interval())) == stated
    assert bool(estimate.interval_doubt) != stated
    assert np.all(np.isfinite(estimate.standard_deviations))
