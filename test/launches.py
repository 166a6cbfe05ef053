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
"""Launch files with launch and launch_ros of ROS 2: visited in this process, or run in another."""

from contextlib import contextmanager
import importlib.util
import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest
from robot_identification.files import shared_folder
import yaml

NODES = ('excitation', 'recorder', 'identification', 'online_identification', 'validation',
         'simulated_robot')
VENDORS = {    # arguments that are passed on to vendors' launch files, besides the address
    'ur': ('ur_robot_driver/ur_control.launch.py', 'scaled_joint_trajectory_controller',
           {'ur_type', 'headless_mode', 'use_currents_as_efforts', 'launch_rviz'}),
    'fr3': ('franka_bringup/franka.launch.py', 'fr3_arm_controller',
            {'robot_type', 'load_gripper', 'use_fake_hardware'}),
    'xarm7': ('xarm_controller/xarm7_control_rviz_display.launch.py', 'xarm7_traj_controller',
              {'report_type', 'add_gripper'})}
DISTRIBUTIONS = {    # ROS_DISTRO: type of Gazebo's clock, package and plugins of ros2_control
    'humble': ('ignition.msgs.Clock', 'ign_ros2_control', 'IgnitionSystem',
               'IgnitionROS2ControlPlugin'),
    'jazzy': ('gz.msgs.Clock', 'gz_ros2_control', 'GazeboSimSystem',
              'GazeboSimROS2ControlPlugin'),
    'kilted': ('gz.msgs.Clock', 'gz_ros2_control', 'GazeboSimSystem',
               'GazeboSimROS2ControlPlugin')}
every_distribution = pytest.mark.parametrize('distribution', DISTRIBUTIONS)
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
service = LaunchService()
for file in sys.argv[1].split(','):
    service.include_launch_description(IncludeLaunchDescription(
        PythonLaunchDescriptionSource(file),
        launch_arguments=[argument.split(':=', 1) for argument in sys.argv[2:]]))
raise SystemExit(service.run())
"""
# PyPI's `launch` is another package; only that of ROS has launch_ros
needs_launch = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ('launch_ros', 'ament_index_python')),
    reason='launch_ros of ROS 2 is not installed')
FILES = {path.name.removesuffix('.launch.py'): path
         for path in sorted(shared_folder('launch').glob('*.launch.py'))}


def laid_out(prefix):
    """Lay out this source tree as colcon installs it."""
    (prefix / 'share/ament_index/resource_index/packages').mkdir(parents=True)
    (prefix / 'share/ament_index/resource_index/packages/robot_identification').touch()
    (prefix / 'share/robot_identification').mkdir()
    for folder in ('launch', 'config', 'urdf'):
        (prefix / 'share/robot_identification' / folder).symlink_to(shared_folder(folder))
    (prefix / 'lib').mkdir()
    (prefix / 'lib/robot_identification').symlink_to(shared_folder('launch').parent / 'scripts')
    return prefix


class Visit:
    """
    What a launch file starts with given arguments, without starting it.

    Attributes
    ----------
    nodes
        The nodes in order, with their names, namespaces and parameters.
    logged
        The texts that the launch file logs.
    context
        The launch context, whose `launch_configurations` are the arguments.
    """

    def __init__(self, name=None, **given):
        from launch import LaunchContext
        self.context, self.nodes, self.logged = LaunchContext(), [], []
        self.context.extend_globals({})
        if name is not None:
            self.add(self.include(name, **given))

    @staticmethod
    def include(name, **given):
        """Return the action that includes a launch file with arguments."""
        from launch.actions import IncludeLaunchDescription
        from launch.launch_description_sources import PythonLaunchDescriptionSource
        return IncludeLaunchDescription(PythonLaunchDescriptionSource(str(FILES[name])),
                                        launch_arguments=given.items())

    def add(self, entity):
        """Visit an entity and what it contains."""
        from launch.actions import LogInfo
        from launch_ros.actions import Node
        condition = getattr(entity, 'condition', None)
        if condition is not None and not condition.evaluate(self.context):
            return
        if isinstance(entity, Node):
            entity._perform_substitutions(self.context)
            self.nodes.append(entity)
            return
        if isinstance(entity, LogInfo):
            self.logged.append(self._text(entity.msg))
        for child in entity.visit(self.context) or []:
            self.add(child)

    def _text(self, value):
        from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
        return perform_substitutions(self.context, normalize_to_list_of_substitutions(value))

    @property
    def programs(self):
        """Package and executable of each node."""
        return [(self._text(node.node_package), self._text(node.node_executable))
                for node in self.nodes]

    def node(self, executable):
        """Return the only node with an executable."""
        found, = [node for node, program in zip(self.nodes, self.programs)
                  if program[1] == executable]
        return found


def parameter(node, name):
    """Return the value of a parameter of a node; the last file that states it counts."""
    files = [file for file, is_file in node._Node__expanded_parameter_arguments if is_file]
    return next(values[name] for path in reversed(files) for section in
                yaml.safe_load(Path(path).read_text()).values()
                if name in (values := section['ros__parameters']))


@contextmanager
def launched(folder, files, *arguments):
    """Run launch files; then send SIGINT as from a terminal, and check how the nodes ended."""
    prefix = laid_out(folder / 'prefix')
    environment = {**os.environ, 'ROS_LOG_DIR': str(folder / 'log'), 'AMENT_PREFIX_PATH':
                   os.pathsep.join([str(prefix), os.environ.get('AMENT_PREFIX_PATH', '')]),
                   'PATH': os.pathsep.join([str(Path(sys.executable).parent), os.environ['PATH']])}
    environment.pop('_ROS_WHEELS_BOOTSTRAP_COMPLETE', None)
    with (folder / 'out').open('w') as out:
        process = subprocess.Popen(
            [sys.executable, '-c', LAUNCH, ','.join(map(str, files)), *arguments],
            stdout=out, stderr=out, env=environment, start_new_session=True)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            code = process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    text = (folder / 'out').read_text()
    assert code == 0, text
    assert 'Traceback' not in text and 'process has died' not in text, text


def ended_cleanly(folder):
    """Return the number of processes that ended cleanly."""
    return (folder / 'out').read_text().count('process has finished cleanly')
