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
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

PACKAGE = 'robot_identification'
# arguments that each included file declares too
COMMON = ('robot', 'use_sim_time', 'nodes_file')
ROBOT = (*COMMON, 'sim', 'controller', 'command_interface', 'state_publisher', 'gz_args',
         'robot_ip', 'driver', 'driver_arguments', 'spawn_controller')
STEP = (*COMMON, 'joint_states', 'data_directory')


def generate_launch_description():
    """Declare the arguments, bring the arm up and start the nodes."""
    return LaunchDescription([
        *_arguments(),
        _include('robot', ROBOT),
        _include('excite', (*STEP, 'controller', 'autostart')),
        _include('record', STEP),
        Node(
            package=PACKAGE, executable='identification', output='screen',
            parameters=[LaunchConfiguration('nodes_file'), {
                'robot': LaunchConfiguration('robot'),
                'data_directory': LaunchConfiguration('data_directory'),
                'use_sim_time': ParameterValue(_sim_time(), value_type=bool)}]),
        _include('validate', STEP),
    ])


def _arguments():
    return [
        DeclareLaunchArgument(
            'robot', default_value='panda',
            description='Shipped robot (see: robot-identification robots), or the path of a robot '
            'YAML.'),
        DeclareLaunchArgument(
            'sim', default_value='mujoco', choices=['mujoco', 'gazebo', 'mock', 'none'],
            description='mujoco: the simulated robot of this package; gazebo: ros_gz_sim and '
            'gz_ros2_control; mock: ros2_control without physics and torques; none: a real arm.'),
        DeclareLaunchArgument(
            'controller', default_value='joint_trajectory_controller',
            description='Joint trajectory controller that moves the arm.'),
        DeclareLaunchArgument(
            'command_interface', default_value='position', choices=['position', 'effort'],
            description='What the controllers command in Gazebo and mock hardware.'),
        DeclareLaunchArgument(
            'joint_states', default_value='joint_states',
            description='Topic of the joint states; take the one that the driver itself '
            'publishes.'),
        DeclareLaunchArgument(
            'autostart', default_value='false', choices=['true', 'false'],
            description='Whether to activate the excitation node at once. Only an active node '
            'moves '
            'the arm: leave it false for a real one and activate it with ros2 lifecycle.'),
        DeclareLaunchArgument(
            'data_directory', default_value='~/robot_identification',
            description='Folder of excitations, recordings and results; nodes read and write '
            'nothing outside it.'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', choices=['true', 'false'],
            description='Whether nodes follow /clock; sim:=gazebo always sets it.'),
        DeclareLaunchArgument(
            'nodes_file', default_value=PathJoinSubstitution(
                [FindPackageShare(PACKAGE), 'config', 'nodes.yaml']),
            description='YAML with the parameters of the nodes.'),
        DeclareLaunchArgument(
            'state_publisher', default_value='true', choices=['true', 'false'],
            description='Whether to start robot_state_publisher beside the simulated robot of '
            'this '
            'package; Gazebo and mock hardware need it and always start it.'),
        DeclareLaunchArgument(
            'gz_args', default_value='-r -v 1 empty.sdf',
            description='Arguments of Gazebo; add -s to run it without a window.'),
        DeclareLaunchArgument(
            'robot_ip', default_value='',
            description='Address of a real arm; empty when its driver runs already.'),
        DeclareLaunchArgument(
            'driver', default_value='',
            description="The vendor's launch file as PACKAGE/FILE, started when robot_ip is "
            "given."),
        DeclareLaunchArgument(
            'driver_arguments', default_value='',
            description="Arguments of the vendor's launch file: NAME:=VALUE, separated by spaces; "
            'robot_ip is added.'),
        DeclareLaunchArgument(
            'spawn_controller', default_value='false', choices=['true', 'false'],
            description="Whether to add `controller`, as the robot's controllers YAML describes "
            "it, "
            "to the vendor's controller manager (sim:=none)."),
    ]


def _sim_time():
    return PythonExpression([
        "'true' if '", LaunchConfiguration('sim'), "' == 'gazebo' else '",
        LaunchConfiguration('use_sim_time'), "'"])


def _include(name, arguments):
    values = {argument: LaunchConfiguration(argument) for argument in arguments}
    values['use_sim_time'] = _sim_time()
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(PathJoinSubstitution(
            [FindPackageShare(PACKAGE), 'launch', f'{name}.launch.py'])),
        launch_arguments=values.items())
