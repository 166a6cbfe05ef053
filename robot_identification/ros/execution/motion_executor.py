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
"""Execution of a motion: sends the trajectory, monitors the arm, and brakes it after a fault."""

from dataclasses import dataclass
import math
from typing import Protocol

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.recording.effort import joint_position
from robot_identification.ros.execution import trajectory_segment
from robot_identification.ros.execution.controller_progress import ControllerProgress
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.execution.motion_monitor import (
    JointStateWatchdog,
    MotionMonitor,
    MotionTolerances,
    unwrap_positions,
)
from robot_identification.ros.execution.motion_plan import MotionPlan
from robot_identification.ros.execution.plan_tracker import (
    ControllerState,
    PlanPosition,
    STOPPED,
)
from robot_identification.ros.execution.rest_detector import RestDetector
from robot_identification.ros.execution.robot_clock import PAUSE
from robot_identification.ros.execution.trajectory_segment import (
    brake_segment,
    TrajectorySegment,
)

DELAY = 0.02        # [s] of joint states and trajectories together
MAX_TOLERANCE = 1.0     # [rad or m] largest path tolerance that is asked of a controller
SETTLING = 0.3   # [s] wait after the last point before it is checked that the arm rests
PATIENCE = 1.0   # [s] after that wait, the time within which the arm must come to rest
REFRESH = 0.1    # [s] between updates of the brake watchdog
NEW_CLOCK = 0.15    # [s] after a jump of a clock until stamps on the new clock have arrived
FROZEN = 3.0        # [s] a braked motion ends if a simulated clock stands still for longer


@dataclass(frozen=True)
class BrakeTiming:
    """
    Timing of braking.

    Parameters
    ----------
    lead
        Time from the decision to brake to the start of braking [s]; the braking segment must
        reach the controller within this time.
    horizon
        If this process dies, the brake watchdog starts braking after this time [s]. If it stalls
        for nearly this time, the watchdog starts braking half of it later.

    """

    lead: float = 0.06
    horizon: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.lead + REFRESH < self.horizon:
            raise ExecutionError('configuration',
                                 f'the sum of the lead ({self.lead:g} s) and {REFRESH:g} s must '
                                 f'be less than the horizon ({self.horizon:g} s)')


def path_tolerance(limits: Limits, tracking: float, timing: BrakeTiming) -> Array:
    """
    Return the smallest path tolerances of a controller that let this node brake a stuck arm.

    The node notices the joint at the tracking tolerance. At full speed v, the reference then
    covers v (lead + delay) until it brakes, and 3 v^2 / (4 a) during braking (see `ramp_down`,
    whose largest deceleration is 1.5 v / T). The result is at most `MAX_TOLERANCE`: the controller
    remains the last resort.

    Parameters
    ----------
    limits
        Limits of the arm; infinite ones do not count.
    tracking
        Tolerance of the tracking error [rad or m].
    timing
        Timing of braking.

    Returns
    -------
    ndarray, (n,) [rad or m]

    """
    v = np.where(np.isfinite(limits.velocity), limits.velocity, 0.0)
    braking = 0.75 * v ** 2 / limits.acceleration
    return np.minimum(tracking + v * (timing.lead + DELAY) + braking, MAX_TOLERANCE)


@dataclass(frozen=True)
class StateBatch:
    """
    N successive joint states, with the joints in the order of the arm.

    Parameters
    ----------
    t
        Stamps, as times since the start of the plan, (N,) [s].
    q, v, effort
        Positions, velocities and efforts as published, (N, n); v and effort may be None.

    """

    t: Array
    q: Array
    v: Array | None
    effort: Array | None


