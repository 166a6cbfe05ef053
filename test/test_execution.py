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
"""Execution of a motion without ROS: plan, segments, monitor and executor, on a simulated arm."""

import dataclasses
import re
import subprocess
import sys

from motions import excitation_of
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ConfigurationError, ExecutionError
from robot_identification.excitation import Requirements
from robot_identification.ros.execution import (
    ControllerState,
    Fault,
    motion_plan,
    MotionExecutor,
    MotionMonitor,
    MotionTolerances,
    plan_motion,
    StateBatch,
)
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.execution.effort_checks import (
    check_driver_effort,
    check_effort_at_rest,
)
from robot_identification.ros.execution.emergency_stop import EmergencyStop, Observation
from robot_identification.ros.execution.fault import goal_fault
from robot_identification.ros.execution.motion_executor import (
    BrakeTiming,
    Braking,
    ClockJumped,
    Finished,
    Moving,
    TRANSITIONS,
    Waiting,
)
from robot_identification.ros.execution.motion_monitor import JointStateWatchdog
from robot_identification.ros.execution.motion_plan import check_approach, DrivenMotion
from robot_identification.ros.execution.plan_tracker import PlanPosition, PlanTracker
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.execution.sampled_plan import MotionLimits, SampledPlan
from robot_identification.ros.execution.trajectory_segment import (
    brake_segment,
    full_trajectory,
)
from robot_identification.ros.sampled_trajectory import (
    SampledTrajectory,
    TrajectoryMessage,
)


@pytest.fixture(scope='module')
def arm():
    return load_arm('panda')


@pytest.fixture(scope='module')
def excitation(arm):
    return excitation_of('panda_4s', arm)


@pytest.fixture(scope='module')
def plan(arm, excitation):
    middle = (arm.limits.lower + arm.limits.upper) / 2
    return plan_motion(arm, excitation, middle + 0.1)


def test_plan_is_smooth_and_within_limits(plan, arm, excitation):
    t = np.linspace(-0.1, plan.duration + 0.1, 40001)
    q, v, a = plan.evaluate(t)
    inside = (t > 0.001) & (t < plan.duration - 0.001)
    assert np.max(np.abs(np.gradient(q, t, axis=0) - v)[inside]) < 1e-3
    assert np.max(np.abs(np.gradient(v, t, axis=0) - a)[inside]) < 0.1
    assert np.all(v[[0, -1]] == 0) and np.all(a[[0, -1]] == 0)
    assert np.all(q >= arm.limits.lower) and np.all(q <= arm.limits.upper)
    assert np.all(np.abs(v) <= arm.limits.velocity)
    assert np.all(np.abs(a) <= arm.limits.acceleration * (1 + 1e-6))
    begin = plan.start_of('excitation')
    now = np.linspace(0, excitation.period, 50)[:-1]
    np.testing.assert_allclose(plan.evaluate(begin + now)[0],
                               excitation.trajectory.evaluate(now, 0)[0], atol=1e-9)
    assert [plan.phase(x) for x in (-1, 0, begin + 0.01, 1e3)] == [
        'approach', 'approach', 'excitation', 'run_out']


def test_plan_refuses(arm, excitation):
    outside = np.array(arm.limits.upper)
    outside[3] += 0.05
    with pytest.raises(ExecutionError, match=r"'panda_joint4' is at .* outside its") as info:
        plan_motion(arm, excitation, outside)
    assert info.value.reason == 'start_outside_limits'
    slow = np.full(arm.n, 0.01)
    tight = load_arm('panda')
    object.__setattr__(tight.limits, 'velocity', slow)
    with pytest.raises(ExecutionError, match='exceeds the velocity limit') as info:
        plan_motion(tight, excitation, outside - 0.1)
    assert info.value.reason == 'velocity_limit'


