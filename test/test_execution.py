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

from motions import excitation_of
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.errors import ConfigurationError, ExecutionError, SimulationError
from robot_identification.excitation import Requirements
from robot_identification.execution import (
    cut,
    DataDirectory,
    Fault,
    plan_motion,
    Run,
    Sending,
    Silence,
    States,
    Tolerances,
    Watch,
)
from robot_identification.execution.approach import check_approach
from robot_identification.simulation import Plant, PlantOptions, SimulatedRobot
from robot_identification.simulation.trajectory_follower import TrajectoryFollower

RATE = 200.0


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


def test_every_piece_ends_at_rest_within_limits(plan, arm):
    for last in np.arange(0.05, plan.duration + 0.2, 0.0731):
        piece = cut(plan, last - 0.6, last)
        assert np.all(np.diff(piece.t) > 0)
        assert np.all(piece.v[-1] == 0)
        assert piece.leaves >= min(last, plan.duration) - 1e-9
        follower = TrajectoryFollower(arm.joint_names, piece.q[0])
        follower.accept(piece.t[0], arm.joint_names, piece.t, piece.q, piece.v, piece.a,
                        (piece.q[0], piece.v[0]))
        times = np.arange(piece.t[0], piece.end, 0.001)
        v = np.array([follower.sample(t)[1] for t in times])
        a = np.diff(v, axis=0) / 0.001
        assert np.all(np.abs(a) <= 1.02 * arm.limits.acceleration)
        assert piece.deceleration <= 1


def test_replacing_pieces_leaves_the_motion_as_it_is(plan, arm):
    rng = np.random.default_rng(3)
    follower = TrajectoryFollower(arm.joint_names, plan.evaluate(np.zeros(1))[0][0])
    worst, due = 0.0, 0.0
    for now in np.arange(0, plan.duration, 0.002):
        if now >= due:
            due = now + rng.uniform(0.05, 0.4)
            piece = cut(plan, now - 0.1, now + 0.5)
            noisy = rng.normal(size=arm.n), rng.normal(size=arm.n)  # must not matter
            follower.accept(now, arm.joint_names, piece.t, piece.q, piece.v, piece.a, noisy)
        worst = max(worst, np.max(np.abs(follower.sample(now)[0]
                                         - plan.evaluate(np.array([now]))[0])))
    assert worst < 1e-6


def test_follower_rejects_as_the_controller_does(plan, arm):
    piece = cut(plan, 0.0, 1.0)
    follower = TrajectoryFollower(arm.joint_names, piece.q[0])
    state = (piece.q[0], piece.v[0])

    def accept(now=0.0, names=arm.joint_names, t=piece.t, v=piece.v):
        follower.accept(now, names, t, piece.q, v, piece.a, state)

    with pytest.raises(SimulationError, match='the controller has'):
        accept(names=arm.joint_names[:-1])
    with pytest.raises(SimulationError, match='do not increase'):
        accept(t=piece.t[::-1])
    with pytest.raises(SimulationError, match='ended'):
        accept(now=piece.end + 1)
    with pytest.raises(SimulationError, match='moves at its end'):
        accept(v=piece.v + 1)
    np.testing.assert_array_equal(follower.sample(0.5)[0], piece.q[0])
    accept()
    order = np.argsort(arm.joint_names)[::-1]
    follower.accept(0.0, [arm.joint_names[k] for k in order], piece.t, piece.q[:, order],
                    piece.v[:, order], piece.a[:, order], state)
    np.testing.assert_allclose(follower.sample(piece.t[40])[0], piece.q[40], atol=1e-12)


class Loop:
    """The closed loop of a run and the simulated arm, with faults."""

    def __init__(self, arm, plan, tolerances=None, sending=None, delay=0.0):
        self.arm, self.plan = arm, plan
        options = PlantOptions(rate=RATE, control_rate=500.0, step=0.001, bandwidth=8.0)
        self.robot = SimulatedRobot(Plant(arm, options), np.random.default_rng(0))
        self.robot.reset(plan.evaluate(np.zeros(1))[0][0])
        self.follower = TrajectoryFollower(arm.joint_names, self.robot.plant.q)
        self.run = Run(arm, plan, self.send, tolerances, sending)
        assert not self.run.watch.look(np.zeros((1, arm.n)))
        self.alive = self.heard = self.accepts = True
        self.pieces, self.effort, self.age = [], np.zeros(arm.n), 0.0
        self.speeds, self.references = [], []

    def send(self, piece):
        self.pieces.append(piece)
        if self.accepts:
            self.follower.accept(self.robot.plant.t, self.arm.joint_names, piece.t, piece.q,
                                 piece.v, piece.a, (self.robot.plant.q, self.robot.plant.v))

    def step(self):
        reading = self.robot.advance(self.follower.sample)
        now = self.robot.plant.t
        self.references.append(self.follower.sample(now)[1])
        self.speeds.append(np.abs(self.robot.plant.v).max())
        self.age = 0.0 if self.heard else self.age + 1 / RATE
        if self.alive and not self.run.finished:
            states = States(np.array([reading.t]), reading.q[None], reading.v[None],
                            (reading.torque + self.effort)[None])
            self.run.step(now, states if self.heard else None, self.age, 1 / RATE)

    def until(self, time):
        while self.robot.plant.t < time and not (self.alive and self.run.finished):
            self.step()

    def end(self):
        self.until(self.plan.duration + 5)
        assert self.run.finished or not self.alive
        deceleration = np.abs(np.diff(self.references, axis=0)).max(axis=0) * RATE
        assert np.all(deceleration <= 1.02 * self.arm.limits.acceleration)
        for _ in range(int(RATE / 2)):
            self.step()
        assert max(self.speeds[-20:]) < 0.02
        return self.run.fault.reason if self.run.fault else 'finished'


