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
"""Client of the controller: checks before a motion, and choice between action and topic."""

from collections.abc import Sequence
import time
from typing import Any

from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError, ExecutionError
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.nodes.brake_watchdog import BrakeWatchdog
from robot_identification.ros.nodes.controller_manager import ControllerManagerClient
from robot_identification.ros.nodes.controller_monitor import ControllerMonitor
from robot_identification.ros.nodes.follow_joint_trajectory import ActionTransport
from robot_identification.ros.nodes.messages import message_type
from robot_identification.ros.nodes.service_calls import (
    call_with_retry,
    PATIENCE,
    START_UP,
)
from trajectory_msgs.msg import JointTrajectory

CHECKED = ('joints', 'allow_trajectory_replacement', 'interpolation_method')
OPTIONAL = (
    ('control_msgs', 'action', 'FollowJointTrajectory', "the controller's reference is not "
     'received, and trajectories are sent on the topic'),
    ('controller_manager_msgs', 'srv', 'ListControllers', 'it is not checked whether the '
     'controller is active'))
TRANSPORTS = ('auto', 'action', 'topic')


class TopicTransport:
    """
    Transport of trajectories by the topic of a joint_trajectory_controller, without feedback.

    Parameters
    ----------
    node
        Node that publishes.
    controller
        Resolved name of the controller.

    """

    name, refused = 'topic', False

    def __init__(self, node: Any, controller: str) -> None:
        self.target = f'{controller}/joint_trajectory'
        self._publisher = Node.create_publisher(node, JointTrajectory, self.target,
                                                QoSProfile(depth=5))

    def begin(self) -> None:
        """Prepare for a new motion; for the topic there is nothing to prepare."""

    @property
    def ready(self) -> bool:
        """Whether the topic has a subscriber."""
        return bool(self._publisher.get_subscription_count())

    def send(self, trajectory: JointTrajectory) -> None:
        """Send a trajectory, which replaces the previous one."""
        self._publisher.publish(trajectory)

    def poll_fault(self) -> Fault | None:
        """Return None: the topic has no feedback."""
        return None

    def confirm(self, at_rest: bool) -> tuple[Fault | None, str]:
        """Return no fault and an empty remark: the topic has no feedback."""
        return None, ''

    def hold(self) -> bool:
        """Return False: the topic has no message that makes the controller hold the arm."""
        return False


Transport = ActionTransport | TopicTransport