def test_an_arm_that_was_stopped_goes_back_along_its_path(arm, excitation):
    """A post that the excitation avoids stands on the straight line from where the arm stopped."""
    start = excitation.trajectory.evaluate([0.0], 0)[0][0]
    first = plan_motion(arm, excitation, start)
    stopped_at = first.start_of('excitation') + 1.3
    q = first.evaluate(np.array([stopped_at]))[0][0] + 1e-3

    def blocked(arm, requirements, q, start):
        if np.max(np.abs(q - start)) > 0.01:
            raise ExecutionError('approach_collision', 'a post')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(motion_plan, 'check_approach', blocked)
        with pytest.raises(ExecutionError, match='a post'):
            plan_motion(arm, excitation, q)
        driven = DrivenMotion(first, excitation.requirements)
        plan = plan_motion(arm, excitation, q, driven=driven)
        with pytest.raises(ExecutionError, match='a post'):    # it was moved by hand
            plan_motion(arm, excitation, q + 0.1, driven=driven)
        other = DrivenMotion(first, dataclasses.replace(excitation.requirements, clearance=0.02))
        with pytest.raises(ExecutionError, match='a post'):    # not proven for this scene
            plan_motion(arm, excitation, q, driven=other)
    assert [phase.name for phase in plan.phases][:3] == ['retreat', 'approach', 'settle']
    t = np.linspace(0, plan.phases[0].duration, 2000)
    way, v, _ = plan.evaluate(t)
    np.testing.assert_allclose(way[0], q, atol=1e-9)
    path = first.evaluate(np.linspace(first.start_of('settle'), stopped_at, 20000))[0]
    away = [np.min(np.max(np.abs(path - point), axis=1)) for point in way[::50]]
    assert max(away) < 2e-3    # it stays on the path that was driven
    assert np.all(np.abs(v) < 0.3 * arm.limits.velocity)
    assert np.max(np.abs(np.gradient(way, t, axis=0) - v)[2:-2]) < 1e-2


def test_between_motions_the_arm_goes_home_if_the_straight_way_is_blocked(arm, excitation):
    """A wall stands between the two motions; both can be reached from where the arm began."""
    home = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
    first = plan_motion(arm, excitation, home)
    trajectory = excitation.trajectory
    mirrored = dataclasses.replace(excitation, trajectory=dataclasses.replace(
        trajectory, coefficients=trajectory.coefficients * np.r_[-1.0, np.ones(arm.n - 1)]))
    q = first.evaluate(np.array([first.duration]))[0][0]
    checked = []

    def blocked(arm, requirements, q, start):
        checked.append((q, start))
        if np.max(np.abs(q - home)) > 1e-6 and np.max(np.abs(q - start)) > 0.01:
            raise ExecutionError('approach_collision', 'a wall')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(motion_plan, 'check_approach', blocked)
        with pytest.raises(ExecutionError, match='a wall'):
            plan_motion(arm, mirrored, q)
        plan = plan_motion(arm, mirrored, q, driven=DrivenMotion(first, excitation.requirements))
    assert [phase.name for phase in plan.phases][:4] == ['retreat', 'home', 'approach', 'settle']
    np.testing.assert_allclose(plan.evaluate(np.array([plan.start_of('approach')]))[0][0], home,
                               atol=1e-9)
    np.testing.assert_allclose(checked[-1][0], home, atol=1e-9)    # home to the start is proven
    t = np.linspace(0, plan.start_of('settle'), 4000)
    q, v, _ = plan.evaluate(t)
    assert np.max(np.abs(np.diff(q, axis=0))) < 0.01 and np.all(
        np.abs(v) < 0.3 * arm.limits.velocity)
    way = q[(t > plan.start_of('home')) & (t < plan.start_of('approach'))]
    line = way[-1] - way[0]
    off = (way - way[0]) - np.outer((way - way[0]) @ line / (line @ line), line)
    assert np.max(np.abs(off)) < 1e-9    # the straight line of the last approach, which was proven


def test_the_way_to_the_start_keeps_the_clearance_of_the_excitation(arm, excitation):
    """An arm may start on either side of a post, but the approach must not pass through it."""
    left, right = (np.array([turn, 0.6, 0, -1.2, 0, 1.8, 0.8]) for turn in (1.5, -1.5))
    post = Requirements(clearance=0.01, boxes=((0.4, -0.1, 0.1, 0.6, 0.1, 1.2),))
    with pytest.raises(ExecutionError, match=r"'panda_\w+' and 'box 1' would collide; the "
                       r'required clearance is 10 mm\. .*panda_joint1 -1\.5') as info:
        check_approach(arm, post, left, right)
    assert info.value.reason == 'approach_collision'
    check_approach(arm, post, left, left - 0.3)
    check_approach(arm, dataclasses.replace(post, boxes=()), left, right)
    check_approach(arm, Requirements(), left, right)
    with pytest.raises(ExecutionError, match='would collide'):
        plan_motion(arm, dataclasses.replace(excitation, requirements=dataclasses.replace(
            post, boxes=((-2, -2, -2, 2, 2, 2),))), left)


