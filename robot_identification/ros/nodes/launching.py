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
"""What the launch files consist of; imported by them alone, for it needs launch and launch_ros."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
import tempfile
from typing import Any

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_description_sources import (
    AnyLaunchDescriptionSource,
    PythonLaunchDescriptionSource,
)
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.robot_keys import Driver
from robot_identification.ros.nodes.launch_arguments import (
    arguments,
    AT_WORK,
    FAMILY,
    Family,
    family_arguments,
    PARAMETERS,
    PARTS,
    SWITCHES,
)
from robot_identification.ros.nodes.parameters import with_tf_prefix

PACKAGE = 'robot_identification'
SIMULATED = 'joint_trajectory_controller'
Value = Callable[[str], str]


def declared(names: Any, **defaults: str) -> list[DeclareLaunchArgument]:
    """Return the arguments of these names, some with other defaults."""
    return [DeclareLaunchArgument(**argument) for argument in arguments(*names, **defaults)]


def own_node(executable: str, names: Any, **values: Any) -> Node:
    """
    Return a node of this package.

    Parameters
    ----------
    executable
        Its name.
    names
        Launch arguments that are parameters of the node.
    values
        Parameters that are not those of the arguments of their names.

    """
    given: dict[str, Any] = {name: LaunchConfiguration(name) for name in names
                             if name in PARAMETERS}
    given.update({name: ParameterValue(LaunchConfiguration(name), value_type=bool)
                  for name in names if name in SWITCHES})
    return Node(package=PACKAGE, executable=executable, output='screen',
                namespace=LaunchConfiguration('namespace'),
                parameters=[LaunchConfiguration('nodes_file'), {**given, **values}])


def node_description(part: str, executable: str, **defaults: str) -> LaunchDescription:
    """Return the description of a launch file that is one node, some arguments by default."""
    names = {**PARTS, **AT_WORK}[part]
    return LaunchDescription([*declared(names, **defaults), own_node(executable, names)])


def opaque(function: Callable[[Value], list[Any]]) -> OpaqueFunction:
    """Return an action that is made from the values of the arguments."""
    def make(context: Any) -> list[Any]:
        return function(lambda name: str(LaunchConfiguration(name).perform(context)))
    return OpaqueFunction(function=make)


def arm_of(value: Value) -> Arm:
    """Return the arm that the arguments `robot` and `tf_prefix` name."""
    return with_tf_prefix(load_arm(value('robot')), value('tf_prefix'))


def folder() -> Path:
    """Return a folder for files that live as long as the launch."""
    return Path(tempfile.mkdtemp(prefix='robot_identification_'))


def included(name: str, values: Mapping[str, Any], **options: Any) -> IncludeLaunchDescription:
    """Return a launch file of this package with its arguments."""
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(PathJoinSubstitution(
            [FindPackageShare(PACKAGE), 'launch', f'{name}.launch.py'])),
        launch_arguments=values.items(), **options)


def vendors_file(package: str, file: str, values: Mapping[str, str],
                 namespace: str = '') -> GroupAction:
    """
    Return a launch file of another package, which sees its own arguments alone.

    Parameters
    ----------
    package, file
        Its package, and its name in the folder launch.
    values
        Its arguments by name.
    namespace
        Namespace of its nodes.

    """
    include = IncludeLaunchDescription(
        AnyLaunchDescriptionSource(PathJoinSubstitution(
            [FindPackageShare(package), 'launch', file])), launch_arguments=values.items())
    space = [PushRosNamespace(namespace)] if namespace.strip('/') else []
    return GroupAction([*space, include], scoped=True, forwarding=False)


def family_description(family: Family) -> LaunchDescription:
    """
    Return identify.launch.py for the arms of a vendor, real by default.

    Parameters
    ----------
    family
        Its arms, and the arguments of its driver that are passed on.

    """
    robot = LaunchConfiguration(family.choice) if family.choice else family.robots[0]
    words: list[Any] = []
    for name in family.arguments:
        words += [f' {name}:=', LaunchConfiguration(name)]
    values = {'robot': robot, 'driver_arguments': words or '',
              **{name: LaunchConfiguration(name) for name in FAMILY}}
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument) for argument in family_arguments(family)),
        GroupAction([included('identify', values)])])


def sim_time() -> PythonExpression:
    """Return whether nodes follow /clock: as they are told, and always in Gazebo."""
    return PythonExpression(["'true' if '", LaunchConfiguration('sim'), "' == 'gazebo' else '",
                             LaunchConfiguration('use_sim_time'), "'"])


def resolved(value: Value) -> dict[str, str]:
    """
    Return controller, topic of the joint states and driver, as the robot YAML has them.

    What an argument says goes before; a simulated arm has the names of the simulation.
    """
    arm = arm_of(value)
    driver = arm.driver if value('sim') == 'none' else None
    if driver is None:
        driver = Driver(controller=SIMULATED, rate=0.0)
    named = {'controller': driver.controller, 'joint_states': driver.joint_states,
             'controller_manager': driver.controller_manager, 'driver': driver.launch,
             'spawn_controller': str(driver.spawn).lower()}
    return {name: value(name) or default.replace('{tf_prefix}', arm.tf_prefix)
            for name, default in named.items()}
