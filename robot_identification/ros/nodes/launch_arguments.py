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
"""Arguments that several launch files have, described once; launch itself is not needed here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robot_identification.files import shared_folder

SWITCH = ['true', 'false']
ARGUMENTS: dict[str, dict[str, Any]] = {
    'robot': {
        'description': 'Shipped robot (see: robot-identification robots), or the path of a robot '
                       'YAML.'},
    'sim': {
        'default_value': 'mujoco', 'choices': ['mujoco', 'gazebo', 'mock', 'none'],
        'description': 'mujoco: the simulated robot of this package; gazebo: ros_gz_sim and '
                       'gz_ros2_control; mock: ros2_control without physics and torques; none: a '
                       'real arm.'},
    'namespace': {
        'default_value': '',
        'description': 'Namespace of all nodes, topics and services, so that several arms share '
                       'one system; /diagnostics, /clock and /tf stay what they are.'},
    'tf_prefix': {
        'default_value': '',
        'description': 'What stands before the names of joints and links in ROS, as left_; that '
                       'of the robot YAML when empty.'},
    'controller': {
        'default_value': 'joint_trajectory_controller',
        'description': 'Joint trajectory controller that moves the arm.'},
    'controller_manager': {
        'default_value': 'controller_manager',
        'description': 'Controller manager that is asked which controllers are active.'},
    'transport': {
        'default_value': 'auto', 'choices': ['auto', 'action', 'topic'],
        'description': 'How the controller is told: its action FollowJointTrajectory, its topic, '
                       'or the action where it is offered (auto).'},
    'command_interface': {
        'default_value': 'position', 'choices': ['position', 'effort'],
        'description': 'What the controllers command in Gazebo and mock hardware.'},
    'joint_states': {
        'default_value': 'joint_states',
        'description': 'Topic of the joint states; take the one that the driver itself '
                       'publishes.'},
    'autostart': {
        'default_value': 'false', 'choices': SWITCH,
        'description': 'Whether to activate the node that moves the arm at once. Only an active '
                       'node does: leave it false for a real arm and activate it with ros2 '
                       'lifecycle.'},
    'online': {
        'default_value': 'false', 'choices': SWITCH,
        'description': 'Whether to start online_identification, which follows the parameters '
                       'while the arm moves.'},
    'model': {
        'default_value': '',
        'description': 'Model file in the data directory, to predict torques with from the '
                       'beginning; only validation does without.'},
    'reference': {
        'default_value': '',
        'description': 'Recording without contact in the data directory, from which the errors of '
                       'the model are learnt; it must be given.'},
    'mode': {
        'default_value': 'trajectory', 'choices': ['trajectory', 'compensation'],
        'description': 'trajectory: efforts are added to trajectories; compensation: an effort '
                       'controller is commanded, after the service ~/start.'},
    'data_directory': {
        'default_value': '~/robot_identification',
        'description': 'Folder of excitations, recordings and results; nodes read and write '
                       'nothing outside it.'},
    'use_sim_time': {
        'default_value': 'false', 'choices': SWITCH,
        'description': 'Whether nodes follow /clock; sim:=gazebo always sets it.'},
    'nodes_file': {
        'default_value': str(shared_folder('config') / 'nodes.yaml'),
        'description': 'YAML with the parameters of the nodes.'},
    'state_publisher': {
        'default_value': 'true', 'choices': SWITCH,
        'description': 'Whether to start robot_state_publisher beside the simulated robot of '
                       'this package; Gazebo and mock hardware need it and always start it.'},
    'gz_args': {
        'default_value': '-r -v 1 empty.sdf',
        'description': 'Arguments of Gazebo; add -s to run it without a window.'},
    'robot_ip': {
        'default_value': '',
        'description': 'Address of a real arm; empty when its driver runs already.'},
    'driver': {
        'default_value': '',
        'description': "The vendor's launch file as PACKAGE/FILE, started when robot_ip is "
                       'given.'},
    'driver_arguments': {
        'default_value': '',
        'description': "Arguments of the vendor's launch file: NAME:=VALUE, separated by spaces; "
                       "they go before those of the robot YAML's driver, the address and "
                       'tf_prefix are added.'},
    'spawn_controller': {
        'default_value': 'false', 'choices': SWITCH,
        'description': "Whether to add `controller`, as the robot's controllers YAML describes "
                       "it, to the vendor's controller manager (sim:=none)."},
}
COMMON = ('robot', 'namespace', 'tf_prefix', 'use_sim_time', 'nodes_file')
ROBOT = (*COMMON, 'sim', 'controller', 'command_interface', 'state_publisher', 'gz_args',
         'robot_ip', 'driver', 'driver_arguments', 'spawn_controller')
STEP = (*COMMON, 'joint_states', 'data_directory')
PARTS: dict[str, tuple[str, ...]] = {
    'robot': ROBOT,
    'excite': (*STEP, 'controller', 'controller_manager', 'transport', 'autostart'),
    'record': (*STEP, 'controller'),
    'validate': (*STEP, 'model'),
    'online': STEP,
}
"""Launch files that identify.launch.py includes, and their arguments."""
MODEL_AND_STATES = ('namespace', 'use_sim_time', 'nodes_file', 'joint_states', 'data_directory',
                    'model')
AT_WORK: dict[str, tuple[str, ...]] = {
    'external_torque': (*MODEL_AND_STATES, 'reference'),
    'feedforward': (*MODEL_AND_STATES, 'mode', 'controller', 'autostart'),
}
"""Launch files of the nodes that use a model; the arm is the model's own."""
PARAMETERS = ('robot', 'tf_prefix', 'joint_states', 'data_directory', 'controller',
              'controller_manager', 'transport', 'model', 'reference', 'mode')
