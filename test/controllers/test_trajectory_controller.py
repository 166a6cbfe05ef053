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
"""The model of the controller follows the rules that were measured on the real controller."""

from controller_faults import reference_motion
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.errors import SimulationError
from robot_identification.excitation import DesignOptions
from robot_identification.ros.execution.trajectory_segment import full_trajectory
from robot_identification.ros.sampled_trajectory import TrajectoryMessage
from robot_identification.ros.trajectory_controller import (
    ControllerGoal,
    TrajectoryController,
)

NAMES, PERIOD, BEGIN = ('a', 'b'), 0.002, 100.0


def message(t, q, stamp=0.0, v=0.0, a=0.0, names=NAMES):
    q = np.array(q, dtype=float)
    return TrajectoryMessage(names, stamp, np.array(t, dtype=float), q,
                             None if v is None else np.zeros_like(q) + v,
                             None if a is None else np.zeros_like(q) + a)


@pytest.fixture
def controller():
    return TrajectoryController(NAMES, np.zeros(2), PERIOD)


def run(controller, now, seconds, q=None, track=True):
    """Continue and return times and commands; the arm is at its command, or at q."""
    commands, times = [], []
    for k in range(round(seconds / PERIOD)):
        measured = controller.command[0] if track and q is None else q
        commands.append(controller.update(now + k * PERIOD, measured, np.zeros(2))[0].copy())
        times.append(now + k * PERIOD)
    return np.array(times), np.array(commands)


def test_a_new_trajectory_is_entered_at_now(controller):
    ramp = message([0, 10], [[0, 0], [10, -10]], stamp=BEGIN, v=None, a=None)
    controller.accept(BEGIN + 3, ramp)
    t, commands = run(controller, BEGIN + 3, 0.1)
    np.testing.assert_allclose(commands[:, 0], t + PERIOD - BEGIN, atol=1e-9)


@pytest.mark.parametrize('scaling', [0.95, 0.5, 0.0])
def test_the_step_of_a_piece_on_the_old_plan_is_what_the_scaling_has_lost(scaling):
    """After 0.15 s at speed scaling 0.5 the arm is 0.075 s behind the motion."""
    arm = load_arm('panda')
    plan = reference_motion(arm)
    segment = full_trajectory(plan)
    first = segment.t[0]
    sent = TrajectoryMessage(arm.joint_names, BEGIN + first, segment.t - first, segment.q,
                             segment.v, segment.a)
    begin = BEGIN + plan.start_of('excitation') + 1.0
    controller = TrajectoryController(arm.joint_names, segment.q[0], PERIOD)
    controller.accept(begin, sent)
    controller.update(begin, controller.command[0], np.zeros(arm.n))
    controller.scaling = scaling
    for k in range(1, 76):
        before = controller.update(begin + k * PERIOD, controller.command[0],
                                   np.zeros(arm.n))[0].copy()
    controller.accept(begin + 0.152, sent)
    after = controller.update(begin + 0.152, before, np.zeros(arm.n))[0]
    lost = plan.evaluate(begin - BEGIN + np.array([0.152, 0.15 * scaling]) + PERIOD)[0]
    np.testing.assert_allclose(after - before, lost[0] - lost[1], atol=1e-6)
    assert np.abs(after - before).max() > 0.15 * (1 - scaling) * 0.5    # [rad] above 0.5 rad/s


def test_scaling_slows_the_trajectory(controller):
    controller.accept(BEGIN, message([0, 10], [[0, 0], [10, -10]], v=None, a=None))
    run(controller, BEGIN, 1.0)
    controller.scaling = 0.5
    run(controller, BEGIN + 1, 1.0)
    assert controller.reference[0][0] == pytest.approx(1.5, abs=2 * PERIOD)
    controller.scaling = 0.0
    _, commands = run(controller, BEGIN + 2, 0.1)
    assert np.ptp(commands) == np.ptp(commands[0]) and controller.moving


def test_before_its_first_point_it_comes_from_the_measured_state(controller):
    controller.accept(BEGIN, message([1], [[1, 1]]))
    _, commands = run(controller, BEGIN, 1.1, q=np.array([0.2, 0.0]))
    assert commands[0, 0] == pytest.approx(0.2, abs=1e-4) and commands[0, 1] < 1e-4
    np.testing.assert_allclose(commands[-1], 1)
    smooth = TrajectoryController(NAMES, np.zeros(2), PERIOD, from_desired=True)
    smooth.accept(BEGIN, message([1], [[1, 1]]))
    assert abs(smooth.update(BEGIN, np.array([0.2, 0]), np.zeros(2))[0][0]) < 1e-4


def test_a_joint_that_wraps_goes_the_short_way():
    controller = TrajectoryController(NAMES, np.zeros(2), PERIOD, np.array([True, False]))
    controller.accept(BEGIN, message([1], [[6.2, 6.2]]))
    _, commands = run(controller, BEGIN, 0.9, q=np.zeros(2))
    assert commands[0, 0] == pytest.approx(2 * np.pi, abs=1e-3)
    assert commands[0, 1] == pytest.approx(0, abs=1e-3)
    assert abs(controller.error(np.array([6.2 - 2 * np.pi, 0]))[0]) < 0.1


