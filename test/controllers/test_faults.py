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
"""After every fault the node adds no step to the command of a controller at 500 Hz."""

import dataclasses

from controller_faults import (
    FAULTS,
    in_motion,
    INSTANTS,
    reference_motion,
    run_scenario,
    Scenario,
)
from controller_testbench import ControllerTestbench
from node_deaths import deaths_of, SOON
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.ros.execution import Fault
from robot_identification.ros.execution.motion_plan import plan_path

BOUND = 1.05    # accepted multiple of the acceleration limit, for interpolation errors
UNKNOWN = 60.0  # the same for a scaled motion without a published reference, which is not smooth


@pytest.fixture(scope='module')
def benches():
    arm = load_arm('panda')
    return arm, reference_motion(arm), {}


@pytest.mark.parametrize('scenario', FAULTS, ids=lambda scenario: scenario.name)
def test_fault(benches, scenario):
    row = run_scenario(scenario, *benches)
    assert row.reasons == (scenario.reason,)
    allowed = BOUND
    if scenario.steps_alone or 'scaling' in scenario.name or 'deactivated' in scenario.name:
        allowed = row.alone + BOUND    # the controller itself makes steps
    if '1.2' in scenario.name:    # it scales the braking trajectory as well, see docs/safety.md
        allowed = 1.2 * row.alone + BOUND
    elif 'scaling' in scenario.name and 'topic only' in scenario.name:
        allowed = row.alone + UNKNOWN + BOUND
    assert row.excess <= allowed
    if scenario.reason != 'finished':
        assert row.rest < (3.5 if 'its watchdog stalled' in scenario.name else 1.5)
        assert row.sent <= 1
    if scenario.reason in ('another_client', 'controller_cancelled', 'controller_deactivated',
                           'path_tolerance'):
        assert row.sent == 0


def test_a_continuous_joint_is_published_wrapped():
    """Positions of a continuous joint jump from a full turn to 0, which is no fault."""
    arm = load_arm('two_link')
    n = np.full(arm.n, np.inf)
    arm = dataclasses.replace(arm, limits=dataclasses.replace(arm.limits, lower=-n, upper=n))

    def along(t):
        angle = 2 * np.pi / 4.0 * np.asarray(t)[:, None] + np.zeros(arm.n)
        return 0.5 * np.sin(angle), 0.785 * np.cos(angle), -1.234 * np.sin(angle)
    plan = plan_path(arm, along, 4.0, np.zeros(arm.n), 1.0)
    bench = ControllerTestbench(arm, plan)
    publish = bench._states
    bench._states = lambda q, t: publish(q % (2 * np.pi), t)
    bench.until(plan.duration + 3.0)
    assert bench.executor.finished and bench.executor.fault is None and bench.executor.at_rest
    assert bench.executor.monitor.largest_error.max() < 0.05


def test_the_command_is_the_plan(benches):
    arm, plan, _ = benches
    bench = ControllerTestbench(arm, plan)
    bench.until(plan.start_of('excitation') + 1.0)
    t = bench.t + 0.002 - 0.002 * np.arange(len(bench.commands))[::-1]
    np.testing.assert_allclose(bench.commands, plan.evaluate(t)[0], atol=2e-6)
    assert bench.sent == 1


def test_a_simulated_clock_that_stops_does_not_hold_the_node(benches):
    arm, plan, _ = benches
    bench = ControllerTestbench(arm, plan)
    bench.until(plan.start_of('excitation') + 1.0)
    run, sent = bench.executor, bench.sent
    run.stop(Fault('shutdown', 'the node was ended'))
    for k in range(1, 400):     # joint states and clock stop, as in a closed simulation
        run.step(bench.t, None, 0.02 * k, 0.02)
        if run.finished:
            break
    assert run.fault.reason == 'shutdown' and run.at_rest is None
    assert bench.sent == sent + 1 and 2.5 < 0.02 * k < 4.0


@pytest.mark.parametrize('part', [0.99, 0.8, 0.3, 0.05])
@pytest.mark.parametrize('instant', INSTANTS)
def test_any_scaling_below_one(benches, part, instant):
    arm, plan, started = benches
    bench = in_motion(Scenario('', '', None), arm, plan, instant, started)
    begin = len(bench.commands)
    bench.controller.scaling = part
    bench.until(bench.t + 6.0)
    steps = np.abs(np.diff(np.array(bench.commands[begin - 2:]), axis=0))
    assert bench.executor.fault.reason == 'speed_scaling'
    excess = (steps[1:] - steps[:-1]) / (arm.limits.acceleration * 0.002 ** 2)
    assert excess.max() <= BOUND    # besides the drop of the speed, which the controller makes
    assert steps[-50:].max() < 1e-5


def test_a_pause_that_ends_does_not_move_the_arm_again(benches):
    arm, plan, started = benches
    bench = in_motion(Scenario('', '', None), arm, plan, INSTANTS[0], started)
    bench.controller.scaling = 0.0
    bench.until(bench.t + 1.0)
    rest = bench.commands[-1]
    bench.controller.scaling = 1.0
    bench.alive, bench.frozen = False, True
    bench.until(bench.t + 1.0)
    assert np.abs(bench.commands[-1] - rest).max() < 1e-6


@pytest.mark.parametrize('scaling', [0.8, 0.5, 0.0])
def test_the_speed_changes_while_the_node_stalls(benches, scaling):
    """The watchdog was told the progress before the change, and observes the change itself."""
    arm, plan, started = benches
    bench = in_motion(Scenario('', '', None), arm, plan, INSTANTS[1], started)
    bench.frozen = True
    bench.until(bench.t + 0.2)
    bench.controller.scaling = scaling
    bench.until(bench.t + 0.004)    # the step of the change itself
    begin = len(bench.commands)
    bench.until(bench.t + 4.0)
    steps = np.diff(np.array(bench.commands[begin - 2:]), axis=0)
    excess = np.abs(np.diff(steps, axis=0)) / (arm.limits.acceleration * 0.002 ** 2)
    # the speed falls from s v to s^2 v, and the command is one cycle ahead of the reference
    allowed = (1 - scaling) * (1 + scaling) * plan.limits.velocity / (
        arm.limits.acceleration * 0.002)
    assert np.all(excess.max(axis=0) <= allowed + BOUND)
    assert np.abs(steps[-50:]).max() < 1e-5
    assert bench.stop.at_rest and bench.stop.measures == ['brake' if scaling else 'hold']
    bench.controller.scaling = 1.0
    begin = len(bench.commands)
    bench.until(bench.t + 1.0)      # a pause that ends does not move the arm again
    assert np.abs(bench.commands[-1] - bench.commands[begin - 1]).max() < 1e-5


@pytest.mark.parametrize('stalls', [False, True])
def test_the_arm_of_a_node_that_dies_rests_within_a_second(benches, stalls):
    """Messages to and from a starved manager are late or lost; more in node_deaths.py."""
    arm, plan, _ = benches
    deaths = deaths_of(arm, plan, 20, 1, stalls)
    assert max(death.rest for death in deaths) < 1.5
    assert sum(death.rest > SOON for death in deaths) <= 1
    assert not any(death.wrong for death in deaths)
    assert max(death.excess for death in deaths) < BOUND
