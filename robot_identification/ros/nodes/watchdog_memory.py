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
"""Shared memory between the excitation node and the brake watchdog: motion and progress."""

from dataclasses import astuple, dataclass
import os
import struct
import zlib

from robot_identification.arrays import Array
from robot_identification.ros.execution.sampled_plan import SampledPlan

PROGRESS = struct.Struct('<qqqddd')    # see `Progress`
VERSION = struct.Struct('<Q')   # version number of the newest content
SLOT_HEADER = struct.Struct('<II')  # number of bytes of a content, and their checksum
SLOT = 1 << 26                  # [bytes] reserved for a content; unused bytes take no memory


class SharedContent:
    """
    Shared memory through which one process passes its newest content (bytes) to another.

    Contents are written to two slots alternately, and the version number after the content.
    Thus one slot is complete at any time.

    Parameters
    ----------
    file
        Descriptor of an open file in shared memory.

    """

    def __init__(self, file: int) -> None:
        self.file, self._version = file, 0

    def write(self, content: bytes) -> None:
        """
        Replace the content.

        Parameters
        ----------
        content
            New content, shorter than `SLOT` bytes.

        """
        self._version += 1
        os.pwrite(self.file, SLOT_HEADER.pack(len(content), zlib.crc32(content)) + content,
                  VERSION.size + self._version % 2 * SLOT)
        os.pwrite(self.file, VERSION.pack(self._version), 0)

    def read(self) -> tuple[int, bytes]:
        """Return version (0: nothing written yet) and content (empty if it is damaged)."""
        data = os.pread(self.file, VERSION.size, 0)
        if len(data) < VERSION.size:
            return 0, b''
        version, = VERSION.unpack(data)
        offset = VERSION.size + version % 2 * SLOT
        size, check_sum = SLOT_HEADER.unpack(os.pread(self.file, SLOT_HEADER.size, offset))
        content = os.pread(self.file, size, offset + SLOT_HEADER.size)
        whole = len(content) == size and zlib.crc32(content) == check_sum
        return version, content if whole else b''


@dataclass(frozen=True, eq=False)
class GuardedMotion:
    """
    A motion that the watchdog may have to stop.

    Parameters
    ----------
    plan
        The motion, with the joints as in joint states.
    factor, offset
        Joint positions are `factor @ published + offset`, (n, n) and (n,).
    continuous
        Whether the driver may publish positions that differ by full turns, (n,) bool.
    horizon
        Time from the death of the node to the start of braking [s].

    """

    plan: SampledPlan
    factor: Array
    offset: Array
    continuous: Array
    horizon: float


@dataclass(frozen=True)
class Progress:
    """
    Progress of a motion, and the deadline for the next progress.

    Parameters
    ----------
    until
        Deadline, on the node's clock [ns].
    start
        Start of the plan, on the robot's clock [ns].
    offset
        The node's clock minus the robot's clock [ns].
    t, at, rate
        See `PlanPosition`.

    """

    until: int
    start: int
    offset: int
    t: float
    at: float
    rate: float

    def pack(self) -> bytes:
        """Return the progress as bytes."""
        return PROGRESS.pack(*astuple(self))


class PendingProgress:
    """
    Progress that the node has written, as the watchdog reads it.

    Parameters
    ----------
    content
        Shared memory to which the node writes it.

    """

    def __init__(self, content: SharedContent) -> None:
        self._content = content
        self._settled = 0       # version that has led to a stop, or was discarded

    def discard(self) -> None:
        """Discard the present progress, and wait for the next one."""
        self._settled = self._content.read()[0]

    def due(self, now: int, gone: bool) -> Progress | None:
        """
        Return the progress from which the arm must be stopped now; None if it must not.

        Parameters
        ----------
        now
            Time on the node's clock, read before this call [ns].
        gone
            Whether the node has ended, determined before this call.

        """
        version, content = self._content.read()
        if version <= self._settled or not content:
            return None
        progress = Progress(*PROGRESS.unpack(content))
        if not gone and now < progress.until:
            return None
        self._settled = version
        return progress
