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
Bags: a folder of rosbag2, or one of its files, MCAP or SQLite, also of a writer that was killed.

MCAP has its own reader. A joint state of 7 joints takes 2.0 us of CPU time, 0.4 us of them for the
reader. With `rosbags` it would take 3.4 us, and unclosed files and unindexed messages out of order
could not be read; with `mcap` 5.2 us. Neither limits the size to which a chunk is decompressed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
import importlib
import mmap
import os
from pathlib import Path
import re
import shutil
import sqlite3
import struct
import tempfile
from typing import Any, TypeVar
import zlib

from robot_identification.errors import MissingDependencyError, RecordingError
from robot_identification.recording.bag.joint_states import LARGEST_MESSAGE
from robot_identification.recording.numpy_archive import RATIO, ROOM
from robot_identification.yaml_file import read_typed, read_yaml, truncated_repr

_RELEASED_BYTES = 16_000_000    # bytes read of a mapped file until their pages are released
MAX_NAME = 65_536    # bytes of the name of a topic or type
MAGIC = b'\x89MCAP0\r\n'
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 2, 3, 4, 5, 6, 15
_record = struct.Struct('<BQ').unpack_from
_message = struct.Struct('<HIQQ').unpack_from
_u16 = struct.Struct('<H').unpack_from
_u32 = struct.Struct('<I').unpack_from
_u64 = struct.Struct('<Q').unpack_from
Messages = Iterator[tuple[str, int, bytes]]
T = TypeVar('T')
METADATA = 'metadata.yaml'
COMPRESSED = '.zstd'
METADATA_CONTENT: dict[str, Any] = {'rosbag2_bagfile_information': {
    'relative_file_paths': tuple[str, ...], 'compression_mode': str | None,
    'topics_with_message_count': tuple[Mapping[str, Any], ...] | None}}
TOPIC: dict[str, Any] = {'topic_metadata': {'name': str}, 'message_count': int}


