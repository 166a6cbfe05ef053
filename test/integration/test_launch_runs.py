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
"""
Launch files bring their nodes up for real, and SIGINT brings them down, cleanly.

ROBOT_IDENTIFICATION_LAUNCH_FILES='ur fr3' runs the files of these robots as well.
"""

import importlib.util
import os
from pathlib import Path
import signal
import subprocess
import sys

from conftest import ros, System
import pytest
from robot_identification.files import shared_folder

NODES = ('excitation', 'recorder', 'identification', 'online_identification', 'validation',
         'simulated_robot')
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
pytestmark = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ('launch_ros', 'ament_index_python')),
    reason='launch_ros of ROS 2 is not installed')


@pytest.fixture
def prefix(tmp_path):
    """Lay this source tree out as colcon would install it."""
    prefix = tmp_path / 'prefix'
    (prefix / 'share/ament_index/resource_index/packages').mkdir(parents=True)
    (prefix / 'share/ament_index/resource_index/packages/robot_identification').touch()
    (prefix / 'share/robot_identification').mkdir()
    for folder in ('launch', 'config', 'urdf'):
        (prefix / 'share/robot_identification' / folder).symlink_to(shared_folder(folder))
    (prefix / 'lib').mkdir()
    scripts = shared_folder('launch').parent / 'scripts'
    (prefix / 'lib/robot_identification').symlink_to(scripts)
    return prefix


@pytest.mark.parametrize(('files', 'given', 'nodes'), [
    (('identify',), ('robot:=two_link', 'sim:=mujoco', 'state_publisher:=false', 'online:=true'),
     NODES),
    *(((name,), ('sim:=mujoco', 'state_publisher:=false'),
       [node for node in NODES if node != 'online_identification'])
      for name in os.environ.get('ROBOT_IDENTIFICATION_LAUNCH_FILES', '').split()),
    (('excite', 'record', 'validate', 'online'), ('robot:=ur5e',),
     ('excitation', 'recorder', 'validation', 'online_identification'))])
def test_up_and_down(tmp_path, prefix, files, given, nodes):
    ros()
    system = System(tmp_path)
    paths = ','.join(str(shared_folder('launch') / f'{name}.launch.py') for name in files)
    environment = {**os.environ, 'ROS_LOG_DIR': str(tmp_path / 'log'), 'AMENT_PREFIX_PATH':
                   os.pathsep.join([str(prefix), os.environ.get('AMENT_PREFIX_PATH', '')]),
                   'PATH': os.pathsep.join([str(Path(sys.executable).parent), os.environ['PATH']])}
    environment.pop('_ROS_WHEELS_BOOTSTRAP_COMPLETE', None)
    with (tmp_path / 'out').open('w') as out:
        process = subprocess.Popen(
            [sys.executable, '-c', LAUNCH, paths, *given, f'data_directory:={tmp_path}/data'],
            stdout=out, stderr=out, env=environment, start_new_session=True)
    try:
        system.wait(lambda: set(nodes) <= set(system.client.get_node_names())
                    or process.poll() is not None, 60)
    finally:
        os.killpg(process.pid, signal.SIGINT)    # as the terminal does on ctrl-c
        try:
            code = process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        system.close()
    text = (tmp_path / 'out').read_text()
    assert code == 0, text
    assert 'Traceback' not in text and 'process has died' not in text, text
    assert text.count('process has finished cleanly') == len(nodes), text
