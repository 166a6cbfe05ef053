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
"""Bring up an arm: simulated (MuJoCo or Gazebo), with mock hardware, or real."""

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare
from robot_identification.arm import load_arm
from robot_identification.bringup import check_controller, controllers_file, robot_description
from robot_identification.nodes.launch_arguments import arguments, PARTS

PACKAGE = 'robot_identification'


def generate_launch_description():
    """Declare the arguments and bring the arm up."""
    declared = [DeclareLaunchArgument(**argument) for argument in arguments(*PARTS['robot'])]
    return LaunchDescription([*declared, OpaqueFunction(function=_bring_up)])


def _bring_up(context):
    def value(name):
        return LaunchConfiguration(name).perform(context)

    arm = load_arm(value('robot'))
    return {'mujoco': _mujoco, 'gazebo': _gazebo, 'mock': _mock, 'none': _real}[value('sim')](
        arm, value)


def _mujoco(arm, value):
    simulated = Node(
        package=PACKAGE, executable='simulated_robot', output='screen',
        parameters=[value('nodes_file'), {
            'robot': value('robot'), 'controller': value('controller'),
            'use_sim_time': value('use_sim_time') == 'true'}])
    if value('state_publisher') == 'false':
        return [simulated]
    return [simulated, _state_publisher(robot_description(arm), value('use_sim_time') == 'true')]


def _gazebo(arm, value):
    check_controller(arm, value('controller'), value('command_interface'))
    description = robot_description(arm, 'gazebo', value('command_interface'))
    gazebo = IncludeLaunchDescription(
        AnyLaunchDescriptionSource(PathJoinSubstitution(
            [FindPackageShare('ros_gz_sim'), 'launch', 'gz_sim.launch.py'])),
        launch_arguments={'gz_args': value('gz_args'), 'on_exit_shutdown': 'true'}.items())
    clock = Node(
        package='ros_gz_bridge', executable='parameter_bridge', output='screen',
        arguments=['/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock'])
    spawn = Node(
        package='ros_gz_sim', executable='create', output='screen',
        arguments=['-topic', 'robot_description', '-name', arm.name, '-allow_renaming', 'true'])
    controllers = _spawner(['joint_state_broadcaster', value('controller')])
    return [gazebo, clock, _state_publisher(description, True), spawn,
            RegisterEventHandler(OnProcessExit(target_action=spawn, on_exit=[controllers]))]


def _mock(arm, value):
    check_controller(arm, value('controller'), value('command_interface'))
    description = robot_description(arm, 'mock', value('command_interface'))
    manager = Node(
        package='controller_manager', executable='ros2_control_node', output='screen',
        parameters=[str(controllers_file(arm))],
        remappings=[('~/robot_description', '/robot_description')])
    return [_state_publisher(description, False), manager,
            _spawner(['joint_state_broadcaster', value('controller')])]


def _real(arm, value):
    entities = []
    if value('robot_ip') and value('driver'):
        package, name = value('driver').split('/', 1)
        arguments = dict(pair.split(':=', 1) for pair in value('driver_arguments').split())
        arguments['robot_ip'] = value('robot_ip')
        entities.append(IncludeLaunchDescription(
            AnyLaunchDescriptionSource(PathJoinSubstitution(
                [FindPackageShare(package), 'launch', name])),
            launch_arguments=arguments.items()))
    elif value('robot_ip'):
        raise RuntimeError(
            'robot_ip is given, but not the driver to start; give driver:=PACKAGE/FILE, or start '
            'the driver yourself and leave robot_ip away')
    else:
        entities.append(LogInfo(msg=f"the driver of '{arm.name}' is expected to run already"))
    if value('spawn_controller') == 'true':
        entities.append(_spawner([value('controller')], controllers_file(arm)))
    return entities


def _state_publisher(description, use_sim_time):
    return Node(
        package='robot_state_publisher', executable='robot_state_publisher', output='screen',
        parameters=[{'robot_description': description, 'use_sim_time': use_sim_time}])


def _spawner(controllers, parameters=None):
    options = [] if parameters is None else ['--param-file', str(parameters)]
    return Node(
        package='controller_manager', executable='spawner', output='screen',
        arguments=[*controllers, *options, '--controller-manager-timeout', '60'])
