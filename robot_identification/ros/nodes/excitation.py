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
"""The node `excitation`: the only one that moves the robot, and only while it is active."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import threading
import time
from typing import Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from robot_identification.errors import ExecutionError, RobotIdentificationError
from robot_identification.excitation import Excitation
from robot_identification.excitation.design.search import SearchProgress
from robot_identification.ros.execution import Fault, Tolerances
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.execution.run import Sending
from robot_identification.ros.nodes.controller_client import ControllerClient
from robot_identification.ros.nodes.design_request import designed, SUFFIXES, written
from robot_identification.ros.nodes.health import ERROR, Health, OK, WARN
from robot_identification.ros.nodes.long_work import CancelledError, LongWork
from robot_identification.ros.nodes.managed import ManagedNode
from robot_identification.ros.nodes.motion import Feedback, Motion, Outcome
from robot_identification.ros.nodes.parameters import declare, declared_arm
from robot_identification.ros.nodes.process import main_of
from robot_identification.ros.nodes.recorder_client import RecorderClient
from robot_identification.ros.nodes.requests import answered, check, KEPT
from robot_identification.ros.nodes.shown_path import ShownPath
from robot_identification_interfaces.action import Excite
from std_srvs.srv import Trigger

PHASES = {'approach': Excite.Goal.APPROACH, 'settle': Excite.Goal.APPROACH,
          'run_in': Excite.Goal.RUN_IN, 'excitation': Excite.Goal.EXCITATION,
          'run_out': Excite.Goal.RUN_OUT, 'brake': Excite.Goal.BRAKE,
          'design': Excite.Goal.DESIGN}
FEEDBACK = 0.1  # [s]
LOOK = 0.02     # [s] between looks at a design
CALM = ('finished', 'cancelled', 'stopped', 'deactivated', 'shutdown')


class ExcitationProcess:
    """Executes one excitation at a time."""

    patience = 30.0  # [s] for braking, and for the recorder

    def __init__(self) -> None:
        self.node = node = ManagedNode('excitation', self)
        self.arm = declared_arm(node)
        self.data = DataDirectory(declare(node, 'data_directory', '~/robot_identification',
                                          'folder of excitations and recordings'))
        self.tolerances, self.sending = _tolerances(node), _sending(node)
        self.speed = declare(node, 'approach_speed', 0.2, 'part of the velocity and acceleration '
                             'limits that the approach uses [-]', lower=0.01, upper=1.0)
        self.topic = declare(node, 'joint_states', 'joint_states', 'topic of the joint states')
        self.controller = ControllerClient(
            node, declare(node, 'controller', 'joint_trajectory_controller',
                          'name of the controller'),
            declare(node, 'transport', 'auto', 'to the controller: action (FollowJointTrajectory, '
                    'needs control_msgs), topic, or auto: the action where it is offered'),
            self.arm.published_names,
            declare(node, 'controller_manager', 'controller_manager',
                    'name of the controller manager, which is asked for active controllers'),
            declare(node, 'speed_scaling', 'speed_scaling_state_broadcaster/speed_scaling',
                    "topic of the robot's speed scaling [%], std_msgs/Float64"))
        self.recorder = RecorderClient(node, declare(
            node, 'recorder', 'recorder', 'name of the recorder node'))
        self.shown = ShownPath(node, self.arm)
        autostart = declare(node, 'autostart', False, 'configure and activate at the start')
        self.health = Health(node)
        self._designs = LongWork(node, lambda text, part: None)
        self._motion, self._lock = None, threading.Lock()
        group = ReentrantCallbackGroup()  # stop and cancel are heard during a motion
        self._server = ActionServer(
            node, Excite, '~/execute', self._execute, goal_callback=self._goal,
            cancel_callback=self._cancel, callback_group=group, result_timeout=KEPT)
        node.create_service(Trigger, '~/stop', answered(node, self._on_stop),
                            callback_group=group)
        self._ending = False
        if autostart:
            node.start_active()

    _motion: Motion | None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The node."""
        return (self.node,)

    @property
    def lacks(self) -> str:
        """What the controller's transport lacks."""
        return self.controller.lacks

    def stop(self) -> None:
        """Brake and end."""
        self._ending, self.node.active = True, False
        self.end_motion(Fault('shutdown', 'the node was ended'))

    @property
    def stopped(self) -> bool:
        """Whether the arm rests and the node is to end."""
        if not self._ending or self._motion is not None:
            return False
        self.controller.dead_man.close()
        return True

    def end_motion(self, fault: Fault) -> str:
        """Brake; return what happens now, empty where there was no motion."""
        with self._lock:
            if self._motion is None:
                return ''
            self._motion.stop(fault)
            return 'braking'

    def _goal(self, request: Any) -> GoalResponse:
        return GoalResponse.ACCEPT  # a refusal could not say why; `_execute` does

    def _cancel(self, handle: Any) -> CancelResponse:
        self.end_motion(Fault('cancelled', 'the client cancelled the motion'))
        return CancelResponse.ACCEPT

    def _on_stop(self, request: Any, response: Any) -> Any:
        now = self.end_motion(Fault('stopped', 'the service ~/stop was called'))
        response.success, response.message = bool(now), now or 'nothing moves'
        return response

    async def _execute(self, handle: Any) -> Any:
        request = handle.request
        refusal = self._refusal(request)
        if refusal is not None:
            return self._result(handle, refusal)
        with self._lock:
            motion = self._motion = Motion(
                self.node, self.arm, self.controller, self.recorder, self.topic,
                self.tolerances, self.sending, self.speed, self.shown, self._warn)
            moves = self.node.active
        done: Future = Future(executor=self.node.executor)

        def work() -> None:
            path = None
            try:
                check(request)
                path = self._excitation(request, motion, feedback)
                name = str(path.relative_to(self.data.root))
                periods = max(1, request.periods)
                outcome = (motion.execute(path, periods, request.recording, name, feedback)
                           if moves else self._rehearsed(motion.rehearse(path, periods)))
            except RobotIdentificationError as error:
                reason = getattr(error, 'reason', 'excitation')
                outcome = Outcome(reason, str(error))
            except Exception as error:  # the arm brakes by itself; say so and stay alive
                self.node.get_logger().fatal(f'unexpected: {error!r}')
                outcome = Outcome('internal_error', repr(error))
            done.set_result((outcome, path))

        last = 0.0

        def feedback(phase: str, now: float, duration: float, error: float) -> None:
            nonlocal last
            if time.monotonic() < last + FEEDBACK:
                return
            last = time.monotonic()
            handle.publish_feedback(Excite.Feedback(
                phase=PHASES[phase], time=now, duration=duration, largest_tracking_error=error))

        doing = ('designing' if request.design else 'executing') if moves else 'rehearsing'
        self.health.report(OK, f"{doing} '{request.excitation}'")
        threading.Thread(target=work, name='motion', daemon=True).start()
        outcome, path = await done
        with self._lock:
            self._motion = None
        return self._result(handle, outcome, path)

    def _excitation(self, request: Any, motion: Motion, feedback: Feedback) -> Path:
        if not request.design:
            return self.data.existing(request.excitation, 'excitation')
        path = self.data.new(request.excitation, 'excitation', SUFFIXES)
        begin = time.monotonic()

        def job(step: Callable[[str, float], None]) -> Excitation:
            def tell(progress: SearchProgress) -> None:
                step('designing', progress.fraction)
                passed = time.monotonic() - begin
                feedback('design', passed, passed / max(progress.fraction, 1e-3), 0.0)
            return designed(request, self.arm, tell)

        feedback('design', 0.0, 0.0, 0.0)
        done = self._designs.start('a design', job, lambda found: written(found, path))
        while not done.done():
            if motion.fault is not None:
                self._designs.cancel()
            time.sleep(LOOK)
        found = done.result()
        if isinstance(found, CancelledError) and motion.fault is not None:
            raise ExecutionError(motion.fault.reason, f'{motion.fault.text}; the design was '
                                 f'ended, nothing moved')
        if isinstance(found, Exception):
            raise found
        self.node.get_logger().info(f"designed '{path}': condition number "
                                    f'{found.condition_number:.1f}, {found.status}')
        return path

    def _warn(self, text: str) -> None:
        self.node.get_logger().warning(text)
        self.health.report(WARN, text)

    def _rehearsed(self, duration: float) -> Outcome:
        self.health.report(*((OK, 'active') if self.node.active else (WARN, 'not active')))
        shown = (f"; it is shown on {' and '.join(self.shown.topics)}" if self.shown.topics
                 else '; neither visualization_msgs nor moveit_msgs is there to show it')
        return Outcome('not_active', f'{self.node.inactive}. Rehearsed: from where the arm is, '
                       f'the motion would be executed in {duration:.1f} s{shown}')

    def _refusal(self, request: Any) -> Outcome | None:
        if not self.node.active and (request.design or not self.node.configured):
            return Outcome('not_active', self.node.inactive)
        if self._motion is not None:
            return Outcome('busy', 'another motion is being executed; wait for its end')
        return None

    def _result(self, handle: Any, outcome: Outcome, path: Path | None = None) -> Any:
        if outcome.reason == 'finished':
            handle.succeed()
        elif outcome.reason == 'cancelled' and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        if outcome.reason not in ('busy', 'not_active'):
            level = OK if outcome.reason in CALM else ERROR
            self.health.report(level, outcome.text, reason=outcome.reason)
        text = f'{outcome.reason}: {outcome.text}'
        if outcome.reason in CALM:
            self.node.get_logger().info(text)
        else:
            self.node.get_logger().error(text)
        return Excite.Result(
            success=outcome.reason == 'finished', reason=outcome.reason, message=outcome.text,
            excitation=str(path or ''), recording=outcome.recording, duration=outcome.duration,
            transport=outcome.transport,
            largest_tracking_error=np.asarray(outcome.largest_error, dtype=float).tolist(),
            joint_names=list(self.arm.published_names))


