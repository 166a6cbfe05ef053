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
"""Encoding and decoding of JointState messages: each layout is a structured array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import struct

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import RecordingError

TYPE = 'sensor_msgs/msg/JointState'
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
LARGEST_MESSAGE = 1_000_000    # bytes; seven joints have 400
MAX_LAYOUTS = 200    # layouts on one topic; each publisher has one
CDR = 4          # bytes of the encapsulation header, behind which alignment starts
FIELDS = ('position', 'velocity', 'effort')


@dataclass(frozen=True)
class JointStateLayout:
    """
    Byte layout of one publisher's JointState messages.

    Parameters
    ----------
    names
        Names of the joints.
    dtype
        Structured type of a message, with the fields sec, nanosec, and those of position, velocity
        and effort that the publisher fills.
    template
        A message of this layout.
    fixed
        Byte ranges (start, stop) that are equal in all messages of the layout.

    """

    names: tuple[str, ...]
    dtype: np.dtype
    template: bytes
    fixed: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, message: bytes) -> JointStateLayout:
        """
        Return the layout of a message.

        Raises
        ------
        RecordingError
            The bytes are not a JointState in plain CDR, or its arrays disagree in length.

        """
        try:
            return cls._parse(bytes(message))
        except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
            raise RecordingError(
                f'a message of {len(message)} bytes is not a {TYPE} in CDR: {error}') from error

    @classmethod
    def _parse(cls, message: bytes) -> JointStateLayout:
        if message[:2] not in (b'\x00\x00', b'\x00\x01'):
            raise ValueError(f'encapsulation {message[:2].hex()} is not plain CDR')
        order = '<' if message[1] else '>'
        fixed = [(0, 2)]
        at = CDR + 8

        def count() -> int:
            nonlocal at
            at += -(at - CDR) % 4
            (value,) = struct.unpack_from(f'{order}I', message, at)
            fixed.append((at, at + 4))
            at += 4
            return value

        def text() -> str:
            nonlocal at
            length = count()
            value = message[at:at + length]
            if len(value) < length:
                raise ValueError('it ends within a name')
            fixed.append((at, at + length))
            at += length
            return value.rstrip(b'\x00').decode()

        text()
        names = tuple(text() for _ in range(count()))
        formats = {'sec': (f'{order}i4', CDR), 'nanosec': (f'{order}u4', CDR + 4)}
        for field in FIELDS:
            length = count()
            if not length:
                continue
            if length != len(names):
                raise ValueError(f'it has {len(names)} names and {length} values of {field}')
            at += -(at - CDR) % 8
            formats[field] = (f'({length},){order}f8', at)
            at += 8 * length
        if not 0 <= len(message) - at < 8:
            raise ValueError(f'its arrays end at byte {at}')
        dtype = np.dtype({'names': list(formats),
                          'formats': [kind for kind, _ in formats.values()],
                          'offsets': [offset for _, offset in formats.values()],
                          'itemsize': len(message)})
        equal = np.zeros(len(message) + 2, dtype=bool)    # one more byte at either end
        for first, last in fixed:
            equal[first + 1:last + 1] = True
        edges = np.flatnonzero(np.diff(equal)).reshape(-1, 2)
        return cls(names, dtype, message, tuple((first, last) for first, last in edges.tolist()))

    def fits(self, messages: np.ndarray) -> np.ndarray:
        """
        Return which messages have this layout, (N,).

        Parameters
        ----------
        messages
            Bytes, (N, size of the layout).

        """
        same = np.ones(len(messages), dtype=bool)
        template = np.frombuffer(self.template, dtype=np.uint8)
        for first, last in self.fixed:
            same &= np.all(messages[:, first:last] == template[first:last], axis=1)
        return same

    def encode(self, stamps: np.ndarray, **values: Array) -> list[bytes]:
        """
        Return N serialized messages.

        Parameters
        ----------
        stamps
            Header stamps, (N,) [ns].
        values
            Those of position, velocity and effort that the layout has, (N, n) each.

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
        Return the layout of a publisher.

        Parameters
        ----------
        names
            Names of the joints.
        fields
            The fields that it fills, of position, velocity and effort.
        frame
            The `frame_id` of the header.

        """
        message = bytearray(b'\x00\x01\x00\x00' + bytes(8))

        def pad(multiple: int) -> None:
            message.extend(bytes(-(len(message) - CDR) % multiple))

        def count(value: int) -> None:
            pad(4)
            message.extend(struct.pack('<I', value))

        def text(value: str) -> None:
            raw = value.encode() + b'\x00'
            count(len(raw))
            message.extend(raw)

        text(frame)
        count(len(names))
        for name in names:
            text(name)
        for field in FIELDS:
            count(len(names) if field in fields else 0)
            if field in fields:
                pad(8)
                message.extend(bytes(8 * len(names)))
        return cls.of(bytes(message))


@dataclass(frozen=True)
class JointStates:
    """
    Joint states of one publisher.

    Parameters
    ----------
    names
        Names of the n joints.
    stamps
        Header stamps, (N,) [ns].
    received
        Times of reception, (N,) [ns].
    position, velocity, effort
        (N, n), None where the publisher leaves them empty.

    """

    names: tuple[str, ...]
    stamps: np.ndarray
    received: np.ndarray
    position: Array | None
    velocity: Array | None
    effort: Array | None

    def __len__(self) -> int:
        return len(self.stamps)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the publisher fills."""
        return tuple(name for name in FIELDS if getattr(self, name) is not None)


