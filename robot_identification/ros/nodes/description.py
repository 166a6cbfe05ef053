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
"""Robot YAML for a running arm, from the URDF that it publishes and its controller's joints."""

from collections.abc import Sequence
import dataclasses
from pathlib import Path
import time
from typing import Any

import numpy as np
from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.validate_topic_name import validate_topic_name
from robot_identification.arm import load_arm
from robot_identification.arm.arm_chain import ArmChoice
from robot_identification.arm.robot_template import (
    parse_effort,
    read_description,
    robot_template,
)
from robot_identification.arm.urdf import MOVING, parse_urdf
from robot_identification.errors import ConfigurationError
from robot_identification.files import write_text
from robot_identification.ros.bringup import remove_ros2_control
from robot_identification.ros.nodes.messages import LATCHED
from robot_identification.ros.nodes.service_calls import START_UP
from std_msgs.msg import String


def receive_description(topic: str, controller: str, namespace: str = '',
                        patience: float = START_UP) -> tuple[str, tuple[str, ...]]:
    """
    Return the URDF published on a topic, and the joints of a controller.

    If the controller does not respond, the tuple of joints is empty.

    Parameters
    ----------
    topic, controller
        Names of the topic and of the controller, relative to the namespace.
    namespace
        Namespace of the robot.
    patience
        Longest wait for the URDF [s].

    Raises
    ------
    ConfigurationError
        A name is invalid, or no URDF was published in time.

    """
    for name in (topic, controller):
        try:
            validate_topic_name(name)
        except NameValidationException as error:
            raise ConfigurationError(f"'{name}' is not a valid name of a ROS topic") from error
    context = rclpy.Context()
    rclpy.init(context=context, args=[])
    node = Node('robot_identification_description', namespace=namespace, context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    received: list[str] = []
    node.create_subscription(
        String, topic, lambda message: received.append(message.data), LATCHED)
    client = node.create_client(
        GetParameters, f'{node.resolve_topic_name(controller)}/get_parameters')
    future: Any = None
    deadline = time.monotonic() + patience
    try:
        while time.monotonic() < deadline and not (
                received and future is not None and future.done()):
            executor.spin_once(timeout_sec=0.05)
            if received and future is None:
                deadline = min(deadline, time.monotonic() + 3.0)
            if future is None and client.service_is_ready():
                future = client.call_async(GetParameters.Request(names=['joints']))
        if not received:
            raise ConfigurationError(
                f"nobody published a description on '{node.resolve_topic_name(topic)}' within "
                f'{patience:g} s; start the driver (or robot_state_publisher) first')
        values = future.result().values if future is not None and future.done() else []
        return received[-1], tuple(values[0].string_array_value) if values else ()
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


def save_description(urdf: str, joints: Sequence[str], path: Path) -> None:
    """
    Write a URDF to a file, without ros2_control tags, transmissions and Gazebo plugins.

    Parameters
    ----------
    urdf
        URDF text.
    joints
        Joints of the controller; empty if unknown.
    path
        Path of the file.

    Raises
    ------
    ConfigurationError
        A joint of the controller is not in the URDF.
    ArmError
        The text is not a URDF.

    """
    known = [joint.get('name', '') for joint in
             parse_urdf(urdf, 'the robot description').findall('joint')
             if joint.get('type') in MOVING]
    unknown = [name for name in joints if name not in known]
    if unknown:
        raise ConfigurationError(f"the controller's joints {', '.join(unknown)} are not in the "
                                 f"robot description, which has: {', '.join(known)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, remove_ros2_control(urdf))


def write_robot_yaml(urdf: str, joints: Sequence[str], path: Path, effort: str,
                     acceleration: float) -> tuple[str, ...]:
    """
    Write a robot YAML with a URDF beside it, and return the names of the locked joints.

    Parameters
    ----------
    urdf
        URDF text.
    joints
        Joints of the controller; all other joints are locked. If empty, the joints of the longest
        chain are used.
    path
        Path of the YAML file.
    effort
        Meaning of the published effort, such as torque,joint,+1,gravity; if empty, the user must
        enter it in the file.
    acceleration
        Acceleration limit of every joint [rad/s^2 or m/s^2].

    Raises
    ------
    ConfigurationError
        A joint of the controller is not in the URDF, the acceleration is not positive, or the
        effort is invalid.
    ArmError
        The URDF cannot be used.

    """
    if not acceleration > 0:
        raise ConfigurationError('set acceleration:= the limit of every joint [rad/s^2], which a '
                                 'URDF does not contain')
    target = path.with_suffix('.urdf')
    save_description(urdf, joints, target)
    description = read_description(target, ArmChoice(moving=joints))
    limits = dataclasses.replace(description.arm.limits,
                                 acceleration=np.full(description.arm.n, acceleration))
    write_text(path, robot_template(description, path.parent, limits=limits,
                                    effort=parse_effort(effort) if effort else None))
    return tuple(load_arm(path).locked)
