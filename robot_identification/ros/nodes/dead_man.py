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
The dead man's brake: another process, which brakes the arm when the excitation node is gone.

The node leaves it braking trajectories that are valid for a moment, and replaces them ten times a
second. One is published when the node has died (its pipe is closed) or has not replaced them in
time: the first that still goes on as the controller does, for a controller enters a trajectory at
*now*, and one that has left the motion already would be a step. They lie in memory of both
processes and not in a pipe, in which a process that is held up would find old ones first.
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

LEFT = struct.Struct('<qI')     # until when [ns], and how many trajectories follow
ONE = struct.Struct('<qI')      # its latest [ns], and how many bytes follow
NUMBER = struct.Struct('<Q')    # of the newest
WHOLE = struct.Struct('<II')    # bytes that follow, and their check sum
SLOT = 1 << 26                  # bytes of memory for one; what is not used takes none
HELD = 0.05     # [s] of a turn after which the newest time may wait behind other messages
BEHIND = 3      # of them


class Memory:
    """
    The newest of what was left, in memory that two processes share.

    Written in turn to two places, the number of the newest last: one is whole at any time.

    Parameters
    ----------
    file
        Number of an open file.

    """

    def __init__(self, file: int) -> None:
        self._file, self._number = file, 0

    def put(self, content: bytes) -> None:
        """
        Replace what was there.

        Parameters
        ----------
        content
            Any bytes, less than `SLOT`.

        """
        self._number += 1
        os.pwrite(self._file, WHOLE.pack(len(content), zlib.crc32(content)) + content,
                  NUMBER.size + self._number % 2 * SLOT)
        os.pwrite(self._file, NUMBER.pack(self._number), 0)

    def get(self) -> tuple[int, bytes]:
        """Return number and content of the newest; 0 before the first, nothing of a torn one."""
        known = os.pread(self._file, NUMBER.size, 0)
        if len(known) < NUMBER.size:
            return 0, b''
        number, = NUMBER.unpack(known)
        place = NUMBER.size + number % 2 * SLOT
        size, check = WHOLE.unpack(os.pread(self._file, WHOLE.size, place))
        content = os.pread(self._file, size, place + WHOLE.size)
        return number, content if zlib.crc32(content) == check else b''


class DeadMan:
    """
    Starts the process, and leaves it what it is to send.

    Parameters
    ----------
    node
        Whose death it waits for.
    target
        Resolved topic of the controller.

    """

    def __init__(self, node: Any, target: str) -> None:
        self._node, self._target = node, target
        self.name = f'{node.get_name()}_dead_man'
        environment = {**os.environ}
        environment.pop('_ROS_WHEELS_BOOTSTRAP_COMPLETE', None)
        own_clock = 'true' if node.get_parameter('use_sim_time').value else 'false'
        file = os.memfd_create(self.name)
        self._memory = Memory(file)
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'robot_identification.ros.nodes.dead_man', self.name,
             node.get_namespace(), target, own_clock, _enclave(), str(file)],
            stdin=subprocess.PIPE, env=environment, start_new_session=True, pass_fds=[file])

    def check(self) -> None:
        """
        Refuse to begin without it.

        Raises
        ------
        ExecutionError
            'dead_man'.

        """
        publishers = self._node.get_publishers_info_by_topic(self._target)
        if self.process.poll() is not None or self.name not in [
                info.node_name for info in publishers]:
            raise ExecutionError('dead_man', f"the process '{self.name}', which would brake the "
                                 f'arm if this node died, is not there (yet); try again')

    def leave(self, messages: Sequence[tuple[JointTrajectory, int]], until: int) -> None:
        """
        Leave trajectories in the place of those before.

        Parameters
        ----------
        messages
            Each with the latest instant at which it may be sent, in order; none: nothing is sent.
        until
            When one is sent at the latest, on the clock of the node like the others [ns].

        """
        content = LEFT.pack(until, len(messages))
        for message, latest in messages:
            one = serialize_message(message)
            content += ONE.pack(latest, len(one)) + one
        self._memory.put(content)

    def close(self) -> None:
        """End it; nothing is sent."""
        self.leave((), 0)
        if self.process.stdin is not None:
            self.process.stdin.close()


def _enclave() -> str:
    """Return the SROS2 enclave that this process was started in."""
    words = sys.argv
    found = [k for k, word in enumerate(words[:-1]) if word in ('-e', '--enclave')]
    return words[found[-1] + 1] if found else '/'


class Waiting:
    """
    What is to be sent of what was left.

    Parameters
    ----------
    memory
        Where it is left.

    """

    def __init__(self, memory: Memory) -> None:
        self._memory, self._settled = memory, 0

    def forget(self) -> None:
        """Send nothing of what is left now."""
        self._settled = self._memory.get()[0]

    def due(self, now: int, gone: bool) -> bytes | None:
        """
        Return what is to be sent now, once.

        Parameters
        ----------
        now
            On the clock of the node, looked at before this is called [ns].
        gone
            Whether the node is gone, looked at before as well.

        Returns
        -------
        bytes or None
            None: nothing is due; empty: something was, and it is too late for all of it.

        """
        number, content = self._memory.get()
        if number <= self._settled or not content:
            return None
        until, count = LEFT.unpack_from(content)
        if not count or (not gone and now < until):
            return None
        self._settled, place = number, LEFT.size
        for _ in range(count):
            latest, size = ONE.unpack_from(content, place)
            place += ONE.size
            if now <= latest:
                return content[place:place + size]
            place += size
        return b''


def _closed(pipe: int) -> bool:
    """Whether the other end of a pipe is closed."""
    try:
        return not os.read(pipe, 1)
    except BlockingIOError:
        return False


def main() -> int:
    """Wait for the end of the pipe on stdin."""
    name, namespace, target, simulated, enclave, file = sys.argv[1:7]
    rclpy.init(args=['--ros-args', '--enclave', enclave],
               signal_handler_options=SignalHandlerOptions.NO)
    node = Node(name, namespace=namespace, parameter_overrides=[
        Parameter('use_sim_time', value=simulated == 'true')])
    publisher = node.create_publisher(JointTrajectory, target, QoSProfile(depth=5))
    waiting, pipe = Waiting(Memory(int(file))), sys.stdin.fileno()
    os.set_blocking(pipe, False)
    clock, looked = RobotClock(simulated == 'true'), time.monotonic()
    try:
        while True:
            rclpy.spin_once(node, timeout_sec=0.01)
            passed, looked = time.monotonic() - looked, time.monotonic()
            for _ in range(BEHIND if passed > HELD else 0):
                rclpy.spin_once(node, timeout_sec=0.0)
            gone, now = _closed(pipe), node.get_clock().now().nanoseconds
            if clock.watch(now, None, passed) is not None:
                waiting.forget()    # it is stamped on another clock
            content = waiting.due(now, gone)
            if content == b'':
                node.get_logger().error('the excitation node is gone or late, and so is this one: '
                                        'the controller ends the motion by itself, unwatched')
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
