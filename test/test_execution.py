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
"""Execution of a motion: plan, pieces, watch and run, on the simulated arm without ROS."""

import dataclasses
import subprocess
import sys

from motions import excitation_of
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ConfigurationError, ExecutionError
from robot_identification.excitation import Requirements
from robot_identification.ros.execution import Fault, plan_motion, Run, States, Tolerances, Watch
from robot_identification.ros.execution.approach import check_approach
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.execution.driver_effort import check_driver
from robot_identification.ros.execution.effort_at_rest import check_effort_at_rest
from robot_identification.ros.execution.goal_result import fault_of
from robot_identification.ros.execution.pieces import brake, LATE, whole
from robot_identification.ros.execution.progress import Position, Progress
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.execution.run import Sending
from robot_identification.ros.execution.silence import Silence
from robot_identification.ros.sampled_trajectory import (
    SampledTrajectory,
    TrajectoryMessage,
)
from scipy.interpolate import CubicHermiteSpline


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
    with pytest.raises(ExecutionError, match='beyond its velocity limit') as info:
        plan_motion(tight, excitation, outside - 0.1)
    assert info.value.reason == 'velocity_limit'


def test_the_way_to_the_start_keeps_the_clearance_of_the_excitation(arm, excitation):
    """A post before the arm: it may rest on either side, and not pass through."""
    left, right = (np.array([turn, 0.6, 0, -1.2, 0, 1.8, 0.8]) for turn in (1.5, -1.5))
    post = Requirements(clearance=0.01, boxes=((0.4, -0.1, 0.1, 0.6, 0.1, 1.2),))
    with pytest.raises(ExecutionError, match=r"'panda_\w+' and 'box 1' would touch; 10 mm "
                       r'are to be kept\. .*panda_joint1 -1\.5') as info:
        check_approach(arm, post, left, right)
    assert info.value.reason == 'approach_collision'
    check_approach(arm, post, left, left - 0.3)
    check_approach(arm, dataclasses.replace(post, boxes=()), left, right)
    check_approach(arm, Requirements(), left, right)
    with pytest.raises(ExecutionError, match='would touch'):
        plan_motion(arm, dataclasses.replace(excitation, requirements=dataclasses.replace(
            post, boxes=((-2, -2, -2, 2, 2, 2),))), left)


@pytest.mark.parametrize('rate', [1.0, 0.5])
def test_every_brake_ends_at_rest_within_limits(plan, arm, rate):
    for leave in np.arange(0.05, plan.duration - 0.3, 0.31):
        position = Position(leave, min(leave, plan.duration), rate)
        piece = brake(plan, position, leave - 0.1, leave)
        assert np.all(np.diff(piece.t) > 0) and np.all(piece.v[-1] == 0)
        assert leave - 1e-9 <= piece.leaves <= leave + 0.021 or leave < 0.02
        sampled = SampledTrajectory(
            TrajectoryMessage(arm.joint_names, 10.0, piece.t, piece.q, piece.v, piece.a),
            10 + piece.t[0], (piece.q[0], piece.v[0], piece.a[0]))
        times = 10 + np.arange(piece.t[0], piece.end, 0.002)
        q, _, a = (np.array(x) for x in zip(*(sampled.sample(t) for t in times)))
        assert np.all(np.abs(a) <= 1.03 * arm.limits.acceleration)
        before = times - 10 < piece.leaves
        np.testing.assert_allclose(
            q[before], plan.evaluate(position.on_plan(times[before] - 10))[0], atol=5e-6)
        assert piece.deceleration <= 1


def test_the_whole_motion_may_be_entered_half_a_rest_early_or_late(plan):
    piece = whole(plan)
    assert piece.t[0] <= -1.0 and piece.t[1] == 0 and piece.end == plan.duration
    np.testing.assert_array_equal(piece.q[0], piece.q[1])
    assert not np.any(piece.v[:2]) and not np.any(piece.v[-1])


