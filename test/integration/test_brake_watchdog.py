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
"""The brake watchdog publishes a braking trajectory if the node has died or stalled."""

import os
import signal
import time

from conftest import rest_in, ros, System
import pytest
from robot_identification.errors import ExecutionError

TOPIC, LONG = '/of_nobody/joint_trajectory', 3600.0


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
    watchdog = BrakeWatchdog(system.client, TOPIC)

    def there():
        try:
            watchdog.check()
        except ExecutionError:
            return False
        return True
    system.wait(there)
    yield watchdog
    watchdog.close()
    assert watchdog.process.wait(timeout=20) == 0


@pytest.fixture
def heard(system, watchdog):
    """Return what the watchdog publishes after it has discovered the subscriber."""
    from trajectory_msgs.msg import JointTrajectory
    heard = []
    subscription = system.listen(JointTrajectory, TOPIC,
                                 lambda m: heard.append(m.points[-1].time_from_start.sec))

    def answers():
        watchdog.update([(rest_in(1), after(system, LONG))], after(system, -1.0))
        system.settle(0.3)
        return heard
    system.wait(answers)
    system.settle(0.5)
    heard.clear()
    yield heard
    system.client.destroy_subscription(subscription)


def after(system, seconds):
    return system.client.get_clock().now().nanoseconds + round(seconds * 1e9)


def test_the_first_trajectory_in_time_is_sent_once(system, watchdog, heard):
    watchdog.update([(rest_in(1), after(system, LONG))], after(system, LONG))
    system.settle(0.5)
    assert not heard
    watchdog.update([(rest_in(2), after(system, -1.0)), (rest_in(3), after(system, LONG)),
                    (rest_in(4), after(system, LONG))], after(system, -0.5))
    system.wait(lambda: heard)
    system.settle(0.5)
    assert heard == [3]


def test_nothing_is_sent_that_would_be_a_step(system, watchdog, heard):
    from rcl_interfaces.msg import Log
    from rclpy.qos import qos_profile_rosout_default
    said = []
    system.listen(Log, '/rosout', lambda m: said.append(m.msg), qos_profile_rosout_default)
    watchdog.update([(rest_in(2), after(system, -1.0)), (rest_in(3), after(system, -0.1))],
                    after(system, -2.0))
    system.wait(lambda: any('finishes the motion unmonitored' in text for text in said))
    assert not heard


def test_a_watchdog_that_stalled_sends_a_later_trajectory(system, watchdog, heard):
    os.kill(watchdog.process.pid, signal.SIGSTOP)
    watchdog.update([(rest_in(2), after(system, 0.3)), (rest_in(3), after(system, LONG))],
                    after(system, 0.2))
    time.sleep(0.6)
    os.kill(watchdog.process.pid, signal.SIGCONT)
    system.wait(lambda: heard)
    assert heard == [3]


def test_a_watchdog_that_stalled_uses_the_newest_trajectories(system, watchdog, heard):
    """A watchdog that has stalled only uses the newest trajectories; older ones cause a step."""
    for newest in ((), [(rest_in(9), after(system, LONG))]):
        os.kill(watchdog.process.pid, signal.SIGSTOP)
        for number in range(200):       # several times the capacity of a pipe
            watchdog.update([(rest_in(number), after(system, LONG))] * 20, after(system, 0.0))
        watchdog.update(newest, after(system, LONG))
        os.kill(watchdog.process.pid, signal.SIGCONT)
        system.settle(0.5)
        assert not heard


def test_nothing_is_sent_after_close_of_a_stalled_watchdog(system, watchdog, heard):
    os.kill(watchdog.process.pid, signal.SIGSTOP)
    watchdog.update([(rest_in(1), after(system, LONG))] * 20, after(system, 0.0))
    watchdog.close()
    os.kill(watchdog.process.pid, signal.SIGCONT)
    assert watchdog.process.wait(timeout=20) == 0
    system.settle(0.3)
    assert not heard


def test_a_node_that_dies_leaves_what_was_whole():
    ros()
    from robot_identification.ros.nodes.brake_watchdog import (
        HEADER,
        ITEM,
        PendingMessages,
        SharedContent,
        SLOT,
        VERSION,
    )
    file = os.memfd_create('test')
    memory, waiting = SharedContent(file), PendingMessages(SharedContent(file))
    assert waiting.due(250, True) is None
    memory.write(HEADER.pack(200, 2) + ITEM.pack(220, 5) + b'early' + ITEM.pack(300, 5) + b'whole')
    os.pwrite(file, b'torn', VERSION.size)    # a part of the next content, in the other slot
    assert waiting.due(150, False) is None
    assert waiting.due(250, False) == b'whole' and waiting.due(250, True) is None
    memory.write(HEADER.pack(200, 1) + ITEM.pack(220, 5) + b'early')
    assert waiting.due(250, False) == b''
    memory.write(HEADER.pack(400, 1) + ITEM.pack(500, 4) + b'next')
    assert waiting.due(250, True) == b'next'
    memory.write(HEADER.pack(400, 1) + ITEM.pack(500, 4) + b'last')
    waiting.discard()
    assert waiting.due(450, True) is None
    memory.write(HEADER.pack(400, 1) + ITEM.pack(500, 4) + b'more')
    os.pwrite(file, b'torn', VERSION.size + memory.read()[0] % 2 * SLOT)
    assert waiting.due(450, True) is None
    waiting.discard()
    memory.write(HEADER.pack(400, 1) + ITEM.pack(500, 4) + b'then')
    assert waiting.due(450, True) == b'then' and waiting.due(450, True) is None
    os.close(file)
