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
"""The clock of the robot's stamps, as seen from the clock of this process."""

from __future__ import annotations

from robot_identification.errors import ExecutionError
from robot_identification.ros.execution.fault import Fault

LARGEST = 0.1       # [s] offset with which a motion begins
JUMP = 0.1          # [s] by which a clock may be wrong in motion
FAST = 20.0         # multiple of real time that a simulated clock does not reach
STALL = 1.0         # [s] by which a simulated clock may come late, on a busy computer


class RobotClock:
    """
    Offset of two clocks: the least age of a stamp is the offset, and the way of a message.

    A motion is stamped on the robot's clock, so a constant offset moves nothing wrongly; a large
    one is refused all the same, since who set it may set it again.

    Parameters
    ----------
    simulated
        Whether this clock is a topic, which comes late where the computer is busy.

    """

    def __init__(self, simulated: bool = False) -> None:
        self._fast, self._stall = (FAST, STALL) if simulated else (1.0, 0.0)
        self._credit = self._stall
        self.offset: int | None = None      # [ns] of this clock before the robot's
        self.jump = 0       # [ns] of the robot's clock at the last look
        self._newest = 0
        self._last: int | None = None

    def measure(self, now: int, stamp: int) -> None:
        """
        Take a stamp that has just arrived, before the motion.

        Parameters
        ----------
        now, stamp
            This clock, and the robot's [ns].

        """
        age = now - stamp
        known = age if self.offset is None else self.offset
        self.offset = min(age, known, key=abs) if self._stall else min(age, known)
        self._newest = max(self._newest, stamp)

    @property
    def agrees(self) -> bool:
        """Whether a motion may begin."""
        return self.offset is not None and abs(self.offset) / 1e9 <= LARGEST

    def check(self) -> None:
        """
        Refuse clocks that differ.

        Raises
        ------
        ExecutionError
            'clock'.

        """
        seconds = (self.offset or 0) / 1e9
        if not self.agrees:
            raise ExecutionError(
                'clock', f"the robot's clock is {abs(seconds):.2f} s "
                f"{'behind' if seconds > 0 else 'ahead of'} that of this node, at most "
                f'{LARGEST:g} s are allowed; synchronise them (chrony, NTP), or set use_sim_time '
                f'on all nodes')

    def robot(self, now: int) -> int:
        """Return the robot's time [ns]."""
        return now - (self.offset or 0)

    def watch(self, now: int, stamps: tuple[int, int] | None, passed: float) -> Fault | None:
        """
        Look for a jump of either clock, and follow it.

        Parameters
        ----------
        now
            This clock [ns].
        stamps
            First and last that have arrived since the last look; None where there are none.
        passed
            Since the last look, on a clock that never stops [s].

        """
        last, self._last, self.jump = self._last, now, 0
        gone = 0.0 if last is None else (now - last) / 1e9
        self._credit = min(self._credit + self._fast * passed - gone, self._stall)
        fault = None
        if last is not None and (gone < 0 or self._credit < -JUMP):
            self._credit = self._stall
            self.offset = (self.offset or 0) + round((gone - passed) * 1e9)
            fault = Fault('clock', f'the clock of this node has jumped by {gone:.3f} '
                          f's in motion (use_sim_time, NTP)')
        if stamps is None:
            return fault
        first, newest = stamps
        before, self._newest = self._newest, newest
        ahead = (newest - self.robot(now)) / 1e9
        if first < before - JUMP * 1e9 or ahead > JUMP + self._stall:
            self.jump, self.offset = newest - self.robot(now), now - newest
            fault = Fault('clock', f"the robot's clock has jumped by "
                          f'{max(ahead, (before - first) / 1e9):.3f} s in motion')
        return fault
