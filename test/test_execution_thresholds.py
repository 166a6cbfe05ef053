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
"""Thresholds, formulas and messages of the execution of motions, one value on each side."""

import dataclasses
import os
from pathlib import Path
import re
from types import SimpleNamespace

from motions import excitation_of
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ConfigurationError, ExcitationError, ExecutionError
from robot_identification.excitation import Requirements
from robot_identification.excitation.motion.quintic_spline import rest_to_rest
from robot_identification.ros.execution import (
    ControllerState,
    Fault,
    motion_plan,
    MotionExecutor,
    MotionMonitor,
    MotionTolerances,
    path_tolerance,
    plan_motion,
    StateBatch,
)
from robot_identification.ros.execution.controller_progress import (
    _explain_delay,
    ControllerProgress,
)
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.execution.effort_checks import check_effort_at_rest
from robot_identification.ros.execution.emergency_stop import EmergencyStop, Observation
from robot_identification.ros.execution.fault import goal_fault
from robot_identification.ros.execution.motion_executor import BrakeTiming
from robot_identification.ros.execution.motion_monitor import JointStateWatchdog
from robot_identification.ros.execution.motion_plan import (
    check_approach,
    MotionPlan,
    plan_path,
    straight_line,
)
from robot_identification.ros.execution.plan_tracker import PlanPosition, PlanTracker
from robot_identification.ros.execution.rest_detector import RestDetector
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.execution.sampled_plan import MotionLimits, SampledPlan
from robot_identification.ros.execution.time_scaling import (
    ramp_down,
    ramp_up,
)
from robot_identification.ros.execution.trajectory_segment import (
    brake_segment,
    full_trajectory,
    hold_segment,
)

NS = 10 ** 9


@pytest.fixture(scope='module')
def arm():
    return load_arm('panda')


@pytest.fixture(scope='module')
def plan(arm):
    middle = (arm.limits.lower + arm.limits.upper) / 2
    return plan_motion(arm, excitation_of('panda_4s', arm), middle + 0.1)


def at(plan, t):
    """Return the position of a plan at time t, (n,)."""
    return plan.evaluate(np.array([float(t)]))[0][0]


# ---- formulas ----

def test_path_tolerances_are_what_a_brake_needs(arm):
    limits = dataclasses.replace(arm.limits, velocity=np.r_[np.full(6, 2.0), np.inf],
                                 acceleration=np.full(7, 8.0))
    needed = path_tolerance(limits, 0.1, BrakeTiming())
    np.testing.assert_allclose(needed, [0.1 + 2 * 0.08 + 0.375] * 6 + [0.1])
    np.testing.assert_allclose(path_tolerance(limits, 0.9, BrakeTiming()), [1.0] * 6 + [0.9])


def test_a_brake_must_fit_into_the_horizon():
    BrakeTiming(0.3, 0.41)
    for lead, horizon in ((0.3, 0.4), (-0.2, 0.4), (-0.1, 0.4)):
        with pytest.raises(ExecutionError, match=r'0\.1 s must be less than the horizon'):
            BrakeTiming(lead, horizon)


def line(t):
    """Return a motion at speed 1 of one joint."""
    t = np.asarray(t, dtype=float)[:, None]
    return t, np.ones_like(t), np.zeros_like(t)


@pytest.mark.parametrize(('ramp', 'ends'), [
    (ramp_up(line, 3.0, 0.8), (2.6, 3.0, 0.0, 1.0)),
    (ramp_down(line, 3.0, 0.8), (3.0, 3.4, 1.0, 0.0)),
    (lambda t: tuple(x[:, None] for x in rest_to_rest(t, 0.8)), (0.0, 1.0, 0.0, 0.0))])
def test_ramps_join_rest_and_motion_smoothly(ramp, ends):
    t = np.linspace(0, 0.8, 8001)
    q, v, a = (x[:, 0] for x in ramp(t))
    np.testing.assert_allclose((q[0], q[-1], v[0], v[-1]), ends, atol=1e-12)
    np.testing.assert_allclose(a[[0, -1]], 0, atol=1e-9)
    np.testing.assert_allclose(np.gradient(q, t)[1:-1], v[1:-1], atol=1e-5)
    np.testing.assert_allclose(np.gradient(v, t)[1:-1], a[1:-1], atol=1e-3)
    assert np.all(np.diff(q) >= 0)


@pytest.mark.parametrize(('velocity', 'acceleration', 'expected'), [
    (1.0, 100.0, 1.875 * 3 / 0.5), (100.0, 1.0, (5.7736 * 3 / 0.5) ** 0.5), (100.0, 100.0, 1.0)])
def test_straight_lines_use_a_fraction_of_the_limits(arm, velocity, acceleration, expected):
    limits = dataclasses.replace(arm.limits, velocity=np.full(2, velocity),
                                 acceleration=np.full(2, acceleration))
    q, target = np.array([0.0, 1.0]), np.array([3.0, 0.0])
    duration, evaluate = straight_line(limits, q, target, 0.5)
    assert duration == pytest.approx(expected)
    way, v, a = evaluate(np.linspace(0, duration, 2001))
    np.testing.assert_allclose((way[0], way[-1]), (q, target), atol=1e-9)
    assert np.abs(v).max() <= 0.5 * velocity * (1 + 1e-9)
    assert np.abs(a).max() <= 0.5 * acceleration * (1 + 1e-9)


def test_a_rest_precedes_the_full_trajectory(plan):
    segment = full_trajectory(plan)
    np.testing.assert_allclose(segment.t[:3], [-1.2, 0.0, 0.02])
    np.testing.assert_allclose(np.diff(segment.t[1:-1]), 0.02)
    assert 0 < segment.t[-1] - segment.t[-2] <= 0.02 + 1e-9
    assert (segment.departure, segment.deceleration) == (plan.duration, 0.0)
    np.testing.assert_allclose(segment.q, plan.evaluate(segment.t)[0])
    with pytest.raises(ValueError, match='read-only'):
        segment.q[0] = 1


