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
"""Texts in bags: messages of std_msgs/String, as robot_description."""

from __future__ import annotations

import struct

from robot_identification.errors import RecordingError
from robot_identification.recording.bag.bag import Bag
from robot_identification.recording.bag.storages import Topic

TEXT = 'std_msgs/msg/String'
LARGEST = 64_000_000    # bytes; descriptions with their meshes inside have some
CDR = struct.Struct('<4sI')


def text_topic(name: str) -> Topic:
    """Return a topic of texts, for a bag that is written."""
    return Topic(name, TEXT, 'string data\n')


def text_message(text: str) -> bytes:
    """Return a text as a message."""
    raw = text.encode() + b'\x00'
    return CDR.pack(b'\x00\x01\x00\x00', len(raw)) + raw


def texts(bag: Bag) -> dict[str, str]:
    """
    Return the last text on each topic, by the topic's name.

    Parameters
    ----------
    bag
        The bag.

    Raises
    ------
    RecordingError
        A message is no text.

    """
    wanted = {name for name, kind in bag.topics().items() if kind == TEXT}
    raw = {name: data for name, _, data in bag.messages(wanted)} if wanted else {}
    return {name: _text(data, f"'{name}' in the bag '{bag.path}'") for name, data in raw.items()}


def _text(data: bytes, place: str) -> str:
    try:
        order = {0: '>', 1: '<'}[data[1]]
        (length,) = struct.unpack_from(f'{order}I', data, 4)
        if not 0 < length <= LARGEST or len(data) < 8 + length:
            raise ValueError(f'its length is {length}')
        return bytes(data[8:8 + length]).rstrip(b'\x00').decode()
    except (IndexError, KeyError, struct.error, ValueError) as error:
        raise RecordingError(f'{place} is no text in CDR: {error}') from error
