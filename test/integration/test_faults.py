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
"""After every fault the arm comes to rest with bounded deceleration, and the reason is named."""

import re
import shutil
import signal
import time

from conftest import Execution, PATIENT, rest_in, ros, System
import numpy as np
import pytest
from robot_identification.arm import load_arm

APPROACH, EXCITATION, RATE = 1, 3, 250.0


@pytest.fixture(scope='module')
def system(tmp_path_factory, excitations, own_domain):
    ros()
    folder = tmp_path_factory.mktemp('faults')
    for file in excitations.iterdir():
        shutil.copy(file, folder)
    system = System(folder)
    system.start('simulated_robot', robot='panda', rate=RATE)
    start_excitation(system)
    yield system
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes


def start_excitation(system, **parameters):
    system.start('excitation', **{'robot': 'panda', 'autostart': True, 'approach_speed': 1.0,
                                  'transport': 'topic', **PATIENT, **parameters})


FAULTS = {
    'stale_joint_states': {'silent': True},
    'effort_limit': {'effort_joint': 'panda_joint6', 'effort': 60.0},
    'tracking_error': {'stuck_joint': 'panda_joint4'},
}
CALM = {'silent': False, 'effort_joint': '', 'effort': 0.0, 'stuck_joint': '', 'reject': False,
        'scaling': 1.0, 'clock': 0.0,
        'delay': 0.0}


@pytest.mark.parametrize('reason', FAULTS)
def test_fault_in_motion(system, speeds, reason):
    from diagnostic_msgs.msg import DiagnosticArray
    health = []
    listening = system.listen(DiagnosticArray, '/diagnostics',
                              lambda m: health.append(m.status[0]))
    execution = Execution(system, excitation='a.yaml')
    execution.reach(EXCITATION)
    try:
        system.fault(**FAULTS[reason])
        result = execution.result()
    finally:
        system.fault(**CALM)
    assert (result.success, result.reason) == (False, reason), result.message
    assert result.message
    speeds.wait_for_rest()
    system.wait(lambda: any(value.value == reason for status in health for value in status.values))
    system.client.destroy_subscription(listening)


def test_delayed_joint_states(system, speeds):
    from rosgraph_msgs.msg import Clock
    execution = Execution(system, excitation='a.yaml')
    execution.reach(EXCITATION)
    system.fault(delay=5.0)
    result = execution.result()
    system.fault(**CALM)
    assert result.reason == 'stale_joint_states'
    times = []
    clock = system.listen(Clock, '/clock', lambda m: times.append(
        m.clock.sec + 1e-9 * m.clock.nanosec))
    system.wait(lambda: times and speeds.stamps[-1] > times[0])     # delayed ones have arrived
    system.client.destroy_subscription(clock)
    speeds.wait_for_rest()


def test_controller_that_rejects(system, speeds):
    system.fault(reject=True)
    result = Execution(system, excitation='b.yaml').result()
    system.fault(**CALM)
    assert result.reason == 'controller_does_not_follow', result.message
    speeds.wait_for_rest()


@pytest.mark.parametrize('scaling', [0.5, 0.0])
def test_speed_scaling(system, speeds, scaling):
    from std_msgs.msg import Float64
    execution = Execution(system, excitation='a.yaml')
    execution.reach(EXCITATION)
    system.fault(scaling=scaling)
    result = execution.result()
    assert result.reason == 'speed_scaling', result.message
    speeds.wait_for_rest()
    refused = Execution(system, excitation='a.yaml').result()
    told = []
    listening = system.listen(
        Float64, '/speed_scaling_state_broadcaster/speed_scaling', lambda m: told.append(m.data))
    system.fault(**CALM)
    system.wait(lambda: told and told[-1] == 100.0)
    system.settle()
    system.client.destroy_subscription(listening)
    assert refused.reason == 'speed_scaling' and 'starts only at 1' in refused.message


def test_another_client_on_the_topic_is_left_alone(system, speeds):
    from trajectory_msgs.msg import JointTrajectory
    publisher = system.client.create_publisher(
        JointTrajectory, '/joint_trajectory_controller/joint_trajectory', 1)
    execution = Execution(system, excitation='a.yaml')
    execution.reach(EXCITATION)
    message = rest_in(2)
    publisher.publish(message)
    result = execution.result()
    assert result.reason == 'another_client', result.message
    assert 'nothing more was sent' in result.message
    speeds.wait_for_rest()
    assert np.abs(np.array(speeds.position) - message.points[0].positions).max() < 0.02


