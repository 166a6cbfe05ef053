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
"""Loads an arm from the robot YAML or the URDF in the text messages of a bag."""

import dataclasses
from pathlib import Path
import struct

import numpy as np
from robot_identification.arm import Arm, Effort
from robot_identification.arm.balancers import ESTIMATE
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.arm.urdf import MOVING, parse_urdf, position_limits
from robot_identification.errors import ConfigurationError, RecordingError
from robot_identification.recording.bag.bag import Bag
from robot_identification.recording.bag.joint_states import cdr_text, CdrReader, HEADER
from robot_identification.recording.bag.read import choose_topic, find_publishers
from robot_identification.recording.bag.write import Topic
from robot_identification.yaml_file import parse_yaml
import yaml

TEXT = 'std_msgs/msg/String'
ROBOT, FACTS, DESCRIPTION = 'recorder/robot', 'recorder/facts', 'robot_description'
"""Last parts of topic names: the recorder's robot YAML and metadata, and the URDF of ROS."""
STILL = 1e-3    # [rad or m] a joint with a smaller range of motion is locked


def text_topic(name: str) -> Topic:
    """Return a topic of type std_msgs/String for `BagWriter`."""
    return Topic(name, TEXT, 'string data\n')


def text_message(text: str) -> bytes:
    """Return a text as a serialized std_msgs/String message (CDR)."""
    return HEADER + cdr_text(text)


def read_last_texts(bag: Bag) -> dict[str, str]:
    """
    Return the last text on each topic of type std_msgs/String, by name of the topic.

    Raises
    ------
    RecordingError
        A message cannot be decoded.

    """
    topics = bag.topics_of(TEXT)
    messages = {name: data for name, _, data in bag.messages(topics)} if topics else {}
    texts = {}
    for name, data in messages.items():
        try:
            texts[name] = CdrReader(data).text()
        except (struct.error, ValueError) as error:
            raise RecordingError(
                f"'{name}' in the bag '{bag.path}' is not text in CDR: {error}") from error
    return texts


def robot_text(arm: Arm) -> str:
    """
    Return an arm as a robot YAML that contains its URDF.

    Parameters
    ----------
    arm
        The arm, from a robot YAML or a URDF.

    """
    gravity = {'gravity': ESTIMATE} if arm.estimate_gravity else {}
    return yaml.safe_dump(arm_to_mapping(arm) | gravity, sort_keys=False)


def load_arm_from_bag(path: str | Path, effort: Effort | None = None,
                      topic: str | None = None) -> tuple[Arm, tuple[str, ...]]:
    """
    Return the arm that a bag describes, and remarks on the assumptions that were made.

    The arm is read from the robot YAML in the bag, which the recorder of this package writes.
    Without it, the URDF on `robot_description` is used, and joints that do not move or are not
    recorded are locked.

    Parameters
    ----------
    path
        Folder of the bag or one of its files.
    effort
        Meaning of the effort signal. Default: that in the robot YAML. Required for a URDF.
    topic
        Topic of the joint states; needed if there are several.

    Raises
    ------
    RecordingError
        The bag cannot be read, or describes no arm or several.
    ConfigurationError
        The bag has only a URDF, and `effort` is None.
    ArmError
        The description is not that of a robot arm.

    Examples
    --------
    >>> arm, remarks = load_arm_from_bag('run_1')
    >>> recording = read_bag('run_1', arm)

    """
    bag = Bag(path)
    texts = read_last_texts(bag)
    robots = [text for name, text in texts.items() if name.endswith(ROBOT)]
    if not robots:
        return _described_arm(bag, texts, effort, topic)
    label = f"the robot of the bag '{path}'"
    config = parse_yaml(robots[-1], label, RecordingError)
    arm = arm_from_mapping(config, folder=Path(), label=label)
    return (arm if effort is None else dataclasses.replace(arm, effort=effort)), ()


def _described_arm(bag: Bag, texts: dict[str, str], effort: Effort | None,
                   topic: str | None) -> tuple[Arm, tuple[str, ...]]:
    """Return the arm of a bag's URDF, its resting joints locked, and remarks on the locking."""
    name = choose_topic(bag, topic)
    urdf = _description(bag, texts, name)
    if effort is None:
        raise ConfigurationError(
            f"the bag '{bag.path}' has a URDF, which does not define the meaning of effort; give "
            f'it, for example --effort torque,joint,+1,gravity')
    locked = _resting_joints(urdf, bag, name)
    remarks = () if not locked else (
        f'joints that do not move in the recording are locked: {", ".join(locked)}',)
    config = {'urdf': urdf, 'locked': locked, 'effort': dataclasses.asdict(effort)}
    return arm_from_mapping(config, folder=Path(), label=f"the URDF of the bag '{bag.path}'"
                            ), remarks


def _description(bag: Bag, texts: dict[str, str], topic: str) -> str:
    """Return the URDF on the robot_description topic nearest in namespace to the joint states."""
    descriptions = {name: text for name, text in texts.items()
                    if name.rsplit('/', 1)[-1] == DESCRIPTION}
    if not descriptions:
        raise RecordingError(
            f"the bag '{bag.path}' has no robot_description: record it too, or name "
            f'the robot: robot-identification identify ROBOT {bag.path}')
    near = [name for name in descriptions    # in the namespace of the joint states or above
            if topic.startswith(name[:-len(DESCRIPTION)])]
    chosen = sorted(near or descriptions, key=len)
    if len(chosen) > 1 and len(chosen[-2]) == len(chosen[-1]):
        raise RecordingError(f"the bag '{bag.path}' describes several robots: "
                             f"{', '.join(sorted(chosen))}; name the robot")
    return descriptions[chosen[-1]]


def _resting_joints(urdf: str, bag: Bag, topic: str) -> dict[str, float]:
    """Return the positions [rad or m] of the joints that do not move or are not recorded."""
    publishers = find_publishers(bag, topic)
    if not publishers:
        raise RecordingError(f"the recording '{bag.path}' has no message on '{topic}'")
    ranges: dict[str, tuple[float, float]] = {}
    for states in (states for publisher in publishers if 'position' in publisher.fields
                   for states in publisher.blocks):
        limits = [f.reduce(states.values['position']) for f in (np.fmin, np.fmax)]
        for name, low, high in zip(states.names, *limits):
            if np.isfinite(high - low):
                lowest, highest = ranges.get(name, (low, high))
                ranges[name] = float(min(lowest, low)), float(max(highest, high))
    locked = {}
    for joint in parse_urdf(urdf, f"the URDF of the bag '{bag.path}'").findall('joint'):
        name = joint.get('name', '')
        low, high = ranges.get(name, (0.0, 0.0))
        if joint.get('type') not in MOVING or (joint.find('mimic') is None and high - low > STILL):
            continue
        locked[name] = float(np.clip((low + high) / 2, *position_limits(joint)))
    return locked