def test_a_held_position_begins_in_the_past(plan):
    segment = hold_segment(np.arange(7.0), 5.0)
    np.testing.assert_allclose(segment.t, [4.8, 5.2])
    np.testing.assert_array_equal(segment.q, [np.arange(7.0)] * 2)
    assert not segment.v.any() and not segment.a.any()
    assert (segment.departure, segment.deceleration, segment.end) == (5.0, 0.0, 5.2)


def test_a_brake_is_the_shortest_within_the_limits(plan, arm):
    now = plan.start_of('excitation') + 1.0
    segment = brake_segment(plan, PlanPosition(now, now), now - 0.1, now + 0.06)
    assert now + 0.06 <= segment.departure < now + 0.08 + 1e-9
    assert segment.t[0] <= now - 0.1 < segment.t[0] + 0.02 + 1e-9
    before = segment.t <= segment.departure + 1e-9
    np.testing.assert_allclose(segment.q[before], plan.evaluate(segment.t[before])[0], atol=1e-9)
    np.testing.assert_allclose(segment.v[before], plan.evaluate(segment.t[before])[1], atol=1e-9)
    assert np.diff(segment.t).max() <= 0.02 + 1e-9 and not segment.v[-1].any()
    duration = segment.end - segment.departure
    shorter = ramp_down(plan.evaluate, segment.departure, duration / 1.25)(
        np.linspace(0, duration / 1.25, 60))[2]
    assert np.max(np.abs(shorter) / plan.limits.acceleration) > 1 >= segment.deceleration > 0.5


def test_a_brake_that_exceeds_the_limits_exceeds_them_least(plan):
    weak = MotionPlan(plan.joint_names, plan.phases, dataclasses.replace(
        plan.limits, acceleration=plan.limits.acceleration / 50))
    now = plan.start_of('excitation') + 1.0
    assert brake_segment(weak, PlanPosition(now, now), now, now + 0.06).deceleration > 1


# ---- plan ----

def test_phases_of_a_plan_follow_each_other(plan):
    assert [phase.name for phase in plan.phases] == [
        'approach', 'settle', 'run_in', 'excitation', 'run_out']
    for start, end in zip(plan.starts, plan.starts[1:]):
        assert plan.phase(start) == plan.phase(end - 1e-6)
        np.testing.assert_allclose(at(plan, end - 1e-9), at(plan, end + 1e-9), atol=1e-6)
    assert plan.start_of('run_in') - plan.start_of('settle') == pytest.approx(1.0)
    assert plan.phases[3].duration == pytest.approx(4.0) and plan.duration == plan.starts[-1]


@pytest.mark.parametrize(('limit', 'of'), [('lower', 0), ('upper', 0), ('velocity', 1),
                                           ('acceleration', 2)])
def test_a_plan_that_just_exceeds_a_limit_is_refused(plan, limit, of):
    t = np.linspace(0, plan.duration, int(np.ceil(plan.duration / 0.002)) + 1)
    values = plan.evaluate(t)[of]
    values = values if of == 0 else np.abs(values)
    extreme = values.min(axis=0) if limit == 'lower' else values.max(axis=0)
    for factor, allowed in ((1e-3, True), (-1e-3, False)):
        change = np.zeros(7)
        change[2] = -factor if limit == 'lower' else factor
        limits = dataclasses.replace(plan.limits, **{limit: np.where(
            np.arange(7) == 2, extreme + change, getattr(plan.limits, limit))})
        tight = MotionPlan(plan.joint_names, plan.phases, limits)
        if allowed:
            tight.check()
            continue
        name = 'position' if of == 0 else limit
        with pytest.raises(ExecutionError, match=rf"{name} limit of joint 'panda_joint3': "
                           r'-?\d.* at \d+\.\d\d s \(\w+\)') as info:
            tight.check()
        assert info.value.reason == f'{name}_limit'
        value = float(re.search(r': (-?[\d.]+) at', str(info.value)).group(1))
        assert abs(value) == pytest.approx(abs(extreme[2]), abs=2e-3)


def test_a_motion_may_last_fifteen_minutes(arm):
    excitation, q = excitation_of('panda_4s', arm), (arm.limits.lower + arm.limits.upper) / 2
    with pytest.raises(ExecutionError, match=r'would take 904 s; the limit is 900 s'):
        plan_motion(arm, excitation, q, periods=226)


def test_a_motion_whose_ramps_exceed_the_acceleration_limits_is_refused(arm):
    middle = (arm.limits.lower + arm.limits.upper) / 2
    weak = dataclasses.replace(arm, limits=dataclasses.replace(
        arm.limits, acceleration=np.full(arm.n, 1e-3)))
    with pytest.raises(ExecutionError, match=r'no run-in or run-out of up to 14\.2 s') as info:
        plan_motion(weak, excitation_of('panda_4s', arm), middle)
    assert info.value.reason == 'acceleration_limit'


def test_an_excitation_of_another_arm_is_refused():
    other = load_arm('ur5e')
    with pytest.raises(ExcitationError):
        plan_motion(other, excitation_of('panda_4s'), np.zeros(other.n))


def test_the_start_may_be_on_a_limit(arm, plan):
    def rest(t):
        zero = np.zeros((len(t), arm.n))
        return (arm.limits.lower + arm.limits.upper) / 2 + zero, zero, zero
    for limit in (arm.limits.lower, arm.limits.upper):
        assert plan_path(arm, rest, 1.0, limit, 0.5).starts[1] > 1.0
    for q in (arm.limits.lower - 1e-3, arm.limits.upper + 1e-3):
        with pytest.raises(ExecutionError, match=r"'panda_joint1' is at -?\d.*outside its limits "
                           r'-\d.* to \d') as info:
            plan_path(arm, rest, 1.0, q, 0.5)
        assert info.value.reason == 'start_outside_limits'


