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
"""Storages: files of a bag as they are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
import sqlite3
from typing import Any, IO, Protocol

from robot_identification.errors import MissingDependencyError
from robot_identification.recording.bag.joint_states import DEFINITION, TYPE

VERSION = 5  # of the metadata: Humble's, which all later distributions read
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


@dataclass(frozen=True)
class Topic:
    """
    A topic of a bag.

    Parameters
    ----------
    name, kind
        For instance /joint_states and sensor_msgs/msg/JointState.
    definition
        Text of the message with those that it uses, as ros2msg.
    qos
        The publishers' quality of service as YAML.

    """

    name: str
    kind: str = TYPE
    definition: str = DEFINITION
    qos: str = RELIABLE


class Storage(Protocol):
    """A file of a bag that is written."""

    def write(self, topic: int, received: int, data: bytes) -> None:
        """Append a message."""

    def flush(self) -> None:
        """Make everything so far survive the end of this process."""

    def close(self, metadata: str) -> None:
        """Finish the file."""


class _McapStorage:
    """MCAP without chunks: each flushed message is whole on disk."""

    def __init__(self, path: Path, topics: Sequence[Topic]) -> None:
        try:
            from mcap.writer import CompressionType, Writer
        except ModuleNotFoundError as error:
            raise MissingDependencyError('mcap', 'writing an MCAP bag') from error
        self._file: IO[bytes] = path.open('xb')
        self._writer: Any = Writer(self._file, compression=CompressionType.NONE,
                                   use_chunking=False)
        self._writer.start(profile='ros2', library='robot_identification')
        schemas: dict[str, int] = {}
        self._channels = []
        for topic in topics:
            if topic.kind not in schemas:
                schemas[topic.kind] = self._writer.register_schema(
                    topic.kind, 'ros2msg', topic.definition.encode())
            self._channels.append(self._writer.register_channel(
                topic.name, 'cdr', schemas[topic.kind], {'offered_qos_profiles': topic.qos}))

    def write(self, topic: int, received: int, data: bytes) -> None:
        """Append a message."""
        self._writer.add_message(self._channels[topic], received, data, received)

    def flush(self) -> None:
        """Hand everything to the operating system."""
        self._file.flush()

    def close(self, metadata: str) -> None:
        """Write the index."""
        with self._file:
            self._writer.finish()


class _SqliteStorage:
    """SQLite with a write-ahead log: each flush is a transaction."""

    SCHEMA = """
        PRAGMA journal_mode=WAL;
        PRAGMA synchronous=NORMAL;
        CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
        CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL,
                              metadata TEXT NOT NULL);
        CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
                            serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,
                            type_description_hash TEXT NOT NULL);
        CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL,
                                         encoding TEXT NOT NULL,
                                         encoded_message_definition TEXT NOT NULL,
                                         type_description_hash TEXT NOT NULL);
        CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,
                              timestamp INTEGER NOT NULL, data BLOB NOT NULL);
        CREATE INDEX timestamp_idx ON messages (timestamp ASC);
        INSERT INTO schema VALUES (4, 'robot_identification');
    """

    def __init__(self, path: Path, topics: Sequence[Topic]) -> None:
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.executescript(self.SCHEMA)
        self._rows: list[tuple[int, int, bytes]] = []
        for number, topic in enumerate(topics, start=1):
            self._database.execute("INSERT INTO topics VALUES (?, ?, ?, 'cdr', ?, '')",
                                   (number, topic.name, topic.kind, topic.qos))
        for kind, definition in {topic.kind: topic.definition for topic in topics}.items():
            self._database.execute(
                'INSERT INTO message_definitions (topic_type, encoding, '
                "encoded_message_definition, type_description_hash) VALUES (?, 'ros2msg', ?, '')",
                (kind, definition))
        self._database.commit()

    def write(self, topic: int, received: int, data: bytes) -> None:
        """Append a message."""
        self._rows.append((topic + 1, received, data))

    def flush(self) -> None:
        """Commit everything."""
        rows, self._rows = self._rows, []
        self._database.executemany(
            'INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)', rows)
        self._database.commit()

    def close(self, metadata: str) -> None:
        """Commit and fold the log into the file."""
        try:
            self.flush()
            self._database.execute('INSERT INTO metadata VALUES (1, ?, ?)', (VERSION, metadata))
            self._database.commit()
            self._database.execute('PRAGMA journal_mode=DELETE')
        finally:
            self._database.close()


STORAGES: dict[str, Callable[[Path, Sequence[Topic]], Storage]] = {
    'mcap': _McapStorage, 'sqlite3': _SqliteStorage}
SUFFIXES = {'mcap': '.mcap', 'sqlite3': '.db3'}
