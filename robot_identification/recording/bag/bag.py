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
"""Reads rosbag2 bags in MCAP and SQLite, also compressed, split and unclosed ones."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cached_property
import os
from pathlib import Path
import shutil
import sqlite3
import tempfile
from typing import Any

from robot_identification.errors import RecordingError
from robot_identification.files import TEXT_SIZE
from robot_identification.recording.bag import mcap_file
from robot_identification.recording.bag.joint_states import Messages
from robot_identification.registry import load_log_formats
from robot_identification.yaml_file import read_typed, read_yaml

METADATA = 'metadata.yaml'
COMPRESSED = '.zstd'
METADATA_CONTENT: dict[str, Any] = {'rosbag2_bagfile_information': {
    'relative_file_paths': tuple[str, ...], 'compression_mode': str | None,
    'topics_with_message_count': tuple[Mapping[str, Any], ...] | None}}
TOPIC: dict[str, Any] = {'topic_metadata': {'name': str}, 'message_count': int}


class SqliteFile:
    """
    Reader of a SQLite file of a bag, with its journal if the recorder was killed.

    Parameters
    ----------
    path
        The file.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journals = [journal for end in ('-wal', '-journal')
                          if (journal := path.with_name(path.name + end)).exists()]
        self.closed = not self._journals

    def topics(self) -> dict[str, str]:
        """Return the types of the topics by name."""
        with self._open() as database:
            return dict(_rows(database, 'SELECT name, type FROM topics', (str, str)))

    def messages(self, topics: Collection[str]) -> Messages:
        """
        Yield topic, time of reception [ns] and data in order of time.

        Parameters
        ----------
        topics
            Names of the topics to read.

        Raises
        ------
        RecordingError
            The file is not a bag, or a value has the wrong type.

        """
        with self._open() as database:
            names = {key: name for key, name in _rows(
                database, 'SELECT id, name FROM topics', (int, str)) if name in topics}
            marks = ', '.join('?' * len(names))
            query = ('SELECT topic_id, timestamp, data FROM messages '    # a join takes longer
                     f'WHERE topic_id IN ({marks}) ORDER BY timestamp, id')
            for key, received, data in _rows(database, query, (int, int, bytes), names):
                yield names[key], received, data

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Yield the open database, and raise errors of SQLite as `RecordingError`."""
        with tempfile.TemporaryDirectory() as folder:
            uri = f'{self.path.resolve().as_uri()}?immutable=1'
            if not self.closed:    # SQLite writes the journal into the file, so a copy is read
                for file in (self.path, *self._journals):
                    shutil.copy(file, folder)
                uri = Path(folder, self.path.name).as_uri()
            try:
                with closing(sqlite3.connect(uri, uri=True)) as database:
                    _check_tables(database)
                    yield database
            except (sqlite3.Error, ValueError, OverflowError) as error:
                raise RecordingError(f"'{self.path}' is not a bag that can be read: "
                                     f'{error}') from error


def _rows(database: sqlite3.Connection, query: str, types: tuple[type, ...],
          values: Collection[Any] = ()) -> Iterator[Any]:
    """Yield the rows of a query; check the types of their values, which SQLite does not."""
    for row in database.execute(query, tuple(values)):
        if tuple(map(type, row)) != types:
            raise ValueError(f'its row {row!r:.100} has other types')
        yield row


def _check_tables(database: sqlite3.Connection) -> None:
    """Raise an error for views and computed columns, which may have rows without end."""
    for table in ('topics', 'messages'):
        kinds = database.execute('SELECT type FROM sqlite_master WHERE name = ?', (table,))
        columns = database.execute(f'PRAGMA table_xinfo({table})')
        if kinds.fetchall() != [('table',)] or any(column[-1] for column in columns):
            raise ValueError(f"it has no plain table '{table}'")


BagFile = mcap_file.McapFile | SqliteFile


def _open_other(path: Path) -> BagFile:
    """Return the reader that an extension has for a bag file."""
    load_log_formats()
    return OTHER_BAG_FILES[_suffix(path)](path)


OTHER_BAG_FILES: dict[str, Callable[[Path], BagFile]] = {}
"""Readers of extensions by suffix, see `registry.load_log_formats`."""
BAG_FILES: dict[str, Callable[[Path], BagFile]] = {
    '.mcap': mcap_file.McapFile, '.db3': SqliteFile, '.bag': _open_other}


def is_bag(path: Path) -> bool:
    """Return whether a path is a bag: a folder with metadata or bag files, or a bag file."""
    if os.path.isdir(path):
        return (path / METADATA).exists() or bool(_bag_files(path))
    return _suffix(path) in BAG_FILES


class Bag:
    """
    Reader of a rosbag2 bag, whose files are read in the order of recording.

    Parameters
    ----------
    path
        The folder, or one file: `.mcap` or `.db3`, also with `.zstd` appended if compressed.

    Raises
    ------
    RecordingError
        The path is not a bag, or its metadata cannot be read.

    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.decoded: dict[str, list[Any]] = {}    # by topic, the result of `find_publishers`
        self._compression = ''    # compression of each message; '' for none
        self._counts: dict[str, int] = {}    # number of messages by topic in the metadata
        self._unclosed: list[str] = []    # names of the files without an end that were read
        if not os.path.exists(self.path):
            raise RecordingError(f"there is no recording '{path}'")
        self.files = self._list_files() if self.path.is_dir() else (self.path,)
        for file in self.files:
            if _suffix(file) not in BAG_FILES:
                raise RecordingError(
                    f"the bag file '{file}' has an unsupported format; supported: "
                    f"{', '.join(sorted(BAG_FILES))}, also with {COMPRESSED}")

    @cached_property
    def stored(self) -> int:
        """Size of all files [bytes]."""
        return sum(file.stat().st_size for file in self.files if file.exists())

    @cached_property
    def topics(self) -> dict[str, str]:
        """Types of all topics, by name."""
        return {name: kind for file in self._open_files() for name, kind in file.topics().items()}

    def topics_of(self, kind: str) -> list[str]:
        """Return the sorted names of the topics of a type, for instance 'std_msgs/msg/String'."""
        return sorted(name for name, other in self.topics.items() if other == kind)

    def messages(self, topics: Collection[str]) -> Messages:
        """
        Yield topic, time of reception [ns] and data of each message, file by file.

        Parameters
        ----------
        topics
            Names of the topics to read.

        """
        self._unclosed = []
        for path, file in zip(self.files, self._open_files()):
            for name, received, data in file.messages(topics):
                if self._compression:
                    try:
                        data = mcap_file.decompress(self._compression, data, TEXT_SIZE)
                    except ValueError as error:
                        raise RecordingError(
                            f"a message of '{self.path}' is damaged: {error}") from error
                yield name, received, data
            if not file.closed:
                self._unclosed.append(path.name)

    def remarks(self, topic: str, count: int) -> tuple[str, ...]:
        """
        Return remarks on unclosed files and missing messages; call it after the bag was read.

        Parameters
        ----------
        topic
            Name of the topic that was read.
        count
            Number of messages that were read from the topic.

        """
        remarks = [f"the bag file '{name}' has no end: its recorder was killed, or the file is "
                   'truncated; the part before is used' for name in self._unclosed]
        declared = self._counts.get(topic, count)
        if count < declared:
            remarks.append(f"the bag '{self.path}' has {count} messages on '{topic}', but its "
                           f'{METADATA} lists {declared}; the others are lost')
        return tuple(remarks)

    def _open_files(self) -> Iterator[BagFile]:
        """Yield a reader of each file, decompressed into a temporary folder if necessary."""
        for file in self.files:
            storage = BAG_FILES[_suffix(file)]
            if file.suffix != COMPRESSED:
                yield storage(file)
                continue
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder, file.stem)
                try:
                    with mcap_file.open_zstd(file) as stream:
                        mcap_file.copy_decompressed(stream, copy, file)
                except (OSError, ValueError) as error:
                    raise RecordingError(f"'{file}' cannot be decompressed: {error}") from error
                yield storage(copy)

    def _list_files(self) -> tuple[Path, ...]:
        """Return the files in the metadata; without metadata, all bag files in the folder."""
        if (self.path / METADATA).exists():
            files = self._files_of_metadata()
            missing = [file.name for file in files if not os.path.isfile(file)]
            if missing:
                raise RecordingError(f"the bag '{self.path}' lacks the file {', '.join(missing)}")
            return files
        files = _bag_files(self.path)
        if files:
            return files
        raise RecordingError(f"the folder '{self.path}' is not a bag: it has neither a {METADATA} "
                             f'nor files that end in {" or ".join(BAG_FILES)}')

    def _files_of_metadata(self) -> tuple[Path, ...]:
        """Read files, message counts and compression from the metadata; return the files."""
        path = self.path / METADATA
        config = read_yaml(path, 'metadata of a bag', RecordingError)
        label = f"the metadata of a bag '{path}'"
        information: dict[str, Any] = read_typed(METADATA_CONTENT, config, label, RecordingError)[
            'rosbag2_bagfile_information']
        for item in information['topics_with_message_count'] or ():
            topic = read_typed(TOPIC, item, f'{label}, topics', RecordingError)
            self._counts[topic['topic_metadata']['name']] = topic['message_count']
        if (information['compression_mode'] or '').lower() == 'message':
            self._compression = 'zstd'
        if not information['relative_file_paths']:
            raise RecordingError(f"the bag '{self.path}' is empty: its {METADATA} names no files")
        return tuple(self.path / Path(name).name for name in information['relative_file_paths'])


def _suffix(path: Path) -> str:
    """Return the extension of a file, without that of its compression."""
    return (path.with_suffix('') if path.suffix == COMPRESSED else path).suffix


def _bag_files(folder: Path) -> tuple[Path, ...]:
    """Return the bag files of a folder in the order of their numbers, `_2` before `_10`."""
    return tuple(sorted((file for file in folder.iterdir() if _suffix(file) in BAG_FILES),
                        key=lambda file: (len(file.name), file.name)))
