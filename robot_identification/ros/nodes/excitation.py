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
"""The node `excitation`, which moves the robot while its lifecycle state is active."""

from pathlib import Path
import threading
import time
from typing import Any

import numpy as np
from rclpy import action
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from robot_identification.errors import RobotIdentificationError
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.nodes import motion_setup, parameters, requests
from robot_identification.ros.nodes.design_action import design_for_motion
from robot_identification.ros.nodes.design_request import SUFFIXES
from robot_identification.ros.nodes.long_work import LongWork
from robot_identification.ros.nodes.managed_node import ManagedNode
from robot_identification.ros.nodes.motion_session import Feedback, MotionResult, MotionSession
from robot_identification.ros.nodes.process import Health, main_of, NodeProcess
from robot_identification_interfaces.action import Excite
from std_srvs.srv import Trigger

PHASES = {'retreat': Excite.Goal.APPROACH, 'home': Excite.Goal.APPROACH,
          'approach': Excite.Goal.APPROACH,
          'settle': Excite.Goal.APPROACH, 'run_in': Excite.Goal.RUN_IN,
          'excitation': Excite.Goal.EXCITATION, 'run_out': Excite.Goal.RUN_OUT,
          'brake': Excite.Goal.BRAKE, 'design': Excite.Goal.DESIGN}
REGULAR = ('finished', 'cancelled', 'stopped', 'deactivated', 'shutdown')
"""Reasons for the end of a motion that are not errors."""


