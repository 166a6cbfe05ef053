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

import dataclasses
import signal
import time

from conftest import ros, System
from launches import ended_cleanly, launched, needs_launch
import numpy as np
import pytest
from robot_identification import IdentifiedModel, load_arm, load_model, Recording
from robot_identification.files import shared_folder
from robot_identification.online import trajectory_efforts


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with a model of the two-link arm and a recording without contact."""
    folder = tmp_path_factory.mktemp('work')
    arm = load_arm('two_link')
    model = IdentifiedModel(arm, arm.inertial_parameters, np.full(2, 0.01), 'coulomb_viscous',
                            np.tile([0.05, 0.02, 0.0], (2, 1)))
    model.save(folder / 'model.yaml')
    dataclasses.replace(model, friction_parameters=100 * model.friction_parameters).save(
        folder / 'rough.yaml')
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


def held(model, place):
    zero = np.zeros((1, 2))
    return model.torque(np.array([place]), zero, zero)[0]


def publisher(system):
    from sensor_msgs.msg import JointState
    sender = system.client.create_publisher(JointState, '/joint_states', 100)

    def send(t, q, effort, names=('joint_1', 'joint_2')):
        message = JointState(name=list(names), position=[float(x) for x in q],
                             effort=[float(x) for x in effort])
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(round(t * 1e9), 10 ** 9)
        sender.publish(message)
    return send


def stream(system, send, seconds, effort, until=lambda: False, clock=1000.0, speed=0.0,
           **words):
    """Publish joint states with stamps at 200 Hz, even on a busy computer; return the position."""
    begin = clock + time.monotonic()
    for k in range(round(200 * seconds)):
        place = np.array([0.3, 0.2]) + speed * k / 200
        send(begin + k / 200, place, effort, **words)
        system.rclpy.spin_once(system.client, timeout_sec=0.004)
        if until():
            break
    return place


def test_external_torque_sees_a_push(system, folder):
    ros()
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Bool
    model = load_model(folder / 'model.yaml')
    gravity = held(model, [0.3, 0.2])
    system.start('external_torque', model='model.yaml', reference='free.csv',
                 window=0.06)
    torques, contacts, wrenches, deviations = [], [], [], []
    for name, heard in (('wrench', wrenches), ('wrench_deviation', deviations)):
        system.listen(WrenchStamped, f'/external_torque/{name}', heard.append)
    system.listen(JointState, '/external_torque/torque', lambda m: torques.append(m.effort))
    system.listen(Bool, '/external_torque/contact', lambda m: contacts.append(m.data))
    send = publisher(system)
    system.settle()
    stream(system, send, 15, gravity, lambda: len(torques) > 20)
    assert contacts and not any(contacts)
    assert np.abs(torques[-1]).max() < 0.2
    pushed = gravity - np.array([0.0, 3.0])
    stream(system, send, 20, pushed, lambda: bool(contacts and contacts[-1]))
    assert contacts[-1]
    stream(system, send, 20, pushed, lambda: abs(torques[-1][1] - 3.0) < 0.1)
    assert torques[-1][1] == pytest.approx(3.0, abs=0.2)
    assert wrenches and np.isinf(deviations[-1].wrench.torque.x)    # it loads no joint
    # NaN efforts are skipped with a warning; after the clock was set back, estimation starts again
    system.wait(lambda: 'contact is not monitored' in system.log('external_torque'))
    system.settle()
    del torques[:]
    stream(system, send, 4, [np.nan, 0.0])
    assert not torques
    stream(system, send, 20, gravity, lambda: bool(torques and not contacts[-1]), clock=0.0)
    assert torques and not contacts[-1] and np.all(np.isfinite(torques[-1]))


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
    system.change('feedforward', 'deactivate')
    sender.publish(trajectory(['joint_1', 'joint_2'], [[0.1, 0.2], [0.3, 0.4]]))
    system.wait(lambda: 'not passed on: the node is not active' in system.log('feedforward'))
    assert len(passed) == 1


def test_compensation_begins_on_request_and_ends_on_doubt(system, folder):
    ros()
    from std_msgs.msg import Float64MultiArray
    from std_srvs.srv import Trigger
    model = load_model(folder / 'rough.yaml')
    system.start('feedforward', model='rough.yaml', mode='compensation', limits__stale=1.0,
                 window=0.06)
    commands = []
    system.wait(lambda: 'ros2 lifecycle set /feedforward configure, then ' in
                system.log('feedforward'))
    system.change('feedforward', 'configure')
    answer = system.call(Trigger, '/feedforward/start')
    assert not answer.success and 'the node is not active' in answer.message
    assert 'set /feedforward activate' in answer.message
    system.change('feedforward', 'activate')
    answer = system.call(Trigger, '/feedforward/start')
    assert not answer.success and "nobody listens on '/effort_controller/co" in answer.message
    system.listen(Float64MultiArray, '/effort_controller/commands',
                  lambda m: commands.append(list(m.data)))
    send = publisher(system)
    system.settle()
    stream(system, send, 0.5, [])
    assert not commands    # nothing moves before the request
    assert system.call(Trigger, '/feedforward/start').success
    stream(system, send, 20, [], lambda: len(commands) > 20)    # without measured efforts
    gravity = held(model, [0.3, 0.2])
    np.testing.assert_allclose(commands[-1], gravity, atol=0.01)
    system.wait(lambda: 'no joint state for' in system.log('feedforward'))    # no joint states
    count = len(commands)
    stream(system, send, 0.3, [])
    assert len(commands) <= count + 1
    np.testing.assert_allclose(commands[-1], gravity, atol=0.01)
    # deactivation: gravity torques once, then no command until activation
    assert system.call(Trigger, '/feedforward/start').success
    place = stream(system, send, 20, [], lambda: len(commands) > count + 20, speed=0.05)
    assert np.abs(commands[-1] - held(model, place)).min() > 2.0    # with friction
    system.change('feedforward', 'deactivate')
    system.settle()
    assert np.abs(commands[-1] - held(model, place)).max() < 1.0
    count = len(commands)
    assert not system.call(Trigger, '/feedforward/start').success
    stream(system, send, 0.3, [])
    assert len(commands) == count
    system.change('feedforward', 'activate')
    # joint states of another arm: compensation does not start, and the message names its joints
    assert system.call(Trigger, '/feedforward/start').success
    stream(system, send, 20, [], lambda: 'but of wrist' in system.log('feedforward'),
           names=['wrist', 'hand'])
    assert 'but of wrist, hand' in system.log('feedforward')
    # after Ctrl-C the last command is the gravity torques
    del commands[:]
    assert system.call(Trigger, '/feedforward/start').success
    place = stream(system, send, 20, [], lambda: len(commands) > 20, speed=0.05)
    assert np.abs(commands[-1] - held(model, place)).min() > 2.0    # with friction
    process = system.processes['feedforward']
    process.send_signal(signal.SIGINT)
    system.wait(lambda: process.poll() is not None)
    system.settle()
    assert np.abs(commands[-1] - held(model, place)).max() < 1.0


@needs_launch
def test_launch_files_bring_the_model_to_work_on_the_simulated_robot(system, folder, tmp_path):
    """The arm follows a trajectory; if the robot stops publishing, a warning is issued."""
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Bool
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    system.start('simulated_robot', robot='two_link')
    places, flags = [], []
    system.listen(JointState, '/joint_states', lambda m: places.append(list(m.position)))
    system.listen(Bool, '/external_torque/contact', lambda m: flags.append(m.data))
    files = [shared_folder('launch') / f'{name}.launch.py'
             for name in ('external_torque', 'feedforward')]

    def said():
        return (tmp_path / 'out').read_text()
    with launched(tmp_path, files, f'data_directory:={folder}', 'model:=model.yaml',
                  'reference:=free.csv'):
        sender = system.client.create_publisher(
            JointTrajectory, '/feedforward/joint_trajectory', 10)
        system.wait(lambda: (flags and sender.get_subscription_count())
                    or 'has died' in said(), 60)
        goal = [places[-1][0] + 0.2, places[-1][1] - 0.2]

        def there():
            return np.abs(np.array(places[-1]) - goal).max() < 0.02
        message = JointTrajectory(joint_names=['joint_1', 'joint_2'])
        for k, place in enumerate((places[-1], goal)):
            point = JointTrajectoryPoint(positions=place, velocities=[0.0, 0.0])
            point.time_from_start.sec, point.time_from_start.nanosec = 2 * k, 100_000_000
            message.points.append(point)
        for _ in range(5):    # a new node may not have discovered the controller yet
            before = said().count('not passed on')
            sender.publish(message)
            system.wait(lambda n=before: there() or said().count('not passed on') > n, 30)
            if there():
                break
            system.settle(1.0)
        assert there(), said()
        system.kill('simulated_robot', signal.SIGINT)
        system.wait(lambda: "not monitored: nobody publishes '/joint_states'" in said(), 30)
        before = said().count("nobody listens on '/joint_trajectory_controller")
        sender.publish(message)
        system.wait(lambda: said().count("nobody listens on '/joint_trajectory_controller")
                    > before, 30)
    assert ended_cleanly(tmp_path) == 2
