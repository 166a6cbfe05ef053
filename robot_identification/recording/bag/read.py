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
"""Reads the joint states in rosbag2 bags as recordings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.errors import RecordingError, UnknownNameError
from robot_identification.files import check_decoded_size
from robot_identification.recording.bag.bag import Bag
from robot_identification.recording.bag.joint_states import (
    JointStateDecoder,
    SIGNALS,
    TYPE,
)
from robot_identification.recording.columns import Block, signal_names, SignalBlocks
from robot_identification.recording.infer_columns import infer_joint_names, recording_line
from robot_identification.recording.recording import Recording
from robot_identification.spilling_list import SpillingList

BLOCK, BLOCK_BYTES = 20_000, 64_000_000    # largest number of messages and bytes per block
STANDARD = '/joint_states'
STAMPS = ('header', 'received')


@dataclass(frozen=True, eq=False)
class JointStatePublisher:
    """
    A publisher of joint states, with all messages that have the same joints and fields.

    Parameters
    ----------
    names
        Names of the joints.
    fields
        Fields that the publisher fills: position, velocity, effort.
    blocks
        The decoded messages, as `JointStates`.

    """

    names: tuple[str, ...]
    fields: tuple[str, ...]
    blocks: SpillingList = field(default_factory=SpillingList)

    @property
    def count(self) -> int:
        """Number of messages."""
        return sum(map(len, self.blocks))


def read_bag(path: str | Path, arm: Arm | None = None, topic: str | None = None,
             stamps: str | None = None) -> Recording:
    """
    Return the recording in a rosbag2 bag.

    Parameters
    ----------
    path
        The folder of the bag, MCAP or SQLite, of which all files are read; or one of its files. A
        bag whose recorder was killed is read up to its last message.
    arm
        The arm whose joints are read, in its order; other joints and publishers are ignored.
        Default: all joints of the publisher with the most messages.
    topic
        Topic of the joint states. Default: that in the robot YAML, else see `choose_topic`.
    stamps
        'header' for the stamps in the messages, 'received' for the times at which the recorder
        received them. Default: the choice in the robot YAML, else 'header'.

    Returns
    -------
    Recording
        The stamps start at zero. `tau` contains the efforts as published, whose meaning
        `Arm.effort` defines.

    Raises
    ------
    RecordingError
        The bag cannot be read, or lacks messages on the topic, the joints or positions.
    UnknownNameError
        The requested topic is not in the bag, or `stamps` has another value.

    Examples
    --------
    >>> recording = read_bag('run_1', load_arm('ur10e'), topic='/left/joint_states')
    >>> recording.q.shape    # (samples, joints) [rad]
    (30000, 6)

    """
    return Recording.from_blocks(bag_signals(path, arm, topic, stamps), arm)


def bag_signals(path: str | Path, arm: Arm | None = None, topic: str | None = None,
                stamps: str | None = None) -> SignalBlocks:
    """
    Return the joint states of a bag as blocks of signals.

    The decoded messages of a long recording are kept in a temporary file.

    Parameters
    ----------
    path, arm, topic, stamps
        As for `read_bag`.

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
    chosen = choose_topic(bag, topic, arm)
    publishers = find_publishers(bag, chosen)
    if not publishers:
        raise RecordingError(f"{label} has no message on '{chosen}'; was the recorder started "
                             f'before the motion, and does the robot publish there?')
    publisher, recorded_names, remarks = _choose_publisher(arm, publishers, label, chosen)
    joints = recorded_names if arm is None else arm.joint_names
    if stamps == 'header' and not any(np.any(states.stamps) for states in publisher.blocks):
        raise RecordingError(f"{label}: all messages on '{chosen}' have the stamp zero; correct "
                             'the driver, or set `recording: {stamps: received}` in the '
                             'robot YAML')
    if 'position' not in publisher.fields:
        raise RecordingError(f"{label}: the messages on '{chosen}' have no positions")
    others = [name for name in bag.topics_of(TYPE) if name != chosen]
    if others and topic is None:
        remarks += (f"joint states are also on {', '.join(others)}; those on {chosen} were read",)
    columns = [publisher.names.index(name) for name in recorded_names]
    names, count = signal_names(arm), sum(each.count for each in publishers)
    # joint_state_broadcaster publishes NaN for a joint without the state interface
    fields = {signal: name for name, signal in SIGNALS.items() if signal == 'q' or (
        name in publisher.fields and not all(
            np.all(np.isnan(states.values[name][:, columns])) for states in publisher.blocks))}

    def blocks() -> Iterator[Block]:
        """Yield the signals in the blocks of the publisher, with stamps from zero."""
        start = None
        for states in publisher.blocks:
            times = states.stamps if stamps == 'header' else states.received
            start = int(times[0]) if start is None else start
            yield {'t': (times - start) / 1e9, **{signal: names[signal].to_si(
                states.values[name][:, columns], joints) for signal, name in fields.items()}}

    return SignalBlocks(str(path), joints, blocks(),
                        lambda: (*remarks, *bag.remarks(chosen, count)))


