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
"""Arguments of the launch files, defined without importing the ROS package `launch`."""

from dataclasses import dataclass, field
from typing import Any

from robot_identification.files import shared_folder

BOOLEAN = ['true', 'false']


def _argument(description: str, default: str | None = None,
              choices: list[str] | None = None) -> dict[str, Any]:
    """Return keyword arguments of DeclareLaunchArgument; those that are None are left out."""
    content = {'default_value': default, 'choices': choices, 'description': description}
    return {key: value for key, value in content.items() if value is not None}


ARGUMENTS: dict[str, dict[str, Any]] = {
    'robot': _argument(
        'Shipped robot (see: robot-identification robots), or the path of a robot YAML.'),
    'sim': _argument(
        'mujoco: the simulated robot of this package; mujoco_control: mujoco_ros2_control, which '
        'runs the real controllers over MuJoCo; gazebo: ros_gz_sim and gz_ros2_control; mock: '
        'ros2_control without physics and torques; none: a real arm.',
        'mujoco', ['mujoco', 'mujoco_control', 'gazebo', 'mock', 'none']),
    'namespace': _argument(
        'Namespace of all nodes, topics and services, so that several arms share one system; '
        '/diagnostics, /clock and /tf are shared.', ''),
    'tf_prefix': _argument(
        'Prefix of the names of joints and links in ROS, such as left_; empty: that of the robot '
        'YAML.', ''),
    'controller': _argument(
        'Joint trajectory controller that moves the arm.', 'joint_trajectory_controller'),
    'controller_manager': _argument(
        'Controller manager that lists the active controllers.', 'controller_manager'),
    'transport': _argument(
        'How trajectories are sent: by the action FollowJointTrajectory, by the topic, or by the '
        'action if the controller offers it (auto).', 'auto', ['auto', 'action', 'topic']),
    'command_interface': _argument(
        'Command interface of the joints in Gazebo, mujoco_ros2_control and mock hardware; empty: '
        'effort in Gazebo, where position commands give efforts that cannot be identified, and '
        'position elsewhere.', '', ['', 'position', 'effort']),
    'joint_states': _argument(
        'Topic of the joint states; use the one that the driver publishes at its full rate.',
        'joint_states'),
    'autostart': _argument(
        'Whether the node that moves the arm is activated at start-up. Only an active node moves '
        'it: keep false for a real arm and activate the node with ros2 lifecycle.',
        'false', BOOLEAN),
    'online': _argument(
        'Whether to start online_identification, which estimates the parameters while the arm '
        'moves.', 'false', BOOLEAN),
    'model': _argument(
        'Model file in the data directory that predicts the torques; optional for validation '
        'only.', ''),
    'reference': _argument(
        'Recording without contact in the data directory, from which the errors of the model are '
        'estimated; required.', ''),
    'mode': _argument(
        'trajectory: efforts are added to trajectories; compensation: gravity and friction '
        'torques are sent to an effort controller after a call of the service ~/start.',
        'trajectory', ['trajectory', 'compensation']),
    'data_directory': _argument(
        'Folder of excitations, recordings and results; nodes access no file outside it.',
        '~/robot_identification'),
    'use_sim_time': _argument(
        'Whether nodes follow /clock; with sim:=gazebo and sim:=mujoco_control the node that '
        'moves the arm always does.', 'false', BOOLEAN),
    'nodes_file': _argument(
        'YAML with the parameters of the nodes.', str(shared_folder('config') / 'nodes.yaml')),
    'state_publisher': _argument(
        'Whether to start robot_state_publisher with sim:=mujoco; the other simulations need it '
        'and always start it.', 'true', BOOLEAN),
    'gz_args': _argument(
        'Arguments of Gazebo; add -s to run it without a window. The shipped world has steps of 1 '
        'ms, half the speed of real time and nothing to touch.',
        f"-r -v 1 {shared_folder('config') / 'gazebo_world.sdf'}"),
    'start_gazebo': _argument(
        'Whether to start Gazebo and the bridge of its clock; false for a further arm in a '
        'simulation that runs.', 'true', BOOLEAN),
    'base_position': _argument(
        "Horizontal position of the arm's base in Gazebo's world, X Y [m].", '0 0'),
    'headless': _argument(
        'Whether mujoco_ros2_control runs without a window (sim:=mujoco_control).',
        'false', BOOLEAN),
    'robot_ip': _argument('Address of a real arm; empty if its driver is already running.', ''),
    'driver': _argument(
        "The vendor's launch file as PACKAGE/FILE; it is started if robot_ip is given.", ''),
    'driver_arguments': _argument(
        "Arguments of the vendor's launch file: NAME:=VALUE, separated by spaces. They override "
        "those in the robot YAML's section driver. The robot's address and tf_prefix are added.",
        ''),
    'spawn_controller': _argument(
        "Whether to load `controller` from the robot's controllers YAML into the vendor's "
        'controller manager (sim:=none).', 'false', BOOLEAN),
}
COMMON = ('robot', 'namespace', 'tf_prefix', 'use_sim_time', 'nodes_file')
ROBOT = (*COMMON, 'sim', 'controller', 'command_interface', 'state_publisher', 'gz_args',
         'start_gazebo', 'base_position', 'headless', 'robot_ip', 'driver', 'driver_arguments',
         'spawn_controller')