@pytest.mark.parametrize(('smallest', 'said'), [
    (-0.1, 'would collide'), (0.0, 'would collide'),
    (0.1236, r'would come within 123\.6 mm of each other')])
def test_an_approach_without_clearance_tells_the_distance(arm, monkeypatch, smallest, said):
    monkeypatch.setattr(motion_plan, 'prove_clearance', lambda *_: SimpleNamespace(
        proven=False, smallest=smallest, pair="'a' and 'b'"))
    with pytest.raises(ExecutionError, match=rf"'a' and 'b' {said}; the required clearance is "
                       r'200 mm\. Move .*: panda_joint1 0\.1, '):
        check_approach(arm, Requirements(clearance=0.2), np.zeros(arm.n), np.full(arm.n, 0.1))


# ---- detectors and tracker ----

def test_a_slow_arm_rests():
    for speed, resting in ((0.019, True), (0.021, False), (-0.021, False)):
        rest = RestDetector()
        assert rest.newest is None and not rest.at_rest
        for k in range(30):
            rest.add(0.01 * k, np.array([0.0, speed * 0.01 * k]))
            assert rest.at_rest is (resting and k > 0)
        np.testing.assert_allclose(rest.newest, [0.0, speed * 0.29])
    rest.add(5.0, np.zeros(2))      # nothing is recent any more
    assert not rest.at_rest
    rest.add(5.0, np.zeros(2))      # the same stamp
    assert not rest.at_rest
    rest.add(5.05, np.zeros(2))
    assert rest.at_rest


def test_the_rate_of_measured_positions_is_that_over_a_window(plan):
    start, tracker = plan.start_of('excitation') + 0.5, PlanTracker(plan, 0.02)
    for k in range(40):
        t = start + 0.01 * k
        tracker.update(t, at(plan, start + 0.9 * (t - start)))
    assert tracker.position.rate == pytest.approx(0.9, abs=0.02)
    assert tracker.position.delay == pytest.approx(0.1 * (t - start), abs=1e-3)
    assert tracker.explained_by_delay and tracker.distance < 1e-3
    np.testing.assert_allclose(tracker.position.on_plan([t, t + 1.0]), [
        tracker.position.at, tracker.position.at + tracker.position.rate])


def test_a_growing_delay_of_a_periodic_motion_is_followed():
    def evaluate(t):
        rate = 2 * np.pi / 0.8      # [rad/s] the nearest position from t is that of another period
        q = np.column_stack([np.sin(rate * t), 0.1 * t])
        v = np.column_stack([rate * np.cos(rate * t), np.full(len(t), 0.1)])
        return q, v, np.column_stack([-rate ** 2 * q[:, 0], np.zeros(len(t))])
    tracker = PlanTracker(SimpleNamespace(evaluate=evaluate, limits=SimpleNamespace(
        velocity=np.array([8.0, 1.0]))))
    for delay in 0.005 * np.arange(60):
        reached = 2.0 + delay       # at half the speed
        tracker.update(reached + delay, evaluate(np.array([reached]))[0][0])
        assert tracker.position.at == pytest.approx(reached, abs=1e-9)


def test_an_arm_at_rest_shows_no_delay(plan):
    tracker, t = PlanTracker(plan), plan.start_of('settle') + 0.5
    tracker.update(t, at(plan, t) + 2e-6)
    assert tracker.position.delay == 0 and tracker.position.rate == 1.0
    tracker.update(t + 0.02, at(plan, t) + 0.01)
    assert tracker.distance == pytest.approx(0.01, abs=1e-6) and not tracker.explained_by_delay


# ---- monitor ----

def test_silence_and_age_are_told_with_their_limits():
    watchdog = JointStateWatchdog(0.2)
    assert watchdog.fresh and not watchdog.expired
    watchdog.step(True, 0.2, 0.01)
    assert watchdog.fresh
    watchdog.step(True, 0.201, 0.01)
    assert not watchdog.fresh and watchdog.silence == pytest.approx(0.01)
    for _ in range(4):
        watchdog.step(False, 0.3, 1.0)     # at most 0.05 s each count
    assert watchdog.silence == pytest.approx(0.21) and watchdog.expired
    assert watchdog.finding == 'for 0.210 s, the limit is 0.2 s'
    watchdog = JointStateWatchdog(0.2)
    watchdog.step(True, 1.0, 0.01)
    assert not watchdog.expired
    watchdog.step(True, 1.01, 0.01)
    assert watchdog.expired
    assert watchdog.finding == 'that is newer than 1.010 s, the limit is 1 s'


def checked(arm, plan, q, v=None, effort=None, t=0.0, **tolerances):
    """Return the fault of one joint state at time t of the plan."""
    monitor = MotionMonitor(arm, plan, MotionTolerances(**tolerances))
    if effort is not None:
        assert not monitor.start_effort_monitoring(inverse_dynamics(
            arm, q[None], 0 * q[None], 0 * q[None]), q)
        effort = effort[None]
    return monitor.check_states(np.array([t]), q[None], None if v is None else v[None], effort)


@pytest.mark.parametrize('sign', [1, -1])
def test_position_limits_have_a_tolerance(arm, plan, sign):
    for excess, found in ((0.019, False), (0.021, True)):
        q = at(plan, 0)
        limit = arm.limits.upper if sign > 0 else arm.limits.lower
        q[3] = limit[3] + sign * excess
        fault = checked(arm, plan, q, tracking=100.0)
        assert (fault is not None) == found
    assert fault.reason == 'position_limit'
    assert "'panda_joint4' is 0.021 beyond its position limit" in fault.text


