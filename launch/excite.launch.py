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
"""Start the node that moves the arm along an excitation."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

PACKAGE = 'robot_identification'


def generate_launch_description():
    """Declare the arguments and start the node."""
    node = Node(
        package=PACKAGE, executable='excitation', output='screen',
        parameters=[LaunchConfiguration('nodes_file'), {
            'robot': LaunchConfiguration('robot'),
            'data_directory': LaunchConfiguration('data_directory'),
            'joint_states': LaunchConfiguration('joint_states'),
            'controller': LaunchConfiguration('controller'),
            'autostart': ParameterValue(LaunchConfiguration('autostart'), value_type=bool),
            'use_sim_time': ParameterValue(
                LaunchConfiguration('use_sim_time'), value_type=bool)}],
    )
    return LaunchDescription([
        DeclareLaunchArgument(
            'robot', description='Shipped robot (see: robot-identification robots), or the path '
            'of a robot YAML.'),
        DeclareLaunchArgument(
            'joint_states', default_value='joint_states',
            description='Topic of the joint states; take the one that the driver itself '
            'publishes.'),
        DeclareLaunchArgument(
            'controller', default_value='joint_trajectory_controller',
            description='Joint trajectory controller that moves the arm.'),
        DeclareLaunchArgument(
            'autostart', default_value='false', choices=['true', 'false'],
            description='Whether to activate the node at once. Only an active node moves the arm: '
            'leave it false for a real one and activate it with ros2 lifecycle.'),
        DeclareLaunchArgument(
            'data_directory', default_value='~/robot_identification',
            description='Folder of excitations, recordings and results; nodes read and write '
            'nothing outside it.'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', choices=['true', 'false'],
            description='Whether the node follows /clock.'),
        DeclareLaunchArgument(
            'nodes_file', default_value=PathJoinSubstitution(
                [FindPackageShare(PACKAGE), 'config', 'nodes.yaml']),
            description='YAML with the parameters of the nodes.'),
        node,
    ])
