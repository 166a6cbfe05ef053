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

from __future__ import annotations

from collections.abc import Collection
from io import BytesIO
import mmap
from pathlib import Path
import struct
from typing import Any
import zlib

from robot_identification.errors import explain_missing, RecordingError
from robot_identification.files import check_decoded_size, decoded_limit, SIZE_VARIABLE
from robot_identification.recording.bag.joint_states import Messages

with explain_missing('mcap', 'reading MCAP bags'):    # with lz4 and zstandard
    from lz4.frame import LZ4FrameDecompressor
    from mcap.data_stream import ReadDataStream
    from mcap.exceptions import McapError
    from mcap.records import Channel, Chunk, Schema
    import zstandard

MAGIC = b'\x89MCAP0\r\n'
SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 3, 4, 5, 6, 15    # kinds of records
_RELEASED_BYTES = 16_000_000    # read from a mapped file before its pages are released
_head, _message = struct.Struct('<BQ').unpack_from, struct.Struct('<HIQQ').unpack_from


class McapFile:
    """
    Reader of an MCAP file, also of one that lacks its end.

    The library `mcap` parses all records except messages. Messages are parsed here, in 0.5 us
    each; the library takes 3 us. They are read in the order of the file, which needs no index.

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
        except (OSError, McapError, struct.error, ValueError, MemoryError) as error:
            reason = str(error) or 'a record is shorter than its fields'    # EndOfFile: no text
            raise RecordingError(f"'{self.path}' is damaged: {reason}") from error

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
                chunk = Chunk.read(_stream(buffer[start:offset]))
                data = decompress(chunk.compression, chunk.data, chunk.uncompressed_size)
                if chunk.uncompressed_crc not in (0, zlib.crc32(data)):
                    raise ValueError('the checksum of a chunk is wrong')
                yield from self._read(data, 0, topics)
            elif kind == SCHEMA:
                schema = Schema.read(_stream(buffer[start:offset]))
                self._types[schema.id] = schema.name
            elif kind == CHANNEL:
                record = Channel.read(_stream(buffer[start:offset]))
                self._channels[record.id] = record.topic
                self._topics[record.topic] = self._types.get(record.schema_id, '')
            elif kind == DATA_END:
                self.closed = True
                return
            if (in_file and start - released > _RELEASED_BYTES
                    and hasattr(mmap, 'MADV_DONTNEED')):    # not on Windows
                buffer.madvise(mmap.MADV_DONTNEED)
                released = start


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

    """
    stated = -1
    max_size = min(max_size, int(decoded_limit(len(data))))
    try:
        if compression == 'zstd':
            stated = zstandard.frame_content_size(data)    # -1 if it is not stated
            if stated <= max_size:
                with zstandard.ZstdDecompressor().stream_reader(data) as reader:
                    data = reader.read((max_size if stated < 0 else stated) + 1)
        elif compression == 'lz4':
            data = LZ4FrameDecompressor().decompress(data, max_size + 1)
        elif compression:
            raise ValueError(f"compression '{compression}'; only zstd and lz4 can be read")
    except (zstandard.ZstdError, RuntimeError, EOFError) as error:
        raise ValueError(str(error)) from error
    if max(len(data), stated) > max_size:
        raise ValueError(f'a part of it decompresses to more than {max_size / 1e6:.0f} MB; if it '
                         f'is not damaged, raise the environment variable {SIZE_VARIABLE}')
    return data


def decompress_file(source: Path, target: Path) -> None:
    """
    Write the content of a file that is compressed with zstd to another file.

    Raises
    ------
    RecordingError
        The content is larger than `decoded_limit`.
    ValueError
        The file is damaged.

    """
    stored, written = source.stat().st_size, 0
    try:
        with (source.open('rb') as file, target.open('wb') as copy,
              zstandard.ZstdDecompressor().stream_reader(file) as reader):
            while data := reader.read(_RELEASED_BYTES):
                written += len(data)
                check_decoded_size(written, stored, f"the recording '{source}'", RecordingError)
                copy.write(data)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def _stream(data: bytes) -> ReadDataStream:
    """Return the stream from which the library parses a record."""
    return ReadDataStream(BytesIO(data))