def test_progress_finds_the_reference(plan):
    at, seen = plan.start_of('excitation') + 0.5, Progress(plan)
    for k in range(20):         # full speed, then at 0.4, 20 ms apart
        at += 0.02 if k < 10 else 0.008
        t = plan.start_of('excitation') + 0.52 + 0.02 * k
        seen.update(t, plan.evaluate(np.array([at]))[0][0])
        assert seen.position.at == pytest.approx(at, abs=1e-5) and seen.off < 1e-5
        assert seen.alike
    assert seen.position.rate == pytest.approx(0.4, abs=1e-3)
    seen.update(t + 0.02, seen.q + 0.05 * np.arange(7))
    assert seen.off > 0.02 and not seen.alike


class Recorder:
    """A link that remembers."""

    def __init__(self):
        self.sent, self.guards = [], []

    def send(self, piece):
        self.sent.append(piece)

    def guard(self, pieces, until):
        self.guards.append((pieces, until))

    def cancel(self):
        return False


def states_at(plan, t):
    q, v, _ = plan.evaluate(np.array([t]))
    return States(np.array([t]), q, v, np.zeros_like(q))


def test_nothing_begins_on_old_joint_states(arm, plan):
    link = Recorder()
    run = Run(arm, plan, link)
    run.step(-0.5, None, 0.3, 0.3)
    assert not link.sent
    run.step(-0.4, states_at(plan, -0.4), 0.0, 0.01)
    assert len(link.sent) == 1 and not run.finished


def test_the_dead_mans_brake_is_made_anew_and_taken_back(arm, plan):
    link = Recorder()
    run = Run(arm, plan, link, sending=Sending(horizon=0.5))
    middle = plan.start_of('excitation')
    for t in np.arange(-0.4, middle, 0.02):
        run.step(t, states_at(plan, t), 0.0, 0.02)
    left = [(pieces, until) for pieces, until in link.guards if pieces]
    assert 8 * middle < len(left) < 11 * (middle + 1)
    for pieces, until in left[-3:]:
        assert until < pieces[0].leaves < until + 0.1
        assert len(pieces) == 3 and pieces[0].leaves < pieces[1].leaves < pieces[2].leaves
        for piece in pieces:
            assert not np.any(piece.v[-1])
            t = np.linspace(piece.t[0], piece.leaves + LATE, 200)
            there = CubicHermiteSpline(piece.t, piece.q, piece.v)(t)
            assert np.abs(there - plan.evaluate(t)[0]).max() < 2e-3    # to be entered at any time
    run.stop(Fault('stopped', 'by the test'))
    run.step(middle, states_at(plan, middle), 0.0, 0.02)
    assert link.guards[-1][0] == () and len(link.sent) == 2


def test_a_run_that_was_held_up_touches_nothing(arm, plan):
    link = Recorder()
    run = Run(arm, plan, link)
    middle = plan.start_of('excitation')
    for t in np.arange(-0.4, middle, 0.02):
        run.step(t, states_at(plan, t), 0.0, 0.02)
    run.step(middle + 0.5, states_at(plan, middle + 0.5), 0.0, 0.5)
    assert run.fault.reason == 'late' and len(link.sent) == 1


def test_what_somebody_else_has_in_hand_is_not_moved(arm, plan):
    link = Recorder()
    run = Run(arm, plan, link)
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
    assert fault.reason == 'clock' and "robot's clock has jumped by 0.4" in fault.text
    assert clock.robot(ahead) == ahead + 400_000_000
    late = RobotClock(simulated=True)      # a clock that is a topic may come late, and catch up
    late.measure(10**9, 10**9 + 300_000_000)
    late.measure(10**9, 10**9 - 5_000_000)
    late.check()
    assert late.watch(10**10, (10**10 + 600_000_000,) * 2, 0.6) is None
    assert late.watch(10**10 + 600_000_000, None, 0.005) is None
    assert late.watch(10**10 + 5_000_000_000, None, 0.005).reason == 'clock'
    clock.watch(ahead, None, 0.5)
    fault = clock.watch(ahead - 10**9, None, 0.005)
    assert fault.reason == 'clock' and 'clock of this node has jumped by -1.000' in fault.text
    for offset, text in ((400_000_000, r'0\.40 s behind'), (-400_000_000, r'0\.40 s ahead of')):
        off = RobotClock()
        off.measure(10**12, 10**12 - offset)
        with pytest.raises(ExecutionError, match=text) as info:
            off.check()
        assert info.value.reason == 'clock'


