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
"""The recorder loses no message and reports errors."""

import os
from pathlib import Path
import resource
import shutil
import subprocess
import sys
import time

from conftest import Execution, PATIENT, ros, System
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.recording import load_recording

SECONDS = float(os.environ.get('ROBOT_IDENTIFICATION_RECORDING_SECONDS', '8'))


@pytest.fixture
def system(tmp_path):
    ros()
    system = System(tmp_path, sim_time=False)
    yield system
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes


def cpu(pid):
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def test_nothing_is_lost_at_1_khz_under_load(system, tmp_path, excitations):
    from robot_identification_interfaces.srv import StartRecording, StopRecording
    system.sim_time = True      # a busy computer slows the robot but does not delay messages
    system.start('simulated_robot', robot='panda')
    system.start('recorder', robot='panda', use_sim_time=False)
    system.start('excitation', robot='panda', autostart=True, approach_speed=1.0, **PATIENT)
    shutil.copy(excitations / 'a.yaml', tmp_path)
    execution = Execution(system, excitation='a.yaml', periods=round(SECONDS / 8) + 3)
    execution.reach(1)
    assert system.call(StartRecording, '/recorder/start', name='run').success
    load = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
    process = system.processes['recorder'].pid
    try:
        before, began = cpu(process), time.monotonic()
        time.sleep(SECONDS)
        part = (cpu(process) - before) / (time.monotonic() - began)
    finally:
        load.kill()
        load.wait()
    second = system.call(StartRecording, '/recorder/start', name='other')
    assert not second.success and 'is already being recorded' in second.message
    answer = system.call(StopRecording, '/recorder/stop')
    execution.handle.cancel_goal_async()
    assert execution.result().reason == 'cancelled', execution.result().message
    print(f'{answer.joint_states} joint states of {answer.duration:.1f} s in {SECONDS:g} s, CPU '
          f'{part:.1%} of a core')
    assert answer.success, answer.message
    assert (answer.gaps, answer.duplicates, answer.out_of_order) == (0, 0, 0)
    assert answer.joint_states == round(answer.duration * 1000) + 1
    assert answer.joint_states > 500     # independent of the speed of the simulation
    assert part < 0.15
    arm = load_arm('panda')
    back = load_recording(tmp_path / 'run', arm)
    assert len(back) == answer.joint_states
    np.testing.assert_allclose(np.diff(back.t), 0.001, atol=1e-9)
    assert back.v is not None and back.tau is not None
    assert (tmp_path / 'run' / 'robot.urdf').read_text() == arm.urdf
    assert (tmp_path / 'run' / 'robot.yaml').exists()


ROBOT = """
import sys, time
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from robot_identification.recording.bag.joint_states import JointStateLayout
from sensor_msgs.msg import JointState
names, count = sys.argv[1].split(','), int(sys.argv[2])
rclpy.init()
node = Node('paced_robot')
publisher = node.create_publisher(JointState, '/paced/joint_states', QoSProfile(depth=1000))
layout = JointStateLayout.build(names, ('position', 'velocity', 'effort'))
rows = np.zeros((1, len(names)))
begin, k, last = time.monotonic(), 0, -1
while last < 0 or k <= last:
    if last < 0 and publisher.get_subscription_count():     # from here on everything counts
        last = k + 1000 + count
        print(k, flush=True)
    (message,) = layout.encode(np.array([10 ** 18 + k * 1_000_000]), position=rows + 1e-3 * k,
                               velocity=rows, effort=rows)
    publisher.publish(message)
    k += 1
    time.sleep(max(0.0, begin + 1e-3 * k - time.monotonic()))
time.sleep(3.0)
"""


@pytest.mark.skipif('ROBOT_IDENTIFICATION_RECORDING_SECONDS' not in os.environ,
                    reason='for a quiet computer: set ROBOT_IDENTIFICATION_RECORDING_SECONDS')
