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
"""Offset between the clock of the joint states' stamps and the clock of this process."""

from robot_identification.errors import ExecutionError
from robot_identification.ros.execution.fault import Fault

MAX_OFFSET = 0.1    # [s] largest offset between the clocks, and largest jump during a motion
MAX_RATE = 20.0     # no simulation is faster than this multiple of real time
SIMULATED = 1e8     # [s] stamps this far behind the system clock are those of a simulation
STALL = 1.0         # [s] delay of a simulated clock that a busy computer explains
PAUSE = 60.0        # [s] longest pause of a simulation during a motion
LATE_STEP = 0.05    # [s] a process whose step or cycle takes longer has stalled


class RobotClock:
    """
    Estimator of the offset between the robot's clock and the clock of this process.

    The offset is the smallest age that any stamp had when its message arrived, so it includes the
    latency of a message. Trajectories are stamped with the time of the robot's clock. Therefore a
    constant offset is harmless. A motion does not start if the offset is large, because a time
    synchronisation that corrects the clock during the motion would make it jump.

    Parameters
    ----------
    simulated
        Whether this process follows the topic /clock, which is late on a busy computer.

    """

    def __init__(self, simulated: bool = False) -> None:
        self.simulated, self._now = simulated, 0
        self._rate, self._stall = (MAX_RATE, STALL) if simulated else (1.0, 0.0)
        self._credit = self._stall
        self.offset: int | None = None      # [ns] this clock minus the robot's clock
        self.jump = 0       # [ns] jump of the robot's clock detected by the last call of `watch`
        self._newest = 0
        self._last: int | None = None

    def measure(self, now: int, stamp: int) -> None:
        """
        Update the offset with a stamp that has just arrived; called before the motion.

        Parameters
        ----------
        now, stamp
            Time of this clock, and the stamp on the robot's clock [ns].

        """
        self._now = now
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
        Check that the offset permits a motion; called before the motion.

        Raises
        ------
        ExecutionError
            'clock': the clocks differ by more than `MAX_OFFSET`.

        """
        seconds = (self.offset or 0) / 1e9
        if self.simulated and not self._now:
            raise ExecutionError('clock', 'use_sim_time is true, but nobody publishes /clock: '
                                 'start the simulation, or set use_sim_time to false')
        if seconds > SIMULATED and not self.simulated:
            raise ExecutionError('clock', 'the joint states have the time of a simulation: set '
                                 'use_sim_time to true')
        if not self.agrees:
            raise ExecutionError(
                'clock', f"the robot's clock is {abs(seconds):.2f} s "
                f"{'behind' if seconds > 0 else 'ahead of'} the clock of this node; the limit is "
                f'{MAX_OFFSET:g} s. Synchronise them (chrony, NTP), or set use_sim_time on all '
                f'nodes')

    def robot(self, now: int) -> int:
        """Return the time of the robot's clock [ns] at the time `now` of this clock [ns]."""
        return now - (self.offset or 0)

    def watch(self, now: int, stamps: tuple[int, int] | None, elapsed: float) -> Fault | None:
        """
        Return a fault if one of the clocks has jumped since the last call; otherwise None.

        The offset is corrected by the jump.

        Parameters
        ----------
        now
            Time of this clock [ns].
        stamps
            First and last stamp received since the last call [ns]; None if there are none.
        elapsed
            Time since the last call, on a steady clock [s].

        """
        last, self._last, self.jump = self._last, now, 0
        advance = 0.0 if last is None else (now - last) / 1e9
        self._credit = min(self._credit + self._rate * elapsed - advance, self._stall)
        fault = None
        if last is not None and (advance < 0 or self._credit < -MAX_OFFSET):
            self._credit = self._stall
            self.offset = (self.offset or 0) + round((advance - elapsed) * 1e9)
            fault = Fault('clock', f'the clock of this node jumped by {advance:.3f} s during the '
                          f'motion (use_sim_time, NTP)')
        if stamps is None:
            return fault
        first, newest = stamps
        before, self._newest = self._newest, newest
        ahead = (newest - self.robot(now)) / 1e9
        if first < before - MAX_OFFSET * 1e9 or ahead > MAX_OFFSET + self._stall:
            self.jump, self.offset = newest - self.robot(now), now - newest
            fault = Fault('clock', f"the robot's clock jumped by "
                          f'{max(ahead, (before - first) / 1e9):.3f} s during the motion')
        return fault