def test_results_of_goals_are_read():
    assert fault_of('succeeded', 0, '', 'c', newest=True) is None
    assert fault_of('aborted', -1, 'preempted', 'c', newest=False) is None
    fault = fault_of('aborted', -1, 'preempted', 'c', newest=True)
    assert fault.reason == 'another_client' and not fault.touch
    for code, reason in ((-4, 'path_tolerance'), (-5, 'goal_tolerance'),
                         (-9, 'controller_aborted')):
        assert fault_of('aborted', code, '', 'c', newest=True).reason == reason
    assert fault_of('canceled', 0, '', 'c', newest=True).reason == 'controller_cancelled'


Q = np.array([0.0, 0.8, 0.0, -1.2, 0.0, 1.5, 0.0])     # gravity loads shoulder and elbow here


def at_rest(arm):
    """Return what an arm at Q publishes, (1, n) [N m]."""
    zero = np.zeros((1, arm.n))
    return inverse_dynamics(arm, Q[None, :arm.n], zero, zero)


def test_effort_at_rest_tells_what_it_cannot_be(arm):
    gravity = at_rest(arm)[0]
    for factor in (0.6, 1.0, 1.8):
        check_effort_at_rest(arm, factor * gravity, Q)
    for factor, text in ((0.07, 'a current or a motor torque'), (-1.0, 'sign'),
                         (50.0, 'unit, gain or reduction'), (0.0, 'taken gravity away')):
        with pytest.raises(ExecutionError, match=text) as info:
            check_effort_at_rest(arm, factor * gravity, Q)
        assert info.value.reason == 'effort_meaning'
    compensated = load_arm('panda')
    object.__setattr__(compensated, 'effort', dataclasses.replace(
        arm.effort, gravity_compensated=True))
    with pytest.raises(ExecutionError, match='has not taken gravity away'):
        check_effort_at_rest(compensated, 2 * gravity, Q)


def test_effort_of_one_message_is_noise(arm, plan):
    watch = Watch(arm, plan, Tolerances(effort_samples=3))
    assert watch.look(at_rest(arm), Q) == ''
    q = plan.evaluate(np.zeros(1))[0]
    much = 2 * arm.limits.torque[None]
    for _ in range(2):
        assert watch.states(np.zeros(1), q, None, much) is None
    assert watch.states(np.zeros(1), q, None, 0 * much) is None
    assert watch.states(np.zeros(2), np.vstack([q, q]), None, np.vstack([much, much])) is None
    assert watch.states(np.zeros(1), q, None, much).reason == 'effort_limit'


def test_efforts_of_unknown_gain_are_watched_by_a_published_limit(arm, plan):
    q = plan.evaluate(np.zeros(1))[0]
    currents = load_arm('ur10e')
    object.__setattr__(currents, 'effort', dataclasses.replace(currents.effort,
                                                               quantity='current'))
    object.__setattr__(currents.drives, 'gains', np.full(currents.n, np.nan))
    blind = Watch(currents, plan, Tolerances())
    assert 'is not known' in blind.look(np.ones((1, currents.n)), Q[:6])
    limited = Watch(currents, plan, Tolerances(published_effort=(5.0,) * currents.n,
                                               effort_samples=1))
    assert limited.look(np.ones((1, currents.n)), Q[:6]) == ''
    fault = limited._effort(q[:, :currents.n], np.full((1, currents.n), -5.1))
    assert fault.reason == 'effort_limit' and 'as published' in fault.text
    with pytest.raises(ExecutionError, match='must have 7 positive numbers'):
        Watch(arm, plan, Tolerances(published_effort=(5.0,)))
    watch = Watch(arm, plan, Tolerances())
    assert 'no efforts' in watch.look(None, Q)
    assert watch.states(np.zeros(1), q, None, None) is None
    assert watch.look(at_rest(arm), Q) == ''
    assert watch.states(np.zeros(1), q, None, None).reason == 'effort_missing'
    object.__setattr__(free := load_arm('panda'), 'limits', dataclasses.replace(
        free.limits, torque=np.where(np.arange(7) == 2, np.inf, free.limits.torque)))
    assert 'panda_joint3' in Watch(free, plan, Tolerances()).look(at_rest(arm), Q)


