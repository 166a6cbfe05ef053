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
"""The node `feedforward`: model torques for trajectories, or gravity and friction compensation."""

from contextlib import suppress
import time
from typing import Any

import numpy as np
from rclpy.duration import Duration
from robot_identification import online
from robot_identification.arrays import Array
from robot_identification.errors import (
    ConfigurationError,
    ExecutionError,
    RobotIdentificationError,
)
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.nodes import parameters
from robot_identification.ros.nodes.follow_joint_trajectory import CONFIRMATION
from robot_identification.ros.nodes.live_states import SmoothedStates
from robot_identification.ros.nodes.managed_node import ManagedNode
from robot_identification.ros.nodes.messages import parse_trajectory
from robot_identification.ros.nodes.process import Health, main_of, NodeProcess
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

MODES = ('trajectory', 'compensation')
LIMITS = {
    'effort': ('largest effort as a fraction of the torque limits [-]', 0.0, 1.0),
    'friction': ('fraction of the friction that is compensated [-]', 0.0, 1.0),
    'speed': ('largest speed during compensation as a fraction of the velocity limits [-]', 0.0,
              1.0),
    'stale': ('longest time without a joint state [s]', 0.01, 5.0)}
"""Description, and smallest and largest value, of the parameters `limits.*`."""
PERIOD = 0.005      # [s] between batches of joint states