@pytest.mark.parametrize('rate', [1.0, 0.5])
def test_every_brake_ends_at_rest_within_limits(plan, arm, rate):
    for leave in np.arange(0.05, plan.duration - 0.3, 0.31):
        position = PlanPosition(leave, min(leave, plan.duration), rate)
        segment = brake_segment(plan, position, leave - 0.1, leave)
        assert np.all(np.diff(segment.t) > 0) and np.all(segment.v[-1] == 0)
        assert leave - 1e-9 <= segment.departure <= leave + 0.021 or leave < 0.02
        sampled = SampledTrajectory(
            TrajectoryMessage(arm.joint_names, 10.0, segment.t, segment.q, segment.v, segment.a),
            10 + segment.t[0], (segment.q[0], segment.v[0], segment.a[0]))
        times = 10 + np.arange(segment.t[0], segment.end, 0.002)
        q, _, a = (np.array(x) for x in zip(*(sampled.sample(t) for t in times)))
        assert np.all(np.abs(a) <= 1.03 * arm.limits.acceleration)
        before = times - 10 < segment.departure
        np.testing.assert_allclose(
            q[before], plan.evaluate(position.on_plan(times[before] - 10))[0], atol=5e-6)
        assert segment.deceleration <= 1


def test_the_whole_motion_may_be_entered_half_a_rest_early_or_late(plan):
    segment = full_trajectory(plan)
    assert segment.t[0] <= -1.0 and segment.t[1] == 0 and segment.end == plan.duration
    np.testing.assert_array_equal(segment.q[0], segment.q[1])
    assert not np.any(segment.v[:2]) and not np.any(segment.v[-1])


def test_progress_finds_the_reference(plan):
    at, seen = plan.start_of('excitation') + 0.5, PlanTracker(plan)
    for k in range(20):         # full speed, then scaled to 0.4, in steps of 20 ms
        at += 0.02 if k < 10 else 0.008
        t = plan.start_of('excitation') + 0.52 + 0.02 * k
        seen.update(t, plan.evaluate(np.array([at]))[0][0])
        assert seen.position.at == pytest.approx(at, abs=1e-5) and seen.distance < 1e-5
        assert seen.explained_by_delay
    assert seen.position.rate == pytest.approx(0.4, abs=1e-3)
    seen.update(t + 0.02, seen.q + 0.05 * np.arange(7))
    assert seen.distance > 0.02 and not seen.explained_by_delay


class Recorder:
    """A controller interface that stores what it is sent."""

    def __init__(self):
        self.sent, self.guards = [], []

    def send(self, segment):
        self.sent.append(segment)

    def guard(self, position, until):
        self.guards.append((position, until))

    def cancel(self):
        return False


def states_at(plan, t):
    q, v, _ = plan.evaluate(np.array([t]))
    return StateBatch(np.array([t]), q, v, np.zeros_like(q))


def test_nothing_begins_on_old_joint_states(arm, plan):
    link = Recorder()
    run = MotionExecutor(arm, plan, link)
    run.step(-0.5, None, 0.3, 0.3)
    assert not link.sent
    run.step(-0.4, states_at(plan, -0.4), 0.0, 0.01)
    assert len(link.sent) == 1 and not run.finished


def test_the_brake_watchdog_is_told_the_progress(arm, plan):
    link = Recorder()
    run = MotionExecutor(arm, plan, link, timing=BrakeTiming(horizon=0.5))
    middle = plan.start_of('excitation')
    for t in np.arange(-0.4, middle, 0.02):
        run.step(t, states_at(plan, t), 0.0, 0.02)
    told = [(position, until) for position, until in link.guards if position is not None]
    assert 8 * middle < len(told) < 11 * (middle + 1)
    for position, until in told[-3:]:
        assert position.at == position.t < until < position.t + 0.5
    run.stop(Fault('stopped', 'by the test'))
    run.step(middle, states_at(plan, middle), 0.0, 0.02)
    assert link.guards[-1][0] is None and len(link.sent) == 2


def sampled(plan):
    full = full_trajectory(plan)
    return SampledPlan(plan.joint_names, full.t, full.q, full.v, full.a,
                       MotionLimits(plan.limits.velocity, plan.limits.acceleration))


def test_the_points_of_a_plan_are_the_plan(plan):
    t = np.random.default_rng(0).uniform(-0.5, plan.duration + 0.5, 500)
    for mine, theirs, tolerance in zip(sampled(plan).evaluate(t), plan.evaluate(t),
                                       (1e-6, 1e-4, 0.05)):
        np.testing.assert_allclose(mine, theirs, atol=tolerance)


