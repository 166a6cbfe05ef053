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
"""Parameters of nodes, declared with description and range and checked at start-up."""

import dataclasses
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from robot_identification.arm import Arm, load_arm
from robot_identification.dynamics import IdentifiedModel
from robot_identification.dynamics.model_file import load_model
from robot_identification.errors import ConfigurationError
from robot_identification.ros.execution.data_directory import DataDirectory


def declare(node: Node, name: str, default: Any, description: str, *, read_only: bool = True,
            lower: float | None = None, upper: float | None = None) -> Any:
    """
    Declare a parameter and return its value.

    Parameters
    ----------
    node
        Node of the parameter.
    name
        Name of the parameter.
    default
        Default value, whose type is the type of the parameter.
    description
        Description, with the unit in brackets.
    read_only
        Whether the value cannot be changed after start-up.
    lower, upper
        Smallest and largest allowed value of a number.

    Raises
    ------
    ConfigurationError
        The value that the user has set has another type or is out of range.

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


def declare_all(node: Node, prefix: str, default: Any,
                table: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """
    Declare a parameter for each field of a dataclass, and return their values by name.

    Parameters
    ----------
    node
        Node of the parameters.
    prefix
        Prefix of their names.
    default
        Object with the default values.
    table
        For each field its description, and the smallest and largest value of a number.

    """
    return {name: declare(node, f'{prefix}.{name}', getattr(default, name), text,
                          **dict(zip(('lower', 'upper'), limits)))
            for name, (text, *limits) in table.items()}


def declare_required(node: Node, name: str, description: str) -> str:
    """
    Declare a string parameter that the user must set, and return its value.

    Raises
    ------
    ConfigurationError
        The parameter is not set.

    """
    value = declare(node, name, '', description)
    if not value:
        raise ConfigurationError(f"the node '{node.get_name()}' needs the parameter '{name}': "
                                 f'{description}')
    return str(value)


def declare_data_directory(node: Node, contents: str) -> DataDirectory:
    """Declare the parameter `data_directory` for `contents`, and return the folder."""
    return DataDirectory(declare(node, 'data_directory', '~/robot_identification',
                                 f'folder of {contents}'))


def declare_joint_states(node: Node) -> str:
    """Declare the parameter `joint_states` and return the name of the topic."""
    return str(declare(node, 'joint_states', 'joint_states', 'topic of the joint states'))


def declare_prefix(node: Node) -> str:
    """Declare the parameter `tf_prefix` and return its value."""
    return str(declare(node, 'tf_prefix', '', 'prefix of joint and link names in ROS; empty: that '
                       'of the robot YAML or model'))


def declare_arm(node: Node) -> Arm:
    """Declare the parameters `robot` and `tf_prefix`, and return the arm."""
    arm = load_arm(declare_required(
        node, 'robot', 'name of a shipped robot, or path of a robot YAML'))
    return with_tf_prefix(arm, declare_prefix(node))


def declare_model(node: Node, data: DataDirectory) -> IdentifiedModel:
    """Declare the parameters `model` and `tf_prefix`, and return the model."""
    path = data.existing(
        declare_required(node, 'model', 'model file in the data directory'), 'model')
    return load_prefixed_model(path, declare_prefix(node))


def with_tf_prefix(arm: Arm, prefix: str) -> Arm:
    """Return the arm with another TF prefix; an empty prefix leaves the arm unchanged."""
    return dataclasses.replace(arm, tf_prefix=prefix) if prefix else arm


def load_prefixed_model(path: Path, prefix: str) -> IdentifiedModel:
    """Load a model; a prefix that is not empty replaces the TF prefix of its arm."""
    model = load_model(path)
    return dataclasses.replace(model, arm=with_tf_prefix(model.arm, prefix))