class ControllerInterface(Protocol):
    """Connection to a controller and to the brake watchdog."""

    def send(self, segment: TrajectorySegment) -> None:
        """Send a trajectory to the controller, where it replaces the previous one."""

    def guard(self, position: PlanPosition | None, until: float) -> None:
        """
        Tell the brake watchdog the progress along the plan, from which it would brake.

        Parameters
        ----------
        position
            Progress of the controller's reference; None if the watchdog must do nothing.
        until
            Time since the start of the plan at which the watchdog brakes the arm, unless it is
            told another progress before [s].

        """


@dataclass
class Waiting:
    """The trajectory has not been sent: fresh joint states are missing."""


@dataclass
class Moving:
    """
    The controller executes the full trajectory.

    Parameters
    ----------
    guarded
        Time at which the brake watchdog brakes, unless it is told another one before [s].
    refresh_at
        Time of the next message to the brake watchdog [s].

    """

    guarded: float = math.inf
    refresh_at: float = -math.inf


@dataclass
class ClockJumped:
    """
    A clock has jumped; the controller continues the motion until the arm can be braked.

    Right after the jump the progress of the reference is known only to within the latency of a
    message, so that a braking segment would cause a step of the reference.

    Parameters
    ----------
    wait
        Time until stamps on the new clock have arrived [s].

    """

    wait: float = NEW_CLOCK


@dataclass
class Braking:
    """
    The motion is being ended early, by this process or by somebody else.

    Parameters
    ----------
    end
        Time of the last point of the last trajectory that was sent [s].

    """

    end: float


@dataclass
class Finished:
    """The execution is over."""


Phase = Waiting | Moving | ClockJumped | Braking | Finished
TRANSITIONS: dict[type, tuple[type, ...]] = {
    Waiting: (Moving, Finished),
    Moving: (ClockJumped, Braking, Finished),
    ClockJumped: (Moving, Braking),
    Braking: (Finished,),
    Finished: ()}
"""For each phase of an execution, the phases that may follow."""


