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
The brake watchdog: a process that stops the arm if the excitation node dies or stalls.

Before a motion the node writes its trajectory to shared memory. During the motion it writes the
progress of the controller's reference and a deadline, ten times a second. If the node has died
(its pipe is closed) or has not written by the deadline, the watchdog stops the arm, see
`EmergencyStop`. It observes joint states and the controller's reference itself, and reports what
it observed.

Shared memory is used because a watchdog that has stalled must read the newest progress; from a
pipe it would read outdated ones first.
"""

import json
import os
import pickle
import sys
import time
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from robot_identification.errors import ExecutionError
from robot_identification.helper_process import PIPE, start_helper
from robot_identification.ros.execution.robot_clock import LATE_STEP, RobotClock
from robot_identification.ros.nodes.arm_stopper import ArmStopper
from robot_identification.ros.nodes.watchdog_memory import (
    GuardedMotion,
    PendingProgress,
    Progress,
    SharedContent,
)

QUEUED = 3      # messages that may wait before the newest /clock after a late cycle


class BrakeWatchdog:
    """
    Starts the watchdog process and supplies it with motion and progress.

    Parameters
    ----------
    node
        The node that the watchdog monitors.
    controller, manager
        Resolved name of the controller, and name of the controller manager.
    joint_states
        Topic of the joint states.

    """

    def __init__(self, node: Any, controller: str, manager: str, joint_states: str) -> None:
        self._node, self._target = node, f'{controller}/joint_trajectory'
        self.name = f'{node.get_name()}_dead_man'
        self._motion, self._progress = (
            SharedContent(os.memfd_create(f'{self.name}_{name}'))
            for name in ('motion', 'progress'))
        files = [self._motion.file, self._progress.file]
        settings = {
            'name': self.name, 'namespace': node.get_namespace(), 'controller': controller,
            'manager': node.resolve_service_name(manager), 'enclave': _enclave(), 'files': files,
            'joint_states': node.resolve_topic_name(joint_states),
            'simulated': bool(node.get_parameter('use_sim_time').value)}
        self.process = start_helper('brake_watchdog', json.dumps(settings), stdin=PIPE,
                                    start_new_session=True, pass_fds=files)

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

    def begin(self, motion: GuardedMotion) -> None:
        """Pass a motion to the watchdog before it starts."""
        self.update(None)
        self._motion.write(pickle.dumps(motion))

    def update(self, progress: Progress | None) -> None:
        """Replace the progress; None if the watchdog must do nothing."""
        self._progress.write(b'' if progress is None else progress.pack())

    def close(self) -> None:
        """End the watchdog process, after a stop of the arm that has already begun."""
        pipe = self.process.stdin
        if pipe is None or pipe.closed:
            return
        self.update(None)
        for content in (self._motion, self._progress):    # the process has its own descriptors
            os.close(content.file)
        pipe.close()


def _enclave() -> str:
    """Return the SROS2 enclave of this process, from its command line."""
    args = sys.argv
    options = [k for k, arg in enumerate(args[:-1]) if arg in ('-e', '--enclave')]
    return args[options[-1] + 1] if options else '/'


def _is_closed(pipe: int) -> bool:
    """Return whether the other end of a pipe is closed."""
    try:
        return not os.read(pipe, 1)
    except BlockingIOError:
        return False


def main() -> int:
    """Run the watchdog process until the node closes the pipe on stdin and the arm is stopped."""
    settings = json.loads(sys.argv[1])
    simulated = settings['simulated']
    rclpy.init(args=['--ros-args', '--enclave', settings['enclave']],
               signal_handler_options=SignalHandlerOptions.NO)
    node = Node(settings['name'], namespace=settings['namespace'], parameter_overrides=[
        Parameter('use_sim_time', value=simulated)])
    stopper = ArmStopper(node, settings['controller'], settings['manager'],
                         settings['joint_states'])
    motion, progress = map(SharedContent, settings['files'])
    pending, pipe = PendingProgress(progress), sys.stdin.fileno()
    os.set_blocking(pipe, False)
    clock, last = RobotClock(simulated), time.monotonic()
    try:
        while True:
            rclpy.spin_once(node, timeout_sec=0.01)
            elapsed, last = time.monotonic() - last, time.monotonic()
            for _ in range(QUEUED if elapsed > LATE_STEP else 0):
                rclpy.spin_once(node, timeout_sec=0.0)
            gone, now = _is_closed(pipe), node.get_clock().now().nanoseconds
            jumped = clock.watch(now, None, elapsed) is not None
            if jumped and not stopper.active:
                pending.discard()    # its times refer to the clock before the jump
            if not stopper.active:
                due = pending.due(now, gone)
                if due is not None:
                    stopper.begin(pickle.loads(motion.read()[1]), due, gone)
            stopper.step(now, jumped)
            if gone and not stopper.active:
                return 0
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    raise SystemExit(main())
