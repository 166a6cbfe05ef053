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
"""The results of all runs in one SQLite file, which any notebook can read (docs/fleet.md)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timezone
import hashlib
import math
from pathlib import Path
import sqlite3
from types import TracebackType
from typing import Any

import robot_identification
from robot_identification.errors import ConfigurationError
from robot_identification.fleet.plan import Job
from robot_identification.fleet.work import Outcome
from robot_identification.yaml_file import shown

SCHEMA = 2
ADDED = ', bootstrap REAL'
"""Column of parameters that schema 1 had not."""
TABLES = """
CREATE TABLE IF NOT EXISTS run (
    id INTEGER PRIMARY KEY, began TEXT NOT NULL, fleet TEXT NOT NULL, version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS identification (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, robot TEXT NOT NULL,
    arm TEXT NOT NULL, key TEXT NOT NULL, finished TEXT NOT NULL, state TEXT NOT NULL,
    sentence TEXT NOT NULL, error REAL, settings TEXT NOT NULL, versions TEXT NOT NULL,
    seconds REAL NOT NULL, processor_seconds REAL NOT NULL);
CREATE INDEX IF NOT EXISTS of_robot ON identification (robot, id);
CREATE TABLE IF NOT EXISTS recording (
    identification INTEGER NOT NULL REFERENCES identification, number INTEGER NOT NULL,
    source TEXT NOT NULL, fingerprint TEXT NOT NULL, state TEXT NOT NULL, sentence TEXT NOT NULL,
    seconds REAL, rate REAL, error REAL);
CREATE TABLE IF NOT EXISTS parameter (
    identification INTEGER NOT NULL REFERENCES identification, name TEXT NOT NULL,
    unit TEXT NOT NULL, value REAL, deviation REAL, lower REAL, upper REAL, bootstrap REAL);
CREATE TABLE IF NOT EXISTS drift (
    identification INTEGER NOT NULL REFERENCES identification, recording INTEGER NOT NULL,
    quantity TEXT NOT NULL, value REAL, deviation REAL, change REAL, change_deviation REAL);
CREATE VIEW IF NOT EXISTS latest AS
    SELECT * FROM identification WHERE id IN (SELECT max(id) FROM identification GROUP BY robot);
"""


class Database:
    """
    The file of results.

    Parameters
    ----------
    path
        The file; it is made when it is to be written.
    write
        Whether anything is to be stored; otherwise the file must exist and stays as it is.

    Raises
    ------
    ConfigurationError
        The file cannot be used, or is not of this schema.

    """

    def __init__(self, path: str | Path, *, write: bool = False) -> None:
        self._path = Path(path)
        if not write and not self._path.is_file():
            raise ConfigurationError(f"there is no database '{path}'; "
                                     '`robot-identification fleet` writes one into its folder')
        mode = 'rwc' if write else 'ro'
        try:
            self._file = sqlite3.connect(f'{self._path.resolve().as_uri()}?mode={mode}', uri=True)
            self._file.row_factory = sqlite3.Row
            version = self._file.execute('PRAGMA user_version').fetchone()[0]
            if write and version == 0:
                self._file.executescript(f'{TABLES} PRAGMA user_version = {SCHEMA};')
            elif write and version == 1:
                self._upgrade()
            elif version not in (1, SCHEMA):
                raise ConfigurationError(f"'{path}' is of the schema {version}, not {SCHEMA}: it "
                                         'is no database of this program, or of another version')
            self._check(TABLES if write or version == SCHEMA else TABLES.replace(ADDED, ''))
        except (sqlite3.Error, UnicodeError) as error:    # text in sentences of SQLite, too
            raise ConfigurationError(f"the database '{path}' cannot be used: {error}") from error
        self._run = 0

    def __enter__(self) -> Database:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._file.close()

    def _upgrade(self) -> None:
        """Add what schema 1 had not, unless another run has done it by now."""
        with self._file:
            self._file.execute('BEGIN IMMEDIATE')
            if self._file.execute('PRAGMA user_version').fetchone()[0] == 1:
                self._file.execute(f"ALTER TABLE parameter ADD COLUMN {ADDED.strip(', ')}")
                self._file.execute(f'PRAGMA user_version = {SCHEMA}')

    def _check(self, tables: str) -> None:
        """Refuse tables that were changed: a view may be one that never ends."""
        with closing(sqlite3.connect(':memory:')) as fresh:
            fresh.executescript(tables)
            wanted = set(fresh.execute('SELECT name, sql FROM sqlite_master'))
        there = {tuple(row) for row in self._file.execute('SELECT name, sql FROM sqlite_master')}
        if changed := {name for name, _ in wanted - there}:
            raise ConfigurationError(f"'{self._path}' was changed: {', '.join(sorted(changed))} "
                                     'is not as this program makes it')

    def begin(self, fleet: str | Path) -> None:
        """Begin a run; what is stored afterwards belongs to it."""
        with self._file:
            self._run = int(self._file.execute(
                'INSERT INTO run (began, fleet, version) VALUES (?, ?, ?)',
                (_now(), str(fleet), robot_identification.__version__)).lastrowid or 0)

    def known(self) -> dict[str, str]:
        """Return the key of each robot's latest identification."""
        return {row['robot']: row['key'] for row in self.rows('SELECT robot, key FROM latest')}

    def drift(self) -> dict[int, list[dict[str, Any]]]:
        """Return the drift of each robot's latest identification, by its number."""
        found: dict[int, list[dict[str, Any]]] = {}
        for row in self.rows('SELECT * FROM drift WHERE identification IN '
                             '(SELECT id FROM latest) ORDER BY recording'):
            for name, kind in (('recording', int), ('value', float | None),
                               ('deviation', float | None), ('change', float | None),
                               ('change_deviation', float | None)):
                if not isinstance(row[name], kind):
                    raise ConfigurationError(f"'{self._path}' is damaged: {name} of a drift is "
                                             f'{shown(row[name])}')
            found.setdefault(row['identification'], []).append(row)
        return found

    def store(self, job: Job, key: str, prints: dict[str, str], outcome: Outcome) -> None:
        """
        Store what came out for a robot: all of it or nothing.

        Parameters
        ----------
        job, key
            The work, and what changes with its inputs (`key_of`).
        prints
            Fingerprints of the recordings.
        outcome
            What came out.

        """
        with self._file as file:
            number = file.execute(
                'INSERT INTO identification (run, robot, arm, key, finished, state, sentence, '
                'error, settings, versions, seconds, processor_seconds) '
                'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
                (self._run, job.name, outcome.arm, key, _now(), outcome.state, outcome.sentence,
                 _real(outcome.error), job.settings_text, outcome.versions, outcome.seconds,
                 outcome.processor)).lastrowid
            file.executemany(
                'INSERT INTO recording VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
                [(number, place, part.source, prints.get(part.source, ''), part.state,
                  part.sentence, _real(part.seconds), _real(part.rate), _real(part.error))
                 for place, part in enumerate(outcome.parts)])
            file.executemany(
                'INSERT INTO parameter VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
                [(number, p.name, p.unit, _real(p.value), _real(p.deviation), _real(p.lower),
                  _real(p.upper), _real(p.bootstrap)) for p in outcome.parameters])
            file.executemany(
                'INSERT INTO drift VALUES (?, ?, ?, ?, ?, ?, ?)',
                [(number, d.recording, d.quantity, _real(d.value), _real(d.deviation),
                  _real(d.change), _real(d.change_deviation)) for d in outcome.drift])

    def rows(self, query: str, arguments: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """
        Return the rows of a query.

        Parameters
        ----------
        query, arguments
            SQL and what its question marks stand for.

        Raises
        ------
        ConfigurationError
            The query cannot be answered.

        """
        try:
            return [dict(row) for row in self._file.execute(query, tuple(arguments))]
        except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
            raise ConfigurationError(f"'{self._path}' cannot answer that: {error}") from error


def key_of(job: Job, prints: dict[str, str], robot_print: str) -> str:
    """
    Return what changes with anything that a robot's result depends on.

    Parameters
    ----------
    job
        The work.
    prints
        Fingerprints of its recordings.
    robot_print
        Fingerprint of the arm.

    """
    parts = [robot_identification.__version__, job.robot, robot_print, job.settings_text,
             *(f'{source} {prints[source]}' for source in job.recordings), 'held out',
             *(f'{source} {prints[source]}' for source in job.held_out)]
    return hashlib.sha256('\n'.join(parts).encode()).hexdigest()


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec='seconds')


def _real(value: float | None) -> float | None:
    """Return a number for SQL, which knows neither NaN nor infinity: NULL."""
    return None if value is None or not math.isfinite(value) else float(value)
