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
"""Everything that goes wrong in motion, on the stand: how it ends, and the largest steps."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
import sys

from controller_testbench import PERIOD, Stand, STILL
import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ExecutionError
from robot_identification.ros.execution import Fault, MotionPlan
from robot_identification.ros.execution.driver_effort import check_driver
from robot_identification.ros.execution.motion_plan import plan_along
from robot_identification.ros.execution.robot_clock import RobotClock

PERIOD_OF_MOTION = 8.0      # [s] of the closed formula below
PARTS = np.array([2, 3, 4])     # harmonics
USED = 0.9                  # of the tightest limit
INSTANTS = (1.3, 4.1)      # [s] into the excitation at which things go wrong
PATIENCE = 4.0              # [s] until the arm must rest
CURRENTS = ('<robot><ros2_control><hardware><plugin>ur_robot_driver/URPositionHardwareInterface'
            '</plugin><param name="use_currents_as_efforts">true</param></hardware>'
            '</ros2_control></robot>')


@dataclass(frozen=True)
class Scenario:
    """
    Something that goes wrong.

    Parameters
    ----------
    name
        Name of the fault, in words.
    reason
        What the motion ends with.
    happens
        Does it to the stand.
    refers, action, reports
        As of `Stand`.
    others
        Whether the controller itself makes a step then, without any client.
    before
        Whether it is looked for before the motion, which is refused then.

    """

    name: str
    reason: str
    happens: Callable[[Stand], None]
    refers: bool = True
    action: bool = True
    reports: bool = True
    others: bool = False
    before: bool = False


@dataclass(frozen=True)
class Row:
    """
    How it went, the worst of all instants.

    Parameters
    ----------
    name
        Name of the scenario.
    reasons
        What it ended with.
    step
        Largest step of a command in one cycle [rad or m].
    excess
        By how much a step was larger than the one before it, of what the joint's acceleration
        limit allows [-]; at most 1 when nothing jerks.
    alone
        The same of a controller without any client from that instant on [-].
    rest
        Until the command rests [s].
    sent
        Pieces after that instant.

    """

    name: str
    reasons: tuple[str, ...]
    step: float
    excess: float
    alone: float
    rest: float
    sent: int


def stand_motion(arm: Arm) -> MotionPlan:
    """
    Return a motion by a closed formula that uses nine tenths of the tightest limit of each joint.

    Parameters
    ----------
    arm
        Whose velocity and acceleration limits are finite; a turn is the longest range.

    """
    limits = arm.limits
    lower, upper = np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi)
    middle, half = (upper + lower) / 2, (upper - lower) / 2
    omega = 2 * np.pi / PERIOD_OF_MOTION * PARTS
    phase = 1.3 * np.arange(arm.n)[:, None] + 2.1 * np.arange(len(PARTS))

    def series(t: Array) -> tuple[Array, Array, Array]:
        angle = np.asarray(t)[:, None, None] * omega + phase
        return ((np.sin(angle) / omega).sum(-1), np.cos(angle).sum(-1),
                (-omega * np.sin(angle)).sum(-1))

    peaks = [np.abs(x).max(axis=0) for x in series(np.linspace(0, PERIOD_OF_MOTION, 2000))]
    size = USED * np.min([half / peaks[0], limits.velocity / peaks[1],
                          limits.acceleration / peaks[2]], axis=0)

    def along(t: Array) -> tuple[Array, Array, Array]:
        q, v, a = series(t)
        return middle + size * q, size * v, size * a

    return plan_along(arm, along, PERIOD_OF_MOTION, middle, 1.0)


def judge(scenario: Scenario, arm: Arm, plan: MotionPlan, started: dict[Scenario, Stand]) -> Row:
    """
    Let a scenario happen at several instants.

    Parameters
    ----------
    scenario
        What goes wrong.
    arm, plan
        What moves.
    started
        Stands in motion, kept from call to call.

    """
    if scenario.before:
        return _refused(scenario, arm, plan)
    kind = Scenario('', '', _nothing, scenario.refers, scenario.action, scenario.reports)
    reasons, rows = [], []
    for instant in INSTANTS[-1:] if scenario.reason == 'finished' else INSTANTS:
        stand = in_motion(kind, arm, plan, instant, started)
        alone = in_motion(kind, arm, plan, instant, started)
        alone.frozen, alone.guarded = True, ((), np.inf)
        values = []
        for one in (stand, alone):
            begin, sent = len(one.commands), one.sent
            scenario.happens(one)
            end = plan.duration + 1 if scenario.reason == 'finished' else one.t + PATIENCE
            one.until(end if one is stand else stand.t)
            values.append((*_steps(one, begin), one.sent - sent))
        reasons.append(stand.run.fault.reason if stand.run.fault else
                       'finished' if stand.run.finished else '(the node is gone)')
        rows.append((values[0][0], values[0][1], values[1][1], values[0][2], values[0][3]))
    step, excess, by_itself, rest, sent = (max(column) for column in zip(*rows))
    return Row(scenario.name, tuple(dict.fromkeys(reasons)), step, excess, by_itself, rest, sent)


def _refused(scenario: Scenario, arm: Arm, plan: MotionPlan) -> Row:
    """Let a scenario happen to an arm at rest, where its gravity is seen best."""
    stand = Stand(arm, plan)
    reason = 'finished'
    try:
        scenario.happens(stand)
    except ExecutionError as error:
        reason = error.reason
    return Row(scenario.name, (reason,), 0.0, 0.0, 0.0, 0.0, stand.sent)


def in_motion(kind: Scenario, arm: Arm, plan: MotionPlan, instant: float,
              started: dict[Scenario, Stand]) -> Stand:
    """Return a stand that has come to an instant of the excitation [s], as `judge` begins with."""
    key = Scenario(str(instant), '', _nothing, kind.refers, kind.action, kind.reports)
    if key not in started:
        earlier = [other for k, other in started.items() if k.name and float(k.name) < instant
                   and (k.refers, k.action, k.reports) == (kind.refers, kind.action, kind.reports)]
        stand = (max(earlier, key=lambda one: one.t).fork() if earlier else
                 Stand(arm, plan, refers=kind.refers, action=kind.action, reports=kind.reports))
        stand.until(plan.start_of('excitation') + instant)
        started[key] = stand
    return started[key].fork()


def _steps(stand: Stand, begin: int) -> tuple[float, float, float]:
    """Return largest step, largest excess and time to rest of the commands since `begin`."""
    steps = np.abs(np.diff(np.array(stand.commands[begin - 2:]), axis=0))
    allowed = stand.arm.limits.acceleration * PERIOD ** 2
    excess = float(np.max((steps[1:] - steps[:-1]) / allowed))
    moving = np.flatnonzero(np.max(steps, axis=1) > STILL * PERIOD)
    return float(steps.max()), excess, PERIOD * (int(moving[-1]) if len(moving) else 0)


def _nothing(stand: Stand) -> None:
    """Let all be well."""


def _scaled(value: float) -> Callable[[Stand], None]:
    def happens(stand: Stand) -> None:
        stand.controller.scaling = value
    return happens


def _scaled_and_stopped(value: float) -> Callable[[Stand], None]:
    def happens(stand: Stand) -> None:
        stand.controller.scaling = value
        stand.until(stand.t + 0.05)
        stand.run.stop(Fault('stopped', 'the service ~/stop was called'))
    return happens


def _other(goal: bool) -> Callable[[Stand], None]:
    def happens(stand: Stand) -> None:
        stand.command(stand.q + 0.2 * np.sign(stand.v), 2.0, goal=goal)
    return happens


def _held(stand: Stand) -> None:
    stand.controller.tolerances.path = 1e-4


def _silent(states: bool, reference: bool) -> Callable[[Stand], None]:
    def happens(stand: Stand) -> None:
        stand.publishes, stand.tells = not states, not reference
    return happens


def _stuck(stand: Stand) -> None:
    stand.stuck = int(np.argmax(np.abs(stand.v)))


def _blocked(stand: Stand) -> None:
    stand.effort = 2 * stand.arm.limits.torque


def _dead(stand: Stand) -> None:
    stand.alive = False


def _dead_beside(seconds: float) -> Callable[[Stand], None]:
    def happens(stand: Stand) -> None:
        stand.alive, stand.held = False, stand.t + seconds
    return happens


def _frozen(stand: Stand) -> None:
    stand.frozen = True
    stand.until(stand.t + 2.0)
    stand.frozen = False


def _stopped(stand: Stand) -> None:
    stand.run.stop(Fault('stopped', 'the service ~/stop was called'))


def _cancelled(stand: Stand) -> None:
    stand.cancel_by_others()


def _jumped(robot: float, node: float) -> Callable[[Stand], None]:
    def happens(stand: Stand) -> None:
        stand.shift += robot
        stand.own += node
    return happens


def _apart(seconds: float) -> Callable[[Stand], None]:
    def happens(stand: Stand) -> None:
        clock = RobotClock()
        clock.measure(0, round(seconds * 1e9))
        clock.check()
    return happens


def _efforts(factor: float, description: str = '') -> Callable[[Stand], None]:
    """Publish a part of the torques, from a driver that says what it publishes."""
    def happens(stand: Stand) -> None:
        arm = stand.arm
        zero = np.zeros((1, arm.n))
        gravity = inverse_dynamics(arm, stand.q[None], zero, zero)
        check_driver(arm, description)
        stand.run.watch.demand(factor * gravity, stand.q)
    return happens


def _deactivated(stand: Stand) -> None:
    stand.controller.deactivate()


FAULTS = (
    Scenario('nothing, by the action', 'finished', _nothing),
    Scenario('nothing, by the topic', 'finished', _nothing, refers=False, action=False),
    *(Scenario(f'speed scaling {value:g}', 'speed_scaling', _scaled(value))
      for value in (0.0, 0.5, 0.95, 1.2)),
    Scenario('speed scaling 0.5, not told', 'speed_scaling', _scaled(0.5), reports=False),
    Scenario('speed scaling 0, not told', 'controller_holds', _scaled(0.0), reports=False),
    Scenario('speed scaling 0.5, topic alone', 'speed_scaling', _scaled(0.5), refers=False,
             action=False),
    Scenario('speed scaling 0, topic alone', 'speed_scaling', _scaled(0.0), refers=False,
             action=False),
    Scenario('speed scaling 0 and a stop', 'speed_scaling', _scaled_and_stopped(0.0)),
    Scenario('another client: a goal', 'another_client', _other(True), others=True),
    Scenario('another client: the topic', 'another_client', _other(False), others=True),
    Scenario('another client, topic alone', 'another_client', _other(False), refers=False,
             action=False, others=True),
    Scenario('goal cancelled by somebody', 'controller_cancelled', _cancelled, others=True),
    Scenario('path tolerance of the controller', 'path_tolerance', _held, others=True),
    Scenario('controller deactivated', 'controller_cancelled', _deactivated),
    Scenario('controller dies, topic alone', 'speed_scaling', _deactivated, refers=False,
             action=False),
    Scenario('stop asked for', 'stopped', _stopped),
    Scenario('stop asked for, topic alone', 'stopped', _stopped, refers=False, action=False),
    Scenario('joint states silent', 'stale_joint_states', _silent(True, False)),
    Scenario('joint states silent, topic alone', 'stale_joint_states', _silent(True, True),
             refers=False, action=False),
    Scenario('reference silent', 'controller_silent', _silent(False, True)),
    Scenario('everything silent', 'controller_silent', _silent(True, True)),
    Scenario('a joint is stuck', 'tracking_error', _stuck),
    Scenario('a joint is stuck, topic alone', 'tracking_error', _stuck, refers=False,
             action=False),
    Scenario('too much effort', 'effort_limit', _blocked),
    Scenario("the robot's clock jumps ahead by 0.4 s", 'clock', _jumped(0.4, 0.0)),
    Scenario("the robot's clock jumps back by 0.4 s", 'clock', _jumped(-0.4, 0.0)),
    Scenario("the node's clock jumps ahead by 0.4 s", 'clock', _jumped(0.0, 0.4)),
    Scenario("the node's clock jumps back by 0.4 s", 'clock', _jumped(0.0, -0.4)),
    Scenario('both clocks jump ahead by 1 s (/clock)', 'clock', _jumped(1.0, 1.0)),
    Scenario('both clocks jump back by 1 s (/clock)', 'clock', _jumped(-1.0, -1.0)),
    Scenario('both clocks jump back, topic alone', 'clock', _jumped(-1.0, -1.0), refers=False,
             action=False),
    Scenario("before: the robot's clock is 0.4 s ahead", 'clock', _apart(0.4), before=True),
    Scenario("before: the robot's clock is 0.4 s behind", 'clock', _apart(-0.4), before=True),
    Scenario('before: currents that are declared torques', 'effort_meaning', _efforts(0.1),
             before=True),
    Scenario('before: the driver says it publishes currents', 'effort_meaning',
             _efforts(1.0, CURRENTS), before=True),
    Scenario('before: efforts are all zero', 'effort_unwatched', _efforts(0.0), before=True),
    Scenario('node killed (kill -9)', '(the node is gone)', _dead),
    *(Scenario(f'node killed, its brake held up for {seconds:g} s', '(the node is gone)',
               _dead_beside(seconds)) for seconds in (0.6, 1.5)),
    Scenario('node held up for 2 s', 'late', _frozen),
)


def main() -> None:
    """Run the faults on the testbench and print a table; exit with 1 where one ends otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', default='panda', help='shipped robot or robot YAML')
    parser.add_argument('--only', default='', help='part of the name of a fault')
    args = parser.parse_args()
    chosen = [fault for fault in FAULTS if args.only in fault.name]
    arm = load_arm(args.robot)
    plan = stand_motion(arm)
    started: dict[Scenario, Stand] = {}
    rows = [judge(fault, arm, plan, started) for fault in chosen]
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
