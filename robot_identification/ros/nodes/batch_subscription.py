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
"""Subscriptions whose messages are taken in batches, at a twentieth of the executor's cost."""

from __future__ import annotations

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

# messages in the queue, 10 s at 1 kHz: what a busy computer loses depends on the depth, not on the
# reliability; a full queue of joint states takes 4 MB
DEPTH = 10_000


class _TakenElsewhere(CallbackGroup):
    """Hides a subscription from the executor."""

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
        Reliability of the publishers: a reliable reader receives nothing from a best-effort
        writer.
    raw
        Whether messages are taken as bytes.
    latched
        Whether the last message from before the subscription is received.

    """

    def __init__(self, node: Node, kind: Any, topic: str, *, reliable: bool = True,
                 raw: bool = True, latched: bool = False) -> None:
        qos = QoSProfile(
            depth=DEPTH, history=HistoryPolicy.KEEP_LAST,
            reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE)
        self._node, self._kind, self._raw = node, kind, raw
        self._subscription = node.create_subscription(
            kind, topic, _ignore, qos, callback_group=_TakenElsewhere(), raw=raw)

    def take(self) -> tuple[list[Any], list[int]]:
        """Return all messages that have arrived, and their times of arrival [ns]."""
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
    """Do nothing; never called, because the executor does not see the subscription."""


def publishers_are_reliable(node: Node, topic: str, patience: float = 3.0) -> bool | None:
    """
    Return whether all publishers of a topic are reliable; None if there is no publisher.

    Parameters
    ----------
    node
        Node that looks the publishers up.
    topic
        Resolved name of the topic.
    patience
        Time to wait for the first publisher [s].

    """
    deadline = time.monotonic() + patience
    while not (publishers := node.get_publishers_info_by_topic(topic)):
        if time.monotonic() > deadline:
            return None
        time.sleep(0.02)
    return all(info.qos_profile.reliability == ReliabilityPolicy.RELIABLE for info in publishers)
