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

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
from dataclasses import dataclass, field
import json
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
    def load(cls, folder: Path) -> RobotResult:
        """
        Read the result that `save` wrote into a robot's folder; `files` stays empty.

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
            result: RobotResult = read_typed(cls, content, f"'{path}'", ConfigurationError)
            if result.state != BROKEN and not (folder / RESULTS).exists():
                raise ConfigurationError(f"'{folder}' has no {RESULTS}")
            for name, digest in result.files.items():
                if (folder / name).exists() and sha256(folder / name) != digest:
                    raise ConfigurationError(f"'{folder / name}' is of another run than the "
                                             f'{ROBOT_FILE} beside it')
        return dataclasses.replace(result, files={})

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the table rows: one each for the robot, its recordings, parameters and drifts."""
        common = {name: getattr(self, name) for name in (
            'robot', 'arm', 'state', 'sentence', 'error', 'finished', 'settings', 'versions',
            'key')}
        common['inputs'] = '\n'.join(map(' '.join, self.inputs.items()))
        yield {**common, 'kind': 'robot', 'seconds': self.seconds,
               'processor_seconds': self.processor_seconds}
        for recording in self.recordings:
            numbers = dataclasses.asdict(recording)
            yield {**common, 'kind': 'recording', 'recording': numbers.pop('source'), **numbers}
        for parameter in self.parameters:
            numbers = dataclasses.asdict(parameter)
            yield {**common, 'kind': 'parameter', 'parameter': numbers.pop('name'), **numbers}
        fitted = dict(enumerate(each.source for each in self.recordings if each.state == FITTED))
        for drift in self.drift:
            yield {**common, 'kind': 'drift', **dataclasses.asdict(drift),
                   'recording': fitted.get(drift.recording)}


def write_table(results: Sequence[RobotResult], path: Path,
                missing: Mapping[str, str] | None = None) -> None:
    """
    Write the Parquet table of a fleet.

    Parameters
    ----------
    results
        Results of the robots.
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
    rows = [row for result in results for row in result.rows()]
    rows += [{'kind': 'robot', 'robot': robot, 'state': MISSING, 'sentence': reason}
             for robot, reason in (missing or {}).items()]
    schema = pyarrow.schema([(name, pyarrow.float64() if name in NUMBERS else pyarrow.string())
                             for name in COLUMNS])
    with atomic_write(path) as temporary:
        parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), temporary)
