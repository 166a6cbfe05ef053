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
"""Reader of MCAP files by rosbag2_py, on ROS distributions without the package `mcap`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from robot_identification.errors import RecordingError
from robot_identification.recording.bag.joint_states import Messages

try:
    import rosbag2_py
except ImportError:
    rosbag2_py = None


def rosbag2_is_installed() -> bool:
    """Return whether rosbag2_py is installed."""
    return rosbag2_py is not None


class Rosbag2File:
    """
    Reader of an MCAP file by rosbag2_py, for ROS distributions without the package `mcap`.

    Parameters
    ----------
    path
        The file.

    """

    closed = True    # rosbag2_py does not tell

    def __init__(self, path: Path) -> None:
        self.path = path

    def topics(self) -> dict[str, str]:
        """Return the types of the topics by name."""
        return {topic.name: topic.type for topic in self._open().get_all_topics_and_types()}

    def messages(self, topics: Collection[str]) -> Messages:
        """Yield topic, time of reception [ns] and data; see `Bag.messages`."""
        if not topics:
            return
        reader = self._open(topics)
        while reader.has_next():
            yield tuple(reader.read_next()[:3])

    def _open(self, topics: Collection[str] = ()) -> Any:
        """Return the open reader of the topics; of all if none are given."""
        reader = rosbag2_py.SequentialReader()
        try:
            reader.open(rosbag2_py.StorageOptions(uri=str(self.path), storage_id='mcap'),
                        rosbag2_py.ConverterOptions('', ''))
        except RuntimeError as error:
            raise RecordingError(f"'{self.path}' is not a bag that can be read: "
                                 f'{error}') from error
        reader.set_filter(rosbag2_py.StorageFilter(topics=list(topics)))
        return reader