@pytest.mark.parametrize('mode', ['rolling', 'whole'])
def test_run_executes(arm, plan, mode):
    loop = Loop(arm, plan, sending=Sending(mode=mode))
    assert loop.end() == 'finished'
    assert loop.run.at_rest and loop.run.watch.largest_error.max() < 0.05
    assert len(loop.pieces) == 1 if mode == 'whole' else len(loop.pieces) > 20


@pytest.mark.parametrize('mode', ['rolling', 'whole'])
@pytest.mark.parametrize('reason', ['stale_joint_states', 'tracking_error', 'effort_limit',
                                    'controller_does_not_follow', 'cancelled', 'position_limit'])
def test_faults_end_at_rest(arm, plan, reason, mode):
    loop = Loop(arm, plan, sending=Sending(mode=mode))
    if reason == 'controller_does_not_follow':
        loop.accepts = False
    middle = plan.start_of('excitation') + 1.2
    loop.until(middle)
    if reason == 'stale_joint_states':
        loop.heard = False
    elif reason == 'tracking_error':
        loop.robot.plant.jam('panda_joint2')
    elif reason == 'effort_limit':
        loop.effort[5] = 100.0
    elif reason == 'position_limit':
        loop.run.watch.arm = tight = load_arm('panda')
        object.__setattr__(tight.limits, 'upper', loop.robot.plant.q - 0.5)
    elif reason == 'cancelled':
        loop.run.stop(Fault('cancelled', 'by the test'))
    assert loop.end() == reason
    assert loop.run.fault.text
    assert loop.run.at_rest is (None if reason == 'stale_joint_states' else True)


def test_dead_node_leaves_an_arm_that_brakes(arm, plan):
    loop = Loop(arm, plan)
    loop.until(plan.start_of('excitation') + 1.2)
    assert loop.speeds[-1] > 0.1
    loop.alive = False
    died = loop.robot.plant.t
    loop.end()
    moving = np.flatnonzero(np.array(loop.speeds) > 0.02)[-1] / RATE
    assert moving < died + 0.5 + 1.0
    for now in (died + 0.47, died + 2):  # a node that wakes up again does not pull the arm
        sent = len(loop.pieces)
        loop.run.step(now, None, 0.0, 0.01)
        assert len(loop.pieces) == sent
        assert loop.run.fault.reason == 'late'


def test_effort_of_one_message_is_noise(arm, plan):
    watch = Watch(arm, plan, Tolerances(effort_samples=3))
    watch.look(np.zeros((1, arm.n)))
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
    assert 'is not known' in blind.look(np.ones((1, currents.n)))
    limited = Watch(currents, plan, Tolerances(published_effort=(5.0,) * currents.n,
                                               effort_samples=1))
    assert limited.look(np.ones((1, currents.n))) == ''
    fault = limited._effort(q[:, :currents.n], np.full((1, currents.n), -5.1))
    assert fault.reason == 'effort_limit' and 'as published' in fault.text
    with pytest.raises(ExecutionError, match='must have 7 positive numbers'):
        Watch(arm, plan, Tolerances(published_effort=(5.0,)))
    watch = Watch(arm, plan, Tolerances())
    assert 'no efforts' in watch.look(None)
    assert watch.states(np.zeros(1), q, None, None) is None
    assert watch.look(np.zeros((1, arm.n))) == ''
    assert watch.states(np.zeros(1), q, None, None).reason == 'effort_missing'
    object.__setattr__(free := load_arm('panda'), 'limits', dataclasses.replace(
        free.limits, torque=np.where(np.arange(7) == 2, np.inf, free.limits.torque)))
    assert 'panda_joint3' in Watch(free, plan, Tolerances()).look(np.zeros((1, 7)))


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


def test_nothing_is_sent_on_old_joint_states(arm, plan):
    loop = Loop(arm, plan)
    loop.until(plan.start_of('excitation') + 1.2)
    sent = len(loop.pieces)
    now = loop.robot.plant.t
    loop.run.step(now + 0.25, None, 0.25, 0.25)
    assert len(loop.pieces) == sent and loop.run.fault is None
    states = States(np.array([now + 0.26]), plan.evaluate(np.array([now + 0.26]))[0], None,
                    np.zeros((1, arm.n)))
    loop.run.step(now + 0.26, states, 0.0, 0.01)
    assert len(loop.pieces) == sent + 1


def test_an_arm_that_the_controller_holds_is_not_moved_again(arm, plan):
    loop = Loop(arm, plan)
    loop.until(plan.start_of('excitation') + 1.2)
    sent = len(loop.pieces)
    held = loop.robot.plant.q.copy()
    rest = np.zeros((1, arm.n))
    loop.follower.accept(loop.robot.plant.t, arm.joint_names,
                         np.array([loop.robot.plant.t + 1e-3]), held[None], rest, rest,
                         (loop.robot.plant.q, loop.robot.plant.v))
    loop.run.stop(Fault('path_tolerance', 'by the controller'), held=True)
    loop.until(plan.duration)
    assert len(loop.pieces) == sent
    assert loop.run.fault.reason == 'path_tolerance' and loop.run.at_rest


def test_options_are_checked():
    with pytest.raises(ExecutionError, match='rolling, whole'):
        Sending(mode='often')
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
