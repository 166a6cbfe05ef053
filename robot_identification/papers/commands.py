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
"""The commands of the papers: study and studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
import os
from pathlib import Path
from typing import Annotated, Any, TYPE_CHECKING

from rich.table import Table
from robot_identification.arm import load_arm
from robot_identification.cli.console import AsJson, emit, Force, note, out, progress
from robot_identification.errors import ConfigurationError
from robot_identification.files import check_output_folder
from robot_identification.papers.study_report import STUDY_FILES, write_study
from robot_identification.recording import load_recording
import typer

if TYPE_CHECKING:
    from robot_identification.fleet.cluster import Tasks
    from robot_identification.papers.studies import Table as StudyTable

STYLES = {'holds': 'green', 'does not hold': 'yellow', 'undecided': 'cyan'}


def study_command(
    name: Annotated[str | None, typer.Argument(
        metavar='[NAME]', help='See `studies`; the beginning of a name is enough.')] = None,
    every: Annotated[bool, typer.Option(
        '--all', help='Run every study; those that the folder holds already are kept.')] = False,
    output: Annotated[Path | None, typer.Option(
        '--output', '-o', help='Folder for study.html and study.json; results/NAME (with --all '
        'results/studies) when not given.')] = None,
    docs: Annotated[Path | None, typer.Option(
        help='With --all: write the page studies.md, its pictures and the stored run into this '
        'folder.')] = None,
    recording: Annotated[Path | None, typer.Option(
        help="With the survey: compare its methods on your arm's recording instead.")] = None,
    robot: Annotated[str | None, typer.Option(
        metavar='ROBOT', help='Name or YAML of the robot of --recording.')] = None,
    quick: Annotated[bool, typer.Option(
        '--quick', help='Fewer runs, to see that it works; the figures mean little.')] = False,
    seed: Annotated[int, typer.Option(
        min=0, help='First seed of everything that is drawn.')] = 0,
    scheduler: Annotated[str | None, typer.Option(
        help='Address of a scheduler of Dask (tcp://...), whose workers compute seeds, arms and '
             'searches.')] = None,
    workers: Annotated[int | None, typer.Option(
        min=1, help='The same on so many workers of this machine, one core each; with --all each '
                    'has a study to itself, and all cores have one when not given.')] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce a paper's comparison on a simulated arm."""
    if every != (name is None):
        raise ConfigurationError('name a study (see `studies`), or give --all')
    if docs is not None and not every:
        raise ConfigurationError('--docs writes the page of all studies; give --all with it')
    if (recording is None) != (robot is None):
        raise ConfigurationError('--recording and --robot go together')
    if every and recording is not None:
        raise ConfigurationError('--recording goes with the survey, not with --all')
    if scheduler is not None and workers is not None:
        raise ConfigurationError('--workers are those of this machine, --scheduler has its own: '
                                 'give one of them')
    if recording is not None and (scheduler or workers):
        raise ConfigurationError('a recording is compared in one process, without --scheduler and '
                                 '--workers')
    if recording is not None and robot is not None and name is not None:
        _own_recording(name, robot, recording, seed, as_json)
    elif name is not None:
        with _tasks(scheduler, workers) as tasks:
            _one(name, output, quick, seed, as_json, force, tasks)
    else:
        with _tasks(scheduler, None) as tasks:
            _all(output or Path('results/studies'), docs, quick, seed, as_json, force,
                 1 if tasks else workers or os.cpu_count() or 1, tasks)


@contextmanager
def _tasks(scheduler: str | None, workers: int | None) -> Iterator[Tasks | None]:
    """Give tasks of a cluster; None where none was asked for."""
    if scheduler is None and workers is None:
        yield None
        return
    from robot_identification.fleet.cluster import cluster, Tasks
    with cluster(scheduler, workers) as client:
        note(f'dashboard: {client.dashboard_link}')
        yield Tasks(client)


