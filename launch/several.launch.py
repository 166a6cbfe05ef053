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
"""Bring up several arms in one system, each in its namespace; in Gazebo, in one simulation."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction
from launch.substitutions import LaunchConfiguration
from robot_identification.arm import load_arm
from robot_identification.arm.inertia_check import last_joint_reach
from robot_identification.ros.nodes.launch_arguments import several_arguments
from robot_identification.ros.nodes.launching import include_launch_file, with_argument_values

GAP = 0.5    # [m] between the spheres that neighbouring arms can reach


def generate_launch_description():
    """Declare the arguments and include identify.launch.py for every arm."""
    declared = [DeclareLaunchArgument(**argument) for argument in several_arguments()]
    return LaunchDescription([*declared, with_argument_values(_bring_up)])


def _bring_up(value):
    """Return the actions of all arms, which stand in a row; the first one starts Gazebo."""
    robots, namespaces = value('robots').split(), value('namespaces').split()
    if len(robots) != len(namespaces) or len(set(namespaces)) < len(namespaces):
        raise RuntimeError(f'robots:="{value("robots")}" needs as many different namespaces, not '
                           f'"{value("namespaces")}"')
    common = {argument['name']: LaunchConfiguration(argument['name'])
              for argument in several_arguments()[2:]}
    actions, x, previous = [], 0.0, None
    for robot, namespace in zip(robots, namespaces):
        own = last_joint_reach(load_arm(robot))
        x += 0.0 if previous is None else previous + own + GAP
        values = {**common, 'robot': robot, 'namespace': namespace,
                  'tf_prefix': f'{namespace.strip("/").replace("/", "_")}_',
                  'base_position': f'{x:.3g} 0',
                  'start_gazebo': 'true' if previous is None else 'false'}
        actions.append(GroupAction([include_launch_file('identify.launch.py', values)]))
        previous = own
    return actions