class McapFile:
    """
    An MCAP file, complete or without its end.

    Parameters
    ----------
    path
        The file.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, tuple[str, str]] = {}
        self._budget = ROOM    # bytes that chunks may still decompress to
        self.closed = False    # whether the file is complete; known after messages were read

    def topics(self) -> dict[str, str]:
        """Return the types of the topics by name."""
        for _ in self.messages(()):
            pass
        return dict(self._channels.values())

    def messages(self, topics: Collection[str]) -> Messages:
        """
        Yield topic, time of reception [ns] and data in the order of the file.

        Parameters
        ----------
        topics
            Names.

        Raises
        ------
        RecordingError
            It is not an MCAP file.

        """
        try:
            with self.path.open('rb') as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise RecordingError(f"'{self.path}' is not an MCAP file")
                self._budget = ROOM + RATIO * os.fstat(file.fileno()).st_size
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as buffer:
                    yield from self._walk(buffer, len(MAGIC), frozenset(topics))
        except OSError as error:
            raise RecordingError(f"'{self.path}' cannot be read: {error.strerror}") from error
        except (struct.error, ValueError, IndexError) as error:
            raise RecordingError(f"'{self.path}' is damaged: {error}") from error

    def _walk(self, buffer: Any, offset: int, topics: frozenset[str]) -> Messages:
        """Yield the messages of the file (a memory map) or of a chunk (bytes)."""
        in_file, end, released = isinstance(buffer, mmap.mmap), len(buffer), 0
        chosen = self._chosen(topics)
        while offset + 9 <= end:
            kind, length = _record(buffer, offset)
            offset += 9
            if in_file and offset - released > _RELEASED_BYTES and hasattr(mmap, 'MADV_DONTNEED'):
                buffer.madvise(mmap.MADV_DONTNEED)
                released = offset
            stop = offset + length
            if stop > end:  # the writer ended here
                return
            if kind == MESSAGE:
                if length < 22:
                    raise ValueError('a message is shorter than its header')
                channel, _, received, _ = _message(buffer, offset)
                name = chosen.get(channel)
                if name is not None:
                    yield name, received, buffer[offset + 22:stop]
            elif kind == CHUNK and in_file:    # chunks do not nest
                yield from self._walk(self._chunk(buffer, offset, stop), 0, topics)
                chosen = self._chosen(topics)
            elif kind == SCHEMA:
                self._schemas[_u16(buffer, offset)[0]] = _string(buffer, offset + 2)[0]
            elif kind == CHANNEL:
                key, schema = _u16(buffer, offset)[0], _u16(buffer, offset + 2)[0]
                self._channels[key] = _string(buffer, offset + 4)[0], self._schemas.get(schema, '')
                chosen = self._chosen(topics)
            elif kind in (FOOTER, DATA_END) and in_file:
                self.closed = True
                return
            offset = stop

    def _chosen(self, topics: frozenset[str]) -> dict[int, str]:
        return {key: name for key, (name, _) in self._channels.items() if name in topics}

    def _chunk(self, buffer: Any, offset: int, stop: int) -> bytes:
        (size,) = _u64(buffer, offset + 16)
        compression, start = _string(buffer, offset + 28)
        (length,) = _u64(buffer, start)
        data = buffer[start + 8:start + 8 + length]
        if len(data) != length or start + 8 + length > stop:
            raise ValueError('a chunk is longer than its record')
        if size > self._budget:
            raise RecordingError(f"'{self.path}': a chunk claims to unpack to "
                                 f'{size / 1e6:.0f} MB, more than such a small file can hold')
        self._budget -= size
        try:
            unpacked = decompressor(compression)(data, size) if compression else data
            if len(unpacked) != size:
                raise ValueError(f'it unpacks to {len(unpacked)} bytes, not {size}')
            (checksum,) = _u32(buffer, offset + 24)
            if checksum and checksum != zlib.crc32(unpacked):
                raise ValueError('its checksum is wrong')
            return unpacked
        except (RuntimeError, ValueError, EOFError, MemoryError) as error:
            raise RecordingError(f"'{self.path}': a chunk is damaged: {error}") from error


class SqliteFile:
    """
    A SQLite bag file, also with the journal of a writer that was killed.

    Parameters
    ----------
    path
        The file.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journals = [path.with_name(path.name + end) for end in ('-wal', '-journal')]
        self.closed = not any(journal.exists() for journal in self._journals)

    def topics(self) -> dict[str, str]:
        """Return the types of the topics by name."""
        with self._open() as database:
            return {self._typed(name, str, 'name of a topic'):
                    self._typed(kind, str, 'type of a topic')
                    for name, kind in database.execute('SELECT name, type FROM topics')}

    def messages(self, topics: Collection[str]) -> Messages:
        """
        Yield topic, time of reception [ns] and data in the order of time.

        Parameters
        ----------
        topics
            Names.

        Raises
        ------
        RecordingError
            It is not a bag.

        """
        with self._open() as database:
            names = {key: name for key, name in database.execute('SELECT id, name FROM topics')
                     if name in topics}
            marks = ', '.join('?' * len(names))
            for key, received, data in database.execute(
                    f'SELECT topic_id, timestamp, data FROM messages WHERE topic_id IN ({marks}) '
                    f'ORDER BY timestamp, id', tuple(names)):
                yield (names[key], self._typed(received, int, 'time of a message'),
                       self._typed(data, bytes, 'message'))

    def _typed(self, value: Any, kind: type[T], what: str) -> T:
        """Return a value after a check of its type: any column of SQLite holds any type."""
        if not isinstance(value, kind):
            raise RecordingError(f"'{self.path}' is not a bag that can be read: a {what} is "
                                 f'{truncated_repr(value)!r}')
        return value

    def _check_tables(self, database: sqlite3.Connection) -> None:
        """Refuse views and computed columns: their rows can be infinite and of any size."""
        for table in ('topics', 'messages'):
            kinds = [kind for kind, in database.execute(
                'SELECT type FROM sqlite_master WHERE name = ?', (table,))]
            if kinds != ['table'] or any(column[-1] for column in database.execute(
                    f'PRAGMA table_xinfo({table})')):
                raise RecordingError(f"'{self.path}' is not a bag that can be read: it has no "
                                     f"plain table '{table}'")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise RecordingError(f"there is no bag file '{self.path}'")
        with tempfile.TemporaryDirectory() as folder:
            try:
                with closing(self._connect(Path(folder))) as database:
                    self._check_tables(database)
                    yield database
            except (sqlite3.Error, UnicodeError, OverflowError) as error:
                raise RecordingError(f"'{self.path}' is not a bag that can be read: "
                                     f'{error}') from error

    def _connect(self, folder: Path) -> sqlite3.Connection:
        if self.closed:
            return sqlite3.connect(f'{self.path.resolve().as_uri()}?immutable=1', uri=True)
        # the writer was killed or is still writing: SQLite applies the journal to a copy
        for file in (self.path, *self._journals):
            if file.exists():
                shutil.copy(file, folder)
        return sqlite3.connect(folder / self.path.name)