def test_tracking_errors_have_a_tolerance(arm, plan):
    t = plan.start_of('excitation') + 1.0
    for error, found in ((0.099, False), (0.101, True)):
        monitor = MotionMonitor(arm, plan, MotionTolerances())
        monitor.check_states(np.zeros(1), at(plan, 0)[None], None, None)
        q = at(plan, t)
        q[2] -= error
        fault = monitor.check_states(np.array([t]), q[None], None, None)
        assert (fault is not None) == found
        np.testing.assert_allclose(monitor.largest_error, error * (np.arange(7) == 2), atol=1e-9)
        assert monitor.check_states(np.array([t]), q[None] + 1.0, None, None, False) is None
        assert monitor.largest_error.max() < 0.2
    assert fault.reason == 'tracking_error'
    assert "'panda_joint3' is 0.101 away" in fault.text and '(excitation)' in fault.text
    assert fault.text.endswith('the limit is 0.1')


def test_an_arm_that_moves_a_little_does_not_follow(arm, plan):
    t = plan.start_of('excitation') + 1.0
    reach = np.abs(at(plan, t) - at(plan, 0)).max()
    for part, reason in ((0.09, 'controller_does_not_follow'), (0.11, 'tracking_error')):
        monitor = MotionMonitor(arm, plan, MotionTolerances())
        monitor.check_states(np.zeros(1), at(plan, 0)[None], None, None)
        q = at(plan, 0)
        q[0] += part * reach
        assert monitor.check_states(np.array([t]), q[None], None, None).reason == reason


def test_the_same_positions_for_a_while_are_frozen(arm, plan):
    start = plan.start_of('excitation') + 1.0
    q = at(plan, start)
    for seconds, found in ((0.049, False), (0.052, True)):
        monitor = MotionMonitor(arm, plan, MotionTolerances())
        monitor.check_states(np.array([start - 0.1]), at(plan, start - 0.1)[None], None, None)
        assert monitor.check_states(np.array([start]), q[None], None, None) is None
        fault = monitor.check_states(start + np.array([0.01, seconds]), np.array([q, q]), None,
                                     None)
        assert (fault is not None) == found
    assert fault.reason == 'frozen_joint_states' and 'for 0.052 s' in fault.text
    rest = plan.start_of('settle') + 0.2    # nothing moves there
    monitor.check_states(np.array([rest]), at(plan, rest)[None], None, None)
    assert monitor.check_states(np.array([rest + 0.5]), at(plan, rest)[None], None, None) is None


def test_effort_limits_are_multiples_or_as_published(arm, plan):
    q = at(plan, 0)
    for factor, found in ((1.09, False), (1.11, True)):
        effort = np.zeros(7)
        effort[5] = -factor * arm.limits.torque[5]
        fault = checked(arm, plan, q, None, effort, effort_samples=1)
        assert (fault is not None) == found
    assert "'panda_joint6' took a torque of more than 1.1 times its limit:" in fault.text
    published = tuple(range(1, 8))
    for factor, found in ((0.99, False), (1.01, True)):
        fault = checked(arm, plan, q, None, factor * np.arange(1.0, 8.0) * (np.arange(7) == 4),
                        effort_samples=1, published_effort=published)
        assert (fault is not None) == found
    assert "'panda_joint5' took an effort (as published) of more than 5;" in fault.text
    for wrong in ((1.0,) * 6, (*published[:-1], 0.0), (*published[:-1], -1.0)):
        with pytest.raises(ExecutionError, match=f'must have 7 positive.*it has {len(wrong)}'):
            MotionMonitor(arm, plan, MotionTolerances(published_effort=wrong))


def test_velocity_limits_are_multiples(arm, plan):
    for factor, found in ((1.19, False), (1.21, True)):
        monitor = MotionMonitor(arm, plan, MotionTolerances(tracking=100.0))
        v = np.zeros((30, 7))
        v[:, 1] = -factor * arm.limits.velocity[1]
        fault = monitor.check_states(np.arange(30) * 1e-3, np.tile(at(plan, 0), (30, 1)), v, None,
                                     False)
        assert (fault is not None) == found
    assert "'panda_joint2' moves at 1.21 times its velocity limit (median of 2" in fault.text


def test_one_fast_joint_state_at_50_hz_is_a_late_stamp(arm, plan):
    for fast, found in (([0, 0, 5], False), ([0, 5], False), ([0, 2, 5], True)):
        monitor = MotionMonitor(arm, plan, MotionTolerances())
        faults = [monitor.check_states(np.array([0.02 * k]), at(plan, 0)[None],
                                       factor * arm.limits.velocity[None], None, False)
                  for k, factor in enumerate(fast)]
        assert faults[:-1] == [None] * (len(fast) - 1) and (faults[-1] is not None) == found
    assert '2.00 times its velocity limit (median of 3 joint states)' in faults[-1].text


@pytest.mark.parametrize('joints', [slice(0, 1), slice(None)])
def test_an_effort_of_a_joint_that_is_not_a_number_is_missing(arm, plan, joints):
    q, effort = at(plan, 0), np.ones(arm.n)
    effort[joints] = np.nan
    monitor = MotionMonitor(arm, plan, MotionTolerances(published_effort=(9.0,) * arm.n))
    assert 'have no efforts' in monitor.start_effort_monitoring(effort[None], q)
    assert not monitor.start_effort_monitoring(np.ones((1, arm.n)), q)
    fault = monitor.check_states(np.zeros(1), q[None], None, effort[None])
    assert fault.reason == 'effort_missing'


@pytest.mark.parametrize(('ratio', 'compensated', 'text'), [
    (0.31, False, ''), (0.29, False, 'it is a current'), (2.9, False, ''),
    (3.1, False, 'its unit, gain'), (-0.31, False, 'its sign'), (-0.29, False, 'it is a current'),
    (1.69, True, ''), (1.71, True, 'has not subtracted')])