class MotionExecutor:
    """
    Execution of one motion, step by step; `TRANSITIONS` lists the order of its phases.

    The trajectory of the full motion is sent once, while the arm rests. A second trajectory is
    sent only to end the motion early. A controller enters each new trajectory at the current time,
    so that each one may cause a step of the reference.

    Parameters
    ----------
    arm, plan
        The arm and its motion.
    controller
        Connection to the controller and to the brake watchdog.
    tolerances
        Tolerances of the monitor; the default values of `MotionTolerances` if None.
    timing
        Timing of braking; the default values of `BrakeTiming` if None.
    has_reference
        Whether the controller publishes its reference; otherwise the progress along the plan is
        estimated from the measured positions.

    Attributes
    ----------
    phase
        The phase of the execution.
    fault
        The fault that ended the motion early; None without one.
    at_rest
        Whether the arm rests at the end; None while unknown.

    """

    def __init__(self, arm: Arm, plan: MotionPlan, controller: ControllerInterface,
                 tolerances: MotionTolerances | None = None, timing: BrakeTiming | None = None,
                 has_reference: bool = False) -> None:
        self.plan, self._arm, self._controller = plan, arm, controller
        self.monitor = MotionMonitor(arm, plan, tolerances or MotionTolerances())
        stale = self.monitor.tolerances.stale
        self.states_watchdog = JointStateWatchdog(stale)
        self.timing = timing or BrakeTiming()
        self.phase: Phase = Waiting()
        self.fault: Fault | None = None
        self.at_rest: bool | None = None
        self._progress = ControllerProgress(plan, stale, has_reference)
        self._rest = RestDetector()
        self._stop: Fault | None = None     # the first request to end the motion
        self._now = -math.inf   # [s] time of the last step
        self._frozen = 0.0      # [s] for which the clock has stood still

    @property
    def finished(self) -> bool:
        """Whether the execution is over."""
        return isinstance(self.phase, Finished)

    @property
    def braking(self) -> bool:
        """Whether the arm is being stopped before the end of the motion, or was."""
        return self.fault is not None

    def stop(self, fault: Fault) -> None:
        """
        Request that the next step ends the motion.

        Parameters
        ----------
        fault
            The reason. If the end has already been requested, the first reason is kept.

        """
        self._stop = self._stop or fault

    def phase_name(self, now: float) -> str:
        """Return the name of the plan's phase at the time `now` [s], or 'brake'."""
        return 'brake' if self.braking else self.plan.phase(now)

    def step(self, now: float, states: StateBatch | None, age: float, elapsed: float,
             reference: ControllerState | None = None) -> None:
        """
        Execute one step; to be called at 100 Hz or more. A finished execution does nothing.

        Parameters
        ----------
        now
            Time since the start of the plan on the clock of the stamps [s]; negative before it.
        states
            Joint states received since the last step; None if there are none.
        age
            Age of the last joint state [s].
        elapsed
            Time since the last step, on a steady clock [s]; less counts if `now` advanced less.
        reference
            Newest state of the controller received since the last step; None if there is none.

        """
        if self.finished:
            return
        self._frozen = self._frozen + elapsed if now == self._now else 0.0
        # on the clock of the stamps: while a simulation is paused, nothing is silent
        advance = min(elapsed, max(now - self._now, 0.0))
        self._now = now
        states = states if states is not None and len(states.t) else None
        if states is not None:
            self._remember(states)
        self.states_watchdog.step(states is not None, age, advance)
        started = not isinstance(self.phase, Waiting)
        self._progress.update_reference(now, reference, advance, started)
        if isinstance(self.phase, Braking):
            self._check_end(now, self.phase.end)
            return
        fault = self._find_fault(now, states)
        if fault is not None:
            if not self._wait_for_clock(fault, elapsed):
                self._brake(now, fault)
            return
        if isinstance(self.phase, Waiting):
            self._start(now)
        elif isinstance(self.phase, ClockJumped):    # the reference follows the plan again
            self._enter(Moving())
        if isinstance(self.phase, Moving):
            if now >= self.phase.refresh_at:
                self._refresh_watchdog(now, self.phase)
            self._check_end(now, self.plan.duration)

    def _enter(self, phase: Phase) -> None:
        """Change the phase; the brake watchdog guards the arm in the phase `Moving` only."""
        if type(phase) not in TRANSITIONS[type(self.phase)]:
            raise ExecutionError('internal_error', f'{type(phase).__name__} cannot follow '
                                 f'{type(self.phase).__name__}')
        self.phase = phase
        if not isinstance(phase, Moving):
            self._controller.guard(None, math.inf)

    def _start(self, now: float) -> None:
        """Send the full trajectory if joint states are fresh, and if there is time to send it."""
        # too late to send: the controller might enter the trajectory after its rest, in motion
        if now > -trajectory_segment.REST / 4:
            self._brake(now, Fault('late', 'this node stalled before the motion, and nothing '
                                   'moved; the computer is too busy'))
        elif self.states_watchdog.fresh:    # no start on old joint states
            self._enter(Moving())
            self._controller.send(trajectory_segment.full_trajectory(self.plan))

    def _find_fault(self, now: float, states: StateBatch | None) -> Fault | None:
        """Return the fault that ends the motion now; None if there is none."""
        started = not isinstance(self.phase, Waiting)
        fault = (self._check_stall(now) or self._stop
                 or (self._progress.check_reference(now) if started else None)
                 or self.monitor.check_age(self.states_watchdog))
        if fault is not None or states is None:
            return fault
        fault = self._check_states(states)
        return None if self._progress.is_explained_later(now) else fault

    def _wait_for_clock(self, fault: Fault, elapsed: float) -> bool:
        """Return whether braking after a jump of a clock must wait for stamps on the new clock."""
        if fault.reason == 'clock' and isinstance(self.phase, Moving):
            self._enter(ClockJumped())
        if fault.reason != 'clock' or not isinstance(self.phase, ClockJumped):
            return False
        self.phase.wait -= elapsed
        return self.phase.wait > 0

    def _check_stall(self, now: float) -> Fault | None:
        """Return a fault if this step is so late that the brake watchdog has braked the arm."""
        if self._frozen > PAUSE:
            return Fault('simulation_paused', f'the clock of the simulation has stood still for '
                         f'{PAUSE:g} s: it is paused or has ended; the arm brakes if it goes on')
        if not isinstance(self.phase, Moving) or now < self.phase.guarded:
            return None
        return Fault('late', f'this node stalled for too long at {now:.2f} s, so that the brake '
                     f'watchdog stops the arm and reports the result in the log; the computer is '
                     f'too busy', touch=False)

    def _check_states(self, states: StateBatch) -> Fault | None:
        """Return the fault that joint states indicate; distinguish speed scaling from an error."""
        progress, t, known = self._progress, states.t, True
        if progress.has_reference and not isinstance(self.phase, Waiting):
            t, known = progress.expected(t), progress.is_expected(float(t[-1]))
        fault = self.monitor.check_states(t, states.q, states.v, states.effort, known)
        if fault is None or fault.reason != 'tracking_error':
            return fault
        return progress.explain_tracking_error() or fault

    def _refresh_watchdog(self, now: float, phase: Moving) -> None:
        """Tell the watchdog the progress, except near the end, where the arm comes to rest."""
        phase.refresh_at = now + REFRESH
        position, horizon = self._progress.position(now), self.timing.horizon
        if position is None or now + horizon > self.plan.duration:
            phase.guarded = math.inf
            self._controller.guard(None, math.inf)
        elif self.states_watchdog.fresh and now > 0:
            phase.guarded = now + horizon - self.timing.lead
            self._controller.guard(position, phase.guarded)

    def _brake(self, now: float, fault: Fault) -> None:
        """End the motion with a fault: send the segment that brakes or holds the arm."""
        self.fault = fault
        if isinstance(self.phase, Waiting):
            self._enter(Finished())
            self.at_rest = True
            return
        position = self._progress.position(
            now, fault, clock_jumped=isinstance(self.phase, ClockJumped)) if fault.touch else None
        braking = Braking(now)
        self._enter(braking)
        if position is None:
            return
        departure = now + self.timing.lead
        if position.rate < STOPPED:
            q = self._progress.command
            q = self._rest.newest if q is None else q
            if q is None:    # no joint state, hence no motion
                return
            segment, rate = trajectory_segment.hold_segment(q, now), 1.0
        elif float(position.on_plan(np.array([departure]))[0]) >= self.plan.duration:
            braking.end = max(now, self.plan.duration)
            return
        else:
            segment = brake_segment(self.plan, position, now - trajectory_segment.PAST, departure)
            rate = min(position.rate, 1.0)
        braking.end = now + (segment.end - now) / rate
        self._controller.send(segment)

    def _remember(self, states: StateBatch) -> None:
        """Store the recent positions, and estimate the progress from them if necessary."""
        positions = unwrap_positions(self._arm, joint_position(self._arm, states.q),
                                     self.plan.evaluate(states.t)[0])
        if isinstance(self.phase, (Moving, ClockJumped)):
            self._progress.update_measured(float(states.t[-1]), positions[-1],
                                           on_time=self._stop is None)
        for t, q in zip(states.t.tolist(), positions):
            self._rest.add(t, q)

    def _check_end(self, now: float, end: float) -> None:
        """Finish the execution once the last trajectory has ended and the arm rests."""
        frozen = self.braking and self._frozen > FROZEN     # the simulation is paused or has ended
        if now < end + SETTLING and not frozen:
            return
        at_rest = self._rest.at_rest if self.states_watchdog.fresh else None
        if at_rest is False and now < end + SETTLING + PATIENCE and not frozen:
            return
        self._enter(Finished())
        self.at_rest = at_rest
        if not self.braking and at_rest is not True:
            self.fault = Fault('not_at_rest', 'the motion is over, but the arm still moves')
