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
"""The run of a motion, step by step: sends pieces, watches, brakes, and says how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.execution.motion_plan import MotionPlan
from robot_identification.execution.pieces import cut, Piece
from robot_identification.execution.silence import Silence
from robot_identification.execution.watch import Fault, Tolerances, Watch

MODES = ('rolling', 'whole')
SETTLE = 0.3     # [s] after the last point until rest is looked for
PATIENCE = 1.0   # [s] more until the arm must rest
RESTING = 0.02   # [rad/s or m/s] velocity that counts as rest, of differences over the last states
HISTORY = 0.1    # [s] of positions that rest is judged by


@dataclass(frozen=True)
class Sending:
    """
    How the motion is handed to the controller.

    Parameters
    ----------
    mode
        'rolling': pieces that each end with a braking tail and are replaced before it begins;
        when they are no longer replaced the arm brakes by itself. 'whole': everything at once;
        the controller finishes the motion by itself.
    horizon
        For which a piece follows the motion [s].
    refresh
        After which it is replaced [s].
    overlap
        Time by which a new piece begins in the past, for its way to the controller [s].
    lead
        From the decision to brake until braking begins, for the same [s].

    """

    mode: str = 'rolling'
    horizon: float = 0.5
    refresh: float = 0.15
    overlap: float = 0.1
    lead: float = 0.06

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ExecutionError('configuration', f"there is no mode of execution '{self.mode}'; "
                                 f"there is: {', '.join(MODES)}")
        if not 0 < self.refresh + self.lead < self.horizon:
            raise ExecutionError('configuration',
                                 f'refresh ({self.refresh:g} s) and lead ({self.lead:g} s) '
                                 f'together must be less than the horizon ({self.horizon:g} s)')


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


class Run:
    """
    One motion.

    Parameters
    ----------
    arm, plan
        The arm and its motion.
    send
        Hands a piece to the controller.
    tolerances
        Tolerances of the watch.
    sending
        How.

    """

    def __init__(self, arm: Arm, plan: MotionPlan, send: Callable[[Piece], None],
                 tolerances: Tolerances | None = None, sending: Sending | None = None) -> None:
        self.plan, self._send = plan, send
        self.watch = Watch(arm, plan, tolerances or Tolerances())
        self.silence = Silence(self.watch.tolerances.stale)
        self.sending = sending or Sending()
        self.fault: Fault | None = None
        self.finished = False
        self.at_rest: bool | None = None  # None while nobody knows
        self._piece: Piece | None = None
        self._next, self._end = -np.inf, np.inf
        self._recent: list[tuple[float, Array]] = []
        self._stop: Fault | None = None
        self._held = False

    @property
    def braking(self) -> bool:
        """Whether the motion is being ended before its time."""
        return self.fault is not None

    def stop(self, fault: Fault, *, held: bool = False) -> None:
        """
        Ask for an end; the next step brakes.

        Parameters
        ----------
        fault
            Why.
        held
            Whether the controller has ended the motion itself and holds the arm: it is not to be
            moved again.

        """
        if self._stop is None:
            self._stop, self._held = fault, held

    def phase(self, now: float) -> str:
        """Return what the arm is doing at the time `now` [s]."""
        return 'brake' if self.braking else self.plan.phase(now)

    def step(self, now: float, states: States | None, age: float, passed: float) -> None:
        """
        Go on; to be called a hundred times a second or more.

        Parameters
        ----------
        now
            Time since the begin of the plan [s]; negative before.
        states
            Joint states since the last step, None where there are none.
        age
            Age of the last joint state [s].
        passed
            Since the last step, on a clock that never stops [s].

        """
        heard = states is not None and len(states.t) > 0
        if states is not None and heard:
            self._remember(states)
        self.silence.step(heard, age, passed)
        if self.braking:
            self._finish(now)
            return
        fault = self._stop or self.watch.stale(self.silence)
        if fault is None and states is not None and heard:
            fault = self.watch.states(states.t, states.q, states.v, states.effort)
        if fault is None and self.silence.fresh:    # nothing is sent on what is not known
            fault = self._refresh(now)
        if fault is not None:
            self._brake(now, fault)
        else:
            self._finish(now)

    def _refresh(self, now: float) -> Fault | None:
        sending = self.sending
        if self._piece is None:
            if sending.mode == 'whole':
                self._hand_over(cut(self.plan, 0.0, self.plan.duration))
            else:
                self._hand_over(cut(self.plan, 0.0, max(now, 0.0) + sending.horizon))
        elif self._piece.leaves < self.plan.duration and now >= self._next:
            if now > self._piece.leaves - sending.lead:
                return Fault('late', f'this node was held up at {now:.2f} s for too long, and the '
                             f'arm brakes by itself; the computer is too busy')
            self._hand_over(cut(self.plan, now - sending.overlap, now + sending.horizon))
        else:
            return None
        self._next = max(now, 0.0) + sending.refresh
        return None

    def _brake(self, now: float, fault: Fault) -> None:
        self.fault = fault
        if self._piece is None:
            self.finished, self.at_rest = True, True
        elif self._held:
            self._end = now
        elif now < self._piece.leaves - self.sending.lead:
            # behind it the arm brakes or rests already, and a new piece would pull it back
            self._hand_over(cut(self.plan, now - self.sending.overlap, now + self.sending.lead))

    def _hand_over(self, piece: Piece) -> None:
        self._piece, self._end = piece, piece.end
        self._send(piece)

    def _remember(self, states: States) -> None:
        self._recent += list(zip(states.t.tolist(), states.q))
        newest = self._recent[-1][0]
        self._recent = [item for item in self._recent if item[0] > newest - HISTORY]

    def _finish(self, now: float) -> None:
        if self._piece is None or now < self._end + SETTLE:
            return
        self.at_rest = self._rests() if self.silence.fresh else None
        if self.at_rest is False and now < self._end + SETTLE + PATIENCE:
            return
        self.finished = True
        if not self.braking and self.at_rest is not True:
            self.fault = Fault('not_at_rest', 'the motion is over, but the arm still moves')

    def _rests(self) -> bool:
        if len(self._recent) < 2:
            return False
        (first, begin), (last, end) = self._recent[0], self._recent[-1]
        return bool(last > first and np.all(np.abs(end - begin) / (last - first) < RESTING))