def test_silence_is_told_from_lateness():
    silence = Silence(0.2)
    silence.step(True, 0.0, 0.005)
    silence.step(False, 0.6, 0.6)       # this process was held up: nothing is known yet
    assert not silence.fresh and not silence.too_long
    for _ in range(20):
        silence.step(True, 0.65, 0.005)     # old ones, out of the queue
    assert not silence.too_long
    silence.step(True, 0.01, 0.005)     # it had only been late
    assert silence.fresh and silence.listened == 0
    for k in range(39):
        silence.step(False, 0.005 * k, 0.005)
        assert not silence.too_long
    silence.step(False, 0.206, 0.006)
    assert silence.too_long
    late = Silence(0.2)
    late.step(True, 1.01, 1.0)          # so long that it does not matter whose fault it is
    assert late.too_long


def test_options_are_checked():
    with pytest.raises(ExecutionError, match='less than the horizon'):
        Sending(horizon=0.1)


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
    for name, text in (('', 'not named'), ('a\0b', 'null'), ('.', 'itself')):
        with pytest.raises(ConfigurationError, match=text):
            data.path(name)
    with pytest.raises(ConfigurationError, match="no recording 'nothing'"):
        data.existing('nothing', 'recording')


HARDWARE = ('<robot><ros2_control><hardware><plugin>{}</plugin>'
            '<param name="use_currents_as_efforts">{}</param></hardware></ros2_control></robot>')
UR = 'ur_robot_driver/URPositionHardwareInterface'


@pytest.mark.parametrize(('description', 'said'), [
    ('', ''), ('<robot', ''), ('<robot/>', ''), (HARDWARE.format('mock', 'true'), ''),
    (HARDWARE.format(UR, ''), ''), (HARDWARE.format(UR, 'false'), 'torque')])
def test_what_a_driver_says_of_its_efforts(description, said):
    assert check_driver(load_arm('ur5e'), description) == said


def test_a_driver_that_publishes_something_else_is_refused():
    with pytest.raises(ExecutionError, match='told to publish a current') as caught:
        check_driver(load_arm('ur5e'), HARDWARE.format(UR, 'True'))
    assert caught.value.reason == 'effort_meaning'


def test_efforts_that_nobody_measures_are_not_watched(arm, plan):
    watch = Watch(arm, plan, Tolerances())
    with pytest.raises(ExecutionError, match='exactly zero') as caught:
        watch.demand(np.zeros((3, arm.n)), plan.evaluate(np.zeros(1))[0][0])
    assert caught.value.reason == 'effort_unwatched'
    watch = Watch(arm, plan, Tolerances(efforts=False))
    assert 'exactly zero' in watch.demand(np.zeros((3, arm.n)), plan.evaluate(np.zeros(1))[0][0])


def test_a_motion_of_an_hour_is_refused(arm):
    with pytest.raises(ExecutionError, match='fewer periods') as caught:
        plan_motion(arm, excitation_of('panda_8s_margin'), np.array(
            (arm.limits.lower + arm.limits.upper) / 2), periods=1000)
    assert caught.value.reason == 'too_long'


def test_the_clock_of_the_dead_man_brings_no_libraries_of_numbers():
    """A process that waits beside every motion is to cost little."""
    script = ('import sys, robot_identification.ros.execution.robot_clock\n'
              "print(*sorted({'numpy', 'scipy', 'pinocchio'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          check=True)
    assert not done.stdout.strip()
