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
"""Encodes and decodes serialized JointState messages as NumPy structured arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import struct

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError

TYPE = 'sensor_msgs/msg/JointState'
Messages = Iterator[tuple[str, int, bytes]]    # topic, time of reception [ns], data
SEPARATOR = '=' * 80
DEFINITION = f"""std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
{SEPARATOR}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{SEPARATOR}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
MAX_SIZE = 100_000    # [bytes] of a message; those of 1000 joints have 60 kB
MAX_LAYOUTS = 200    # on one topic; each publisher has one layout
HEADER = b'\x00\x01\x00\x00'    # encapsulation header of little-endian CDR
CDR = len(HEADER)    # [bytes]; alignment is relative to the end of the header
SIGNALS = {'position': 'q', 'velocity': 'v', 'effort': 'tau'}    # by field
FIELDS = tuple(SIGNALS)


def cdr_text(text: str) -> bytes:
    """Return a text in little-endian CDR: its length, then its bytes and a zero byte."""
    data = text.encode() + b'\x00'
    return struct.pack('<I', len(data)) + data


class CdrReader:
    """
    Reader of lengths and texts in a message that is serialized as plain CDR.

    Parameters
    ----------
    message
        The message.
    offset
        Index of the first byte to read.

    Raises
    ------
    ValueError
        The message has another encapsulation.

    """

    def __init__(self, message: bytes, offset: int = CDR) -> None:
        if message[:2] not in (b'\x00\x00', b'\x00\x01'):
            raise ValueError(f'encapsulation {message[:2].hex()} is not plain CDR')
        self._message, self.offset = message, offset
        self.order = '<' if message[1] else '>'
        self.passed = [(0, 2)]    # byte ranges (start, stop) that were read

    def count(self) -> int:
        """Return the next integer, the length of a text or an array."""
        start = self.offset + -(self.offset - CDR) % 4
        (value,) = struct.unpack_from(f'{self.order}I', self._message, start)
        self.offset = start + 4
        self.passed.append((start, self.offset))
        return int(value)

    def text(self) -> str:
        """Return the next text."""
        length = self.count()
        start, self.offset = self.offset, self.offset + length
        if self.offset > len(self._message):
            raise ValueError(f'it ends within a string of {length} bytes')
        self.passed[-1] = self.passed[-1][0], self.offset
        return self._message[start:self.offset].rstrip(b'\x00').decode()


@dataclass(frozen=True, eq=False)
class JointStateLayout:
    """
    Byte layout of the JointState messages of one publisher.

    Parameters
    ----------
    names
        Names of the joints.
    dtype
        Structured type of a message. Its fields are sec, nanosec, and those of position, velocity
        and effort that the publisher fills.
    template
        A message with this layout.
    fixed
        Indices of the bytes that are the same in all messages: names and lengths.

    """

    names: tuple[str, ...]
    dtype: np.dtype
    template: bytes
    fixed: np.ndarray

    @classmethod
    def from_message(cls, message: bytes) -> JointStateLayout:
        """
        Return the layout of a serialized message.

        Raises
        ------
        RecordingError
            The bytes are not a JointState in plain CDR, or the lengths of its arrays differ.

        """
        try:
            if len(message) > MAX_SIZE:
                raise ValueError(f'the largest accepted ones have {MAX_SIZE} bytes')
            reader = CdrReader(message, CDR + 8)
            reader.text()    # frame_id
            names = tuple(reader.text() for _ in range(reader.count()))
            order = reader.order
            formats = {'sec': (f'{order}i4', CDR), 'nanosec': (f'{order}u4', CDR + 4)}
            for field in FIELDS:
                length = reader.count()
                if length not in (0, len(names)):
                    raise ValueError(f'it has {len(names)} names and {length} values of {field}')
                if length:
                    reader.offset += -(reader.offset - CDR) % 8
                    formats[field] = (f'({length},){order}f8', reader.offset)
                    reader.offset += 8 * length
            if not 0 <= len(message) - reader.offset < 8:
                raise ValueError(f'its arrays end at byte {reader.offset}')
        except (struct.error, ValueError) as error:
            raise RecordingError(
                f'a message of {len(message)} bytes is not a {TYPE} in CDR: {error}') from error
        kinds, offsets = zip(*formats.values())
        dtype = np.dtype({'names': list(formats), 'formats': kinds, 'offsets': offsets,
                          'itemsize': len(message)})
        fixed = np.concatenate([np.arange(*span) for span in reader.passed])
        return cls(names, dtype, message, fixed)

    def fits(self, messages: np.ndarray) -> np.ndarray:
        """
        Return a mask of the messages that have this layout, (N,).

        Parameters
        ----------
        messages
            N messages as an array of bytes, (N, size of the layout).

        """
        template = np.frombuffer(self.template, dtype=np.uint8)
        return np.all(messages.take(self.fixed, axis=1) == template[self.fixed], axis=1)

    def decode(self, messages: np.ndarray, received: np.ndarray) -> JointStates:
        """
        Return the joint states in messages with this layout.

        Parameters
        ----------
        messages
            N messages as an array of bytes, (N, size of the layout).
        received
            Times of reception, (N,) [ns].

        """
        table = messages.view(self.dtype)[:, 0]
        stamps = table['sec'].astype(np.int64) * 1_000_000_000 + table['nanosec']
        values = {field: np.ascontiguousarray(table[field], dtype=float)
                  for field in FIELDS if field in (self.dtype.names or ())}
        return JointStates(self.names, stamps, received, values)

    def encode(self, stamps: np.ndarray, **values: Array) -> list[bytes]:
        """
        Return N serialized messages.

        Parameters
        ----------
        stamps
            Header stamps, (N,) [ns].
        values
            Values of position, velocity and effort, (N, n) each; only the fields of the layout.

        """
        buffer = bytearray(self.template * len(stamps))
        table = np.frombuffer(buffer, dtype=self.dtype)
        table['sec'], table['nanosec'] = np.divmod(stamps, 1_000_000_000)
        for field, rows in values.items():
            table[field] = rows
        size = self.dtype.itemsize
        return [bytes(buffer[k:k + size]) for k in range(0, len(buffer), size)]

    @classmethod
    def build(cls, names: Sequence[str], fields: Sequence[str],
              frame: str = '') -> JointStateLayout:
        """
        Return the layout of messages with these joints and fields.

        Parameters
        ----------
        names
            Names of the joints.
        fields
            The fields that the publisher fills: position, velocity, effort.
        frame
            The `frame_id` of the header.

        """
        message = HEADER + bytes(8)
        for data in (cdr_text(frame), struct.pack('<I', len(names)), *map(cdr_text, names)):
            message += bytes(-len(message) % 4) + data
        for field in FIELDS:
            length = len(names) if field in fields else 0
            message += bytes(-len(message) % 4) + struct.pack('<I', length)
            if length:
                message += bytes((CDR - len(message)) % 8) + bytes(8 * length)
        return cls.from_message(message)