def test_the_effort_at_rest_has_a_range(arm, ratio, compensated, text):
    q = np.array([0.0, 0.8, 0.0, -1.2, 0.0, 1.5, 0.0])
    gravity = inverse_dynamics(arm, q[None], 0 * q[None], 0 * q[None])[0]
    arm = dataclasses.replace(arm, effort=dataclasses.replace(
        arm.effort, gravity_compensated=compensated))
    if not text:
        check_effort_at_rest(arm, ratio * gravity, q)
        return
    with pytest.raises(ExecutionError, match=text) as info:
        check_effort_at_rest(arm, ratio * gravity, q)
    j = int(np.argmax(np.abs(gravity)))
    assert f'{ratio:.2f} times the gravity torque' in str(info.value)
    assert (f"'{arm.joint_names[j]}': {ratio * gravity[j]:.3g} of {gravity[j]:.3g} N m"
            in str(info.value))


def test_only_loaded_joints_show_the_meaning_of_effort(arm):
    q = np.array([0.0, 0.8, 0.0, -1.2, 0.0, 1.5, 0.0])
    gravity = inverse_dynamics(arm, q[None], 0 * q[None], 0 * q[None])[0]
    light = np.abs(gravity) < 0.25 * np.abs(gravity).max()
    check_effort_at_rest(arm, np.where(light, -10 * gravity, gravity), q)


# ---- clocks and results ----

def test_stamps_of_a_simulation_and_missing_clocks_are_told_apart():
    with pytest.raises(ExecutionError, match='nobody publishes /clock'):
        RobotClock(simulated=True).check()
    real = RobotClock()
    assert not real.agrees
    real.measure(2 * 10 ** 8 * NS, 5 * NS)
    with pytest.raises(ExecutionError, match='have the time of a simulation'):
        real.check()
    for milliseconds, agrees in ((99, True), (101, False), (-99, True), (-101, False)):
        clock = RobotClock()
        clock.measure(NS, NS - milliseconds * 10 ** 6)
        assert clock.agrees == agrees
        assert clock.robot(5 * NS) == 5 * NS - milliseconds * 10 ** 6


def test_jumps_of_clocks_have_a_limit():
    for jump, found in ((0.09, False), (0.12, True)):
        clock = RobotClock()
        clock.measure(NS, NS)
        assert clock.watch(NS, (NS, NS), 0.0) is None
        now = NS + round((0.01 + jump) * NS)
        fault = clock.watch(now, None, 0.01)
        assert (fault is not None) == found
        assert clock.offset == (round(jump * NS) if found else 0)
    assert f'jumped by {0.01 + jump:.3f} s' in fault.text
    for back, found in ((0.09, False), (0.11, True)):
        clock = RobotClock()
        clock.measure(NS, NS)
        clock.watch(NS, (NS, NS), 0.0)
        stamp = NS - round(back * NS)
        fault = clock.watch(NS + 10 ** 7, (stamp, stamp), 0.01)
        assert (fault is not None) == found
        assert clock.jump == (stamp - NS - 10 ** 7 if found else 0)
    assert f"robot's clock jumped by {back:.3f} s" in fault.text


def test_a_simulated_clock_may_catch_up_after_a_stall():
    for seconds, found in ((1.05, False), (1.3, True)):
        clock = RobotClock(simulated=True)
        clock.measure(NS, NS)
        clock.watch(NS, (NS, NS), 0.0)
        assert (clock.watch(NS + round(seconds * NS), None, 0.001) is not None) == found
    clock = RobotClock(simulated=True)      # faster than real time, but not by more than 20
    clock.measure(NS, NS)
    now = NS
    for _ in range(100):
        now += round(0.19 * NS)
        assert clock.watch(now, (now, now), 0.01) is None


def test_faults_of_goals_name_the_controller_and_its_words():
    assert goal_fault('succeeded', -4, 'x', 'c', newest=True) is None
    fault = goal_fault('aborted', -1, '', 'c', newest=True)
    assert fault.text.startswith("'c' replaced our goal by another one (no text)")
    for code, reason in ((-2, 'controller_joints'), (-3, 'clock'), (-4, 'path_tolerance'),
                         (-5, 'goal_tolerance'), (-7, 'controller_aborted')):
        fault = goal_fault('aborted', code, 'words', 'c', newest=False)
        assert (fault.reason, fault.touch) == (reason, False)
        assert fault.text == f"'c' aborted the motion with error {code}: words"
    assert goal_fault('aborted', -4, '', 'c', newest=True).text.endswith('no text')
    cancelled = goal_fault('canceled', 0, '', 'c', newest=True)
    assert cancelled.text == "the goal of 'c' was cancelled by another client"
    assert not cancelled.touch
    assert not goal_fault('canceled', 0, 'Deactivated', 'c', newest=True).touch


def test_files_of_a_data_directory(tmp_path):
    data = DataDirectory(tmp_path / 'a' / 'b')
    assert DataDirectory(data.root).root == data.root   # that exists now
    (data.root / 'old.yaml').write_text('x')
    assert data.new('new.yml', 'excitation', ('.yaml', '.yml')) == data.root / 'new.yml'
    for name, text in (('old.yaml', "the excitation 'old.yaml' already exists"),
                       ('new.txt', r"excitation 'new.txt' must end with \.yaml")):
        with pytest.raises(ConfigurationError, match=text):
            data.new(name, 'excitation', ('.yaml', '.yml'))
    assert data.path('/'.join(['a' * 198] * 5)).name == 'a' * 198
    data.path('a' * 200)
    for name in ('a' * 201, '/'.join(['a' * 199] * 5 + ['bb']), '\u00e9' * 101):
        with pytest.raises(ConfigurationError, match='is too long: at most 200 bytes'):
            data.path(name)
    (tmp_path / 'file').write_text('x')
    with pytest.raises(ConfigurationError, match='cannot be used'):
        DataDirectory(tmp_path / 'file' / 'x')
    (data.root / 'loop').symlink_to(data.root / 'loop')
    with pytest.raises(ConfigurationError, match="'loop/x' cannot be used"):
        data.existing('loop/x')
    with pytest.raises(ConfigurationError, match='no file'):
        data.existing('old.yaml/x')
    for find in (data.existing, lambda name, what: data.new(name, what, ('.bag',))):
        with pytest.raises(ConfigurationError, match=r"the recording '\.\./x\.bag' is out"):
            find('../x.bag', 'recording')


