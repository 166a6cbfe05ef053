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
"""Files into which `BagWriter` writes messages: MCAP, or SQLite where `mcap` is not installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import os
from pathlib import Path
import sqlite3
from typing import Any, IO

from robot_identification.recording.bag.joint_states import DEFINITION, TYPE

RELIABLE = """- history: 1
  depth: 1000
  reliability: 1
  durability: 2
  deadline: {sec: 9223372036, nsec: 854775807}
  lifespan: {sec: 9223372036, nsec: 854775807}
  liveliness: 1
  liveliness_lease_duration: {sec: 9223372036, nsec: 854775807}
  avoid_ros_namespace_conventions: false
"""
# tables of rosbag2's schema 2, which ROS 2 Humble and all later distributions read
SQLITE_SCHEMA = """
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
    serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,
    timestamp INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
"""


@dataclass(frozen=True)
class Topic:
    """
    A topic of a bag to write.

    Parameters
    ----------
    name, kind
        Name and type, for instance /joint_states and sensor_msgs/msg/JointState.
    definition
        Definition of the type, and of all types in it, in the format ros2msg.

    """

    name: str
    kind: str = TYPE
    definition: str = DEFINITION


class McapStorage:
    """
    An MCAP file without chunks, to be written.

    Parameters
    ----------
    path, topics
        The new file, and the topics of its messages.

    """

    name, extension = 'mcap', '.mcap'

    def __init__(self, path: Path, topics: Sequence[Topic]) -> None:
        from mcap.writer import Writer
        self._stream: IO[bytes] = path.open('xb')
        self._writer: Any = Writer(self._stream, use_chunking=False)
        self._writer.start(profile='ros2', library='robot_identification')
        self._channels = [self._writer.register_channel(
            topic.name, 'cdr',
            self._writer.register_schema(topic.kind, 'ros2msg', topic.definition.encode()),
            {'offered_qos_profiles': RELIABLE}) for topic in topics]

    def write(self, topic: int, received: int, data: bytes) -> None:
        """Append a message of the topic with an index, received at a time [ns]."""
        self._writer.add_message(self._channels[topic], received, data, received)

    def flush(self) -> None:
        """Pass the messages to the operating system, so that a crash does not lose them."""
        self._stream.flush()

    def close(self) -> None:
        """Complete the file and write it to the disk."""
        with self._stream:
            self._writer.finish()
            self._stream.flush()
            os.fsync(self._stream.fileno())


class SqliteStorage:
    """
    A SQLite file of a bag, to be written.

    Parameters
    ----------
    path, topics
        The new file, and the topics of its messages.

    """

    name, extension = 'sqlite3', '.db3'

    def __init__(self, path: Path, topics: Sequence[Topic]) -> None:
        path.open('xb').close()
        self._path = path
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.executescript(SQLITE_SCHEMA)
        self._database.execute('PRAGMA synchronous = OFF')    # the disk is awaited at the end
        self._database.executemany('INSERT INTO topics VALUES (?, ?, ?, ?, ?)', [
            (k + 1, topic.name, topic.kind, 'cdr', RELIABLE) for k, topic in enumerate(topics)])
        self._database.commit()

    def write(self, topic: int, received: int, data: bytes) -> None:
        """Append a message of the topic with an index, received at a time [ns]."""
        self._database.execute(
            'INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)',
            (topic + 1, received, data))

    def flush(self) -> None:
        """Pass the messages to the operating system, so that a crash does not lose them."""
        self._database.commit()

    def close(self) -> None:
        """Complete the file and write it to the disk."""
        try:
            self._database.commit()
        finally:
            self._database.close()
        with self._path.open('rb+') as stream:
            os.fsync(stream.fileno())


Storage = McapStorage | SqliteStorage


def find_storage() -> type[Storage]:
    """Return the format of new bags: MCAP, or SQLite if the package `mcap` is not installed."""
    try:
        import mcap.writer  # noqa: F401
    except ImportError:
        return SqliteStorage
    return McapStorage
