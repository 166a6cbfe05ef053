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
"""The nodes external_torque and feedforward over real middleware."""

import time

from conftest import ros, System
import numpy as np
import pytest
from robot_identification import IdentifiedModel, load_arm, load_model, Recording
from robot_identification.observer import trajectory_efforts


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return the folder of a model of the two-link arm and a recording of it without contact."""
    folder = tmp_path_factory.mktemp('work')
    arm = load_arm('two_link')
    model = IdentifiedModel(arm, arm.inertial_parameters, np.full(2, 0.01), 'coulomb_viscous',
                            np.tile([0.05, 0.02, 0.0], (2, 1)))
    model.save(folder / 'model.yaml')
    t = np.arange(0, 12, 0.005)
    angle = np.outer(t, [2.0, 3.1])
    q, v, a = 0.4 * np.sin(angle), 0.4 * np.array([2.0, 3.1]) * np.cos(angle), \
        -0.4 * np.array([2.0, 3.1]) ** 2 * np.sin(angle)
    tau = model.torque(q, v, a) + 0.02 * np.random.default_rng(0).normal(size=q.shape)
    Recording(t, q, tau, joint_names=arm.joint_names, name='free').to_csv(folder / 'free.csv')
    return folder


@pytest.fixture
def system(folder):
    system = System(folder, sim_time=False)
    yield system
    codes = system.close()
    assert set(codes.values()) <= {0}, (codes, [system.log(node) for node in codes])


def publisher(system):
    from sensor_msgs.msg import JointState
    sender = system.client.create_publisher(JointState, '/joint_states', 100)

    def send(t, q, effort):
        message = JointState(name=['joint_1', 'joint_2'], position=[float(x) for x in q],
                             effort=[float(x) for x in effort])
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(round(t * 1e9), 10 ** 9)
        sender.publish(message)
    return send


def stream(system, send, seconds, effort, until=lambda: False):
    """Publish an arm at rest at 200 Hz with its stamps, however busy the computer is."""
    begin = 1000.0 + time.monotonic()
    for k in range(round(200 * seconds)):
        send(begin + k / 200, [0.3, 0.2], effort)
        system.rclpy.spin_once(system.client, timeout_sec=0.004)
        if until():
            return


def test_external_torque_sees_a_push(system, folder):
    ros()
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Bool
    model = load_model(folder / 'model.yaml')
    zero = np.zeros((1, 2))
    held = model.torque(np.array([[0.3, 0.2]]), zero, zero)[0]
    system.start('external_torque', model='model.yaml', reference='free.csv',
                 window=0.06)
    torques, contacts = [], []
    system.listen(JointState, '/external_torque/torque', lambda m: torques.append(m.effort))
    system.listen(Bool, '/external_torque/contact', lambda m: contacts.append(m.data))
    send = publisher(system)
    system.settle()
    stream(system, send, 15, held, lambda: len(torques) > 20)
    assert contacts and not any(contacts)
    assert np.abs(torques[-1]).max() < 0.2
    stream(system, send, 20, held - np.array([0.0, 3.0]), lambda: bool(contacts and contacts[-1]))
    assert contacts[-1]
    stream(system, send, 20, held - np.array([0.0, 3.0]),
           lambda: abs(torques[-1][1] - 3.0) < 0.1)
    assert torques[-1][1] == pytest.approx(3.0, abs=0.2)


def test_feedforward_adds_efforts_and_refuses_what_is_beyond_limits(system, folder):
    ros()
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    model = load_model(folder / 'model.yaml')
    system.start('feedforward', model='model.yaml', mode='trajectory')
    passed = []
    system.listen(JointTrajectory, '/joint_trajectory_controller/joint_trajectory', passed.append)
    sender = system.client.create_publisher(JointTrajectory, '/feedforward/joint_trajectory', 10)
    system.wait(lambda: sender.get_subscription_count() > 0)
    system.settle()

    def trajectory(names, rows):
        message = JointTrajectory(joint_names=names)
        for k, row in enumerate(rows):
            point = JointTrajectoryPoint(positions=row, velocities=[0.0, 0.0])
            point.time_from_start.sec = 2 * (k + 1)
            message.points.append(point)
        return message
    sender.publish(trajectory(['joint_2', 'joint_1'], [[0.1, 0.2], [0.3, 0.4]]))
    system.wait(lambda: passed)
    efforts = np.array([point.effort for point in passed[0].points])
    expected = trajectory_efforts(model, [2.0, 4.0], [[0.2, 0.1], [0.4, 0.3]], np.zeros((2, 2)))
    np.testing.assert_allclose(efforts, expected[:, ::-1], rtol=1e-12)
    sender.publish(trajectory(['joint_1', 'joint_2'], [[0.1, 0.2], [99.0, 0.4]]))
    system.wait(lambda: 'beyond its position limit' in system.log('feedforward'))
    assert len(passed) == 1


def test_compensation_begins_on_request_and_ends_on_doubt(system, folder):
    ros()
    from std_msgs.msg import Float64MultiArray
    from std_srvs.srv import Trigger
    model = load_model(folder / 'model.yaml')
    system.start('feedforward', model='model.yaml', mode='compensation', limits__stale=1.0,
                 window=0.06)
    commands = []
    system.listen(Float64MultiArray, '/effort_controller/commands',
                  lambda m: commands.append(list(m.data)))
    send = publisher(system)
    system.settle()
    stream(system, send, 0.5, [0.0, 0.0])
    assert not commands    # nothing moves before it is asked for
    assert system.call(Trigger, '/feedforward/start').success
    stream(system, send, 20, [0.0, 0.0], lambda: len(commands) > 20)
    zero = np.zeros((1, 2))
    gravity = model.torque(np.array([[0.3, 0.2]]), zero, zero)[0]
    np.testing.assert_allclose(commands[-1], gravity, atol=0.01)
    system.wait(lambda: 'no joint state for' in system.log('feedforward'))    # the watchdog
    count = len(commands)
    stream(system, send, 0.3, [0.0, 0.0])
    assert len(commands) <= count + 1
    np.testing.assert_allclose(commands[-1], gravity, atol=0.01)