@pytest.mark.parametrize(('name', 'message'), [
    ('', 'the name of the recording is empty'),
    ('a\0', 'the name of the recording has a null character'),
    ('a' * 201, f"the name of the recording '{'a' * 40}...' is too long"),
    ('.', "the recording '.' is the data directory itself"),
    ('a/b', "there is no recording 'a/b' in the data directory"),
    ('pipe', "the recording 'pipe' is neither a file nor a folder"),
    ('closed', "the recording 'closed' cannot be read: Permission denied")])
def test_refusals_of_a_data_directory_name_the_file(tmp_path, monkeypatch, name, message):
    data, stat = DataDirectory(tmp_path), Path.stat
    os.mkfifo(tmp_path / 'pipe')

    def closed(path, **options):
        if path.name == 'closed':
            raise PermissionError(13, 'Permission denied')
        return stat(path, **options)
    monkeypatch.setattr(Path, 'stat', closed)
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        data.existing(name, 'recording')


# ---- executor and progress ----

class Link:
    """A controller interface that stores what it is sent."""

    def __init__(self):
        self.sent, self.guards = [], []

    def send(self, segment):
        self.sent.append(segment)

    def guard(self, position, until):
        self.guards.append((position, until))


def states(q, t):
    return StateBatch(np.array([t]), q[None], None, None)


def moved(arm, plan, end, *, step=0.01, reference=None, measured=None, **options):
    """Return an executor and its link after a motion up to a time, with states by functions."""
    link = Link()
    run = MotionExecutor(arm, plan, link, has_reference=reference is not None, **options)
    for t in np.arange(-0.4, end, step):
        run.step(t, states((measured or (lambda t: at(plan, t)))(t), t), 0.0, step,
                 None if reference is None else reference(t))
        if run.finished:
            break
    return run, link, t


def test_a_motion_ends_after_it_has_settled(arm, plan):
    run, link, t = moved(arm, plan, plan.duration + 3.0)
    assert run.at_rest and plan.duration + 0.3 - 1e-9 <= t < plan.duration + 0.32
    assert link.guards[-1] == (None, np.inf) and run.fault is None
    assert all(position is None for position, until in link.guards[-5:])

    def restless(t):
        return at(plan, t) + (0.05 * max(t - plan.duration, 0.0))
    run, _, t = moved(arm, plan, plan.duration + 3.0, measured=restless)
    assert run.at_rest is False and run.fault.reason == 'not_at_rest'
    assert plan.duration + 1.3 - 1e-9 <= t < plan.duration + 1.32


@pytest.mark.parametrize(('now', 'sent'), [(-0.31, 1), (-0.29, 0)])
def test_a_late_start_is_no_start(arm, plan, now, sent):
    link = Link()
    run = MotionExecutor(arm, plan, link)
    run.step(now, states(at(plan, 0), now), 0.0, 0.01)
    assert len(link.sent) == sent and run.finished == (not sent)
    assert sent or (run.fault.reason, run.at_rest) == ('late', True)


def test_the_watchdog_is_told_when_to_brake(arm, plan):
    end = plan.start_of('excitation')
    _, link, _ = moved(arm, plan, end)
    position, until = link.guards[-1]
    told = [position.t for position, _ in link.guards if position is not None]
    np.testing.assert_allclose(np.diff(told), 0.1, atol=0.011)
    assert told[0] > 0 and until == pytest.approx(position.t + 0.5 - 0.06)
    _, link, _ = moved(arm, plan, plan.duration + 0.1)
    last = [position.t for position, _ in link.guards if position is not None][-1]
    assert plan.duration - 0.5 - 0.11 < last <= plan.duration - 0.5


def test_a_stop_brakes_after_the_lead(arm, plan):
    run, link, t = moved(arm, plan, plan.start_of('excitation') + 1.0)
    run.stop(Fault('stopped', 'first'))
    run.stop(Fault('cancelled', 'second'))
    assert run.phase_name(t) == 'excitation'
    run.step(t + 0.01, states(at(plan, t + 0.01), t + 0.01), 0.0, 0.01)
    assert run.fault.text == 'first' and run.phase_name(t) == 'brake'
    brake = link.sent[-1]
    assert t + 0.07 <= brake.departure < t + 0.09 + 1e-9
    end, now = brake.end, t + 0.01
    while not run.finished:
        now += 0.01
        q = np.array([np.interp(now, brake.t, column) for column in brake.q.T])
        run.step(now, states(q, now), 0.0, 0.01)
    assert run.at_rest and end + 0.3 - 1e-9 <= now < end + 0.32 and len(link.sent) == 2


def test_a_stop_just_before_the_end_lets_the_motion_end(arm, plan):
    run, link, t = moved(arm, plan, plan.duration - 0.02)
    run.stop(Fault('stopped', 'at the end'))
    while not run.finished:
        t += 0.01
        run.step(t, states(at(plan, t), t), 0.0, 0.01)
    assert len(link.sent) == 1 and run.at_rest
    assert plan.duration + 0.3 - 1e-9 <= t < plan.duration + 0.32


def late(plan, start, delay, rate=None, scaling=float('nan')):
    """Return a reference that is late from a time on, by a delay that grows slowly to its size."""
    def reference(t):
        growth = 0.015 if rate is None else 1 - rate
        behind = min(max(t - start, 0.0) * growth, delay)
        return ControllerState(t, at(plan, t - behind), scaling)
    return reference