def find_publishers(bag: Bag, topic: str) -> list[JointStatePublisher]:
    """
    Return the publishers of joint states on a topic, with their decoded messages.

    The messages are decoded once; later calls for the same bag and topic return the same objects.
    """
    if topic not in bag.decoded:
        publishers: dict[Any, JointStatePublisher] = {}
        decoder = JointStateDecoder()
        for received, data in _message_blocks(bag, topic):
            for states in decoder.decode(data, received):
                key = states.names, tuple(states.values)
                publishers.setdefault(key, JointStatePublisher(*key)).blocks.append(states)
        bag.decoded[topic] = list(publishers.values())
    return bag.decoded[topic]


def _message_blocks(bag: Bag, topic: str) -> Iterator[tuple[Sequence[int], Sequence[bytes]]]:
    """Yield times of reception [ns] and data of consecutive messages on a topic."""
    received, data, size, total = list[int](), list[bytes](), 0, 0
    for _, time, message in bag.messages((topic,)):
        received.append(time)
        data.append(message)
        size += len(message)
        if len(data) >= BLOCK or size >= BLOCK_BYTES:
            total += size
            check_decoded_size(total, bag.stored, f"the recording '{bag.path}'", RecordingError)
            yield received, data
            received, data, size = [], [], 0
    if data:
        yield received, data


def choose_topic(bag: Bag, topic: str | None = None, arm: Arm | None = None) -> str:
    """
    Return the topic with the joint states of an arm.

    That is the requested topic; else the only one; else the topic of the arm's driver, unless it
    is /joint_states; else the topic with more than 1.5 times as many messages with the arm's
    efforts as any other; else /joint_states.

    Parameters
    ----------
    bag
        The bag.
    topic
        The requested topic; None to choose one.
    arm
        The arm whose joints the topic must have; None for any joints.

    Raises
    ------
    RecordingError
        The bag has no joint states, or has them on several topics and none can be chosen.
    UnknownNameError
        The requested topic is not in the bag.

    """
    known, label = bag.topics_of(TYPE), f"the recording '{bag.path}'"
    if topic is not None:
        if topic not in known:
            raise UnknownNameError(f'topic of joint states in {label} named', topic, known)
        return topic
    if not known:
        raise RecordingError(f'{label} has no topic of type {TYPE}; it has: '
                             f"{', '.join(sorted(bag.topics)) or 'none'}")
    if len(known) == 1:
        return known[0]
    names = set() if arm is None else set(_published_names(arm))
    if arm is not None and arm.driver is not None:
        own = '/' + arm.driver.joint_states.replace('{tf_prefix}', arm.tf_prefix).lstrip('/')
        fitting = [name for name in known if name.endswith(own)]
        if len(fitting) == 1 and own != STANDARD:
            return fitting[0]
    counts = {name: sum(publisher.count for publisher in find_publishers(bag, name)
                        if names <= set(publisher.names) and 'effort' in publisher.fields)
              for name in known}
    best, second = sorted(known, key=lambda name: -counts[name])[:2]
    if counts[best] > 1.5 * counts[second]:
        return best
    if STANDARD in known and (counts[STANDARD] or not any(counts.values())):
        return STANDARD
    raise RecordingError(f"{label} has joint states on {', '.join(known)}; choose one with "
                         f'--topic, or read_bag(..., topic=...)')


def _published_names(arm: Arm) -> tuple[str, ...]:
    """Return the names that the arm's joints have in messages, according to its robot YAML."""
    aliases = arm.recording_keys.get('names', {})
    return tuple(aliases.get(joint, name)
                 for joint, name in zip(arm.joint_names, arm.ros_joint_names))


def _choose_publisher(
    arm: Arm | None, publishers: Sequence[JointStatePublisher], label: str, topic: str
) -> tuple[JointStatePublisher, tuple[str, ...], tuple[str, ...]]:
    """Return the publisher with an arm's joints, their names in its messages, and remarks."""
    if arm is None:
        largest = max(publishers, key=lambda each: each.count)
        return largest, largest.names, ()
    joints = _published_names(arm)
    remarks: tuple[str, ...] = ()
    if 'names' not in arm.recording_keys and not any(
            set(joints) <= set(each.names) for each in publishers):
        for each in publishers:
            names = infer_joint_names(each.names, arm.joint_names)
            if names and not (arm.tf_prefix and all(map(str.endswith, names.values(), names))):
                joints = tuple(names[joint] for joint in arm.joint_names)
                remarks = (f'{label} is read as `{recording_line({"names": names})}`; put this '
                           'line into the robot YAML',)
                break
    best = max(publishers, key=lambda each: (len(set(joints) & set(each.names)), each.count))
    missing = [name for name in joints if name not in best.names]
    if missing:
        raise RecordingError(
            f"{label} does not have the joint '{', '.join(missing)}' on '{topic}'; it has: "
            f'{", ".join(best.names)}. Record all joints of the arm, or lock those that do not '
            'move; for names with a prefix, set `tf_prefix` in the robot YAML, for others state '
            f'`recording: {{names: {{{arm.joint_names[0]}: NAME, ...}}}}` there')
    return best, joints, remarks