def stop_of(plan, moves, seconds=6.0):
    """
    Return an emergency stop after some seconds, and what it sent, with times.

    `moves(t, sent)` returns the observed position; None if nothing is observed.
    """
    begin = plan.start_of('excitation') + 1.0
    stop = EmergencyStop(sampled(plan), PlanPosition(begin, begin), 0.5)
    sent = []
    for t in begin + np.arange(0.0, seconds, 0.01):
        q = moves(t, sent)
        seen = None if q is None else Observation(t, q)
        order = stop.step(t, None, seen)
        if order is not None:
            sent.append((t - begin, order))
        if stop.finished:
            break
    return stop, sent, t


def test_an_emergency_stop_without_effect_escalates_until_the_end_of_the_plan(plan):
    stop, sent, _ = stop_of(plan, lambda t, sent: plan.evaluate(np.array([t]))[0][0], 3.0)
    assert stop.measures[:5] == ['brake', 'brake', 'cancel', 'deactivate', 'brake']
    brakes = [(at, order) for at, order in sent if not isinstance(order, str)]
    copies = [order for _, order in brakes if order is brakes[0][1]]
    assert len(copies) > 5 and brakes[len(copies) - 1][0] < 0.25
    assert not stop.finished and stop.at_rest is None
    stop = stop_of(plan, lambda t, sent: plan.evaluate(np.array([t]))[0][0], 60.0)[0]
    assert stop.finished and stop.at_rest    # the motion itself has ended at rest


def test_an_emergency_stop_that_sees_nothing_does_not_brake_again(plan):
    """A second braking trajectory would make a step if the first one has stopped the arm."""
    stop, sent, _ = stop_of(plan, lambda t, sent: None)
    first = sent[0][1]
    assert all(order is first or order == 'cancel' for _, order in sent)
    assert stop.measures == ['brake', 'cancel'] and stop.at_rest is None
    assert 'unknown whether the arm rests' in stop.report(0.0)


def test_an_emergency_stop_reports_what_it_sees(plan):
    def braked(t, sent):
        segments = [order for _, order in sent if not isinstance(order, str)]
        if not segments:
            return plan.evaluate(np.array([t]))[0][0]
        return np.array([np.interp(t, segments[-1].t, column) for column in segments[-1].q.T])
    stop, _, t = stop_of(plan, braked)
    assert stop.measures == ['brake'] and stop.at_rest
    assert stop.report(t).startswith('the arm rests, 0.')
    start = plan.start_of('excitation')

    def moved_by_others(t, sent):
        return plan.evaluate(np.array([start]))[0][0] + 0.5 * (t - start)
    stop, sent, t = stop_of(plan, moved_by_others)
    assert stop.measures == [] and not sent and stop.at_rest is False
    assert 'THE ARM STILL MOVES' in stop.report(t) and 'nothing was sent' in stop.report(t)
    stop, sent, t = stop_of(plan, lambda t, sent: plan.evaluate(np.array([start]))[0][0])
    assert not sent and stop.at_rest    # the controller held the arm before the node died


def test_a_run_that_was_held_up_touches_nothing(arm, plan):
    link = Recorder()
    run = MotionExecutor(arm, plan, link)
    middle = plan.start_of('excitation')
    for t in np.arange(-0.4, middle, 0.02):
        run.step(t, states_at(plan, t), 0.0, 0.02)
    run.step(middle + 0.5, states_at(plan, middle + 0.5), 0.0, 0.5)
    assert run.fault.reason == 'late' and len(link.sent) == 1


def test_a_paused_simulation_waits_and_goes_on(arm, plan):
    """While the simulated clock stands still, nothing is silent; after it, silence counts."""
    link = Recorder()
    run = MotionExecutor(arm, plan, link)
    middle = plan.start_of('excitation')
    for t in np.arange(-0.4, middle, 0.02):
        run.step(t, states_at(plan, t), 0.0, 0.02)
    for _ in range(1500):    # 30 s without clock and joint states
        run.step(t, None, 0.0, 0.02)
    assert run.fault is None
    for later in np.arange(0.02, 0.6, 0.02):
        run.step(t + later, states_at(plan, t + later), 0.0, 0.1)    # a fifth of real time
    assert run.fault is None
    for silent in np.arange(0.02, 1.0, 0.02):
        run.step(t + later + silent, None, silent, 0.1)
        if run.fault is not None:
            break
    assert run.fault.reason == 'stale_joint_states' and 0.19 < silent < 0.25
    assert re.search(r'no joint state for 0\.2\d* s, the limit is 0\.2 s', run.fault.text)


