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
"""Results of the robots of a fleet: a JSON file in each robot's folder, and one Parquet table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
from dataclasses import dataclass, field
from itertools import islice
import json
from operator import attrgetter
from pathlib import Path
from typing import Any

from robot_identification.errors import ConfigurationError, MissingDependencyError
from robot_identification.files import atomic_write, read_json
from robot_identification.fleet.drift import Drift
from robot_identification.output_folder import reading, replace_files, sha256
from robot_identification.reporting import RESULTS
from robot_identification.reporting.results_dict import plain
from robot_identification.yaml_file import read_typed

TABLE, ROBOT_FILE = 'fleet.parquet', 'fleet.json'
SCHEMA = 'robot_identification/fleet_robot/1'
BROKEN, FITTED, HELD_OUT, MISSING = 'broken', 'fitted', 'held out', 'missing'
STATES = (BROKEN, 'failed', 'not validated', 'doubtful', 'passed')
NUMBERS = ('error', 'value', 'deviation', 'lower', 'upper', 'seconds', 'rate',
           'change', 'change_deviation', 'processor_seconds')
COLUMNS = ('robot', 'arm', 'state', 'sentence', 'error', 'recording', 'parameter', 'unit', 'value',
           'deviation', 'lower', 'upper', 'finished', 'settings', 'versions', 'key',
           'inputs', 'kind', 'quantity', 'change', 'change_deviation', 'seconds', 'rate',
           'processor_seconds')


@dataclass(frozen=True)
class ParameterResult:
    """
    Value, standard deviation and 95 % interval of a standard parameter.

    Unknown and infinite numbers are None.
    """

    name: str
    unit: str
    value: float | None
    deviation: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class RecordingResult:
    """
    State and torque error of one recording.

    Parameters
    ----------
    source
        Path or URL of the recording.
    state
        'fitted', 'held out', or 'broken' for a recording that cannot be used.
    sentence
        Why the recording is broken.
    seconds, rate
        Duration [s] and sampling rate [Hz].
    error
        Relative torque error.

    """

    source: str
    state: str
    sentence: str = ''
    seconds: float | None = None
    rate: float | None = None
    error: float | None = None


@dataclass(frozen=True)
class RobotResult:
    """
    Result of the identification of one robot.

    Parameters
    ----------
    robot, arm
        Name of the robot in the fleet, and name of its arm.
    state
        'passed', 'doubtful', 'failed', 'not validated', or 'broken' if no model could be
        identified.
    sentence
        The verdict or the error message.
    error
        Largest relative torque error of the held-out recordings, or of the fitted ones if no
        recording was held out.
    recordings, parameters, drift
        Results of the recordings, standard parameters of the model, and drift of friction and
        payload.
    versions, settings
        Versions of the software, and settings of the fleet file, as JSON.
    seconds, processor_seconds
        Elapsed time and processor time [s].
    key
        Digest of all inputs (`input_digest`). It is empty if the result is not reproducible, for
        example after the death of a worker; the next run then identifies the robot again.
    finished
        Date and time at which the robot was identified (UTC).
    inputs
        Fingerprint of each recording, by path or URL.
    files
        Contents of the files that `identify` writes, by name.

    """

    robot: str
    arm: str
    state: str
    sentence: str
    error: float | None = None
    recordings: tuple[RecordingResult, ...] = ()
    parameters: tuple[ParameterResult, ...] = ()
    drift: tuple[Drift, ...] = ()
    versions: str = ''
    settings: str = '{}'
    seconds: float = 0.0
    processor_seconds: float = 0.0
    key: str = ''
    finished: str = ''
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise ConfigurationError(f"unknown state of a robot: '{self.state}'; the states are: "
                                     f'{", ".join(STATES)}')

    def save(self, folder: Path) -> None:
        """Write the files of `identify`, and `fleet.json` with their digests, into a folder."""
        with replace_files(folder) as staging:
            for name, data in self.files.items():
                (staging / name).write_bytes(data)
            content = dataclasses.asdict(dataclasses.replace(
                self, files={name: sha256(staging / name) for name in self.files}))
            (staging / ROBOT_FILE).write_text(json.dumps(
                plain({'schema': SCHEMA, **content}), indent=1, allow_nan=False) + '\n',
                encoding='utf-8')

    @classmethod
    def load(cls, folder: Path, *, newer_only: bool = False) -> RobotResult:
        """
        Read the result that `save` wrote into a robot's folder; `files` stays empty.

        Parameters
        ----------
        folder
            Folder of the robot.
        newer_only
            Whether the digests of files that are not newer than `fleet.json` are taken as right:
            those of 10 000 robots have 20 GB.

        Raises
        ------
        ConfigurationError
            `fleet.json` is missing or damaged, or the results of `identify` are missing or of
            another run.

        """
        path = folder / ROBOT_FILE
        with reading(folder):
            content = read_json(path, 'result of a robot', ConfigurationError)
            if not isinstance(content, dict) or content.pop('schema', '') != SCHEMA:
                raise ConfigurationError(f"'{path}' is not of the schema {SCHEMA}")
            records = {name: _records(kind, content.pop(name, []), f"'{path}', {name}")
                       for name, kind in _RECORDS.items()}
            result: RobotResult = dataclasses.replace(
                read_typed(cls, content, f"'{path}'", ConfigurationError), **records)
            if result.state != BROKEN and not (folder / RESULTS).exists():
                raise ConfigurationError(f"'{folder}' has no {RESULTS}")
            written = path.stat().st_mtime_ns
            for name, digest in result.files.items():
                file = folder / name
                if file.exists() and not (newer_only and file.stat().st_mtime_ns <= written) and (
                        sha256(file) != digest):
                    raise ConfigurationError(
                        f"'{file}' is of another run than the {ROBOT_FILE} beside it")
        return dataclasses.replace(result, files={})


_RECORDS: dict[str, type] = {
    'recordings': RecordingResult, 'parameters': ParameterResult, 'drift': Drift}
_LISTS = {'recording': 'recordings', 'parameter': 'parameters', 'drift': 'drift'}
_COMMON = ('robot', 'arm', 'state', 'sentence', 'error', 'finished', 'settings', 'versions', 'key')
_ROWS = {'robot': ('seconds', 'processor_seconds'),
         'recording': ('source', 'state', 'sentence', 'seconds', 'rate', 'error'),
         'parameter': ('name', 'unit', 'value', 'deviation', 'lower', 'upper'),
         'drift': ('quantity', 'value', 'deviation', 'change', 'change_deviation')}
"""Attributes that become columns, beside `_COMMON`, by kind of row."""
_NAMES = {('recording', 'source'): 'recording', ('parameter', 'name'): 'parameter'}
_CHUNK = 100    # robots whose rows are in memory at a time
_RIGHT_TYPES: set[tuple[Any, ...]] = set()
"""Classes, and types of the values of each attribute, that `read_typed` accepts as they are."""


def _records(kind: type, items: Any, label: str) -> tuple[Any, ...]:
    """Return the dataclass instances of a list in `fleet.json`; most are built without checks."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return tuple(read_typed(tuple[kind, ...], items, label,    # type: ignore[valid-type]
                                ConfigurationError))
    for item in items:
        item.pop('bootstrap', None)    # of files written before November 2026
    order = tuple(each.name for each in dataclasses.fields(kind))
    columns = list(zip(*map(dict.values, items))) if set(map(tuple, items)) == {order} else []
    types = (kind, *(frozenset(map(type, column)) for column in columns))
    if columns and types in _RIGHT_TYPES:
        return tuple(map(kind, *columns))
    records = [read_typed(kind, item, label, ConfigurationError) for item in items]
    if all(type(value) is type(getattr(record, name))
           for record, item in zip(records, items) for name, value in item.items()):
        _RIGHT_TYPES.add(types)
    return tuple(records)


