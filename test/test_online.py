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
import dataclasses

import numpy as np
import online_data as data
import pinocchio as pin
import pytest
from robot_identification import joint_torque_regressor
from robot_identification.benchmarking.simulated_data import RandomMotion
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import get_estimator
from robot_identification.online import OnlineEstimator
from robot_identification.online.filter_kernels import forget
from robot_identification.online.torque_filter import InformationFilter
from robot_identification.regression import build_regression
from scipy import stats
from slow import others_slow

LINEAR = ('kalman', 'exponential_forgetting')


def test_filter_without_forgetting_is_regularised_least_squares():
    rng = np.random.default_rng(0)
    rows, noise = rng.normal(size=(60, 3, 8)), np.array([0.1, 1.0, 3.0])
    mean, deviation = rng.normal(size=8), rng.uniform(0.5, 5, 8)
    target = rng.normal(size=(60, 3))
    running = InformationFilter(mean, deviation)
    for row, value in zip(rows, target):
        running.update(row, value - row @ running.values, noise)
    stacked = np.vstack([(rows / noise[:, None]).reshape(-1, 8), np.diag(1 / deviation)])
    values = np.concatenate([(target / noise).ravel(), mean / deviation])
    expected, *_ = np.linalg.lstsq(stacked, values, rcond=None)
    assert np.allclose(running.values, expected, rtol=1e-10)
    assert np.allclose(running.covariance, np.linalg.inv(stacked.T @ stacked), rtol=1e-9)
    assert np.allclose(running.deviations ** 2, np.diag(running.covariance))


def test_uniform_forgetting_weighs_by_age():
    rng = np.random.default_rng(1)
    rows, target, keep = rng.normal(size=(40, 1, 3)), rng.normal(size=(40, 1)), 0.9
    running = InformationFilter(np.zeros(3), np.full(3, 1e6), 'uniform')
    for row, value in zip(rows, target):
        running.update(row, value - row @ running.values, np.ones(1), keep)
    weight = np.sqrt(keep ** np.arange(39, -1, -1))
    expected, *_ = np.linalg.lstsq(rows[:, 0] * weight[:, None], target[:, 0] * weight, rcond=None)
    assert np.allclose(running.values, expected, rtol=1e-6)


@pytest.mark.parametrize('keep', [0.3, 0.99])
def test_forgetting_takes_information_in_one_direction_only(keep):
    rng = np.random.default_rng(2)
    factor = np.triu(rng.normal(size=(6, 6)))
    before, row = factor.T @ factor, rng.normal(size=6)
    forget(factor, row, keep)
    after = factor.T @ factor
    along = before @ row
    assert np.allclose(after, before - (1 - keep) * np.outer(along, along) / (row @ along))
    assert np.allclose(np.tril(factor, -1), 0)
    assert np.linalg.eigvalsh(after)[0] > 0


@pytest.mark.parametrize('name', ['kalman', 'extended_kalman'])
def test_kalman_of_linear_friction_is_least_squares(name):
    regression = data.regression('coulomb_viscous')
    estimate = get_estimator(name, width=100.0, rest_speed=0.0).fit(regression)
    least = get_estimator('wls').fit(regression)
    assert np.all(np.abs(estimate.values - least.values) < 0.05 * least.standard_deviations)
    assert np.allclose(estimate.standard_deviations, least.standard_deviations, rtol=0.05)


def test_covariance_of_kalman_is_calibrated():
    _, _, true = data.truth('coulomb_viscous')
    scores = []
    for seed in range(12):
        estimate = get_estimator('kalman', width=30.0, rest_speed=0.0).fit(
            data.regression('coulomb_viscous', seed))
        error = estimate.values - true
        scores.append(error @ np.linalg.solve(estimate.covariance, error))
    total, degrees = sum(scores), 12 * len(true)
    low, high = stats.chi2.ppf([1e-3, 1 - 1e-3], degrees)
    assert low < total < high, total / degrees
    assert not low < total / 2 < high and not low < 2 * total < high


@pytest.mark.parametrize(('name', 'friction'), [
    *((name, friction) for name in LINEAR for friction in ('coulomb_viscous', 'cube_root')),
    *(('extended_kalman', friction) for friction in (
        'coulomb_viscous', 'stribeck', 'sech_tanh')),
    *(('exponential_forgetting_nonlinear', friction) for friction in ('stribeck', 'sech_tanh'))])
