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
"""The node `feedforward`: efforts for trajectories, or gravity and friction compensated."""

from __future__ import annotations

from contextlib import suppress
import time
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from robot_identification.arrays import Array
from robot_identification.errors import (
    ConfigurationError,
    ExecutionError,
    RobotIdentificationError,
)
from robot_identification.online import Compensation, CompensationLimits, trajectory_efforts
from robot_identification.online.sliding_window import SlidingWindow
from robot_identification.ros.execution import Fault
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.nodes.health import ERROR, Health, OK
from robot_identification.ros.nodes.live_states import LiveStates
from robot_identification.ros.nodes.managed import ManagedNode
from robot_identification.ros.nodes.parameters import declare, declared_model, required
from robot_identification.ros.nodes.process import main_of
from robot_identification.ros.nodes.requests import answered
from robot_identification.ros.nodes.trajectories import SECOND
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

MODES = ('trajectory', 'compensation')
TAKE = 0.005       # [s] between looks at the joint states
FAREWELL = 1.0     # [s] for which a controller may take the last command


class FeedforwardProcess:
    """
    Adds efforts to the trajectories of others, or commands compensation on request.

    It never moves an arm by itself: trajectories come from a client, and compensation begins with
    the service `~/start` of an active node, ends with `~/stop`, deactivation or on doubt. A node
    that only passes trajectories on is active from its start.
    """

    patience = 4.0  # [s]
    lacks = ''      # it can always be configured

    def __init__(self) -> None:
        self.node: Any = ManagedNode('feedforward', self)
        node = self.node
        data = DataDirectory(declare(node, 'data_directory', '~/robot_identification',
                                     'folder of models'))
        self.model = declared_model(node, data.existing(
            required(node, 'model', 'model file in the data directory'), 'model'))
        mode = declare(node, 'mode', 'trajectory', 'trajectory or compensation')
        if mode not in MODES:
            raise ConfigurationError(f"the parameter 'mode' is '{mode}', it must be one of "
                                     f'{", ".join(MODES)}')
        controller = declare(node, 'controller', '', 'node name of the controller; '
                             'joint_trajectory_controller or effort_controller when empty')
        topic = declare(node, 'joint_states', 'joint_states', 'topic of the joint states')
        self.limits = CompensationLimits(
            effort=declare(node, 'limits.effort', 0.8, 'highest effort, as a part of the torque '
                           'limits [-]', lower=0.0, upper=1.0),
            friction=declare(node, 'limits.friction', 0.7, 'part of the friction that '
                             'compensation takes [-]', lower=0.0, upper=1.0),
            speed=declare(node, 'limits.speed', 0.5, 'highest speed of compensation, as a part of '
                          'the velocity limits [-]', lower=0.0, upper=1.0),
            stale=declare(node, 'limits.stale', 0.1, 'longest time without a joint state [s]',
                          lower=0.01, upper=5.0))
        window = declare(node, 'window', 0.03, 'over which joint states are smoothed [s]',
                         lower=0.005, upper=1.0)
        rate = declare(node, 'rate', 200.0, 'of the compensation [Hz]', lower=10.0, upper=1000.0)
        autostart = declare(node, 'autostart', False, 'configure and activate at the start; '
                            'mode trajectory does so always')
        self._check_limits()
        self.health = Health(node)
        self._ending, self._active = False, False
        if autostart or mode == 'trajectory':
            node.start_active()
        if mode == 'trajectory':
            name = controller or 'joint_trajectory_controller'
            self._out = node.create_publisher(JointTrajectory, f'{name}/joint_trajectory', 10)
            node.create_subscription(JointTrajectory, '~/joint_trajectory', self._forward, 10)
            return
        self._commands = node.create_publisher(
            Float64MultiArray, f'{controller or "effort_controller"}/commands', 10)
        self._states = LiveStates(node, self.model.arm, topic)
        self._smoothing = window, 1 / rate
        self._window = SlidingWindow(self.model.arm.n, *self._smoothing)
        self._compensation = Compensation(self.model, self.limits)
        node.create_service(Trigger, '~/start', answered(node, self._start))
        node.create_service(Trigger, '~/stop', answered(node, self._stop))
        node.create_timer(TAKE, self._compensate)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The node."""
        return (self.node,)

    def end_motion(self, fault: Fault) -> str:
        """Leave an arm that is compensated with gravity alone; say so, or nothing."""
        if not self._active:
            return ''
        self._leave()
        return 'gravity alone is commanded'

    def stop(self) -> None:
        """End; an arm that is compensated is left with gravity alone."""
        if self.end_motion(Fault('shutdown', 'the node was ended')):
            self._commands.wait_for_all_acked(Duration(seconds=FAREWELL))
        self._ending = True

    @property
    def stopped(self) -> bool:
        """Whether it has ended."""
        return self._ending

    def _check_limits(self) -> None:
        arm = self.model.arm
        for name, values in (('torque', arm.limits.torque), ('velocity', arm.limits.velocity)):
            unknown = [joint for joint, x in zip(arm.joint_names, values) if not np.isfinite(x)]
            if unknown:
                raise ConfigurationError(f'the {name} limit of {", ".join(unknown)} is not known, '
                                         f'so nothing can be commanded safely; give it in the '
                                         f'robot YAML and identify again')

    def _forward(self, message: Any) -> None:
        try:
            self._check_active()
            self._check_heard(self._out)
            efforts = self._efforts(message)
        except RobotIdentificationError as error:
            self.health.report(ERROR, f'a trajectory was not passed on: {error}')
            self.node.get_logger().error(f'a trajectory was not passed on: {error}')
            return
        for point, row in zip(message.points, efforts):
            point.effort = row.tolist()
        self._out.publish(message)
        self.health.report(OK, f'passed on a trajectory of {len(message.points)} points',
                           highest=float(np.abs(efforts).max()))

    def _efforts(self, message: Any) -> Array:
        """Return the efforts in the order of the message's joints."""
        arm, names = self.model.arm, list(message.joint_names)
        if sorted(names) != sorted(arm.published_names):
            raise ConfigurationError(f'it is for the joints {", ".join(names)}, the model for '
                                     f'{", ".join(arm.published_names)}')
        columns = [names.index(joint) for joint in arm.published_names]

        def rows(field: str) -> Array | None:
            values = [list(getattr(point, field)) for point in message.points]
            if any(len(row) != len(names) for row in values):
                return None
            return np.array(values, dtype=float).reshape(-1, len(names))[:, columns]

        t = np.array([point.time_from_start.sec + point.time_from_start.nanosec / SECOND
                      for point in message.points])
        q, v, a = (rows(field) for field in ('positions', 'velocities', 'accelerations'))
        if q is None:
            raise ConfigurationError('its points have no position for every joint')
        efforts = trajectory_efforts(self.model, t, q, v, a, fraction=self.limits.effort)
        return efforts[:, [arm.published_names.index(name) for name in names]]

    def _check_active(self) -> None:
        if not self.node.active:
            raise ExecutionError('not_active', self.node.inactive)

    def _check_heard(self, publisher: Any) -> None:
        if not publisher.get_subscription_count():
            raise ExecutionError('no_controller', f"nobody listens on '{publisher.topic_name}'; "
                                 f'is the controller active, and is it the one of the parameter '
                                 f'`controller`?')

    def _start(self, request: Any, response: Any) -> Any:
        self._check_active()
        self._check_heard(self._commands)
        self._states.why_nothing(self._smoothing[0])    # of now, not of before
        self._compensation.reset()
        self._window = SlidingWindow(self.model.arm.n, *self._smoothing)
        self._begun, self._active = time.monotonic(), True
        response.success, response.message = True, 'compensates as soon as joint states arrive'
        return response

    def _stop(self, request: Any, response: Any) -> Any:
        now = self.end_motion(Fault('stopped', 'the service ~/stop was called'))
        response.success, response.message = bool(now), now or 'it did not compensate'
        return response

    def _leave(self) -> None:
        """Command gravity at the last known position, once."""
        self._active = False
        last = self._compensation.last
        if last is not None:
            self._commands.publish(Float64MultiArray(data=last.tolist()))

    def _compensate(self) -> None:
        try:
            taken = self._states.take(efforts=False)
            if not self._active:
                return
            instants = [] if taken is None else self._window.add(*taken)
            now = time.monotonic()
            if instants:
                effort = self._compensation.effort(now, instants[-1].q, instants[-1].v)
                self._commands.publish(Float64MultiArray(data=effort.tolist()))
                self.health.report(OK, 'compensating')
            self._compensation.watch(now)
            if self._compensation.last is None and now - self._begun > 10 * self.limits.stale:
                raise ExecutionError('no_joint_states', 'compensation does not begin: '
                                     + self._states.why_nothing(self._smoothing[0]))
        except Exception as error:    # whatever it is, the arm is not left with it
            if self._active:
                self._leave()
            self.health.report(ERROR, str(error))
            with suppress(RuntimeError):    # the log may be closed while the node ends
                self.node.get_logger().error(str(error))
            if not isinstance(error, RobotIdentificationError):
                raise


main: Any = main_of(FeedforwardProcess)