STEP = (*COMMON, 'joint_states', 'data_directory')
INCLUDED_FILES: dict[str, tuple[str, ...]] = {
    'robot': ROBOT,
    'excite': (*STEP, 'sim', 'controller', 'controller_manager', 'transport', 'autostart'),
    'record': (*STEP, 'controller'),
    'validate': (*STEP, 'model'),
    'online': STEP,
}
"""For each launch file that identify.launch.py includes, the names of its arguments."""
MODEL_AND_STATES = ('namespace', 'use_sim_time', 'nodes_file', 'joint_states', 'data_directory',
                    'model')
MODEL_FILES: dict[str, tuple[str, ...]] = {
    'external_torque': (*MODEL_AND_STATES, 'reference'),
    'feedforward': (*MODEL_AND_STATES, 'mode', 'controller', 'autostart'),
}
"""For each launch file of a node that uses a model, the names of its arguments. There is no
argument `robot`, because the model defines the arm."""
NODE_FILES = {**INCLUDED_FILES, **MODEL_FILES}
NODE_PARAMETERS = ('robot', 'tf_prefix', 'joint_states', 'data_directory', 'controller',
                   'controller_manager', 'transport', 'model', 'reference', 'mode')
"""Arguments that are passed to the nodes as parameters of the same name."""
BOOLEAN_PARAMETERS = ('autostart', 'use_sim_time')
"""Boolean arguments that are passed to the nodes as parameters of the same name."""
SIMULATION_PARAMETERS = {
    'mock': 'nodes_mock.yaml', 'gazebo': 'nodes_simulated_clock.yaml',
    'mujoco_control': 'nodes_simulated_clock.yaml'}
"""For each value of `sim` that needs them, a file in the folder `config` with parameters of the
nodes; they override those of `nodes_file`."""
FROM_ROBOT_YAML = ('controller', 'controller_manager', 'joint_states', 'driver',
                   'spawn_controller')
"""Arguments of identify.launch.py whose default values come from the robot YAML."""


@dataclass(frozen=True)
class Family:
    """
    Arms of one vendor, which have the same driver.

    Parameters
    ----------
    robots
        Names of the shipped robots.
    choice
        Name of the launch argument that selects one of them; empty if there is only one.
    arguments
        Names of the arguments that are passed on to the driver's launch file, each with its
        default value and a remark for its description.

    """

    robots: tuple[str, ...]
    choice: str = ''
    arguments: dict[str, tuple[str, str]] = field(default_factory=dict)


