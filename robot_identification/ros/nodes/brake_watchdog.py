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

from __future__ import annotations

import json
import math
import os
import pickle
import sys
import time
from typing import Any

from action_msgs.srv import CancelGoal
import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from robot_identification.errors import ExecutionError
from robot_identification.helper_process import PIPE, start_helper
from robot_identification.ros.execution.emergency_stop import EmergencyStop, Observation
from robot_identification.ros.execution.plan_tracker import PlanPosition
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.execution.trajectory_segment import TrajectorySegment
from robot_identification.ros.nodes.batch_subscription import BatchSubscription
from robot_identification.ros.nodes.controller_reference import ControllerReference
from robot_identification.ros.nodes.messages import message_type, nanoseconds, trajectory_message
from robot_identification.ros.nodes.watchdog_memory import (
    GuardedMotion,
    PendingProgress,
    Progress,
    SharedContent,
)
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

STALLED = 0.05  # [s] after a longer cycle, older messages may be queued before the newest /clock
QUEUED = 3      # largest number of queued messages
LIMIT = 60.0    # [s] on a steady clock, in case a simulated clock stands still
DEPTH = 20      # number of messages that wait until the watchdog looks at them


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
        """End the watchdog process; it sends nothing."""
        self.update(None)
        if self.process.stdin is not None:
            self.process.stdin.close()


def _enclave() -> str:
    """Return the SROS2 enclave of this process, from its command line."""
    args = sys.argv
    options = [k for k, arg in enumerate(args[:-1]) if arg in ('-e', '--enclave')]
    return args[options[-1] + 1] if options else '/'


class ArmStopper:
    """
    Stops the arm: sends what an `EmergencyStop` asks for, and observes the arm for it.

    Parameters
    ----------
    node
        Node of the watchdog.
    controller, manager, joint_states
        Names as for `BrakeWatchdog`, resolved.

    """

    def __init__(self, node: Node, controller: str, manager: str, joint_states: str) -> None:
        self._node, self._controller = node, controller
        self._publisher = node.create_publisher(
            JointTrajectory, f'{controller}/joint_trajectory', QoSProfile(depth=20))
        self._cancel = node.create_client(
            CancelGoal, f'{controller}/follow_joint_trajectory/_action/cancel_goal')
        self._switch_type = message_type('controller_manager_msgs', 'srv', 'SwitchController')
        self._switch = None if self._switch_type is None else node.create_client(
            self._switch_type, f'{manager}/switch_controller')
        self._states = BatchSubscription(node, JointState, joint_states, reliable=False,
                                         raw=False, depth=DEPTH)
        self._reference = ControllerReference(node, controller, DEPTH)
        self._stop: EmergencyStop | None = None
        self._limit = math.inf

    @property
    def active(self) -> bool:
        """Whether the arm is being stopped."""
        return self._stop is not None

    def begin(self, motion: GuardedMotion, progress: Progress, gone: bool) -> None:
        """Start to stop the arm."""
        self._motion, self._progress = motion, progress
        self._stop = EmergencyStop(
            motion.plan, PlanPosition(progress.t, progress.at, progress.rate),
            motion.horizon if gone else motion.horizon / 2)
        self._limit = time.monotonic() + LIMIT
        self._node.get_logger().error(
            'the excitation node has died or stalled: braking trajectories are sent')

    def step(self, now: int, jumped: bool) -> None:
        """
        Observe the arm and send what is needed; report the result at the end.

        Parameters
        ----------
        now
            Time on the node's clock [ns].
        jumped
            Whether that clock jumped since the last step.

        """
        stop, log = self._stop, self._node.get_logger()
        if stop is None:
            return
        t = self._time(now - self._progress.offset)
        order = stop.step(t, self._observe_reference(), self._observe_joints(), jumped)
        if isinstance(order, TrajectorySegment):
            message = trajectory_message(self._motion.plan.joint_names, order,
                                         self._progress.start)
            message.header.frame_id = self._node.get_name()
            self._publisher.publish(message)
        elif order == 'cancel':
            self._cancel.call_async(CancelGoal.Request())    # without an identifier: all goals
        elif order == 'deactivate' and self._switch is not None:
            self._switch.call_async(self._switch_type.Request(
                deactivate_controllers=[self._controller.rsplit('/', 1)[-1]],
                strictness=self._switch_type.Request.BEST_EFFORT))
        if stop.finished or time.monotonic() > self._limit:
            (log.error if stop.at_rest else log.fatal)(
                f'the excitation node has died or stalled: {stop.report(t)}')
            self._stop = None

    def _time(self, stamp: int) -> float:
        """Return a time on the robot's clock [ns] as time since the start of the plan [s]."""
        return (stamp - self._progress.start) / 1e9

    def _observe_reference(self) -> Observation | None:
        newest = self._reference.take(self._motion.plan.joint_names)
        return None if newest is None else Observation(self._time(newest.stamp), newest.q)

    def _observe_joints(self) -> Observation | None:
        names = self._motion.plan.joint_names
        for message in reversed(self._states.take()[0]):
            found = dict(zip(message.name, message.position))
            if set(names) <= found.keys():
                motion, t = self._motion, self._time(nanoseconds(message.header.stamp))
                q = motion.factor @ [found[name] for name in names] + motion.offset
                turns = np.round((motion.plan.evaluate(np.array([t]))[0][0] - q) / (2 * np.pi))
                return Observation(t, q + 2 * np.pi * np.where(motion.continuous, turns, 0.0))
        return None


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
            for _ in range(QUEUED if elapsed > STALLED else 0):
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
