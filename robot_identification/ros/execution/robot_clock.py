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
"""The clock of the robot's stamps relative to the clock of this process."""

from __future__ import annotations

from robot_identification.errors import ExecutionError
from robot_identification.ros.execution.fault import Fault

MAX_OFFSET = 0.1    # [s] between the clocks at which a motion may start
MAX_JUMP = 0.1      # [s] by which a clock may be off during a motion
MAX_RATE = 20.0     # multiple of real time that no simulated clock reaches
STALL = 1.0         # [s] by which a simulated clock may be late on a busy computer


class RobotClock:
    """
    Offset of the robot's clock, estimated as the smallest age of a stamp at its arrival.

    The estimate includes the latency of a message. A motion is stamped on the robot's clock, so a
    constant offset is harmless; a large one is still refused, because whoever corrects the clock
    would do so by a jump.

    Parameters
    ----------
    simulated
        Whether this clock is the topic /clock, which is late on a busy computer.

    """

    def __init__(self, simulated: bool = False) -> None:
        self._rate, self._stall = (MAX_RATE, STALL) if simulated else (1.0, 0.0)
        self._credit = self._stall
        self.offset: int | None = None      # [ns] of this clock ahead of the robot's
        self.jump = 0       # [ns] of the robot's clock in the last call of `watch`
        self._newest = 0
        self._last: int | None = None

    def measure(self, now: int, stamp: int) -> None:
        """
        Add a stamp that has just arrived, before the motion.

        Parameters
        ----------
        now, stamp
            Time of this clock, and the stamp on the robot's clock [ns].

        """
        age = now - stamp
        known = age if self.offset is None else self.offset
        self.offset = min(age, known, key=abs) if self._stall else min(age, known)
        self._newest = max(self._newest, stamp)

    @property
    def agrees(self) -> bool:
        """Whether the offset is known and small enough for a motion."""
        return self.offset is not None and abs(self.offset) / 1e9 <= MAX_OFFSET

    def check(self) -> None:
        """
        Refuse a motion if the clocks differ.

        Raises
        ------
        ExecutionError
            'clock'.

        """
        seconds = (self.offset or 0) / 1e9
        if not self.agrees:
            raise ExecutionError(
                'clock', f"the robot's clock is {abs(seconds):.2f} s "
                f"{'behind' if seconds > 0 else 'ahead of'} the clock of this node; the limit is "
                f'{MAX_OFFSET:g} s. Synchronise them (chrony, NTP), or set use_sim_time on all '
                f'nodes')

    def robot(self, now: int) -> int:
        """Return the robot's time [ns]."""
        return now - (self.offset or 0)

    def watch(self, now: int, stamps: tuple[int, int] | None, elapsed: float) -> Fault | None:
        """
        Detect a jump of either clock and follow it.

        Parameters
        ----------
        now
            Time of this clock [ns].
        stamps
            First and last stamp that arrived since the last call; None without any.
        elapsed
            Time since the last call, on a steady clock [s].

        """
        last, self._last, self.jump = self._last, now, 0
        advance = 0.0 if last is None else (now - last) / 1e9
        self._credit = min(self._credit + self._rate * elapsed - advance, self._stall)
        fault = None
        if last is not None and (advance < 0 or self._credit < -MAX_JUMP):
            self._credit = self._stall
            self.offset = (self.offset or 0) + round((advance - elapsed) * 1e9)
            fault = Fault('clock', f'the clock of this node jumped by {advance:.3f} s during the '
                          f'motion (use_sim_time, NTP)')
        if stamps is None:
            return fault
        first, newest = stamps
        before, self._newest = self._newest, newest
        ahead = (newest - self.robot(now)) / 1e9
        if first < before - MAX_JUMP * 1e9 or ahead > MAX_JUMP + self._stall:
            self.jump, self.offset = newest - self.robot(now), now - newest
            fault = Fault('clock', f"the robot's clock jumped by "
                          f'{max(ahead, (before - first) / 1e9):.3f} s during the motion')
        return fault