def test_faults_of_the_reference_have_thresholds(arm, plan):
    start = plan.start_of('excitation') + 0.5
    assert moved(arm, plan, start + 2.5, reference=late(plan, start, 0.029))[0].fault is None
    run, _, t = moved(arm, plan, start + 3.0, reference=late(plan, start, 0.04))
    assert run.fault.reason == 'clock' and '0.0' in run.fault.text and 'behind' in run.fault.text
    assert start + 0.03 / 0.015 + 0.14 < t < start + 3.0
    run, _, t = moved(arm, plan, start + 3.0, reference=late(plan, start, 9.0, 0.5))
    assert run.fault.reason == 'speed_scaling' and 'at 0.50 times its speed' in run.fault.text
    run, _, t = moved(arm, plan, start + 3.0, reference=late(plan, start, 9.0, 0.0))
    assert run.fault.reason == 'controller_holds'
    for scaling, found in ((0.9992, False), (1.0008, False), (0.998, True), (1.002, True)):
        run, _, _ = moved(arm, plan, -0.3, reference=lambda t, scaling=scaling: ControllerState(
            t, at(plan, t), scaling))
        assert (run.fault is not None) == found, scaling
    assert 'scaling of the controller is 1' in run.fault.text


def test_a_reference_off_the_plan_is_another_client_after_a_grace(arm, plan):
    start = plan.start_of('settle') + 0.1    # where the nearest position of the plan is known
    for offset, found in ((0.0049, False), (0.0051, True)):
        def reference(t, offset=offset):
            return ControllerState(t, at(plan, t) + (offset if t >= start else 0.0) * (
                np.arange(7) == 6))
        run, link, t = moved(arm, plan, start + 0.88, reference=reference)
        assert (run.fault is not None) == found
    assert (run.fault.reason, run.fault.touch) == ('another_client', False)
    assert len(link.sent) == 1 and 'is 0.0051 away' in run.fault.text
    assert start + 0.8 - 1e-9 <= t < start + 0.83    # after 0.5 s, and 0.3 s of settling


@pytest.mark.parametrize(('at', 'rate', 'reason'), [
    (0.029, 0.0, 'controller_does_not_follow'), (0.031, 0.019, 'controller_holds'),
    (5.0, 0.021, 'speed_scaling'), (5.0, 0.979, 'speed_scaling'), (5.0, 0.981, 'clock'),
    (5.0, 1.019, 'clock'), (5.0, 1.021, 'speed_scaling')])
def test_a_delay_has_a_reason(at, rate, reason):
    fault = _explain_delay(PlanPosition(6.0, at, rate))
    assert fault.reason == reason and fault.touch
    assert reason != 'clock' or 'is 1.000 s behind' in fault.text
    assert reason != 'speed_scaling' or f'at {rate:.2f} times its speed' in fault.text


def test_a_silent_controller_is_told(arm, plan):
    start = plan.start_of('excitation')
    run, _, t = moved(arm, plan, start + 2.0, reference=lambda t: None if t > start else
                      ControllerState(t, at(plan, t)))
    assert run.fault.reason == 'controller_silent' and start + 0.2 < t < start + 2.0
    assert 'no reference for 0.2' in run.fault.text


def test_the_progress_is_shifted_by_the_lead_of_the_command(plan):
    progress = ControllerProgress(plan, 0.2, True)
    t = plan.start_of('excitation') + 1.0
    for lead, expected in ((0.01, 0.01), (0.05, 0.02), (-0.01, 0.0)):
        progress.update_reference(t, ControllerState(t, at(plan, t), 0.5, at(plan, t + lead)),
                                  0.01, True)
        position = progress.position(t)
        assert position.at == pytest.approx(t + 0.5 * expected, abs=1e-3)
        assert position.rate == 0.5
        np.testing.assert_array_equal(progress.command, at(plan, t + lead))
    progress.update_reference(t + 1.0, None, 0.01, True)
    assert progress.command is None     # outdated


@pytest.mark.parametrize(('rate', 'reason'), [(1.0, 'clock'), (0.981, 'clock'), (0.97, None)])
def test_a_slow_reference_at_full_scaling_may_be_explained_later(plan, rate, reason):
    progress, start = ControllerProgress(plan, 0.2, True), plan.start_of('excitation') + 0.5
    for now in start + np.array([0.0, 0.01, 0.02]):
        q = at(plan, start - 0.05 + rate * (now - start))
        progress.update_reference(now, ControllerState(now, q, 1.0), 0.01, True)
    fault = progress.check_reference(now)
    assert (fault and fault.reason) == reason
    if not reason:
        assert progress.check_reference(now + 0.49) is None
        assert progress.check_reference(now + 0.51).reason == 'speed_scaling'


def test_a_reference_is_expected_while_it_is_recent_and_on_the_plan(plan):
    progress, t = ControllerProgress(plan, 0.2, True), plan.start_of('settle') + 0.1
    for k, (offset, expected) in enumerate(((0.0, True), (0.006, False), (0.0, True))):
        now = t + 0.05 * k
        progress.update_reference(now, ControllerState(now, at(plan, now) + offset), 0.01, True)
        assert progress.check_reference(now) is None
        assert progress.is_expected(now + 0.09) == expected
        assert not progress.is_expected(now + 0.11)


def test_without_a_reference_measured_positions_tell_a_pause(arm, plan):
    start = plan.start_of('excitation') + 1.0
    run, _, _ = moved(arm, plan, start + 2.0, measured=lambda t: (
        at(plan, min(t, start)) + 1e-6 * np.sin(1e4 * t)))
    assert run.fault.reason == 'speed_scaling' and 'all joints are delayed' in run.fault.text
    run, _, _ = moved(arm, plan, start + 2.0, measured=lambda t: at(plan, t) - (
        min(max(t - start, 0), 0.3) * (np.arange(7) == 3)))
    assert run.fault.reason == 'tracking_error'


# ---- emergency stop ----

def sampled(plan):
    full = full_trajectory(plan)
    return SampledPlan(plan.joint_names, full.t, full.q, full.v, full.a,
                       MotionLimits(plan.limits.velocity, plan.limits.acceleration))