@dataclass(frozen=True)
class JointStates:
    """
    Decoded joint states of one publisher.

    Parameters
    ----------
    names
        Names of the n joints.
    stamps
        Header stamps, (N,) [ns].
    received
        Times of reception, (N,) [ns].
    values
        Values of the fields that the publisher fills, by name, (N, n) each.

    """

    names: tuple[str, ...]
    stamps: np.ndarray
    received: np.ndarray
    values: dict[str, Array]

    def __len__(self) -> int:
        return len(self.stamps)


class JointStateDecoder:
    """
    Decoder of serialized JointState messages from any number of publishers.

    Parameters
    ----------
    strict
        Whether a malformed message raises an error. If not, it is skipped; nodes need this,
        because other programs may publish on their topic.

    """

    def __init__(self, strict: bool = True) -> None:
        self.layouts: dict[int, list[JointStateLayout]] = {}
        self._strict = strict
        self.left_out: list[int] = []   # indices of the messages skipped by the last call

    def decode(self, messages: Sequence[bytes],
               received: Sequence[int] | np.ndarray) -> list[JointStates]:
        """
        Return the joint states in messages, grouped by layout and in order of arrival in a group.

        Parameters
        ----------
        messages
            Serialized messages.
        received
            Times of reception, (N,) [ns].

        Raises
        ------
        RecordingError
            A message is malformed and the decoder is strict, or was received after 2262.

        """
        self.left_out = []
        try:
            times = np.asarray(received, dtype=np.int64)
        except OverflowError as error:
            raise RecordingError('a message was received after the year 2262') from error
        sizes = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
        result: list[JointStates] = []
        for size in np.unique(sizes).tolist():
            rows, known = np.flatnonzero(sizes == size), self.layouts.setdefault(size, [])
            data = b''.join([messages[k] for k in rows.tolist()])
            raw = np.frombuffer(data, dtype=np.uint8).reshape(len(rows), size)
            index = 0
            while len(rows):
                if index == len(known):
                    try:
                        known.append(self._read_layout(raw[0].tobytes()))
                    except RecordingError:
                        if self._strict:
                            raise
                        self.left_out.append(int(rows[0]))
                        rows, raw = rows[1:], raw[1:]
                        continue
                own = known[index].fits(raw)
                if own.any():
                    result.append(known[index].decode(raw if own.all() else raw[own],
                                                      times[rows[own]]))
                rows, raw, index = rows[~own], raw[~own], index + 1
        return result

    def _read_layout(self, message: bytes) -> JointStateLayout:
        """Return the layout of a message that fits no layout so far; their number is limited."""
        if sum(map(len, self.layouts.values())) >= MAX_LAYOUTS:
            raise RecordingError(f'the joint states have more than {MAX_LAYOUTS} '
                                 'different sets of names; is the topic damaged?')
        return JointStateLayout.from_message(message)
