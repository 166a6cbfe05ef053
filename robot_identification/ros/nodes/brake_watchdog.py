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
"""
The brake watchdog: a process that brakes the arm if the excitation node dies or stalls.

During a motion the node writes braking trajectories and a deadline to shared memory, and replaces
them ten times a second. The watchdog publishes one of the trajectories if the node has died (its
pipe is closed) or has not replaced them by the deadline.

Each trajectory follows the planned motion up to its departure and then brakes. The watchdog
publishes the first trajectory whose departure has not passed. A controller enters a trajectory at
the current time. After the departure its reference would therefore make a step.

Shared memory is used because a watchdog that has stalled must read the newest trajectories; from a
pipe it would read outdated ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
import os
import struct
import sys
import time
from typing import Any
import zlib

import rclpy
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from robot_identification.errors import ExecutionError
from robot_identification.helper_process import PIPE, start_helper
from robot_identification.ros.execution.robot_clock import RobotClock
from trajectory_msgs.msg import JointTrajectory

HEADER = struct.Struct('<qI')   # deadline [ns], and number of trajectories
ITEM = struct.Struct('<qI')     # latest time to send a trajectory [ns], and its number of bytes
VERSION = struct.Struct('<Q')   # version number of the newest content
SLOT_HEADER = struct.Struct('<II')  # number of bytes of a content, and their checksum
SLOT = 1 << 26                  # [bytes] reserved for a content; unused bytes take no memory
STALLED = 0.05  # [s] after a longer cycle, older messages may be queued before the newest /clock
QUEUED = 3      # largest number of queued messages


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
        self._file, self._version = file, 0

    def write(self, content: bytes) -> None:
        """
        Replace the content.

        Parameters
        ----------
        content
            New content, shorter than `SLOT` bytes.

        """
        self._version += 1
        os.pwrite(self._file, SLOT_HEADER.pack(len(content), zlib.crc32(content)) + content,
                  VERSION.size + self._version % 2 * SLOT)
        os.pwrite(self._file, VERSION.pack(self._version), 0)

    def read(self) -> tuple[int, bytes]:
        """Return version (0: nothing written yet) and content (empty if it is damaged)."""
        data = os.pread(self._file, VERSION.size, 0)
        if len(data) < VERSION.size:
            return 0, b''
        version, = VERSION.unpack(data)
        offset = VERSION.size + version % 2 * SLOT
        size, check_sum = SLOT_HEADER.unpack(os.pread(self._file, SLOT_HEADER.size, offset))
        content = os.pread(self._file, size, offset + SLOT_HEADER.size)
        return version, content if zlib.crc32(content) == check_sum else b''


class BrakeWatchdog:
    """
    Starts the watchdog process and supplies it with braking trajectories.

    Parameters
    ----------
    node
        The node that the watchdog monitors.
    target
        Resolved name of the topic on which the watchdog publishes a braking trajectory.

    """

    def __init__(self, node: Any, target: str) -> None:
        self._node, self._target = node, target
        self.name = f'{node.get_name()}_dead_man'
        use_sim_time = 'true' if node.get_parameter('use_sim_time').value else 'false'
        file = os.memfd_create(self.name)
        self._content = SharedContent(file)
        self.process = start_helper(
            'brake_watchdog', self.name, node.get_namespace(), target, use_sim_time, _enclave(),
            str(file), stdin=PIPE, start_new_session=True, pass_fds=[file])

    def check(self) -> None:
        """
        Check that the watchdog process is running; called before a motion.

        Raises
        ------
        ExecutionError
            'dead_man': it is not running, or its publisher has not been discovered yet.

        """
        publishers = self._node.get_publishers_info_by_topic(self._target)
        if self.process.poll() is not None or self.name not in [
                info.node_name for info in publishers]:
            raise ExecutionError('dead_man', f"the process '{self.name}', which brakes the arm "
                                 f'if this node dies, is not running (yet); try again')

    def update(self, messages: Sequence[tuple[JointTrajectory, int]], until: int) -> None:
        """
        Replace the braking trajectories of the watchdog.

        Parameters
        ----------
        messages
            Trajectories in the order of their departure, each with the latest time at which the
            watchdog may send it, on the node's clock [ns]. If empty, the watchdog sends nothing.
        until
            Deadline for the next replacement, on the node's clock [ns]. If it passes without a
            replacement, the watchdog sends a trajectory.

        """
        content = HEADER.pack(until, len(messages))
        for message, latest in messages:
            data = serialize_message(message)
            content += ITEM.pack(latest, len(data)) + data
        self._content.write(content)

    def close(self) -> None:
        """End the watchdog process without sending a trajectory."""
        self.update((), 0)
        if self.process.stdin is not None:
            self.process.stdin.close()


def _enclave() -> str:
    """Return the SROS2 enclave of this process, from its command line."""
    args = sys.argv
    options = [k for k, arg in enumerate(args[:-1]) if arg in ('-e', '--enclave')]
    return args[options[-1] + 1] if options else '/'


class PendingMessages:
    """
    Braking trajectories that the node has written, as the watchdog reads them.

    Parameters
    ----------
    content
        Shared memory to which the node writes them.

    """

    def __init__(self, content: SharedContent) -> None:
        self._content = content
        self._settled = 0       # version that was sent or discarded

    def discard(self) -> None:
        """Discard the current trajectories, and wait for the next replacement."""
        self._settled = self._content.read()[0]

    def due(self, now: int, gone: bool) -> bytes | None:
        """
        Return the trajectory to send now; at most one trajectory of each replacement is sent.

        Parameters
        ----------
        now
            Time on the node's clock, read before this call [ns].
        gone
            Whether the node has ended, determined before this call.

        Returns
        -------
        bytes or None
            The serialised trajectory; None if no braking is required; empty if braking is
            required, but the latest times of all trajectories have passed.

        """
        version, content = self._content.read()
        if version <= self._settled or not content:
            return None
        until, count = HEADER.unpack_from(content)
        if not count or (not gone and now < until):
            return None
        self._settled, offset = version, HEADER.size
        for _ in range(count):
            latest, size = ITEM.unpack_from(content, offset)
            offset += ITEM.size
            if now <= latest:
                return content[offset:offset + size]
            offset += size
        return b''


def _is_closed(pipe: int) -> bool:
    """Return whether the other end of a pipe is closed."""
    try:
        return not os.read(pipe, 1)
    except BlockingIOError:
        return False


def main() -> int:
    """Run the watchdog process until the node closes the pipe on stdin."""
    name, namespace, target, simulated, enclave, file = sys.argv[1:7]
    rclpy.init(args=['--ros-args', '--enclave', enclave],
               signal_handler_options=SignalHandlerOptions.NO)
    node = Node(name, namespace=namespace, parameter_overrides=[
        Parameter('use_sim_time', value=simulated == 'true')])
    publisher = node.create_publisher(JointTrajectory, target, QoSProfile(depth=5))
    pending, pipe = PendingMessages(SharedContent(int(file))), sys.stdin.fileno()
    os.set_blocking(pipe, False)
    clock, last = RobotClock(simulated == 'true'), time.monotonic()
    try:
        while True:
            rclpy.spin_once(node, timeout_sec=0.01)
            elapsed, last = time.monotonic() - last, time.monotonic()
            for _ in range(QUEUED if elapsed > STALLED else 0):
                rclpy.spin_once(node, timeout_sec=0.0)
            gone, now = _is_closed(pipe), node.get_clock().now().nanoseconds
            if clock.watch(now, None, elapsed) is not None:
                pending.discard()    # their times refer to the clock before the jump
            content = pending.due(now, gone)
            if content == b'':
                node.get_logger().error('the excitation node has died or stalled, and this '
                                        'watchdog stalled too: the controller finishes the motion '
                                        'unmonitored')
            elif content is not None:
                publisher.publish(content)
                node.get_logger().error('the excitation node has died or stalled: the arm brakes')
                publisher.wait_for_all_acked(Duration(seconds=2.0))
            if gone:
                return 0
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    raise SystemExit(main())
