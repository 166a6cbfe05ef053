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
"""Digests of each robot's inputs, by which a later run detects changed robots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
import hashlib
from typing import Any

import robot_identification
from robot_identification.arm import load_arm
from robot_identification.errors import RobotIdentificationError
from robot_identification.fleet.fleet_file import RobotTask
from robot_identification.fleet.recording_sources import fingerprint
from robot_identification.parallel import core_count


def input_digest(task: RobotTask, fingerprints: Mapping[str, str], arm_digest: str) -> str:
    """
    Return the SHA-256 digest of all inputs of a robot and of the package's version.

    Parameters
    ----------
    task
        The robot with its recordings and settings.
    fingerprints
        Fingerprint of each recording, by path or URL.
    arm_digest
        Digest of the robot's YAML, URDF and other files.

    """
    texts = [robot_identification.__version__, task.robot, arm_digest, task.settings_text,
             *(f'{source} {fingerprints[source]}' for source in task.recordings), 'held out',
             *(f'{source} {fingerprints[source]}' for source in task.held_out)]
    return hashlib.sha256('\n'.join(texts).encode()).hexdigest()


def compute_fingerprints(client: Any, tasks: Sequence[RobotTask]) -> dict[str, str]:
    """
    Return the fingerprint of each recording, by path or URL.

    Parameters
    ----------
    client
        Dask client whose workers compute the fingerprints; threads of this process when None.
    tasks
        Robots with their recordings.

    """
    sources = list(dict.fromkeys(
        source for task in tasks for source in (*task.recordings, *task.held_out)))
    if client is not None:
        return dict(zip(sources, client.gather(client.map(fingerprint, sources, pure=False))))
    with ThreadPoolExecutor(core_count()) as pool:
        return dict(zip(sources, pool.map(fingerprint, sources)))


def compute_input_digests(tasks: Sequence[RobotTask],
                          fingerprints: Mapping[str, str]) -> dict[str, str]:
    """Return the input digest of each robot, by name."""
    digests: dict[str, str] = {}
    for robot in {task.robot for task in tasks}:
        try:
            arm = load_arm(robot)
            texts = [arm.urdf_sha256, *(fingerprint(str(path)) for path in sorted(arm.files))]
        except RobotIdentificationError as error:    # reported again by the robot's task
            texts = [str(error)]
        digests[robot] = hashlib.sha256('\n'.join(texts).encode()).hexdigest()
    return {task.name: input_digest(task, fingerprints, digests[task.robot]) for task in tasks}
