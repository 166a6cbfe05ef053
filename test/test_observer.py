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
"""The momentum observer on closed-form motions: external torque, contact, wrench, feed-forward."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest
from robot_identification import IdentifiedModel, load_arm, load_model
from robot_identification.dynamics import get_friction
from robot_identification.dynamics.identified_model import UNCERTAINTY
from robot_identification.errors import (
    ConfigurationError,
    EstimationError,
    ExecutionError,
    ModelFileError,
    UnknownNameError,
)
from robot_identification.estimation.estimate import (
    halton_points,
    low_rank_covariance,
    to_rows,
)
from robot_identification.online import (
    calibrate_residuals,
    Compensation,
    CompensationLimits,
    ContactObserver,
    detectable_force,
    MomentumObserver,
    tool_wrench,
    trajectory_efforts,
)
from robot_identification.online.residuals import (
    _rest_statistics,
    BREAKAWAY,
    CHANGE,
    FrictionAllowance,
    OWN,
)
from robot_identification.ros.sliding_window import SlidingWindow
from scipy.stats.qmc import Halton
from simulation_arms import slow_motion, two_link

RATE = 500.0


def model_of(arm, friction='coulomb_viscous', size=1.0):
    m = len(arm.transmission)
    values = {'coulomb_viscous': [0.5, 0.3, 0.1], 'load_dependent': [0.4, 0.3, 0.05, 0.1]}
    return IdentifiedModel(arm, arm.inertial_parameters * 1.1, np.full(m, 0.1), friction,
                           np.tile(np.array(values[friction]) * size, (m, 1)))


def moving(model, seconds, seed=0, push=None, noise=0.0):
    """Return t and states of the arm, with drive torques reduced by an external push."""
    t = np.arange(0, seconds, 1 / RATE)
    q, v, a = slow_motion(model.arm, seed=seed).evaluate(t)
    tau = model.torque(q, v, a)
    if push is not None:
        tau = tau - push(t)
    tau = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
    return t, q, v, tau


@pytest.mark.parametrize('friction', ['coulomb_viscous', 'load_dependent'])
def test_external_torque_is_found_through_a_low_pass(friction):
    model = model_of(load_arm('panda'), friction, size=0.0 if friction == 'load_dependent' else 1)
    amount = np.arange(1.0, 8.0)
    t, q, v, tau = moving(model, 4.0, push=lambda t: amount * (t > 2.0)[:, None])
    found = MomentumObserver(model, 10.0).run(t, q, v, tau)
    fast = np.abs(v).min(axis=1) > 0.05    # not near reversals, where friction is uncertain
    before = (t > 0.5) & (t < 2.0)
    assert np.abs(found[before]).max() < (1.1 if friction == 'coulomb_viscous' else 1e-2)
    after = (t > 2.3) & fast
    assert np.median(np.abs(found[after] - amount)) < 0.05
    # a first-order low-pass reaches 63 % after one time constant
    k = int(np.searchsorted(t, 2.0 + 1 / (2 * np.pi * 10.0)))
    frictionless = dataclasses.replace(
        model, friction_parameters=np.zeros_like(model.friction_parameters))
    t, q, v, tau = moving(frictionless, 2.2, push=lambda t: amount * (t > 2.0)[:, None])
    step = MomentumObserver(frictionless, 10.0).run(t, q, v, tau)[k]
    np.testing.assert_allclose(step / amount, 1 - np.exp(-1), atol=0.06)


def test_contact_is_flagged_and_false_alarms_are_as_rare_as_stated():
    model = model_of(two_link(), size=0.0)
    observer = MomentumObserver(model, 5.0)
    statistics = calibrate_residuals(observer, *moving(model, 20.0, noise=0.3))
    assert np.all(statistics.deviation < 0.3) and statistics.seconds > 15
    assert statistics.threshold(1.0) > statistics.threshold(100.0) > 3.0
    contact = ContactObserver(MomentumObserver(model, 5.0), statistics, 1.0)
    alarms = [contact.step(*row).contact for row in zip(*moving(model, 20.0, seed=3, noise=0.3))]
    assert not any(alarms)
    contact.observer.reset()
    level = 1.5 * contact.threshold * statistics.deviation[1]
    t, q, v, tau = moving(model, 4.0, seed=5, noise=0.3,
                          push=lambda t: np.outer(t > 2.0, [0.0, level]))
    found = [contact.step(*row) for row in zip(t, q, v, tau)]
    assert not any(x.contact for x in found[:950]) and any(x.joints[1] for x in found[1000:])


def test_gaps_jumps_of_the_clock_and_missing_numbers_are_no_contact_and_pass():
    model = model_of(two_link(), size=0.0)
    observer = MomentumObserver(model, 5.0)
    statistics = calibrate_residuals(observer, *moving(model, 20.0, noise=0.02))
    level = 3 * statistics.threshold() * statistics.deviation[1]
    t, q, v, tau = moving(model, 12.0, seed=3, noise=0.02,
                          push=lambda t: np.outer(t > 11.0, [0.0, level]))
    kept = np.flatnonzero(t % 1.0 > 0.15)    # 150 ms of every second are missing
    late = np.where(t > 6.0, t - 1000.0, t)    # the clock is set back
    for gap, expected in ((0.1, False), (10.0, True)):
        contact = ContactObserver(MomentumObserver(model, 5.0), statistics, gap=gap)
        found = np.array([contact.step(late[k], q[k], v[k], tau[k]).contact for k in kept])
        assert found[t[kept] < 11.0].any() == expected
        assert found[-1]
    for wrong in ((np.nan, q[-1], v[-1], tau[-1]),
                  (late[-1] + 1e-3, q[-1], v[-1], [0.0, np.nan])):
        with pytest.raises(ConfigurationError, match='is not finite'):
            contact.step(*wrong)
    step = 1 / RATE
    assert contact.step(late[-1] + step, q[-1], v[-1], tau[-1]).contact    # a new start
    with pytest.raises(ConfigurationError, match='not later'):
        contact.step(late[-1] + step, q[-1], v[-1], tau[-1])
    t, q, v, tau = moving(model, 20.0, noise=0.02)
    kept = t % 1.0 > 0.15
    again = calibrate_residuals(MomentumObserver(model, 5.0), t[kept], q[kept], v[kept], tau[kept])
    assert again.threshold() * again.deviation == pytest.approx(
        statistics.threshold() * statistics.deviation, rel=0.5)


def test_a_joint_without_effort_is_never_in_contact():
    model = model_of(dataclasses.replace(two_link(), unmeasured=('elbow',)), size=0.0)
    t, q, v, tau = moving(model, 8.0, noise=0.1)
    tau[:, 1] = 0.0
    statistics = calibrate_residuals(MomentumObserver(model, 5.0), t, q, v, tau)
    assert np.isinf(statistics.deviation[1]) and 3 < statistics.threshold() < 20
    found = ContactObserver(MomentumObserver(model, 5.0), statistics).step(0, q[9], v[9], tau[9])
    assert np.isnan(found.torque[1]) and not found.joints[1]
    wrench = tool_wrench(model.arm, q[9], [1.0, np.nan], found.deviation)
    assert wrench.rank == 1 and np.all(np.isfinite(wrench.values))


def test_a_window_begins_anew_when_the_clock_is_set_back():
    window = SlidingWindow(1, 0.1, 0.01)
    t = np.arange(50) * 0.01
    moved = [window.add(x, 2 * x[:, None], x[:, None]) for x in (t, t - 30.0, t - 29.5)]
    assert [len(x) for x in moved] == [pytest.approx(40, abs=2)] * 2 + [50]
    assert all(i.v == pytest.approx(2.0) and i.t < -28 for x in moved[1:] for i in x)
    jitter = np.arange(200) * 0.0025 + 31.0 - 0.01 * (np.arange(200) % 2)    # not set back
    assert len(window.add(jitter, 2 * jitter[:, None], jitter[:, None])) > 20


@pytest.mark.parametrize('dimensions', [2, 14, 60])
def test_states_of_the_uncertainty_are_halton_points(dimensions):
    expected = Halton(dimensions, scramble=False).random(500)
    np.testing.assert_allclose(halton_points(500, dimensions), expected, rtol=1e-15)


def test_uncertainty_grows_with_the_covariance_and_at_rest():
    model = model_of(two_link())
    statistics = calibrate_residuals(MomentumObserver(model), *moving(model, 8.0, noise=0.1))
    q, v = np.zeros((2, 2)), np.array([[1.0, 1.0], [0.0, 1.0]])
    free = statistics.deviations(v, statistics.uncertainty(model, q, v)[0])
    count = 2 * 10 + 2 + 2 * 3
    wider = dataclasses.replace(statistics, directions=0.1 * np.eye(count))
    assert np.all(wider.deviations(v, wider.uncertainty(model, q, v)[0]) > free)


def test_friction_at_rest_is_a_bound_that_ends_after_some_travel():
    model = model_of(two_link())
    statistics = calibrate_residuals(MomentumObserver(model), *moving(model, 8.0, noise=0.1))
    contact = ContactObserver(MomentumObserver(model, 10.0), statistics)
    friction = statistics.uncertainty(model, np.zeros((1, 2)), np.zeros((1, 2)))[1][0]
    rest, motion = contact.limits(np.zeros(2))
    assert np.all(rest - motion > 0.9 * friction) and np.all(rest - motion < 1.5 * friction)
    allowance = FrictionAllowance(10.0)
    speed = np.concatenate([np.zeros(50), np.full(200, 0.5)])    # from rest in one step
    levels = np.array([allowance.step(k / RATE, np.array([v]), np.zeros(1), np.array([1.0]))[0]
                       for k, v in enumerate(speed)])
    assert levels[40] == pytest.approx(BREAKAWAY)
    just, later = 50 + round(0.03 * RATE), 50 + round(0.25 * RATE)
    assert levels[just] > BREAKAWAY and levels[later] == pytest.approx(CHANGE, abs=0.02)
    back = FrictionAllowance(10.0)
    values = [back.step(k / RATE, np.array([v]), np.zeros(1), np.array([1.0]))[0]
              for k, v in enumerate([0.5] * 200 + [-0.5] * 5)]
    assert values[199] < CHANGE + 0.02 and values[201] > BREAKAWAY    # after a reversal


@pytest.mark.parametrize('rate', [200.0, 1000.0])
def test_a_torque_that_is_late_is_no_contact(rate):
    """A step of the torque that is 5 ms late, seen through the observer's low-pass of 10 Hz."""
    t = np.arange(0, 0.3, 1 / rate)
    late = 2 * np.pi * 10.0 * np.maximum(t - 0.1 - np.array([[0.0], [0.005]]), 0.0)
    residual = np.abs(np.diff(-np.expm1(-late), axis=0))[0]
    allowance = FrictionAllowance(10.0)
    levels = np.array([allowance.step(each, np.ones(1), np.array([float(each >= 0.105)]),
                                      np.zeros(1))[0] for each in t])
    peak = int(np.argmax(residual))
    assert residual[peak] > 0.2 and np.all(levels[peak:] > 0.8 * residual[peak:])
    assert levels[-1] < 1e-3


