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
"""
Deaths of the excitation node while the controller manager is starved, and when the arm rests.

    python test/controllers/node_deaths.py [--kills 200] [--seed 0]

The node dies at a random time of a motion. From one second before, messages to the controller are
delayed by up to half a second, and a fifth of them is lost; after the death also those from it.
Two ways to stop are compared: the brake watchdog, and goals of one second that end at rest and are
extended four times a second while the node lives.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
import sys

from controller_faults import reference_motion
from controller_testbench import ControllerTestbench, PERIOD, Starvation, STILL
import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.ros.execution import MotionPlan
from robot_identification.ros.execution.plan_tracker import PlanPosition
from robot_identification.ros.execution.trajectory_segment import brake_segment, PAST

LATEST, LOST = 0.5, 0.2     # [s] largest delay, and fraction of lost messages
SOON = 1.0                  # [s] within which the arm should rest
BEFORE = 1.0                # [s] of starvation before the death
LIMIT = 4.0                # [s] simulated after the death
GOAL, EXTENDED = 1.0, 0.25  # [s] horizon of short goals, and time between extensions


@dataclass(frozen=True)
class Death:
    """
    What followed a death of the node.

    Parameters
    ----------
    rest
        Time until the command rests for good [s].
    excess
        Largest change of the commanded velocity in one cycle over the acceleration limit [-].
    report
        Report of the brake watchdog.
    wrong
        Whether the watchdog reported an arm at rest that moved.

    """

    rest: float
    excess: float
    report: str
    wrong: bool


class ShortGoals(ControllerTestbench):
    """A testbench whose node sends goals of one second, each ending at rest, and no watchdog."""

    def _step_watchdog(self) -> None:
        if self.alive and self._cycles % round(EXTENDED / PERIOD) == 0 and self.t > 0:
            segment = brake_segment(self.plan, PlanPosition(self.t, self.t), self.t - PAST,
                                    self.t + GOAL - 0.35)
            self._deliver('_accept', segment, None)


def die(bench: ControllerTestbench, starvation: Starvation) -> Death:
    """
    Return what follows a death of the node.

    Parameters
    ----------
    bench
        Testbench in motion, `BEFORE` seconds before the death.
    starvation
        Delays.
    """
    begin, bench.starvation = len(bench.commands), starvation
    bench.until(bench.t + BEFORE)
    instant, dead = bench.t, len(bench.commands)
    bench.alive = False
    reported = 0
    while bench.t < instant + LIMIT:
        bench.step()
        reported = reported or (len(bench.commands) if bench.stop_report else 0)
    steps = np.diff(np.array(bench.commands[begin - 2:]), axis=0)
    moving = np.flatnonzero(np.max(np.abs(steps), axis=1) > STILL * PERIOD)
    last = begin + int(moving[-1]) if len(moving) else 0
    excess = np.abs(np.diff(steps, axis=0)) / (bench.arm.limits.acceleration * PERIOD ** 2)
    stop = bench.stop
    wrong = stop is not None and stop.at_rest is True and reported < last - 2
    return Death(PERIOD * max(last - dead, 0), float(excess.max()), bench.stop_report, wrong)


def main() -> int:
    """Print how often and how soon the arm rests, and the largest steps."""
    parser = argparse.ArgumentParser(description='deaths of the node with a starved manager')
    parser.add_argument('--kills', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--robot', default='panda')
    options = parser.parse_args()
    arm = load_arm(options.robot)
    plan = reference_motion(arm)
    failed = False
    for kind, stalls in ((ControllerTestbench, False), (ControllerTestbench, True),
                         (ShortGoals, False), (ShortGoals, True)):
        deaths = deaths_of(arm, plan, options.kills, options.seed, stalls, kind)
        slow = [death for death in deaths if death.rest > SOON]
        steps = [death.excess for death in deaths]
        wrong = sum(death.wrong for death in deaths)
        print(f"{kind.__name__}, {'stalls' if stalls else 'single delays'}: {len(slow)} of "
              f'{len(deaths)} not at rest within {SOON:g} s, {wrong} reported at rest although '
              f'they moved; rest after {np.median([d.rest for d in deaths]):.2f} s (median), '
              f'{max(d.rest for d in deaths):.2f} s (largest); largest step '
              f'{np.median(steps):.1f} (median), {max(steps):.1f} times the acceleration limit, '
              f'{sum(step > 1.05 for step in steps)} above 1', flush=True)
        for death in slow:
            print(f'  {death.rest:.2f} s: {death.report}')
        if kind is ControllerTestbench:
            failed |= len(slow) > options.kills // 200 or wrong > 0
    return int(failed)


def deaths_of(arm: Arm, plan: MotionPlan, kills: int, seed: int, stalls: bool,
              kind: type[ControllerTestbench] = ControllerTestbench) -> list[Death]:
    """Return what follows deaths of the node at random times of one motion."""
    rng = np.random.default_rng(seed)
    bench, deaths = kind(arm, plan), []
    for instant in sorted(rng.uniform(0.5 + BEFORE, plan.duration - 1.0, kills)):
        bench.until(float(instant) - BEFORE)
        deaths.append(die(bench.fork(), Starvation(rng, LATEST, LOST, stalls)))
    return deaths


if __name__ == '__main__':
    sys.exit(main())
