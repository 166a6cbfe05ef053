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
"""Identify an arm: bring it up and start all nodes; simulated by default."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from robot_identification.ros.nodes.launch_arguments import identify_arguments, PARTS
from robot_identification.ros.nodes.launching import included, opaque, own_node, resolved, sim_time


def generate_launch_description():
    """Declare the arguments, bring the arm up and start the nodes."""
    declared = [DeclareLaunchArgument(**argument)
                for argument in identify_arguments(robot='panda')]
    # in a scope: a launch file that brings up two arms includes this one twice
    return LaunchDescription([*declared, GroupAction([opaque(_everything)])])


def _everything(value):
    names = resolved(value)
    identification = own_node('identification', ('robot', 'tf_prefix', 'data_directory',
                                                 'use_sim_time'))
    return [*(_part(name, names) for name in ('robot', 'excite', 'record')), identification,
            _part('validate', names),
            _part('online', names, condition=IfCondition(LaunchConfiguration('online')))]


def _part(name, names, **options):
    values = {argument: LaunchConfiguration(argument) for argument in PARTS[name]}
    values.update({key: text for key, text in names.items() if key in values})
    values['use_sim_time'] = sim_time()
    return included(name, values, **options)
