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
"""Reads the joint states of ROS 1 bags."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from robot_identification.log_formats.converted_file import ROS1, TemporaryFolder
from robot_identification.recording.bag.bag import SqliteFile


class Ros1File(SqliteFile):
    """
    A bag of ROS 1, whose joint states a helper process converts to messages of ROS 2.

    Parameters
    ----------
    path
        The file `.bag`.

    Raises
    ------
    RecordingError
        The bag is damaged or too large; `rosbag reindex` repairs one whose recorder was killed.
    MissingDependencyError
        rosbags is not installed.

    """

    def __init__(self, path: Path) -> None:
        target, self._folder = _convert(path, path.stat().st_mtime_ns)
        super().__init__(target)


@lru_cache(maxsize=1)
def _convert(path: Path, changed: int) -> tuple[Path, TemporaryFolder]:
    """Return the converted bag and its folder; the last one is kept, as bags are opened twice."""
    folder = TemporaryFolder()
    target = Path(folder.name, f'bag{ROS1.extension}')
    ROS1.run(path, target)
    return target, folder