def write_table(results: Iterable[RobotResult], path: Path,
                missing: Mapping[str, str] | None = None) -> None:
    """
    Write the Parquet table of a fleet: rows of robots, recordings, parameters and drifts.

    Parameters
    ----------
    results
        Results of the robots, of which few are in memory at a time if they come one by one.
    path
        Path of the file, which is written atomically.
    missing
        Robots that were not identified because the run ended early: name and reason.

    Raises
    ------
    MissingDependencyError
        pyarrow is not installed.

    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError('pyarrow', 'the table of a fleet') from error
    schema = pyarrow.schema([(name, pyarrow.float64() if name in NUMBERS else pyarrow.string())
                             for name in COLUMNS])
    rest = iter(results)
    with atomic_write(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        while chunk := list(islice(rest, _CHUNK)):
            writer.write_table(_to_table(chunk, schema))
        writer.write_table(pyarrow.Table.from_pylist(
            [{'kind': 'robot', 'robot': robot, 'state': MISSING, 'sentence': reason}
             for robot, reason in (missing or {}).items()], schema=schema))


def _to_table(robots: Sequence[RobotResult], schema: Any) -> Any:
    """Return the Arrow table of some robots: rows of all robots, then of all recordings, etc."""
    import pyarrow
    common = {name: pyarrow.array([getattr(robot, name) for robot in robots],
                                  schema.field(name).type) for name in _COMMON}
    common['inputs'] = pyarrow.array(
        ['\n'.join(map(' '.join, robot.inputs.items())) for robot in robots])
    tables = []
    for kind, fields in _ROWS.items():
        records: list[Any] = []
        owners: list[int] = []
        for owner, robot in enumerate(robots):
            mine = (robot,) if kind == 'robot' else getattr(robot, _LISTS[kind])
            records += mine
            owners += [owner] * len(mine)
        columns = {name: column.take(pyarrow.array(owners, pyarrow.int32()))
                   for name, column in common.items()}
        columns['kind'] = pyarrow.repeat(pyarrow.scalar(kind), len(records))
        for name, column in zip(fields, zip(*map(attrgetter(*fields), records))):
            columns[_NAMES.get((kind, name), name)] = column
        if kind == 'drift':
            fitted = [[each.source for each in robot.recordings if each.state == FITTED]
                      for robot in robots]
            columns['recording'] = [
                fitted[owner][record.recording] if record.recording < len(fitted[owner]) else None
                for owner, record in zip(owners, records)]
        tables.append(pyarrow.table(
            [columns.get(name, pyarrow.nulls(len(records), schema.field(name).type))
             for name in COLUMNS], schema=schema))
    return pyarrow.concat_tables(tables)
