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
"""Faults during a motion, on the controller testbench: reason of the end, and largest steps."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
import sys

from controller_testbench import ControllerTestbench, PERIOD, STILL
import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ExecutionError
from robot_identification.ros.execution import Fault, MotionPlan
from robot_identification.ros.execution.effort_checks import check_driver_effort
from robot_identification.ros.execution.motion_plan import plan_path
from robot_identification.ros.execution.robot_clock import RobotClock

MOTION_PERIOD = 8.0         # [s] period of the motion below
HARMONICS = np.array([2, 3, 4])
USAGE = 0.9                 # fraction of the tightest limit that the motion uses
INSTANTS = (1.3, 4.1)       # [s] after the start of the excitation at which faults occur
PATIENCE = 4.0              # [s] until the arm must rest
CURRENTS = ('<robot><ros2_control><hardware><plugin>ur_robot_driver/URPositionHardwareInterface'
            '</plugin><param name="use_currents_as_efforts">true</param></hardware>'
            '</ros2_control></robot>')


@dataclass(frozen=True)
class Scenario:
    """
    A fault.

    Parameters
    ----------
    name
        Name of the fault.
    reason
        Reason with which the motion must end.
    inject
        Function that injects the fault into the testbench.
    refers, action, reports
        As for `ControllerTestbench`.
    steps_alone
        Whether the controller makes a step even if this node sends nothing.
    before
        Whether the fault occurs before the motion, which must then not start.
    """

    name: str
    reason: str
    inject: Callable[[ControllerTestbench], None]
    refers: bool = True
    action: bool = True
    reports: bool = True
    steps_alone: bool = False
    before: bool = False


@dataclass(frozen=True)
class Row:
    """
    Result of a scenario: the worst of all instants at which the fault occurs.

    Parameters
    ----------
    name
        Name of the scenario.
    reasons
        Reasons with which the motion ended.
    step
        Largest step of a command in one cycle [rad or m].
    excess
        Largest increase from one step to the next as a fraction of the acceleration limit [-]; at
        most 1 for a smooth motion.
    alone
        The same if the node sends nothing after the fault [-].
    rest
        Time until the command rests [s].
    sent
        Number of segments sent after the fault.
    """

    name: str
    reasons: tuple[str, ...]
    step: float
    excess: float
    alone: float
    rest: float
    sent: int


def reference_motion(arm: Arm, usage: float = USAGE) -> MotionPlan:
    """
    Return the plan of a closed-form motion that uses a fraction of each joint's tightest limit.

    Parameters
    ----------
    arm
        The arm, with finite velocity and acceleration limits; ranges count up to one turn.
    usage
        The fraction.
    """
    limits = arm.limits
    lower, upper = np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi)
    middle, half = (upper + lower) / 2, (upper - lower) / 2
    omega = 2 * np.pi / MOTION_PERIOD * HARMONICS
    phase = 1.3 * np.arange(arm.n)[:, None] + 2.1 * np.arange(len(HARMONICS))

    def series(t: Array) -> tuple[Array, Array, Array]:
        angle = np.asarray(t)[:, None, None] * omega + phase
        return ((np.sin(angle) / omega).sum(-1), np.cos(angle).sum(-1),
                (-omega * np.sin(angle)).sum(-1))

    peaks = [np.abs(x).max(axis=0) for x in series(np.linspace(0, MOTION_PERIOD, 2000))]
    size = usage * np.min([half / peaks[0], limits.velocity / peaks[1],
                          limits.acceleration / peaks[2]], axis=0)

    def along(t: Array) -> tuple[Array, Array, Array]:
        q, v, a = series(t)
        return middle + size * q, size * v, size * a

    return plan_path(arm, along, MOTION_PERIOD, middle, 1.0)


def run_scenario(scenario: Scenario, arm: Arm, plan: MotionPlan,
                 started: dict[Scenario, ControllerTestbench]) -> Row:
    """
    Return the worst result of a scenario over several instants of the fault.

    Parameters
    ----------
    scenario
        The fault.
    arm, plan
        The arm and its motion.
    started
        Cache of testbenches in motion, shared by the calls.
    """
    if scenario.before:
        return _refused(scenario, arm, plan)
    kind = Scenario('', '', _no_fault, scenario.refers, scenario.action, scenario.reports)
    reasons, rows = [], []
    for instant in INSTANTS[-1:] if scenario.reason == 'finished' else INSTANTS:
        bench = in_motion(kind, arm, plan, instant, started)
        alone = in_motion(kind, arm, plan, instant, started)
        alone.frozen, alone.guarded = True, (None, np.inf)
        values = []
        for one in (bench, alone):
            begin, sent = len(one.commands), one.sent
            scenario.inject(one)
            end = plan.duration + 1 if scenario.reason == 'finished' else one.t + PATIENCE
            one.until(end if one is bench else bench.t)
            values.append((*_steps(one, begin), one.sent - sent))
        reasons.append(bench.executor.fault.reason if bench.executor.fault else
                       'finished' if bench.executor.finished else '(node killed)')
        rows.append((values[0][0], values[0][1], values[1][1], values[0][2], values[0][3]))
    step, excess, by_itself, rest, sent = (max(column) for column in zip(*rows))
    return Row(scenario.name, tuple(dict.fromkeys(reasons)), step, excess, by_itself, rest, sent)


def _refused(scenario: Scenario, arm: Arm, plan: MotionPlan) -> Row:
    """Return the result of a fault that occurs at rest, before the motion."""
    bench = ControllerTestbench(arm, plan)
    reason = 'finished'
    try:
        scenario.inject(bench)
    except ExecutionError as error:
        reason = error.reason
    return Row(scenario.name, (reason,), 0.0, 0.0, 0.0, 0.0, bench.sent)


def in_motion(kind: Scenario, arm: Arm, plan: MotionPlan, instant: float,
              started: dict[Scenario, ControllerTestbench]) -> ControllerTestbench:
    """Return a testbench at a time of the excitation [s]."""
    key = Scenario(str(instant), '', _no_fault, kind.refers, kind.action, kind.reports)
    if key not in started:
        earlier = [other for k, other in started.items() if k.name and float(k.name) < instant
                   and (k.refers, k.action, k.reports) == (kind.refers, kind.action, kind.reports)]
        bench = (max(earlier, key=lambda one: one.t).fork() if earlier else
                 ControllerTestbench(arm, plan, refers=kind.refers, action=kind.action,
                                     reports=kind.reports))
        bench.until(plan.start_of('excitation') + instant)
        started[key] = bench
    return started[key].fork()


def _steps(bench: ControllerTestbench, begin: int) -> tuple[float, float, float]:
    """Return largest step, largest excess and time to rest of the commands since `begin`."""
    signed = np.diff(np.array(bench.commands[begin - 2:]), axis=0)
    steps = np.abs(signed)
    allowed = bench.arm.limits.acceleration * PERIOD ** 2
    excess = float(np.max(np.abs(np.diff(signed, axis=0)) / allowed))
    moving = np.flatnonzero(np.max(steps, axis=1) > STILL * PERIOD)
    return float(steps.max()), excess, PERIOD * (int(moving[-1]) if len(moving) else 0)


def _no_fault(bench: ControllerTestbench) -> None:
    """Inject no fault."""


def _scaled(value: float) -> Callable[[ControllerTestbench], None]:
    def inject(bench: ControllerTestbench) -> None:
        bench.controller.scaling = value
    return inject


def _scaled_and_stopped(value: float) -> Callable[[ControllerTestbench], None]:
    def inject(bench: ControllerTestbench) -> None:
        bench.controller.scaling = value
        bench.until(bench.t + 0.05)
        bench.executor.stop(Fault('stopped', 'the service ~/stop was called'))
    return inject


def _other(goal: bool) -> Callable[[ControllerTestbench], None]:
    def inject(bench: ControllerTestbench) -> None:
        bench.command(bench.q + 0.2 * np.sign(bench.v), 2.0, goal=goal)
    return inject


def _held(bench: ControllerTestbench) -> None:
    bench.controller.tolerances.path = 1e-4


def _silent(states: bool, reference: bool) -> Callable[[ControllerTestbench], None]:
    def inject(bench: ControllerTestbench) -> None:
        bench.publishes_states, bench.publishes_reference = not states, not reference
    return inject


def _stuck(bench: ControllerTestbench) -> None:
    bench.stuck = int(np.argmax(np.abs(bench.v)))


def _repeated(bench: ControllerTestbench) -> None:
    bench.repeats = True


def _blocked(bench: ControllerTestbench) -> None:
    bench.effort = 2 * bench.arm.limits.torque


def _dead(bench: ControllerTestbench) -> None:
    bench.alive = False


def _dead_with_stalled_watchdog(seconds: float) -> Callable[[ControllerTestbench], None]:
    def inject(bench: ControllerTestbench) -> None:
        bench.alive, bench.watchdog_stalled = False, bench.t + seconds
    return inject


def _frozen(bench: ControllerTestbench) -> None:
    bench.frozen = True
    bench.until(bench.t + 2.0)
    bench.frozen = False


def _stopped(bench: ControllerTestbench) -> None:
    bench.executor.stop(Fault('stopped', 'the service ~/stop was called'))


def _cancelled(bench: ControllerTestbench) -> None:
    bench.cancel_by_others()


def _jumped(robot: float, node: float) -> Callable[[ControllerTestbench], None]:
    def inject(bench: ControllerTestbench) -> None:
        bench.shift += robot
        bench.own += node
    return inject


def _apart(seconds: float) -> Callable[[ControllerTestbench], None]:
    def inject(bench: ControllerTestbench) -> None:
        clock = RobotClock()
        clock.measure(0, round(seconds * 1e9))
        clock.check()
    return inject


def _efforts(factor: float, description: str = '') -> Callable[[ControllerTestbench], None]:
    """Publish a multiple of the torques, with the URDF of a driver."""
    def inject(bench: ControllerTestbench) -> None:
        arm = bench.arm
        zero = np.zeros((1, arm.n))
        gravity = inverse_dynamics(arm, bench.q[None], zero, zero)
        check_driver_effort(arm, description)
        bench.executor.monitor.require_effort_monitoring(factor * gravity, bench.q)
    return inject


def _deactivated(bench: ControllerTestbench) -> None:
    bench.controller.deactivate()


FAULTS = (
    Scenario('no fault, action', 'finished', _no_fault),
    Scenario('no fault, topic', 'finished', _no_fault, refers=False, action=False),
    *(Scenario(f'speed scaling {value:g}', 'speed_scaling', _scaled(value))
      for value in (0.0, 0.5, 0.95, 1.2)),
    Scenario('speed scaling 0.5, not published', 'speed_scaling', _scaled(0.5), reports=False),
    Scenario('speed scaling 0, not published', 'controller_holds', _scaled(0.0), reports=False),
    Scenario('speed scaling 0.5, topic only', 'speed_scaling', _scaled(0.5), refers=False,
             action=False),
    Scenario('speed scaling 0, topic only', 'speed_scaling', _scaled(0.0), refers=False,
             action=False),
    Scenario('speed scaling 0 and stop', 'speed_scaling', _scaled_and_stopped(0.0)),
    Scenario('another client: goal', 'another_client', _other(True), steps_alone=True),
    Scenario('another client: topic', 'another_client', _other(False), steps_alone=True),
    Scenario('another client, topic only', 'another_client', _other(False), refers=False,
             action=False, steps_alone=True),
    Scenario('goal cancelled by another client', 'controller_cancelled', _cancelled,
             steps_alone=True),
    Scenario('path tolerance of the controller', 'path_tolerance', _held, steps_alone=True),
    Scenario('controller deactivated', 'controller_deactivated', _deactivated),
    Scenario('controller deactivated, topic only', 'speed_scaling', _deactivated, refers=False,
             action=False),
    Scenario('stop requested', 'stopped', _stopped),
    Scenario('stop requested, topic only', 'stopped', _stopped, refers=False, action=False),
    Scenario('no joint states', 'stale_joint_states', _silent(True, False)),
    Scenario('no joint states, topic only', 'stale_joint_states', _silent(True, True),
             refers=False, action=False),
    Scenario('no reference', 'controller_silent', _silent(False, True)),
    Scenario('no joint states, no reference', 'controller_silent', _silent(True, True)),
    Scenario('a joint is stuck', 'tracking_error', _stuck),
    Scenario('a joint is stuck, topic only', 'tracking_error', _stuck, refers=False,
             action=False),
    Scenario('old positions with new stamps', 'frozen_joint_states', _repeated),
    Scenario('old positions with new stamps, topic only', 'frozen_joint_states', _repeated,
             refers=False, action=False),
    Scenario('excessive effort', 'effort_limit', _blocked),
    Scenario("the robot's clock jumps ahead by 0.4 s", 'clock', _jumped(0.4, 0.0)),
    Scenario("the robot's clock jumps back by 0.4 s", 'clock', _jumped(-0.4, 0.0)),
    Scenario("the node's clock jumps ahead by 0.4 s", 'clock', _jumped(0.0, 0.4)),
    Scenario("the node's clock jumps back by 0.4 s", 'clock', _jumped(0.0, -0.4)),
    Scenario('both clocks jump ahead by 1 s (/clock)', 'clock', _jumped(1.0, 1.0)),
    Scenario('both clocks jump back by 1 s (/clock)', 'clock', _jumped(-1.0, -1.0)),
    Scenario('both clocks jump back, topic only', 'clock', _jumped(-1.0, -1.0), refers=False,
             action=False),
    Scenario("before: the robot's clock is 0.4 s ahead", 'clock', _apart(0.4), before=True),
    Scenario("before: the robot's clock is 0.4 s behind", 'clock', _apart(-0.4), before=True),
    Scenario('before: currents declared as torques', 'effort_meaning', _efforts(0.1),
             before=True),
    Scenario('before: driver publishes currents', 'effort_meaning',
             _efforts(1.0, CURRENTS), before=True),
    Scenario('before: all efforts are zero', 'effort_unwatched', _efforts(0.0), before=True),
    Scenario('node killed (kill -9)', '(node killed)', _dead),
    *(Scenario(f'node killed, its watchdog stalled for {seconds:g} s', '(node killed)',
               _dead_with_stalled_watchdog(seconds)) for seconds in (0.6, 1.5)),
    Scenario('node stalled for 2 s', 'late', _frozen),
)


def main() -> None:
    """Run all faults and print a table; exit with 1 if a motion does not end as expected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', default='panda', help='shipped robot or robot YAML')
    parser.add_argument('--only', default='', help='only faults whose name contains this text')
    args = parser.parse_args()
    chosen = [fault for fault in FAULTS if args.only in fault.name]
    arm = load_arm(args.robot)
    plan = reference_motion(arm)
    started: dict[Scenario, ControllerTestbench] = {}
    rows = [run_scenario(fault, arm, plan, started) for fault in chosen]
    titles = ('fault', 'ends with', 'largest step [mrad]', 'of the acceleration limit',
              'without the node', 'rest after [s]', 'sent')
    lines = [titles, ('---',) * len(titles)]
    lines += [(row.name, ', '.join(row.reasons), f'{1e3 * row.step:.2f}',
               f'{row.excess:.1f}', f'{row.alone:.1f}', f'{row.rest:.2f}', str(row.sent))
              for row in rows]
    print('\n'.join('| ' + ' | '.join(line) + ' |' for line in lines))
    sys.exit(any(row.reasons != (fault.reason,) for fault, row in zip(chosen, rows)))


if __name__ == '__main__':
    main()
