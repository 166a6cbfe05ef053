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
"""Bring up and identify an arm of Universal Robots; real by default."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    """Include identify.launch.py with what this arm and its driver need."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'ur_type', default_value='ur5e', choices=['ur5e', 'ur10e'],
            description='Which arm: a robot of that name is shipped.'),
        DeclareLaunchArgument(
            'sim', default_value='none', choices=['mujoco', 'gazebo', 'mock', 'none'],
            description='none: the real arm; else where it is simulated, see identify.launch.py.'),
        DeclareLaunchArgument(
            'robot_ip', default_value='',
            description='Address of the arm; empty when its driver runs already.'),
        DeclareLaunchArgument(
            'headless_mode', default_value='false', choices=['true', 'false'],
            description="As ur_robot_driver's argument: send the program instead of the URCap."),
        DeclareLaunchArgument(
            'use_currents_as_efforts', default_value='false', choices=['true', 'false'],
            description="As ur_robot_driver's argument; with true the robot YAML must say "
            'current.'),
        DeclareLaunchArgument(
            'launch_rviz', default_value='false', choices=['true', 'false'],
            description="As ur_robot_driver's argument."),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution(
                [FindPackageShare('robot_identification'), 'launch', 'identify.launch.py'])),
            launch_arguments={
                'robot': LaunchConfiguration('ur_type'),
                'sim': LaunchConfiguration('sim'),
                'robot_ip': LaunchConfiguration('robot_ip'),
                'driver': 'ur_robot_driver/ur_control.launch.py',
                'driver_arguments': [
                    'ur_type:=', LaunchConfiguration('ur_type'),
                    ' headless_mode:=', LaunchConfiguration('headless_mode'),
                    ' use_currents_as_efforts:=', LaunchConfiguration('use_currents_as_efforts'),
                    ' launch_rviz:=', LaunchConfiguration('launch_rviz')],
                'controller': _when_real(
                    'scaled_joint_trajectory_controller', 'joint_trajectory_controller'),
            }.items()),
    ])


def _when_real(value, otherwise):
    return PythonExpression([
        f"'{value}' if '", LaunchConfiguration('sim'), f"' == 'none' else '{otherwise}'"])