def test_friction_at_rest_is_estimated_beyond_the_largest_pause():
    rng, resting = np.random.default_rng(0), np.tile([True] * 5 + [False] * 2, 20)
    held = [np.repeat(rng.uniform(-1, 1, (20, 1)), 7, axis=0) for _ in range(200)]
    found = np.array([_rest_statistics(each, np.ones_like(each), resting)[0] for each in held])
    assert 0.4 < np.mean(found > 1) < 0.6    # the largest pause itself never exceeds the bound


@pytest.mark.slow
def test_pauses_of_the_reference_teach_the_friction_at_rest():
    model, rng = model_of(two_link()), np.random.default_rng(0)
    friction, noise = np.array([0.5, 0.3]), 0.01

    def work(pauses, push=0.0):
        """Return states that move for 1 s and rest for 1 s, held by up to 1.3 of `friction`."""
        goals = np.cumsum(rng.choice([-0.4, 0.4], (pauses + 1, 2)), axis=0) * 0.3
        s = np.clip(np.arange(0, 2, 1 / RATE), 0, 1)[:, None]
        shape = [(10 * s**3 - 15 * s**4 + 6 * s**5), (30 * s**2 - 60 * s**3 + 30 * s**4),
                 (60 * s - 180 * s**2 + 120 * s**3)]
        q, v, a = (np.concatenate([(k == 0) * here + x * (there - here)
                                   for here, there in pairwise(goals)])
                   for k, x in enumerate(shape))
        held = np.repeat(1.3 * friction * np.sign(goals[1:] - goals[:-1]), len(s), axis=0)
        still = np.all(np.abs(v) < 1e-9, axis=1)
        tau = np.where(still[:, None], model.torque(q, 0 * v, a) + held - push,
                       model.torque(q, v, a))
        return np.arange(len(q)) / RATE, q, v, tau + noise * rng.normal(size=q.shape)
    few, many = (calibrate_residuals(MomentumObserver(model), *work(count)) for count in (8, 30))
    assert few.rest_friction is None
    known = many.uncertainty(model, np.zeros((1, 2)), np.zeros((1, 2)))[1][0]
    np.testing.assert_allclose(many.rest_friction * known, 1.3 * friction, rtol=0.1)
    limits = ContactObserver(MomentumObserver(model), many).limits(np.zeros(2))[0]
    assert np.all(limits > (1 + CHANGE) * 1.3 * friction) and np.all(limits < 3.5 * friction)
    contact = ContactObserver(MomentumObserver(model), many)
    for push, expected in ((0.0, False), (np.array([0.0, -1.5]), True)):
        contact.observer.reset()
        found = [contact.step(t + 1e3 * expected, *row) for t, *row in zip(*work(12, push))]
        assert any(each.contact for each in found) == expected


