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
"""Parameters of nodes: declared with description and range, checked at start-up."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from robot_identification.arm import Arm, load_arm
from robot_identification.dynamics import IdentifiedModel, load_model
from robot_identification.errors import ConfigurationError


def declare(node: Node, name: str, default: Any, description: str, *, read_only: bool = True,
            lower: float | None = None, upper: float | None = None) -> Any:
    """
    Declare a parameter and return its value.

    Parameters
    ----------
    node
        Node that has the parameter.
    name
        Name of the parameter.
    default
        Its value where none is given; its type is the parameter's.
    description
        With the unit in brackets.
    read_only
        Whether it is fixed at start-up.
    lower, upper
        Range of a number.

    Raises
    ------
    ConfigurationError
        The value given is of another type or out of range.

    """
    descriptor = ParameterDescriptor(description=description, read_only=read_only)
    if lower is not None and upper is not None:
        if isinstance(default, int):
            descriptor.integer_range = [IntegerRange(from_value=int(lower), to_value=int(upper))]
        else:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(lower), to_value=float(upper))]
    try:
        return node.declare_parameter(name, default, descriptor).value
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        bounds = '' if lower is None else f', between {lower:g} and {upper:g}'
        raise ConfigurationError(
            f"the parameter '{name}' of the node '{node.get_name()}' must be of the type "
            f'{type(default).__name__}{bounds} ({description}): {error}') from error


def required(node: Node, name: str, description: str) -> str:
    """
    Declare a text that must be given.

    Raises
    ------
    ConfigurationError
        It was not given.

    """
    value = declare(node, name, '', description)
    if not value:
        raise ConfigurationError(f"the node '{node.get_name()}' needs the parameter '{name}': "
                                 f'{description}')
    return str(value)


def declared_arm(node: Node) -> Arm:
    """Declare the parameters `robot` and `tf_prefix`, and return the arm."""
    arm = load_arm(required(node, 'robot', 'name of a shipped robot, or path of a robot YAML'))
    return prefixed(arm, declared_prefix(node))


def declared_prefix(node: Node) -> str:
    """Declare the parameter `tf_prefix` and return it."""
    return str(declare(node, 'tf_prefix', '', 'before the names of joints and links in ROS; that '
                       'of the robot YAML or model when empty'))


def prefixed(arm: Arm, prefix: str) -> Arm:
    """Return the arm with another prefix, or as it is where that is empty."""
    return dataclasses.replace(arm, tf_prefix=prefix) if prefix else arm


def prefixed_model(path: Path, prefix: str) -> IdentifiedModel:
    """Return the model of a file for an arm with another prefix, or as it is without one."""
    model = load_model(path)
    return dataclasses.replace(model, arm=prefixed(model.arm, prefix))


def declared_model(node: Node, path: Path) -> IdentifiedModel:
    """Declare the parameter `tf_prefix` and return a model for that arm."""
    return prefixed_model(path, declared_prefix(node))
