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
"""Motions through the action FollowJointTrajectory; these tests need control_msgs."""

import importlib.util
import shutil
import signal
import time

from conftest import Execution, Goal, latched, PATIENT, rest_in, ros, System
import pytest
from robot_identification.arm import load_arm

EXCITATION, RATE = 3, 250.0
CONTROLLER = 'joint_trajectory_controller'
OPTIONS = {'robot': 'panda', 'autostart': True, 'approach_speed': 1.0, 'watch__tracking': 0.5,
           **PATIENT}
CALM = {'path_tolerance': 0.0, 'goal_tolerance': 0.0, 'goal_time': 0.0}
installed = importlib.util.find_spec('control_msgs') is not None
needs_action = pytest.mark.skipif(not installed, reason='control_msgs is not installed')


@pytest.fixture(scope='module')
def system(tmp_path_factory, excitations, own_domain):
    ros()
    folder = tmp_path_factory.mktemp('action')
    for file in excitations.iterdir():
        shutil.copy(file, folder)
    system = System(folder)
    system.start('simulated_robot', robot='panda', rate=RATE)
    start_excitation(system)
    yield system
    codes = system.close()
    assert codes == dict.fromkeys(codes, 0), codes


def start_excitation(system, **parameters):
    system.start('excitation', **{**OPTIONS, **parameters})


@needs_action
def test_auto_takes_the_action(system, speeds):
    result = Execution(system, excitation='b.yaml').result()
    assert result.reason == 'finished', result.message
    assert result.transport == 'action' and 'was cancelled' not in result.message
    assert max(result.largest_tracking_error) < 0.05
    assert f"are sent to '/{CONTROLLER}/follow_joint_trajectory' by action" in (
        system.log('excitation'))


@needs_action
def test_rejected_goal(system, speeds):
    system.fault(reject=True)
    began = time.monotonic()
    result = Execution(system, excitation='b.yaml').result()
    system.fault(reject=False)
    assert result.reason == 'controller_rejected' and 'the arm rests' in result.message
    assert time.monotonic() - began < 10
    assert not speeds.speeds or max(speeds.speeds) < 0.02


@needs_action
def test_path_tolerance_of_the_controller(system, speeds):
    execution = Execution(system, excitation='b.yaml')
    execution.reach(EXCITATION)
    system.configure(CONTROLLER, path_tolerance=0.08)
    system.fault(stuck_joint='panda_joint4')
    result = execution.result()
    system.fault(stuck_joint='')
    system.configure(CONTROLLER, **CALM)
    assert result.reason == 'path_tolerance'
    assert "joint 'panda_joint4' is 0.0" in result.message and 'the arm rests' in result.message
    speeds.wait_for_rest()


@needs_action
def test_goal_tolerance_of_the_controller(system, speeds):
    system.configure(CONTROLLER, goal_tolerance=1e-9, goal_time=0.2)
    result = Execution(system, excitation='b.yaml').result()
    assert result.reason == 'goal_tolerance' and 'its tolerance is 1e-09' in result.message
    system.configure(CONTROLLER, goal_time=0.0)
    result = Execution(system, excitation='b.yaml').result()
    system.configure(CONTROLLER, **CALM)
    assert result.reason == 'finished' and 'its goal was cancelled' in result.message
    speeds.wait_for_rest()


@needs_action
def test_cancelling_brakes_with_bounded_deceleration(system, speeds):
    execution = Execution(system, excitation='b.yaml')
    execution.reach(EXCITATION)
    speeds.wait_for_speed()
    began = speeds.stamps[-1]
    execution.handle.cancel_goal_async()
    result = execution.result()
    assert result.reason == 'cancelled' and 'the arm rests' in result.message
    speeds.wait_for_rest()
    assert speeds.deceleration_after(began) < load_arm('panda').limits.acceleration.max()


@needs_action
def test_somebody_else_cancels_the_goal(system, speeds):
    from action_msgs.srv import CancelGoal
    execution = Execution(system, excitation='b.yaml')
    execution.reach(EXCITATION)
    system.call(CancelGoal, f'/{CONTROLLER}/follow_joint_trajectory/_action/cancel_goal')
    result = execution.result()
    assert result.reason == 'controller_cancelled', result.message
    speeds.wait_for_rest()


