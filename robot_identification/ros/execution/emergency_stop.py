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
"""Emergency stop of a motion whose node has died: brakes, checks the effect, and escalates."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Literal, TYPE_CHECKING

import numpy as np
from robot_identification.arrays import Array
from robot_identification.ros.execution.plan_tracker import (
    ControllerState,
    MAX_DISTANCE,
    MAX_LAG,
    PlanPosition,
    PlanTracker,
    SCALED,
    STOPPED,
)
from robot_identification.ros.execution.rest_detector import RestDetector
from robot_identification.ros.execution.trajectory_segment import (
    brake_segment,
    hold_segment,
    PAST,
    TrajectorySegment,
)

if TYPE_CHECKING:
    from robot_identification.ros.execution.motion_plan import MotionPlan
    from robot_identification.ros.execution.sampled_plan import SampledPlan

INTERVAL = 0.02     # [s] between copies of a braking trajectory
COPIES = 10 * INTERVAL  # [s] after the first one, for which it is repeated
AGAIN = 0.25        # [s] from sending a further braking trajectory to its departure
OFF_PLAN = 0.02     # [rad or m] a measured position farther from the plan does not follow it
UNOBSERVED = 1.0    # [s] without observation after a departure, until the goals are cancelled
EFFECT = {'cancel': 0.4, 'deactivate': 0.6}     # [s] until the effect must be observed
REPEAT = 0.2        # [s] between repetitions of a request
SETTLING = 1.5      # [s] within which an arm that has left the plan must come to rest
RECENT = 0.2        # [s] older positions are not an observation of the present

Request = Literal['cancel', 'deactivate']
"""Request to the controller: cancel all goals, or to its manager: deactivate the controller."""


@dataclass(frozen=True)
class Observation:
    """
    A measured position of the arm.

    Parameters
    ----------
    t
        Stamp, as time since the start of the plan [s].
    q
        Position, (n,) [rad or m].

    """

    t: float
    q: Array


class EmergencyStop:
    """
    Emergency stop of a motion, step by step, by a process beside the node that has died.

    A braking trajectory follows the plan until its departure and then brakes. It is sent several
    times, because messages to a busy controller may be lost: while the reference follows the plan
    or the same braking trajectory, a copy makes no step. After the departure the reference, or the
    measured position, must leave the plan. If it does not, the stop escalates: another braking
    trajectory with a later departure, cancelling the goals (the controller then holds the measured
    position), deactivating the controller, and again from the beginning.

    A braking trajectory is only repeated while the plan is observed to go on: entered by an arm
    that already rests, it would make a step. An arm whose reference stands still on the path
    at the beginning, for instance in a pause, is held there. Nothing is sent if the reference is
    off the path: the controller holds the arm, or another client moves it.

    Parameters
    ----------
    plan
        The motion.
    position
        Last known progress of the controller's reference along the plan.
    delay
        Time from the first step to the departure of the first braking trajectory [s].

    Attributes
    ----------
    at_rest
        Whether the arm was observed at rest at the end; None while unknown.
    finished
        Whether the stop is over.
    measures
        What was sent, in order: 'brake', 'hold', 'cancel' or 'deactivate'.

    """

    def __init__(self, plan: MotionPlan | SampledPlan, position: PlanPosition,
                 delay: float) -> None:
        self._plan, self._delay = plan, delay
        self._tracker = PlanTracker(plan)
        self._position = position
        self._rest = RestDetector()
        self._reference: ControllerState | None = None
        self._measured: Observation | None = None
        self._begin = math.nan      # [s] time of the first step
        self._brake: TrajectorySegment | None = None
        self._since, self._sent = -math.inf, -math.inf    # [s] of the measure, and its last copy
        self._effective = math.inf  # [s] since when the plan is no longer followed
        self.at_rest: bool | None = None
        self.finished = False
        self.measures: list[str] = []

    def step(self, now: float, reference: ControllerState | None, measured: Observation | None,
             jumped: bool = False) -> TrajectorySegment | Request | None:
        """
        Return what to send now; to be called at 50 Hz or more.

        Parameters
        ----------
        now
            Time since the start of the plan on the clock of the stamps [s].
        reference, measured
            Newest state of the controller and newest measured position since the last step; None
            if there are none.
        jumped
            Whether a clock jumped since the last step; braking trajectories are then useless.

        """
        self._observe(now, reference, measured)
        if jumped:
            return self._request('cancel', now)
        follows = self._follows(now)
        if not self.measures and math.isinf(self._effective):
            if follows is False and now < self._begin + MAX_LAG:    # its rate is not known yet
                return None
            if follows is not False or self._moves_on_path(now):
                return self._send_brake(now, now + self._delay)
            if self._reference is not None and self._is_on_path(now):
                return self._send_hold(now, self._reference)
        if self.measures == ['hold'] and self._copy_is_due(now):
            self._sent = now
            return self._brake
        if follows is False and math.isinf(self._effective):
            self._effective = now
        if self._is_over(now):
            return None
        if not math.isinf(self._effective):
            return None     # it brakes, or something else has moved it off the plan
        measure = self.measures[-1]
        if measure == 'brake' and self._brake is not None:
            return self._check_brake(now, self._brake, follows)
        if now < self._since + EFFECT[measure]:
            return self._request(measure, now)  # type: ignore[arg-type]
        if follows is None:
            return self._request('cancel', now) if now > self._sent + REPEAT else None
        return (self._request('deactivate', now) if measure == 'cancel'
                else self._send_brake(now, now + AGAIN))

    def _observe(self, now: float, reference: ControllerState | None,
                 measured: Observation | None) -> None:
        """Store the newest positions."""
        if math.isnan(self._begin):
            self._begin = now
        if reference is not None:
            self._reference = reference
            self._tracker.update(reference.t, reference.q)
        if measured is not None:
            self._measured = measured
            self._rest.add(measured.t, measured.q)

    def report(self, now: float) -> str:
        """Return what was done and observed, as a sentence."""
        requests = {'brake': 'a braking trajectory', 'hold': 'a trajectory that holds the arm',
                    'cancel': 'a request to cancel the goals',
                    'deactivate': 'a request to deactivate the controller'}
        done = 'sent: ' + ', '.join(requests[measure] for measure in self.measures) if (
            self.measures) else 'nothing was sent, because the arm was not on the planned path'
        after = f'{now - self._begin:.2f} s after the start of the stop ({done})'
        if self.at_rest:
            return f'the arm rests, {after}'
        if self.at_rest is None:
            return (f'it is unknown whether the arm rests, {after}: neither joint states nor the '
                    f"controller's state are received")
        return f'THE ARM STILL MOVES, {after}: use the emergency stop'

    def _is_over(self, now: float) -> bool:
        """Return whether the stop is over, and set the result."""
        observed = self._measured is not None and now - self._measured.t < RECENT
        rests = observed and self._rest.at_rest
        ended = now > self._plan.duration + SETTLING
        settled = now > self._effective + SETTLING
        if (rests and not math.isinf(self._effective)) or ended or settled:
            self.finished, self.at_rest = True, rests if observed else None
        return self.finished

    def _is_on_path(self, now: float) -> bool:
        """Return whether the reference is on the path, wherever it should be now."""
        return (self._reference is not None and now - self._reference.t < RECENT
                and self._tracker.distance < MAX_DISTANCE)

    def _moves_on_path(self, now: float) -> bool:
        """Return whether the reference moves along the path, for instance with a scaled speed."""
        return self._is_on_path(now) and self._tracker.position.rate > STOPPED

    def _copy_is_due(self, now: float) -> bool:
        return now < self._since + COPIES and now >= self._sent + INTERVAL

    def _send_hold(self, now: float, reference: ControllerState) -> TrajectorySegment:
        """Return a trajectory that holds the command, so that the arm rests after a pause, too."""
        self.measures.append('hold')
        self._since = self._sent = self._effective = now
        self._brake = hold_segment(
            reference.q if reference.command is None else reference.command, now)
        return self._brake

    def _follows(self, now: float) -> bool | None:
        """Return whether the plan is still followed; None if that is not observable now."""
        results = [self._deviates(newest, lag, tolerance) for newest, lag, tolerance in (
            (self._reference, 0.0, MAX_DISTANCE), (self._measured, MAX_LAG, OFF_PLAN))
            if newest is not None and newest.t > max(now - RECENT, self._since)]
        known = [result for result in results if result is not None]
        return not known[0] if known else None

    def _deviates(self, newest: Observation | ControllerState, lag: float,
                  tolerance: float) -> bool | None:
        """
        Return whether an observed position has left the plan; None if it would not show that.

        A position shows the effect of a braking trajectory where that is twice the tolerance away
        from the plan.
        """
        at = self._position.on_plan(np.array([newest.t, newest.t - lag]))
        q = self._plan.evaluate(at)[0]
        allowed = tolerance + float(np.max(np.abs(q[0] - q[1])))
        if float(np.max(np.abs(newest.q - q[0]))) > allowed:
            return True
        if self.measures[-1:] == ['brake'] and self._brake is not None:
            braked = np.array([np.interp(newest.t, self._brake.t, column)
                               for column in self._brake.q.T])
            if float(np.max(np.abs(braked - q[0]))) < 2 * allowed:
                return None
        return False

    def _check_brake(self, now: float, brake: TrajectorySegment,
                     follows: bool | None) -> TrajectorySegment | Request | None:
        """Return the copy of a braking trajectory, or the next measure if it has no effect."""
        if self._copy_is_due(now) and abs(self._position.rate - 1) <= SCALED:
            self._sent = now
            return brake
        if follows:
            return (self._send_brake(now, now + AGAIN) if self.measures[-2:] != ['brake', 'brake']
                    else self._request('cancel', now))
        blind = all(newest is None or newest.t < now - RECENT
                    for newest in (self._reference, self._measured))
        if blind and now > brake.departure + UNOBSERVED:
            return self._request('cancel', now)
        return None

    def _send_brake(self, now: float, departure: float) -> TrajectorySegment:
        """Return a new braking trajectory."""
        if self._moves_on_path(now):
            position = self._tracker.position
            if abs(position.rate - 1) > SCALED or abs(position.delay) > SCALED:
                self._position = position
        self.measures.append('brake')
        self._since = self._sent = now
        self._brake = brake_segment(self._plan, self._position, now - PAST, departure)
        return self._brake

    def _request(self, request: Request, now: float) -> Request | None:
        """Return a request if it is due."""
        if not self.measures or self.measures[-1] != request:
            self.measures.append(request)
            self._since, self._sent = now, -math.inf
        if now < self._sent + REPEAT:
            return None
        self._sent = now
        return request
