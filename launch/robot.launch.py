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

import os
import re

from launch import LaunchDescription
from launch.actions import LogInfo, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch_ros.actions import Node
from robot_identification.files import write_text
from robot_identification.ros.bringup import (
    check_controller,
    check_update_rate,
    controllers_for_namespace,
    robot_description,
    update_rate,
)
from robot_identification.ros.controllers_file import CONTROLLERS
from robot_identification.ros.mujoco_scene import mujoco_scene
from robot_identification.ros.nodes.launch_arguments import INCLUDED_FILES
from robot_identification.ros.nodes.launching import (
    command_interface,
    declare_arguments,
    include_vendor_file,
    load_requested_arm,
    make_node,
    make_temporary_folder,
    with_argument_values,
)

POSITION_WARNING = (
    'WARNING: with command_interface:=position, Gazebo reaches each commanded velocity in one '
    'step, so efforts jump between their limits: the arm moves, but an identification from this '
    'recording does not pass (check: effort jumps). Leave the argument out to command efforts.')
CLOCK = 'gz.msgs.Clock'
CLOCKS = {'humble': 'ignition.msgs.Clock'}     # by ROS_DISTRO; Humble's Gazebo is Fortress


def generate_launch_description():
    """Declare the arguments and bring up the arm."""
    return LaunchDescription([*declare_arguments(INCLUDED_FILES['robot'], controller=''),
                              with_argument_values(_bring_up)])


def _bring_up(value):
    """Return the actions that bring up the arm in the requested way."""
    start = {'mujoco': _mujoco, 'mujoco_control': _mujoco_control, 'gazebo': _gazebo,
             'mock': _mock, 'none': _real}[value('sim')]
    return start(load_requested_arm(value), value)


def _mujoco(arm, value):
    """Return the actions for the simulated robot of this package."""
    named = ['controller'] if value('controller') else []    # else that of nodes_file
    simulated = make_node('simulated_robot', ('robot', 'tf_prefix', *named, 'use_sim_time'))
    if value('state_publisher') == 'false':
        return [simulated]
    return [simulated, _state_publisher(arm, value, robot_description(arm))]


def _gazebo(arm, value):
    """Return the actions for Gazebo with gz_ros2_control."""
    interface = command_interface(value)
    check_controller(arm, _controller(value), interface, 'gazebo')
    check_update_rate(arm, _steps_per_second(value('gz_args')))
    description = robot_description(
        arm, 'gazebo', interface, _controllers_file(arm, value, 'gazebo'), value('namespace'),
        base=tuple(map(float, value('base_position').split())))
    spawn = Node(
        package='ros_gz_sim', executable='create', output='screen', namespace=value('namespace'),
        arguments=['-topic', 'robot_description', '-name', arm.tf_prefix + arm.name,
                   '-allow_renaming', 'true'])
    controllers = _spawner(value, ['joint_state_broadcaster', _controller(value)])
    return [*([LogInfo(msg=POSITION_WARNING)] if interface == 'position' else []),
            *(_simulator(value) if value('start_gazebo') == 'true' else []),
            _state_publisher(arm, value, description, use_sim_time=True), spawn,
            RegisterEventHandler(OnProcessExit(target_action=spawn, on_exit=[controllers]))]


def _simulator(value):
    """Return the actions that start Gazebo and the bridge of its clock."""
    kind = CLOCKS.get(os.environ.get('ROS_DISTRO', ''), CLOCK)
    return [include_vendor_file('ros_gz_sim', 'gz_sim.launch.py', {
                'gz_args': value('gz_args'), 'on_exit_shutdown': 'true'}),
            Node(package='ros_gz_bridge', executable='parameter_bridge', output='screen',
                 arguments=[f'/clock@rosgraph_msgs/msg/Clock[{kind}'])]


def _steps_per_second(gz_args):
    """Return the steps of the world that Gazebo loads per second of its time; 1000 by default."""
    for word in gz_args.split():
        if word.endswith('.sdf') and os.path.isfile(word):
            with open(word, encoding='utf-8') as file:
                step = re.search(r'<max_step_size>\s*([-+.0-9eE]+)\s*<', file.read())
            if step is not None:
                return 1 / float(step.group(1))
    return 1000.0


