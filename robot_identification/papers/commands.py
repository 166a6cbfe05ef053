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
"""The command that reproduces a paper's comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rich.table import Table
from robot_identification.console import AsJson, emit, Force, out, progress
from robot_identification.files import check_output_folder
from robot_identification.papers.study_report import STUDY_FILES, write_study
import typer


def study(
    name: Annotated[str, typer.Argument(metavar='NAME', help='See `studies`.')],
    output: Annotated[Path | None, typer.Option(
        '--output', '-o', help='Folder for study.html and study.json; results/NAME when not '
        'given.')] = None,
    quick: Annotated[bool, typer.Option(
        '--quick', help='Fewer runs, to see that it works; the figures mean little.')] = False,
    seed: Annotated[int, typer.Option(help='Of everything that is drawn.')] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce the comparison of a paper on a simulated arm, and say which claims hold."""
    from robot_identification.papers.studies import run_study

    folder = output or Path('results') / name
    check_output_folder(folder, STUDY_FILES, STUDY_FILES[0], (), force=force)
    with progress(as_json) as tell:
        result = run_study(name, quick=quick, seed=seed, progress=tell)
    contents = result.contents()
    page = write_study(contents, folder)
    if as_json:
        emit({**{key: contents[key] for key in ('study', 'quick', 'seconds', 'settings', 'claims',
                                                'tables')}, 'report': str(page)})
        return
    for part in result.tables:
        shown = Table(title=f'{part.title} ({part.source})')
        for head in part.heads:
            shown.add_column(head)
        for row in part.rows:
            shown.add_row(*(cell if isinstance(cell, str) else f'{cell:.4g}' for cell in row))
        out.print(shown)
    for claim in result.claims:
        verdict = '[green]holds[/green]' if claim.holds else '[yellow]does not hold[/yellow]'
        out.print(f'{verdict}: ', end='')
        out.print(f'{claim.text} ({claim.evidence})', markup=False)
    out.print(f'wrote {page}', markup=False)


def studies(as_json: AsJson = False) -> None:
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
