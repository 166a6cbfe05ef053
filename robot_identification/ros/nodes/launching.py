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
"""Building blocks of the launch files; only launch files may import it (it needs launch_ros)."""

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
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node, PushRosNamespace
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.robot_keys import Driver
from robot_identification.files import shared_folder
from robot_identification.ros.controllers_file import CONTROLLERS
from robot_identification.ros.nodes import launch_arguments
from robot_identification.ros.nodes.parameters import with_tf_prefix

PACKAGE = 'robot_identification'
ArgumentReader = Callable[[str], str]
"""Returns the value of a launch argument."""


def declare_arguments(names: Any, **defaults: str) -> list[DeclareLaunchArgument]:
    """Return the declarations of launch arguments; `defaults` override their default values."""
    return [DeclareLaunchArgument(**argument)
            for argument in launch_arguments.arguments(*names, **defaults)]


def make_node(executable: str, names: Any) -> Node:
    """
    Return a node of this package.

    Parameters
    ----------
    executable
        Name of its executable.
    names
        Names of launch arguments. Those in `NODE_PARAMETERS` and `BOOLEAN_PARAMETERS` are passed
        to the node as parameters.

    """
    parameters: dict[str, Any] = {name: LaunchConfiguration(name) for name in names
                                  if name in launch_arguments.NODE_PARAMETERS}
    parameters.update({name: ParameterValue(LaunchConfiguration(name), value_type=bool)
                       for name in names if name in launch_arguments.BOOLEAN_PARAMETERS})
    files: list[Any] = [LaunchConfiguration('nodes_file')]
    if 'sim' in names:
        files.append(_simulation_file())
    return Node(package=PACKAGE, executable=executable, output='screen',
                namespace=LaunchConfiguration('namespace'), parameters=[*files, parameters])


def _simulation_file() -> PythonExpression:
    """Return the file with the parameters of a simulation; without one, `nodes_file` again."""
    paths = {sim: str(shared_folder('config') / name)
             for sim, name in launch_arguments.SIMULATION_PARAMETERS.items()}
    return PythonExpression([repr(paths), ".get('", LaunchConfiguration('sim'), "', '",
                             LaunchConfiguration('nodes_file'), "')"])


def node_description(name: str, executable: str, **defaults: str) -> LaunchDescription:
    """
    Return the description of a launch file that starts a single node.

    Parameters
    ----------
    name
        Name of the launch file in `NODE_FILES`, which states its arguments.
    executable
        Name of the node's executable.
    defaults
        Default values that replace those in `ARGUMENTS`, by name.

    """
    names = launch_arguments.NODE_FILES[name]
    return LaunchDescription([*declare_arguments(names, **defaults),
                              make_node(executable, names)])


def with_argument_values(function: Callable[[ArgumentReader], list[Any]]) -> OpaqueFunction:
    """
    Return a launch action that creates entities from the values of the launch arguments.

    Parameters
    ----------
    function
        Returns the entities; it is called with a function that returns the value of an argument.

    """
    def make_entities(context: Any) -> list[Any]:
        return function(lambda name: str(LaunchConfiguration(name).perform(context)))
    return OpaqueFunction(function=make_entities)


def load_requested_arm(value: ArgumentReader) -> Arm:
    """Return the arm selected by the launch arguments `robot` and `tf_prefix`."""
    return with_tf_prefix(load_arm(value('robot')), value('tf_prefix'))


def make_temporary_folder() -> Path:
    """Create a folder for files that the launched nodes read, and return its path."""
    return Path(tempfile.mkdtemp(prefix='robot_identification_'))


def include_launch_file(name: str, values: Mapping[str, Any], package: str = PACKAGE,
                        **options: Any) -> IncludeLaunchDescription:
    """
    Return an action that includes a launch file.

    Parameters
    ----------
    name
        Name of the file in the folder `launch` of the package.
    values
        Arguments of the launch file by name.
    package
        Package of the launch file.
    options
        Further options of the action, such as its condition.

    """
    path = PathJoinSubstitution([FindPackageShare(package), 'launch', name])
    return IncludeLaunchDescription(AnyLaunchDescriptionSource(path),
                                    launch_arguments=values.items(), **options)


def include_vendor_file(package: str, file: str, values: Mapping[str, str],
                        namespace: str = '') -> GroupAction:
    """
    Return an action that includes a launch file of another package in its own scope.

    The file receives the arguments `values` only, and no argument of the including launch file.

    Parameters
    ----------
    package, file
        Package of the launch file, and name of the file in the folder `launch`.
    values
        Arguments of the launch file by name.
    namespace
        Namespace of the nodes.

    """
    space = [PushRosNamespace(namespace)] if namespace.strip('/') else []
    return GroupAction([*space, include_launch_file(file, values, package)],
                       scoped=True, forwarding=False)


def family_description(family: launch_arguments.Family) -> LaunchDescription:
    """
    Return the description of a vendor's launch file, which includes identify.launch.py.

    Parameters
    ----------
    family
        The vendor's arms and the arguments of their driver.

    """
    robot = LaunchConfiguration(family.choice) if family.choice else family.robots[0]
    driver_arguments: list[Any] = []
    for name in family.arguments:
        driver_arguments += [f' {name}:=', LaunchConfiguration(name)]
    values = {'robot': robot, 'driver_arguments': driver_arguments or '',
              **{name: LaunchConfiguration(name) for name in launch_arguments.FAMILY_ARGUMENTS}}
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument)
          for argument in launch_arguments.family_arguments(family)),
        GroupAction([include_launch_file('identify.launch.py', values)])])


def use_sim_time_value() -> PythonExpression:
    """
    Return whether a node follows /clock, as 'true' or 'false'; 'true' if it is simulated.

    Only the node that moves the arm and the simulation itself need the time. A node in Python
    spends a fifth of a core on the messages of /clock.
    """
    return PythonExpression(["'true' if '", LaunchConfiguration('sim'), "' in ('gazebo', "
                             "'mujoco_control') else '", LaunchConfiguration('use_sim_time'), "'"])


def command_interface(value: ArgumentReader) -> str:
    """Return the command interface of a simulation; by default effort in Gazebo, else position."""
    return value('command_interface') or (
        'effort' if value('sim') == 'gazebo' else 'position')


def driver_values(value: ArgumentReader) -> dict[str, str]:
    """
    Return the values of the launch arguments in `FROM_ROBOT_YAML`, by name.

    A launch argument that is not empty overrides the value in the robot YAML. For a simulated arm,
    the controller and topics of the simulation replace those in the robot YAML.
    """
    arm = load_requested_arm(value)
    driver = arm.driver if value('sim') == 'none' else None
    if driver is None:
        driver = Driver(controller=CONTROLLERS[command_interface(value)], rate=0.0)
    defaults = {'controller': driver.controller, 'joint_states': driver.joint_states,
                'controller_manager': driver.controller_manager, 'driver': driver.launch,
                'spawn_controller': str(driver.spawn).lower()}
    return {name: value(name) or default.replace('{tf_prefix}', arm.tf_prefix)
            for name, default in defaults.items()}
