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
"""Recording of topics to a bag: selection of topics, writing, and statistics of the stamps."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
import time
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError, RobotIdentificationError
from robot_identification.recording.bag.bag_description import text_message, text_topic
from robot_identification.recording.bag.joint_states import JointStateDecoder, TYPE
from robot_identification.recording.bag.write import BagWriter, Topic
from robot_identification.recording.stamps import GAP_STEPS
from robot_identification.ros.nodes.batch_subscription import (
    BatchSubscription,
    publishers_are_reliable,
)
from robot_identification.ros.nodes.message_definitions import message_class, message_definition

MAX_STEPS = 2000    # number of steps between stamps from which the median is computed
MARGIN = 0.005      # [s] largest delay between the time of reception and arrival in the queue


class StampStatistics:
    """Counts of gaps, duplicates and out-of-order stamps in the recorded joint states."""

    def __init__(self) -> None:
        self.first = self.last = 0
        self.messages = self.gaps = self.duplicates = self.out_of_order = self.unreadable = 0
        self._steps: list[int] = []

    @property
    def duration(self) -> float:
        """Time from the first to the last stamp [s]."""
        return (self.last - self.first) / 1e9

    @property
    def faults(self) -> dict[str, int]:
        """Counts of faulty stamps, by name."""
        return {'gaps': self.gaps, 'duplicates': self.duplicates,
                'out_of_order': self.out_of_order}

    def add(self, stamps: Array) -> None:
        """
        Update the counts with the stamps of further joint states.

        Parameters
        ----------
        stamps
            Stamps in the order of reception, (N,) [ns].

        """
        if not self.messages:
            self.first = self.last = int(stamps[0])
            steps = np.diff(stamps)
        else:
            steps = np.diff(stamps, prepend=self.last)
        self.messages += len(stamps)
        if len(self._steps) < MAX_STEPS:
            self._steps += steps.tolist()
        typical = float(np.median(self._steps)) if self._steps else np.inf
        self.duplicates += int(np.count_nonzero(steps == 0))
        self.out_of_order += int(np.count_nonzero(steps < 0))
        self.gaps += int(np.count_nonzero(steps > GAP_STEPS * typical))
        self.last = max(self.last, int(stamps.max()))


@dataclass(frozen=True)
class RecordedTopic:
    """
    A topic to record.

    Parameters
    ----------
    topic
        Name, type and message definition.
    reliable, latched
        Whether all publishers are reliable, and whether all are latched (transient local).

    """

    topic: Topic
    reliable: bool
    latched: bool


def find_topics(node: Node, required: Sequence[str],
                optional: Sequence[str]) -> list[RecordedTopic]:
    """
    Return the topics to record.

    Parameters
    ----------
    node
        Node that subscribes.
    required
        Topics that must have a publisher; the first one contains the joint states.
    optional
        Topics to record if they have a publisher and their message definition is installed.

    Raises
    ------
    RecordingError
        A required topic has no publisher, the joint states have another message type, or the
        definition of a message type is not installed.

    """
    topics: dict[str, RecordedTopic] = {}
    optional = [node.resolve_topic_name(topic) for topic in optional]
    for topic in (*required, *optional):
        name = node.resolve_topic_name(topic)
        if name in topics or (
                topic in optional and not node.get_publishers_info_by_topic(name)):
            continue
        reliable = publishers_are_reliable(node, name)
        if reliable is None:
            raise RecordingError(f"nobody publishes '{name}'; start the robot first")
        publishers = node.get_publishers_info_by_topic(name)
        kind = publishers[0].topic_type
        if topic == required[0] and kind != TYPE:
            raise RecordingError(f"'{name}' has messages of the type {kind}, not {TYPE}")
        latched = all(info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
                      for info in publishers)
        try:
            topics[name] = RecordedTopic(Topic(name, kind, message_definition(kind)), reliable,
                                         latched)
        except RecordingError as error:
            if topic not in optional:
                raise
            node.get_logger().warning(f"'{name}' is not recorded: {error}")
    return list(topics.values())


class BagRecording:
    """
    Writer of a bag; its methods must not be called by two threads at once.

    The messages of all topics are written in the order of reception. Readers such as rosbags
    refuse a bag without chunks if its messages are not in order.

    Parameters
    ----------
    node
        Node that subscribes.
    arm
        The arm.
    path
        Path of the folder that is created for the bag.
    topics
        Topics to record; the first one contains the joint states.
    texts
        Names of further topics for messages written by `write_text`.

    Raises
    ------
    RecordingError
        The bag cannot be created.

    """

    def __init__(self, node: Node, arm: Arm, path: Path, topics: Sequence[RecordedTopic],
                 texts: Sequence[str]) -> None:
        self._node, self._arm, self._topics, self._texts = node, arm, topics, list(texts)
        self._writer = BagWriter(path, [*(recorded.topic for recorded in topics),
                                        *map(text_topic, texts)])
        self.path: Path = self._writer.path
        self.statistics, self.failure = StampStatistics(), ''
        self._decoder = JointStateDecoder(strict=False)
        self._subscriptions: list[BatchSubscription] = []
        self._pending: list[tuple[int, int, bytes]] = []    # reception [ns], topic index, message

    def subscribe(self) -> None:
        """Subscribe to the topics, which starts the recording."""
        self._subscriptions = [
            BatchSubscription(self._node, message_class(recorded.topic.kind), recorded.topic.name,
                              reliable=recorded.reliable, latched=recorded.latched)
            for recorded in self._topics]

    def publishers(self) -> dict[str, list[str]]:
        """Return the names of the nodes that publish each topic."""
        return {recorded.topic.name: sorted({
            f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in
            self._node.get_publishers_info_by_topic(recorded.topic.name)})
            for recorded in self._topics}

    def write_text(self, topic: str, text: str) -> None:
        """Queue a text message for a text topic; the next call of `take` writes it."""
        index = len(self._topics) + self._texts.index(topic)
        self._pending.append((time.time_ns(), index, text_message(text)))

    def take(self) -> None:
        """Write the received messages, except those of the last `MARGIN` seconds."""
        limit, held = time.time_ns() - round(MARGIN * 1e9), len(self._pending)
        for index, subscription in enumerate(self._subscriptions):
            messages, times = subscription.take()
            if not messages or self.failure:
                continue
            if index == 0:
                self._count(messages, times)
            left_out = self._decoder.left_out if index == 0 else ()
            self._pending += [(received, index, message) for k, (message, received)
                              in enumerate(zip(messages, times)) if k not in left_out]
        # messages of earlier calls are written now, even if the clock was set back meanwhile
        limit = max([limit, *(received for received, *_ in self._pending[:held])])
        self._write(limit)

    def flush(self) -> None:
        """Write buffered messages to the file."""
        self._try(self._writer.flush)

    def close(self) -> int:
        """Write the pending messages, close the bag, and return its number of messages."""
        for subscription in self._subscriptions:
            subscription.destroy()
        self._subscriptions = []
        self._write(max((received for received, *_ in self._pending), default=0))
        self._try(self._writer.close)
        return sum(self._writer.counts)

    def _count(self, messages: list[bytes], times: list[int]) -> None:
        """Update the statistics with joint states that contain all joints of the arm."""
        for states in self._decoder.decode(messages, times):
            if set(self._arm.ros_joint_names) <= set(states.names):
                self.statistics.add(states.stamps)
        self.statistics.unreadable += len(self._decoder.left_out)

    def _write(self, limit: int) -> None:
        """Write the pending messages that were received no later than `limit` [ns]."""
        self._pending.sort(key=itemgetter(0))
        late = [item for item in self._pending if item[0] > limit]
        for received, index, message in self._pending[:len(self._pending) - len(late)]:
            self._try(self._writer.write, index, received, message)
        self._pending = late

    def _try(self, action: Any, *args: Any) -> None:
        """Call a function; store its first error in `failure` instead of raising it."""
        try:
            action(*args)
        except RobotIdentificationError as error:
            self.failure = self.failure or str(error)