def test_known_friction_is_recovered(name, friction):
    """Estimates reported as ok are right, and at most one noise draw is not ok."""
    done, seeds = 0, 2 if name == 'exponential_forgetting_nonlinear' else 3
    for seed in range(seeds):
        estimate = get_estimator(name).fit(data.regression(friction, seed))
        if estimate.status == 'ok':
            done += 1
            error = data.friction_error(estimate, friction)
            assert np.all(error < 0.03), (seed, error)
            assert np.all(estimate.residual_rms < 1.1 * data.NOISE), seed
    assert done >= seeds - 1


@pytest.mark.parametrize('name', LINEAR)
def test_linear_filters_refuse_a_shape(name):
    with pytest.raises(EstimationError, match='is linear and cannot find the shape'):
        get_estimator(name).fit(data.regression('atan'))


@pytest.mark.parametrize(('name', 'friction'), [('kalman', 'coulomb_viscous'),
                                                ('extended_kalman', 'atan')])
def test_a_filter_that_has_not_settled_says_so(name, friction):
    """The filter relies too much on the URDF, which is wrong."""
    estimate = get_estimator(name, width=1e-3).fit(data.regression(friction))
    assert np.any(estimate.residual_rms > 1.05 * data.NOISE)
    assert estimate.status == 'not_converged' and 'or wls' in estimate.message


@pytest.mark.parametrize('name', ['exponential_forgetting', 'exponential_forgetting_nonlinear'])
def test_a_filter_whose_parameters_changed_says_so(name):
    whole = data.samples('coulomb_viscous')
    tau = whole.tau + whole.v * np.linspace(0, 20.0, len(whole.t))[:, None]
    estimate = get_estimator(name, memory=0.5).fit(build_regression(
        data.motion()[0], [dataclasses.replace(whole, tau=tau)]))
    assert estimate.status == 'not_converged'
    assert 'its parameters changed within the recording' in estimate.message


def online(memory, forgetting='directional', **options):
    arm, base, _ = data.truth('coulomb_viscous')
    return OnlineEstimator(arm, data.NOISE, base, period=0.01, memory=memory,
                           forgetting=forgetting, **options)


def test_stepping_gives_what_the_estimator_gives():
    part = data.samples('coulomb_viscous')
    arm, base, _ = data.truth('coulomb_viscous')
    running = OnlineEstimator(arm, get_noise(part), base, period=0.01)
    for row in zip(part.q, part.v, part.a, part.tau):
        update = running.update(*row)
    estimate = get_estimator('kalman').fit(data.regression('coulomb_viscous'))
    assert np.allclose(update.parameters, estimate.values, rtol=1e-6, atol=1e-6)
    assert 0.5 < running.noise_ratio < 2.0    # noise is white
    assert np.allclose(running.deviations / np.sqrt(running.noise_ratio),
                       estimate.standard_deviations, rtol=1e-6)
    assert update.innovation.shape == (3,) and not update.parameters.flags.writeable


def get_noise(part):
    from robot_identification.estimation.estimator import ReweightedFit
    return ReweightedFit.of(data.regression('coulomb_viscous').normal).deviations


