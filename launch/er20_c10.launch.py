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
"""Bring up and identify the EFORT ER20-C10 (representative geometry), simulated."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    """Include identify.launch.py with what this arm needs."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'sim', default_value='mujoco', choices=['mujoco', 'gazebo', 'mock'],
            description='Where the arm is simulated; see identify.launch.py.'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution(
                [FindPackageShare('robot_identification'), 'launch', 'identify.launch.py'])),
            launch_arguments={
                'robot': 'er20_c10',
                'sim': LaunchConfiguration('sim'),
                'autostart': 'true',
            }.items()),
    ])
