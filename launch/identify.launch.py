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
"""Bring up an arm and everything that identifies it: excite, record, identify, validate."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from robot_identification.nodes.launch_arguments import all_arguments, arguments, PARTS

PACKAGE = 'robot_identification'


def generate_launch_description():
    """Declare the arguments, bring the arm up and start the nodes."""
    declared = [DeclareLaunchArgument(**argument)
                for argument in arguments(*all_arguments(), robot='panda')]
    identification = Node(
        package=PACKAGE, executable='identification', output='screen',
        parameters=[LaunchConfiguration('nodes_file'), {
            'robot': LaunchConfiguration('robot'),
            'data_directory': LaunchConfiguration('data_directory'),
            'use_sim_time': ParameterValue(_sim_time(), value_type=bool)}])
    return LaunchDescription([
        *declared,
        _include('robot'),
        _include('excite'),
        _include('record'),
        identification,
        _include('validate'),
        _include('online', condition=IfCondition(LaunchConfiguration('online'))),
    ])


def _sim_time():
    return PythonExpression([
        "'true' if '", LaunchConfiguration('sim'), "' == 'gazebo' else '",
        LaunchConfiguration('use_sim_time'), "'"])


def _include(name, **options):
    values = {argument: LaunchConfiguration(argument) for argument in PARTS[name]}
    values['use_sim_time'] = _sim_time()
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(PathJoinSubstitution(
            [FindPackageShare(PACKAGE), 'launch', f'{name}.launch.py'])),
        launch_arguments=values.items(), **options)
