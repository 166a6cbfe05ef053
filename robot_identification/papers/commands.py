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

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
from typing import Annotated, TYPE_CHECKING

from rich.table import Table
from robot_identification.console import AsJson, emit, Force, note, out
from robot_identification.errors import ConfigurationError
from robot_identification.papers.command_output import (
    compare_on_recording,
    print_all_studies,
    print_study,
)
import typer

if TYPE_CHECKING:
    from robot_identification.cluster import Tasks


def study_command(
    name: Annotated[str | None, typer.Argument(
        metavar='[NAME]', help='Name of a study, or its beginning; `studies` lists them.')] = None,
    every: Annotated[bool, typer.Option(
        '--all', help='Run all studies; finished ones in the folder are not repeated.')] = False,
    output: Annotated[Path | None, typer.Option(
        '--output', '-o', help='Folder for study.html and study.json. Default: results/NAME; with '
        '--all results/studies.')] = None,
    docs: Annotated[Path | None, typer.Option(
        help='With --all: write the page studies.md, a page for each paper, pictures and the '
        'stored run into this folder.')] = None,
    recording: Annotated[Path | None, typer.Option(
        help='With survey_er20: compare its methods on a recording of your arm.')] = None,
    robot: Annotated[str | None, typer.Option(
        metavar='ROBOT', help='Name or YAML of the robot of --recording, or the YAML of a data '
        'set of `benchmark`.')] = None,
    quick: Annotated[bool, typer.Option(
        '--quick', help='Fewer runs, for a test; the results are not meaningful.')] = False,
    seed: Annotated[int, typer.Option(min=0, help='Random seed of all draws.')] = 0,
    seeds: Annotated[int, typer.Option(
        min=1, help='With --all: number of consecutive seeds, from --seed on. The claims are '
        'judged by the draws of all seeds, with the verdict of each seed beside it.')] = 1,
    draws: Annotated[int | None, typer.Option(
        min=1, help='Number of draws of all claims. Default: 14, up to 56 for claims that are '
        'undecided, and up to 224 for verdicts that one of several seeds changes.')] = None,
    scheduler: Annotated[str | None, typer.Option(
        help='Address of a running Dask scheduler (tcp://...) on which the study is computed.'
        )] = None,
    workers: Annotated[int | None, typer.Option(
        min=1, help='Number of workers on this machine, one core each. With --all each worker '
                    'runs whole studies; default: all cores.')] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce a paper's comparison on a simulated arm."""
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
    if scheduler is not None and workers is not None:
        raise ConfigurationError('--workers starts workers on this machine, --scheduler uses a '
                                 'running cluster: use one of them')
    if recording is not None and draws is not None:
        raise ConfigurationError('--draws is for simulated arms, not for a recording')
    if recording is not None and (scheduler or workers):
        raise ConfigurationError('a recording is compared in one process, without --scheduler and '
                                 '--workers')
    if recording is not None and robot is not None and name is not None:
        compare_on_recording(name, robot, recording, seed, as_json)
    elif name is not None:
        with cluster_tasks(scheduler, workers) as tasks:
            print_study(name, output, quick, seed, draws, as_json, force, tasks)
    else:
        with cluster_tasks(scheduler, None) as tasks:
            print_all_studies(output or Path('results/studies'), docs, quick,
                              range(seed, seed + seeds), draws, as_json, force,
                              tasks or workers or os.cpu_count() or 1)


@contextmanager
def cluster_tasks(scheduler: str | None, workers: int | None) -> Iterator[Tasks | None]:
    """Yield the tasks of a cluster; None if no cluster was requested."""
    if scheduler is None and workers is None:
        yield None
        return
    from robot_identification.cluster import cluster, Tasks
    with cluster(scheduler, workers) as client:
        note(f'dashboard: {client.dashboard_link}')
        yield Tasks(client)


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
