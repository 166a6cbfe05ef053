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
"""Bring up an arm, simulated by default, and start the nodes that identify it."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from robot_identification.ros.nodes.launch_arguments import identify_arguments, INCLUDED_FILES
from robot_identification.ros.nodes.launching import (
    driver_values,
    include_launch_file,
    make_node,
    use_sim_time_value,
    with_argument_values,
)


def generate_launch_description():
    """Declare the arguments, bring up the arm and start the nodes."""
    declared = [DeclareLaunchArgument(**argument)
                for argument in identify_arguments(robot='panda')]
    # in a group: arguments must not leak if a launch file for two arms includes this file twice
    return LaunchDescription([*declared, GroupAction([with_argument_values(_start_nodes)])])


def _start_nodes(value):
    """Return the actions that bring up the arm and start all nodes."""
    names = {**driver_values(value), 'use_sim_time': value('use_sim_time')}
    identification = make_node(
        'identification', ('robot', 'tf_prefix', 'data_directory', 'use_sim_time'))
    return [*(_include(name, names) for name in ('robot', 'excite', 'record')), identification,
            _include('validate', names),
            _include('online', names, condition=IfCondition(LaunchConfiguration('online')))]


def _include(name, names, **options):
    """Return the action that includes a launch file; `names` override launch arguments."""
    values = {argument: LaunchConfiguration(argument) for argument in INCLUDED_FILES[name]}
    values.update({key: text for key, text in names.items() if key in values})
    if name in ('robot', 'excite'):    # the others need no time
        values['use_sim_time'] = use_sim_time_value()
    return include_launch_file(f'{name}.launch.py', values, **options)