FAMILIES: dict[str, Family] = {
    'ur': Family(('ur5e', 'ur10e'), 'ur_type', {
        'headless_mode': ('false', 'send the program instead of the URCap'),
        'use_currents_as_efforts': ('false', 'if true, the robot YAML must state current'),
        'launch_rviz': ('false', '')}),
    'fr3': Family(('fr3',), '', {
        'load_gripper': ('false', 'the robot YAML describes the arm without a hand'),
        'use_fake_hardware': ('false', '')}),
    'xarm7': Family(('xarm7',), '', {
        'report_type': ('dev', 'dev reports at the highest rate'),
        'add_gripper': ('false', 'the robot YAML describes the arm without one')}),
}
"""Vendors that have their own launch file; other arms use identify.launch.py robot:=NAME."""
FAMILY_ARGUMENTS = ('sim', 'robot_ip', 'namespace', 'tf_prefix')
"""Arguments of every vendor's launch file, in addition to those passed on to its driver."""


def arguments(*names: str, **defaults: str) -> list[dict[str, Any]]:
    """
    Return the keyword arguments of DeclareLaunchArgument for several launch arguments.

    Parameters
    ----------
    names
        Names of the launch arguments in `ARGUMENTS`.
    defaults
        Default values that replace those in `ARGUMENTS`, by name.

    """
    return [{'name': name, **ARGUMENTS[name],
             **({'default_value': defaults[name]} if name in defaults else {})}
            for name in names]


def all_argument_names() -> tuple[str, ...]:
    """Return the names of the arguments of identify.launch.py and of the files it includes."""
    return tuple(dict.fromkeys(['robot', 'sim', *(name for part in INCLUDED_FILES.values()
                                                  for name in part), 'online']))


def identify_arguments(**defaults: str) -> list[dict[str, Any]]:
    """Return the arguments of identify.launch.py, in the form of `arguments`."""
    empty = dict.fromkeys(FROM_ROBOT_YAML, '')
    declared = arguments(*all_argument_names(), **{**empty, **defaults})
    for argument in declared:
        if argument['name'] in FROM_ROBOT_YAML:
            argument.pop('choices', None)
            argument['description'] += " Empty: that of the robot YAML's driver (sim:=none)."
    return declared


def several_arguments() -> list[dict[str, Any]]:
    """Return the arguments of several.launch.py, in the form of `arguments`."""
    return [
        {'name': 'robots', 'description': 'Shipped robots or robot YAMLs, separated by spaces.'},
        {'name': 'namespaces', 'description': 'Namespace of each arm, separated by spaces; with '
                                              'an underscore it is also the prefix of names.'},
        *arguments('sim', 'command_interface', 'transport', 'data_directory', 'nodes_file',
                   'gz_args', 'headless', 'autostart', sim='gazebo')]


def generic_arguments() -> list[dict[str, Any]]:
    """Return the arguments of generic.launch.py, in the form of `arguments`."""
    names = [name for name in all_argument_names() if name != 'sim']
    own: dict[str, dict[str, Any]] = {
        'description': _argument(
            'Topic of the URDF, used if `robot` is empty.', 'robot_description'),
        'effort': _argument(
            'Meaning of the published effort, such as torque,joint,+1,gravity; required for '
            'identification.', ''),
        'acceleration': _argument(
            'Acceleration limit of every joint [rad/s^2 or m/s^2], which a URDF does not '
            'contain.', '1.0')}
    declared = arguments(*names, robot='', controller='joint_trajectory_controller')
    for argument in declared:
        if argument['name'] == 'robot':
            argument['description'] += ' Empty: the arm on the topic `description`.'
    return [*declared, *({'name': name, **content} for name, content in own.items())]


def family_arguments(family: Family) -> list[dict[str, Any]]:
    """Return the arguments of a vendor's launch file, in the form of `arguments`."""
    chosen = [{'name': family.choice, **_argument(
        'Shipped robot of this name.', family.robots[0], list(family.robots))}]
    passed = [{'name': name, **_argument(
        f"Passed on to the driver{'; ' + text if text else ''}.", default,
        BOOLEAN if default in BOOLEAN else None)}
        for name, (default, text) in family.arguments.items()]
    return [*(chosen if family.choice else []), *arguments(*FAMILY_ARGUMENTS, sim='none'), *passed]
