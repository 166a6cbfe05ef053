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
"""Conditions that prevent a motion are reported before anything moves."""

import dataclasses
import shutil
import signal
import time

from conftest import Execution, PATIENT, ros, System
from robot_identification.arm import load_arm
from robot_identification.excitation import load_excitation, save_excitation, Trajectory

RATE = 250.0


def test_start_outside_limits_and_wrong_controller(tmp_path, excitations):
    ros()
    for file in excitations.iterdir():
        shutil.copy(file, tmp_path)
    arm = load_arm('panda')
    q = (arm.limits.lower + arm.limits.upper) / 2
    q[1] = arm.limits.upper[1] + 0.03
    too_fast = load_excitation(tmp_path / 'a.yaml')
    coefficients = too_fast.trajectory.coefficients.copy()
    coefficients[1:] *= 1.5
    save_excitation(dataclasses.replace(
        too_fast, trajectory=Trajectory(too_fast.trajectory.series, coefficients)),
        tmp_path / 'too_fast.yaml')
    other = System(tmp_path)
    try:
        other.start('simulated_robot', robot='panda', rate=RATE, initial_position=q.tolist(),
                    controller='mine')
        other.start('excitation', robot='panda', autostart=True, controller='mine')
        result = Execution(other, excitation='too_fast.yaml').result()
        assert result.reason == 'excitation'
        assert 'must not be executed' in result.message
        result = Execution(other, excitation='a.yaml').result()
        assert result.reason == 'start_outside_limits'
        assert 'panda_joint2' in result.message
    finally:
        assert other.close() == {'simulated_robot': 0, 'excitation': 0}
    other = System(tmp_path)
    try:
        other.start('simulated_robot', robot='ur5', rate=RATE, controller='mine')
        other.start('excitation', robot='panda', autostart=True, controller='mine')
        result = Execution(other, excitation='a.yaml').result()
        assert result.reason == 'controller_joints'
        other.kill('excitation', signal.SIGINT)
        other.start('excitation', robot='panda', autostart=True, controller='nobody')
        assert Execution(other, excitation='a.yaml').result().reason in (
            'controller_missing', 'controller_inactive')
    finally:
        other.close()


def move(system, seconds):
    """Move the arm through the controller's topic."""
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    arm = load_arm('two_link')
    publisher = system.client.create_publisher(
        JointTrajectory, '/joint_trajectory_controller/joint_trajectory', 1)
    system.wait(publisher.get_subscription_count)
    point = JointTrajectoryPoint(positions=(arm.limits.upper * 0.9).tolist(),
                                 velocities=[0.0, 0.0])
    point.time_from_start.sec = seconds
    publisher.publish(JointTrajectory(joint_names=list(arm.joint_names), points=[point]))
    time.sleep(0.2)
    assert publisher.wait_for_all_acked()
    time.sleep(1.0)


def test_motion_that_is_designed_on_request(tmp_path):
    ros()
    system = System(tmp_path)
    try:
        system.start('simulated_robot', robot='two_link', rate=RATE)
        system.start('excitation', robot='two_link', autostart=True, approach_speed=1.0,
                     **PATIENT)
        goal = {'excitation': 'new.yaml', 'design': True, 'period': 4.0, 'harmonics': 2}
        execution = Execution(system, **goal, starts=50)
        execution.reach(Execution.DESIGN)
        execution.handle.cancel_goal_async()
        result = execution.result()
        assert result.reason == 'cancelled' and 'nothing moved' in result.message
        assert not (tmp_path / 'new.yaml').exists()
        for change, text in (({'excitation': '../new.yaml'}, 'outside the data directory'),
                             ({'excitation': 'new'}, 'end with .yaml'),
                             ({'kind': 'spiral'}, 'spiral')):
            result = Execution(system, **{**goal, **change}).result()
            assert result.reason == 'excitation' and text in result.message, result.message
        result = Execution(system, **goal, starts=1, margin=0.2).result()
        assert result.success, result.message
        assert result.excitation == str(tmp_path / 'new.yaml')
        assert load_excitation(tmp_path / 'new.yaml').period == 4.0
        again = Execution(system, **goal).result()
        assert again.reason == 'excitation' and 'already exists' in again.message
        move(system, seconds=5)    # another client moves the arm
        result = Execution(system, excitation='new.yaml').result()
        assert result.reason == 'arm_moves', result.message
        assert system.kill('excitation', signal.SIGINT) == 0
        system.sim_time = False     # the node's clock differs from that of the stamps
        system.start('excitation', robot='two_link', autostart=True)
        assert Execution(system, excitation='new.yaml').result().reason == 'clock'
        assert system.kill('simulated_robot', signal.SIGINT) == 0
        result = Execution(system, excitation='new.yaml').result()
        assert result.reason == 'controller_missing'
    finally:
        codes = system.close()
    assert codes == {'excitation': 0}
