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

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Protocol

import numpy as np
from robot_identification.arm import Arm, Limits
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.recording.effort import joint_position
from robot_identification.ros.execution import trajectory_segment
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
    MAX_DISTANCE,
    PlanPosition,
    PlanTracker,
    SCALED,
    STOPPED,
)
from robot_identification.ros.execution.rest_detector import RestDetector
from robot_identification.ros.execution.trajectory_segment import (
    brake_segment,
    TrajectorySegment,
)

DELAY = 0.02        # [s] of joint states and trajectories together
MAX_TOLERANCE = 1.0     # [rad or m] largest path tolerance that is asked of a controller
SETTLING = 0.3   # [s] wait after the last point before it is checked that the arm rests
PATIENCE = 1.0   # [s] after that wait, the time within which the arm must come to rest
REFRESH = 0.1    # [s] between updates of the brake watchdog
MEASURED = 0.02     # [s] shortest time between measured positions used for the progress
MAX_LEAD = 0.02     # [s] largest lead of the command over the reference: one cycle at 50 Hz
NEW_CLOCK = 0.15    # [s] after a jump of a clock until stamps on the new clock have arrived
GRACE = 0.5         # [s] for the controller to report why its reference left the plan
RECENT = 0.1        # [s] longest extrapolation of a reference
MAX_DELAY = 0.03    # [s] largest delay of the reference: one cycle, and the offset of the clocks
FROZEN = 3.0        # [s] a braked motion ends if a simulated clock stands still for longer
PAUSE = 60.0        # [s] longest pause of a simulation during a motion
HOLD_CAUSES = ('the controller was paused, deactivated or told to hold by another client, or its '
               'computer is too busy for the control loop')


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


