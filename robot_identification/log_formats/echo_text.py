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
"""Joint states that `ros2 topic echo` and `rostopic echo` wrote into a text file."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
import re

import numpy as np
from robot_identification.errors import RecordingError
from robot_identification.log_formats.numbered_columns import is_derivative
from robot_identification.recording.bag.joint_states import SIGNALS
from robot_identification.recording.column_source import ColumnSource, stored_size
from robot_identification.recording.csv_file import LINE, number_in

_START = re.compile(r'(?:---\s*\n)?header:\s*\n')
_FIELD = re.compile(r'\s*(\w+):\s*(.*)')
_STAMPED = 3    # cells of the header: seconds, nanoseconds, frame
UNCLEAR = ('q', 'v or tau')
CSV_SIGNALS = {1: ('q',), 2: UNCLEAR, 3: ('q', 'v', 'tau')}
"""The signals in lines of `ros2 topic echo --csv`, by their number."""
Message = tuple[tuple[str, ...], tuple[str, ...], str, Sequence[str]]
"""Joints, signals (of 'q', 'v' and 'tau'), stamp [s], and the values of each signal."""


def echo_source(path: Path, messages: Iterable[tuple[int, Message]]) -> ColumnSource:
    """
    Return the columns of joint states in a text file, of the joints with the most messages.

    Parameters
    ----------
    path
        The file.
    messages
        The number of the line, and the message, of each message.

    Raises
    ------
    RecordingError
        There is no message, a value is not a number, or the second signal may be velocities or
        efforts.

    """
    stored_size(path)
    label = f"the recording '{path}'"
    publishers: dict[tuple[tuple[str, ...], tuple[str, ...]],
                     tuple[array[float], array[float]]] = {}
    for number, (joints, signals, stamp, values) in messages:
        stamps, flat = publishers.setdefault((joints, signals), (array('d'), array('d')))
        try:
            stamps.append(float(stamp))
            flat.extend(float(text.replace('.nan', 'nan').replace('.inf', 'inf'))
                        for text in values)
        except ValueError as error:
            raise RecordingError(f'{label}, line {number}: the message has a value that is not a '
                                 f'number: {error}') from error
    if not publishers:
        raise RecordingError(f'{label} has no complete message')
    (joints, signals), (stamps, flat) = max(publishers.items(), key=lambda item: len(item[1][0]))
    t, table = np.array(stamps), np.reshape(flat, (len(stamps), -1))
    if signals == UNCLEAR:
        n = len(joints)
        found = is_derivative(table[:, n:], table[:, :n], t - t[0])
        if found is None:
            raise RecordingError(f'{label} has positions and one more signal of each joint, '
                                 'velocities or efforts; record a bag (ros2 bag record) or write '
                                 'a line with names before the first one')
        signals = 'q', 'v' if found else 'tau'
    names = (f'{signal}_{joint}' for signal in signals for joint in joints)
    source = ColumnSource(path, {'t': t, **dict(zip(names, table.T))})
    if others := sum(len(item[0]) for item in publishers.values()) - len(t):
        source.add_remark(f'{label}: {others} messages of other joints are left out')
    return source


def csv_message(line: str) -> Message | None:
    """
    Return the message in a line of `ros2 topic echo --csv`; None for another line.

    Its cells are seconds, nanoseconds, frame, names of the joints, and values.
    """
    cells = line.strip().split(',')
    if len(cells) < _STAMPED + 2 or not (cells[0].isdigit() and cells[1].isdigit()) or (
            number_in(cells[2]) is not None):
        return None
    joints = (*takewhile(lambda cell: cell and number_in(cell) is None, cells[_STAMPED:]),)
    values = cells[_STAMPED + len(joints):]
    groups, rest = divmod(len(values), max(len(joints), 1))
    if len(set(joints)) < max(len(joints), 1) or rest or groups not in CSV_SIGNALS:
        return None
    return joints, CSV_SIGNALS[groups], _stamp(*cells[:2]), values


def csv_messages(path: Path) -> Iterator[tuple[int, Message]]:
    """
    Yield the number and the message of each line of `ros2 topic echo --csv`.

    Raises
    ------
    RecordingError
        A line is not a message.

    """
    for number, line in _lines(path):
        if message := csv_message(line):
            yield number, message
        elif line.strip():
            raise RecordingError(f"the recording '{path}', line {number} is not a message of "
                                 'joint states as the first line; leave it out')


def is_echo_text(head: str) -> bool:
    """Return whether a file begins as the output of `ros2 topic echo` (YAML)."""
    return _START.match(head) is not None


def text_messages(path: Path) -> Iterator[tuple[int, Message]]:
    """
    Yield the messages in the output of `ros2 topic echo`, and the number of the line after each.

    Raises
    ------
    RecordingError
        A message is not that of joint states, or lists were shortened to `...`.

    """
    label = f"the recording '{path}'"
    fields: dict[str, list[str]] = {}
    field = ''
    for number, line in _lines(path):
        text = line.strip()
        if text == '---':    # a message without it at its end may be cut
            if fields:
                joints = tuple(fields.get('name', ()))
                if not joints:
                    raise RecordingError(f'{label}, line {number}: the message before has no '
                                         'joint names; is it from a topic of '
                                         'sensor_msgs/JointState?')
                filled = [name for name in SIGNALS if len(fields.get(name, ())) == len(joints)]
                stamp = _stamp(*(fields.get(a, fields.get(b, ['0']))[0] for a, b in (
                    ('sec', 'secs'), ('nanosec', 'nsecs'))))
                yield number, (joints, tuple(SIGNALS[name] for name in filled), stamp,
                               [value for name in filled for value in fields[name]])
            fields, field = {}, ''
        elif text.startswith('- '):
            fields.setdefault(field, []).append(text[2:].strip('"\' '))
        elif match := _FIELD.fullmatch(line.rstrip('\n')):
            field, value = match.groups()
            if value:
                fields[field] = [item.strip('"\' ') for item in value.strip('[] ').split(',')
                                 if item.strip()]
        if "'...'" in text or text == '- ...':
            raise RecordingError(f'{label}, line {number}: lists are shortened; record with '
                                 'ros2 topic echo --full-length, or better ros2 bag record')


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line."""
    with path.open(encoding='utf-8', errors='replace') as file:
        yield from enumerate(iter(lambda: file.readline(LINE), ''), 1)


def _stamp(seconds: str, nanoseconds: str) -> str:
    """Return a stamp as a decimal number of seconds."""
    return f'{seconds}.{nanoseconds.zfill(9)}'