def test_a_simulation_that_has_ended_ends_the_motion(arm, plan):
    run = MotionExecutor(arm, plan, Recorder())
    middle = plan.start_of('excitation')
    for t in np.arange(-0.4, middle, 0.02):
        run.step(t, states_at(plan, t), 0.0, 0.02)
    for _ in range(4000):
        run.step(t, None, 0.0, 0.02)
        if run.finished:
            break
    assert run.fault.reason == 'simulation_paused' and 'stood still for 60 s' in run.fault.text


def test_phases_follow_each_other_as_the_table_says(arm, plan):
    run = MotionExecutor(arm, plan, Recorder())
    seen = [type(run.phase)]
    for t in np.arange(-0.4, plan.duration + 1.0, 0.02):
        run.step(t, states_at(plan, t), 0.0, 0.02)
        seen += [type(run.phase)] if type(run.phase) not in seen[-1:] else []
    assert seen == [Waiting, Moving, Finished] and run.at_rest and run.fault is None
    for phase in (Moving(), Braking(0.0), Waiting()):
        with pytest.raises(ExecutionError, match='cannot follow Finished'):
            run._enter(phase)
    assert {Finished} == set(TRANSITIONS) - {before for before, after in TRANSITIONS.items()
                                             if after}


def test_a_clock_that_agrees_again_does_not_end_the_motion(arm, plan):
    link, seen = Recorder(), []
    run = MotionExecutor(arm, plan, link, has_reference=True)
    peak = plan.start_of('excitation') + 2.0
    for t in np.arange(-0.4, peak + 1.0, 0.01):
        late = max(0.0305 - 0.015 * abs(t - peak), 0.0)     # [s] 0.03 s are allowed
        reference = ControllerState(t, plan.evaluate(np.array([t - late]))[0][0])
        run.step(t, states_at(plan, t), 0.0, 0.01, reference)
        seen += [type(run.phase)] if type(run.phase) not in seen[-1:] else []
    assert seen == [Moving, ClockJumped, Moving] and run.fault is None
    assert len(link.sent) == 1 and link.guards[-1][0] is not None


def test_a_stall_is_reported_as_late_whatever_else_was_seen(arm, plan):
    run = MotionExecutor(arm, plan, Recorder())
    middle = plan.start_of('excitation')
    for t in np.arange(-0.4, middle, 0.02):
        run.step(t, states_at(plan, t), 0.0, 0.02)
    run.stop(Fault('another_client', 'the goal was replaced'))    # by the brake watchdog
    run.step(middle + 0.5, states_at(plan, middle + 0.5), 0.0, 0.5)
    assert run.fault.reason == 'late'


def jittered(arm, plan, factor, seed):
    """
    Return joint states of mock hardware, whose velocities are differences over measured periods.

    One cycle in fifty is late by up to 0.8 of a period, so that the next one is short.
    """
    rng, start = np.random.default_rng(seed), plan.start_of('excitation') + 1.0
    due = np.arange(400) * 1e-3
    t = start + due + np.where(rng.random(400) < 0.02, rng.uniform(0.3e-3, 0.8e-3, 400), 1e-5)
    q = np.zeros((400, arm.n))
    q[:, 0] = factor * arm.limits.velocity[0] * due
    v = np.vstack([np.zeros(arm.n), np.diff(q, axis=0) / np.diff(t)[:, None]])
    return t, q, v


@pytest.mark.parametrize('seed', range(5))
def test_a_late_cycle_is_not_an_excess_of_velocity(arm, plan, seed):
    for factor, expected in ((0.6, False), (0.95, False), (1.4, True)):
        monitor = MotionMonitor(arm, plan, MotionTolerances(tracking=100.0))
        t, q, v = jittered(arm, plan, factor, seed)
        q = np.clip(q, arm.limits.lower, arm.limits.upper)
        assert np.max(np.abs(v[:, 0])) > 1.2 * arm.limits.velocity[0] or factor < 0.9
        faults = [monitor.check_states(t[k:k + 10], q[k:k + 10], v[k:k + 10], None, False)
                  for k in range(0, 400, 10)]
        excess = [k for k, fault in enumerate(faults)
                  if fault is not None and fault.reason == 'velocity_limit']
        assert bool(excess) == expected
        if expected:
            assert excess[0] <= 3 and 'median of' in faults[excess[0]].text    # within 30 ms


