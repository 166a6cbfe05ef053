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
"""Reads JSON lines, and JSON files with a list of records or with one list per column."""

from collections.abc import Iterator, Mapping
import csv
from itertools import chain
import json
from pathlib import Path
import re
from typing import Any

from robot_identification.errors import RecordingError
from robot_identification.files import check_decoded_size, read_json
from robot_identification.log_formats.converted_file import open_converted, TemporaryFolder
from robot_identification.recording.bag.joint_states import SIGNALS
from robot_identification.recording.column_source import ColumnSource, stored_size
from robot_identification.recording.csv_file import LINE

SAMPLE = 'an object such as {"t": 0.0, "q": [0.1, ...], "tau": [1.2, ...]}'
_NAMES = ('name', 'names', 'joint', 'joint_name', 'joint_names')


def json_source(path: Path) -> ColumnSource:
    """
    Return the columns of a JSON file.

    A line, or an entry of the list, is one sample. Nested objects have names such as `joint.q`,
    and the list `q` of a sample is the array `q`. Messages sensor_msgs/JointState of ROS, as
    rosbridge writes them, have the columns t, q_<joint>, v_<joint> and tau_<joint>.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    RecordingError
        The file is damaged or too large, or the samples have different fields.

    """
    stored = stored_size(path)
    label, folder = f"the recording '{path}'", TemporaryFolder()
    target, names = Path(folder.name, 'table.csv'), dict[str, None]()
    with target.open('w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        for number, record in enumerate(_records(path, label), 1):
            row = flatten(record)
            if not names:
                names = dict.fromkeys(row)
                writer.writerow(names)
            if other := next((name for name in row if name not in names), None):
                raise RecordingError(f"{label}, sample {number}: the field '{other:.60}' is not "
                                     'in the first sample; write all fields each time')
            check_decoded_size(8 * len(names) * number, stored, label, RecordingError)
            writer.writerow([row.get(name, '') for name in names])
    if not names:
        raise RecordingError(f'{label} has no samples; a line must be {SAMPLE}')
    source = open_converted(path, target, folder)
    widths: dict[str, int] = {}
    for match in filter(None, (re.fullmatch(r'(.+)\[(\d+)\]', name) for name in source.names)):
        widths[match[1]] = max(widths.get(match[1], 0), int(match[2]) + 1)
    source.widths.update({name: width for name, width in widths.items() if width > 1})
    return source


def flatten(record: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the numbers and texts of a sample by name; `a.b` in nested objects, `q[0]` in lists.

    Parameters
    ----------
    record
        The sample.

    """
    names = record.get('name')
    if isinstance(names, list) and isinstance(record.get('position'), list) and (
            len(names) == len(record['position'])):
        stamp = (record.get('header') or {}).get('stamp') or record.get('stamp') or {}
        nanoseconds = int(stamp.get('nanosec', stamp.get('nsecs', stamp.get('nsec', 0))))
        seconds = int(stamp.get('sec', stamp.get('secs', 0)))
        row: dict[str, Any] = {'t': f'{seconds}.{nanoseconds:09d}'}
        for field, signal in SIGNALS.items():
            values = record.get(field) or ()
            if len(values) == len(names):
                row |= {f'{signal}_{name}': value for name, value in zip(names, values)}
        return row
    return dict(_leaves('', record))


def _leaves(head: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and values of numbers and texts in JSON."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(f'{head}.{key}' if head else re.sub(r'\s', ' ', key), item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            key = next((item[name] for name in _NAMES if name in item), None) if isinstance(
                item, dict) else None    # a list of joints
            yield from _leaves(f'{head}[{number}]' if key is None else f'{head}.{key}', item)
    elif isinstance(value, bool):
        yield head, int(value)
    elif value is None or isinstance(value, (int, float)):
        yield head, '' if value is None else repr(value)
    else:
        yield head, re.sub(r'[\s,"]+', ' ', str(value))


def _records(path: Path, label: str) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of a file."""
    try:
        with path.open('rb') as file:
            first, second = file.readline(LINE + 1), file.readline(LINE + 1)
            if path.suffix.lower() == '.json' and not (
                    second.strip() and first.startswith(b'{') and first.rstrip().endswith(b'}')):
                yield from _whole(read_json(path, 'recording', RecordingError), label)
                return
            for number, line in enumerate(chain([first, second], iter(
                    lambda: file.readline(LINE + 1), b'')), 1):
                if len(line) > LINE:
                    raise RecordingError(f'{label}, line {number} has more than {LINE // 1000} '
                                         'kB; a line must be one sample')
                record = json.loads(line) if line.strip() else {}
                if not isinstance(record, dict):
                    raise RecordingError(f'{label}, line {number} is not {SAMPLE}')
                if record:
                    yield record
    except (ValueError, RecursionError, OSError) as error:
        raise RecordingError(f'{label} is not JSON in UTF-8: {error}') from error


def _whole(content: Any, label: str) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of a JSON file: a list of objects, or an object of lists."""
    if isinstance(content, list) and all(isinstance(item, dict) for item in content):
        yield from content
        return
    lists = {key: value for key, value in content.items()
             if isinstance(value, list)} if isinstance(content, dict) else {}
    if not lists:
        raise RecordingError(f'{label} is neither a list of objects, one per sample, nor an '
                             'object of lists, one per column')
    length = max(map(len, lists.values()))
    columns = {key: values for key, values in lists.items() if len(values) == length}
    joints = next((values for key, values in lists.items() if key not in columns
                   and all(isinstance(name, str) for name in values)), [])
    for row in zip(*columns.values()):
        record: dict[str, Any] = {}
        for key, value in zip(columns, row):
            named = joints and isinstance(value, list) and len(value) == len(joints)
            record |= {f'{key}_{joint}': item for joint, item in zip(joints, value)
                       } if named else {key: value}
        yield record