class JointStateDecoder:
    """
    Decoder of serialized JointState messages from any number of publishers.

    Parameters
    ----------
    strict
        Whether a malformed message is an error; else it is left out, as a node does with the
        messages of other publishers.

    """

    def __init__(self, strict: bool = True) -> None:
        self.layouts: dict[int, list[JointStateLayout]] = {}
        self._strict = strict
        self.left_out: list[int] = []   # indices of messages of the last call

    def decode(self, messages: Sequence[bytes],
               received: Sequence[int] | np.ndarray) -> list[JointStates]:
        """
        Return the joint states of each layout, in order of arrival.

        Parameters
        ----------
        messages
            Serialized messages.
        received
            Times of reception, (N,) [ns].

        Raises
        ------
        RecordingError
            A message is malformed, and the decoder is strict.

        """
        self.left_out = []
        try:
            times = np.asarray(received, dtype=np.int64)
        except OverflowError as error:
            raise RecordingError('a message was received after the year 2262') from error
        sizes = np.fromiter(map(len, messages), dtype=np.int64, count=len(messages))
        result: list[JointStates] = []
        if self._strict and len(sizes) and not 0 < sizes.min() <= sizes.max() <= LARGEST_MESSAGE:
            raise RecordingError(f'a message of {sizes.min()} or {sizes.max()} bytes is no {TYPE}')
        for size in np.unique(sizes):
            rows = np.flatnonzero(sizes == size)
            chosen = [messages[k] for k in rows.tolist()]
            raw = np.frombuffer(b''.join(chosen), dtype=np.uint8).reshape(-1, int(size))
            remaining = np.ones(len(rows), dtype=bool)
            known = self.layouts.setdefault(int(size), [])
            for layout in known:
                self._take(layout, raw, remaining, times[rows], result)
            while remaining.any():
                first = int(np.argmax(remaining))
                try:
                    known.append(self._new_layout(raw[first].tobytes()))
                except RecordingError:
                    if self._strict:
                        raise
                    remaining[first] = False
                    self.left_out.append(int(rows[first]))
                    continue
                self._take(known[-1], raw, remaining, times[rows], result)
        return result

    def _new_layout(self, message: bytes) -> JointStateLayout:
        if sum(map(len, self.layouts.values())) >= MAX_LAYOUTS:
            raise RecordingError(f'the joint states have more than {MAX_LAYOUTS} '
                                 'different sets of names; is the topic damaged?')
        return JointStateLayout.of(message)

    @staticmethod
    def _take(layout: JointStateLayout, raw: np.ndarray, remaining: np.ndarray, times: np.ndarray,
              result: list[JointStates]) -> None:
        own = remaining & layout.fits(raw)
        if not own.any():
            return
        remaining &= ~own
        table = (raw if own.all() else raw[own]).view(layout.dtype)[:, 0]
        stamps = table['sec'].astype(np.int64) * 1_000_000_000 + table['nanosec']
        present = layout.dtype.names or ()
        values = {field: np.ascontiguousarray(table[field], dtype=float)
                  if field in present else None for field in FIELDS}
        result.append(JointStates(layout.names, stamps, times[own], **values))