class MotionExecutor:
    """
    Execution of one motion, step by step.

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
    fault
        The fault that ended the motion early; None without one.
    finished
        Whether the execution is over.
    at_rest
        Whether the arm rests at the end; None while unknown.

    """

    def __init__(self, arm: Arm, plan: MotionPlan, controller: ControllerInterface,
                 tolerances: MotionTolerances | None = None, timing: BrakeTiming | None = None,
                 has_reference: bool = False) -> None:
        self.plan, self._arm, self._controller = plan, arm, controller
        self._has_reference = has_reference
        self.monitor = MotionMonitor(arm, plan, tolerances or MotionTolerances())
        self.states_watchdog = JointStateWatchdog(self.monitor.tolerances.stale)
        self.timing = timing or BrakeTiming()
        self.fault: Fault | None = None
        self.finished = False
        self.at_rest: bool | None = None
        self.scaling = math.nan
        self._reference_watchdog = JointStateWatchdog(self.monitor.tolerances.stale)
        self._reference = PlanTracker(plan)
        self._measured, self._lag = PlanTracker(plan, MEASURED), 0.0
        self._command: Array | None = None
        self._lead = 0.0        # [s] time by which the command is ahead of the reference
        self._started, self._end = False, math.inf
        self._guarded, self._refresh_at = math.inf, -math.inf
        self._off_plan_since: float | None = None   # [s] since when the reference is off the plan
        self._rest = RestDetector()
        self._stop: Fault | None = None
        self._clock_unknown = math.inf      # [s] left to wait after a clock jumped; inf: no jump
        self._now = -math.inf   # [s] time of the last step
        self._frozen = 0.0      # [s] for which the clock has stood still

    @property
    def braking(self) -> bool:
        """Whether the motion is being ended early."""
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

    def phase(self, now: float) -> str:
        """Return the phase of the motion at the time `now` [s], or 'brake'."""
        return 'brake' if self.braking else self.plan.phase(now)

    def step(self, now: float, states: StateBatch | None, age: float, elapsed: float,
             reference: ControllerState | None = None) -> None:
        """
        Execute one step; to be called at 100 Hz or more.

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
        self._frozen = self._frozen + elapsed if now == self._now else 0.0
        # on the clock of the stamps: while a simulation is paused, nothing is silent
        advance = min(elapsed, max(now - self._now, 0.0))
        self._now = now
        received = states is not None and len(states.t) > 0
        if states is not None and received:
            self._remember(states)
        self.states_watchdog.step(received, age, advance)
        self._update_reference(now, reference, advance)
        if self.braking:
            self._check_end(now)
            return
        fault = (self._check_stall(now) or self._stop or self._check_controller(now)
                 or self.monitor.check_age(self.states_watchdog))
        if fault is None and states is not None and received:
            fault = self._check_states(states)
            if fault is not None and self._is_explained_later(now):
                fault = None
        if fault is not None:
            if not self._wait_for_clock(fault, elapsed):
                self._brake(now, fault)
            return
        # too late to send: the controller might enter the trajectory after its rest, in motion
        if not self._started and now > -trajectory_segment.REST / 4:
            self._brake(now, Fault('late', 'this node stalled before the motion, and nothing '
                                   'moved; the computer is too busy'))
            return
        if not self._started and self.states_watchdog.fresh:    # no start on old joint states
            self._started, self._end = True, self.plan.duration
            self._controller.send(trajectory_segment.full_trajectory(self.plan))
        if self._started and now >= self._refresh_at:
            self._refresh_watchdog(now)
        self._check_end(now)

    def _is_explained_later(self, now: float) -> bool:
        """
        Return whether the reference has left the plan, and the controller may still report why.

        Nothing can be sent then. The effort of a controller that suddenly holds the arm is the
        consequence of its stop and not the reason.
        """
        return (self._has_reference and self._reference.distance > MAX_DISTANCE
                and (self._off_plan_since is None or now < self._off_plan_since + GRACE))

    def _wait_for_clock(self, fault: Fault, elapsed: float) -> bool:
        """
        Return whether braking after a jump of a clock must wait for stamps on the new clock.

        Right after the jump the progress of the reference is known only to within the latency of a
        message, so that a braking segment would cause a step of the reference. The controller
        continues the motion during the wait.
        """
        if fault.reason != 'clock' or not self._started:
            return False
        if math.isinf(self._clock_unknown):
            self._clock_unknown, self._guarded = NEW_CLOCK, math.inf
            self._controller.guard(None, math.inf)
        self._clock_unknown -= elapsed
        return self._clock_unknown > 0

    def _update_reference(self, now: float, reference: ControllerState | None,
                          elapsed: float) -> None:
        """Update the progress of the controller's reference and the watchdog of its messages."""
        if not self._has_reference:
            return
        if reference is not None:
            self._reference.update(reference.t, reference.q)
            self.scaling, self._command = reference.scaling, reference.command
            self._update_lead(reference)
        age = max(now - self._reference.position.t, 0.0) if self._started else 0.0
        self._reference_watchdog.step(reference is not None, age, elapsed)

    def _update_lead(self, reference: ControllerState) -> None:
        """Compute the time by which the command is ahead of the reference."""
        if reference.command is None:
            return
        v = self.plan.evaluate(np.array([self._reference.position.at]))[1][0]
        speed = float(v @ v)
        if speed > 0:
            lead = float((reference.command - reference.q) @ v) / speed
            self._lead = min(max(lead, 0.0), MAX_LEAD)

    def _check_stall(self, now: float) -> Fault | None:
        """Return a fault if this step is so late that the brake watchdog has braked the arm."""
        if self._frozen > PAUSE:
            return Fault('simulation_paused', f'the clock of the simulation has stood still for '
                         f'{PAUSE:g} s: it is paused or has ended; the arm brakes if it goes on')
        if not self._started or now < self._guarded:
            return None
        return Fault('late', f'this node stalled for too long at {now:.2f} s, so that the brake '
                     f'watchdog stops the arm and reports the result in the log; the computer is '
                     f'too busy', touch=False)

    def _check_controller(self, now: float) -> Fault | None:
        """Return a fault if the controller's reference is missing or deviates from the plan."""
        if not self._has_reference or not self._started:
            return None
        if self._reference_watchdog.expired:
            return Fault('controller_silent', f'the controller has published no reference '
                         f'{self._reference_watchdog.finding}: it is no longer active, not '
                         f'reachable, or its computer is too busy')
        position, scaling = self._reference.position, self.scaling
        stopped = (position.delay > MAX_DELAY and abs(scaling - 1) <= SCALED
                   and abs(position.rate - 1) > STOPPED)    # although the reported scaling is 1
        if self._reference.distance > MAX_DISTANCE or stopped:
            self._off_plan_since = now if self._off_plan_since is None else self._off_plan_since
            if now < self._off_plan_since + GRACE:
                return None
        else:
            self._off_plan_since = None
        if self._reference.distance > MAX_DISTANCE:
            return Fault('another_client', f"the controller's reference is "
                         f'{self._reference.distance:.3g} away from the planned path: another '
                         f'client commands the arm, and nothing more was sent', touch=False)
        if abs(scaling - 1) > SCALED:
            return Fault('speed_scaling', f'the speed scaling of the controller is {scaling:.3g}, '
                         f'it must be 1 (speed slider at 100 %, no pause)')
        if abs(position.delay) <= MAX_DELAY:
            return None
        if position.at < MAX_DELAY:
            return Fault('controller_does_not_follow', 'the controller has not started the '
                         'motion: it is inactive or rejects trajectories; see its log')
        if position.rate < STOPPED:
            return Fault('controller_holds', f'the reference stands still: {HOLD_CAUSES}')
        if abs(position.rate - 1) < STOPPED:
            return Fault('clock', f'the controller is {position.delay:.3f} s behind the motion: '
                         f'its clock differs from that of the joint states, or has jumped')
        return Fault('speed_scaling', f'the controller executes the motion at '
                     f'{position.rate:.2f} times its speed; it must be 1 (speed slider at 100 %, '
                     f'no pause)')

    def _check_states(self, states: StateBatch) -> Fault | None:
        """Return the fault that joint states indicate; distinguish speed scaling from an error."""
        known, position = self._has_reference and self._started, self._reference.position
        fault = self.monitor.check_states(
            position.on_plan(states.t) if known else states.t, states.q, states.v, states.effort,
            not known or (states.t[-1] < position.t + RECENT and self._off_plan_since is None))
        if fault is None or fault.reason != 'tracking_error' or self._has_reference:
            return fault
        measured = self._measured
        delayed = measured.position.delay >= self._lag + MAX_DELAY
        if not measured.explained_by_delay or not delayed:
            return fault
        return Fault('speed_scaling', f'all joints are delayed alike, and the motion runs at '
                     f'{measured.position.rate:.2f} times its speed: speed scaling, or '
                     f'{HOLD_CAUSES}')

    def _position(self, now: float) -> PlanPosition | None:
        """Return the progress of the controller's reference; None if it has left the plan."""
        if self._has_reference and self._reference_watchdog.fresh:
            if self._reference.distance > MAX_DISTANCE:
                return None
            position = self._reference.position
            rate = position.rate if math.isnan(self.scaling) else self.scaling
            # the command is one cycle ahead; shifted like this, it makes no step at the entry
            return PlanPosition(position.t, position.at + (1 - rate) * self._lead, rate)
        if self.fault is not None and self.fault.reason == 'frozen_joint_states':
            return PlanPosition(now, now)
        position = self._measured.position
        delay = position.delay - self._lag
        # unless the measured positions show a delay, the reference is taken to be on time
        if ((delay < MAX_DELAY and math.isinf(self._clock_unknown))
                or not self._measured.explained_by_delay):
            return PlanPosition(now, now)
        return PlanPosition(position.t, position.at + self._lag * position.rate, position.rate)

    def _refresh_watchdog(self, now: float) -> None:
        """Tell the watchdog the progress, except near the end, where the arm comes to rest."""
        self._refresh_at = now + REFRESH
        position, horizon = self._position(now), self.timing.horizon
        if position is None or now + horizon > self.plan.duration:
            self._guarded = math.inf
            self._controller.guard(None, math.inf)
        elif self.states_watchdog.fresh and now > 0:
            self._guarded = now + horizon - self.timing.lead
            self._controller.guard(position, self._guarded)

    def _brake(self, now: float, fault: Fault) -> None:
        """End the motion with a fault: send the segment that brakes or holds the arm."""
        self.fault = fault
        self._controller.guard(None, math.inf)
        if not self._started:
            self.finished, self.at_rest = True, True
            return
        self._end = now
        if not fault.touch:
            return
        position = self._position(now)
        if position is None:
            return
        if position.rate < STOPPED:
            known = self._has_reference and self._reference_watchdog.fresh
            command = self._command if known else None
            q = self._rest.newest if command is None else command
            if q is None:    # no joint state, hence no motion
                return
            self._send(trajectory_segment.hold_segment(q, now), now, 1.0)
            return
        departure = now + self.timing.lead
        if float(position.on_plan(np.array([departure]))[0]) >= self.plan.duration:
            self._end = max(now, self.plan.duration)
            return
        self._send(brake_segment(self.plan, position, now - trajectory_segment.PAST, departure),
                   now, position.rate)

    def _send(self, segment: TrajectorySegment, now: float, rate: float) -> None:
        """Send a segment and compute when it ends at the given speed scaling."""
        self._end = now + (segment.end - now) / min(rate, 1.0)
        self._controller.send(segment)

    def _remember(self, states: StateBatch) -> None:
        """Store the recent positions, and estimate the progress from them if necessary."""
        positions = unwrap_positions(self._arm, joint_position(self._arm, states.q),
                                     self.plan.evaluate(states.t)[0])
        known = self._has_reference and self._reference_watchdog.fresh
        due = states.t[-1] >= self._measured.position.t + MEASURED
        if self._started and not self.braking and not known and due:
            self._measured.update(float(states.t[-1]), positions[-1])
            position = self._measured.position
            if (abs(position.rate - 1) < 0.1 and 0 < position.delay < 2 * MAX_DELAY
                    and self._stop is None):
                self._lag = position.delay
        for t, q in zip(states.t.tolist(), positions):
            self._rest.add(t, q)

    def _check_end(self, now: float) -> None:
        """Finish the execution once the last trajectory has ended and the arm rests."""
        frozen = self.braking and self._frozen > FROZEN     # the simulation is paused or has ended
        if not self._started or (now < self._end + SETTLING and not frozen):
            return
        self.at_rest = self._rest.at_rest if self.states_watchdog.fresh else None
        if self.at_rest is False and now < self._end + SETTLING + PATIENCE and not frozen:
            return
        self.finished = True
        self._controller.guard(None, math.inf)
        if not self.braking and self.at_rest is not True:
            self.fault = Fault('not_at_rest', 'the motion is over, but the arm still moves')