def stopped(plan, observe, seconds=6.0, jump=None, begin=None):
    """
    Return an emergency stop, and what it sent with the time since its first step.

    `observe(t, sent)` returns the controller's state and the measured position; None if unknown.
    """
    begin = plan.start_of('excitation') + 1.0 if begin is None else begin
    stop, sent = EmergencyStop(sampled(plan), PlanPosition(begin, begin), 0.5), []
    for k in range(round(seconds / 0.01)):
        t = begin + 0.01 * k
        reference, q = observe(t, [order for _, order in sent])
        order = stop.step(t, reference, None if q is None else Observation(t, q),
                          jump is not None and k == jump)
        if order is not None:
            sent.append((0.01 * k, order))
        if stop.finished:
            break
    return stop, sent, 0.01 * k


def braked(plan, t, sent):
    """Return the position of an arm that executes the last braking trajectory."""
    segments = [order for order in sent if not isinstance(order, str)]
    if not segments:
        return at(plan, t)
    return np.array([np.interp(t, segments[-1].t, column) for column in segments[-1].q.T])


def test_a_stop_brakes_at_once_and_sends_copies(plan):
    stop, sent, end = stopped(plan, lambda t, sent: (None, braked(plan, t, sent)))
    times = [seconds for seconds, _ in sent]
    assert stop.measures == ['brake'] and stop.at_rest and len({id(x) for _, x in sent}) == 1
    assert times[0] == 0 and 0.17 < times[-1] < 0.21
    np.testing.assert_allclose(np.diff(times), 0.02, atol=1e-9)
    brake = sent[0][1]
    begin = plan.start_of('excitation') + 1.0
    assert brake.departure - begin == pytest.approx(0.5, abs=0.021)
    assert brake.t[0] == pytest.approx(begin - 0.1, abs=0.021)
    assert brake.end - begin < end < brake.end - begin + 0.3
    assert stop.report(begin + end) == (f'the arm rests, {end:.2f} s after the start of the stop '
                                        '(sent: a braking trajectory)')


def test_a_stop_without_effect_escalates_in_time(plan):
    stop, sent, _ = stopped(plan, lambda t, sent: (None, at(plan, t)), 3.0)
    first = {}
    for seconds, order in sent:
        first.setdefault(order if isinstance(order, str) else id(order), seconds)
    brake, again, cancel, deactivate = list(first.values())[:4]
    assert brake == 0 and 0.5 < again < 0.8 and again + 0.25 < cancel < again + 0.6
    assert cancel + 0.4 - 1e-9 <= deactivate < cancel + 0.43
    later, order = next((x, order) for x, order in sent
                        if x > deactivate and not isinstance(order, str))
    assert deactivate + 0.6 - 1e-9 <= later < deactivate + 0.63
    departure = order.departure - plan.start_of('excitation') - 1.0
    assert later + 0.25 - 1e-9 <= departure < later + 0.27 + 1e-9
    cancels = [seconds for seconds, order in sent if order == 'cancel']
    np.testing.assert_allclose(np.diff(cancels[:2]), 0.2, atol=0.011)
    assert 'a request to cancel the goals, a request to deactivate' in stop.report(0.0)


def test_a_stop_that_loses_sight_cancels(plan):
    begin = plan.start_of('excitation') + 1.0
    stop, sent, _ = stopped(plan, lambda t, sent: (
        None, at(plan, t) if t < begin + 0.45 else None))
    cancel = next(seconds for seconds, order in sent if order == 'cancel')
    assert stop.measures == ['brake', 'cancel'] and 1.5 <= cancel < 1.54
    assert 'neither joint states' in stop.report(begin)


def test_a_reference_that_stands_still_is_held(plan):
    begin = plan.start_of('excitation') + 1.0
    still, command = at(plan, begin - 0.3), at(plan, begin - 0.298)
    stop, sent, _ = stopped(plan, lambda t, sent: (
        ControllerState(t, still, 0.0, command), still))
    assert stop.measures == ['hold'] and stop.at_rest
    np.testing.assert_array_equal(sent[0][1].q, [command, command])
    assert 0.04 < sent[0][0] < 0.1
    stop, sent, _ = stopped(plan, lambda t, sent: (ControllerState(t, still, 0.0), still))
    np.testing.assert_array_equal(sent[0][1].q, [still, still])


@pytest.mark.parametrize(('delay', 'rate'), [(0.3, 0.5), (0.1, 1.0)])
def test_a_reference_is_braked_at_its_own_progress(plan, delay, rate):
    begin = plan.start_of('excitation') + 1.0

    def observe(t, sent):
        q = at(plan, begin - delay + rate * (t - begin)) if not sent else braked(plan, t, sent)
        return ControllerState(t, q, rate), q
    stop, sent, _ = stopped(plan, observe)
    brake, seconds = sent[0][1], sent[0][0]
    assert stop.measures[0] == 'brake' and seconds < 0.1
    t = begin + seconds
    now = np.array([np.interp(t, brake.t, column) for column in brake.q.T])
    np.testing.assert_allclose(now, at(plan, begin - delay + rate * seconds), atol=2e-3)


def test_what_is_off_the_path_is_left_alone_and_watched(plan):
    begin = plan.start_of('excitation') + 1.0
    stop, sent, end = stopped(plan, lambda t, sent: (
        None, at(plan, begin) + 0.3 + 0.5 * (t - begin)))
    assert not sent and stop.at_rest is False and 1.5 < end < 1.65
    stop, sent, end = stopped(plan, lambda t, sent: (
        ControllerState(t, at(plan, t) + 0.1), at(plan, begin) + 0.1))
    assert not sent and stop.at_rest and end < 0.3


def test_a_jump_of_a_clock_cancels_at_once(plan):
    _, sent, _ = stopped(plan, lambda t, sent: (None, at(plan, t)), 0.6, jump=30)
    assert next(seconds for seconds, order in sent if order == 'cancel') == pytest.approx(0.3)


def test_a_stop_ends_with_the_plan(plan):
    begin = plan.duration - 0.2
    stop, _, end = stopped(plan, lambda t, sent: (None, at(plan, t)), begin=begin)
    assert stop.finished and stop.at_rest and end <= 0.2 + 1.52