class FeedforwardNode(NodeProcess):
    """
    Node that adds feed-forward efforts to trajectories, or compensates gravity and friction.

    In the mode `trajectory` the node adds efforts to the trajectories of a client and passes them
    on to the controller; it is active from its start. In the mode `compensation` the active node
    commands efforts after a call of the service `~/start`. Compensation ends with a call of
    `~/stop`, with the deactivation of the node, or if a limit is exceeded. In both modes the node
    never starts a motion by itself.
    """

    def __init__(self) -> None:
        node: Any = ManagedNode('feedforward', self)
        super().__init__(node)
        declare = parameters.declare
        self.model = parameters.declare_model(
            node, parameters.declare_data_directory(node, 'models'))
        self._mode = declare(node, 'mode', 'trajectory', 'trajectory or compensation')
        if self._mode not in MODES:
            raise ConfigurationError(f"the parameter 'mode' is '{self._mode}', it must be one of "
                                     f'{", ".join(MODES)}')
        self._controller = declare(
            node, 'controller', '', 'node name of the controller; empty: '
            'joint_trajectory_controller or effort_controller')
        self._topic = parameters.declare_joint_states(node)
        self.limits = online.CompensationLimits(**parameters.declare_all(
            node, 'limits', online.CompensationLimits(stale=0.1), LIMITS))
        self._window = declare(node, 'window', 0.03, 'length of the window that smooths joint '
                               'states [s]', lower=0.005, upper=1.0)
        self._rate = declare(node, 'rate', 200.0, 'rate of the compensation [Hz]', lower=10.0,
                             upper=1000.0)
        autostart = declare(node, 'autostart', False, 'configure and activate at start-up; mode '
                            'trajectory always does')
        self._check_limits()
        self.health = Health(node)
        self._compensating = False
        node.start(autostart or self._mode == 'trajectory')

    @property
    def moving(self) -> bool:
        """Whether compensation is on."""
        return self._compensating

    def configure(self) -> None:
        """Create the publishers, subscriptions and services of the mode."""
        node = self.node
        if self._mode == 'trajectory':
            name = self._controller or 'joint_trajectory_controller'
            self._output = node.create_publisher(JointTrajectory, f'{name}/joint_trajectory', 10)
            node.create_subscription(JointTrajectory, '~/joint_trajectory', self._forward, 10)
            return
        self._commands = node.create_publisher(
            Float64MultiArray, f'{self._controller or "effort_controller"}/commands', 10)
        self._states = SmoothedStates(node, self.model.arm, self._topic, self._window,
                                      1 / self._rate)
        self._compensation = online.Compensation(self.model, self.limits)
        self.add_service(Trigger, 'start', self._on_start)
        self.add_service(Trigger, 'stop', self._on_stop)
        node.create_timer(PERIOD, self._compensate)

    def clean_up(self) -> None:
        """Release nothing: all belongs to the ROS node."""

    def end_motion(self, fault: Fault) -> str:
        """End compensation with the gravity torques; return the new state, empty if it was off."""
        if not self._compensating:
            return ''
        self._end_compensation()
        return 'gravity alone is commanded'

    def stop(self) -> None:
        """End the node; if it compensates, its last command is the gravity torques."""
        if self.end_motion(Fault('shutdown', 'the node was ended')):
            self._commands.wait_for_all_acked(Duration(seconds=CONFIRMATION))
        super().stop()

    def _check_limits(self) -> None:
        """Raise an error if a torque or velocity limit of the arm is unknown."""
        arm = self.model.arm
        for name, values in (('torque', arm.limits.torque), ('velocity', arm.limits.velocity)):
            unknown = [joint for joint, x in zip(arm.joint_names, values) if not np.isfinite(x)]
            if unknown:
                raise ConfigurationError(f'the {name} limit of {", ".join(unknown)} is unknown, '
                                         f'so that nothing can be commanded safely; state it in '
                                         f'the robot YAML and identify again')

    def _forward(self, message: Any) -> None:
        """Add efforts to a trajectory and pass it on to the controller."""
        try:
            self._check_active()
            self._check_subscribed(self._output)
            efforts = self._efforts(message)
        except RobotIdentificationError as error:
            self.health.error(f'a trajectory was not passed on: {error}')
            self.node.get_logger().error(f'a trajectory was not passed on: {error}')
            return
        for point, row in zip(message.points, efforts):
            point.effort = row.tolist()
        self._output.publish(message)
        self.health.ok(f'passed on a trajectory of {len(message.points)} points',
                       highest=float(np.abs(efforts).max()))

    def _efforts(self, message: Any) -> Array:
        """Return the feed-forward efforts (N, n), with the joints in the order of the message."""
        joints, names = self.model.arm.ros_joint_names, list(message.joint_names)
        if sorted(names) != sorted(joints):
            raise ConfigurationError(f'its joints are {", ".join(names)}, those of the model '
                                     f'{", ".join(joints)}')
        trajectory = parse_trajectory(message).ordered(joints)
        efforts = online.trajectory_efforts(self.model, trajectory.t, trajectory.q, trajectory.v,
                                            trajectory.a, fraction=self.limits.effort)
        return efforts[:, [joints.index(name) for name in names]]

    def _check_active(self) -> None:
        if not self.node.active:
            raise ExecutionError('not_active', self.node.inactive)

    def _check_subscribed(self, publisher: Any) -> None:
        if not publisher.get_subscription_count():
            raise ExecutionError('no_controller', f"nobody listens on '{publisher.topic_name}'; "
                                 f'check that the controller is active and that the parameter '
                                 f'`controller` is its name')

    def _on_start(self, request: Any) -> dict[str, Any]:
        self._check_active()
        self._check_subscribed(self._commands)
        self._states.diagnose()     # clears older problems
        self._compensation.reset()
        self._states.restart()
        self._started, self._compensating = time.monotonic(), True
        return {'message': 'compensates as soon as joint states arrive'}

    def _on_stop(self, request: Any) -> dict[str, Any]:
        now = self.end_motion(Fault('stopped', 'the service ~/stop was called'))
        return {'success': bool(now), 'message': now or 'compensation was off'}

    def _end_compensation(self) -> None:
        """End compensation; the last command is the gravity torques at the last position."""
        self._compensating = False
        last = self._compensation.last
        if last is not None:
            self._commands.publish(Float64MultiArray(data=last.tolist()))

    def _compensate(self) -> None:
        """Command the compensation of new joint states; end it after any error."""
        try:
            if not self._compensating:
                self._states.take(efforts=False)    # discards them
                return
            instants = self._states.take_windows(efforts=False)
            now = time.monotonic()
            if instants:
                effort = self._compensation.effort(now, instants[-1].q, instants[-1].v)
                self._commands.publish(Float64MultiArray(data=effort.tolist()))
                self.health.ok('compensating')
            self._compensation.watch(now)
            if self._compensation.last is None and now - self._started > 10 * self.limits.stale:
                raise ExecutionError('no_joint_states', 'compensation does not start: '
                                     + self._states.diagnose())
        except Exception as error:    # after any error only gravity is compensated
            if self._compensating:
                self._end_compensation()
            self.health.error(str(error))
            with suppress(RuntimeError):    # the log may be closed while the node ends
                self.node.get_logger().error(str(error))
            if not isinstance(error, RobotIdentificationError):
                raise


main = main_of(FeedforwardNode)