BagFile = McapFile | SqliteFile
BAG_FILES: dict[str, Callable[[Path], BagFile]] = {'.mcap': McapFile, '.db3': SqliteFile}


def is_bag(path: Path) -> bool:
    """Return whether a path is a bag: a folder with bag files, or such a file."""
    if path.is_dir():
        return (path / METADATA).exists() or bool(_bag_files(path))
    return _storage(path) in BAG_FILES


class Bag:
    """
    All files of a bag in their order.

    Parameters
    ----------
    path
        The folder, or one file: `.mcap`, `.db3`, either with `.zstd` behind it.

    Raises
    ------
    RecordingError
        There is no bag.

    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._by_message = False
        self._counts: dict[str, int] = {}    # messages by topic according to the metadata
        self._unclosed: list[str] = []
        self.decoded: dict[str, Any] = {}    # by topic, see `joint_state_publishers`
        if self.path.is_dir():
            self.files = self._listed()
        elif self.path.is_file():
            self.files = (self.path,)
        else:
            raise RecordingError(f"there is no recording '{path}'")
        for file in self.files:
            if _storage(file) not in BAG_FILES:
                raise RecordingError(f"the bag file '{file}' is of no known kind; there is: "
                                     f"{', '.join(sorted(BAG_FILES))}, or those with {COMPRESSED}")

    def topics(self) -> dict[str, str]:
        """Return the types of the topics by name."""
        types: dict[str, str] = {}
        for file in self._opened():
            types.update(file.topics())
        return types

    def messages(self, topics: Collection[str]) -> Messages:
        """
        Yield topic, time of reception [ns] and data.

        Parameters
        ----------
        topics
            Names.

        """
        self._unclosed = []
        for path, file in zip(self.files, self._opened()):
            if not self._by_message:
                yield from file.messages(topics)
                if not file.closed:
                    self._unclosed.append(path.name)
                continue
            unpack = decompressor('zstd')
            for name, received, data in file.messages(topics):
                try:
                    yield name, received, unpack(data, LARGEST_MESSAGE)
                except ValueError as error:
                    raise RecordingError(f"a message of '{self.path}' is damaged: {error}"
                                         ) from error

    def remarks(self, topic: str, count: int) -> tuple[str, ...]:
        """
        Return remarks on what is missing in a bag that was read.

        Parameters
        ----------
        topic
            Topic that was read.
        count
            Number of messages that were read.

        """
        remarks = [f"the bag file '{name}' has no end: its recorder was killed, or the file is "
                   'cut; what was written before is used' for name in self._unclosed]
        declared = self._counts.get(topic, count)
        if count < declared:
            remarks.append(f"the bag '{self.path}' has {count} messages on '{topic}', its "
                           f'{METADATA} says {declared}; the others are lost')
        return tuple(remarks)

    def _opened(self) -> Iterator[BagFile]:
        for file in self.files:
            storage = BAG_FILES[_storage(file)]
            if file.suffix != COMPRESSED:
                yield storage(file)
                continue
            with tempfile.TemporaryDirectory() as folder:
                decompressed = Path(folder) / file.with_suffix('').name
                try:
                    max_size = ROOM + RATIO * file.stat().st_size
                    unpacked = decompressor('zstd')(file.read_bytes(), max_size)
                    if len(unpacked) > max_size:
                        raise ValueError('it unpacks to more than such a small file can hold')
                    decompressed.write_bytes(unpacked)
                except (OSError, ValueError) as error:
                    raise RecordingError(f"'{file}' cannot be decompressed: {error}") from error
                yield storage(decompressed)

    def _listed(self) -> tuple[Path, ...]:
        metadata = self.path / METADATA
        if metadata.exists():
            config = self._metadata(metadata)
            self._by_message = (config['compression_mode'] or '').lower() == 'message'
            files = [self.path / Path(name).name for name in config['relative_file_paths']]
            missing = [file.name for file in files if not os.path.isfile(file)]
            if missing:
                raise RecordingError(f"the bag '{self.path}' lacks its file {', '.join(missing)}")
            return tuple(files)
        files = _bag_files(self.path)  # its writer was killed
        parquet = min(self.path.glob('data/*/*.parquet'), default=None)
        if not files and parquet is not None:
            raise RecordingError(f"the folder '{self.path}' is a dataset of LeRobot; give one of "
                                 f'its files, as {parquet}')
        if not files:
            raise RecordingError(f"the folder '{self.path}' is not a bag: it has neither a "
                                 f'{METADATA} nor files that end in {" or ".join(BAG_FILES)}')
        return tuple(files)

    def _metadata(self, path: Path) -> dict[str, Any]:
        config = read_yaml(path, 'metadata of a bag', RecordingError)
        label = f"the metadata of a bag '{path}'"
        information: dict[str, Any] = read_typed(METADATA_CONTENT, config, label, RecordingError)[
            'rosbag2_bagfile_information']
        for item in information['topics_with_message_count'] or ():
            topic = read_typed(TOPIC, item, f'{label}, topics', RecordingError)
            self._counts[topic['topic_metadata']['name']] = topic['message_count']
        if information['relative_file_paths']:
            return information
        raise RecordingError(f"the bag '{self.path}' is empty: its {METADATA} names no files")


def _storage(path: Path) -> str:
    return (path.with_suffix('') if path.suffix == COMPRESSED else path).suffix


def _bag_files(folder: Path) -> list[Path]:
    def order(path: Path) -> tuple[int, str]:
        index = re.search(r'_(\d+)$', path.name.split('.')[0])
        return (int(index.group(1)) if index else 0, path.name)
    return sorted((file for file in folder.iterdir() if _storage(file) in BAG_FILES), key=order)


def decompressor(name: str) -> Callable[[bytes, int], bytes]:
    """
    Return a function of compressed data and the maximum decompressed size in bytes.

    Parameters
    ----------
    name
        'zstd' or 'lz4'.

    Raises
    ------
    RecordingError
        Another compression.
    MissingDependencyError
        Its package is not installed.

    """
    if name == 'zstd':
        zstd = _module('zstandard', 'zstandard')

        def unpack(data: bytes, size: int) -> bytes:
            try:
                with zstd.ZstdDecompressor().stream_reader(data) as reader:
                    unpacked: bytes = reader.read(size + 1)
                return unpacked
            except zstd.ZstdError as error:
                raise ValueError(str(error)) from error
        return unpack
    if name == 'lz4':
        lz4 = _module('lz4.frame', 'lz4')
        return lambda data, size: lz4.LZ4FrameDecompressor().decompress(data, size + 1)
    raise RecordingError(f"a bag is compressed with '{name}'; zstd and lz4 can be read")


def _module(name: str, package: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(package, 'reading a compressed bag') from error


def _string(buffer: Any, offset: int) -> tuple[str, int]:
    (length,) = _u32(buffer, offset)
    if length > MAX_NAME:
        raise ValueError(f'a name of {length} bytes')
    return buffer[offset + 4:offset + 4 + length].decode(), offset + 4 + length