def test_clocks(system, speeds):
    system.fault(clock=0.4)
    refused = Execution(system, excitation='a.yaml').result()
    system.fault(**CALM)
    assert refused.reason == 'clock', refused.message
    ahead = float(re.search(r'is ([\d.]+) s ahead', refused.message)[1])
    assert ahead == pytest.approx(0.4, abs=0.1)    # the message may be late
    execution = Execution(system, excitation='a.yaml')
    execution.reach(APPROACH)
    system.fault(clock=3.0)
    result = execution.result()
    system.fault(**CALM)
    assert result.reason == 'clock' and 'jumped' in result.message, result.message
    speeds.wait_for_rest()


def test_cancel_stop_and_two_clients(system, speeds):
    from std_srvs.srv import Trigger
    execution = Execution(system, excitation='a.yaml')
    execution.reach(APPROACH)
    other = Execution(system, excitation='a.yaml').result()
    assert (other.success, other.reason) == (False, 'busy')
    execution.handle.cancel_goal_async()
    result = execution.result()
    assert result.reason == 'cancelled' and 'rests' in result.message
    speeds.wait_for_rest()
    execution = Execution(system, excitation='a.yaml')
    execution.reach(APPROACH)
    assert system.call(Trigger, '/excitation/stop').success
    assert execution.result().reason == 'stopped'
    assert not system.call(Trigger, '/excitation/stop').success
    speeds.wait_for_rest()


def test_only_an_active_node_moves(system, speeds):
    execution = Execution(system, excitation='a.yaml')
    execution.reach(APPROACH)
    system.change('excitation', 'deactivate')
    assert execution.result().reason == 'deactivated'
    speeds.wait_for_rest()
    assert Execution(system, excitation='a.yaml').result().reason == 'not_active'
    system.change('excitation', 'activate')


@pytest.mark.parametrize(('goal', 'reason', 'text'), [
    ({'excitation': '../a.yaml'}, 'excitation', 'outside the data directory'),
    ({'excitation': 'nothing.yaml'}, 'excitation', "no excitation 'nothing.yaml'"),
    ({'excitation': 'a.yaml', 'recording': 'x'}, 'recorder_missing', 'no recorder')])
def test_refused_before_motion(system, goal, reason, text):
    result = Execution(system, **goal).result()
    assert not result.success and result.reason == reason
    assert text in result.message


def test_killed_recorder(system, speeds):
    from robot_identification.recording import load_recording
    system.start('recorder', robot='panda')
    system.wait(lambda: system.client.count_publishers('/diagnostics') > 1)
    time.sleep(1.0)
    execution = Execution(system, excitation='b.yaml', recording='killed')
    execution.reach(EXCITATION)
    time.sleep(2.0)
    system.kill('recorder')
    result = execution.result()
    assert (result.success, result.reason) == (False, 'recorder_failed')
    speeds.wait_for_rest()
    back = load_recording(system.data / 'killed', load_arm('panda'))
    assert back.duration > 1.5
    assert not back.out_of_order


def test_sigint_brakes_first(system, speeds):
    execution = Execution(system, excitation='b.yaml')
    execution.reach(EXCITATION)
    assert system.kill('excitation', signal.SIGINT) == 0
    speeds.wait_for_rest()
    assert 'shutdown: the node was ended; the arm rests' in system.log('excitation')
    start_excitation(system)


def test_killed_excitation_leaves_an_arm_that_brakes(system, speeds):
    execution = Execution(system, excitation='a.yaml')
    execution.reach(EXCITATION)
    speeds.wait_for_speed()
    system.kill('excitation')
    died = speeds.stamps[-1]
    speeds.wait_for_rest()
    moving = np.array(speeds.stamps)[np.array(speeds.speeds) > 0.02]
    # horizon of 2.5 s, 2 s more if the watchdog stalls, braking time, late messages
    assert moving[-1] - died < 7.0
    assert speeds.deceleration_after(died) < load_arm('panda').limits.acceleration.max()
