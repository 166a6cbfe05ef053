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
"""The HTML page and the JSON file of a study."""

from __future__ import annotations

from collections.abc import Mapping
import json
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.files import write_text
from robot_identification.reporting.contents import plain
from robot_identification.reporting.figures import axis, layout, PlotlyFigure, trace
from robot_identification.reporting.markup import Cell, Html, html_page, join, numeric, table, tag

STUDY_FILES = ('study.json', 'study.html')
COLOURS = ('#0067b1', '#d55e00', '#00795c', '#a05195', '#b3590a', '#6b7a90', '#c2185b', '#4c9ed9')

MARKS, DASHES = ('\u2501', '\u2505'), ('solid', 'dot')
"""Marks of lines in the legend and dashes in the plot; the second when the colours repeat."""


def write_study(contents: Mapping[str, Any], directory: str | Path) -> Path:
    """
    Write `study.html` and `study.json`.

    Parameters
    ----------
    contents
        `StudyResult.contents()`.
    directory
        Folder; it is created.

    """
    directory = Path(directory)
    write_text(directory / STUDY_FILES[0], json.dumps(plain(contents), indent=1, allow_nan=False))
    figures = [_figure(number, plot) for number, plot in enumerate(contents['plots'])]
    body = join(
        tag('section', tag('h1', contents['title']), tag('p', contents['reference']),
            *_warnings(contents), id='verdict'),
        *(_claims(contents, title, anchor, ours) for title, anchor, ours in (
            ('Claims of the paper', 'claims', False), ('Claims of this suite', 'ours', True))),
        *(_table(part, f'table-{number}') for number, part in enumerate(contents['tables'])),
        *(_section(plot['title'], f'plot-{number}', _legend(plot), figure.place,
                   class_='plot')
          for number, (plot, figure) in enumerate(zip(contents['plots'], figures))),
        _section('Settings', 'settings', table(('setting', 'value'), [
            (key, numeric(value, 5) if isinstance(value, (int, float)) else value)
            for key, value in contents['settings'].items()])),
        _section('Assumptions', 'assumptions', tag('ul', *(
            tag('li', line) for line in contents['assumptions']))))
    navigation = [tag('a', name, href=f'#{anchor}') for name, anchor in (
        ('Study', 'verdict'), ('Claims', 'claims'), ('Tables', 'table-0'), ('Plots', 'plot-0'),
        ('Settings', 'settings'), ('Assumptions', 'assumptions'))]
    write_text(directory / STUDY_FILES[1],
               html_page(contents['title'], join(*navigation), body, figures))
    return directory / STUDY_FILES[1]


def _warnings(contents: Mapping[str, Any]) -> list[Html]:
    lines = [tag('p', note) for note in contents['notes']]
    if contents['quick']:
        lines.append(tag('p', tag('b', 'A quick run: its figures mean little.')))
    lines.append(tag('p', f'Computed in {contents["seconds"]:.0f} s. Everything marked "computed '
                          'here" comes from a simulated arm; what the paper printed is marked as '
                          'such.'))
    return lines


def _claims(contents: Mapping[str, Any], title: str, anchor: str, ours: bool) -> Html:
    rows = [(c['claim'], tag('b', c['verdict']), numeric(c['effect'], 3), numeric(c['p'], 2),
             Cell(', '.join(map(str, dict.fromkeys(c['n']))), None, True), c['evidence'])
            for c in contents['claims'] if c['ours'] == ours]
    return _section(title, anchor, table(
        ('claim', 'here', 'effect', 'p', 'n', 'evidence'), rows)) if rows else Html()


def _section(title: str, anchor: str, *children: object, class_: str | None = None) -> Html:
    return tag('section', tag('h2', title), *children, id=anchor, class_=class_)


def _table(part: Mapping[str, Any], anchor: str) -> Html:
    columns = [any(isinstance(cell, (int, float)) for cell in column)
               for column in zip(*part['rows'])]
    rows = [[_cell(cell, is_numeric) for cell, is_numeric in zip(row, columns)]
            for row in part['rows']]
    return _section(part['title'], anchor, tag('p', tag('b', part['source'])),
                    table(part['heads'], rows), tag('p', part['note']) if part['note'] else '')


def _cell(cell: str | float | None, is_numeric: bool) -> Cell | str:
    if isinstance(cell, (int, float)) or cell is None:
        return numeric(cell)
    return numeric(None) if is_numeric and cell == '-' else Cell(cell, None, is_numeric)


def _legend(plot: Mapping[str, Any]) -> Html:
    return tag('p', *(tag('span', f'{MARKS[i // len(COLOURS) % 2]} {line["name"]}  ',
                          style=f'color:{COLOURS[i % len(COLOURS)]}')
                      for i, line in enumerate(plot['lines'])))


def _figure(number: int, plot: Mapping[str, Any]) -> PlotlyFigure:
    data = [trace(np.asarray(line['x'], dtype=float), np.asarray(line['y'], dtype=float),
                  COLOURS[i % len(COLOURS)], name=line['name'],
                  dash=DASHES[i // len(COLOURS) % 2])
            for i, line in enumerate(plot['lines'])]
    kind = 'log' if plot['log'] else 'linear'
    return PlotlyFigure(f'figure-{number}', data, layout(
        xaxis=axis(plot['x'], type=kind), yaxis=axis(plot['y'], type=kind)), 320,
                  label=plot['title'])
