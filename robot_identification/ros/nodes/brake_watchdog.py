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
The brake watchdog: a process that brakes the arm when the excitation node is gone.

The node leaves it braking trajectories that are valid for a short time, and replaces them ten
times a second. The watchdog publishes one when the node has died (its pipe is closed) or has not
replaced them in time: the first that has not departed from the motion yet, because a controller
enters a trajectory at the current time, and one that has already departed would be a step. They
are in shared memory and not in the pipe, where a stalled process would find old ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
import os
import struct
import subprocess
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
from robot_identification.ros.execution.robot_clock import RobotClock
from trajectory_msgs.msg import JointTrajectory

HEADER = struct.Struct('<qI')   # deadline [ns], and number of trajectories
ITEM = struct.Struct('<qI')     # latest time of a trajectory [ns], and its number of bytes
VERSION = struct.Struct('<Q')   # of the newest content
SLOT_HEADER = struct.Struct('<II')  # number of bytes, and their check sum
SLOT = 1 << 26                  # bytes reserved for one content; unused ones take no memory
STALLED = 0.05  # [s] of a cycle after which the newest /clock may be queued behind other messages
QUEUED = 3      # messages that may be queued


class SharedContent:
    """
    The newest content written by one process and read by another, in shared memory.

    Contents are written to two slots in turn and their version last, so that one slot is
    complete at any time.

    Parameters
    ----------
    file
        File descriptor of an open file.

    """

    def __init__(self, file: int) -> None:
        self._file, self._version = file, 0

    def write(self, content: bytes) -> None:
        """
        Replace the content.

        Parameters
        ----------
        content
            Any bytes, fewer than `SLOT`.

        """
        self._version += 1
        os.pwrite(self._file, SLOT_HEADER.pack(len(content), zlib.crc32(content)) + content,
                  VERSION.size + self._version % 2 * SLOT)
        os.pwrite(self._file, VERSION.pack(self._version), 0)

    def read(self) -> tuple[int, bytes]:
        """Return version and content; version 0 before the first, no bytes if they are torn."""
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
    Starts the watchdog process and gives it the trajectories to send.

    Parameters
    ----------
    node
        The node that is watched.
    target
        Resolved topic of the controller.

    """

    def __init__(self, node: Any, target: str) -> None:
        self._node, self._target = node, target
        self.name = f'{node.get_name()}_dead_man'
        environment = {**os.environ}
        environment.pop('_ROS_WHEELS_BOOTSTRAP_COMPLETE', None)
        use_sim_time = 'true' if node.get_parameter('use_sim_time').value else 'false'
        file = os.memfd_create(self.name)
        self._content = SharedContent(file)
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'robot_identification.ros.nodes.brake_watchdog', self.name,
             node.get_namespace(), target, use_sim_time, _enclave(), str(file)],
            stdin=subprocess.PIPE, env=environment, start_new_session=True, pass_fds=[file])

    def check(self) -> None:
        """
        Refuse a motion without the watchdog.

        Raises
        ------
        ExecutionError
            'dead_man'.

        """
        publishers = self._node.get_publishers_info_by_topic(self._target)
        if self.process.poll() is not None or self.name not in [
                info.node_name for info in publishers]:
            raise ExecutionError('dead_man', f"the process '{self.name}', which brakes the arm "
                                 f'if this node dies, is not running (yet); try again')

    def leave(self, messages: Sequence[tuple[JointTrajectory, int]], until: int) -> None:
        """
        Replace the trajectories of the watchdog.

        Parameters
        ----------
        messages
            Each with the latest time at which it may be sent, in order; none: nothing is sent.
        until
            Time at which one is sent unless they are replaced, on the node's clock [ns].

        """
        content = HEADER.pack(until, len(messages))
        for message, latest in messages:
            data = serialize_message(message)
            content += ITEM.pack(latest, len(data)) + data
        self._content.write(content)

    def close(self) -> None:
        """End the watchdog; it sends nothing."""
        self.leave((), 0)
        if self.process.stdin is not None:
            self.process.stdin.close()


def _enclave() -> str:
    """Return the SROS2 enclave in which this process was started."""
    args = sys.argv
    options = [k for k, arg in enumerate(args[:-1]) if arg in ('-e', '--enclave')]
    return args[options[-1] + 1] if options else '/'


class PendingMessages:
    """
    The trajectories that the watchdog has not sent yet.

    Parameters
    ----------
    content
        Where the node writes them.

    """

    def __init__(self, content: SharedContent) -> None:
        self._content, self._settled = content, 0

    def discard(self) -> None:
        """Send nothing of the present content."""
        self._settled = self._content.read()[0]

    def due(self, now: int, gone: bool) -> bytes | None:
        """
        Return the message to send now, once.

        Parameters
        ----------
        now
            Time on the node's clock, read before this call [ns].
        gone
            Whether the node is gone, determined before this call.

        Returns
        -------
        bytes or None
            None: nothing is due; empty: a message was due, but it is too late for all of them.

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
    """Watch the node until the pipe on stdin is closed."""
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
                pending.discard()    # stamped on another clock
            content = pending.due(now, gone)
            if content == b'':
                node.get_logger().error('the excitation node is gone or late, and so is this '
                                        'watchdog: the controller finishes the motion unmonitored')
            elif content is not None:
                publisher.publish(content)
                node.get_logger().error('the excitation node is gone or late: the arm brakes')
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
