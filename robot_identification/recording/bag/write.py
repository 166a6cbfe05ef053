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
"""Writing of bags in MCAP: every flushed message can be read, also without the file's end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import os
from pathlib import Path
import tempfile
from typing import Any, IO

import numpy as np
from robot_identification.errors import (
    MissingDependencyError,
    RecordingError,
    RobotIdentificationError,
)
from robot_identification.files import check_writable, write_text
from robot_identification.recording.bag.bag import METADATA
from robot_identification.recording.bag.joint_states import DEFINITION, JointStateLayout, TYPE
from robot_identification.recording.bag.read import STANDARD
from robot_identification.recording.recording import Recording
import yaml

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
    A topic of a bag that is written.

    Parameters
    ----------
    name, kind
        For instance /joint_states and sensor_msgs/msg/JointState.
    definition
        Definition of the type and of those that it uses, as ros2msg.
    qos
        The publishers' quality of service as YAML.

    """

    name: str
    kind: str = TYPE
    definition: str = DEFINITION
    qos: str = RELIABLE


class BagWriter:
    """
    Writer of a bag in MCAP without chunks: each flushed message is complete on disk.

    Parameters
    ----------
    path
        Folder of the bag; it must not exist.
    topics
        The topics that will be written.

    Raises
    ------
    RecordingError
        The folder exists or cannot be written.
    MissingDependencyError
        The package mcap is not installed.

    """

    def __init__(self, path: str | Path, topics: Sequence[Topic]) -> None:
        try:
            from mcap.writer import CompressionType, Writer
        except ModuleNotFoundError as error:
            raise MissingDependencyError('mcap', 'writing an MCAP bag') from error
        self.path, self.topics = Path(path), tuple(topics)
        self.counts = [0] * len(self.topics)
        self.first, self.last = 0, 0  # [ns]
        self.file = self.path / f'{self.path.name}_0.mcap'
        try:
            self.path.mkdir(parents=True)
            self._stream: IO[bytes] = self.file.open('xb')
        except FileExistsError as error:
            raise RecordingError(f"'{path}' exists; give the bag another name") from error
        except OSError as error:
            raise RecordingError(f"the bag '{path}' cannot be written: {error}") from error
        self._writer: Any = Writer(self._stream, compression=CompressionType.NONE,
                                   use_chunking=False)
        self._channels: list[int] = []
        self._guard(self._start)

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
        self._guard(self._writer.add_message, self._channels[topic], received, data, received)
        count = sum(self.counts)
        self.first = min(self.first, received) if count else received
        self.last = max(self.last, received) if count else received
        self.counts[topic] += 1

    def flush(self) -> None:
        """Pass all messages to the operating system, so that they survive this process."""
        self._guard(self._stream.flush)

    def close(self) -> None:
        """
        Close the bag: write its summary and metadata.yaml.

        Raises
        ------
        RecordingError
            The disk is full; flushed messages can be read.

        """
        self._guard(self._finish)
        write_text(self.path / METADATA, yaml.safe_dump(
            {'rosbag2_bagfile_information': self._metadata()}, sort_keys=False))

    def _start(self) -> None:
        self._writer.start(profile='ros2', library='robot_identification')
        schemas: dict[str, int] = {}
        for topic in self.topics:
            if topic.kind not in schemas:
                schemas[topic.kind] = self._writer.register_schema(
                    topic.kind, 'ros2msg', topic.definition.encode())
            self._channels.append(self._writer.register_channel(
                topic.name, 'cdr', schemas[topic.kind], {'offered_qos_profiles': topic.qos}))

    def _finish(self) -> None:
        with self._stream:
            self._writer.finish()

    def _guard(self, action: Any, *arguments: Any) -> None:
        try:
            action(*arguments)
        except OSError as error:
            raise RecordingError(f"the bag '{self.path}' cannot be written any more: {error}; "
                                 f'what was written before can be read') from error

    def _metadata(self) -> dict[str, Any]:
        start = {'nanoseconds_since_epoch': self.first}
        duration = {'nanoseconds': self.last - self.first}
        return {
            'version': VERSION, 'storage_identifier': 'mcap',
            'duration': duration, 'starting_time': start, 'message_count': sum(self.counts),
            'topics_with_message_count': [
                {'topic_metadata': {'name': topic.name, 'type': topic.kind,
                                    'serialization_format': 'cdr',
                                    'offered_qos_profiles': topic.qos},
                 'message_count': count} for topic, count in zip(self.topics, self.counts)],
            'compression_format': '', 'compression_mode': '',
            'relative_file_paths': [self.file.name],
            'files': [{'path': self.file.name, 'starting_time': start, 'duration': duration,
                       'message_count': sum(self.counts)}],
        }


def write_bag(recording: Recording, path: str | Path, topic: str = STANDARD) -> None:
    """
    Write a recording as a bag of joint states, which `read_bag` reads back to the nanosecond.

    Parameters
    ----------
    recording
        The recording; its currents are the efforts if it has no torques.
    path
        Folder of the bag; it must not exist.
    topic
        Name of the topic.

    Raises
    ------
    RecordingError
        The recording has both torques and currents, or stamps before zero, the folder exists, or
        the disk is full; then nothing is left of it.

    """
    if recording.tau is not None and recording.current is not None:
        raise RecordingError(f'{recording.label} has torques and currents, a joint state has one '
                             f'effort; write it as CSV or NPZ')
    if recording.t[0] < 0:
        raise RecordingError(f'{recording.label} begins at {recording.t[0]:g} s; the stamps of a '
                             f'bag cannot be before zero')
    effort = recording.current if recording.tau is None else recording.tau
    values = {field: rows for field, rows in (
        ('position', recording.q), ('velocity', recording.v), ('effort', effort))
        if rows is not None}
    layout = JointStateLayout.build(recording.joint_names, tuple(values))
    stamps = np.rint(recording.t * 1e9).astype(np.int64)
    with _complete_folder(Path(path)) as folder:
        writer = BagWriter(folder, [Topic(topic)])
        for stamp, message in zip(stamps.tolist(), layout.encode(stamps, **values)):
            writer.write(0, stamp, message)
        writer.close()


@contextmanager
def _complete_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary path of the same name, which is moved to `path` if the block succeeds."""
    if path.exists() or path.is_symlink():
        raise RecordingError(f"'{path}' exists; give the bag another name")
    check_writable(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f'.{path.name}.') as temporary:
            complete = Path(temporary) / path.name
            yield complete
            os.rename(complete, path)
    except OSError as error:
        raise RecordingError(f"the bag '{path}' cannot be written: {error.strerror}") from error
    except RobotIdentificationError as error:    # which names the temporary path
        reason = error.__cause__
        if reason is None:
            raise
        raise RecordingError(f"the bag '{path}' cannot be written: "
                             f'{getattr(reason, "strerror", None) or reason}') from reason