def test_no_threshold_alarms_on_its_own_reference():
    model = model_of(two_link())
    t, q, v, tau = moving(model, 20.0, noise=0.05)
    tau = tau + 3.0 * np.exp(-((t - 11.0) / 0.05) ** 2)[:, None]    # a bump
    statistics = calibrate_residuals(MomentumObserver(model), t, q, v, tau)
    contact = ContactObserver(MomentumObserver(model), statistics, alarms_per_hour=3600.0)
    found = [contact.step(*row) for row in zip(t, q, v, tau)]
    assert not any(each.contact for each in found)
    assert contact.threshold == pytest.approx(OWN * statistics.highest)


def test_detectable_force_of_a_lever():
    arm = two_link()
    straight = detectable_force(arm, [0.3, 0.0], [1.0, np.inf])
    # a force in the plane acts with the lever of the tool; half of all directions have a component
    # of at least 0.5 along any axis
    jacobian = pin.computeFrameJacobian(arm.model, arm.model.createData(), np.array([0.3, 0.0]),
                                        arm.tool, pin.LOCAL_WORLD_ALIGNED)[:3, 0]
    assert straight == pytest.approx(2 / np.linalg.norm(jacobian), rel=0.03)
    assert detectable_force(arm, [0.3, 0.0], [2.0, np.inf]) == pytest.approx(2 * straight)
    with pytest.raises(UnknownNameError, match='no_frame'):
        detectable_force(arm, [0.3, 0.0], [1.0, 1.0], 'no_frame')