def test_an_arm_that_only_settles_does_not_follow(arm, plan):
    t = np.arange(3000) * 1e-3
    start = plan.evaluate(t[:1])[0]
    settling = start + 5e-5 * np.exp(-t / 0.1)[:, None].round(3)
    for q, reason in ((settling, 'controller_does_not_follow'),
                      (plan.evaluate(np.minimum(t, 0.5))[0], 'frozen_joint_states')):
        monitor = MotionMonitor(arm, plan, MotionTolerances())
        faults = (monitor.check_states(t[k:k + 10], q[k:k + 10], None, None)
                  for k in range(0, 3000, 10))
        assert next(filter(None, faults)).reason == reason


@pytest.mark.parametrize('rate', [50.0, 125.0, 1000.0])
def test_an_excess_of_velocity_is_found_at_any_rate(arm, plan, rate):
    monitor = MotionMonitor(arm, plan, MotionTolerances(tracking=100.0))
    q, v = np.zeros((1, arm.n)), np.zeros((1, arm.n))
    q[0] = np.clip(0, arm.limits.lower, arm.limits.upper)
    v[0, 0] = 1.5 * arm.limits.velocity[0]
    for k in range(1, 100):
        fault = monitor.check_states(np.array([k / rate]), q, v, None, False)
        if fault is not None:
            break
    assert fault.reason == 'velocity_limit' and k <= max(3, 0.021 * rate)


def test_what_somebody_else_has_in_hand_is_not_moved(arm, plan):
    link = Recorder()
    run = MotionExecutor(arm, plan, link)
    run.step(-0.4, states_at(plan, -0.4), 0.0, 0.02)
    run.stop(Fault('path_tolerance', 'by the controller', touch=False))
    for t in np.arange(0, 2, 0.02):
        run.step(t, states_at(plan, 0.0), 0.0, 0.02)
    assert run.finished and len(link.sent) == 1 and run.fault.reason == 'path_tolerance'


def test_clocks_are_measured_and_watched():
    clock = RobotClock()
    for k in range(10):
        clock.measure(10**9 * k, 10**9 * k - 5_000_000 - k)
    clock.check()
    assert clock.offset == 5_000_000
    assert clock.watch(10**10, (10**10 - 6_000_000, 10**10 - 6_000_000), 0.005) is None
    assert clock.watch(10**10 + 5_000_000, None, 0.005) is None
    ahead = 10**10 + 10_000_000
    fault = clock.watch(ahead, (ahead + 400_000_000,) * 2, 0.005)
    assert fault.reason == 'clock' and "robot's clock jumped by 0.4" in fault.text
    assert clock.robot(ahead) == ahead + 400_000_000
    late = RobotClock(simulated=True)      # a clock from a topic may be late and catch up
    late.measure(10**9, 10**9 + 300_000_000)
    late.measure(10**9, 10**9 - 5_000_000)
    late.check()
    assert late.watch(10**10, (10**10 + 600_000_000,) * 2, 0.6) is None
    assert late.watch(10**10 + 600_000_000, None, 0.005) is None
    assert late.watch(10**10 + 5_000_000_000, None, 0.005).reason == 'clock'
    clock.watch(ahead, None, 0.5)
    fault = clock.watch(ahead - 10**9, None, 0.005)
    assert fault.reason == 'clock' and 'clock of this node jumped by -1.000' in fault.text
    for offset, text in ((400_000_000, r'0\.40 s behind'), (-400_000_000, r'0\.40 s ahead of')):
        off = RobotClock()
        off.measure(10**12, 10**12 - offset)
        with pytest.raises(ExecutionError, match=text) as info:
            off.check()
        assert info.value.reason == 'clock'


def test_results_of_goals_are_read():
    assert goal_fault('succeeded', 0, '', 'c', newest=True) is None
    assert goal_fault('aborted', -1, 'preempted', 'c', newest=False) is None
    fault = goal_fault('aborted', -1, 'preempted', 'c', newest=True)
    assert fault.reason == 'another_client' and not fault.touch
    for code, reason in ((-4, 'path_tolerance'), (-5, 'goal_tolerance'),
                         (-9, 'controller_aborted')):
        assert goal_fault('aborted', code, '', 'c', newest=True).reason == reason
    assert goal_fault('canceled', 0, '', 'c', newest=True).reason == 'controller_cancelled'
    text = 'Current goal cancelled during deactivate transition.'
    for state in ('aborted', 'canceled'):
        assert goal_fault(state, -1, text, 'c', newest=True).reason == 'controller_deactivated'