class ExcitationNode(NodeProcess):
    """Node that executes one excitation at a time."""

    patience = 30.0  # [s] for braking, and for the recorder to close the bag

    def __init__(self) -> None:
        node = ManagedNode('excitation', self)
        super().__init__(node)
        self.arm = parameters.declare_arm(node)
        self.data = parameters.declare_data_directory(node, 'excitations and recordings')
        self._parameters = motion_setup.declare_motion_parameters(node)
        autostart = parameters.declare(node, 'autostart', False,
                                       'configure and activate at start-up')
        self.health = Health(node)
        self._designs = LongWork(node)
        self.setup: motion_setup.MotionSetup | None = None
        self._session: MotionSession | None = None
        self._lock = threading.Lock()
        node.start(autostart)

    @property
    def moving(self) -> bool:
        """Whether a goal is being served."""
        return self._session is not None

    def configure(self) -> None:
        """Connect to the controller, and offer the action and the service."""
        node = self.node
        self.setup = motion_setup.MotionSetup(node, self.arm, self._parameters)
        group = ReentrantCallbackGroup()  # for stop and cancel requests during a motion
        self._server = action.ActionServer(
            node, Excite, '~/execute', self._execute, goal_callback=self._on_goal,
            cancel_callback=self._on_cancel, callback_group=group,
            result_timeout=requests.RESULT_TIMEOUT)
        self.add_service(Trigger, 'stop', self._on_stop, group)

    def clean_up(self) -> None:
        """End the process of the brake watchdog."""
        if self.setup is not None:
            self.setup.controller.watchdog.close()
            self.setup = None

    def stop(self) -> None:
        """Brake the arm and end the node."""
        self._ending, self.node.active = True, False
        self.end_motion(Fault('shutdown', 'the node was ended'))

    @property
    def stopped(self) -> bool:
        """Whether the node is ending and its last motion is over."""
        if not self._ending or self._session is not None:
            return False
        self.clean_up()
        return True

    def end_motion(self, fault: Fault) -> str:
        """Request the end of the motion; return 'braking', or an empty string without a motion."""
        with self._lock:
            if self._session is None:
                return ''
            self._session.stop(fault)
            return 'braking'

    def _on_goal(self, request: Any) -> action.GoalResponse:
        return action.GoalResponse.ACCEPT  # only a result, not a rejection, can state a reason

    def _on_cancel(self, handle: Any) -> action.CancelResponse:
        self.end_motion(Fault('cancelled', 'the client cancelled the motion'))
        return action.CancelResponse.ACCEPT

    def _on_stop(self, request: Any) -> dict[str, Any]:
        now = self.end_motion(Fault('stopped', 'the service ~/stop was called'))
        return {'success': bool(now), 'message': now or 'nothing moves'}

    async def _execute(self, handle: Any) -> Any:
        """Serve a goal: rehearse or execute its motion in a thread, and return the result."""
        request, setup = handle.request, self.setup
        refusal = self._refusal(request)
        if refusal is not None or setup is None:
            return self._result(handle, refusal or MotionResult('not_active', self.node.inactive))
        with self._lock:
            session = self._session = MotionSession(setup, self._warn)
            moves = self.node.active
        done: Future = Future(executor=self.node.executor)
        last = 0.0

        def feedback(phase: str, now: float, duration: float, error: float) -> None:
            nonlocal last
            if time.monotonic() < last + requests.FEEDBACK:
                return
            last = time.monotonic()
            handle.publish_feedback(Excite.Feedback(
                phase=PHASES[phase], time=now, duration=duration, largest_tracking_error=error))

        def work() -> None:
            path = None
            try:
                requests.check_request(request)
                path = self._excitation(request, session, feedback)
                name = str(path.relative_to(self.data.root))
                periods = max(1, request.periods)
                result = (session.execute(path, periods, request.recording, name, feedback)
                          if moves else self._rehearsed(session.rehearse(path, periods),
                                                        setup.preview.topics))
            except RobotIdentificationError as error:
                result = MotionResult(getattr(error, 'reason', 'excitation'), str(error))
            except Exception as error:  # the watchdog brakes the arm; this node keeps running
                self.node.get_logger().fatal(f'unexpected: {error!r}')
                result = MotionResult('internal_error', repr(error))
            done.set_result((result, path))

        activity = ('designing' if request.design else 'executing') if moves else 'rehearsing'
        self.health.ok(f"{activity} '{request.excitation}'")
        threading.Thread(target=work, name='motion', daemon=True).start()
        result, path = await done
        with self._lock:
            self._session = None
        return self._result(handle, result, path)

    def _excitation(self, request: Any, session: MotionSession, feedback: Feedback) -> Path:
        """Return the path of the excitation; design it first if the goal requests a design."""
        if not request.design:
            return self.data.existing(request.excitation, 'excitation')
        path = self.data.new(request.excitation, 'excitation', SUFFIXES)
        design = design_for_motion(self._designs, request, self.arm, path,
                                   lambda: session.fault, feedback)
        self.node.get_logger().info(f"designed '{path}': condition number "
                                    f'{design.condition_number:.1f}, {design.status}')
        return path

    def _warn(self, text: str) -> None:
        self.node.get_logger().warning(text)
        self.health.warn(text)

    def _rehearsed(self, duration: float, topics: tuple[str, ...]) -> MotionResult:
        """Return the result of a goal that was checked and previewed by an inactive node."""
        if self.node.active:
            self.health.ok('active')
        else:
            self.health.warn('not active')
        shown = (f"; it is shown on {' and '.join(topics)}" if topics else
                 '; it is not shown: neither visualization_msgs nor moveit_msgs is installed')
        return MotionResult('not_active', f'{self.node.inactive}. Rehearsed: from the present '
                            f'position the motion would take {duration:.1f} s{shown}')

    def _refusal(self, request: Any) -> MotionResult | None:
        """Return the result of a goal that cannot be served now; None if it can."""
        if request.design and not self.node.active:
            return MotionResult('not_active', self.node.inactive)
        if self._session is not None:
            return MotionResult('busy', 'another motion is being executed; wait for its end')
        return None

    def _result(self, handle: Any, result: MotionResult, path: Path | None = None) -> Any:
        """End a goal, report the result in log and diagnostics, and return it as a message."""
        regular = result.reason in REGULAR
        if result.reason == 'finished':
            handle.succeed()
        elif result.reason == 'cancelled' and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        if result.reason not in ('busy', 'not_active'):
            report = self.health.ok if regular else self.health.error
            report(result.text, reason=result.reason)
        text = f'{result.reason}: {result.text}'
        if regular:
            self.node.get_logger().info(text)
        else:
            self.node.get_logger().error(text)
        return Excite.Result(
            success=result.reason == 'finished', reason=result.reason, message=result.text,
            excitation=str(path or ''), recording=result.recording, duration=result.duration,
            transport=result.transport,
            largest_tracking_error=np.asarray(result.largest_error, dtype=float).tolist(),
            joint_names=list(self.arm.ros_joint_names))


main = main_of(ExcitationNode)
