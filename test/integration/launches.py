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
"""Runs launch files in a separate process."""

from contextlib import contextmanager
import importlib.util
import os
from pathlib import Path
import signal
import subprocess
import sys

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
needs_launch = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ('launch_ros', 'ament_index_python')),
    reason='launch_ros of ROS 2 is not installed')


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
