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
"""Recordings from bags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError, UnknownNameError
from robot_identification.recording.bag.bag import Bag
from robot_identification.recording.bag.joint_states import (
    FIELDS,
    JointStateDecoder,
    JointStates,
    TYPE,
)
from robot_identification.recording.keys import signal_keys
from robot_identification.recording.propose import Proposal, recording_line, rename
from robot_identification.recording.recording import Recording
from robot_identification.scratch import extremes, Gathered, mapped, walk

BLOCK, BLOCK_BYTES = 20_000, 100_000_000  # messages and bytes that are decoded at a time
STANDARD = '/joint_states'
STAMPS = ('header', 'received')


def read_bag(path: str | Path, arm: Arm | None = None, topic: str | None = None,
             stamps: str | None = None) -> Recording:
    """
    Read a recording from a bag of rosbag2.

    Parameters
    ----------
    path
        The folder of the bag or one of its files, MCAP or SQLite; split or compressed bags are
        read whole, of an unclosed bag what was written.
    arm
        Its joints are read, in its order; other joints are ignored, as are the messages of other
        publishers.
    topic
        With the joint states. When not given: that of the robot YAML, the only one, that of the
        arm's driver, or the one with far more messages of the arm than the others.
    stamps
        'header', those of the sender, or 'received', those of the recorder; as the robot YAML
        says, or 'header', when not given.

    Returns
    -------
    Recording
        Its stamps count from the first message. Efforts are in tau, whatever the arm says that
        they are.

    Raises
    ------
    RecordingError
        The bag cannot be read, or does not have what is asked for.

    """
    block = {} if arm is None else arm.recording_keys
    topic, stamps = topic or block.get('topic'), stamps or block.get('stamps', STAMPS[0])
    if stamps not in STAMPS:
        raise UnknownNameError('kind of stamps', stamps, STAMPS)
    bag = Bag(path)
    place = f"the recording '{path}'"
    chosen = topic_of(bag, topic, arm)
    groups = joint_states(bag, chosen)
    if not groups:
        raise RecordingError(f"{place} has no message on '{chosen}'; was the recorder started "
                             f'before the motion, and does the robot publish there?')
    called, remarks = ((), ()) if arm is None else _called(arm, groups, place)
    states = (max(groups, key=len) if arm is None
              else _of_arm(groups, arm, called, place, chosen))
    if stamps == 'header' and not np.any(extremes(states.stamps)):
        raise RecordingError(f"{place}: all messages on '{chosen}' have the stamp zero; correct "
                             'the driver, or say in the robot YAML `recording: {stamps: '
                             'received}`')
    times = states.stamps if stamps == 'header' else states.received
    names = states.names if arm is None else arm.joint_names
    columns = [states.names.index(name) for name in called or names]

    keys = signal_keys(arm, None)

    def pick(values: Array | None, signal: str) -> Array | None:
        if values is None or all(np.isnan(values[rows][:, columns]).all()
                                 for rows in walk(len(values), values)):
            return None  # joint_state_broadcaster publishes NaN where there is no interface
        return keys[signal][0].to_si(mapped(lambda part: part[:, columns], values), names, arm)

    if states.position is None:
        raise RecordingError(f"{place}: the messages on '{chosen}' have no positions")
    others = sorted(name for name, kind in bag.topics().items() if kind == TYPE and name != chosen)
    if others and topic is None:
        remarks += (f"joint states are also on {', '.join(others)}; those on {chosen} were read",)
    start = int(times[0])
    return Recording(mapped(lambda part: (part - start) / 1e9, times),
                     keys['q'][0].to_si(mapped(lambda part: part[:, columns], states.position),
                                        names, arm),
                     pick(states.effort, 'tau'), v=pick(states.velocity, 'v'),
                     joint_names=names, name=str(path),
                     remarks=(*remarks, *bag.remarks(chosen, sum(map(len, groups)))))


def joint_states(bag: Bag, topic: str) -> list[JointStates]:
    """
    Return all joint states of a topic, one item for each publisher's layout.

    Parameters
    ----------
    bag
        The bag, which is decoded once.
    topic
        Name of the topic.

    """
    if topic not in bag.decoded:
        bag.decoded[topic] = _decoded(bag, topic)
    found: list[JointStates] = bag.decoded[topic]
    return found


def _decoded(bag: Bag, topic: str) -> list[JointStates]:
    decoder = JointStateDecoder()
    layouts: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, Gathered]] = {}

    def decode() -> None:
        for part in decoder.decode(messages, received):
            filled = tuple(field for field in ('stamps', 'received', *FIELDS)
                           if getattr(part, field) is not None)
            layout = layouts.setdefault((part.names, filled),
                                        {field: Gathered() for field in filled})
            for field, rows in layout.items():
                rows.add(getattr(part, field))
        messages.clear()
        received.clear()

    messages: list[bytes] = []
    received: list[int] = []
    size = 0
    for _, time, data in bag.messages((topic,)):
        messages.append(data)
        received.append(time)
        size += len(data)
        if len(messages) == BLOCK or size > BLOCK_BYTES:
            decode()
            size = 0
    decode()
    empty: dict[str, Any] = dict.fromkeys(FIELDS)
    return [JointStates(names, **empty | {field: rows.whole() for field, rows in each.items()})
            for (names, _), each in layouts.items()]


def propose_for_bag(path: str | Path, arm: Arm) -> Proposal | None:
    """
    Propose topic and names of the joints for a bag, None where no topic has the arm's joints.

    Parameters
    ----------
    path
        The bag.
    arm
        Whose joints are looked for.

    Raises
    ------
    RecordingError
        The bag cannot be read.

    """
    bag = Bag(path)
    known = sorted(name for name, kind in bag.topics().items() if kind == TYPE)
    known.sort(key=lambda name: name != STANDARD)
    for topic in known:
        for group in joint_states(bag, topic):
            names = rename(group.names, arm.joint_names)
            if names is None:
                continue
            block: dict[str, Any] = {} if topic == STANDARD or len(known) == 1 else {
                'topic': topic}
            if any(joint != name for joint, name in names.items()):
                block['names'] = names
            others = ', '.join(name for name in known if name != topic)
            return Proposal(block, (f'joint states are on {others} too',) if others else ())
    return None


def topic_of(bag: Bag, topic: str | None = None, arm: Arm | None = None) -> str:
    """
    Return the topic with the joint states of an arm.

    Parameters
    ----------
    bag
        The bag.
    topic
        What was asked for.
    arm
        Whose joints; any when None.

    Raises
    ------
    RecordingError
        There is none, or several of which none stands out.
    UnknownNameError
        That one is not there.

    """
    types, place = bag.topics(), f"the recording '{bag.path}'"
    known = sorted(name for name, kind in types.items() if kind == TYPE)
    if topic is not None:
        if topic not in known:
            raise UnknownNameError(f'topic of joint states in {place} named', topic, known)
        return topic
    if not known:
        raise RecordingError(f'{place} has no topic of type {TYPE}; it has: '
                             f"{', '.join(sorted(types)) or 'none'}")
    if len(known) > 1:
        return _outstanding(bag, known, arm, place)
    return known[0]


def _outstanding(bag: Bag, known: list[str], arm: Arm | None, place: str) -> str:
    """Choose among several topics: a driver's, or by how much of the arm they carry."""
    names = set() if arm is None else set(_said(arm))
    driver = None if arm is None else arm.driver
    if arm is not None and driver is not None:
        own = '/' + driver.joint_states.replace('{tf_prefix}', arm.tf_prefix).lstrip('/')
        fitting = [name for name in known if name.endswith(own)]
        if len(fitting) == 1 and own != STANDARD:
            return fitting[0]
    counts = {name: sum(len(group) for group in joint_states(bag, name)
                        if names <= set(group.names) and group.effort is not None)
              for name in known}
    best = max(counts, key=lambda name: counts[name])
    others = [count for name, count in counts.items() if name != best]
    if counts[best] > 1.5 * max(others):
        return best
    if STANDARD in known and (counts[STANDARD] or not any(counts.values())):
        return STANDARD
    raise RecordingError(f"{place} has joint states on {', '.join(known)}; choose one with "
                         f'--topic, or read_bag(..., topic=...)')


