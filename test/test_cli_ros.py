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
"""Commands that write bags or need ROS."""

import importlib.util

from command_line import call
from motions import excitation_of
import pytest
from robot_identification.arm import load_arm
from robot_identification.excitation import save_excitation
from robot_identification.files import shared_folder
from robot_identification.recording import load_recording
import yaml


def test_simulate_writes_a_bag(tmp_path):
    arm = load_arm('ur5')
    save_excitation(excitation_of('ur5_2s', arm), tmp_path / 'motion.yaml')
    bag, table = str(tmp_path / 'bag'), str(tmp_path / 'table.csv')
    for output in (bag, table):
        done = call('simulate', 'ur5', str(tmp_path / 'motion.yaml'), '-o', output)
        assert done.returncode == 0, done.stderr
    one, other = load_recording(bag, arm), load_recording(table, arm)
    assert one.q.tolist() == other.q.tolist() and one.tau.tolist() == other.tau.tolist()
    again = call('simulate', 'ur5', str(tmp_path / 'motion.yaml'), '-o', bag)
    assert again.returncode == 2 and 'exists' in again.stderr
    wrong = call('simulate', 'ur5', str(tmp_path / 'motion.yaml'), '-o', f'{bag}.txt')
    assert wrong.returncode == 2 and '.csv or .npz' in wrong.stderr


@pytest.mark.skipif(importlib.util.find_spec('rclpy') is not None, reason='ROS 2 is installed')
def test_ros_demo_without_ros(tmp_path):
    done = call('ros', 'demo', '-o', str(tmp_path / 'demo'))
    assert done.returncode == 2
    assert "needs the Python module 'rclpy'" in ' '.join(done.stderr.split())
    assert not (tmp_path / 'demo').exists()


def test_node_parameters_are_the_defaults():
    from robot_identification.ros.execution import MotionTolerances
    from robot_identification.ros.execution.motion_executor import BrakeTiming
    content = yaml.safe_load((shared_folder('config') / 'nodes.yaml').read_text())
    parameters = content['/**/excitation']['ros__parameters']
    watch = parameters['watch']
    assert watch.pop('published_effort') == [0.0]
    assert MotionTolerances(**watch) == MotionTolerances()
    assert BrakeTiming(**parameters['brake']) == BrakeTiming()