def test_nothing_is_lost_of_a_robot_with_its_own_clock(system, tmp_path, excitations):
    """At 1 kHz of real time, during an excitation, the recorder does not slow the robot down."""
    from robot_identification_interfaces.srv import StartRecording, StopRecording
    system.sim_time = True
    system.launch('simulated_robot', robot='panda', rate=250.0)
    system.launch('excitation', robot='panda', autostart=True, approach_speed=1.0, **PATIENT)
    system.launch('recorder', robot='panda', use_sim_time=False,
                  joint_states='/paced/joint_states')
    system.wait(lambda: set(system.processes) <= set(system.client.get_node_names()), 240)
    shutil.copy(excitations / 'a.yaml', tmp_path)
    execution = Execution(system, excitation='a.yaml', periods=round(SECONDS / 8) + 20)
    system.wait(lambda: execution.phase == 3, 240)
    count = round(1000 * SECONDS)
    environment = {name: value for name, value in os.environ.items()
                   if name != '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
    robot = subprocess.Popen([sys.executable, '-c', ROBOT, ','.join(load_arm('panda').joint_names),
                              str(count)], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        system.wait(lambda: system.client.count_publishers('/paced/joint_states'), 120)
        started = system.call(StartRecording, '/recorder/start', name='run')
        assert started.success, started.message
        first = int(robot.stdout.readline())
        system.wait(lambda: robot.poll() is not None, 60 + 20 * SECONDS)
    finally:
        robot.kill()
        robot.wait()
    answer = system.call(StopRecording, '/recorder/stop')
    phase = execution.phase
    execution.handle.cancel_goal_async()
    execution.result()
    print(f'{answer.joint_states} joint states of {answer.duration:.1f} s; {answer.message}')
    assert answer.success and phase == 3
    assert (answer.gaps, answer.duplicates, answer.out_of_order) == (0, 0, 0)
    back = load_recording(tmp_path / 'run', load_arm('panda'))
    begin = round(back.q[0, 0] / 1e-3)
    assert begin <= first + 1000        # discovery takes some time; after it no message is missing
    assert len(back) == answer.joint_states == first + 1000 + count - begin + 1


def test_faults_are_counted_and_other_topics_recorded(system, tmp_path):
    from robot_identification_interfaces.srv import StartRecording, StopRecording
    from rosbags.highlevel import AnyReader
    system.sim_time = True    # on simulation time, a stall of the computer causes no gap
    system.start('simulated_robot', robot='panda', rate=200.0)
    system.start('recorder', robot='panda', topics='[/diagnostics]')
    refused = system.call(StartRecording, '/recorder/start', name='../out')
    assert not refused.success and 'outside the data directory' in refused.message
    nothing = system.call(StopRecording, '/recorder/stop')
    assert not nothing.success and nothing.message == 'nothing is being recorded'
    assert system.call(StartRecording, '/recorder/start', name='run').success
    system.fault(repeat=0.04)    # 8 of 200 are expected; none has probability 3e-4
    system.live(1.0)
    system.fault(repeat=0.0, silent=True)
    system.live(0.2)
    system.fault(silent=False)
    system.live(0.5)
    answer = system.call(StopRecording, '/recorder/stop')
    assert answer.success and answer.gaps == 1 and answer.duplicates > 0
    assert answer.messages > answer.joint_states
    back = load_recording(tmp_path / 'run', load_arm('panda'))
    assert (len(back.gaps), back.duplicates) == (1, answer.duplicates)
    with AnyReader([tmp_path / 'run']) as reader:
        names = {reader.deserialize(raw, connection.msgtype).status[0].name
                 for connection, _, raw in reader.messages()
                 if connection.topic == '/diagnostics'}
    assert names == {'robot_identification: recorder'}


def test_a_bag_says_what_it_is_of(system, tmp_path):
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from robot_identification.recording.bag.bag import Bag
    from robot_identification.recording.bag.bag_description import (
        load_arm_from_bag,
        read_last_texts,
    )
    from robot_identification_interfaces.srv import StartRecording, StopRecording
    from std_msgs.msg import String
    import yaml
    system.start('simulated_robot', robot='two_link', rate=100.0)
    system.start('recorder', robot='two_link')
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = system.client.create_publisher(String, '/robot_description', latched)
    publisher.publish(String(data='<robot/>'))
    assert system.call(StartRecording, '/recorder/start', name='run').success
    system.wait(lambda: (tmp_path / 'run' / 'facts.yaml').exists())
    assert system.call(StopRecording, '/recorder/stop').success
    (bag,) = (tmp_path / 'run').glob('*.mcap')    # the only topic
    arm, _ = load_arm_from_bag(bag)
    assert arm.joint_names == load_arm('two_link').joint_names
    told = read_last_texts(Bag(bag))
    assert told['/robot_description'] == '<robot/>'
    facts = yaml.safe_load(told['/recorder/facts'])
    assert {'ros', 'rmw', 'robot_identification'} <= set(facts['versions'])
    assert facts['parameters']['/recorder']['robot'] == 'two_link'
    assert facts['parameters']['/joint_trajectory_controller']['joints'] == list(arm.joint_names)
    assert facts['publishers']['/joint_states'] == ['/simulated_robot']


def test_full_disk_is_reported_and_the_bag_closed(system, tmp_path):
    from diagnostic_msgs.msg import DiagnosticArray
    from robot_identification_interfaces.srv import StartRecording, StopRecording

    def small_files():
        # file sizes are limited to 1.5 MB, which only the recorder's bag reaches
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))
    system.start('simulated_robot', robot='panda')
    system.launch('recorder', prepare=small_files, robot='panda')
    health = []
    system.listen(DiagnosticArray, '/diagnostics', lambda m: health.append(m.status[0]))
    assert system.call(StartRecording, '/recorder/start', name='full').success
    system.wait(lambda: any('large' in status.message for status in health), 30)
    answer = system.call(StopRecording, '/recorder/stop')
    assert not answer.success and 'File too large' in answer.message
    back = load_recording(tmp_path / 'full', load_arm('panda'))
    assert back.duration > 1.0
    again = system.call(StartRecording, '/recorder/start', name='next')   # the node still works
    assert again.success, again.message