class ControllerClient:
    """
    Client of a joint_trajectory_controller.

    Parameters
    ----------
    node
        Node of the client.
    name
        Name of the controller.
    transport
        'action': the action FollowJointTrajectory. 'topic': the topic ~/joint_trajectory. 'auto':
        the action; the topic, with a warning, if control_msgs is not installed or the controller
        does not offer the action within 5 s.
    joint_names
        Joints of the arm.
    manager
        Name of the controller manager.
    scaling
        Name of the topic with the robot's speed scaling [%].
    joint_states
        Topic of the joint states.

    Raises
    ------
    ConfigurationError
        The transport 'action' needs a package that is not installed.

    """

    def __init__(self, node: Any, name: str, transport: str, joint_names: Sequence[str],
                 manager: str, scaling: str, *, joint_states: str) -> None:
        installed = message_type('control_msgs', 'action', 'FollowJointTrajectory') is not None
        if transport == 'action' and not installed:
            raise ConfigurationError(
                'transport is `action`, but control_msgs is not installed; install it '
                '(ros-DISTRO-control-msgs), or set transport to `topic`')
        self._node: Node = node
        self.name, self.transport = node.resolve_topic_name(name), transport
        self._parameters = node.create_client(GetParameters, f'{self.name}/get_parameters')
        self._topic = TopicTransport(node, self.name) if transport != 'action' else None
        self._action = None
        if transport != 'topic' and installed:
            self._action = ActionTransport(node, self.name)
        self.joint_names = tuple(joint_names)
        self._manager = ControllerManagerClient(node, manager)
        self.watchdog = BrakeWatchdog(node, self.name, manager, joint_states)
        self.monitor = ControllerMonitor(node, self.name, joint_names, scaling,
                                         self.watchdog.name)
        for package, kind, item, consequence in OPTIONAL:
            if message_type(package, kind, item) is None:
                node.get_logger().warning(f'{package} is not installed: {consequence}')

    def check(self, path_tolerance: Array) -> Transport:
        """
        Check that the controller can execute a motion, and return the transport.

        To be called from a thread beside the executor. A warning names path tolerances of the
        controller that are too small: it would stop the arm at once before a brake has ended.

        Parameters
        ----------
        path_tolerance
            Smallest suitable path tolerance of each joint, (n,) [rad or m].

        Raises
        ------
        ExecutionError
            The controller is missing, inactive or unsuitable, another client uses it, or the
            watchdog is not running.

        """
        self._manager.check(self.name, self.joint_names)
        deadline = time.monotonic() + PATIENCE
        transport = self._choose_transport(deadline)
        transport.begin()
        self._node.get_logger().info(f"trajectories are sent to '{transport.target}' by "
                                     f'{transport.name} (transport: {self.transport})')
        self._check_parameters(time.monotonic() + PATIENCE, path_tolerance)
        self.monitor.begin()
        while True:
            try:
                self.watchdog.check()
                return transport
            except ExecutionError:
                if time.monotonic() > deadline + START_UP:
                    raise
                time.sleep(0.02)

    def _check_parameters(self, deadline: float, path_tolerance: Array) -> None:
        """Raise an error if the joints or the interpolation of the controller are unsuitable."""
        # one request each, because a single unknown name empties the response
        responses = call_with_retry(self._parameters, [
            GetParameters.Request(names=[name]) for name in (
                *CHECKED, *(f'constraints.{joint}.trajectory' for joint in self.joint_names))],
            deadline)
        if responses is None:
            raise ExecutionError('controller_missing',
                                 f"the controller '{self.name}' does not respond to a request for "
                                 f'its parameter `joints`')
        joints, blends, method, *tolerances = (
            next(iter(response.values), ParameterValue()) for response in responses)
        names = list(joints.string_array_value)
        if sorted(names) != sorted(self.joint_names):
            raise ExecutionError(
                'controller_joints',
                f"the controller '{self.name}' has the joints {', '.join(names) or 'none'}, the "
                f"arm {', '.join(self.joint_names)}")
        if blends.bool_value:
            raise ExecutionError(
                'controller_rule', f"the controller '{self.name}' blends new trajectories with "
                f'the old one (ros2_controllers 6), and would brake later than planned; set its '
                f'parameter allow_trajectory_replacement to false')
        if method.string_value == 'none':
            raise ExecutionError(
                'controller_rule', f"the controller '{self.name}' does not interpolate "
                f'(interpolation_method: none), so that the reference would move in steps')
        small = [f'{joint} {value.double_value:g} (needed: {needed:.2f})' for joint, value, needed
                 in zip(self.joint_names, tolerances, path_tolerance)
                 if 0 < value.double_value < 0.99 * needed]
        if small:
            self._node.get_logger().warning(
                f"the path tolerances of '{self.name}' are so small that it stops the arm in one "
                f'step before this node has braked it: {", ".join(small)}; raise '
                f'constraints.JOINT.trajectory, or lower watch.tracking')

    def _choose_transport(self, deadline: float) -> Transport:
        """Wait until the action or the topic is available, and return its transport."""
        while time.monotonic() < deadline:
            if self._action is not None and self._action.ready:
                return self._action
            if self._action is None and self._topic is not None and self._topic.ready:
                return self._topic
            time.sleep(0.02)
        if self._topic is not None and self._topic.ready:
            self._node.get_logger().warning(
                f"'{self.name}' does not offer its action within {PATIENCE:g} s: trajectories "
                f'are sent on the topic, and it reports nothing; set transport to `action` to '
                f'refuse this')
            return self._topic
        targets = [repr(transport.target) for transport in (self._action, self._topic)
                   if transport is not None]
        raise ExecutionError(
            'controller_missing',
            f"nobody offers {' or '.join(targets)}; check that the controller is active and that "
            f'the parameter `controller` is its name')
