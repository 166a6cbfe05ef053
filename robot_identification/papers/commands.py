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

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TYPE_CHECKING

from robot_identification.cluster import cluster_tasks
from robot_identification.console import emit, note, out, print_table, progress
from robot_identification.errors import ConfigurationError
from robot_identification.files import check_output_folder
from robot_identification.papers.study_report import STUDY_FILES, write_study
from robot_identification.recording import load_recording

if TYPE_CHECKING:
    from robot_identification.cluster import Tasks
    from robot_identification.papers.studies import Table

STYLES = {'holds': 'green', 'does not hold': 'yellow', 'in part': 'blue', 'undecided': 'cyan'}
DEPENDS_STYLE = 'magenta'


def study_command(
    name: str | None = None,
    /,
    *,
    every: bool = False,
    output: Path | None = None,
    docs: Path | None = None,
    recording: Path | None = None,
    robot: str | None = None,
    quick: bool = False,
    seed: int = 0,
    seeds: int = 1,
    draws: int | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Reproduce a paper's comparison on a simulated arm.

    Parameters
    ----------
    name : [NAME]
        Name of a study, or its beginning; `studies` lists them.
    every : --all
        Run all studies; finished ones in the folder are not repeated.
    output : -o
        Folder for study.html and study.json. Default: results/NAME; with --all results/studies.
    docs
        With --all: write the page studies.md, a page for each paper, pictures and the stored run
        into this folder.
    recording
        With survey_er20: compare its methods on a recording of your arm.
    robot : ROBOT
        Name or YAML of the robot of --recording, or the YAML of a data set of `benchmark`.
    quick
        Fewer runs, for a test; the results are not meaningful.
    seed : >= 0
        Random seed of all draws.
    seeds : >= 1
        With --all: number of consecutive seeds, from --seed on. The claims are judged by the draws
        of all seeds, with the verdict of each seed beside it.
    draws : >= 1
        Number of draws of all claims. Default: 14, and up to 56 for claims that are near a limit
        between two verdicts.
    scheduler
        Address of a running Dask scheduler (tcp://...) on which the study is computed.
    workers : >= 1
        Number of workers on this machine, one core each. Default: no workers.

    """
    if every != (name is None):
        raise ConfigurationError('name a study (see `studies`), or use --all')
    if docs is not None and not every:
        raise ConfigurationError('--docs writes the page of all studies; it needs --all')
    if (recording is None) != (robot is None):
        raise ConfigurationError('--recording and --robot go together')
    if seeds > 1 and not every:
        raise ConfigurationError('--seeds is for --all; name one study with --seed')
    if every and recording is not None:
        raise ConfigurationError('--recording is for the study survey_er20, not for --all')
    if recording is not None and draws is not None:
        raise ConfigurationError('--draws is for simulated arms, not for a recording')
    if recording is not None and (scheduler or workers):
        raise ConfigurationError('a recording is compared in one process, without --scheduler and '
                                 '--workers')
    if recording is not None and robot is not None and name is not None:
        compare_on_recording(name, robot, recording, seed, as_json)
        return
    with cluster_tasks(scheduler, workers, note) as tasks:
        if name is not None:
            print_study(name, output, quick=quick, seed=seed, draws=draws, as_json=as_json,
                        force=force, tasks=tasks)
        else:
            print_all_studies(
                output or Path('results/studies'), docs, quick=quick, draws=draws, force=force,
                seeds=range(seed, seed + seeds), as_json=as_json, tasks=tasks)


def studies_command(
    *,
    as_json: bool = False,
) -> None:
    """List the studies."""
    from robot_identification.papers.studies import STUDIES

    rows = [(name, (run.__doc__ or '').strip().splitlines()[0]) for name, run in STUDIES.items()]
    if as_json:
        emit({'studies': [{'name': name, 'what it does': text} for name, text in rows]})
        return
    print_table('studies', ('name', 'what it does'), rows)


def print_study(name: str, output: Path | None, *, quick: bool, seed: int, draws: int | None,
                as_json: bool, force: bool, tasks: Tasks | None) -> None:
    """Run a study, write its page, and print its tables and claims."""
    from robot_identification.papers.studies import run_study, study_name

    name = study_name(name)
    folder = output or Path('results') / name
    check_output_folder(folder, STUDY_FILES, STUDY_FILES[0], (), force=force)
    with progress(as_json) as report:
        result = run_study(name, quick=quick, seed=seed, progress=report, tasks=tasks,
                           draws=draws)
    contents = result.contents()
    page = write_study(contents, folder)
    if as_json:
        emit({**{key: contents[key] for key in ('study', 'quick', 'seconds', 'settings', 'claims',
                                                'tables')}, 'report': str(page)})
        return
    for table in result.tables:
        _print_table(table)
    _print_claims(contents['claims'])
    out.print(f'wrote {page}', markup=False)


def print_all_studies(directory: Path, docs: Path | None, *, quick: bool, seeds: range,
                      draws: int | None, as_json: bool, force: bool, tasks: Tasks | None) -> None:
    """Run all studies, write their pages and print their claims."""
    from robot_identification.papers.stored_run import run_all
    from robot_identification.papers.studies import STUDIES
    from robot_identification.papers.studies_page import PAGE, RUN, write_page

    for name in STUDIES:
        check_output_folder(directory / name, STUDY_FILES, STUDY_FILES[0], (), force=force)
    if docs is not None:
        check_output_folder(docs, (PAGE, RUN), RUN, (), force=force)
    with progress(as_json) as report:
        run = run_all(directory, quick, seeds, report, tasks, draws)
    page = None if docs is None else write_page(run, docs)
    if as_json:
        emit({'directory': str(directory), 'page': None if page is None else str(page),
              'claims': {s['study']: s['claims'] for s in run['studies']}})
        return
    for study in run['studies']:
        out.print(f"{study['study']}, {study['processor_seconds']:.0f} s of processor time",
                  style='bold', markup=False)
        _print_claims(study['claims'])
    out.print(f'wrote {directory}' if page is None else f'wrote {directory} and {page}',
              markup=False)


def compare_on_recording(name: str, robot: str, recording: Path, seed: int,
                         as_json: bool) -> None:
    """Compare the methods of the study survey_er20 on a recording and print the tables."""
    from robot_identification.papers.studies import study_name
    from robot_identification.papers.studies.own_recording import load_robot_of, survey_recording

    if study_name(name) != 'survey_er20':
        raise ConfigurationError('--recording is for the study survey_er20: study survey '
                                 '--recording FILE --robot ROBOT')
    arm = load_robot_of(robot, recording)
    with progress(as_json) as report:
        tables = survey_recording(arm, load_recording(recording, arm), seed, report)
    if as_json:
        emit({'tables': [{'title': t.title, 'note': t.note, 'heads': t.heads, 'rows': t.rows}
                         for t in tables]})
        return
    for table in tables:
        _print_table(table)


def _print_table(table: Table) -> None:
    print_table(f'{table.title} ({table.source})', table.heads, [
        [cell if isinstance(cell, str) else f'{cell:.4g}' for cell in row] for row in table.rows])
    if table.note:
        out.print(table.note, markup=False)


def _print_claims(claims: Sequence[Mapping[str, Any]]) -> None:
    for claim in claims:
        out.print(claim['verdict'], style=STYLES.get(claim['verdict'], DEPENDS_STYLE), end=': ')
        interval = '' if claim['interval'] is None else ' [{:.4g}, {:.4g}]'.format(
            *claim['interval'])
        out.print(f"{claim['claim']} ({claim['evidence']}; ratio {claim['ratio']:.4g}{interval}, "
                  f"required {claim['at_least']:.4g} in {claim['share']:.0%} of the draws, "
                  f"p = {claim['p']:.2g}, n = {claim['n']})",
                  markup=False)
        for row in claim['sensitivity']:
            out.print(f"    {row['assumption']}, {row['value']}: {row['verdict']}, ratio "
                      f"{row['ratio']:.4g}, p = {row['p']:.2g}", markup=False)
