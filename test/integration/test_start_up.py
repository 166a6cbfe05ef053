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
"""Nodes end cleanly on request, even while they start, and report missing requirements."""

import signal
import sys
import time

from conftest import ros, System
from handlers import listens
import pytest
from robot_identification.helper_process import run_helper

NODES = ('excitation', 'recorder', 'identification', 'online_identification', 'validation',
         'simulated_robot')


@pytest.mark.parametrize('delay', [0.0, 0.3, 1.0, 2.0])
def test_sigint_while_nodes_start(tmp_path, delay):
    ros()
    system = System(tmp_path)
    for node in NODES[round(10 * delay) % 2::2]:
        system.launch(node, fresh=True, robot='panda')
    system.wait(lambda: all(listens(process.pid) for process in system.processes.values()))
    time.sleep(delay)
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes
    for node in codes:
        assert 'Traceback' not in system.log(node), system.log(node)


@pytest.mark.parametrize(('node', 'parameters', 'text'), [
    ('online_identification', {'estimator': 'ols'}, 'exponential_forgetting_nonlinear'),
    ('online_identification', {'friction': 'stribeck'}, 'use exponential_forgetting_nonlinear'),
    ('online_identification', {'noise': '[1.0, 2.0]'}, "'noise' has 2 numbers"),
    ('excitation', {'transport': 'telepathy'}, 'auto, action, topic'),
    ('simulated_robot', {'speed': 2.0}, 'requires `publish_clock`'),
    ('recorder', {'robot': 'nobody'}, 'nobody')])
def test_wrong_parameters_end_with_a_sentence(tmp_path, node, parameters, text):
    ros()
    system = System(tmp_path, sim_time=False)
    system.launch(node, **{'robot': 'panda', **parameters})
    assert system.processes.pop(node).wait(timeout=40) == 2
    assert text in system.log(node) and 'Traceback' not in system.log(node)
    system.close()


def test_a_node_of_the_demo_imports_nothing_from_the_current_folder(tmp_path):
    ros()
    for name in ('json', 'numpy', 'rclpy', 'yaml'):
        (tmp_path / f'{name}.py').write_text('raise SystemExit(3)')
    done = run_helper('node', 'recorder', '--ros-args', '-p', 'robot:=nobody', cwd=tmp_path)
    assert done.returncode == 2 and b'nobody' in done.stderr, done.stderr


@pytest.mark.parametrize('node', ['simulated_robot', 'recorder'])
def test_a_node_ends_with_the_launch_that_was_killed(tmp_path, node):
    ros()
    system = System(tmp_path, sim_time=False)
    starter = 'import subprocess, sys; subprocess.call(sys.argv[1:])'
    # under nohup, which tests may use, a node keeps running
    system.launch(node, prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
                  before=(sys.executable, '-c', starter), robot='two_link')
    system.wait(lambda: node in system.client.get_node_names(), 240)
    system.kill(node)
    system.wait(lambda: node not in system.client.get_node_names(), 60)
    assert 'the process that started this node has ended' in system.log(node)
    assert 'Traceback' not in system.log(node)
    system.close()
