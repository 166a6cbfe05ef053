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
"""The run of a motion, step by step: sends it, watches, ends it, and says how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Protocol

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.recording.effort import joint_position
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.execution.motion_plan import MotionPlan
from robot_identification.ros.execution.pieces import brake, hold, PAST, Piece, REST, whole
from robot_identification.ros.execution.progress import Position, Progress
from robot_identification.ros.execution.silence import Silence
from robot_identification.ros.execution.watch import Tolerances, unwrapped, Watch

SETTLE = 0.3     # [s] after the last point until rest is looked for
PATIENCE = 1.0   # [s] more until the arm must rest
RESTING = 0.02   # [rad/s or m/s] velocity that counts as rest, of differences over the last states
HISTORY = 0.1    # [s] of positions that rest is judged by
REFRESH = 0.1    # [s] after which the dead man's brakes are made anew
LATER = (0.0, 0.3, 2.0)    # [s] behind the horizon, for a dead man too late for those before
MEASURED = 0.02     # [s] between positions of the arm of which its progress is taken
AHEAD = 0.02        # [s] that a command may be ahead of its reference: a cycle of 50 Hz
NEW_CLOCK = 0.15    # [s] for states and references on a clock that has jumped
GRACE = 0.5         # [s] for the controller's own word of why its reference is not on our way
RECENT = 0.1        # [s] for which a reference is taken to go on as it did
ENTERS = 0.007      # [s] from sending to entering: two ways of 3 ms, half a cycle
OFF = 0.005         # [rad or m] from our path: the reference is somebody else's
BEHIND = 0.03       # [s] that a reference may be behind or ahead; one cycle, and the clocks
SCALED = 1e-3       # [-] from 1 of a reported speed scaling that counts
FROZEN = 3.0        # [s] that a simulated clock may stand still before a braked motion is given up
STANDS = 0.02       # [-] rate of progress below which a reference stands still
HOLDS = 'the controller was paused, deactivated, or somebody made it hold'


@dataclass(frozen=True)
class Sending:
    """
    When the motion is ended.

    Parameters
    ----------
    lead
        From the decision to brake until braking begins, for the way to the controller [s].
    horizon
        For which the motion goes on without this process, until somebody else brakes [s].

    """

    lead: float = 0.06
    horizon: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.lead + REFRESH < self.horizon:
            raise ExecutionError('configuration',
                                 f'the lead ({self.lead:g} s) and {REFRESH:g} s together must be '
                                 f'less than the horizon ({self.horizon:g} s)')


@dataclass(frozen=True)
class States:
    """
    N joint states as they were published, in the arm's order.

    Parameters
    ----------
    t
        Stamps since the begin of the plan, (N,) [s].
    q, v, effort
        (N, n); v and effort may be None.

    """

    t: Array
    q: Array
    v: Array | None
    effort: Array | None


@dataclass(frozen=True)
class Reference:
    """
    The controller's state.

    Parameters
    ----------
    t
        Its stamp since the begin of the plan [s].
    q
        Its reference in the arm's order, (n,) [rad or m].
    scaling
        Speed scaling [-]; NaN where it is not published.
    command
        What it gave out, (n,) [rad or m]; one cycle ahead of the reference. None where it is not
        published.

    """

    t: float
    q: Array
    scaling: float = math.nan
    command: Array | None = None


class Link(Protocol):
    """The way to a controller."""

    def send(self, piece: Piece) -> None:
        """Hand it a piece, which replaces the one before."""

    def guard(self, pieces: Sequence[Piece], until: float) -> None:
        """
        Leave pieces with somebody who hands one over when this process is gone.

        Parameters
        ----------
        pieces
            Ways to end the motion, of which the first that has not left the plan by then is
            handed over; none: nothing is to be done.
        until
            When one is handed over at the latest, unless others come [s].

        """

    def cancel(self) -> bool:
        """Make the controller hold at once; return whether it can be made to."""


class Run:
    """
    One motion.

    The whole motion is sent once, at rest, and nothing is sent again unless it is to be ended: a
    controller enters every new trajectory at *now*, so each is a chance of a step.

    Parameters
    ----------
    arm, plan
        The arm and its motion.
    link
        To the controller.
    tolerances
        Tolerances of the watch.
    sending
        How it is ended.
    refers
        Whether the controller's reference is heard; else the arm's positions say where it is.

    """

    def __init__(self, arm: Arm, plan: MotionPlan, link: Link,
                 tolerances: Tolerances | None = None, sending: Sending | None = None,
                 refers: bool = False) -> None:
        self.plan, self._arm, self._link, self._refers = plan, arm, link, refers
        self.watch = Watch(arm, plan, tolerances or Tolerances())
        self.silence = Silence(self.watch.tolerances.stale)
        self.sending = sending or Sending()
        self.fault: Fault | None = None
        self.finished = False
        self.at_rest: bool | None = None  # None while nobody knows
        self.scaling = math.nan
        self._quiet = Silence(self.watch.tolerances.stale)      # of the reference
        self._reference = Progress(plan)
        self._measured, self._lag = Progress(plan, MEASURED), 0.0
        self._command: Array | None = None
        self._ahead = 0.0       # [s] of the command before its reference
        self._begun, self._end = False, math.inf
        self._guarded, self._due = math.inf, -math.inf
        self._doubt: float | None = None    # since when the reference is not on our way [s]
        self._recent: list[tuple[float, Array]] = []
        self._stop: Fault | None = None
        self._unsure = math.inf     # [s] until a clock that has jumped is known
        self._now, self._frozen = -math.inf, 0.0    # [s]

    @property
    def braking(self) -> bool:
        """Whether the motion is being ended before its time."""
        return self.fault is not None

    def stop(self, fault: Fault) -> None:
        """
        Ask for an end; the next step brakes.

        Parameters
        ----------
        fault
            Why.

        """
        self._stop = self._stop or fault

    def phase(self, now: float) -> str:
        """Return what the arm is doing at the time `now` [s]."""
        return 'brake' if self.braking else self.plan.phase(now)

    def step(self, now: float, states: States | None, age: float, passed: float,
             reference: Reference | None = None) -> None:
        """
        Go on; to be called a hundred times a second or more.

        Parameters
        ----------
        now
            Time since the begin of the plan, on the clock of the stamps [s]; negative before.
        states
            Joint states since the last step, None where there are none.
        age
            Age of the last joint state [s].
        passed
            Since the last step, on a clock that never stops [s].
        reference
            The newest since the last step, None where there is none.

        """
        self._frozen = self._frozen + passed if now == self._now else 0.0
        self._now = now
        heard = states is not None and len(states.t) > 0
        if states is not None and heard:
            self._remember(states)
        self.silence.step(heard, age, passed)
        self._refer(now, reference, passed)
        if self.braking:
            self._finish(now)
            return
        fault = self._stop or self._late(now) or self._controller(now) or self.watch.stale(
            self.silence)
        if fault is None and states is not None and heard:
            fault = self._judged(states)
        if fault is not None:
            if not self._wait_for_clock(fault, passed):
                self._brake(now, fault)
            return
        if not self._begun and now > -REST / 4:     # it would be entered in motion
            self._brake(now, Fault('late', 'this node was held up before the motion; nothing '
                                   'moved, the computer is too busy'))
            return
        if not self._begun and self.silence.fresh:     # nothing is sent on what is not known
            self._begun, self._end = True, self.plan.duration
            self._link.send(whole(self.plan))
        if self._begun and now >= self._due:
            self._leave_brakes(now)
        self._finish(now)

    def _wait_for_clock(self, fault: Fault, passed: float) -> bool:
        """
        Return whether to wait until the reference was told on the new clock.

        What was known before a jump is wrong by the age of a message, so that a trajectory would
        be entered elsewhere; the controller goes on with the motion meanwhile.
        """
        if fault.reason != 'clock' or not self._begun:
            return False
        if math.isinf(self._unsure):
            self._unsure, self._guarded = NEW_CLOCK, math.inf
            self._link.guard((), math.inf)
        self._unsure -= passed
        return self._unsure > 0

    def _refer(self, now: float, reference: Reference | None, passed: float) -> None:
        if not self._refers:
            return
        if reference is not None:
            self._reference.update(reference.t, reference.q)
            self.scaling, self._command = reference.scaling, reference.command
            self._look_ahead(reference)
        self._quiet.step(reference is not None, max(now - self._reference.position.t, 0.0)
                         if self._begun else 0.0, passed)

    def _look_ahead(self, reference: Reference) -> None:
        if reference.command is None:
            return
        v = self.plan.evaluate(np.array([self._reference.position.at]))[1][0]
        speed = float(v @ v)
        if speed > 0:
            ahead = float((reference.command - reference.q) @ v) / speed
            self._ahead = min(max(ahead, 0.0), AHEAD)

    def _late(self, now: float) -> Fault | None:
        if not self._begun or now < self._guarded:
            return None
        return Fault('late', f'this node was held up at {now:.2f} s for too long, and the arm was '
                     f'braked without it; the computer is too busy', touch=False)

    def _controller(self, now: float) -> Fault | None:
        """Compare the controller's reference with the plan."""
        if not self._refers or not self._begun:
            return None
        if self._quiet.too_long:
            return Fault('controller_silent', f'the controller has not told its reference for '
                         f'{self._quiet.age:.3f} s: it is not active any more, or out of reach')
        position, scaling = self._reference.position, self.scaling
        stands = (position.behind > BEHIND and abs(scaling - 1) <= SCALED
                  and abs(position.rate - 1) > STANDS)      # it is told that it is not scaled
        if self._reference.off > OFF or stands:
            self._doubt = now if self._doubt is None else self._doubt
            if now < self._doubt + GRACE:
                return None
        else:
            self._doubt = None
        if self._reference.off > OFF:
            return Fault('another_client', f"the controller's reference is "
                         f'{self._reference.off:.3g} away from our path: another client is in '
                         f'command, and was left alone', touch=False)
        if abs(scaling - 1) > SCALED:
            return Fault('speed_scaling', f'the speed scaling of the controller is {scaling:.3g}, '
                         f'it must be 1 (speed slider at 100 %, no pause)')
        if abs(position.behind) <= BEHIND:
            return None
        if position.at < BEHIND:
            return Fault('controller_does_not_follow', 'the controller has not begun the motion: '
                         'it is not active or rejects trajectories; its log tells')
        if position.rate < STANDS:
            return Fault('controller_holds', f'the reference stands still: {HOLDS}')
        if abs(position.rate - 1) < STANDS:
            return Fault('clock', f'the controller is {position.behind:.3f} s behind the motion: '
                         f'its clock is not that of the joint states, or has jumped')
        return Fault('speed_scaling', f'the controller plays the motion at {position.rate:.2f} '
                     f'times its speed; it must be 1 (speed slider at 100 %, no pause)')

    def _judged(self, states: States) -> Fault | None:
        known, position = self._refers and self._begun, self._reference.position
        fault = self.watch.states(
            position.on_plan(states.t) if known else states.t, states.q, states.v, states.effort,
            not known or (states.t[-1] < position.t + RECENT and self._doubt is None))
        if fault is None or fault.reason != 'tracking_error' or self._refers:
            return fault
        found = self._measured
        if not found.alike or found.position.behind < self._lag + BEHIND:
            return fault
        return Fault('speed_scaling', f'all joints fall behind the motion alike, which runs at '
                     f'{found.position.rate:.2f} times its speed: speed scaling, or {HOLDS}')

    def _position(self, now: float) -> Position | None:
        """Return where the controller's reference is, None where it is not on our path."""
        if self._refers and self._quiet.fresh:
            if self._reference.off > OFF:
                return None
            found = self._reference.position
            rate = found.rate if math.isnan(self.scaling) else self.scaling
            # entered at any instant, the command one cycle ahead goes on as it was
            return Position(found.t, found.at + (1 - rate) * self._ahead, rate)
        found, behind = self._measured.position, self._measured.position.behind - self._lag
        # where all is silent, the last that was heard counts: it was on the plan
        if (behind < BEHIND and math.isinf(self._unsure)) or not self._measured.alike:
            return Position(now, now)
        return Position(found.t, found.at + self._lag * found.rate, found.rate)

    def _leave_brakes(self, now: float) -> None:
        self._due = now + REFRESH
        position, horizon = self._position(now), self.sending.horizon
        if position is None or now + horizon > self.plan.duration:
            self._guarded = math.inf
            self._link.guard((), math.inf)
        elif self.silence.fresh and now > 0:
            self._guarded = now + horizon - self.sending.lead
            leaves = [now + horizon + later for later in LATER]
            self._link.guard([brake(self.plan, position, now - PAST, leave) for leave in leaves
                              if leave <= self.plan.duration], self._guarded)

    def _brake(self, now: float, fault: Fault) -> None:
        self.fault = fault
        self._link.guard((), math.inf)
        if not self._begun:
            self.finished, self.at_rest = True, True
            return
        self._end = now
        if not fault.touch:
            return
        position = self._position(now)
        if position is None:
            return
        if position.rate < STANDS:
            rests = self._command if self._refers and self._quiet.fresh else None
            self._hand_over(hold(self._recent[-1][1] if rests is None else rests, now), now, 1.0)
            return
        if position.rate > 1:       # a trajectory is played at the scaling: never faster than now
            enters = now + ENTERS
            position = Position(enters, float(position.on_plan(np.array([enters]))[0]))
        leave = now + self.sending.lead
        ends = float(position.on_plan(np.array([leave]))[0]) >= self.plan.duration
        piece = None if ends else brake(self.plan, position, now - PAST, leave)
        self._hand_over(piece, now, position.rate)

    def _hand_over(self, piece: Piece | None, now: float, rate: float) -> None:
        if piece is None:
            self._end = max(now, self.plan.duration)
            return
        self._end = now + (piece.end - now) / min(rate, 1.0)
        self._link.send(piece)

    def _remember(self, states: States) -> None:
        positions = unwrapped(self._arm, joint_position(self._arm, states.q),
                              self.plan.evaluate(states.t)[0])
        q = positions[-1]
        told = self._refers and self._quiet.fresh
        due = states.t[-1] >= self._measured.position.t + MEASURED
        if self._begun and not self.braking and not told and due:
            self._measured.update(float(states.t[-1]), q)
            found = self._measured.position
            if abs(found.rate - 1) < 0.1 and 0 < found.behind < 2 * BEHIND and self._stop is None:
                self._lag = found.behind
        self._recent += list(zip(states.t.tolist(), positions))
        newest = self._recent[-1][0]
        self._recent = [item for item in self._recent if item[0] > newest - HISTORY]

    def _finish(self, now: float) -> None:
        frozen = self.braking and self._frozen > FROZEN     # the simulation is paused, or gone
        if not self._begun or (now < self._end + SETTLE and not frozen):
            return
        self.at_rest = self._rests() if self.silence.fresh else None
        if self.at_rest is False and now < self._end + SETTLE + PATIENCE and not frozen:
            return
        self.finished = True
        self._link.guard((), math.inf)
        if not self.braking and self.at_rest is not True:
            self.fault = Fault('not_at_rest', 'the motion is over, but the arm still moves')

    def _rests(self) -> bool:
        if len(self._recent) < 2:
            return False
        (first, begin), (last, end) = self._recent[0], self._recent[-1]
        return bool(last > first and np.all(np.abs(end - begin) / (last - first) < RESTING))