def test_goals_are_replaced_cancelled_and_ended(controller):
    first, second, third = (ControllerGoal() for _ in range(3))
    way = message([0, 1], [[0, 0], [1, 1]])
    controller.accept(BEGIN, way, first)
    run(controller, BEGIN, 0.5)
    controller.accept(BEGIN + 0.5, way, second)
    assert (first.state, first.code) == ('aborted', -1) and 'preempted' in first.text
    controller.accept(BEGIN + 0.5, way)     # a message on the topic does not end the goal
    run(controller, BEGIN + 0.5, 0.5)
    assert controller.goal is second
    controller.cancel(second)
    _, commands = run(controller, BEGIN + 1, 0.1, q=np.array([0.3, 0.3]))
    assert second.state == 'canceled'
    np.testing.assert_array_equal(commands, 0.3)    # holds the measured position
    controller.accept(BEGIN + 2, way, third)
    run(controller, BEGIN + 2, 1.1)
    assert third.state == 'succeeded' and not controller.moving


def test_tolerances_hold_at_the_measured_position(controller):
    controller.tolerances.path = 0.1
    goal = ControllerGoal(path={'b': 0.2})
    way = message([0, 1], [[0, 0], [1, 1]])
    controller.accept(BEGIN, way, goal)
    stuck = np.array([0.0, 0.0])
    _, commands = run(controller, BEGIN, 1.0, q=stuck)
    assert (goal.state, goal.code) == ('aborted', -4)
    assert "joint 'a'" in goal.text and 'its tolerance is 0.1' in goal.text
    np.testing.assert_array_equal(commands[-1], stuck)
    controller.tolerances.path, controller.tolerances.goal = 0.0, 0.1
    controller.tolerances.time = 0.2
    goal = ControllerGoal()
    controller.accept(BEGIN + 5, way, goal)
    run(controller, BEGIN + 5, 1.5, q=stuck)
    assert (goal.state, goal.code) == ('aborted', -5) and '0.2 s after the end' in goal.text


def test_deactivation_ends_the_motion(controller):
    goal = ControllerGoal()
    controller.accept(BEGIN, message([0, 1], [[0, 0], [1, 1]]), goal)
    run(controller, BEGIN, 0.5)
    command = controller.command[0].copy()
    controller.deactivate()
    assert goal.state == 'canceled'
    with pytest.raises(SimulationError, match='not active'):
        controller.accept(BEGIN, message([1], [[0, 0]]))
    np.testing.assert_array_equal(run(controller, BEGIN + 1, 0.1)[1][-1], command)
    controller.activate()
    np.testing.assert_array_equal(run(controller, BEGIN + 2, 0.1, q=np.ones(2))[1], 1)


def test_refusals(controller):
    for sent, text in ((message([1], [[0, 0]], names=('a', 'c')), 'the controller has a, b'),
                       (message([1, 1], [[0, 0], [1, 1]]), 'do not increase'),
                       (message([1], [[0, 0]], stamp=BEGIN - 2), r'ended 1\.000 s ago'),
                       (message([1], [[0, 0]], v=0.1), 'moves at its end')):
        with pytest.raises(SimulationError, match=text):
            controller.check(BEGIN, sent)
    swapped = message([0, 1], [[0, 0], [1, 2]], names=('b', 'a'))
    controller.accept(BEGIN, swapped)
    np.testing.assert_allclose(run(controller, BEGIN, 1.1)[1][-1], [2, 1])


@pytest.mark.parametrize(('v', 'a'), [(None, None), (0.0, None), (0.0, 0.0)])
def test_points_are_joined_by_what_they_have(controller, v, a):
    controller.accept(BEGIN, message([0, 1], [[0, 0], [1, 1]], v=v, a=a))
    t, commands = run(controller, BEGIN, 0.9)
    u = t - BEGIN + PERIOD
    expected = (u if v is None else u ** 2 * (3 - 2 * u) if a is None
                else u ** 3 * (10 - 15 * u + 6 * u ** 2))
    np.testing.assert_allclose(commands[:, 0], expected, atol=1e-9)


@pytest.mark.parametrize('margin, clips', [(1e-3, True), (DesignOptions().margin, False)])
def test_the_margin_of_a_design_covers_a_period_that_varies(margin, clips):
    """Kilted limits commands to the velocity limit times the nominal period by default."""
    arm = load_arm('panda')    # all joints reach their velocity limits
    plan = reference_motion(arm, 1 - margin)
    segment = full_trajectory(plan)
    controller = TrajectoryController(arm.joint_names, segment.q[0], PERIOD)
    first = float(segment.t[0])
    controller.accept(BEGIN + first, TrajectoryMessage(
        arm.joint_names, BEGIN + first, segment.t - first, segment.q, segment.v, segment.a))
    rng, now, commands = np.random.default_rng(0), BEGIN + first, []
    while now < BEGIN + plan.duration:
        commands.append(controller.update(now, controller.command[0], np.zeros(arm.n))[0].copy())
        now += PERIOD * rng.uniform(0.95, 1.05)
    steps = np.abs(np.diff(commands, axis=0))
    clipped = np.sum(np.any(steps > arm.limits.velocity * PERIOD, axis=1))
    assert (clipped > 20) == clips and (clips or clipped == 0)
