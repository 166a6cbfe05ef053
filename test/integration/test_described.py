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
"""A robot YAML from the topic robot_description of a running arm, by command and launch file."""

import os
import subprocess
import sys

from conftest import ros, System
from launches import ended_cleanly, launched, needs_launch
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.files import shared_folder

EFFORT = 'torque,joint,+1,gravity'
NODES = ('excitation', 'recorder', 'identification', 'validation')


@pytest.fixture
def system(tmp_path):
    """Start a Panda that publishes its URDF as a driver does."""
    ros()
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String
    system = System(tmp_path, sim_time=False)
    system.start('simulated_robot', robot='panda', rate=100.0)
    publisher = system.client.create_publisher(
        String, '/robot_description',
        QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    publisher.publish(String(data=load_arm('panda').urdf))
    yield system
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes


def is_the_panda(path):
    arm, panda = load_arm(path), load_arm('panda')
    assert arm.joint_names == panda.joint_names
    assert np.all(arm.limits.lower <= panda.limits.lower) and (
        np.all(arm.limits.upper >= panda.limits.upper))    # narrower in the robot YAML
    np.testing.assert_array_equal(arm.limits.acceleration, 2.0)
    assert (arm.effort.quantity, arm.effort.side) == ('torque', 'joint')


def init(folder, *more):
    """Run the command `init --from-topic`."""
    environment = {name: value for name, value in os.environ.items()
                   if name != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
    return subprocess.run(
        [sys.executable, '-c', 'from robot_identification.cli import main; main()', 'init',
         '--from-topic', '/robot_description', *more],
        capture_output=True, text=True, env=environment, cwd=folder, timeout=120)


def test_init_takes_the_arm_that_runs(system, tmp_path):
    folder = tmp_path / 'mine'
    folder.mkdir()
    refused = init(folder, '--tip', 'nose')
    assert refused.returncode == 2 and "no link 'nose'" in ' '.join(refused.stderr.split())
    assert not list(folder.iterdir())    # so the next call needs no --force
    done = init(folder, '--effort', EFFORT, '--acceleration', '2')
    assert done.returncode == 0, done.stderr
    assert 'is complete' in done.stdout
    is_the_panda(folder / 'robot_description.yaml')
    again = init(folder)
    assert again.returncode == 2 and 'exists' in again.stderr


@needs_launch
def test_the_launch_file_starts_everything_for_the_arm_that_runs(system, tmp_path):
    data = tmp_path / 'data'
    with launched(tmp_path, [shared_folder('launch') / 'generic.launch.py'], f'effort:={EFFORT}',
                  'acceleration:=2.0', f'data_directory:={data}') as process:
        system.wait(lambda: set(NODES) <= set(system.client.get_node_names())
                    or process.poll() is not None, 240)
    assert ended_cleanly(tmp_path) == len(NODES)
    is_the_panda(data / 'described' / 'robot.yaml')
