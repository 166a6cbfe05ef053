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
"""Joint states of rosbag2 bags as recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
import math
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import RecordingError, UnknownNameError
from robot_identification.recording.bag.bag import Bag
from robot_identification.recording.bag.joint_states import (
    JointStateDecoder,
    JointStates,
    TYPE,
)
from robot_identification.recording.columns import Block, SignalBlocks
from robot_identification.recording.infer_columns import (
    infer_joint_names,
    InferredColumns,
    recording_line,
)
from robot_identification.recording.recording import Recording
from robot_identification.recording.signal_names import signal_names

BLOCK, BLOCK_BYTES = 20_000, 100_000_000  # messages and bytes that are decoded at once
STANDARD = '/joint_states'
STAMPS = ('header', 'received')
SIGNAL_FIELDS = {'q': 'position', 'tau': 'effort', 'v': 'velocity'}


@dataclass
class JointStatePublisher:
    """
    The messages of a publisher of joint states, those with the same names and filled fields.

    Parameters
    ----------
    names
        Names of the joints.
    fields
        The fields of `FIELDS` that it fills.
    count
        Number of messages.
    stamped
        Whether any header stamp differs from zero.
    measured
        Mask of the joints with any value that is not NaN, (n,), by field.
    blocks
        The messages; empty if there were too many to keep.

    """

    names: tuple[str, ...]
    fields: tuple[str, ...]
    count: int = 0
    stamped: bool = False
    measured: dict[str, np.ndarray] = field(default_factory=dict)
    blocks: list[JointStates] = field(default_factory=list)

    def add(self, states: JointStates) -> None:
        """Add messages, and count them."""
        self.count += len(states)
        self.stamped = self.stamped or bool(np.any(states.stamps))
        for name in self.fields:
            if not np.all(self.measured.setdefault(name, np.zeros(len(self.names), bool))):
                self.measured[name] |= ~np.all(np.isnan(getattr(states, name)), axis=0)
        self.blocks.append(states)


def read_bag(path: str | Path, arm: Arm | None = None, topic: str | None = None,
             stamps: str | None = None) -> Recording:
    """
    Return the recording in a rosbag2 bag.

    Parameters
    ----------
    path
        The folder of the bag or one of its files, MCAP or SQLite. Split and compressed bags are
        read completely, an unclosed bag as far as it was written.
    arm
        Its joints are read, in its order; other joints and other publishers are ignored.
    topic
        Topic of the joint states. Default: that of the robot YAML, the only one, that of the arm's
        driver, or the one with at least 1.5 times as many messages of the arm as any other.
    stamps
        'header' for the sender's, 'received' for the recorder's. Default: that of the robot YAML,
        else 'header'.

    Returns
    -------
    Recording
        Stamps count from the first message. Efforts are in `tau`, with the meaning of
        `Arm.effort`.

    Raises
    ------
    RecordingError
        The bag cannot be read, or does not have the topic, the joints or positions.

    """
    return Recording.from_blocks(bag_signals(path, arm, topic, stamps), arm)


def bag_signals(path: str | Path, arm: Arm | None = None, topic: str | None = None,
                stamps: str | None = None, max_kept: float = math.inf) -> SignalBlocks:
    """
    Return the joint states of a bag as signals, block by block.

    Parameters
    ----------
    path, arm, topic, stamps
        As for `read_bag`.
    max_kept
        Number of messages up to which the bag is decoded once and kept in memory; a longer one is
        decoded twice.

    Raises
    ------
    RecordingError
        As for `read_bag`.

    """
    block = {} if arm is None else arm.recording_keys
    topic, stamps = topic or block.get('topic'), stamps or block.get('stamps', STAMPS[0])
    if stamps not in STAMPS:
        raise UnknownNameError('kind of stamps', stamps, STAMPS)
    bag = Bag(path)
    label = f"the recording '{path}'"
    chosen = topic_of(bag, topic, arm, max_kept)
    publishers = joint_state_publishers(bag, chosen, max_kept)
    if not publishers:
        raise RecordingError(f"{label} has no message on '{chosen}'; was the recorder started "
                             f'before the motion, and does the robot publish there?')
    recorded_names, remarks = ((), ()) if arm is None else _recorded_names(arm, publishers, label)
    publisher = (max(publishers, key=lambda each: each.count) if arm is None
                 else _publisher_of(publishers, arm, recorded_names, label, chosen))
    if stamps == 'header' and not publisher.stamped:
        raise RecordingError(f"{label}: all messages on '{chosen}' have the stamp zero; correct "
                             'the driver, or say in the robot YAML `recording: {stamps: '
                             'received}`')
    if 'position' not in publisher.fields:
        raise RecordingError(f"{label}: the messages on '{chosen}' have no positions")
    others = sorted(name for name, kind in bag.topics().items() if kind == TYPE and name != chosen)
    if others and topic is None:
        remarks += (f"joint states are also on {', '.join(others)}; those on {chosen} were read",)
    joints = publisher.names if arm is None else arm.joint_names
    columns = [publisher.names.index(name) for name in recorded_names or joints]
    names, count = signal_names(arm, None), sum(each.count for each in publishers)
    # joint_state_broadcaster publishes NaN where there is no interface
    fields = {signal: name for signal, name in SIGNAL_FIELDS.items() if signal == 'q' or (
        name in publisher.fields and publisher.measured[name][columns].any())}

    def blocks() -> Iterator[Block]:
        start = None
        for states in _blocks_of(publisher, bag, chosen):
            times = states.stamps if stamps == 'header' else states.received
            start = int(times[0]) if start is None else start
            yield {'t': (times - start) / 1e9, **{signal: names[signal][0].to_si(
                getattr(states, name)[:, columns], joints, arm)
                for signal, name in fields.items()}}

    return SignalBlocks(str(path), joints, blocks(),
                        lambda: (*remarks, *bag.remarks(chosen, count)))


def joint_state_publishers(bag: Bag, topic: str,
                           max_kept: float = math.inf) -> list[JointStatePublisher]:
    """
    Return the publishers of joint states on a topic.

    Parameters
    ----------
    bag
        The bag, of which each topic is decoded once.
    topic
        Name of the topic.
    max_kept
        Number of messages up to which they are kept.

    """
    if topic not in bag.decoded:
        publishers: dict[Any, JointStatePublisher] = {}
        count = 0
        for states in joint_state_blocks(bag, topic):
            publisher = publishers.setdefault(
                (states.names, states.fields), JointStatePublisher(states.names, states.fields))
            publisher.add(states)
            count += len(states)
            if count > max_kept:
                for each in publishers.values():
                    each.blocks.clear()
        bag.decoded[topic] = list(publishers.values())
    decoded: list[JointStatePublisher] = bag.decoded[topic]
    return decoded


def joint_state_blocks(bag: Bag, topic: str) -> Iterator[JointStates]:
    """Yield the joint states of a topic, those of one publisher at a time."""
    decoder = JointStateDecoder()
    messages: list[bytes] = []
    received: list[int] = []
    size = 0
    for _, time, data in bag.messages((topic,)):
        messages.append(data)
        received.append(time)
        size += len(data)
        if len(messages) == BLOCK or size > BLOCK_BYTES:
            yield from decoder.decode(messages, received)
            messages, received, size = [], [], 0
    yield from decoder.decode(messages, received)


def _blocks_of(publisher: JointStatePublisher, bag: Bag, topic: str) -> Iterator[JointStates]:
    """Yield the messages of one publisher, and release those that were kept."""
    if not publisher.blocks:
        yield from (states for states in joint_state_blocks(bag, topic)
                    if (states.names, states.fields) == (publisher.names, publisher.fields))
    while publisher.blocks:
        yield publisher.blocks.pop(0)


def infer_bag_block(path: str | Path, arm: Arm) -> InferredColumns | None:
    """
    Return the block `recording` that fits a bag, None where no topic has the arm's joints.

    It names the topic and the joints.

    Parameters
    ----------
    path
        The bag.
    arm
        The arm whose joints are searched for.

    Raises
    ------
    RecordingError
        The bag cannot be read.

    """
    bag = Bag(path)
    known = sorted(name for name, kind in bag.topics().items() if kind == TYPE)
    known.sort(key=lambda name: name != STANDARD)
    for topic in known:
        for publisher in joint_state_publishers(bag, topic, 0):
            names = infer_joint_names(publisher.names, arm.joint_names)
            if names is None:
                continue
            block: dict[str, Any] = {} if topic == STANDARD or len(known) == 1 else {
                'topic': topic}
            if any(joint != name for joint, name in names.items()):
                block['names'] = names
            others = ', '.join(name for name in known if name != topic)
            return InferredColumns(block, (f'joint states are on {others} too',) if others else ())
    return None


def topic_of(bag: Bag, topic: str | None = None, arm: Arm | None = None,
             max_kept: float = math.inf) -> str:
    """
    Return the topic with the joint states of an arm.

    Parameters
    ----------
    bag
        The bag.
    topic
        The requested topic, if any.
    arm
        The arm; any if None.
    max_kept
        As for `joint_state_publishers`.

    Raises
    ------
    RecordingError
        There is none, or several with similar numbers of messages.
    UnknownNameError
        The requested topic is not in the bag.

    """
    types, label = bag.topics(), f"the recording '{bag.path}'"
    known = sorted(name for name, kind in types.items() if kind == TYPE)
    if topic is not None:
        if topic not in known:
            raise UnknownNameError(f'topic of joint states in {label} named', topic, known)
        return topic
    if not known:
        raise RecordingError(f'{label} has no topic of type {TYPE}; it has: '
                             f"{', '.join(sorted(types)) or 'none'}")
    if len(known) > 1:
        return _busiest_topic(bag, known, arm, label, max_kept)
    return known[0]


def _busiest_topic(bag: Bag, known: list[str], arm: Arm | None, label: str,
                   max_kept: float) -> str:
    """Return the topic of the arm's driver, or the one with far more messages of the arm."""
    names = set() if arm is None else set(_published_names(arm))
    driver = None if arm is None else arm.driver
    if arm is not None and driver is not None:
        own = '/' + driver.joint_states.replace('{tf_prefix}', arm.tf_prefix).lstrip('/')
        fitting = [name for name in known if name.endswith(own)]
        if len(fitting) == 1 and own != STANDARD:
            return fitting[0]
    counts = {name: sum(publisher.count for publisher in joint_state_publishers(
        bag, name, max_kept) if names <= set(publisher.names) and 'effort' in publisher.fields)
        for name in known}
    best = max(counts, key=lambda name: counts[name])
    others = [count for name, count in counts.items() if name != best]
    if counts[best] > 1.5 * max(others):
        return best
    if STANDARD in known and (counts[STANDARD] or not any(counts.values())):
        return STANDARD
    raise RecordingError(f"{label} has joint states on {', '.join(known)}; choose one with "
                         f'--topic, or read_bag(..., topic=...)')