@needs_action
def test_another_goal_is_left_alone(system, speeds):
    from control_msgs.action import FollowJointTrajectory
    execution = Execution(system, excitation='b.yaml')
    execution.reach(EXCITATION)
    other = Goal(system, FollowJointTrajectory, f'/{CONTROLLER}/follow_joint_trajectory',
                 trajectory=rest_in(2))
    result = execution.result()
    assert result.reason == 'another_client', result.message
    assert other.result().error_code == 0
    speeds.wait_for_rest()


@needs_action
def test_a_goal_that_somebody_else_has_there_first(system):
    from control_msgs.action import FollowJointTrajectory
    other = Goal(system, FollowJointTrajectory, f'/{CONTROLLER}/follow_joint_trajectory',
                 trajectory=rest_in(6))
    system.settle()
    result = Execution(system, excitation='b.yaml').result()
    assert result.reason == 'another_client' and 'follows a goal' in result.message
    other.handle.cancel_goal_async()
    other.result()


@needs_action
@pytest.mark.parametrize('factor', [0.5, 0.0])
def test_speed_scaling_input(system, speeds, factor):
    from control_msgs.msg import SpeedScalingFactor
    publisher = system.client.create_publisher(
        SpeedScalingFactor, f'/{CONTROLLER}/speed_scaling_input', latched())
    execution = Execution(system, excitation='b.yaml')
    execution.reach(EXCITATION)
    publisher.publish(SpeedScalingFactor(factor=factor))
    result = execution.result()
    assert result.reason == 'speed_scaling' and f'is {factor:g}' in result.message
    speeds.wait_for_rest()
    refused = Execution(system, excitation='b.yaml').result()
    assert refused.reason == 'speed_scaling' and 'only at 1' in refused.message
    publisher.publish(SpeedScalingFactor(factor=1.0))
    system.settle()


@needs_action
def test_whole_motion_that_cannot_be_replaced_is_held(system, speeds):
    assert system.kill('excitation', signal.SIGINT) == 0
    start_excitation(system, transport='action')
    execution = Execution(system, excitation='a.yaml')
    execution.reach(EXCITATION)
    system.fault(reject=True)       # the braking trajectory is rejected, too
    began = time.monotonic()
    execution.handle.cancel_goal_async()
    result = execution.result()
    system.fault(reject=False)
    assert result.reason == 'cancelled' and 'the arm rests' in result.message
    assert time.monotonic() - began < 6
    speeds.wait_for_rest()


@needs_action
def test_action_that_nobody_offers_is_refused(system):
    assert system.kill('excitation', signal.SIGINT) == 0
    start_excitation(system, transport='action', controller='nobody')
    result = Execution(system, excitation='b.yaml').result()
    if importlib.util.find_spec('controller_manager_msgs') is None:
        assert result.reason == 'controller_missing'
        assert "nobody offers '/nobody/follow_joint_trajectory'" in result.message
    else:
        assert result.reason == 'controller_inactive'
        assert f"'nobody' is not loaded; the joints are claimed by {CONTROLLER}" in result.message
    assert system.kill('excitation', signal.SIGINT) == 0
    start_excitation(system)


@pytest.mark.skipif(installed, reason='control_msgs is installed')
def test_action_without_control_msgs_is_refused(tmp_path):
    ros()
    system = System(tmp_path)
    try:
        system.start('simulated_robot', robot='panda', rate=RATE)
        system.launch('excitation', **OPTIONS, transport='action')   # the goal ends immediately
        assert system.processes.pop('excitation').wait(timeout=30) == 2
        assert 'control_msgs is not installed' in system.log('excitation')
    finally:
        assert system.close() == {'simulated_robot': 0}


@needs_action
def test_killed_excitation_leaves_an_arm_that_brakes(system, speeds):
    execution = Execution(system, excitation='b.yaml')
    execution.reach(EXCITATION)
    speeds.wait_for_speed()
    system.kill('excitation')
    died = speeds.stamps[-1]
    speeds.wait_for_rest()
    assert speeds.deceleration_after(died) < load_arm('panda').limits.acceleration.max()
