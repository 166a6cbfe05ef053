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
"""Estimators: known truth within the claimed covariance, and correct statuses."""

from __future__ import annotations

import dataclasses

from known_truth import samples_of, standard_truth
import numpy as np
import pytest
from robot_identification import Recording
from robot_identification.dynamics import base_parameters, ModelStructure
from robot_identification.errors import EstimationError, UnknownNameError
from robot_identification.estimation import get_estimator
from robot_identification.regression import build_regression
from robot_identification.regression.blocked_regression import autocorrelation_factor
from robot_identification.signals import process
from robot_identification.simulation import Plant, PlantOptions, simulate
from scipy import stats
from simulation_arms import example, slow_motion

SEEDS = 50


@pytest.fixture(scope='module')
def matched():
    """Return a matched plant on its reference, two periods: the model is exact up to the noise."""
    arm = example('ur5')
    plant = Plant(arm, PlantOptions.matched(rate=200.0))
    run = simulate(plant, slow_motion(arm, period=5.0), rng=np.random.default_rng(0), periods=2)
    return arm, plant, run


@pytest.fixture(scope='module')
def noisy(matched):
    """Return the regressions of 50 noise draws."""
    arm, plant, run = matched
    sigma = plant.options.torque_noise * plant.truth.rated_torque
    return [build_regression(arm, [process(Recording(
        run.recording.t, run.q,
        run.torque + sigma * np.random.default_rng(seed).normal(size=run.torque.shape),
        joint_names=arm.joint_names), arm, period=5.0)]) for seed in range(SEEDS)]


@pytest.mark.parametrize('name', ('mle', 'ols', 'wls', 'huber'))
def test_errors_are_as_large_as_the_covariance_says(matched, noisy, name):
    """Two-sided chi-square test over 50 seeds; half and twice the covariance must fail."""
    _, plant, _ = matched
    total, count = 0.0, 0
    for regression in noisy:
        estimate = get_estimator(name).fit(regression)
        base = regression.base
        error = estimate.values - base.project(standard_truth(base.structure, plant.truth))
        total += error @ np.linalg.solve(estimate.covariance, error)
        count += len(error)
    low, high = stats.chi2.ppf([0.0005, 0.9995], count)
    assert low < total < high
    assert not low < total / 2 < high
    assert not low < total * 2 < high
    assert estimate.status == 'ok'


def test_wls_knows_the_quiet_joints(matched):
    arm, plant, run = matched
    regression = build_regression(arm, [process(run.recording, arm)])
    ols, wls = (get_estimator(name).fit(regression) for name in ('ols', 'wls'))
    expected = (plant.options.torque_noise * plant.truth.rated_torque
                * np.sqrt(regression.samples[0].decimator().noise_gain))
    assert np.allclose(wls.noise, expected, rtol=0.2)
    assert np.sum(wls.standard_deviations < ols.standard_deviations) > 0.9 * wls.base.rank


def test_ols_is_least_squares():
    arm = example('ur5')
    regression = build_regression(arm, [samples_of(arm)])
    estimate = get_estimator('ols').fit(regression)
    samples, base = regression.samples[0], regression.base
    matrix = base.structure.columns(samples.q, samples.v, samples.a)[:, :, base.columns]
    matrix = matrix.reshape(-1, base.rank)
    expected = np.linalg.lstsq(matrix, samples.tau.ravel(), rcond=None)[0]
    assert np.allclose(estimate.values, expected, rtol=1e-6, atol=1e-8)
    assert estimate.condition_number == pytest.approx(np.linalg.cond(matrix), rel=1e-6)
    interval = estimate.confidence_interval(0.95)
    assert np.allclose(interval.mean(axis=1), estimate.values)
    assert np.allclose(np.diff(interval, axis=1)[:, 0],
                       2 * 1.959964 * estimate.standard_deviations)


def test_what_is_not_excited_is_named():
    """The parameters of a joint that hardly moves are undetermined, and the message names them."""
    arm = example('ur5')
    samples = samples_of(arm)
    still = [np.array(x) for x in (samples.q, samples.v, samples.a)]
    still[0][:, 5], still[1][:, 5], still[2][:, 5] = 0.3, 0.0, 0.0
    regression = build_regression(
        arm, [dataclasses.replace(samples, q=still[0], v=still[1], a=still[2])])
    for name in ('ols', 'wls'):
        estimate = get_estimator(name).fit(regression)
        assert estimate.status == 'rank_deficient'
        assert estimate.rank < estimate.base.rank
        assert {'wrist_3_joint.coulomb', 'wrist_3_joint.viscous'} <= set(estimate.unexcited)
        assert 'wrist_3_joint.coulomb' in estimate.message
        assert 'shoulder_lift_joint.coulomb' not in estimate.unexcited
        place = estimate.labels.index('wrist_3_joint.viscous')
        assert np.isinf(estimate.standard_deviations[place])
        assert np.isfinite(estimate.standard_deviations).sum() == (
            estimate.base.rank - len(estimate.unexcited))


def test_mle_needs_measured_noise():
    arm = example('ur5')
    with pytest.raises(EstimationError, match='at least two periods'):
        get_estimator('mle').fit(build_regression(arm, [samples_of(arm)]))


def test_unknown_estimator_lists_what_there_is():
    with pytest.raises(UnknownNameError, match=r'choose from: .*mle, ols.*wls'):
        get_estimator('magic')


def test_colour_is_one_for_white_noise_and_grows_with_correlation():
    rng = np.random.default_rng(0)
    white = rng.normal(size=(4000, 3))
    assert np.array_equal(autocorrelation_factor([white], len(white)), np.ones(3))
    slow = white.copy()
    for k in range(1, len(slow)):
        slow[k] += 0.8 * slow[k - 1]    # density at zero over variance: (1 + 0.8) / (1 - 0.8)
    assert np.allclose(autocorrelation_factor([slow], len(slow)), 9.0, rtol=0.25)


def test_colour_is_the_mean_square_of_sums_over_rows():
    residuals = np.cumsum(np.random.default_rng(0).normal(size=(40_000, 2)), axis=0)
    length = 201    # number of rows
    sums = np.array([np.convolve(column, np.ones(length), 'valid') for column in residuals.T])
    expected = np.mean(sums ** 2, axis=1) / np.mean(residuals ** 2, axis=0) / length
    assert np.allclose(autocorrelation_factor([residuals], len(residuals)), expected, rtol=1e-9)


def test_an_exact_fit_is_no_accident():
    """Torques without noise: many correct digits and no division by zero."""
    arm = example('ur5')
    regression = build_regression(arm, [samples_of(arm, noise=0.0)])
    estimate = get_estimator('wls').fit(regression)
    standard = np.zeros(regression.base.structure.count)
    standard[regression.base.structure.inertial_slice] = arm.inertial_parameters.ravel()
    assert np.allclose(estimate.values, base_parameters(ModelStructure.of(arm)).project(standard),
                       atol=1e-7)
    assert np.all(np.isfinite(estimate.standard_deviations))