def _called(arm: Arm, groups: Sequence[JointStates], place: str
            ) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the bag calls the joints of the arm, and what to say of that."""
    called = _said(arm)
    if 'names' in arm.recording_keys or any(set(called) <= set(group.names) for group in groups):
        return called, ()
    for group in groups:
        names = rename(group.names, arm.joint_names)
        if names is not None and not all(name.endswith(joint) for joint, name in names.items()):
            return (tuple(names[joint] for joint in arm.joint_names),
                    (f'{place} is read as `{recording_line({"names": names})}`; put this line '
                     'into the robot YAML',))
    return called, ()


def _said(arm: Arm) -> tuple[str, ...]:
    """Return what bags call the joints of the arm, as far as the robot YAML says it."""
    aliases = arm.recording_keys.get('names', {})
    return tuple(aliases.get(joint, name)
                 for joint, name in zip(arm.joint_names, arm.published_names))


def _of_arm(groups: Sequence[JointStates], arm: Arm, joints: Sequence[str], place: str,
            topic: str) -> JointStates:
    complete = [group for group in groups if set(joints) <= set(group.names)]
    if not complete:
        best = max(groups, key=lambda group: len(set(joints) & set(group.names)))
        missing = [name for name in joints if name not in best.names]
        raise RecordingError(
            f"{place} does not have the joint '{', '.join(missing)}' on '{topic}'; it has: "
            f'{", ".join(best.names)}. {_way_out(groups, arm)}')
    return max(complete, key=len)


def _way_out(groups: Sequence[JointStates], arm: Arm) -> str:
    """Say which prefix makes the joints those of the arm, where there is one."""
    first = arm.joint_names[0]
    prefixes = sorted({name.removesuffix(first) for group in groups for name in group.names
                       if name.endswith(first) and {
                           name.removesuffix(first) + joint for joint in arm.joint_names
                       } <= set(group.names)})
    if prefixes:
        return (f"They are the arm's with a prefix: say `tf_prefix: {prefixes[0]}` in the robot "
                f'YAML' + (f' (or {", ".join(prefixes[1:])})' if prefixes[1:] else ''))
    return ('Record all joints of the arm, or lock those that stand still; where the bag calls '
            f'joints otherwise, say so in the robot YAML: `recording: {{names: {{{first}: NAME, '
            '...}}`')
