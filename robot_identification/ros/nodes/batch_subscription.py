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
"""Subscriptions whose messages are taken in batches, at a twentieth of the cost of callbacks."""

import time
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSProfile,
    ReliabilityPolicy,
)
from robot_identification.ros.nodes.service_calls import FIRST_MESSAGE

# [messages] in the queue: 10 s at 1 kHz, which take 4 MB for joint states. Whether a busy computer
# loses messages depends on this depth, not on the reliability of the subscription.
DEPTH = 10_000


class _TakenElsewhere(CallbackGroup):
    """Callback group that hides a subscription from the executor."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


class BatchSubscription:
    """
    A subscription whose messages the caller takes in batches.

    Parameters
    ----------
    node
        Node that subscribes.
    kind
        Message class.
    topic
        Name of the topic.
    reliable
        Whether the subscription is reliable. It must not be if a publisher is best-effort,
        because a reliable subscription receives nothing from it.
    raw
        Whether messages are returned as serialised bytes.
    latched
        Whether to receive the last message that was published before the subscription.
    depth
        Largest number of messages that wait; older ones are dropped.

    """

    def __init__(self, node: Node, kind: Any, topic: str, *, reliable: bool = True,
                 raw: bool = True, latched: bool = False, depth: int = DEPTH) -> None:
        qos = QoSProfile(
            depth=depth, history=HistoryPolicy.KEEP_LAST,
            reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE)
        self._node, self._kind, self._raw = node, kind, raw
        self._subscription = node.create_subscription(
            kind, topic, _ignore, qos, callback_group=_TakenElsewhere(), raw=raw)

    def take(self) -> tuple[list[Any], list[int]]:
        """Return the messages received since the last call, and their times of reception [ns]."""
        messages: list[Any] = []
        times: list[int] = []
        handle = self._subscription.handle
        with handle:
            while True:
                taken = handle.take_message(self._kind, self._raw)
                if taken is None:
                    return messages, times
                messages.append(taken[0])
                times.append(taken[1]['received_timestamp'])

    def destroy(self) -> None:
        """Remove the subscription from the node."""
        self._node.destroy_subscription(self._subscription)


def _ignore(message: Any) -> None:
    """Serve as callback; it is never called, as the subscription is hidden from the executor."""


def publishers_are_reliable(node: Node, topic: str,
                            patience: float = FIRST_MESSAGE) -> bool | None:
    """
    Return whether all publishers of a topic are reliable; None if there is no publisher.

    Parameters
    ----------
    node
        Node that looks up the publishers.
    topic
        Resolved name of the topic.
    patience
        Longest time to wait for a publisher [s].

    """
    deadline = time.monotonic() + patience
    while not (publishers := node.get_publishers_info_by_topic(topic)):
        if time.monotonic() > deadline:
            return None
        time.sleep(0.02)
    return all(info.qos_profile.reliability == ReliabilityPolicy.RELIABLE for info in publishers)