def _controller(value):
    """Return the controller that moves a simulated arm."""
    return value('controller') or CONTROLLERS[command_interface(value)]


def _mujoco_control(arm, value):
    """Return the actions for mujoco_ros2_control, which simulates the arm and the clock."""
    interface = command_interface(value)
    check_controller(arm, _controller(value), interface, 'mujoco')
    scene = make_temporary_folder() / f'{arm.name}.xml'
    write_text(scene, mujoco_scene(arm, interface, update_rate(arm, 'mujoco')))
    description = robot_description(arm, 'mujoco', interface, scene=scene,
                                    headless=value('headless') == 'true')
    return _with_manager(arm, value, description, 'mujoco')


def _mock(arm, value):
    """Return the actions for mock hardware of ros2_control."""
    interface = command_interface(value)
    check_controller(arm, _controller(value), interface, 'mock')
    return _with_manager(arm, value, robot_description(arm, 'mock', interface), 'mock')


def _with_manager(arm, value, description, hardware):
    """Return the actions that start a controller manager and the controllers."""
    use_sim_time = hardware == 'mujoco'
    package = 'mujoco_ros2_control' if use_sim_time else 'controller_manager'
    manager = Node(
        package=package, executable='ros2_control_node', output='screen',
        namespace=value('namespace'),
        parameters=[{'use_sim_time': use_sim_time}, str(_controllers_file(arm, value, hardware))],
        remappings=[('~/robot_description', 'robot_description')])
    return [_state_publisher(arm, value, description, use_sim_time=use_sim_time), manager,
            _spawner(value, ['joint_state_broadcaster', _controller(value)])]


def _real(arm, value):
    """Return the actions for a real arm; its driver is started if robot_ip is given."""
    entities = []
    if value('robot_ip') and value('driver'):
        entities.append(_driver(arm, value))
    elif value('robot_ip'):
        raise RuntimeError(
            'robot_ip requires driver:=PACKAGE/FILE; to use a driver that is already running, '
            'leave robot_ip out')
    else:
        entities.append(LogInfo(msg=f"the driver of '{arm.name}' must already be running"))
    if value('spawn_controller') == 'true':
        entities.append(_spawner(value, [_controller(value)], _controllers_file(arm, value)))
    return entities


def _driver(arm, value):
    """Return the action that includes the launch file of the vendor's driver."""
    package, name = value('driver').split('/', 1)
    known = arm.driver if arm.driver is not None and arm.driver.launch == value('driver') else None
    arguments = {} if known is None else dict(known.arguments)
    arguments.update(pair.split(':=', 1) for pair in value('driver_arguments').split())
    arguments['robot_ip' if known is None else known.address] = value('robot_ip')
    if arm.tf_prefix:
        if known is None or not known.prefix:
            raise RuntimeError(
                f"the prefix argument of the driver '{value('driver')}' is not known; start the "
                f'driver yourself with the prefix {arm.tf_prefix}, and leave robot_ip out')
        arguments[known.prefix] = arm.tf_prefix
    return include_vendor_file(package, name, arguments, value('namespace'))


def _controllers_file(arm, value, hardware='none'):
    """Return the controllers file with the arm's prefix and namespace."""
    return controllers_for_namespace(arm, value('namespace'), make_temporary_folder(), hardware)


def _state_publisher(arm, value, description, use_sim_time=None):
    """Return robot_state_publisher; the launch argument is the default of `use_sim_time`."""
    if use_sim_time is None:
        use_sim_time = value('use_sim_time') == 'true'
    return Node(
        package='robot_state_publisher', executable='robot_state_publisher', output='screen',
        namespace=value('namespace'),
        parameters=[{'robot_description': description, 'use_sim_time': use_sim_time}])


def _spawner(value, controllers, parameters=None):
    """Return the node that loads and activates controllers."""
    options = [] if parameters is None else ['--param-file', str(parameters)]
    return Node(
        package='controller_manager', executable='spawner', output='screen',
        namespace=value('namespace'),
        arguments=[*controllers, *options, '--controller-manager-timeout', '60'])