def test_no_robot(system):
    from robot_identification_interfaces.srv import StartRecording
    system.start('recorder', robot='panda')
    answer = system.call(StartRecording, '/recorder/start')
    assert not answer.success and "nobody publishes '/joint_states'" in answer.message


def test_killed_recorder(system, tmp_path):
    from robot_identification_interfaces.srv import StartRecording
    system.start('simulated_robot', robot='panda', rate=500.0)
    system.start('recorder', robot='panda')
    assert system.call(StartRecording, '/recorder/start', name='run').success
    began = time.monotonic()
    time.sleep(3.0)
    lasted = time.monotonic() - began    # on a busy computer the end of the process takes longer
    system.kill('recorder')
    back = load_recording(tmp_path / 'run', load_arm('panda'))
    assert back.duration > lasted - 1.0


def test_recordings_have_an_owner_and_a_lease(system, tmp_path, excitations):
    from robot_identification_interfaces.srv import StartRecording, StopRecording
    start, stop = (StartRecording, '/recorder/start'), (StopRecording, '/recorder/stop')
    system.sim_time = True
    shutil.copy(excitations / 'b.yaml', tmp_path)
    system.launch('simulated_robot', robot='panda', rate=250.0)
    system.launch('recorder', robot='panda', use_sim_time=False)
    given = {'robot': 'panda', 'autostart': True, 'approach_speed': 1.0, **PATIENT}
    system.launch('excitation', **given)
    system.wait(lambda: set(system.processes) <= set(system.client.get_node_names()), 240)
    # a rejected execution neither ends nor returns the recording of another client
    mine = system.call(*start, name='mine')
    assert mine.success, mine.message
    result = Execution(system, excitation='b.yaml', recording='other').result()
    assert result.reason == 'recorder_failed' and not result.recording, result.message
    assert "mine' is already being recorded" in result.message
    other = system.call(*stop, path=str(tmp_path / 'other'))
    assert not other.success and "mine' is being recorded, not" in other.message
    ended = system.call(*stop, path=mine.path)
    assert ended.success and ended.path == mine.path and ended.joint_states > 500
    again = system.call(*stop)
    assert not again.success and again.message == 'nothing is being recorded'
    # a recording that is not renewed ends by itself; its client can still request the result
    leased = system.call(*start, name='leased', lease=1.0)
    assert leased.success
    system.wait(lambda: 'the recording was ended' in system.log('recorder'))
    late = system.call(*stop, path=leased.path)
    assert late.success and late.path == leased.path and late.duration > 0
    # so does the recording of a killed node; the next execution works
    execution = Execution(system, excitation='b.yaml', recording='killed')
    execution.reach(3)
    system.kill('excitation')
    system.wait(lambda: "killed' no longer renews" in system.log('recorder'))
    assert load_recording(tmp_path / 'killed', load_arm('panda')).duration > 0.5
    system.launch('excitation', **given)
    system.wait(lambda: system.client.get_node_names().count('excitation') == 2
                or "'excitation'" in system.log('excitation'), 60)
    time.sleep(5.0)     # the watchdog of the killed node ends, and the new node's is discovered
    result = Execution(system, excitation='b.yaml', recording='next').result()
    assert result.success and result.recording == str(tmp_path / 'next'), result.message
