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
*now*, and one that has left the motion already would be a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
import os
import struct
import subprocess
import sys
import threading
import time
from typing import Any, BinaryIO

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

LEFT = struct.Struct('<qI')     # until when [ns], and how many trajectories follow
ONE = struct.Struct('<qI')      # its latest [ns], and how many bytes follow
CLOSING = 1.0   # [s] for the last word


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
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'robot_identification.nodes.dead_man', self.name,
             node.get_namespace(), target, own_clock, _enclave()],
            stdin=subprocess.PIPE, env=environment, start_new_session=True)
        self._newest, self._ending, self._changed = b'', False, threading.Condition()
        # who is held up reads no more, and a full pipe would hold up the watch as well
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

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
        with self._changed:
            self._newest = content
            self._changed.notify()

    def _write(self) -> None:
        pipe: Any = self.process.stdin
        with suppress(BrokenPipeError), pipe:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._newest or self._ending)
                    content, self._newest = self._newest, b''
                if not content:
                    return
                pipe.write(content)
                pipe.flush()

    def close(self) -> None:
        """End it; nothing is sent."""
        self.leave((), 0)
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._writer.join(CLOSING)


def _enclave() -> str:
    """Return the SROS2 enclave that this process was started in."""
    words = sys.argv
    found = [k for k, word in enumerate(words[:-1]) if word in ('-e', '--enclave')]
    return words[found[-1] + 1] if found else '/'


class Waiting:
    """
    What was left, read from a pipe by a thread.

    Parameters
    ----------
    pipe
        What `DeadMan.leave` writes.

    """

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe, self._lock = pipe, threading.Lock()
        self._left: tuple[int, list[tuple[int, bytes]]] = (0, [])
        self.gone = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(struct.error):    # it died while it wrote
            while header := self._pipe.read(LEFT.size):
                until, count = LEFT.unpack(header)
                ones = []
                for _ in range(count):
                    latest, size = ONE.unpack(self._pipe.read(ONE.size))
                    ones.append((latest, self._pipe.read(size)))
                    if len(ones[-1][1]) < size:
                        raise struct.error
                with self._lock:
                    self._left = until, ones
        self.gone.set()

    def forget(self) -> None:
        """Send nothing of what was left."""
        with self._lock:
            self._left = (0, [])

    def due(self, now: int) -> bytes | None:
        """
        Return what is to be sent now, once.

        Parameters
        ----------
        now
            On the clock of the node [ns].

        Returns
        -------
        bytes or None
            None: nothing is due; empty: something was, and it is too late for all of it.

        """
        gone = self.gone.is_set()
        with self._lock:
            until, ones = self._left
            if not ones or (not gone and now < until):
                return None
            self._left = (0, [])
        return next((content for latest, content in ones if now <= latest), b'')


def main() -> int:
    """Wait for the end of the pipe on stdin."""
    name, namespace, target, simulated, enclave = sys.argv[1:6]
    rclpy.init(args=['--ros-args', '--enclave', enclave],
               signal_handler_options=SignalHandlerOptions.NO)
    node = Node(name, namespace=namespace, parameter_overrides=[
        Parameter('use_sim_time', value=simulated == 'true')])
    publisher = node.create_publisher(JointTrajectory, target, QoSProfile(depth=5))
    waiting = Waiting(sys.stdin.buffer)
    clock, looked = RobotClock(simulated == 'true'), time.monotonic()
    try:
        while True:
            ending = waiting.gone.is_set()
            now, passed, looked = node.get_clock().now().nanoseconds, time.monotonic() - looked, \
                time.monotonic()
            if clock.watch(now, None, passed) is not None:
                waiting.forget()    # it is stamped on another clock
            content = waiting.due(now)
            if content == b'':
                node.get_logger().error('the excitation node is gone or late, and so is this one: '
                                        'the controller ends the motion by itself, unwatched')
            elif content is not None:
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
