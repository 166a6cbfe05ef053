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
"""Inference of the block `recording` of a robot YAML from a log."""

from pathlib import Path
from typing import Any

from robot_identification.arm import Arm
from robot_identification.recording.bag.bag import Bag
from robot_identification.recording.bag.joint_states import TYPE
from robot_identification.recording.bag.read import find_publishers, STANDARD
from robot_identification.recording.infer_columns import (
    infer_columns,
    infer_joint_names,
    InferredColumns,
)
from robot_identification.recording.load import find_reader


def infer_recording_block(path: str | Path, arm: Arm) -> InferredColumns | None:
    """
    Infer the block `recording` of a robot YAML from a log; return None without positions.

    Parameters
    ----------
    path
        As for `load_recording`.
    arm
        The arm whose joints are searched for.

    Raises
    ------
    RecordingError
        The file cannot be read.

    Examples
    --------
    >>> inferred = infer_recording_block('log.csv', load_arm('panda'))    # doctest: +SKIP
    >>> inferred.block, inferred.notes    # doctest: +SKIP

    """
    path = Path(path)
    reader = find_reader(path)
    if reader is None:
        return _infer_bag_block(path, arm)
    source = reader(path)
    source.name_for(arm)
    return infer_columns(source, arm)


def _infer_bag_block(path: str | Path, arm: Arm) -> InferredColumns | None:
    """
    Infer the block `recording` of a robot YAML for a bag; return None without the arm's joints.

    The block contains the topic and the joint names only if they differ from the defaults.
    """
    bag = Bag(path)
    known = sorted(bag.topics_of(TYPE), key=lambda name: name != STANDARD)
    for topic in known:
        for publisher in find_publishers(bag, topic):
            names = infer_joint_names(publisher.names, arm.joint_names)
            if names is None:
                continue
            others = [name for name in known if name != topic]
            block: dict[str, Any] = {'topic': topic} if others and topic != STANDARD else {}
            if any(joint != name for joint, name in names.items()):
                block['names'] = names
            return InferredColumns(block, tuple(f'joint states are also on {name}'
                                                for name in others))
    return None
