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
"""Command line: a fleet of robots, and what its database holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from rich.table import Table
from robot_identification.cli.console import AsJson, emit, err, Force, out
from robot_identification.errors import ConfigurationError
from robot_identification.fleet import Database, read_fleet, run_fleet
from robot_identification.fleet.page import worst_drift
from robot_identification.fleet.run import DATABASE
import typer

QUERY = 'query'


def fleet(
    source: Annotated[str, typer.Argument(
        metavar='FLEET.yaml|query', help='Fleet file (docs/fleet.md); or the word query.')],
    database: Annotated[Path | None, typer.Argument(
        metavar='[DATABASE]', help='After query: fleet.sqlite, or the folder of it.')] = None,
    sql: Annotated[str | None, typer.Argument(
        metavar='[SQL]', help='After query: a SELECT; without it the robots are listed.')] = None,
    output: Annotated[Path | None, typer.Option(
        '--output', '-o', help='Folder for the results of all robots.')] = None,
    scheduler: Annotated[str | None, typer.Option(
        help='Address of a scheduler of Dask (tcp://...); all cores of this machine when not '
             'given.')] = None,
    workers: Annotated[int | None, typer.Option(
        min=1, help='Workers on this machine, one core each; all cores when not given.')] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Identify many robots, on all cores or a cluster of Dask; only what changed since last."""
    if source == QUERY:
        _query(database, sql, as_json)
        return
    if database is not None:
        raise ConfigurationError(f"'{database}' is one argument too many: `fleet FLEET.yaml -o "
                                 'FOLDER`, or `fleet query DATABASE [SQL]`')
    if output is None:
        raise ConfigurationError('give the folder for the results: -o FOLDER')
    summary = run_fleet(
        read_fleet(source), output, scheduler=scheduler, workers=workers, force=force,
        tell=lambda text: err.print(text, markup=False, highlight=False, soft_wrap=True))
    if as_json:
        emit({'directory': str(summary.folder), 'done': summary.done,
              'unchanged': summary.unchanged, 'states': summary.states})
    else:
        states = ', '.join(f'{count} {state}' for state, count in summary.states.items())
        out.print(f'{summary.done} robots identified, {summary.unchanged} unchanged; {states}; '
                  f'see {summary.folder}/index.html', markup=False, highlight=False)
    raise typer.Exit(0 if set(summary.states) <= {'passed'} else 1)


def _query(place: Path | None, sql: str | None, as_json: bool) -> None:
    if place is None:
        raise ConfigurationError('name the database: fleet query DATABASE [SQL]')
    with Database(place / DATABASE if place.is_dir() else place) as database:
        rows = database.rows(sql) if sql else _robots(database)
    if as_json:
        emit({'rows': rows})
        return
    table = Table(*(rows[0] if rows else ('no rows',)))
    for row in rows:
        table.add_row(*('' if value is None else f'{value:.6g}' if isinstance(value, float)
                        else str(value) for value in row.values()))
    out.print(table)


def _robots(database: Database) -> list[dict[str, Any]]:
    drift = database.drift()
    return [{'robot': row['robot'], 'arm': row['arm'], 'state': row['state'],
             'error': row['error'], 'drift': worst_drift(drift.get(row['id'], ()))[1],
             'finished': row['finished']}
            for row in database.rows('SELECT * FROM latest ORDER BY state, error DESC')]