def test_a_model_file_knows_its_covariance_well_enough(tmp_path):
    model = model_of(two_link())
    rng = np.random.default_rng(0)
    half = rng.normal(size=(28, 28)) * rng.uniform(0, 0.1, 28)
    directions = low_rank_covariance(model.structure, half.T @ half)
    stored = dataclasses.replace(model, information={UNCERTAINTY: to_rows(directions)})
    learnt = [calibrate_residuals(MomentumObserver(used), *moving(model, 8.0, noise=0.1),
                                  covariance)
              for used, covariance in ((model, half.T @ half), (stored, None))]
    q, v, _ = slow_motion(model.arm, seed=3).evaluate(np.linspace(0, 4, 50))
    full, few = (np.mean(x.uncertainty(model, q, v)[0], axis=0) for x in learnt)
    assert np.all(full > 1e-6) and np.all(few <= full * 1.001) and np.all(few > 0.8 * full)
    for wrong, message in (([[1.0, 2.0]], 'is damaged: cannot reshape'),
                           ([['a'] * 28], 'must be a number'),
                           ([[np.nan] * 28], 'must be a finite number')):
        dataclasses.replace(model, information={UNCERTAINTY: wrong}).save(tmp_path / 'model.yaml')
        with pytest.raises(ModelFileError, match=message):
            load_model(tmp_path / 'model.yaml')


