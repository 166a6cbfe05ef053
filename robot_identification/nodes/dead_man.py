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

The node leaves it a braking trajectory that is valid for a moment, and replaces it ten times a
second. It is published when the node has died (its pipe is closed) or has not replaced it in time.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
import time
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from robot_identification.errors import ExecutionError
from robot_identification.execution.robot_clock import RobotClock
from trajectory_msgs.msg import JointTrajectory

HEADER = struct.Struct('<qI')       # until when [ns], and how many bytes follow


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
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'robot_identification.nodes.dead_man', self.name,
             node.get_namespace(), target, own_clock, _enclave()],
            stdin=subprocess.PIPE, env=environment, start_new_session=True)

    def check(self) -> None:
        """
        Refuse to begin without it.

        Raises
        ------
        ExecutionError
            'dead_man'.

        """
        publishers = self._node.get_publishers_info_by_topic(self._target)
        if self._process.poll() is not None or self.name not in [
                info.node_name for info in publishers]:
            raise ExecutionError('dead_man', f"the process '{self.name}', which would brake the "
                                 f'arm if this node died, is not there (yet); try again')

    def leave(self, message: JointTrajectory | None, until: int) -> None:
        """
        Leave a trajectory.

        Parameters
        ----------
        message
            None: nothing is to be sent.
        until
            When it is sent at the latest, on the clock of the node [ns].

        """
        content = b'' if message is None else serialize_message(message)
        pipe = self._process.stdin
        if pipe is None or self._process.poll() is not None:
            return
        try:
            pipe.write(HEADER.pack(until, len(content)) + content)
            pipe.flush()
        except BrokenPipeError:
            return

    def close(self) -> None:
        """End it; nothing is sent."""
        self.leave(None, 0)
        if self._process.stdin is not None:
            self._process.stdin.close()


def _enclave() -> str:
    """Return the SROS2 enclave that this process was started in."""
    words = sys.argv
    found = [k for k, word in enumerate(words[:-1]) if word in ('-e', '--enclave')]
    return words[found[-1] + 1] if found else '/'


class _Waiting:
    """What was left, read from a pipe by a thread."""

    def __init__(self, pipe: Any) -> None:
        self._pipe, self._lock = pipe, threading.Lock()
        self._left: tuple[int, bytes] = (0, b'')
        self.gone = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while len(header := self._pipe.read(HEADER.size)) == HEADER.size:
            until, size = HEADER.unpack(header)
            content = self._pipe.read(size)
            if len(content) < size:
                break
            with self._lock:
                self._left = until, content
        self.gone.set()

    def forget(self) -> None:
        """Send nothing of what was left."""
        with self._lock:
            self._left = (0, b'')

    def due(self, now: int) -> bytes:
        """Return what is to be sent now, once."""
        gone = self.gone.is_set()
        with self._lock:
            until, content = self._left
            if not content or (not gone and now < until):
                return b''
            self._left = (0, b'')
        return content


def main() -> int:
    """Wait for the end of the pipe on stdin."""
    name, namespace, target, simulated, enclave = sys.argv[1:6]
    rclpy.init(args=['--ros-args', '--enclave', enclave],
               signal_handler_options=SignalHandlerOptions.NO)
    node = Node(name, namespace=namespace, parameter_overrides=[
        Parameter('use_sim_time', value=simulated == 'true')])
    publisher = node.create_publisher(JointTrajectory, target, QoSProfile(depth=5))
    waiting = _Waiting(sys.stdin.buffer)
    clock, looked = RobotClock(simulated == 'true'), time.monotonic()
    try:
        while True:
            ending = waiting.gone.is_set()
            now, passed, looked = node.get_clock().now().nanoseconds, time.monotonic() - looked, \
                time.monotonic()
            if clock.watch(now, None, passed) is not None:
                waiting.forget()    # it is stamped on another clock
            content = waiting.due(now)
            if content:
                publisher.publish(content)
                node.get_logger().error('the excitation node is gone or late: the arm brakes')
                publisher.wait_for_all_acked(Duration(seconds=2.0))
            if ending:
                return 0
            rclpy.spin_once(node, timeout_sec=0.01)
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    raise SystemExit(main())
