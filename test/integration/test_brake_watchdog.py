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
"""The brake watchdog stops the arm if the node has died or stalled, and reports what it saw."""

import os
import signal
import threading
import time

from conftest import ros, System
import numpy as np
import pytest
from robot_identification.errors import ExecutionError

CONTROLLER, LONG, DURATION = '/of_nobody', 3600.0, 20.0


def motion():
    """Return a motion of one joint at 0.5 rad/s."""
    from robot_identification.ros.execution.sampled_plan import MotionLimits, SampledPlan
    from robot_identification.ros.nodes.watchdog_memory import GuardedMotion
    t = np.arange(0, DURATION, 0.02)
    zero, one = np.zeros((len(t), 1)), np.ones(1)
    plan = SampledPlan(('joint',), t, 0.5 * t[:, None], zero + 0.5, zero,
                       MotionLimits(one, 10 * one))
    return GuardedMotion(plan, np.eye(1), np.zeros(1), np.zeros(1, bool), 0.3)


@pytest.fixture
def system(tmp_path):
    ros()
    system = System(tmp_path, sim_time=False)
    yield system
    assert system.close() == {}


@pytest.fixture
def watchdog(system, tmp_path, monkeypatch):
    """Return a watchdog that was started in a folder whose modules it must not import."""
    from robot_identification.ros.nodes.brake_watchdog import BrakeWatchdog
    for name in ('json', 'numpy', 'rclpy', 'yaml'):
        (tmp_path / f'{name}.py').write_text('raise SystemExit(3)')
    monkeypatch.chdir(tmp_path)
    watchdog = BrakeWatchdog(system.client, CONTROLLER, 'controller_manager', 'joint_states')

    def there():
        try:
            watchdog.check()
        except ExecutionError:
            return False
        return True
    system.wait(there)
    watchdog.begin(motion())
    yield watchdog
    watchdog.close()
    assert watchdog.process.wait(timeout=60) == 0


class MovingArm:
    """A joint that follows the motion, or the trajectories that it obeys."""

    def __init__(self, system, obeys):
        from robot_identification.ros.nodes.messages import parse_trajectory
        from robot_identification.ros.sampled_trajectory import SampledTrajectory
        from sensor_msgs.msg import JointState
        from trajectory_msgs.msg import JointTrajectory
        self.system, self.heard, self.trajectory = system, [], None
        self.start = system.client.get_clock().now().nanoseconds - 5_000_000_000
        self._type = JointState
        self._publisher = system.client.create_publisher(JointState, 'joint_states', 10)
        self._ended = threading.Event()

        def enter(message):
            self.heard.append(message)
            if obeys:
                now = system.client.get_clock().now().nanoseconds / 1e9
                self.trajectory = SampledTrajectory(parse_trajectory(message), now, None)
        self._subscription = system.listen(JointTrajectory, f'{CONTROLLER}/joint_trajectory',
                                           enter)
        self._thread = threading.Thread(target=self._publish)
        self._thread.start()

    def progress(self, until):
        """Return the progress of the motion, with a deadline in so many seconds."""
        from robot_identification.ros.nodes.watchdog_memory import Progress
        now = self.system.client.get_clock().now().nanoseconds
        t = (now - self.start) / 1e9
        return Progress(now + round(until * 1e9), self.start, 0, t, t, 1.0)

    def _publish(self):
        from robot_identification.ros.nodes.messages import time_message
        while not self._ended.wait(0.005):
            now = self.system.client.get_clock().now().nanoseconds
            q = [0.5 * (now - self.start) / 1e9]    # also after the end of the plan
            if self.trajectory is not None:
                q = self.trajectory.sample(now / 1e9)[0].tolist()
            message = self._type(name=['joint'], position=q)
            message.header.stamp = time_message(now)
            self._publisher.publish(message)

    def close(self):
        self._ended.set()
        self._thread.join()
        self.system.client.destroy_subscription(self._subscription)
        self.system.client.destroy_publisher(self._publisher)


