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
"""Identify a running arm without a robot YAML, from the URDF on its topic robot_description."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, LogInfo
from launch.substitutions import LaunchConfiguration
from robot_identification.ros.nodes.description import receive_description, write_robot_yaml
from robot_identification.ros.nodes.launch_arguments import all_argument_names, generic_arguments
from robot_identification.ros.nodes.launching import include_launch_file, with_argument_values


def generate_launch_description():
    """Declare the arguments, receive the URDF and include identify.launch.py."""
    declared = [DeclareLaunchArgument(**argument) for argument in generic_arguments()]
    return LaunchDescription([*declared, GroupAction([with_argument_values(_identify)])])


def _identify(value):
    """Return the actions; unless `robot` is given, a robot YAML is written from the URDF."""
    robot, locked = value('robot'), ()
    if not robot:
        urdf, joints = receive_description(value('description'), value('controller'),
                                           value('namespace'))
        path = Path(value('data_directory')).expanduser() / 'described' / (
            f'{value("namespace").strip("/").replace("/", "_") or "robot"}.yaml')
        locked = write_robot_yaml(urdf, joints, path, value('effort'),
                                  float(value('acceleration')))
        robot = str(path)
    values = {name: LaunchConfiguration(name) for name in all_argument_names()}
    return [LogInfo(msg=f"robot '{robot}'; locked joints: {', '.join(locked) or 'none'}"),
            include_launch_file('identify.launch.py', {**values, 'robot': robot, 'sim': 'none'})]
