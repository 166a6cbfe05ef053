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
"""Closed loop of MotionExecutor, joint_trajectory_controller at 500 Hz and an arm, with delays."""

from __future__ import annotations

from collections.abc import Callable
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
    ControllerState,
    Fault,
    MotionExecutor,
    MotionPlan,
    MotionTolerances,
    StateBatch,
)
from robot_identification.ros.execution.emergency_stop import EmergencyStop, Observation
from robot_identification.ros.execution.fault import goal_fault
from robot_identification.ros.execution.plan_tracker import PlanPosition
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.execution.trajectory_segment import REST, TrajectorySegment
from robot_identification.ros.sampled_trajectory import TrajectoryMessage
from robot_identification.ros.trajectory_controller import (
    ControllerGoal,
    TrajectoryController,
)

PERIOD = 0.002      # [s] period of the controller
SERVO = 0.01        # [s] time constant with which the arm follows the command
NODE = 3            # cycles between steps of the executor
STATE = 10          # cycles between messages of the controller's state: 50 Hz
LATENCY = 0.003     # [s] latency of a message
START = 1e4         # [s] start of the plan on the controller's clock; 0 would mean now
STILL = 0.01        # [rad/s] slower commands are at rest
WATCHDOG = 5        # cycles between steps of the brake watchdog


class Starvation:
    """
    Starvation of a controller manager: messages to it and from it arrive late or never.

    Parameters
    ----------
    rng
        Source of randomness.
    latest
        Largest delay [s].
    lost
        Fraction of the messages that are lost.
    stalls
        Whether the manager stalls, so that all messages of up to `latest` seconds arrive together;
        otherwise each message has its own delay.
    """

    def __init__(self, rng: np.random.Generator, latest: float, lost: float,
                 stalls: bool) -> None:
        self._rng, self._latest, self._lost, self._stalls = rng, latest, lost, stalls
        self._end = -math.inf       # [s] of the present stall

    def delay(self, t: float) -> float | None:
        """Return the delay of a message sent at time t [s]; None if it is lost."""
        lost = self._rng.random() < self._lost
        delay = float(self._rng.uniform(LATENCY, self._latest))
        if self._stalls:
            if t > self._end:
                self._end = t + delay
            delay = self._end - t + LATENCY
        return None if lost else delay


