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
"""Start the node that follows what acts on the arm from outside."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from robot_identification.nodes.launch_arguments import arguments, AT_WORK


def generate_launch_description():
    """Declare the arguments and start the node."""
    node = Node(
        package='robot_identification', executable='external_torque', output='screen',
        parameters=[LaunchConfiguration('nodes_file'), {
            'data_directory': LaunchConfiguration('data_directory'),
            'joint_states': LaunchConfiguration('joint_states'),
            'model': LaunchConfiguration('model'),
            'reference': LaunchConfiguration('reference'),
            'use_sim_time': ParameterValue(
                LaunchConfiguration('use_sim_time'), value_type=bool)}],
    )
    declared = [DeclareLaunchArgument(**argument)
                for argument in arguments(*AT_WORK['external_torque'])]
    return LaunchDescription([*declared, node])
