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
"""One Parquet table of the latest results: parameters, intervals, errors, verdicts, hashes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from robot_identification.errors import MissingDependencyError
from robot_identification.files import written_whole
from robot_identification.fleet.database import Database

TABLE = 'fleet.parquet'
QUERY = """
SELECT i.robot, i.arm, i.state, i.sentence, i.error, {columns}, i.finished, i.settings, i.versions,
       i.key, (SELECT group_concat(source || ' ' || fingerprint, char(10)) FROM recording
               WHERE identification = i.id) AS inputs
FROM latest AS i {join}"""
PARAMETERS = QUERY.format(
    columns='NULL AS recording, p.name AS parameter, p.unit, p.value, p.deviation, p.lower, '
            'p.upper, p.bootstrap', join='LEFT JOIN parameter AS p ON p.identification = i.id')
BROKEN = QUERY.replace('i.state, i.sentence, i.error', 'r.state, r.sentence, r.error').format(
    columns='r.source AS recording, NULL AS parameter, NULL AS unit, NULL AS value, '
            'NULL AS deviation, NULL AS lower, NULL AS upper, NULL AS bootstrap',
    join="JOIN recording AS r ON r.identification = i.id AND r.state = 'broken'")
COLUMNS = ('robot', 'arm', 'state', 'sentence', 'error', 'recording', 'parameter', 'unit', 'value',
           'deviation', 'lower', 'upper', 'bootstrap', 'finished', 'settings', 'versions', 'key',
           'inputs')
MISSING = 'missing'
NUMBERS = ('error', 'value', 'deviation', 'lower', 'upper', 'bootstrap')


def write_table(database: Database, path: Path, missing: Mapping[str, str] | None = None) -> None:
    """
    Write a row for every parameter of every robot, broken recording and robot that is not done.

    Parameters
    ----------
    database
        The results.
    path
        The Parquet file, which is written whole or not at all.
    missing
        Robots that a run did not come to, with a sentence each.

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
    rows = database.rows(f'{PARAMETERS} UNION ALL {BROKEN}')
    rows += [{'robot': robot, 'state': MISSING, 'sentence': sentence}
             for robot, sentence in (missing or {}).items()]
    schema = pyarrow.schema([(name, pyarrow.float64() if name in NUMBERS else pyarrow.string())
                             for name in COLUMNS])
    with written_whole(path) as temporary:
        parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), temporary)
