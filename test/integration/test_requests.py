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
"""Every request is answered with a message, whatever its values, and the nodes keep running."""

import hashlib
import math
import os
import random
import time

from conftest import Execution, ros, System
import pytest
from random_requests import ask, folder_of_a_laboratory, value_of
from robot_identification.errors import ConfigurationError

COUNT = int(os.environ.get('ROBOT_IDENTIFICATION_REQUESTS', '40'))


def contents(folder):
    """Return the files that must not change, with their contents."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
            for name in ('keep.yaml', 'run.csv', 'model.yaml')}


def interfaces():
    from robot_identification_interfaces.action import Design, Excite
    from robot_identification_interfaces.srv import (
        Identify,
        StartRecording,
        StopRecording,
        Validate,
    )
    return {'recorder': ((StartRecording, '/recorder/start'), (StopRecording, '/recorder/stop')),
            'validation': ((Validate, '/validation/validate'),),
            'identification': ((Identify, '/identification/identify'),
                               (Design, '/identification/design')),
            'excitation': ((Excite, '/excitation/execute'),)}


@pytest.fixture
def system(tmp_path):
    ros()
    folder_of_a_laboratory(tmp_path)
    system = System(tmp_path, sim_time=False)
    yield system
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes


def test_nodes_stay_alive(system, tmp_path):
    before = contents(tmp_path)
    system.launch('simulated_robot', robot='two_link', rate=100.0)
    for node in interfaces():
        given = {} if node == 'validation' else {'robot': 'two_link'}
        if node == 'excitation':
            given['autostart'] = True
        system.launch(node, **given)
    system.wait(lambda: set(system.processes) <= set(system.client.get_node_names()), 240)
    for node, kinds in interfaces().items():
        begin = time.monotonic()
        for kind in kinds:
            action = hasattr(kind[0], 'Goal')
            answers = ask(system, None if action else kind, kind if action else None,
                          max(1, COUNT // len(kinds)), seed=7)
            assert all(answer.message for answer in answers)
        print(f'{node}: {COUNT} requests in {time.monotonic() - begin:.0f} s')
        assert system.processes[node].poll() is None, system.log(node)
    assert contents(tmp_path) == before
    for node in system.processes:
        log = system.log(node)
        assert 'Traceback' not in log and 'unexpected' not in log, log


def trajectory(rng):
    """Return a trajectory with random mistakes."""
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    message = JointTrajectory(joint_names=rng.choice((
        ['joint_1', 'joint_2'], ['joint_1', 'joint_2'], ['joint_1'], [], ['joint_1'] * 2, ['x'])))
    for k in range(rng.choice((0, 1, 2, 300))):
        point = JointTrajectoryPoint(**{
            field: [rng.choice((0.1, 0.1, math.nan, 1e308))
                    for _ in range(rng.choice((2, 2, 0, 5)))]
            for field in ('positions', 'velocities', 'accelerations', 'effort')})
        point.time_from_start.sec = rng.choice((k, k, 0, -1, 2 ** 31 - 1))
        point.time_from_start.nanosec = rng.choice((0, 2 ** 32 - 1))
        message.points.append(point)
    return message


def test_joint_states_of_any_kind(system):
    """Nodes survive incomplete, extended, empty, ragged and repeated joint states."""
    from robot_identification_interfaces.srv import StartRecording, StopRecording
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory
    system.launch('recorder', robot='two_link')
    system.launch('validation', model='model.yaml')
    system.launch('online_identification', robot='two_link')
    system.launch('external_torque', model='model.yaml', reference='run.csv')
    system.launch('feedforward', model='model.yaml', mode='trajectory')
    system.launch('excitation', robot='two_link', autostart=True)
    system.wait(lambda: set(system.processes) <= set(system.client.get_node_names()), 240)
    publisher = system.client.create_publisher(JointState, '/joint_states', 1000)
    predicted, rng = [], random.Random(3)
    system.listen(JointState, '/validation/predicted', predicted.append)
    wishes = system.client.create_publisher(JointTrajectory, '/feedforward/joint_trajectory', 10)
    system.wait(lambda: publisher.get_subscription_count() >= 3
                and wishes.get_subscription_count(), 240)
    motion = Execution(system, excitation='keep.yaml')    # always refused
    future = system.call_async(StartRecording, '/recorder/start', name='odd')
    sent, begin = 0, time.monotonic()
    while sent < 400 or (not predicted and time.monotonic() < begin + 120):
        sent += 1
        names = rng.choice((['joint_1'], ['finger'], [], ['joint_1'] * 2, ['joint_2', 'joint_1'],
                            ['joint_1', 'joint_2', 'finger'], ['é' * 300]))
        odd = JointState(name=names, **{
            field: [rng.choice((0.1, math.nan, math.inf)) for _ in range(rng.choice((
                len(names), len(names), 0, 1, 50)))]
            for field in ('position', 'velocity', 'effort')})
        own = JointState(name=['joint_1', 'joint_2'], position=[0.1 * math.sin(0.02 * sent), 0.2],
                         velocity=[0.0, 0.0], effort=[1.0, 0.5])
        for message in (odd, own):
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(
                10 ** 12 + sent * 10 ** 7, 10 ** 9)
            if rng.random() < 0.02:
                message.header.stamp.nanosec = 2 ** 32 - 1
            publisher.publish(message)
        wishes.publish(trajectory(rng))
        system.rclpy.spin_once(system.client, timeout_sec=0.01)
    system.wait(future.done)
    answer = system.call(StopRecording, '/recorder/stop')
    assert future.result().success and answer.success, (future.result().message, answer.message)
    assert answer.joint_states > 100
    assert predicted and not motion.result().success
    for node, process in system.processes.items():
        assert process.poll() is None, system.log(node)
        log = system.log(node)
        assert 'Traceback' not in log and 'unexpected' not in log, log


def test_every_number_has_a_range():
    ros()
    from robot_identification.ros.nodes.requests import check_request, RANGES
    rng = random.Random(0)
    for kinds in interfaces().values():
        for kind, _ in kinds:
            request = getattr(kind, 'Goal', None) or kind.Request
            for name, type_ in request.get_fields_and_field_types().items():
                value = value_of(type_, rng)
                if 'string' not in type_:
                    assert name in RANGES, name
                if type_ in ('double', 'sequence<double>', 'sequence<double, 1>'):
                    bad = math.nan if type_ == 'double' else [math.nan]
                    with pytest.raises(ConfigurationError, match=name):
                        check_request(request(**{name: bad}))
                elif type_ == 'string':
                    for text, sentence in (('a' * 1001, 'characters'), ('a\0', 'control')):
                        with pytest.raises(ConfigurationError, match=sentence):
                            check_request(request(**{name: text}))
                assert value is not None
            check_request(request())


@pytest.mark.parametrize(('output', 'text'), [
    ('keep.yaml', 'nothing is overwritten'), ('round', 'round'), ('x.txt', 'must end with .yaml'),
    ('run.csv', 'must end with .yaml'), ('a' * 300 + '.yaml', 'too long'),
    ('away/x.yaml', 'outside')])
def test_a_design_overwrites_nothing(tmp_path, output, text):
    from robot_identification.ros.execution.data_directory import DataDirectory
    folder_of_a_laboratory(tmp_path)
    with pytest.raises(ConfigurationError, match=text):
        DataDirectory(tmp_path).new(output, 'excitation', ('.yaml', '.yml'))


@pytest.mark.parametrize(('name', 'text'), [
    ('a' * 300, 'too long'), ('pipe', 'neither a file nor a folder'), ('round', 'round'),
    ('keep.yaml/x', 'no file'), ('x\0', 'null'), ('away/passwd', 'outside')])
def test_what_is_no_file_is_said(tmp_path, name, text):
    from robot_identification.ros.execution.data_directory import DataDirectory
    folder_of_a_laboratory(tmp_path)
    with pytest.raises(ConfigurationError, match=text):
        DataDirectory(tmp_path).existing(name)