Q = np.array([0.0, 0.8, 0.0, -1.2, 0.0, 1.5, 0.0])     # gravity loads shoulder and elbow


def at_rest(arm):
    """Return the efforts that an arm at Q publishes, (1, n) [N m]."""
    zero = np.zeros((1, arm.n))
    return inverse_dynamics(arm, Q[None, :arm.n], zero, zero)


def test_effort_at_rest_tells_what_it_cannot_be(arm):
    gravity = at_rest(arm)[0]
    for factor in (0.6, 1.0, 1.8):
        check_effort_at_rest(arm, factor * gravity, Q)
    for factor, text in ((0.07, 'a current or a motor torque'), (-1.0, 'sign'),
                         (50.0, 'unit, gain or gear ratio'), (0.0, 'has subtracted gravity')):
        with pytest.raises(ExecutionError, match=text) as info:
            check_effort_at_rest(arm, factor * gravity, Q)
        assert info.value.reason == 'effort_meaning'
    compensated = load_arm('panda')
    object.__setattr__(compensated, 'effort', dataclasses.replace(
        arm.effort, gravity_compensated=True))
    with pytest.raises(ExecutionError, match='has not subtracted gravity'):
        check_effort_at_rest(compensated, 2 * gravity, Q)


def test_effort_of_one_message_is_noise(arm, plan):
    monitor = MotionMonitor(arm, plan, MotionTolerances(effort_samples=3))
    assert monitor.start_effort_monitoring(at_rest(arm), Q) == ''
    q = plan.evaluate(np.zeros(1))[0]
    much = 2 * arm.limits.torque[None]
    for _ in range(2):
        assert monitor.check_states(np.zeros(1), q, None, much) is None
    assert monitor.check_states(np.zeros(1), q, None, 0 * much) is None
    assert monitor.check_states(np.zeros(2), np.vstack([q, q]), None,
                                np.vstack([much, much])) is None
    assert monitor.check_states(np.zeros(1), q, None, much).reason == 'effort_limit'


def test_efforts_of_unknown_gain_are_watched_by_a_published_limit(arm, plan):
    q = plan.evaluate(np.zeros(1))[0]
    currents = load_arm('ur10e')
    object.__setattr__(currents, 'effort', dataclasses.replace(currents.effort,
                                                               quantity='current'))
    object.__setattr__(currents.drives, 'gains', np.full(currents.n, np.nan))
    blind = MotionMonitor(currents, plan, MotionTolerances())
    assert 'is not known' in blind.start_effort_monitoring(np.ones((1, currents.n)), Q[:6])
    limited = MotionMonitor(currents, plan, MotionTolerances(
        published_effort=(5.0,) * currents.n, effort_samples=1))
    assert limited.start_effort_monitoring(np.ones((1, currents.n)), Q[:6]) == ''
    fault = limited._check_effort(q[:, :currents.n], np.full((1, currents.n), -5.1))
    assert fault.reason == 'effort_limit' and 'as published' in fault.text
    with pytest.raises(ExecutionError, match='must have 7 positive numbers'):
        MotionMonitor(arm, plan, MotionTolerances(published_effort=(5.0,)))
    monitor = MotionMonitor(arm, plan, MotionTolerances())
    assert 'no efforts' in monitor.start_effort_monitoring(None, Q)
    assert monitor.check_states(np.zeros(1), q, None, None) is None
    assert monitor.start_effort_monitoring(at_rest(arm), Q) == ''
    assert monitor.check_states(np.zeros(1), q, None, None).reason == 'effort_missing'
    object.__setattr__(free := load_arm('panda'), 'limits', dataclasses.replace(
        free.limits, torque=np.where(np.arange(7) == 2, np.inf, free.limits.torque)))
    monitor = MotionMonitor(free, plan, MotionTolerances())
    assert 'panda_joint3' in monitor.start_effort_monitoring(at_rest(arm), Q)


