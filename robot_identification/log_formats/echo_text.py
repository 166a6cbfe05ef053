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

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
import re

import numpy as np
from robot_identification.errors import RecordingError
from robot_identification.files import regular_size
from robot_identification.log_formats.numbered_columns import HeaderlessCsv, is_derivative
from robot_identification.recording.bag.joint_states import SIGNALS
from robot_identification.recording.column_source import ColumnSource, SPLIT
from robot_identification.recording.csv_file import LINE, number_in, SIZE

_START = re.compile(r'(?:---\s*\n)?header:\s*\n')
_FIELD = re.compile(r'\s*(\w+):\s*(.*)')
_STAMPED = 3    # cells of the header: seconds, nanoseconds, frame


class EchoCsv(HeaderlessCsv):
    """
    Joint states of `ros2 topic echo --csv`: seconds, nanoseconds, frame, names, and values.

    Parameters
    ----------
    path
        The file. Lines with the joints of another publisher are left out.
    joints
        Names of the joints.
    signals
        Recorded signals of 'q', 'v' and 'tau', in the order of the columns.

    """

    def __init__(self, path: Path, joints: Sequence[str], signals: Sequence[str]) -> None:
        super().__init__(path, ',', ['t', *(f'{signal}_{joint}' for signal in signals
                                            for joint in joints)])
        self._joints = [*joints]

    def line_blocks(self) -> Iterator[bytes]:
        """Yield blocks of lines, with a stamp in place of the header and the names."""
        stop, others = _STAMPED + len(self._joints), 0
        for block in super().line_blocks():
            lines = []
            for line in block.decode('utf-8', 'replace').split('\n'):
                cells = line.rstrip('\r').split(',')
                own = cells[_STAMPED:stop] == self._joints
                others += bool(line.strip()) and not own
                lines.append(','.join([_stamp(*cells[:2]), *cells[stop:]]) if own else '')
            yield '\n'.join(lines).encode()
        if others:
            self.remarks.append(f'{self.label}: {others} lines are messages of other joints, and '
                                'are left out')


def echo_csv_source(path: Path, lines: Sequence[str]) -> ColumnSource | None:
    """
    Return the columns of a file of `ros2 topic echo --csv`; None for other files.

    Parameters
    ----------
    path
        The file.
    lines
        Its first lines.

    Raises
    ------
    RecordingError
        The second group of columns may be velocities or efforts.

    """
    cells = lines[0].split(',')
    if len(cells) < _STAMPED + 2 or not (cells[0].isdigit() and cells[1].isdigit()) or (
            number_in(cells[2]) is not None):
        return None
    joints = []
    for cell in cells[_STAMPED:]:
        if number_in(cell) is not None or not cell:
            break
        joints.append(cell)
    n = len(joints)
    groups, rest = divmod(len(cells) - _STAMPED - n, max(n, 1))
    if not n or len(set(joints)) < n or rest or not 1 <= groups <= 3:
        return None
    signals = ['q', 'v', 'tau'][:groups]
    if groups == 2:
        source = EchoCsv(path, joints, signals)
        table = np.concatenate([*source.blocks(source.names)])[:20_000]
        found = is_derivative(table[:, 1 + n:], table[:, 1:1 + n], table[:, 0] - table[0, 0])
        if found is None:
            raise RecordingError(f"the recording '{path}' has positions and one more signal of "
                                 'each joint, velocities or efforts; record a bag (ros2 bag '
                                 'record) or write a line with names before the first one')
        signals = ['q', 'v' if found else 'tau']
    return EchoCsv(path, joints, signals)


def is_echo_text(head: str) -> bool:
    """Return whether a file begins as the output of `ros2 topic echo` (YAML)."""
    return _START.match(head) is not None


def echo_text_source(path: Path) -> ColumnSource:
    """
    Return the joint states in the output of `ros2 topic echo` or `rostopic echo`.

    The messages of the publisher with most messages are read.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        The file has no joint states, or lists were shortened to `...`.

    """
    regular_size(path, 'recording', RecordingError, SIZE, SPLIT)
    label = f"the recording '{path}'"
    publishers: dict[tuple[str, ...], tuple[list[float], dict[str, array[float]]]] = {}
    for number, message in _messages(path, label):
        joints = tuple(message.get('name', ()))
        if not joints:
            raise RecordingError(f'{label}, line {number}: the message before has no joint names; '
                                 'is it from a topic of sensor_msgs/JointState?')
        stamps, values = publishers.setdefault(joints, ([], {}))
        stamps.append(float(_stamp(*(message.get(a, message.get(b, ['0']))[0] for a, b in (
            ('sec', 'secs'), ('nanosec', 'nsecs'))))))
        for field, signal in SIGNALS.items():
            if len(numbers := message.get(field, ())) == len(joints):
                try:
                    values.setdefault(signal, array('d')).extend(
                        float(text.removeprefix('.')) if text in ('.nan', '.inf')
                        else float(text) for text in numbers)
                except ValueError as error:
                    raise RecordingError(f'{label}, line {number}: the message before has a '
                                         f'{field} that is not a number') from error
    if not publishers:
        raise RecordingError(f'{label} has no complete message')
    names, (stamps, values) = max(publishers.items(), key=lambda item: len(item[1][0]))
    arrays: dict[str, np.ndarray] = {'t': np.array(stamps)}
    for signal, flat in values.items():
        if len(flat) == len(names) * len(stamps):
            arrays |= {f'{signal}_{joint}': column for joint, column in zip(
                names, np.reshape(flat, (-1, len(names))).T)}
    source = ColumnSource(path, arrays)
    if others := sum(len(item[0]) for item in publishers.values()) - len(stamps):
        source.remarks.append(f'{label}: {others} messages of other joints are left out')
    return source


def _messages(path: Path, label: str) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """Yield the texts of each message by field, and the number of the line after it."""
    message: dict[str, list[str]] = {}
    field, number = '', 0
    with path.open(encoding='utf-8', errors='replace') as file:
        for number, line in enumerate(iter(lambda: file.readline(LINE), ''), 1):
            text = line.strip()
            if text == '---':
                if message:
                    yield number, message
                message, field = {}, ''
            elif text.startswith('- '):
                message.setdefault(field, []).append(text[2:].strip('"\' '))
            elif match := _FIELD.fullmatch(line.rstrip('\n')):
                field, value = match.groups()
                if value.startswith('['):
                    message[field] = [item.strip('"\' ') for item in value.strip('[] ').split(',')
                                      if item.strip()]
                elif value:
                    message[field] = [value.strip('"\' ')]
            if "'...'" in text or text == '- ...':
                raise RecordingError(f'{label}, line {number}: lists are shortened; record with '
                                     'ros2 topic echo --full-length, or better ros2 bag record')
    # a message without `---` at its end may be cut


def _stamp(seconds: str, nanoseconds: str = '0') -> str:
    """Return a stamp as a decimal number of seconds."""
    return f'{seconds}.{nanoseconds.zfill(9)}'
