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

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
import hashlib
from pathlib import Path
from typing import Any

import robot_identification
from robot_identification.arm import load_arm
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.fleet.fleet_file import RobotTask
from robot_identification.fleet.recording_sources import fingerprint
from robot_identification.fleet.results_folder import Report
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


def compute_fingerprints(client: Any, tasks: Sequence[RobotTask],
                         report: Report = lambda text: None) -> dict[str, str]:
    """
    Return the fingerprint of each recording, by path or URL.

    Parameters
    ----------
    client
        Dask client whose workers compute the fingerprints; threads of this process when None.
    tasks
        Robots with their recordings.
    report
        Called with a message if workers do not see some of the recordings on this machine.

    Raises
    ------
    ConfigurationError
        The workers see none of the recordings on this machine.

    """
    sources = list(dict.fromkeys(
        source for task in tasks for source in (*task.recordings, *task.held_out)))
    if client is not None:
        found = dict(zip(sources, client.gather(client.map(fingerprint, sources, pure=False))))
        check_visible(found, report)
        return found
    with ThreadPoolExecutor(core_count()) as pool:
        return dict(zip(sources, pool.map(fingerprint, sources)))


def check_visible(fingerprints: Mapping[str, str], report: Report) -> None:
    """Report recordings on this machine that the workers of a scheduler do not see."""
    paths = [source for source in fingerprints if '://' not in source]
    unseen = [path for path in paths if not fingerprints[path] and Path(path).exists()]
    if not unseen:
        return
    text = (f'the workers of the scheduler do not see {len(unseen)} of {len(fingerprints)} '
            f"recordings that are on this machine, such as '{unseen[0]}': give them a folder that "
            'all machines have under the same path, or URLs')
    if not Path(unseen[0]).is_absolute():
        text += '; the path is relative, so give the fleet file by its absolute path'
    if len(unseen) == len(fingerprints):
        raise ConfigurationError(text)
    report(text)


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
