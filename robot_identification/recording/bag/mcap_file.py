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
"""Reads the MCAP files of bags, and decompresses data."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
import mmap
from pathlib import Path
import struct
from typing import Any, IO
import zlib

from robot_identification.errors import explain_missing, RecordingError
from robot_identification.files import check_decoded_size, decoded_limit, SIZE_VARIABLE
from robot_identification.recording.bag.joint_states import Messages

MAGIC = b'\x89MCAP0\r\n'
SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 3, 4, 5, 6, 15    # kinds of records
_RELEASED_BYTES = 16_000_000    # read from a mapped file before its pages are released
_head, _message = struct.Struct('<BQ').unpack_from, struct.Struct('<HIQQ').unpack_from
_chunk, _ids = struct.Struct('<QI').unpack_from, struct.Struct('<HH').unpack_from


class McapFile:
    """
    Reader of an MCAP file, also of one that lacks its end.

    Messages are read in the order of the file, which needs no index, and in 0.5 us each; the
    library `mcap` takes 3 us. Only compressed chunks need another package.

    Parameters
    ----------
    path
        The file.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.closed = False    # whether the file is complete; set when all messages were read
        self._types: dict[int, str] = {}    # by schema id
        self._channels: dict[int, str] = {}    # topics by channel id
        self._topics: dict[str, str] = {}

    def topics(self) -> dict[str, str]:
        """Return the types of all topics, by name; the whole file is read."""
        for _ in self.messages(()):
            pass
        return self._topics

    def messages(self, topics: Collection[str]) -> Messages:
        """
        Yield topic, time of reception [ns] and data in the order of the file.

        Parameters
        ----------
        topics
            Names of the topics to read.

        Raises
        ------
        RecordingError
            The file is not an MCAP file, or damaged. A file that ends within a record is not
            damaged but unclosed.

        """
        try:
            with self.path.open('rb') as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise RecordingError(f"'{self.path}' is not an MCAP file")
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as buffer:
                    yield from self._read(buffer, len(MAGIC), frozenset(topics))
        except (OSError, EOFError, RuntimeError, struct.error, ValueError, MemoryError) as error:
            raise RecordingError(f"'{self.path}' is damaged: {error}") from error

    def _read(self, buffer: Any, offset: int, topics: frozenset[str]) -> Messages:
        """Yield the messages in `buffer`: the mapped file, or the bytes of a chunk."""
        in_file, end, released = not isinstance(buffer, bytes), len(buffer), 0
        while offset + 9 <= end:
            kind, length = _head(buffer, offset)
            start = offset + 9
            offset = start + length
            if offset > end:    # the recorder was killed while it wrote this record
                return
            if kind == MESSAGE:
                channel, _, received, _ = _message(buffer, start)
                topic = self._channels.get(channel, '')
                if topic in topics:
                    yield topic, received, buffer[start + 22:offset]
            elif kind == CHUNK and in_file:
                size, checksum = _chunk(buffer, start + 16)    # behind two stamps
                compression, begin = _field(buffer, start + 28, offset)
                packed, _ = _field(buffer, begin, offset, '<Q')
                data = decompress(compression.decode(), packed, size)
                if checksum not in (0, zlib.crc32(data)):
                    raise ValueError('the checksum of a chunk is wrong')
                yield from self._read(data, 0, topics)
            elif kind == SCHEMA:
                self._types[_ids(buffer, start)[0]] = _field(buffer, start + 2, offset)[0].decode()
            elif kind == CHANNEL:
                number, schema = _ids(buffer, start)
                topic = self._channels[number] = _field(buffer, start + 4, offset)[0].decode()
                self._topics[topic] = self._types.get(schema, '')
            elif kind == DATA_END:
                self.closed = True
                return
            if in_file and start - released > _RELEASED_BYTES:
                buffer.madvise(mmap.MADV_DONTNEED)
                released = start


def _field(buffer: Any, start: int, end: int, size: str = '<I') -> tuple[bytes, int]:
    """Return a field of a record, which begins with its size, and the offset of the next one."""
    (length,) = struct.unpack_from(size, buffer, start)
    start += struct.calcsize(size)
    if start + length > end:
        raise ValueError('a record is shorter than its fields')
    return buffer[start:start + length], start + length


def decompress(compression: str, data: bytes, max_size: int) -> bytes:
    """
    Return decompressed data.

    Parameters
    ----------
    compression
        'zstd', 'lz4', or '' for none.
    data
        The compressed data.
    max_size
        Largest size of the decompressed data [bytes]; `decoded_limit` is a further limit.

    Raises
    ------
    ValueError
        The data is damaged or too large, or the compression is unknown.
    RuntimeError, EOFError
        The data is damaged, and compressed with lz4.
    MissingDependencyError
        The package that decompresses the data is not installed.

    """
    stated = -1
    max_size = min(max_size, int(decoded_limit(len(data))))
    if compression == 'zstd':
        with _import_zstandard() as zstandard:
            stated = zstandard.frame_content_size(data)    # -1 if it is not stated
            if stated <= max_size:
                with zstandard.ZstdDecompressor().stream_reader(data) as reader:
                    data = reader.read((max_size if stated < 0 else stated) + 1)
    elif compression == 'lz4':
        with explain_missing('lz4', 'a bag that is compressed with lz4'):
            from lz4.frame import LZ4FrameDecompressor
        data = LZ4FrameDecompressor().decompress(data, max_size + 1)
    elif compression:
        raise ValueError(f"compression '{compression}'; only zstd and lz4 can be read")
    if max(len(data), stated) > max_size:
        raise ValueError(f'a part of it decompresses to more than {max_size / 1e6:.0f} MB; if it '
                         f'is not damaged, raise the environment variable {SIZE_VARIABLE}')
    return data


def copy_decompressed(source: IO[bytes], target: Path, path: Path) -> None:
    """
    Write the decompressed content of a file to another file.

    Parameters
    ----------
    source
        Stream of the content.
    target
        The file to write.
    path
        The compressed file.

    Raises
    ------
    RecordingError
        The content is larger than `decoded_limit`.

    """
    stored, written = path.stat().st_size, 0
    with target.open('wb') as copy:
        while data := source.read(_RELEASED_BYTES):
            written += len(data)
            check_decoded_size(written, stored, f"the recording '{path}'", RecordingError)
            copy.write(data)


@contextmanager
def open_zstd(path: Path) -> Iterator[IO[bytes]]:
    """
    Yield the stream of the content of a file that is compressed with zstd.

    Raises
    ------
    MissingDependencyError
        zstandard is not installed.
    ValueError
        The file is damaged.

    """
    with (_import_zstandard() as zstandard, path.open('rb') as file,
          zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file) as stream):
        yield stream


@contextmanager
def _import_zstandard() -> Iterator[Any]:
    """Yield the module zstandard, whose errors in the block become a ValueError."""
    with explain_missing('zstandard', 'a file that is compressed with zstd'):
        import zstandard
    try:
        yield zstandard
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
