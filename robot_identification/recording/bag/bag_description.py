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
"""The arm that a bag describes, by a robot YAML or a URDF in its text messages."""

from __future__ import annotations

import dataclasses
from pathlib import Path
import struct
from typing import Any

import numpy as np
from robot_identification.arm import Arm, Effort
from robot_identification.arm.balancers import ESTIMATE
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.arm.urdf import MOVING, parse_urdf
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.recording.bag.bag import Bag
from robot_identification.recording.bag.read import joint_state_blocks, topic_of
from robot_identification.recording.bag.write import Topic
from robot_identification.yaml_file import parse_yaml, read_yaml
import yaml

TEXT = 'std_msgs/msg/String'
MAX_TEXT = 64_000_000    # bytes; descriptions that contain their meshes have some
CDR = struct.Struct('<4sI')
ROBOT, FACTS, DESCRIPTION = 'recorder/robot', 'recorder/facts', 'robot_description'
"""Ends of topic names: the recorder's robot YAML and metadata, and the URDF of ROS."""
STILL = 1e-3    # [rad or m] a joint that moves less in a recording is locked
GRAVITY = {True: 'no-gravity', False: 'gravity'}


def text_topic(name: str) -> Topic:
    """Return a topic of texts, for a bag that is written."""
    return Topic(name, TEXT, 'string data\n')


def text_message(text: str) -> bytes:
    """Return a text as a message of std_msgs/String in CDR."""
    raw = text.encode() + b'\x00'
    return CDR.pack(b'\x00\x01\x00\x00', len(raw)) + raw


def last_texts(bag: Bag) -> dict[str, str]:
    """
    Return the last text on each topic of std_msgs/String, by the topic's name.

    Raises
    ------
    RecordingError
        A message is no text.

    """
    topics = {name for name, kind in bag.topics().items() if kind == TEXT}
    raw = {name: data for name, _, data in bag.messages(topics)} if topics else {}
    return {name: _text(data, f"'{name}' in the bag '{bag.path}'") for name, data in raw.items()}


def _text(data: bytes, label: str) -> str:
    try:
        order = {0: '>', 1: '<'}[data[1]]
        (length,) = struct.unpack_from(f'{order}I', data, 4)
        if not 0 < length <= MAX_TEXT or len(data) < 8 + length:
            raise ValueError(f'its length is {length}')
        return bytes(data[8:8 + length]).rstrip(b'\x00').decode()
    except (IndexError, KeyError, struct.error, ValueError) as error:
        raise RecordingError(f'{label} is no text in CDR: {error}') from error


def robot_text(arm: Arm) -> str:
    """
    Return an arm as a robot YAML that needs no other file.

    Parameters
    ----------
    arm
        The arm, from a robot YAML or a URDF.

    """
    config = arm_to_mapping(arm)
    if arm.estimate_gravity:
        config['gravity'] = ESTIMATE
    return yaml.safe_dump(config, sort_keys=False)


def load_arm_from_bag(path: str | Path, effort: Effort | None = None,
                      topic: str | None = None) -> tuple[Arm, tuple[str, ...]]:
    """
    Return the arm that a bag describes, and remarks on the assumptions made.

    The arm is that of the robot YAML that this package's recorder writes into the bag; else that
    of the URDF on robot_description, in which joints that do not move, or are not recorded, are
    locked.

    Parameters
    ----------
    path
        Folder of the bag or one of its files.
    effort
        Meaning of the effort; that of the robot YAML if None.
    topic
        Topic of the joint states, if there are several.

    Raises
    ------
    RecordingError
        The bag cannot be read, or describes no arm or several.
    ConfigurationError
        The bag has only a URDF, which does not define the effort.
    ArmError
        The description cannot be used.

    """
    bag = Bag(path)
    folder = bag.path if bag.path.is_dir() else bag.path.parent
    texts = last_texts(bag)
    config = _recorded_robot(bag.path, folder, texts)
    if config is None:
        return _described_arm(bag, texts, effort, topic)
    arm = arm_from_mapping(config, folder=folder, label=f"the robot of the bag '{path}'")
    return (arm if effort is None else dataclasses.replace(arm, effort=effort)), ()


