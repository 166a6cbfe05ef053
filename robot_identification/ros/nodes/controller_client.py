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
"""The controller, as the excitation node talks to it."""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.errors import ConfigurationError, ExecutionError
from robot_identification.ros.execution import Fault
from robot_identification.ros.nodes.asking import answers_of
from robot_identification.ros.nodes.control_messages import message_type
from robot_identification.ros.nodes.controller_ear import ControllerEar
from robot_identification.ros.nodes.controller_manager import ControllerManagerClient
from robot_identification.ros.nodes.dead_man import DeadMan
from robot_identification.ros.nodes.follow_joint_trajectory import ActionTransport
from trajectory_msgs.msg import JointTrajectory

PATIENCE = 5.0  # [s]
PREFERENCE = 1.0  # [s] for which `auto` waits for the action where the topic is there already
COMING = 15.0  # [s] more for the dead man's process, on a busy computer
ASKED = ('joints', 'allow_trajectory_replacement', 'interpolation_method')
OPTIONAL = (
    ('control_msgs', 'action', 'FollowJointTrajectory', "the controller's reference is not heard, "
     'and the arm is moved by the topic alone'),
    ('controller_manager_msgs', 'srv', 'ListControllers', 'nobody is asked whether the controller '
     'is active'))
TRANSPORTS = ('auto', 'action', 'topic')


class TopicTransport:
    """
    Hands pieces to a joint_trajectory_controller over its topic, which says nothing back.

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
        """Begin a motion."""

    @property
    def ready(self) -> bool:
        """Whether somebody listens."""
        return bool(self._publisher.get_subscription_count())

    def send(self, trajectory: JointTrajectory) -> None:
        """Send a trajectory, which replaces the one before."""
        self._publisher.publish(trajectory)

    def news(self) -> Fault | None:
        """Return None: the topic says nothing back."""
        return None

    def confirm(self, at_rest: bool) -> tuple[Fault | None, str]:
        """Return nothing: the topic says nothing back."""
        return None, ''

    def hold(self) -> bool:
        """Return False: whatever is sent on the topic is a trajectory."""
        return False


Transport = ActionTransport | TopicTransport


class ControllerClient:
    """
    Talks to a joint_trajectory_controller.

    Parameters
    ----------
    node
        Node that talks to the controller.
    name
        Name of the controller.
    transport
        'action': FollowJointTrajectory; 'topic': ~/joint_trajectory; 'auto': the action where
        control_msgs is installed and the controller offers it, else the topic.
    joint_names
        Joints of the arm.
    manager
        Name of the controller manager.
    scaling
        Topic of the robot's speed scaling [%].

    Raises
    ------
    ConfigurationError
        There is no such transport.

    """

    def __init__(self, node: Any, name: str, transport: str, joint_names: Sequence[str],
                 manager: str, scaling: str) -> None:
        if transport not in TRANSPORTS:
            raise ConfigurationError(f"there is no transport '{transport}'; there is: "
                                     f"{', '.join(TRANSPORTS)}")
        self._node: Node = node
        self.name, self.transport = node.resolve_topic_name(name), transport
        self._parameters = node.create_client(GetParameters, f'{self.name}/get_parameters')
        self._topic = TopicTransport(node, self.name) if transport != 'action' else None
        self._action = None
        if transport != 'topic' and message_type(
                'control_msgs', 'action', 'FollowJointTrajectory') is not None:
            self._action = ActionTransport(node, self.name)
        self.joint_names = tuple(joint_names)
        self._manager = ControllerManagerClient(node, manager)
        self.ear = ControllerEar(node, self.name, joint_names, scaling)
        for package, kind, item, without in OPTIONAL:
            if message_type(package, kind, item) is None:
                node.get_logger().warning(f'{package} is not installed: {without}')
        self.dead_man = DeadMan(node, f'{self.name}/joint_trajectory')

    @property
    def lacks(self) -> str:
        """What the asked transport lacks on this computer; empty where it lacks nothing."""
        if self.transport == 'action' and self._action is None:
            return ('transport is `action`, but control_msgs is not installed; install it '
                    '(ros-DISTRO-control-msgs), or set transport to `topic`')
        return ''

    def check(self) -> Transport:
        """
        Choose the transport, and look at the controller; called from a thread.

        Returns
        -------
        Transport
            By which it is told.

        Raises
        ------
        ExecutionError
            What is not as it must be for a motion to begin.

        """
        if self.lacks:
            raise ExecutionError('controller_missing', self.lacks)
        self._manager.check(self.name, self.joint_names)
        latest = time.monotonic() + PATIENCE
        link = self._chosen(latest)
        link.begin()
        self._node.get_logger().info(f"sends to '{link.target}' by the {link.name} (transport: "
                                     f'{self.transport})')
        self._check_parameters(time.monotonic() + PATIENCE)
        self.ear.begin()
        while True:
            try:
                self.dead_man.check()
                return link
            except ExecutionError:
                if time.monotonic() > latest + COMING:
                    raise
                time.sleep(0.02)

    def _check_parameters(self, latest: float) -> None:
        answers = answers_of(self._parameters, [    # one each: an unknown one empties an answer
            GetParameters.Request(names=[name]) for name in ASKED], latest)
        if answers is None:
            raise ExecutionError('controller_missing',
                                 f"the controller '{self.name}' does not answer when asked for "
                                 f'its parameter `joints`')
        joints, blends, method = (next(iter(answer.values), ParameterValue())
                                  for answer in answers)
        names = list(joints.string_array_value)
        if sorted(names) != sorted(self.joint_names):
            raise ExecutionError(
                'controller_joints',
                f"the controller '{self.name}' has the joints {', '.join(names) or 'none'}, the "
                f"arm {', '.join(self.joint_names)}")
        if blends.bool_value:
            raise ExecutionError(
                'controller_rule', f"the controller '{self.name}' blends new trajectories with "
                f'the old one (ros2_controllers 6), and would not brake where it is told to; '
                f'set its parameter allow_trajectory_replacement to false')
        if method.string_value == 'none':
            raise ExecutionError(
                'controller_rule', f"the controller '{self.name}' does not interpolate "
                f'(interpolation_method: none), it would go from point to point in steps')

    def _chosen(self, latest: float) -> Transport:
        preferred = time.monotonic() + PREFERENCE
        while time.monotonic() < latest:
            if self._action is not None and self._action.ready:
                return self._action
            waiting = self._action is not None and time.monotonic() < preferred
            if self._topic is not None and self._topic.ready and not waiting:
                return self._topic
            time.sleep(0.02)
        targets = [repr(link.target) for link in (self._action, self._topic) if link is not None]
        raise ExecutionError(
            'controller_missing',
            f"nobody offers {' or '.join(targets)}; is the controller active, and the parameter "
            f'`controller` its name?')
