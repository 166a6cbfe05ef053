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
"""A run, a joint_trajectory_controller at 500 Hz and an arm, with the delays between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import copy
from dataclasses import replace
import math
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import SimulationError
from robot_identification.ros.execution import (
    Fault,
    MotionPlan,
    Reference,
    Run,
    States,
    Tolerances,
)
from robot_identification.ros.execution.goal_result import fault_of
from robot_identification.ros.execution.pieces import LATE, Piece, REST
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.sampled_trajectory import TrajectoryMessage
from robot_identification.ros.trajectory_controller import (
    ControllerGoal,
    TrajectoryController,
)

PERIOD = 0.002      # [s] of the controller
SERVO = 0.01        # [s] by which the arm follows the command
NODE = 3            # cycles between steps of the run
STATE = 10          # cycles between messages of the controller's state: 50 Hz
WAY = 0.003         # [s] of a message
BEGIN = 1e4         # [s] of the plan on the controller's clock; a stamp of 0 would mean now
STILL = 0.01        # [rad/s] of a command that rests


class Stand:
    """
    The closed loop; times are those since the begin of the plan on the controller's clock.

    Parameters
    ----------
    arm, plan
        What moves, and how.
    refers
        Whether the run hears the controller's reference.
    action
        Whether it commands by goals; else by the topic.
    reports
        Whether the controller tells its speed scaling.
    tolerances
        Tolerances of the watch.

    """

    def __init__(self, arm: Arm, plan: MotionPlan, *, refers: bool = True, action: bool = True,
                 reports: bool = True, tolerances: Tolerances | None = None) -> None:
        self.arm, self.plan = arm, plan
        self._action, self._reports = action, reports
        self.t = -REST / 2
        self.q = plan.evaluate(np.zeros(1))[0][0].copy()
        self.v = np.zeros(arm.n)
        self.controller = TrajectoryController(arm.joint_names, self.q, PERIOD)
        self.run = Run(arm, plan, self, tolerances, refers=refers)
        self.shift = self.own = 0.0     # [s] of the robot's clock and of the node's, before t
        self.begin = 0.0                # [s] of the plan on the robot's clock
        self.clock = RobotClock()
        self.clock.measure(_ns(BEGIN - REST + WAY), _ns(BEGIN - REST))
        self.run.watch.look(self._states(self.q, -REST).effort, self.q)
        self.alive, self.frozen = True, False
        self.publishes, self.tells, self.rejects = True, True, False
        self.stuck: int | None = None
        self.effort = np.zeros(arm.n)       # added to what is measured
        self.commands: list[Array] = []
        self.sent = 0
        self._cycles, self._heard, self._stamp, self._looked = 0, -REST, -REST, -REST / 2
        self._dead_clock = RobotClock()     # of the dead man's process
        self._states_heard: list[States] = []
        self._reference_heard: Reference | None = None
        self._queue: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []
        self.guarded: tuple[Sequence[Piece], float] = ((), math.inf)    # of the dead man
        self.held = 0.0     # [s] until when the dead man's process is held up
        self._goal: ControllerGoal | None = None

    def fork(self) -> Stand:
        """Return a copy that goes on by itself."""
        shared = (self.arm, self.plan)
        return copy.deepcopy(self, {id(item): item for item in shared})

    # What the run is linked to

    def send(self, piece: Piece) -> None:
        """Hand a piece to the controller, by its action or its topic."""
        self.sent += 1
        goal = ControllerGoal() if self._action else None
        self._goal = goal or self._goal
        self._later('_accept', piece, goal)

    def guard(self, pieces: Sequence[Piece], until: float) -> None:
        """Leave pieces with somebody else."""
        self.guarded = pieces, until

    def cancel(self) -> bool:
        """Cancel the goal, where there is one."""
        if self._goal is None:
            return False
        self._later('_cancel', self._goal)
        return True

    # What other clients do

    def command(self, q: Array, seconds: float, *, goal: bool = False) -> None:
        """Send somebody else's trajectory to q, which arrives after `seconds`."""
        message = TrajectoryMessage(self.arm.joint_names, 0.0, np.array([seconds]), q[None],
                                    np.zeros((1, self.arm.n)), None)
        self.controller.accept(self.time, message, ControllerGoal() if goal else None)
        if not goal:
            self._later('_hear', Fault('another_client', 'a trajectory of another client was '
                                       'heard on the topic of the controller', touch=False))

    def cancel_by_others(self) -> None:
        """Cancel the goal that is followed."""
        if self.controller.goal is not None:
            self.controller.cancel(self.controller.goal)

    # The loop

    @property
    def time(self) -> float:
        """The controller's clock [s]."""
        return BEGIN + self.t + self.shift

    def until(self, t: float) -> None:
        """Go on until a time, or until the run has finished."""
        while self.t < t and not (self.run.finished and self.alive):
            self.step()

    def step(self) -> None:
        """Go on by one cycle of the controller."""
        self.t += PERIOD
        self._cycles += 1
        due = [item for item in self._queue if item[0] <= self.t]
        self._queue = [item for item in self._queue if item[0] > self.t]
        for _, name, given in due:
            getattr(self, str(name))(*given)
        self._dead_man()
        command = self.controller.update(self.time, self.q, self.v, PERIOD)[0]
        self.commands.append(command.copy())
        q = self.q + (command - self.q) * (1 - math.exp(-PERIOD / SERVO))
        if self.stuck is not None:
            q[self.stuck] = self.q[self.stuck]
        self.v, self.q = (q - self.q) / PERIOD, q
        self._publish()
        if self.alive and not self.frozen and self._cycles % NODE == 0 and not self.run.finished:
            self._node()

    def _node(self) -> None:
        goal = self._goal
        if goal is not None and goal.state:
            fault = fault_of(goal.state, goal.code, goal.text, 'the controller', newest=True)
            if fault is not None:
                self.run.stop(fault)
        states, self._states_heard = self._states_heard, []
        reference, self._reference_heard = self._reference_heard, None
        stamps = None
        if states:
            self._heard, self._stamp = self.t, float(states[-1].t[-1])
            stamps = _ns(BEGIN + float(states[0].t[0])), _ns(BEGIN + self._stamp)
        clock, here = self.clock, _ns(BEGIN + self.t + self.own)
        passed, self._looked = self.t - self._looked, self.t
        jumped = clock.watch(here, stamps, passed)
        if jumped is not None:
            self.run.stop(jumped)
        self.begin += clock.jump / 1e9
        now = clock.robot(here) / 1e9 - BEGIN - self.begin
        batch = None
        if states:
            t, *rows = [np.concatenate([getattr(s, name) for s in states])
                        for name in ('t', 'q', 'v', 'effort')]
            batch = States(t - self.begin, *rows)
        if reference is not None:
            reference = replace(reference, t=reference.t - self.begin)
        age = max(now - (self._stamp - self.begin), self.t - self._heard)
        self.run.step(now, batch, age, passed, reference)

    def _publish(self) -> None:
        if self.publishes and self._cycles % NODE == 0:
            self._later('_hear_states', self._states(self.q, self.t + self.shift))
        if self.tells and self.controller.active and self._cycles % STATE == 0:
            scaling = self.controller.scaling if self._reports else math.nan
            self._later('_hear_reference', Reference(
                self.t + self.shift, self.controller.reference[0].copy(), scaling,
                self.controller.command[0].copy()))

    def _states(self, q: Array, t: float) -> States:
        zero = np.zeros((1, self.arm.n))
        effort = inverse_dynamics(self.arm, q[None], zero, zero)
        added = getattr(self, 'effort', 0.0)
        return States(np.array([t]), q[None].copy(), self.v[None].copy(), effort + added)

    def _later(self, name: str, *given: Any) -> None:
        self._queue.append((self.t + WAY, name, given))     # type: ignore[arg-type]

    def _hear_states(self, states: States) -> None:
        self._states_heard.append(states)

    def _hear_reference(self, reference: Reference) -> None:
        self._reference_heard = reference

    def _hear(self, fault: Fault) -> None:
        self.run.stop(fault)

    def _cancel(self, goal: ControllerGoal) -> None:
        self.controller.cancel(goal)

    def _accept(self, piece: Piece, goal: ControllerGoal | None) -> None:
        if self.rejects:
            return
        first = min(float(piece.t[0]), 0.0)     # times from the stamp are not negative
        message = TrajectoryMessage(self.arm.joint_names, BEGIN + self.begin + first,
                                    piece.t - first, piece.q, piece.v, piece.a)
        try:
            self.controller.accept(self.time, message, goal)
        except SimulationError:
            if goal is not None:
                goal.end('aborted', -1, 'rejected')

    def _dead_man(self) -> None:
        if self._dead_clock.watch(_ns(BEGIN + self.t + self.own), None, PERIOD) is not None:
            self.guarded = ((), math.inf)
        pieces, until = self.guarded
        here = self.t + self.own - self.begin - (self.clock.offset or 0) / 1e9
        if self.t < self.held or not pieces or (self.alive and here <= until):
            return
        self.guarded = ((), math.inf)
        piece = next((piece for piece in pieces if here <= piece.leaves + LATE), None)
        if piece is not None:
            self._later('_accept', piece, None)


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
