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
"""Square-root unscented Kalman filter: closed forms, exact and noisy positions, refusals."""

from dataclasses import replace
from functools import partial

from known_truth import friction_samples, standard_truth
import numpy as np
import pytest
from robot_identification import Recording
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import get_estimator
from robot_identification.papers.unscented import UnscentedFilter
from robot_identification.registry import load_extensions
from robot_identification.regression import build_regression
from robot_identification.signals import process
from robot_identification.simulation import simulate
from simulation_arms import Lively, matched_plant, two_link

load_extensions()


def linear(rows, states, points):
    return (points @ rows[:, :states].T,
            np.broadcast_to(rows[:, states:], (len(points), *rows[:, states:].shape)))


def test_a_linear_problem_has_the_result_of_the_kalman_filter():
    rng = np.random.default_rng(0)
    states, measured = 4, 5
    mean, std = rng.normal(size=7), rng.uniform(0.5, 2, 7)
    running = UnscentedFilter(mean, std, states)
    covariance = np.diag(std ** 2)
    used = np.array([True, False, True, True, True])
    for _ in range(40):
        transition = np.eye(7)
        transition[:states, :states] = rng.normal(size=(states, states)) / 2
        process_noise = np.zeros((7, 2))
        process_noise[:states] = rng.normal(size=(states, 2))
        rows, noise = rng.normal(size=(measured, 7)), rng.uniform(0.1, 1, measured)
        values = rng.normal(size=measured)
        running.predict(transition[:states, :states], process_noise[:states])
        running.update(partial(linear, rows, states), values, noise, used)
        mean = transition @ mean
        covariance = transition @ covariance @ transition.T + process_noise @ process_noise.T
        own = rows[used]
        gain = covariance @ own.T @ np.linalg.inv(
            own @ covariance @ own.T + np.diag(noise[used] ** 2))
        mean = mean + gain @ (values[used] - own @ mean)
        covariance = covariance - gain @ own @ covariance
        assert np.allclose(running.mean, mean, rtol=1e-9, atol=1e-9)
        assert np.allclose(running.covariance, covariance, rtol=1e-8, atol=1e-9)
        assert np.array_equal(running.factor, np.tril(running.factor))


def test_a_product_of_state_and_parameter_has_its_exact_moments():
    x, b, dx, db, noise, value = 0.7, -1.3, 0.4, 0.9, 0.2, 1.0
    running = UnscentedFilter(np.array([x, b]), np.array([dx, db]), 1)
    running.update(lambda states: (np.zeros((len(states), 1)), states[:, :, None]),
                   np.array([value]), np.array([noise]), np.array([True]))
    variance = x**2 * db**2 + b**2 * dx**2 + dx**2 * db**2 + noise**2
    cross = np.array([b * dx**2, x * db**2])
    assert np.allclose(running.mean, [x, b] + cross / variance * (value - x * b), rtol=1e-12)
    assert np.allclose(running.covariance, np.diag([dx**2, db**2])
                       - np.outer(cross, cross) / variance, rtol=1e-12)


def test_a_new_recording_keeps_what_is_known_of_the_parameters():
    rng = np.random.default_rng(1)
    running = UnscentedFilter(rng.normal(size=5), np.ones(5), 3)
    running.factor = np.tril(rng.normal(size=(5, 5)))
    before = running.covariance[3:, 3:]
    running.restart(np.arange(3.0), np.full(3, 0.5))
    assert np.allclose(running.covariance[3:, 3:], before)
    assert np.allclose(running.covariance[:3], np.hstack([np.eye(3) / 4, np.zeros((3, 2))]))


@pytest.mark.slow
def test_exact_states_have_the_result_of_the_kalman_filter():
    """Both start from the URDF; torques are averaged over 10 ms, or decimated."""
    data, _, standard, *_ = friction_samples(two_link(), 'coulomb_viscous', seconds=16.0)
    regression = build_regression(two_link(), [data])
    truth = regression.base.project(standard)
    estimate, kalman = (get_estimator(name).fit(regression) for name in ('srukf', 'kalman'))
    assert estimate.status == 'ok', estimate.message
    assert np.all(np.abs(estimate.values - truth) < 4 * estimate.standard_deviations)
    assert np.all(np.abs(estimate.values - kalman.values) < 4 * estimate.standard_deviations)
    for values in (estimate.values, kalman.values):
        assert np.all(np.sqrt(np.mean(regression.residuals(values) ** 2, axis=0))
                      < 1.05 * get_estimator('wls').fit(regression).residual_rms)


def test_noisy_positions_need_no_control_law():
    """White noise of 1 mrad on the positions, with a cut-off of 100 Hz."""
    arm = two_link()
    plant, motion = matched_plant(arm), Lively(arm)
    run = simulate(plant, motion, rng=np.random.default_rng(0), periods=2)
    noise = 1e-3 * np.random.default_rng(1).normal(size=run.recording.q.shape)
    noisy = Recording(run.recording.t, run.recording.q + noise, run.recording.tau,
                      joint_names=arm.joint_names)
    regression = build_regression(arm, [process(noisy, arm, cutoff=100.0,
                                                decimation_cutoff=10.0)])
    truth = regression.base.project(standard_truth(regression.base.structure, plant.truth))
    estimate = get_estimator('srukf').fit(regression)
    error = np.linalg.norm(estimate.values - truth)
    assert estimate.status == 'ok', estimate.message
    assert np.all(np.abs(estimate.values - truth) < 4 * estimate.standard_deviations)
    for name in ('ols', 'kalman'):
        assert error < np.linalg.norm(get_estimator(name).fit(regression).values - truth) / 3, name


def test_what_the_filter_cannot_find_is_refused():
    data, *_ = friction_samples(two_link(), 'stribeck', seconds=4.0)
    regression = build_regression(two_link(), [data], 'stribeck')
    with pytest.raises(EstimationError, match='srukf does not find the friction'):
        get_estimator('srukf').fit(type(regression)(regression.base, [data], fixed=False))
    short, *_ = friction_samples(two_link(), 'coulomb_viscous', seconds=16.0)
    pieces = tuple(slice(k, k + 6) for k in range(0, 3000, 6))
    with pytest.raises(EstimationError, match='every run of samples is too short'):
        get_estimator('srukf').fit(build_regression(two_link(), [replace(
            short, segments=pieces, decimation_cutoff=float('inf'))]))
    with pytest.raises(ConfigurationError, match='position_noise must be positive'):
        get_estimator('srukf', position_noise=-1.0)
