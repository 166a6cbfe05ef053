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
"""Batch estimators: known truth with every friction model, outliers, noisy positions, refusals."""

import dataclasses

import numpy as np
import pytest
from robot_identification import Recording
from robot_identification.dynamics import FRICTION_MODELS
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import (
    fit_consistent,
    fit_samples,
    FitOptions,
    get_estimator,
)
from robot_identification.regression import build_regression
from robot_identification.signals import process
from robot_identification.simulation import JointController, Plant, PlantOptions, simulate
from simulation_arms import two_link
from test_estimation import standard_truth
from test_variable_projection import samples

BATCH = ('ols', 'wls', 'ridge', 'tls', 'huber')
FRICTIONS = (*(name for name in FRICTION_MODELS if 'literal' not in name), 'atan_asymmetric')
NOISE = 1e-3    # [rad], standard deviation of the positions


@pytest.mark.parametrize('friction', FRICTIONS)
def test_every_pair_recovers_the_truth(friction):
    arm = two_link()
    data, shape, standard, _, load = samples(arm, friction, seed=3, noise=0.05)
    speeds = np.concatenate([-np.linspace(0.03, 1.5, 30), np.linspace(0.03, 1.5, 30)])
    for name in BATCH:
        regression = build_regression(arm, [data], friction,
                                      loads=None if load is None else [load])
        estimate = get_estimator(name).fit(regression)
        assert estimate.status == 'ok', (name, estimate.message)
        truth = estimate.base.of(standard)
        inertial = estimate.base.columns < 22
        error = np.abs(estimate.values - truth)[inertial]
        limit = 5 if name != 'ridge' and not estimate.shape.size else 8
        assert np.all(error < limit * estimate.standard_deviations[inertial] + 1e-3), name
        structure = estimate.base.structure
        model = structure.friction
        for e in range(2):
            chosen = structure.friction_part.start + e * len(model.parameters) + np.arange(
                len(model.parameters))
            values = estimate.values[np.searchsorted(estimate.base.columns, chosen)]
            torque = np.full(len(speeds), 5.0)
            found = model.torque(speeds, values, estimate.shape[e], torque)
            true = model.torque(speeds, standard[chosen], shape[e], torque)
            assert np.max(np.abs(found - true)) < 0.06 * np.max(np.abs(true)), name
        consistent = fit_consistent(regression, estimate)
        assert np.all(consistent.certificate > 0)
        assert np.all(consistent.residual_rms < 1.3 * estimate.residual_rms), name


def test_huber_shrugs_off_collisions():
    arm = two_link()
    data, _, standard, *_ = samples(arm, 'coulomb_viscous', noise=0.05)
    tau = np.array(data.tau)
    tau[300:330] += 8.0
    tau[1200:1215] -= 12.0
    hit = dataclasses.replace(data, tau=tau)
    regression = build_regression(arm, [hit])
    truth = regression.base.of(standard)
    wls, huber = (np.linalg.norm(get_estimator(name).fit(regression).values - truth)
                  for name in ('wls', 'huber'))
    assert huber < wls / 4


def test_ridge_keeps_the_urdf_where_the_motion_says_nothing():
    arm = two_link()
    data, *_ = samples(arm, 'coulomb_viscous')
    still = dataclasses.replace(data, q=np.column_stack([data.q[:, 0], 0 * data.t]),
                                v=np.column_stack([data.v[:, 0], 0 * data.t]),
                                a=np.column_stack([data.a[:, 0], 0 * data.t]))
    regression = build_regression(arm, [still])
    assert get_estimator('wls').fit(regression).status == 'rank_deficient'
    estimate = get_estimator('ridge').fit(regression)
    assert estimate.status == 'ok' and np.all(np.isfinite(estimate.standard_deviations))
    with pytest.raises(EstimationError, match=r'excites every base parameter.*take ridge'):
        get_estimator('tls').fit(regression)


class Lively:
    """Five harmonics of 4 s."""

    def __init__(self, arm):
        self.period, self.joint_names = 4.0, arm.joint_names

    def evaluate(self, t, derivatives=2):
        phase = np.random.default_rng(4).uniform(0, 6, (5, 1, 2))
        w = np.pi / 2 * np.arange(1, 6)[:, None, None]
        size = np.array([0.6, 0.35, 0.2, 0.1, 0.08])[:, None, None]
        x = w * np.asarray(t)[:, None] + phase
        return tuple((size * y).sum(axis=0) for y in (
            np.sin(x), w * np.cos(x), -w ** 2 * np.sin(x)))


@pytest.fixture(scope='module')
def controlled():
    """Return an arm that a joint controller moves; Coulomb and viscous friction, no delay."""
    arm = two_link()
    plant = Plant(arm, PlantOptions(
        stribeck_ratio=1.0, delay=0.0, encoder_bits=None, torque_signal='applied',
        velocity_signal='none', friction_compensation=1.0, rate=500.0, control_rate=1000.0))
    motion = Lively(arm)
    return arm, plant, motion, simulate(plant, motion, rng=np.random.default_rng(0), periods=2)


def test_instruments_take_care_of_noisy_positions(controlled):
    """1 mrad of white noise on the positions; 'unfiltered' is a cut-off at 100 Hz."""
    arm, plant, motion, run = controlled
    noise = NOISE * np.random.default_rng(1).normal(size=run.recording.q.shape)
    noisy = Recording(run.recording.t, run.recording.q + noise, run.recording.tau,
                      joint_names=arm.joint_names)
    errors = {}
    for kind, cutoff in (('filtered', 8.0), ('unfiltered', 100.0)):
        regression = build_regression(arm, [process(noisy, arm, cutoff=cutoff,
                                                    decimation_cutoff=10.0)])
        truth = regression.base.of(standard_truth(regression.base.structure, plant.truth))
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