@pytest.mark.parametrize('power', [1, 2], ids=['ramp', 'parabola'])
@pytest.mark.parametrize(('forgetting', 'memory'), [('directional', 0.3), ('uniform', 2.0)])
def test_forgetting_follows_changing_friction_closer_than_kalman(power, forgetting, memory):
    part = data.samples('coulomb_viscous')
    change = 20.0 * (part.t / part.t[-1]) ** power
    tau = part.tau.copy()
    tau[:, 2] += change * part.v[:, 2]
    true = data.PARAMETERS['coulomb_viscous'][1] + change
    errors = []
    for running in (online(None), online(memory, forgetting)):
        place = running.names.index('joint_3.viscous')
        found = np.array([running.update(*row).parameters[place]
                          for row in zip(part.q, part.v, part.a, tau)])
        later = slice(len(found) // 3, None)
        errors.append(np.sqrt(np.mean((found - true)[later] ** 2)))
    assert errors[1] < 0.8 * errors[0], errors


def test_rest_winds_nothing_up():
    part = data.samples('coulomb_viscous')
    rng = np.random.default_rng(0)
    runs = {'directional': online(1.0), 'uniform': online(1.0, 'uniform', rest_speed=0.0)}
    for row in zip(part.q[:1000], part.v[:1000], part.a[:1000], part.tau[:1000]):
        for running in runs.values():
            running.update(*row)
    before = {name: running.deviations.copy() for name, running in runs.items()}
    held = runs['directional'].parameters.copy()
    for _ in range(1500):       # 15 s at rest, with noise of a differentiated encoder
        v = 1e-3 * rng.standard_normal(3)
        for running in runs.values():
            update = running.update(part.q[1000], v, 10 * v, part.tau[1000])
            if running is runs['directional']:
                assert not update.used.any()
    assert np.array_equal(runs['directional'].deviations, before['directional'])
    assert np.array_equal(runs['directional'].parameters, held)
    assert np.max(runs['uniform'].deviations / before['uniform']) > 10


def test_covariance_stays_positive_over_hours_of_a_small_motion():
    rng = np.random.default_rng(3)
    running = InformationFilter(np.zeros(12), np.ones(12), 'directional')
    fixed = rng.normal(size=(3, 12))
    for k in range(100_000):     # more than an hour at 25 Hz along the same few directions
        rows = fixed * (1 + 0.1 * np.sin(0.01 * k))
        running.update(rows, rng.normal(size=3), np.ones(3), 0.999)
    deviations = running.deviations
    assert np.all(np.isfinite(deviations)) and np.all(deviations <= 1.0 + 1e-9)
    assert np.linalg.eigvalsh(running.covariance)[0] > 0


def long_motion(seconds, seed=0):
    """Return the arm's states at 100 Hz, and its torques without noise."""
    arm, *_ = data.motion()
    q, v, a = RandomMotion(arm, seconds, np.random.default_rng(seed), wobble=True).evaluate(
        np.arange(0, seconds, 0.01))
    plant = data.motion()[1]
    return q, v, a, plant.rigid_torque(q, v, a) + data.friction_torque('coulomb_viscous', v)


BODY = 10.0 * np.array([1.0, 0.05, 0.0, 0.1, 0.0125, 0.0, 0.015, -0.005, 0.0, 0.005])


@pytest.mark.parametrize('seed', others_slow(range(3)))
def test_a_body_is_found_when_it_is_picked_up_and_put_down(seed):
    q, v, a, tau = long_motion(60.0, seed)
    at = slice(2000, 4000)    # 20 to 40 s
    tau[at] += joint_torque_regressor(data.motion()[0], q[at], v[at], a[at])[:, :, -10:] @ BODY
    rng = np.random.default_rng(seed)
    tau = tau + data.NOISE * rng.standard_normal(tau.shape)
    running, plain = online(20.0), online(20.0)
    plain._monitor = None
    _, base, true = data.truth('coulomb_viscous')
    loaded = true + base.matrix[:, 20:30] @ BODY
    columns = base.structure.columns(*long_motion(10.0, 99)[:3])[:, :, base.columns]

    def error(estimator, expected):
        return np.sqrt(np.mean((columns @ (estimator.parameters - expected)) ** 2))

    for k, row in enumerate(zip(q, v, a, tau)):
        running.update(*row)
        plain.update(*row)
        if k == 1999:
            assert running.load_change is None
            before = error(running, true)
        if k == 2999:
            assert error(running, loaded) < 2 * before + 0.5 < 0.3 * error(plain, loaded)
            change = running.load_change
            truth = np.append(BODY[0], BODY[1:4] / BODY[0])
            low, high = change.intervals(0.999).T
            assert np.all((low < truth) & (truth < high)), (change.intervals(), truth)
            assert abs(change.time - 20.0) < 0.3
            assert change.earliest <= change.time <= change.latest < change.earliest + 0.5
            assert change.deviations[0] < 1.0
    assert running.load_change.time == pytest.approx(40.0, abs=0.3)
    assert running.load_change.mass == pytest.approx(-BODY[0], abs=4 * change.deviations[0])


def correlated_noise(count, rng, keep):
    level, out = rng.standard_normal(3), np.empty((count, 3))
    for k, row in enumerate(rng.standard_normal((count, 3))):
        level = keep * level + np.sqrt(1 - keep ** 2) * row
        out[k] = level
    return out * data.NOISE


@pytest.mark.parametrize('memory', others_slow([20.0, None]))
def test_intervals_contain_the_parameters_with_noise_that_is_correlated_over_a_tenth(memory):
    *_, true = data.truth('coulomb_viscous')
    inside, without = [], []
    for seed in range(6):
        q, v, a, tau = long_motion(40.0, seed)
        tau = tau + correlated_noise(len(q), np.random.default_rng(seed), np.exp(-0.1))
        running = online(memory)
        for row in zip(q, v, a, tau):
            running.update(*row)
        error = np.abs(running.parameters - true) / running.deviations
        inside.append(np.mean(error < 1.96))
        without.append(np.mean(error * np.sqrt(running.noise_ratio) < 1.96))
        assert running.load_change is None
    assert np.mean(inside) >= 0.9 > 0.7 > np.mean(without)


@pytest.mark.parametrize('seed', others_slow(range(4)))
def test_friction_that_falls_with_temperature_is_no_load(seed):
    """By 30 % within a minute, faster than a gear warms up."""
    q, v, a, tau = long_motion(60.0, seed)
    tau -= 0.3 * np.linspace(0, 1, len(q))[:, None] * data.friction_torque('coulomb_viscous', v)
    tau = tau + data.NOISE * np.random.default_rng(0).standard_normal(tau.shape)
    running = online(20.0)
    for row in zip(q, v, a, tau):
        running.update(*row)
    assert running.load_change is None


def tool_torque(q, force):
    """Return the joint torques of a force at the tool, in the base frame, (N, n)."""
    arm, *_ = data.motion()
    robot, out = arm.model.createData(), np.empty_like(q)
    for k, row in enumerate(q):
        pin.computeJointJacobians(arm.model, robot, row)
        out[k] = pin.getFrameJacobian(arm.model, robot, arm.tool, pin.LOCAL_WORLD_ALIGNED)[
            :3].T @ force
    return out


@pytest.mark.parametrize('duration', [0.3, 1.0, 3.0])
@pytest.mark.parametrize('force', others_slow(
    [(0.0, 200.0, 0.0), (300.0, 0.0, 0.0), (0.0, 100.0, -300.0)]))
def test_a_push_is_no_load(duration, force):
    """After a push that ends within five seconds, the estimate is that before the push."""
    q, v, a, tau = long_motion(40.0, 5)
    at = slice(2000, 2000 + round(100 * duration))
    tau[at] += tool_torque(q[at], np.array(force))
    tau = tau + data.NOISE * np.random.default_rng(0).standard_normal(tau.shape)
    running, without = online(20.0), online(20.0)
    for k, row in enumerate(zip(q, v, a, tau)):
        running.update(*row)
        if not at.start <= k < at.stop:
            without.update(*row)
    assert running.load_change is None
    change = running.parameters - without.parameters
    assert np.all(np.abs(change) < 2 * running.deviations)


@pytest.mark.parametrize('factor', [0.6, 0.7, 1.3, 1.5])
def test_a_sudden_change_of_the_friction_is_no_load(factor):
    q, v, a, tau = long_motion(40.0, 6)
    tau[2000:] += (factor - 1) * data.friction_torque('coulomb_viscous', v[2000:])
    tau = tau + data.NOISE * np.random.default_rng(0).standard_normal(tau.shape)
    running = online(20.0)
    for row in zip(q, v, a, tau):
        running.update(*row)
    assert running.load_change is None


def test_a_load_that_is_taken_over_gradually_is_found():
    q, v, a, tau = long_motion(40.0, 7)
    share = np.clip((np.arange(len(q)) - 2000) / 50, 0, 1)[:, None]    # within half a second
    tau += share * (joint_torque_regressor(data.motion()[0], q, v, a)[:, :, -10:] @ BODY)
    tau = tau + data.NOISE * np.random.default_rng(0).standard_normal(tau.shape)
    running = online(20.0)
    for row in zip(q, v, a, tau):
        running.update(*row)
    assert running.load_change.mass == pytest.approx(BODY[0], rel=0.03)
    assert 20.0 <= running.load_change.time < 20.5


def test_widening_adds_to_the_covariance():
    rng = np.random.default_rng(4)
    running = InformationFilter(np.zeros(6), rng.uniform(0.5, 3.0, 6))
    running.update(rng.normal(size=(4, 6)), rng.normal(size=4), np.ones(4))
    state, before, directions = running.copy_state(), running.covariance, rng.normal(size=(6, 2))
    running.widen(directions)
    assert np.allclose(running.covariance, before + directions @ directions.T)
    running.update(rng.normal(size=(4, 6)), rng.normal(size=4), np.ones(4))
    running.restore_state(state)
    assert np.array_equal(running.covariance, before)
    rows = rng.normal(size=(3, 6))
    assert np.allclose(running.projected_covariance(rows), rows @ before @ rows.T)


def test_wrong_options_end_with_a_sentence():
    arm, base, _ = data.truth('coulomb_viscous')
    for options in ({'noise': 0.0}, {'noise': 1.0, 'memory': -1.0}, {'noise': 1.0, 'period': 0.0}):
        with pytest.raises(ConfigurationError, match='must be positive'):
            OnlineEstimator(arm, friction=base, **options)
    with pytest.raises(ConfigurationError, match='choose from: directional, none, uniform'):
        OnlineEstimator(arm, 1.0, base, memory=1.0, forgetting='sudden')
    with pytest.raises(ConfigurationError, match='transmitted torque'):
        OnlineEstimator(arm, 1.0, 'load_dependent')
    with pytest.raises(EstimationError, match='memory must be positive'):
        get_estimator('exponential_forgetting', memory=0.0)