class ControllerTestbench:
    """
    The closed loop; its times are relative to the start of the plan, on the controller's clock.

    Parameters
    ----------
    arm, plan
        The arm and its motion.
    refers
        Whether the executor receives the controller's reference.
    action
        Whether trajectories are sent as goals of the action; otherwise on the topic.
    reports
        Whether the controller publishes its speed scaling.
    tolerances
        Tolerances of the monitor.
    """

    def __init__(self, arm: Arm, plan: MotionPlan, *, refers: bool = True, action: bool = True,
                 reports: bool = True, tolerances: MotionTolerances | None = None) -> None:
        self.arm, self.plan = arm, plan
        self._action, self._reports = action, reports
        self.t = -REST / 2
        self.q = plan.evaluate(np.zeros(1))[0][0].copy()
        self.v = np.zeros(arm.n)
        self.controller = TrajectoryController(arm.joint_names, self.q, PERIOD)
        self.executor = MotionExecutor(arm, plan, self, tolerances, has_reference=refers)
        self.shift = self.own = 0.0     # [s] offsets of the robot's and the node's clock from t
        self.start = 0.0                # [s] start of the plan on the robot's clock
        self.clock = RobotClock()
        self.clock.measure(_ns(START - REST + LATENCY), _ns(START - REST))
        self.executor.monitor.start_effort_monitoring(self._states(self.q, -REST).effort, self.q)
        self.alive, self.frozen = True, False
        self.starvation: Starvation | None = None
        self.publishes_states, self.publishes_reference, self.rejects = True, True, False
        self.stuck: int | None = None
        self.repeats = False                # old positions with new stamps
        self.effort = np.zeros(arm.n)       # added to the measured effort
        self.commands: list[Array] = []
        self.sent = 0
        self._cycles, self._received, self._stamp, self._last = 0, -REST, -REST, -REST / 2
        self._watchdog_clock = RobotClock()
        self._received_states: list[StateBatch] = []
        self._received_reference: ControllerState | None = None
        self._seen_states: StateBatch | None = None     # by the watchdog
        self._seen_reference: ControllerState | None = None
        self._queue: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []
        self.guarded: tuple[PlanPosition | None, float] = (None, math.inf)    # of the watchdog
        self.stop: EmergencyStop | None = None
        self.stop_report = ''
        self.watchdog_stalled = 0.0     # [s] until when the watchdog stalls
        self._goal: ControllerGoal | None = None

    def fork(self) -> ControllerTestbench:
        """Return an independent copy of the present state."""
        shared = (self.arm, self.plan)
        return copy.deepcopy(self, {id(item): item for item in shared})

    # Interface for the executor

    def send(self, segment: TrajectorySegment) -> None:
        """Send a segment to the controller, by its action or its topic."""
        self.sent += 1
        goal = ControllerGoal() if self._action else None
        self._goal = goal or self._goal
        self._deliver('_accept', segment, goal)

    def guard(self, position: PlanPosition | None, until: float) -> None:
        """Tell the brake watchdog the progress."""
        self.guarded = position, until

    # Other clients

    def command(self, q: Array, seconds: float, *, goal: bool = False) -> None:
        """Send another client's trajectory to the position q, with a duration of `seconds`."""
        message = TrajectoryMessage(self.arm.joint_names, 0.0, np.array([seconds]), q[None],
                                    np.zeros((1, self.arm.n)), None)
        self.controller.accept(self.time, message, ControllerGoal() if goal else None)
        if not goal:
            self._deliver('_stop', Fault(
                'another_client', 'a trajectory of another client was received on the topic of '
                'the controller', touch=False))

    def cancel_by_others(self) -> None:
        """Cancel the active goal as another client."""
        if self.controller.goal is not None:
            self.controller.cancel(self.controller.goal)

    # The loop

    @property
    def time(self) -> float:
        """The clock of the controller [s]."""
        return START + self.t + self.shift

    def until(self, t: float) -> None:
        """Simulate until a time [s], or until the executor has finished."""
        while self.t < t and not (self.executor.finished and self.alive):
            self.step()

    def step(self) -> None:
        """Simulate one cycle of the controller."""
        self.t += PERIOD
        self._cycles += 1
        due = [item for item in self._queue if item[0] <= self.t]
        self._queue = [item for item in self._queue if item[0] > self.t]
        for _, name, args in due:
            getattr(self, str(name))(*args)
        self._step_watchdog()
        command = self.controller.update(self.time, self.q, self.v, PERIOD)[0]
        self.commands.append(command.copy())
        q = self.q + (command - self.q) * (1 - math.exp(-PERIOD / SERVO))
        if self.stuck is not None:
            q[self.stuck] = self.q[self.stuck]
        self.v, self.q = (q - self.q) / PERIOD, q
        self._publish()
        running = self.alive and not self.frozen and not self.executor.finished
        if running and self._cycles % NODE == 0:
            self._step_node()

    def _step_node(self) -> None:
        goal = self._goal
        if goal is not None and goal.state:
            fault = goal_fault(goal.state, goal.code, goal.text, 'the controller', newest=True)
            if fault is not None:
                self.executor.stop(fault)
        states, self._received_states = self._received_states, []
        reference, self._received_reference = self._received_reference, None
        stamps = None
        if states:
            self._received, self._stamp = self.t, float(states[-1].t[-1])
            stamps = _ns(START + float(states[0].t[0])), _ns(START + self._stamp)
        clock, here = self.clock, _ns(START + self.t + self.own)
        elapsed, self._last = self.t - self._last, self.t
        jumped = clock.watch(here, stamps, elapsed)
        if jumped is not None:
            self.executor.stop(jumped)
        self.start += clock.jump / 1e9
        now = clock.robot(here) / 1e9 - START - self.start
        batch = None
        if states:
            t, *rows = [np.concatenate([getattr(s, name) for s in states])
                        for name in ('t', 'q', 'v', 'effort')]
            batch = StateBatch(t - self.start, *rows)
        if reference is not None:
            reference = replace(reference, t=reference.t - self.start)
        age = max(now - (self._stamp - self.start), self.t - self._received)
        self.executor.step(now, batch, age, elapsed, reference)

    def _publish(self) -> None:
        if self.publishes_states and self._cycles % NODE == 0:
            if not self.repeats:
                self._published = self.q
            self._deliver('_receive_states', self._states(self._published, self.t + self.shift))
        if self.publishes_reference and self.controller.active and self._cycles % STATE == 0:
            scaling = self.controller.scaling if self._reports else math.nan
            self._deliver('_receive_reference', ControllerState(
                self.t + self.shift, self.controller.reference[0].copy(), scaling,
                self.controller.command[0].copy()))

    def _states(self, q: Array, t: float) -> StateBatch:
        zero = np.zeros((1, self.arm.n))
        effort = inverse_dynamics(self.arm, q[None], zero, zero)
        added = getattr(self, 'effort', 0.0)
        return StateBatch(np.array([t]), q[None].copy(), self.v[None].copy(), effort + added)

    def _receive_states(self, states: StateBatch) -> None:
        self._received_states.append(states)
        self._seen_states = states

    def _receive_reference(self, reference: ControllerState) -> None:
        self._received_reference = self._seen_reference = reference

    def _stop(self, fault: Fault) -> None:
        self.executor.stop(fault)

    def _accept(self, segment: TrajectorySegment, goal: ControllerGoal | None) -> None:
        if self.rejects:
            return
        first = min(float(segment.t[0]), 0.0)     # times since the stamp are not negative
        message = TrajectoryMessage(self.arm.joint_names, START + self.start + first,
                                    segment.t - first, segment.q, segment.v, segment.a)
        try:
            self.controller.accept(self.time, message, goal)
        except SimulationError:
            if goal is not None:
                goal.end('aborted', -1, 'rejected')

    def _step_watchdog(self) -> None:
        """Step the brake watchdog, whose clock is that of the node."""
        jumped = self._watchdog_clock.watch(_ns(START + self.t + self.own), None,
                                            PERIOD) is not None
        here = self.t + self.own - self.start - (self.clock.offset or 0) / 1e9
        position, until = self.guarded
        if self.t < self.watchdog_stalled or self._cycles % WATCHDOG:
            return
        if self.stop is None:
            if jumped:
                self.guarded = (None, math.inf)
            elif position is not None and (not self.alive or here > until):
                horizon = self.executor.timing.horizon
                self.guarded = (None, math.inf)
                self.stop = EmergencyStop(self.plan, position,
                                          horizon if not self.alive else horizon / 2)
            else:
                return
        if self.stop is None or self.stop.finished:
            return
        reference, self._seen_reference = self._seen_reference, None
        measured, self._seen_states = self._seen_states, None
        order = self.stop.step(
            here,
            reference and replace(reference, t=reference.t - self.start),
            measured and Observation(float(measured.t[-1]) - self.start, measured.q[-1]), jumped)
        if isinstance(order, TrajectorySegment):
            self._deliver('_accept', order, None)
        elif order is not None:
            self._deliver('cancel_by_others' if order == 'cancel' else '_deactivate')
        if self.stop.finished:
            self.stop_report = self.stop.report(here)

    def _deactivate(self) -> None:
        self.controller.deactivate()

    def _deliver(self, name: str, *args: Any) -> None:
        """Deliver a message to or from the manager; late or never, if that is starved."""
        starved = self.starvation and (not self.alive or name == '_accept')
        delay = self.starvation.delay(self.t) if self.starvation and starved else LATENCY
        if delay is not None:
            self._queue.append((self.t + delay, name, args))     # type: ignore[arg-type]


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