def _one(name: str, output: Path | None, quick: bool, seed: int, as_json: bool, force: bool,
         tasks: Tasks | None) -> None:
    from robot_identification.papers.studies import run_study, study_name

    name = study_name(name)
    folder = output or Path('results') / name
    check_output_folder(folder, STUDY_FILES, STUDY_FILES[0], (), force=force)
    with progress(as_json) as tell:
        result = run_study(name, quick=quick, seed=seed, progress=tell, tasks=tasks)
    contents = result.contents()
    page = write_study(contents, folder)
    if as_json:
        emit({**{key: contents[key] for key in ('study', 'quick', 'seconds', 'settings', 'claims',
                                                'tables')}, 'report': str(page)})
        return
    for part in result.tables:
        _print_table(part)
    _print_claims(contents['claims'])
    out.print(f'wrote {page}', markup=False)


def _all(directory: Path, docs: Path | None, quick: bool, seed: int, as_json: bool, force: bool,
         workers: int, tasks: Tasks | None) -> None:
    from robot_identification.papers.stored_run import run_all
    from robot_identification.papers.studies import STUDIES
    from robot_identification.papers.studies_page import PAGE, RUN, write_page

    for name in STUDIES:
        check_output_folder(directory / name, STUDY_FILES, STUDY_FILES[0], (), force=force)
    if docs is not None:
        check_output_folder(docs, (PAGE, RUN), RUN, (), force=force)
    with progress(as_json) as tell:
        run = run_all(directory, quick, seed, tell, workers, tasks)
    page = None if docs is None else write_page(run, docs)
    if as_json:
        emit({'directory': str(directory), 'page': None if page is None else str(page),
              'claims': {s['study']: s['claims'] for s in run['studies']}})
        return
    for part in run['studies']:
        out.print(f"{part['study']}, {part['processor_seconds']:.0f} s of processor time",
                  style='bold', markup=False)
        _print_claims(part['claims'])
    out.print(f'wrote {directory}' if page is None else f'wrote {directory} and {page}',
              markup=False)


def _own_recording(name: str, robot: str, recording: Path, seed: int, as_json: bool) -> None:
    from robot_identification.papers.studies import study_name
    from robot_identification.papers.studies.own_recording import survey_recording

    if study_name(name) != 'survey_er20':
        raise ConfigurationError('--recording goes with the survey: study survey --recording '
                                 'FILE --robot ROBOT')
    arm = load_arm(robot)
    with progress(as_json) as tell:
        tables = survey_recording(arm, load_recording(recording, arm), seed, tell)
    if as_json:
        emit({'tables': [{'title': t.title, 'note': t.note, 'heads': t.heads, 'rows': t.rows}
                         for t in tables]})
        return
    for part in tables:
        _print_table(part)


def _print_table(part: StudyTable) -> None:
    shown = Table(title=f'{part.title} ({part.source})')
    for head in part.heads:
        shown.add_column(head)
    for row in part.rows:
        shown.add_row(*(cell if isinstance(cell, str) else f'{cell:.4g}' for cell in row))
    out.print(shown)
    if part.note:
        out.print(part.note, markup=False)


def _print_claims(claims: Sequence[Mapping[str, Any]]) -> None:
    for claim in claims:
        out.print(claim['verdict'], style=STYLES[claim['verdict']], end=': ')
        out.print(f"{claim['claim']} ({claim['evidence']}; effect {claim['effect']:.2g}, p = "
                  f"{claim['p']:.2g}, n = {claim['n'][0]} and {claim['n'][1]})", markup=False)


def studies_command(as_json: AsJson = False) -> None:
    """List the studies."""
    from robot_identification.papers.studies import STUDIES

    rows = [(name, (run.__doc__ or '').strip().splitlines()[0]) for name, run in STUDIES.items()]
    if as_json:
        emit({'studies': [{'name': name, 'what it does': text} for name, text in rows]})
        return
    table = Table(title='studies')
    table.add_column('name')
    table.add_column('what it does')
    for row in rows:
        table.add_row(*row)
    out.print(table)