"""Arguments that are parameters of the nodes."""
SWITCHES = ('autostart', 'use_sim_time')
"""Those that are true or false."""
FROM_ROBOT = ('controller', 'controller_manager', 'joint_states', 'driver', 'spawn_controller')
"""Arguments of identify.launch.py that the robot YAML's driver says when they are empty."""


@dataclass(frozen=True)
class Family:
    """
    Arms of a vendor that share a driver.

    Parameters
    ----------
    robots
        Shipped robots.
    choice
        The argument that chooses among them, where there are several.
    arguments
        Arguments of the driver's launch file that are passed on: default and a remark.

    """

    robots: tuple[str, ...]
    choice: str = ''
    arguments: dict[str, tuple[str, str]] = field(default_factory=dict)


FAMILIES: dict[str, Family] = {
    'ur': Family(('ur5e', 'ur10e'), 'ur_type', {
        'headless_mode': ('false', 'send the program instead of the URCap'),
        'use_currents_as_efforts': ('false', 'with true the robot YAML must say current'),
        'launch_rviz': ('false', '')}),
    'fr3': Family(('fr3',), '', {
        'load_gripper': ('false', 'the robot YAML describes the arm without a hand'),
        'use_fake_hardware': ('false', '')}),
    'xarm7': Family(('xarm7',), '', {
        'report_type': ('dev', 'dev reports at the highest rate'),
        'add_gripper': ('false', 'the robot YAML describes the arm without one')}),
}
"""Launch files of vendors' arms, besides identify.launch.py robot:=NAME sim:=none."""
FAMILY = ('sim', 'robot_ip', 'namespace', 'tf_prefix')
"""Arguments that each of them has besides those of its driver."""


def arguments(*names: str, **defaults: str) -> list[dict[str, Any]]:
    """
    Return what DeclareLaunchArgument takes.

    Parameters
    ----------
    names
        Names of the arguments, in `ARGUMENTS`.
    defaults
        Values of some, other than the usual ones.

    """
    return [{'name': name, **ARGUMENTS[name],
             **({'default_value': defaults[name]} if name in defaults else {})}
            for name in names]


def all_arguments() -> tuple[str, ...]:
    """Return the arguments of identify.launch.py: those of all its parts."""
    return tuple(dict.fromkeys(['robot', 'sim', *(name for part in PARTS.values()
                                                  for name in part), 'online']))


def identify_arguments(**defaults: str) -> list[dict[str, Any]]:
    """Return what DeclareLaunchArgument takes in identify.launch.py; some with other defaults."""
    empty = dict.fromkeys(FROM_ROBOT, '')
    given = arguments(*all_arguments(), **{**empty, **defaults})
    for argument in given:
        if argument['name'] in FROM_ROBOT:
            argument.pop('choices', None)
            argument['description'] += " Empty: as the robot YAML's driver says (sim:=none)."
    return given


def generic_arguments() -> list[dict[str, Any]]:
    """Return what DeclareLaunchArgument takes in generic.launch.py."""
    names = [name for name in all_arguments() if name != 'sim']
    own: dict[str, dict[str, Any]] = {
        'description': {
            'default_value': 'robot_description',
            'description': 'Topic of the URDF, taken where `robot` is empty.'},
        'effort': {
            'default_value': '',
            'description': 'What the driver publishes as effort, as torque,joint,+1,gravity; '
                           'without it nothing is identified.'},
        'acceleration': {
            'default_value': '1.0',
            'description': 'Acceleration limit of every joint [rad/s^2 or m/s^2], which a URDF '
                           'does not say; cautious.'}}
    given = arguments(*names, robot='', controller='joint_trajectory_controller')
    for argument in given:
        if argument['name'] == 'robot':
            argument['description'] += ' Empty: the arm on the topic `description`.'
    return [*given, *({'name': name, **content} for name, content in own.items())]


def family_arguments(family: Family) -> list[dict[str, Any]]:
    """Return what DeclareLaunchArgument takes in the launch file of a vendor's arms."""
    chosen = [{'name': family.choice, 'default_value': family.robots[0],
               'choices': list(family.robots), 'description': 'Which arm: a robot of that name '
               'is shipped.'}] if family.choice else []
    passed = [{'name': name, 'default_value': default,
               **({'choices': SWITCH} if default in SWITCH else {}),
               'description': f"As the driver's argument{'; ' + text if text else ''}."}
              for name, (default, text) in family.arguments.items()]
    return [*chosen, *arguments(*FAMILY, sim='none'), *passed]
