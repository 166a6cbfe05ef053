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
"""
Writes bags in MCAP without chunks, or SQLite where `mcap` is not installed.

Flushed messages survive if the writer is killed.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
import os
from pathlib import Path
import sqlite3
from typing import Any, IO

import numpy as np
from robot_identification.errors import RecordingError, RobotIdentificationError
from robot_identification.files import check_writable, write_text
from robot_identification.output_folder import sync, temporary
from robot_identification.recording.bag.bag import METADATA
from robot_identification.recording.bag.joint_states import DEFINITION, JointStateLayout, TYPE
from robot_identification.recording.bag.read import STANDARD
from robot_identification.recording.recording import Recording
import yaml

VERSION = 5  # of the metadata, as in ROS 2 Humble; all later distributions read it

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
        """Complete the file."""
        with self._stream:
            self._writer.finish()


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
        """Complete the file."""
        with closing(self._database):
            self._database.commit()


Storage = McapStorage | SqliteStorage


def find_storage() -> type[Storage]:
    """Return the format of new bags: MCAP, or SQLite if the package `mcap` is not installed."""
    try:
        import mcap.writer  # noqa: F401
    except ImportError:
        return SqliteStorage
    return McapStorage


class BagWriter:
    """
    Writer of a bag; flushed messages survive if the writer is killed.

    The file is MCAP. If the package `mcap` is not installed, as on a ROS distribution without
    packages of PyPI, it is SQLite.

    Parameters
    ----------
    path
        Folder of the bag; it must not exist.
    topics
        The topics of the messages.

    Raises
    ------
    RecordingError
        The folder exists or cannot be written.

    """

    def __init__(self, path: str | Path, topics: Sequence[Topic]) -> None:
        kind = find_storage()
        self.path, self.topics = Path(path), tuple(topics)
        self.counts = [0] * len(self.topics)
        self.first, self.last = 0, 0  # times of the first and last message [ns]
        self.file = self.path / f'{self.path.name}_0{kind.extension}'
        try:
            self.path.mkdir(parents=True)
            self._storage = kind(self.file, self.topics)
        except FileExistsError as error:
            raise RecordingError(f"'{path}' exists; give the bag another name") from error
        except (OSError, sqlite3.Error) as error:
            raise RecordingError(f"the bag '{path}' cannot be written: {error}") from error

    def write(self, topic: int, received: int, data: bytes) -> None:
        """
        Append a message.

        Parameters
        ----------
        topic
            Index of the topic in `topics`.
        received
            Time of reception [ns].
        data
            The message, serialized as CDR.

        Raises
        ------
        RecordingError
            The disk is full or no longer writable.

        """
        with self._explain():
            self._storage.write(topic, received, data)
        self.first = min(self.first, received) if any(self.counts) else received
        self.last = max(self.last, received)
        self.counts[topic] += 1

    def flush(self) -> None:
        """Pass buffered messages to the operating system, so that a crash does not lose them."""
        with self._explain():
            self._storage.flush()

    def close(self) -> None:
        """
        Close the bag: write its summary and metadata.yaml.

        Raises
        ------
        RecordingError
            The disk is full. Messages that were flushed before can still be read.

        """
        with self._explain():
            self._storage.close()
            sync(self.file)
        start = {'nanoseconds_since_epoch': self.first}
        duration = {'nanoseconds': self.last - self.first}
        information = {
            'version': VERSION, 'storage_identifier': self._storage.name,
            'duration': duration, 'starting_time': start, 'message_count': sum(self.counts),
            'topics_with_message_count': [
                {'topic_metadata': {'name': topic.name, 'type': topic.kind,
                                    'serialization_format': 'cdr',
                                    'offered_qos_profiles': RELIABLE},
                 'message_count': count} for topic, count in zip(self.topics, self.counts)],
            'compression_format': '', 'compression_mode': '',
            'relative_file_paths': [self.file.name],
            'files': [{'path': self.file.name, 'starting_time': start, 'duration': duration,
                       'message_count': sum(self.counts)}],
        }
        write_text(self.path / METADATA, yaml.safe_dump(
            {'rosbag2_bagfile_information': information}, sort_keys=False))

    @contextmanager
    def _explain(self) -> Iterator[None]:
        """Turn an error of the operating system into one that names the bag."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise RecordingError(f"the bag '{self.path}' cannot be written any more: {error}; "
                                 f'what was written before can be read') from error


def write_bag(recording: Recording, path: str | Path, topic: str = STANDARD) -> None:
    """
    Write a recording as a bag of JointState messages; `read_bag` returns the same values.

    Stamps are rounded to nanoseconds, and `read_bag` counts them from zero. The folder is written
    completely or not at all.

    Parameters
    ----------
    recording
        The recording. Its torques are written as efforts; without torques, its currents.
    path
        Folder of the bag; it must not exist.
    topic
        Name of the topic.

    Raises
    ------
    RecordingError
        The recording has both torques and currents, or negative stamps; the folder exists; or the
        disk is full.

    Examples
    --------
    >>> write_bag(load_recording('log.csv'), 'run_1')
    >>> read_bag('run_1').rate    # [Hz]
    500.0

    """
    if recording.tau is not None and recording.current is not None:
        raise RecordingError(f'{recording.label} has torques and currents, but joint states '
                             f'have one effort; write it as CSV or NPZ')
    if recording.t[0] < 0:
        raise RecordingError(f'{recording.label} begins at {recording.t[0]:g} s; the stamps of a '
                             f'bag cannot be before zero')
    effort = recording.current if recording.tau is None else recording.tau
    values = {field: rows for field, rows in (
        ('position', recording.q), ('velocity', recording.v), ('effort', effort))
        if rows is not None}
    layout = JointStateLayout.build(recording.joint_names, tuple(values))
    stamps = np.rint(recording.t * 1e9).astype(np.int64)
    target = Path(path)
    if target.exists() or target.is_symlink():
        raise RecordingError(f"'{path}' exists; give the bag another name")
    check_writable(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary(target.parent, is_folder=True) as folder:
            writer = BagWriter(folder / target.name, [Topic(topic)])
            for stamp, message in zip(stamps.tolist(), layout.encode(stamps, **values)):
                writer.write(0, stamp, message)
            writer.close()
            os.rename(writer.path, target)
            sync(target.parent)
    except (OSError, RobotIdentificationError) as error:    # their texts name the temporary folder
        reason = error.__cause__ or error
        raise RecordingError(f"the bag '{path}' cannot be written: "
                             f'{getattr(reason, "strerror", None) or reason}') from error