def _recorded_robot(path: Path, folder: Path, texts: dict[str, str]) -> dict[str, Any] | None:
    """Return the robot YAML that the recorder wrote into the bag, or beside it."""
    inside = [text for name, text in texts.items() if name.endswith(ROBOT)]
    beside = folder / 'robot.yaml'
    config: Any = None
    if inside:
        config = parse_yaml(inside[-1], f"the robot of the bag '{path}'", RecordingError)
    elif path.is_dir() and beside.is_file():
        config = read_yaml(beside, 'robot YAML', ConfigurationError)
        urdf = folder / 'robot.urdf'
        if urdf.is_file() and isinstance(config, dict):    # bags of earlier versions
            config['urdf'] = urdf.name
    if config is None or isinstance(config, dict):
        return config
    raise RecordingError(f"the robot of the bag '{path}' is not a mapping of keys to values")


def _described_arm(bag: Bag, texts: dict[str, str], effort: Effort | None,
                   topic: str | None) -> tuple[Arm, tuple[str, ...]]:
    name = topic_of(bag, topic)
    urdf = _description(bag, texts, name)
    if effort is None:
        raise ConfigurationError(
            f"the bag '{bag.path}' has a URDF, which does not say what effort means; say it with "
            f'--effort, as torque,joint,+1,gravity')
    locked = _resting_joints(urdf, bag, name)
    remarks = () if not locked else (
        f'joints that do not move in the recording are locked: {", ".join(locked)}',)
    config = {'urdf': urdf, 'locked': locked, 'effort': dataclasses.asdict(effort)}
    return arm_from_mapping(config, folder=Path(), label=f"the URDF of the bag '{bag.path}'"
                            ), remarks


def _description(bag: Bag, texts: dict[str, str], topic: str) -> str:
    descriptions = {name: text for name, text in texts.items()
                    if name.rsplit('/', 1)[-1] == DESCRIPTION}
    if not descriptions:
        raise RecordingError(
            f"the bag '{bag.path}' describes no robot: record /robot_description too, or name "
            f'the robot: robot-identification identify ROBOT {bag.path}')
    near = [name for name in descriptions    # in the namespace of the joint states
            if topic.startswith(name[:-len(DESCRIPTION)])]
    chosen = sorted(near or descriptions, key=len)
    if len(chosen) > 1 and len(chosen[-2]) == len(chosen[-1]):
        raise RecordingError(f"the bag '{bag.path}' describes several robots: "
                             f"{', '.join(sorted(chosen))}; name the robot")
    return descriptions[chosen[-1]]


def _resting_joints(urdf: str, bag: Bag, topic: str) -> dict[str, float]:
    """Return the positions [rad or m] of the joints that do not move, by name."""
    lowest: dict[str, float] = {}
    highest: dict[str, float] = {}
    messages = 0
    for states in joint_state_blocks(bag, topic):
        messages += len(states)
        if states.position is None:
            continue
        for name, column in zip(states.names, states.position.T):
            if np.isfinite(column).any():
                lowest[name] = min(lowest.get(name, np.inf), float(np.nanmin(column)))
                highest[name] = max(highest.get(name, -np.inf), float(np.nanmax(column)))
    if not messages:
        raise RecordingError(f"the recording '{bag.path}' has no message on '{topic}'")
    locked = {}
    for joint in parse_urdf(urdf, f"the URDF of the bag '{bag.path}'").findall('joint'):
        name = joint.get('name', '')
        if joint.get('type') not in MOVING:
            continue
        moved = highest.get(name, 0.0) - lowest.get(name, 0.0)
        if joint.find('mimic') is not None or moved < STILL:
            middle = (highest.get(name, 0.0) + lowest.get(name, 0.0)) / 2
            limit = joint.find('limit')
            if limit is not None and joint.get('type') != 'continuous':
                middle = float(np.clip(middle, float(limit.get('lower', '0')),
                                       float(limit.get('upper', '0'))))
            locked[name] = middle
    return locked
