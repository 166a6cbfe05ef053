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
"""Commands that list what there is: robots, estimators, frictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from rich.table import Table
from rich.text import Text
from robot_identification.arm import load_arm, robot_files
from robot_identification.cli.console import AsJson, emit, out
from robot_identification.dynamics import FRICTION_MODELS, FRICTION_TERMS
from robot_identification.dynamics.friction import SHORT_NAMES
from robot_identification.errors import ArmError
from robot_identification.estimation import ESTIMATORS
from robot_identification.estimation.auto import AUTO, AUTO_FEATURES, AUTO_SUMMARY
from robot_identification.registry import load_extensions
import typer

Markdown = Annotated[bool, typer.Option(
    '--markdown', help='Print the whole table in Markdown, as in docs/methods.md.')]

ROOMS = {'core': 'estimators', 'papers': 'methods of the papers'}
PAPERS = ('Methods of the papers, to repeat their comparisons: on a squared cost the estimator '
          '`bounded` finds the optimum within the same bounds, sooner.')


def robots_command(as_json: AsJson = False) -> None:
    """List the shipped robots."""
    rows = []
    for name in robot_files():
        try:
            arm = load_arm(name)
        except ArmError as error:
            rows.append((name, '-', str(error)))
            continue
        rows.append((name, str(arm.n), ', '.join(arm.joint_names)))
    _show(as_json, 'robots', ('name', 'joints', 'names of the joints'), rows)


def estimators_command(as_json: AsJson = False, markdown: Markdown = False) -> None:
    """List the estimators."""
    load_extensions()
    rows = [{'name': name, 'what it does': estimator.summary, **estimator.info.row()}
            for name, estimator in ESTIMATORS.items()]
    rows.append({'name': AUTO, 'what it does': AUTO_SUMMARY, **AUTO_FEATURES.row()})
    if as_json:
        emit({'estimators': [{**row, 'room': _room(row['name'])} for row in rows]})
        return
    if not markdown:
        rows = [{name: row[name] for name in ('name', 'what it does')} for row in rows]
    for room, title in ROOMS.items():
        if room == 'papers':
            typer.echo(f'\n{PAPERS}\n')
        _show(False, title, tuple(rows[0]),
              [tuple(row.values()) for row in rows if _room(row['name']) == room], markdown)


def frictions_command(as_json: AsJson = False, markdown: Markdown = False) -> None:
    """List friction terms and models."""
    rows = [(name, term.formula, ', '.join(term.parameters), ', '.join(term.nonlinear) or '-')
            for name, term in FRICTION_TERMS.items()]
    short = list(SHORT_NAMES.items())
    if as_json:
        names = ('name', 'torque', 'parameters', 'shape')
        emit({'friction terms': [dict(zip(names, row)) for row in rows],
              'friction models': [dict(zip(names, (
                  name, model.formula, ', '.join(model.parameters),
                  ', '.join(model.nonlinear) or '-'
              ))) | {'sum': SHORT_NAMES[name]} for name, model in FRICTION_MODELS.items()]})
        return
    _show(False, 'terms of a sum', ('name', 'torque', 'parameters', 'shape'), rows, markdown)
    if markdown:
        typer.echo('')
    _show(False, 'short names', ('name', 'sum'), short, markdown)


def _room(name: str) -> str:
    package = ESTIMATORS[name].__module__.split('.')[1] if name in ESTIMATORS else ''
    return 'papers' if package == 'papers' else 'core'


def _show(as_json: bool, title: str, columns: tuple[str, ...],
          rows: Sequence[tuple[str, ...]], markdown: bool = False) -> None:
    if as_json:
        emit({title: [dict(zip(columns, row)) for row in rows]})
        return
    if markdown:
        typer.echo(_markdown(columns, rows))
        return
    table = Table(title=title)
    for column in columns:
        table.add_column(column, no_wrap=column == 'name')
    for row in rows:
        table.add_row(*map(Text, row))    # brackets of formulas are no markup
    out.print(table)


def _markdown(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table in Markdown; the first column is code, bars are escaped."""
    cells = [[text.replace('|', '\\|') for text in row] for row in rows]
    lines = [columns, ['---'] * len(columns), *([f'`{row[0]}`', *row[1:]] for row in cells)]
    return '\n'.join(f"| {' | '.join(line)} |" for line in lines)
