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
"""The node `recorder`: joint states and other topics into a bag, without losing a message."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path
import shutil
import threading
import time
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from robot_identification.errors import (
    RecordingError,
    RobotIdentificationError,
)
from robot_identification.files import write_text
from robot_identification.recording.bag.bag_description import (
    DESCRIPTION,
    FACTS,
    ROBOT,
    robot_text,
    text_message,
    text_topic,
)
from robot_identification.recording.bag.joint_states import JointStateDecoder, TYPE
from robot_identification.recording.bag.write import BagWriter, Topic
from robot_identification.recording.stamps import GAP_STEPS
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.execution.silence import Silence
from robot_identification.ros.nodes.batch import BatchSubscription, publishers_are_reliable
from robot_identification.ros.nodes.definitions import definition, message_class
from robot_identification.ros.nodes.facts import Facts
from robot_identification.ros.nodes.health import ERROR, Health, OK, WARN
from robot_identification.ros.nodes.parameters import declare, declared_arm
from robot_identification.ros.nodes.process import main_of
from robot_identification.ros.nodes.requests import answered
from robot_identification_interfaces.srv import StartRecording, StopRecording
from std_msgs.msg import String

TAKE = 0.01      # [s] between batches
FLUSH = 0.25     # [s] of messages that a killed recorder loses
PATIENCE = 3.0   # [s] to wait for the first joint state
NAMED = 2.0      # [s] until the middleware knows the names of nodes that publish


class StampCount:
    """Counts gaps, duplicates and late stamps of the joint states while they arrive."""

    def __init__(self) -> None:
        self.first = self.last = 0
        self.messages = self.gaps = self.duplicates = self.out_of_order = self.unreadable = 0
        self._steps: list[int] = []

    def add(self, stamps: np.ndarray) -> None:
        """
        Count some more.

        Parameters
        ----------
        stamps
            (N,) [ns].

        """
        if not self.messages:
            self.first = self.last = int(stamps[0])
            steps = np.diff(stamps)
        else:
            steps = np.diff(stamps, prepend=self.last)
        self.messages += len(stamps)
        if len(self._steps) < 2000:
            self._steps += steps.tolist()
        typical = float(np.median(self._steps)) if self._steps else np.inf
        self.duplicates += int(np.count_nonzero(steps == 0))
        self.out_of_order += int(np.count_nonzero(steps < 0))
        self.gaps += int(np.count_nonzero(steps > GAP_STEPS * typical))
        self.last = max(self.last, int(stamps.max()))


class RecorderProcess:
    """Records on request."""

    patience = 30.0  # [s] for the bag

    def __init__(self) -> None:
        self.node = node = Node('recorder')
        self.arm = declared_arm(node)
        self.data = DataDirectory(declare(node, 'data_directory', '~/robot_identification',
                                          'folder of the recordings'))
        self.topic = declare(node, 'joint_states', 'joint_states', 'topic of the joint states')
        self.others = [topic for topic in declare(
            node, 'topics', [''], 'other topics to record, for instance motor currents') if topic]
        self.controller = declare(node, 'controller', 'joint_trajectory_controller',
                                  'whose state and parameters are kept, where it is there')
        self._facts = Facts(node, [self.controller])
        self.health = Health(node)
        self._lock = threading.Lock()
        self._writer: BagWriter | None = None
        self._subscriptions: list[BatchSubscription] = []
        self._count_anew()
        self._ending = threading.Event()
        self._lease: Silence | None = None      # of the owner, where there is one
        self._last: tuple[Path, str, int] | None = None     # path, failure, messages
        self._keep = BatchSubscription(node, String, '~/keep', raw=False)
        node.create_service(StartRecording, '~/start', answered(node, self._start))
        node.create_service(StopRecording, '~/stop', answered(node, self._stop))
        self._thread = threading.Thread(target=self._loop, name='recorder', daemon=True)
        self._thread.start()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The node."""
        return (self.node,)

    def stop(self) -> None:
        """Close the bag and end."""
        self._ending.set()

    @property
    def stopped(self) -> bool:
        """Whether the bag is closed."""
        return not self._thread.is_alive()

    def _start(self, request: Any, response: Any) -> Any:
        response.path = str(self._begin(request.name, request.excitation, request.lease))
        latest = time.monotonic() + PATIENCE
        while not self.count.messages and time.monotonic() < latest and not self._failure:
            time.sleep(0.01)
        response.success = bool(self.count.messages)
        response.message = f"recording to '{response.path}'"
        if not response.success:
            topic = self.node.resolve_topic_name(self.topic)
            response.message = self._failure or (
                f"no joint state has arrived on '{topic}' for {PATIENCE:g} s; is the robot on?")
            self._end()
        return response

    def _begin(self, name: str, excitation: str, lease: float) -> Path:
        with self._lock:
            if self._writer is not None:
                whose = '' if self._lease is None else ' for somebody who renews it'
                raise RecordingError(f"'{self._writer.path}' is being recorded already{whose}; "
                                     f'stop it first')
            path = self.data.path(name or f'recording_{datetime.now():%Y%m%d_%H%M%S}', 'recording')
            source = self.data.existing(excitation, 'excitation') if excitation else None
            topics = self._topics()
            named = [text_topic(self.node.resolve_topic_name(f'~/{name.split("/")[-1]}'))
                     for name in (ROBOT, FACTS)]
            writer = BagWriter(path, [*(topic for topic, *_ in topics), *named])
            try:
                self._store(path, source)
            except (OSError, RobotIdentificationError) as error:
                writer.close()
                raise RecordingError(f"nothing is recorded to '{path}': {error}") from error
            self._count_anew()
            self._subscriptions = [
                BatchSubscription(self.node, message_class(topic.kind), topic.name,
                                  reliable=reliable, latched=latched)
                for topic, reliable, latched in topics]
            self._lease, self._writer = Silence(lease) if lease else None, writer
            writer.write(len(topics), time.time_ns(), text_message(robot_text(self.arm)))
        # asks other nodes, whose answers come by the thread that this was called from
        threading.Thread(target=self._tell, args=(writer, topics), daemon=True).start()
        self.health.report(OK, f"recording to '{path}'")
        self.node.get_logger().info(f"recording to '{path}'")
        return path

    def _count_anew(self) -> None:
        self._decoder, self.count = JointStateDecoder(strict=False), StampCount()
        self._failure = ''

    def _tell(self, writer: BagWriter, topics: list[tuple[Topic, bool, bool]]) -> None:
        latest = time.monotonic() + NAMED
        while True:
            publishers = {topic.name: sorted({
                f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in
                self.node.get_publishers_info_by_topic(topic.name)}) for topic, *_ in topics}
            if 'NAME_UNKNOWN' not in str(publishers) or time.monotonic() > latest:
                break
            time.sleep(0.1)
        text = self._facts.text(publishers)
        with self._lock:
            if self._writer is writer:
                self._guarded(writer.write, len(topics) + 1, time.time_ns(), text_message(text))
                with suppress(OSError):    # it is in the bag
                    write_text(writer.path / 'facts.yaml', text)

    def _topics(self) -> list[tuple[Topic, bool, bool]]:
        """Return what is recorded, and whether it is published reliably and latched."""
        found: list[tuple[Topic, bool, bool]] = []
        wished = [self.node.resolve_topic_name(topic) for topic in (
            DESCRIPTION, f'{self.controller}/controller_state')]
        for topic in (self.topic, *self.others, *wished):
            name = self.node.resolve_topic_name(topic)
            if name in [other.name for other, *_ in found] or (
                    topic in wished and not self.node.get_publishers_info_by_topic(name)):
                continue
            reliable = publishers_are_reliable(self.node, name)
            if reliable is None:
                raise RecordingError(f"nobody publishes '{name}'; start the robot first")
            publishers = self.node.get_publishers_info_by_topic(name)
            kind = publishers[0].topic_type
            if topic == self.topic and kind != TYPE:
                raise RecordingError(f"'{name}' has messages of the type {kind}, not {TYPE}")
            latched = all(info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
                          for info in publishers)
            try:
                found.append((Topic(name, kind, definition(kind)), reliable, latched))
            except RecordingError as error:
                if topic not in wished:
                    raise
                self.node.get_logger().warning(f"'{name}' is not recorded: {error}")
        return found

    def _store(self, path: Path, excitation: Path | None) -> None:
        write_text(path / 'robot.yaml', robot_text(self.arm))
        write_text(path / 'robot.urdf', self.arm.urdf)
        if excitation is not None:
            shutil.copy(excitation, path / 'excitation.yaml')

    def _stop(self, request: Any, response: Any) -> Any:
        with self._lock:
            writer = self._writer
        if writer is not None and request.path not in ('', str(writer.path)):
            raise RecordingError(f"'{writer.path}' is being recorded, not '{request.path}'")
        self._end()
        if self._last is None or (writer is None and not self._last[1]
                                  and request.path != str(self._last[0])):
            raise RecordingError('nothing is being recorded')
        path, failure, written = self._last
        count = self.count
        response.path, response.success = str(path), not failure
        response.duration = (count.last - count.first) / 1e9
        response.messages, response.joint_states = written, count.messages
        response.gaps, response.duplicates = count.gaps, count.duplicates
        response.out_of_order = count.out_of_order
        response.message = failure or (
            f"recorded {count.messages} joint states in {response.duration:.2f} s to '{path}'"
            + (f'; {count.unreadable} messages on the topic were no joint states'
               if count.unreadable else ''))
        return response

    def _end(self) -> None:
        with self._lock:
            if self._writer is None:
                return
            self._take()
            writer, self._writer = self._writer, None
            for subscription in self._subscriptions:
                subscription.destroy()
            self._subscriptions = []
            try:
                writer.close()
            except RobotIdentificationError as error:
                self._failure = self._failure or str(error)
            self._last = writer.path, self._failure, sum(writer.counts)
        count = self.count
        level = ERROR if self._failure else WARN if count.gaps or count.out_of_order else OK
        self.health.report(level, self._failure or 'recorded', messages=count.messages,
                           gaps=count.gaps, duplicates=count.duplicates,
                           out_of_order=count.out_of_order)

    def _loop(self) -> None:
        flushed = looked = time.monotonic()
        while not self._ending.wait(TAKE):
            kept = {message.data for message in self._keep.take()[0]}
            passed, looked = time.monotonic() - looked, time.monotonic()
            if self._left_alone(kept, passed):
                continue
            with self._lock:
                if self._writer is None:
                    continue
                self._take()
                if self._writer is not None and time.monotonic() > flushed + FLUSH:
                    flushed = time.monotonic()
                    self._guarded(self._writer.flush)
            if self._failure and self._writer is not None:
                self.node.get_logger().error(self._failure)
                self._end()
        self._end()

    def _left_alone(self, kept: set[str], passed: float) -> bool:
        """End a recording whose owner is gone; return whether one was ended."""
        with self._lock:
            writer, lease = self._writer, self._lease
            if writer is None or lease is None:
                return False
            lease.step(str(writer.path) in kept, 0.0, passed)
            if not lease.too_long:
                return False
        self._end()
        text = f"who asked for '{writer.path}' is gone: the recording was ended"
        self.node.get_logger().warning(text)
        self.health.report(WARN, text)
        return True

    def _take(self) -> None:
        writer = self._writer
        for number, subscription in enumerate(self._subscriptions):
            messages, times = subscription.take()
            if not messages or writer is None or self._failure:
                continue
            if number == 0:
                self._count(messages, times)
            left_out = self._decoder.left_out if number == 0 else ()
            for k, (message, received) in enumerate(zip(messages, times)):
                if k not in left_out:
                    self._guarded(writer.write, number, received, message)

    def _count(self, messages: list[bytes], times: list[int]) -> None:
        for states in self._decoder.decode(messages, times):
            if set(self.arm.published_names) <= set(states.names):
                self.count.add(states.stamps)
        self.count.unreadable += len(self._decoder.left_out)

    def _guarded(self, action: Any, *arguments: Any) -> None:
        try:
            action(*arguments)
        except RobotIdentificationError as error:
            self._failure = self._failure or str(error)


main = main_of(RecorderProcess)
