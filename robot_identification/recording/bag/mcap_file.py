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
"""MCAP files, read to where they end: an unclosed file lacks its index, not its messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
import importlib
import mmap
import os
from pathlib import Path
import struct
from typing import Any
import zlib

from robot_identification.errors import MissingDependencyError, RecordingError
from robot_identification.scratch import release

ROOM, RATIO = 256_000_000, 100    # bytes that may come out: ROOM and RATIO for each byte of file
_PIECE = 16_000_000    # bytes after which the memory of what was read is given back
LONGEST_NAME = 65_536    # bytes of the name of a topic or type
MAGIC = b'\x89MCAP0\r\n'
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 1, 2, 3, 4, 5, 6, 15
_record = struct.Struct('<BQ').unpack_from
_message = struct.Struct('<HIQQ').unpack_from
_u16 = struct.Struct('<H').unpack_from
_u32 = struct.Struct('<I').unpack_from
_u64 = struct.Struct('<Q').unpack_from
Messages = Iterator[tuple[str, int, bytes]]


class McapFile:
    """
    One MCAP file, closed or not.

    Parameters
    ----------
    path
        The file.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, tuple[str, str]] = {}
        self._left = ROOM
        self.closed = False  # whether the file has its end; known after messages were read

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
                self._left = ROOM + RATIO * os.fstat(file.fileno()).st_size
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    yield from self._walk(content, len(MAGIC), frozenset(topics), top=True)
        except OSError as error:
            raise RecordingError(f"'{self.path}' cannot be read: {error.strerror}") from error
        except (struct.error, ValueError, IndexError) as error:
            raise RecordingError(f"'{self.path}' is damaged: {error}") from error

    def _walk(self, content: Any, at: int, topics: frozenset[str], top: bool = False) -> Messages:
        end, seen = len(content), 0
        wanted: dict[int, str] = {key: name for key, (name, _) in self._channels.items()
                                  if name in topics}
        while at + 9 <= end:
            kind, length = _record(content, at)
            at += 9
            if top and at - seen > _PIECE:
                release(content)    # of what was read nothing stays in memory
                seen = at
            stop = at + length
            if stop > end:  # the process ended here
                return
            if kind == MESSAGE:
                if length < 22:
                    raise ValueError('a message is shorter than its header')
                channel, _, received, _ = _message(content, at)
                name = wanted.get(channel)
                if name is not None:
                    yield name, received, content[at + 22:stop]
            elif kind == CHUNK:
                chunk = self._chunk(content, at, stop)
                yield from self._walk(chunk, 0, topics)
                wanted = {key: name for key, (name, _) in self._channels.items() if name in topics}
            elif kind == SCHEMA:
                name, _ = _string(content, at + 2)
                self._schemas[_u16(content, at)[0]] = name
            elif kind == CHANNEL:
                key, schema = _u16(content, at)[0], _u16(content, at + 2)[0]
                name, _ = _string(content, at + 4)
                self._channels[key] = (name, self._schemas.get(schema, ''))
                if name in topics:
                    wanted[key] = name
            elif kind in (FOOTER, DATA_END) and top:
                self.closed = True
                return
            at = stop

    def _chunk(self, content: Any, at: int, stop: int) -> bytes:
        (size,) = _u64(content, at + 16)
        compression, start = _string(content, at + 28)
        (length,) = _u64(content, start)
        data = content[start + 8:start + 8 + length]
        if len(data) != length or start + 8 + length > stop:
            raise ValueError('a chunk is longer than its record')
        if size > self._left:
            raise RecordingError(f"'{self.path}': a chunk says that it unpacks to "
                                 f'{size / 1e6:.0f} MB, more than such a small file can hold')
        self._left -= size
        try:
            unpacked = decompressor(compression)(data, size) if compression else data
            if len(unpacked) != size:
                raise ValueError(f'it unpacks to {len(unpacked)} bytes, not {size}')
            (checksum,) = _u32(content, at + 24)
            if checksum and checksum != zlib.crc32(unpacked):
                raise ValueError('its checksum is wrong')
            return unpacked
        except (RuntimeError, ValueError, EOFError, MemoryError) as error:
            raise RecordingError(f"'{self.path}': a chunk is damaged: {error}") from error


def decompressor(name: str) -> Callable[[bytes, int], bytes]:
    """
    Return a function of compressed data and the most bytes that may come out.

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


def _string(content: Any, at: int) -> tuple[str, int]:
    (length,) = _u32(content, at)
    if length > LONGEST_NAME:
        raise ValueError(f'a name of {length} bytes')
    return content[at + 4:at + 4 + length].decode(), at + 4 + length