def test_silence_is_told_from_lateness():
    watchdog = JointStateWatchdog(0.2)
    watchdog.step(True, 0.0, 0.005)
    watchdog.step(False, 0.6, 0.6)       # this process stalled: the age is not known yet
    assert not watchdog.fresh and not watchdog.expired
    for _ in range(20):
        watchdog.step(True, 0.65, 0.005)     # old joint states from the queue
    assert not watchdog.expired
    watchdog.step(True, 0.01, 0.005)     # the joint states were only late
    assert watchdog.fresh and watchdog.silence == 0
    for k in range(39):
        watchdog.step(False, 0.005 * k, 0.005)
        assert not watchdog.expired
    watchdog.step(False, 0.206, 0.006)
    assert watchdog.expired
    late = JointStateWatchdog(0.2)
    late.step(True, 1.01, 1.0)          # so old that the cause does not matter
    assert late.expired


def test_options_are_checked():
    with pytest.raises(ExecutionError, match='less than the horizon'):
        BrakeTiming(horizon=0.1)


def test_data_directory_is_not_left(tmp_path):
    root = tmp_path / 'data'
    data = DataDirectory(root)
    (tmp_path / 'secret').write_text('x')
    (root / 'in').mkdir()
    (root / 'in' / 'file').write_text('x')
    (root / 'out').symlink_to(tmp_path)
    (root / 'link').symlink_to(tmp_path / 'secret')
    assert data.existing('in/file') == (root / 'in' / 'file').resolve()
    assert data.path('new/one').parent == root.resolve() / 'new'
    for name in ('../secret', str(tmp_path / 'secret'), 'in/../../secret', 'out/secret', 'link',
                 '/etc/passwd', 'out'):
        with pytest.raises(ConfigurationError, match='outside the data directory'):
            data.path(name)
    for name, text in (('', 'is empty'), ('a\0b', 'null'), ('.', 'itself')):
        with pytest.raises(ConfigurationError, match=text):
            data.path(name)
    with pytest.raises(ConfigurationError, match="no recording 'nothing'"):
        data.existing('nothing', 'recording')


HARDWARE = ('<robot><ros2_control><hardware><plugin>{}</plugin>'
            '<param name="use_currents_as_efforts">{}</param></hardware></ros2_control></robot>')
UR = 'ur_robot_driver/URPositionHardwareInterface'


@pytest.mark.parametrize(('description', 'said'), [
    ('', ''), ('<robot', ''), ('<robot/>', ''), (HARDWARE.format('mock', 'true'), ''),
    (HARDWARE.format(UR, ''), ''), (HARDWARE.format(UR, 'false'), 'torque'),
    (HARDWARE.format('gripper', 'true').removesuffix('</robot>')
     + HARDWARE.format(UR, 'false').removeprefix('<robot>'), 'torque')])
def test_what_a_driver_says_of_its_efforts(description, said):
    assert check_driver_effort(load_arm('ur5e'), description) == said


def test_a_driver_that_publishes_something_else_is_refused():
    with pytest.raises(ExecutionError, match='publishes a current as effort') as caught:
        check_driver_effort(load_arm('ur5e'), HARDWARE.format(UR, 'True'))
    assert caught.value.reason == 'effort_meaning'


def test_efforts_that_nobody_measures_are_not_watched(arm, plan):
    monitor = MotionMonitor(arm, plan, MotionTolerances())
    with pytest.raises(ExecutionError, match='exactly zero') as caught:
        monitor.require_effort_monitoring(np.zeros((3, arm.n)), plan.evaluate(np.zeros(1))[0][0])
    assert caught.value.reason == 'effort_unwatched'
    monitor = MotionMonitor(arm, plan, MotionTolerances(efforts=False))
    assert 'exactly zero' in monitor.require_effort_monitoring(
        np.zeros((3, arm.n)), plan.evaluate(np.zeros(1))[0][0])


def test_a_motion_of_an_hour_is_refused(arm):
    with pytest.raises(ExecutionError, match='fewer periods') as caught:
        plan_motion(arm, excitation_of('panda_8s_margin'), np.array(
            (arm.limits.lower + arm.limits.upper) / 2), periods=1000)
    assert caught.value.reason == 'too_long'


def test_the_brake_watchdog_starts_without_the_libraries_of_arms():
    """The brake watchdog runs beside every motion, and must start soon."""
    script = ('import sys, robot_identification.ros.execution.emergency_stop\n'
              'import robot_identification.ros.execution.sampled_plan\n'
              "print(*sorted({'pinocchio', 'numba', 'coal'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          check=True)
    assert not done.stdout.strip()