def _tolerances(node: Any) -> Tolerances:
    default = Tolerances()
    return Tolerances(
        declare(node, 'watch.tracking', default.tracking,
                'largest distance from the reference [rad or m]', lower=1e-4, upper=3.0),
        declare(node, 'watch.stale', default.stale,
                'longest time without a joint state [s]', lower=0.01, upper=2.0),
        declare(node, 'watch.position', default.position,
                'beyond the position limits [rad or m]', lower=0.0, upper=1.0),
        declare(node, 'watch.velocity', default.velocity,
                'velocity as a multiple of its limit [-]', lower=0.1, upper=10.0),
        declare(node, 'watch.effort', default.effort,
                'torque as a multiple of its limit [-]', lower=0.1, upper=10.0),
        declare(node, 'watch.effort_samples', default.effort_samples,
                'joint states in a row with too much effort', lower=1, upper=1000),
        tuple(limit for limit in declare(
            node, 'watch.published_effort', [0.0], 'largest magnitude of the effort field of each '
            'joint, in its own units, instead of the torque limits; [0.0]: the torque limits')
            if limit),
        declare(node, 'watch.efforts', default.efforts,
                'refuse a motion whose efforts cannot be watched'))


def _sending(node: Any) -> Sending:
    default = Sending()
    return Sending(
        declare(node, 'brake.lead', default.lead,
                'from the decision to brake until braking begins [s]', lower=0.01, upper=1.0),
        declare(node, 'brake.horizon', default.horizon,
                'for which the motion goes on when this node is held up or has died [s]',
                lower=0.12, upper=5.0))


main = main_of(ExcitationProcess)
