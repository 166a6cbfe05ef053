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
"""Whatever goes wrong, this node adds no step to the command of a controller at 500 Hz."""

import dataclasses

from controller_faults import (
    FAULTS,
    in_motion,
    INSTANTS,
    judge,
    Scenario,
    stand_motion,
)
from controller_testbench import Stand
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.ros.execution import Fault
from robot_identification.ros.execution.motion_plan import plan_along

BOUND = 1.05    # of what the acceleration limit allows in a cycle; interpolation takes the rest
BEST = 60.0     # the same where the reference is not heard and scaled: bounded, not none


@pytest.fixture(scope='module')
def stands():
    arm = load_arm('panda')
    return arm, stand_motion(arm), {}


@pytest.mark.parametrize('scenario', FAULTS, ids=lambda scenario: scenario.name)
def test_fault(stands, scenario):
    row = judge(scenario, *stands)
    assert row.reasons == (scenario.reason,)
    allowed = BOUND
    if scenario.others or '1.2' in scenario.name:   # the controller steps, and we add nothing
        allowed = row.alone + BOUND
    elif 'scaling' in scenario.name and 'topic alone' in scenario.name:
        allowed = row.alone + BEST + BOUND
    assert row.excess <= allowed
    if scenario.reason != 'finished':
        assert row.rest < (3.5 if 'its brake held up' in scenario.name else 1.5)
        assert row.sent <= 1
    if scenario.reason in ('another_client', 'controller_cancelled', 'path_tolerance'):
        assert row.sent == 0


def test_a_continuous_joint_is_published_wrapped():
    """From 0 to a whole turn: where positions jump by it, nothing is wrong."""
    arm = load_arm('two_link')
    n = np.full(arm.n, np.inf)
    arm = dataclasses.replace(arm, limits=dataclasses.replace(arm.limits, lower=-n, upper=n))

    def along(t):
        angle = 2 * np.pi / 4.0 * np.asarray(t)[:, None] + np.zeros(arm.n)
        return 0.5 * np.sin(angle), 0.785 * np.cos(angle), -1.234 * np.sin(angle)
    plan = plan_along(arm, along, 4.0, np.zeros(arm.n), 1.0)
    stand = Stand(arm, plan)
    tell = stand._states
    stand._states = lambda q, t: tell(q % (2 * np.pi), t)
    stand.until(plan.duration + 3.0)
    assert stand.run.finished and stand.run.fault is None and stand.run.at_rest
    assert stand.run.watch.largest_error.max() < 0.05


def test_the_command_is_the_plan(stands):
    arm, plan, _ = stands
    stand = Stand(arm, plan)
    stand.until(plan.start_of('excitation') + 1.0)
    t = stand.t + 0.002 - 0.002 * np.arange(len(stand.commands))[::-1]
    np.testing.assert_allclose(stand.commands, plan.evaluate(t)[0], atol=2e-6)
    assert stand.sent == 1


def test_a_simulated_clock_that_stops_does_not_hold_the_node(stands):
    arm, plan, _ = stands
    stand = Stand(arm, plan)
    stand.until(plan.start_of('excitation') + 1.0)
    run, sent = stand.run, stand.sent
    run.stop(Fault('shutdown', 'the node was ended'))
    for k in range(1, 400):     # joint states and the clock are gone, as in a closed simulation
        run.step(stand.t, None, 0.02 * k, 0.02)
        if run.finished:
            break
    assert run.fault.reason == 'shutdown' and run.at_rest is None
    assert stand.sent == sent + 1 and 2.5 < 0.02 * k < 4.0


@pytest.mark.parametrize('part', [0.99, 0.8, 0.3, 0.05])
@pytest.mark.parametrize('instant', INSTANTS)
def test_any_scaling_below_one(stands, part, instant):
    arm, plan, started = stands
    stand = in_motion(Scenario('', '', None), arm, plan, instant, started)
    begin = len(stand.commands)
    stand.controller.scaling = part
    stand.until(stand.t + 6.0)
    steps = np.abs(np.diff(np.array(stand.commands[begin - 2:]), axis=0))
    assert stand.run.fault.reason == 'speed_scaling'
    excess = (steps[1:] - steps[:-1]) / (arm.limits.acceleration * 0.002 ** 2)
    assert excess.max() <= BOUND
    assert steps[-50:].max() < 1e-5


def test_a_pause_that_ends_does_not_move_the_arm_again(stands):
    arm, plan, started = stands
    stand = in_motion(Scenario('', '', None), arm, plan, INSTANTS[0], started)
    stand.controller.scaling = 0.0
    stand.until(stand.t + 1.0)
    rest = stand.commands[-1]
    stand.controller.scaling = 1.0
    stand.alive, stand.frozen = False, True
    stand.until(stand.t + 1.0)
    assert np.abs(stand.commands[-1] - rest).max() < 1e-6