@pytest.mark.parametrize('friction', ['coulomb + slip', 'coulomb + position',
                                      'viscous_asymmetric + slip_asymmetric'])
def test_friction_that_remembers_or_depends_on_position_serves_at_work(friction):
    """Friction with memory counts as sliding: the observer is exact away from reversals."""
    arm = two_link()
    family = get_friction(friction)
    model = IdentifiedModel(
        arm, arm.inertial_parameters, np.full(2, 0.1), friction,
        np.tile(0.3 + 0.05 * np.arange(len(family.parameters)), (2, 1)),
        friction_shape=np.full((2, len(family.nonlinear)), 1e-3))
    t, q, v, tau = moving(model, 4.0)
    found = MomentumObserver(model, 10.0).run(t, q, v, tau)
    fast = np.abs(v).min(axis=1) > 0.2
    assert np.median(np.abs(found[fast & (t > 0.5)])) < 0.05
    q, v, a = slow_motion(arm).evaluate(np.linspace(0, 4, 81))
    efforts = trajectory_efforts(model, np.linspace(0, 4, 81), q, v, a)
    assert np.abs(efforts - model.torque(q, v, a, model.structure.sliding_state(v)))[
        np.abs(v) > 0.05].max() < 1e-9
    assert np.all(np.isfinite(Compensation(model).effort(0.0, q[40], 0.1 * v[40])))


def test_the_wrench_explains_the_joint_torques():
    arm = load_arm('panda')
    q = np.array([0.1, -0.5, 0.3, -2.0, 0.2, 1.8, 0.4])
    wanted = np.array([5.0, -3.0, 8.0, 0.2, 0.1, -0.3])
    frame = arm.model.getFrameId('panda_hand')
    jacobian = pin.computeFrameJacobian(arm.model, arm.model.createData(), q, frame,
                                        pin.LOCAL_WORLD_ALIGNED)
    found = tool_wrench(arm, q, jacobian.T @ wanted, np.full(7, 0.1), 'panda_hand')
    assert found.rank == 6
    np.testing.assert_allclose(found.values, wanted, atol=1e-9)
    draws = np.random.default_rng(0).normal(size=(400, 7)) * 0.1
    values = np.array([tool_wrench(arm, q, jacobian.T @ wanted + x, np.full(7, 0.1),
                                   'panda_hand').values for x in draws])
    np.testing.assert_allclose(np.std(values, axis=0), np.sqrt(np.diag(found.covariance)),
                               rtol=0.2)
    with pytest.raises(UnknownNameError, match="no frame 'hand'"):
        tool_wrench(arm, q, np.zeros(7), np.ones(7), 'hand')


def test_directions_that_no_joint_feels_are_said():
    found = tool_wrench(two_link(), [0.3, 0.5], [1.0, 0.5], [0.1, 0.1])
    assert found.rank == 2 and np.isinf(np.diag(found.covariance)).any()