def _recorded_names(arm: Arm, publishers: Sequence[JointStatePublisher], label: str
                    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the arm's joints in the bag, and the remarks on them."""
    recorded_names = _published_names(arm)
    if 'names' in arm.recording_keys or any(
            set(recorded_names) <= set(publisher.names) for publisher in publishers):
        return recorded_names, ()
    for publisher in publishers:
        names = infer_joint_names(publisher.names, arm.joint_names)
        if names is not None and not all(name.endswith(joint) for joint, name in names.items()):
            return (tuple(names[joint] for joint in arm.joint_names),
                    (f'{label} is read as `{recording_line({"names": names})}`; put this line '
                     'into the robot YAML',))
    return recorded_names, ()


def _published_names(arm: Arm) -> tuple[str, ...]:
    """Return the names of the arm's joints in bags according to the robot YAML."""
    aliases = arm.recording_keys.get('names', {})
    return tuple(aliases.get(joint, name)
                 for joint, name in zip(arm.joint_names, arm.ros_joint_names))


def _publisher_of(publishers: Sequence[JointStatePublisher], arm: Arm, joints: Sequence[str],
                  label: str, topic: str) -> JointStatePublisher:
    """Return the publisher of all joints of the arm with the most messages."""
    complete = [each for each in publishers if set(joints) <= set(each.names)]
    if not complete:
        best = max(publishers, key=lambda each: len(set(joints) & set(each.names)))
        missing = [name for name in joints if name not in best.names]
        raise RecordingError(
            f"{label} does not have the joint '{', '.join(missing)}' on '{topic}'; it has: "
            f'{", ".join(best.names)}. {_name_hint(publishers, arm)}')
    return max(complete, key=lambda each: each.count)


def _name_hint(publishers: Sequence[JointStatePublisher], arm: Arm) -> str:
    """Return a hint: the prefix that makes the joints those of the arm, or how to name them."""
    first = arm.joint_names[0]
    prefixes = sorted({name.removesuffix(first) for each in publishers for name in each.names
                       if name.endswith(first) and {
                           name.removesuffix(first) + joint for joint in arm.joint_names
                       } <= set(each.names)})
    if prefixes:
        return (f"They are the arm's with a prefix: say `tf_prefix: {prefixes[0]}` in the robot "
                f'YAML' + (f' (or {", ".join(prefixes[1:])})' if prefixes[1:] else ''))
    return ('Record all joints of the arm, or lock those that stand still; where the bag calls '
            f'joints otherwise, say so in the robot YAML: `recording: {{names: {{{first}: NAME, '
            '...}}`')
