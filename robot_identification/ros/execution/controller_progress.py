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
"""Progress of a controller along a plan, and the faults that its reference shows."""

import math

import numpy as np
from robot_identification.arrays import Array
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.execution.motion_monitor import JointStateWatchdog
from robot_identification.ros.execution.motion_plan import MotionPlan
from robot_identification.ros.execution.plan_tracker import (
    ControllerState,
    MAX_DELAY,
    MAX_DISTANCE,
    MAX_LAG,
    PlanPosition,
    PlanTracker,
    SCALED,
    STOPPED,
)

MEASURED = 0.02     # [s] shortest time between measured positions used for the progress
MAX_LEAD = 0.02     # [s] largest lead of the command over the reference: one cycle at 50 Hz
GRACE = 0.5         # [s] for the controller to report why its reference left the plan
RECENT = 0.1        # [s] longest extrapolation of a reference
HOLD_CAUSES = ('the controller was paused, deactivated or told to hold by another client, or its '
               'computer is too busy for the control loop')


class ControllerProgress:
    """
    Progress of a controller's reference along a plan.

    Without a published reference, the progress is estimated from the measured positions.

    Parameters
    ----------
    plan
        The motion.
    stale
        Time without a reference after which it counts as missing [s].
    has_reference
        Whether the controller publishes its reference.

    """

    def __init__(self, plan: MotionPlan, stale: float, has_reference: bool) -> None:
        self._plan, self.has_reference = plan, has_reference
        self._watchdog = JointStateWatchdog(stale)      # of the references
        self._newest: ControllerState | None = None
        self._reference = PlanTracker(plan)
        self._lead = 0.0        # [s] time by which the command is ahead of the reference
        self._off_plan_since: float | None = None   # [s] since when the reference is off the plan
        self._measured = PlanTracker(plan, MEASURED)
        self._lag = 0.0         # [s] delay of the measured positions behind a punctual reference

    @property
    def command(self) -> Array | None:
        """Newest command of the controller, (n,) [rad or m]; None if it is unknown."""
        return self._newest.command if self._is_known and self._newest is not None else None

    @property
    def _is_known(self) -> bool:
        """Whether the progress of the reference is known and recent."""
        return self.has_reference and self._watchdog.fresh

    def update_reference(self, now: float, reference: ControllerState | None, elapsed: float,
                         started: bool) -> None:
        """
        Update the progress with the newest state of the controller; to be called in each step.

        Parameters
        ----------
        now
            Time since the start of the plan [s].
        reference
            State of the controller; None if there is no new one.
        elapsed
            Time since the last call [s].
        started
            Whether the trajectory has been sent; before, no reference is outdated.

        """
        if not self.has_reference:
            return
        if reference is not None:
            self._newest = reference
            self._reference.update(reference.t, reference.q)
            self._update_lead(reference)
        age = max(now - self._reference.position.t, 0.0) if started else 0.0
        self._watchdog.step(reference is not None, age, elapsed)

    def _update_lead(self, reference: ControllerState) -> None:
        """Compute the time by which the command is ahead of the reference."""
        if reference.command is None:
            return
        v = self._plan.evaluate(np.array([self._reference.position.at]))[1][0]
        speed = float(v @ v)
        if speed > 0:
            lead = float((reference.command - reference.q) @ v) / speed
            self._lead = min(max(lead, 0.0), MAX_LEAD)

    def update_measured(self, t: float, q: Array, *, on_time: bool) -> None:
        """
        Update the estimate from measured positions, unless the reference is known.

        Parameters
        ----------
        t, q
            Time since the start of the plan [s], and position of the joints, (n,) [rad or m].
        on_time
            Whether a small delay is that of measurement and servo, because nothing has happened.

        """
        if self._is_known or t < self._measured.position.t + MEASURED:
            return
        self._measured.update(t, q)
        position = self._measured.position
        if on_time and abs(position.rate - 1) < 0.1 and 0 < position.delay < MAX_LAG:
            self._lag = position.delay

    def expected(self, t: Array) -> Array:
        """Return the times of the plan, (N,) [s], that the reference has reached at times t."""
        return self._reference.position.on_plan(t)

    def is_expected(self, t: float) -> bool:
        """Return whether the reference is on the plan at time t [s], and recent enough to tell."""
        return t < self._reference.position.t + RECENT and self._off_plan_since is None

    def is_explained_later(self, now: float) -> bool:
        """
        Return whether the reference has left the plan, and the controller may still report why.

        Nothing can be sent then. The effort of a controller that suddenly holds the arm is the
        consequence of its stop and not the reason.
        """
        return (self.has_reference and self._reference.distance > MAX_DISTANCE
                and (self._off_plan_since is None or now < self._off_plan_since + GRACE))

    def check_reference(self, now: float) -> Fault | None:
        """Return a fault if the controller's reference is missing or deviates from the plan."""
        if not self.has_reference:
            return None
        if self._watchdog.expired:
            return Fault('controller_silent', f'the controller has published no reference '
                         f'{self._watchdog.finding}: it is no longer active, not '
                         f'reachable, or its computer is too busy')
        position, distance = self._reference.position, self._reference.distance
        scaling = math.nan if self._newest is None else self._newest.scaling
        stopped = (position.delay > MAX_DELAY and abs(scaling - 1) <= SCALED
                   and abs(position.rate - 1) > STOPPED)    # although the reported scaling is 1
        if distance > MAX_DISTANCE or stopped:
            self._off_plan_since = now if self._off_plan_since is None else self._off_plan_since
            if now < self._off_plan_since + GRACE:
                return None
        else:
            self._off_plan_since = None
        if distance > MAX_DISTANCE:
            return Fault('another_client', f"the controller's reference is {distance:.3g} away "
                         f'from the planned path: another client commands the arm, and nothing '
                         f'more was sent', touch=False)
        if abs(scaling - 1) > SCALED:
            return Fault('speed_scaling', f'the speed scaling of the controller is {scaling:.3g}, '
                         f'it must be 1 (speed slider at 100 %, no pause)')
        return None if abs(position.delay) <= MAX_DELAY else _explain_delay(position)

    def explain_tracking_error(self) -> Fault | None:
        """Return the fault `speed_scaling` if a delay of all joints explains a tracking error."""
        measured = self._measured
        delayed = measured.position.delay >= self._lag + MAX_DELAY
        if self.has_reference or not measured.explained_by_delay or not delayed:
            return None
        return Fault('speed_scaling', f'all joints are delayed alike, and the motion runs at '
                     f'{measured.position.rate:.2f} times its speed: speed scaling, or '
                     f'{HOLD_CAUSES}')

    def position(self, now: float, fault: Fault | None = None,
                 clock_jumped: bool = False) -> PlanPosition | None:
        """
        Return the progress of the controller's reference; None if it has left the plan.

        Parameters
        ----------
        now
            Time since the start of the plan [s].
        fault
            Fault that ends the motion; None if it goes on.
        clock_jumped
            Whether a clock has jumped, so that the reference may be late without any scaling.

        """
        if self._is_known:
            if self._reference.distance > MAX_DISTANCE:
                return None
            position = self._reference.position
            scaling = math.nan if self._newest is None else self._newest.scaling
            rate = position.rate if math.isnan(scaling) else scaling
            # the command is one cycle ahead; shifted like this, it makes no step at the entry
            return PlanPosition(position.t, position.at + (1 - rate) * self._lead, rate)
        position = self._measured.position
        # unless the measured positions show a delay, the reference is taken to be on time
        punctual = position.delay - self._lag < MAX_DELAY and not clock_jumped
        frozen = fault is not None and fault.reason == 'frozen_joint_states'
        if punctual or frozen or not self._measured.explained_by_delay:
            return PlanPosition(now, now)
        return PlanPosition(position.t, position.at + self._lag * position.rate, position.rate)


def _explain_delay(position: PlanPosition) -> Fault:
    """Return the fault of a reference that is behind the plan although it is on its path."""
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