def test_efforts_of_a_trajectory_are_the_models():
    model = model_of(two_link())
    t = np.linspace(0, 4, 81)
    q, v, a = slow_motion(model.arm).evaluate(t)
    fast = np.abs(v) > 0.05
    expected = model.torque(q, v, a)
    given = trajectory_efforts(model, t, q, v, a)
    np.testing.assert_allclose(given[fast], expected[fast], rtol=1e-9)
    fitted = trajectory_efforts(model, t, q, v)
    assert np.abs(fitted - given).max() < 0.02 * np.abs(given).max()
    with pytest.raises(ExecutionError, match=r"requires .* of '.*' at .* s, but") as error:
        trajectory_efforts(model, t, q, fraction=0.01)
    assert error.value.reason == 'effort_limit'
    for wrong, message in (((t[::-1], q), 'in the order of time'), ((t, q[:, :1]), 'of shape'),
                           ((t, np.full_like(q, np.nan)), 'finite')):
        with pytest.raises(ConfigurationError, match=message):
            trajectory_efforts(model, *wrong)


@pytest.mark.parametrize(('v', 'a', 'scale', 'reason'), [
    (3.0, None, 1.0, 'position_limit'), (3.0, 0.0, 1.0, 'position_limit'),
    (0.0, None, 0.1, 'velocity_limit'), (None, None, 0.1, 'velocity_limit')])
def test_limits_hold_between_the_points_of_a_trajectory(v, a, scale, reason):
    """Points within the limits, joined by a polynomial that exceeds them."""
    model = model_of(two_link())
    upper = model.arm.limits.upper
    t, q = np.array([0.0, 1.0, 2.0]) * scale, np.array([[0.0, 0], 0.95 * upper, 0.95 * upper])
    given = [None if x is None else np.array([0.0, x, 0.0])[:, None] * np.ones(2) for x in (v, a)]
    with pytest.raises(ExecutionError, match='is beyond its') as error:
        trajectory_efforts(model, t, q, *given)
    assert error.value.reason == reason
    slow = [None if x is None else 0.0 * x for x in given]
    assert np.all(np.isfinite(trajectory_efforts(model, t * 100, q, *slow)))


def test_compensation_holds_the_arm_and_ends_on_doubt():
    model = model_of(two_link())
    compensation = Compensation(model, CompensationLimits(friction=0.5))
    q, rest = np.array([0.4, -0.2]), np.zeros(2)
    zero = np.zeros((1, 2))
    gravity = model.torque(q[None], zero, zero)[0]    # includes the offset of the friction
    held = compensation.effort(0.0, q, rest)
    assert np.abs(held - gravity).max() < 0.11
    moving_effort = compensation.effort(0.01, q, np.array([0.5, -0.5]))
    np.testing.assert_allclose(moving_effort - held, 0.5 * (0.5 + 0.15) * np.array([1, -1]),
                               atol=1e-9)
    compensation.watch(0.02)
    with pytest.raises(ExecutionError, match='no joint state for') as error:
        compensation.watch(0.2)
    assert error.value.reason == 'stale_joint_states'
    assert np.abs(compensation.last - gravity).max() < 0.11
    with pytest.raises(ExecutionError, match='no joint state for'):
        compensation.effort(0.3, q, rest)
    compensation.reset()
    for state, reason in (((q, np.array([9.0, 0.0])), 'velocity'),
                          ((q * np.nan, rest), 'joint_states')):
        compensation.reset()
        with pytest.raises(ExecutionError) as error:
            compensation.effort(0.0, *state)
        assert error.value.reason == reason
    weak = Compensation(model, CompensationLimits(effort=0.001))
    with pytest.raises(ExecutionError, match='holding'):
        weak.effort(0.0, np.array([1.2, 0.3]), rest)


def test_bad_requests_are_answered_by_a_sentence():
    model = model_of(two_link())
    with pytest.raises(ConfigurationError, match='bandwidth of the observer must be positive'):
        MomentumObserver(model, 0.0)
    observer = MomentumObserver(model)
    observer.step(1.0, [0, 0], [0, 0], [0, 0])
    with pytest.raises(ConfigurationError, match='not later'):
        observer.step(1.0, [0, 0], [0, 0], [0, 0])
    with pytest.raises(EstimationError, match='is too little to calibrate'):
        calibrate_residuals(observer, *moving(model, 2.0))
    with pytest.raises(ConfigurationError, match='fraction between 0 and 1'):
        CompensationLimits(effort=2.0)