@pytest.fixture
def said(system):
    from rcl_interfaces.msg import Log
    from rclpy.qos import qos_profile_rosout_default
    said = []
    system.listen(Log, '/rosout', lambda m: said.append(m.msg), qos_profile_rosout_default)
    return said


@pytest.fixture(params=[True])
def arm(request, system, watchdog):
    arm = MovingArm(system, request.param)
    system.wait(lambda: system.client.count_subscribers(f'{CONTROLLER}/joint_trajectory') == 1
                and system.client.count_subscribers('joint_states') == 1)
    system.settle(0.5)
    yield arm
    arm.close()


def test_an_arm_whose_node_stalls_is_stopped(system, watchdog, arm, said):
    watchdog.update(arm.progress(LONG))
    system.settle(0.5)
    assert not arm.heard
    watchdog.update(arm.progress(0.1))
    system.wait(lambda: any('the arm rests' in text for text in said))
    ends = {message.points[-1].positions[0] for message in arm.heard}
    assert len(arm.heard) > 1 and len(ends) == 1    # copies of one braking trajectory
    system.settle(0.5)
    watchdog.update(arm.progress(LONG))     # the node goes on: the watchdog is ready again
    system.settle(0.3)
    assert watchdog.process.poll() is None


@pytest.mark.parametrize('arm', [False], indirect=True)
def test_an_arm_that_moves_on_is_reported(system, watchdog, arm, said):
    """The controller obeys nothing; the goals are cancelled, which nobody offers here."""
    watchdog.update(arm.progress(0.0))
    system.wait(lambda: len({m.points[-1].positions[0] for m in arm.heard}) >= 3, 30)
    system.wait(lambda: any('THE ARM STILL MOVES' in text for text in said), 60)
    assert not any('the arm rests' in text for text in said)


def test_a_stalled_watchdog_stops_from_the_newest_progress(system, watchdog, arm, said):
    os.kill(watchdog.process.pid, signal.SIGSTOP)
    for _ in range(200):
        watchdog.update(arm.progress(0.0))
    watchdog.update(None)
    os.kill(watchdog.process.pid, signal.SIGCONT)
    system.settle(0.5)
    assert not arm.heard
    os.kill(watchdog.process.pid, signal.SIGSTOP)
    watchdog.update(arm.progress(0.1))
    time.sleep(0.6)
    os.kill(watchdog.process.pid, signal.SIGCONT)
    system.wait(lambda: any('the arm rests' in text for text in said))


def test_nothing_is_sent_after_close_of_a_stalled_watchdog(system, watchdog, arm):
    os.kill(watchdog.process.pid, signal.SIGSTOP)
    watchdog.update(arm.progress(0.0))
    watchdog.close()
    os.kill(watchdog.process.pid, signal.SIGCONT)
    assert watchdog.process.wait(timeout=60) == 0
    system.settle(0.3)
    assert not arm.heard


def test_a_node_that_dies_leaves_what_was_whole():
    ros()
    from robot_identification.ros.nodes.watchdog_memory import (
        PendingProgress,
        Progress,
        SharedContent,
        SLOT,
        VERSION,
    )
    file = os.memfd_create('test')
    memory, waiting = SharedContent(file), PendingProgress(SharedContent(file))
    first, last = (Progress(until, 0, 0, 0.5, 0.5, 1.0) for until in (200, 400))
    assert waiting.due(250, True) is None
    memory.write(first.pack())
    os.pwrite(file, b'torn', VERSION.size)    # a part of the next content, in the other slot
    assert waiting.due(150, False) is None
    assert waiting.due(250, False) == first and waiting.due(250, True) is None
    memory.write(last.pack())
    waiting.discard()
    assert waiting.due(450, True) is None
    memory.write(last.pack())
    os.pwrite(file, b'torn', VERSION.size + memory.read()[0] % 2 * SLOT)
    assert waiting.due(450, True) is None
    waiting.discard()
    memory.write(last.pack())
    assert waiting.due(150, True) == last and waiting.due(450, True) is None
    os.close(file)
