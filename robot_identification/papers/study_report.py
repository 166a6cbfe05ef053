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
"""Output files of a study: an HTML page and a JSON file."""

from collections.abc import Mapping, Sequence
import json
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.output_folder import replace_files
from robot_identification.papers.studies.study import PAPER
from robot_identification.reporting.figure import Curve, Figure, Panel, SERIES
from robot_identification.reporting.pages import render_page
from robot_identification.reporting.results_dict import plain

STUDY_FILES = ('study.json', 'study.html')
HIGHLIGHTED = 4
"""Number of curves with a colour; more cannot be told apart by everybody."""
OTHERS = 'var(--muted)'
QUARTILES = ('least', 'lower quartile', 'median', 'upper quartile', 'largest')
"""Heads of five columns, or of the middle three, that the page shows as one, with a box."""
WIDE = 50.0
"""Ratio of the largest to the least number above which boxes have a logarithmic scale."""


def write_study(contents: Mapping[str, Any], directory: str | Path) -> Path:
    """
    Write `study.html` and `study.json` of a study.

    Parameters
    ----------
    contents
        Results from `StudyResult.contents()`.
    directory
        Output folder, which is created if it does not exist.

    Returns
    -------
    Path
        Path of the HTML page.

    """
    directory = Path(directory)
    tables = [{**table, 'numeric': [any(not isinstance(value, str | None) for value in column)
                                    for column in zip(*table['rows'])]}
              for table in map(_with_boxes, _beside_printed(contents['tables']))]
    plots = [_plot(k, plot) for k, plot in enumerate(contents['plots'])]
    texts = (json.dumps(plain(contents), indent=1, allow_nan=False),
             render_page('study.html', 'robot_identification.papers', study=contents,
                         tables=tables, plots=plots))
    with replace_files(directory) as folder:
        for name, text in zip(STUDY_FILES, texts):
            (folder / name).write_text(text, encoding='utf-8')
    return directory / STUDY_FILES[1]


def _plot(k: int, plot: Mapping[str, Any]) -> Figure:
    """Return a figure whose first curves have colours and whose other ones are grey."""
    curves = []
    for i, line in enumerate(plot['lines']):
        x, y = (np.asarray(line[axis], dtype=float) for axis in 'xy')
        first = i < HIGHLIGHTED
        curves.append(Curve(line['name'], x, y, SERIES[i] if first else OTHERS,
                            1.8 if first else 1.0))
    panel = Panel(plot['y'], tuple(curves[::-1]), log=plot['log'] or plot.get('log_y', False))
    return Figure(f'figure-{k}', plot['title'], plot['x'], (panel,), 340,
                  description=f'{plot["y"]} over {plot["x"]}', log_x=plot['log'])


def _beside_printed(tables: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """
    Return tables in which the paper's numbers stand below ours.

    A printed table goes into that table of ours with the same first head and most of its heads and
    row names; its other columns follow at the end. Without such a table it remains.
    """
    shown = {k: table for k, table in enumerate(tables) if table['source'] != PAPER}
    for k, printed in enumerate(tables):
        if printed['source'] != PAPER:
            continue
        shared = {j: _shared(table, printed) for j, table in shown.items()
                  if table['source'] != PAPER and 'printed' not in table}
        best = max(shared, key=lambda j: shared[j], default=None)
        if best is None or not (all(shared[best]) or shared[best][1] > 1):
            shown[k] = printed
        else:
            shown[best] = _merged(shown[best], printed)
    return [shown[k] for k in sorted(shown)]


def _shared(ours: Mapping[str, Any], printed: Mapping[str, Any]) -> tuple[int, int]:
    """Return the numbers of heads and of row names that two tables share."""
    if ours['heads'][0] != printed['heads'][0]:
        return 0, 0
    return (len(set(ours['heads'][1:]) & set(printed['heads'][1:])),
            len({str(row[0]) for row in ours['rows']} & {str(row[0]) for row in printed['rows']}))


def _merged(ours: Mapping[str, Any], printed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return our table with the printed numbers of rows and columns of the same name."""
    names = {str(row[0]): row for row in printed['rows']}
    extra = [k for k, head in enumerate(printed['heads']) if head not in ours['heads']]
    rows = []
    for row in ours['rows']:
        other = names.get(str(row[0]))
        cells = [row[0]]
        for head, value in zip(ours['heads'][1:], row[1:]):
            if other is not None and head in printed['heads'][1:]:
                value = {'here': value, 'paper': other[printed['heads'].index(head)]}
            cells.append(value)
        rows.append([*cells, *(None if other is None else other[k] for k in extra)])
    return {**ours, 'rows': rows, 'printed': printed['title'],
            'heads': [*ours['heads'], *(f'printed: {printed["heads"][k]}' for k in extra)],
            'note': ' '.join(filter(None, (ours['note'], printed['note'])))}


def _with_boxes(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a table in which one column with a box replaces three or five of quartiles."""
    heads = table['heads']
    stems = [head.split(' [')[0].removesuffix(' excess').split(', ')[-1] for head in heads]
    start, count = next(((k, len(names)) for names in (QUARTILES, QUARTILES[1:4])
                         for k in range(len(stems)) if tuple(stems[k:k + len(names)]) == names),
                        (-1, 0))
    if not count:
        return table
    own, middle = slice(start, start + count), start + count // 2
    known = [all(isinstance(x, (int, float)) for x in row[own]) for row in table['rows']]
    values = np.array([np.pad(np.array(row[own], dtype=float), (5 - count) // 2, 'edge')
                       if each else np.full(5, np.nan)
                       for row, each in zip(table['rows'], known)])
    low, high = float(np.nanmin(values, initial=np.inf)), float(np.nanmax(values, initial=0.0))
    log = low > 0 and high / low > WIDE
    scaled = np.log(values / low) if log else values - low
    places = 100 * scaled / (np.nanmax(scaled, initial=0.0) or 1.0)
    rows = [[*row[:start], {'median': row[middle], 'box': [round(x, 1) for x in place],
                            'range': (row[start], row[own.stop - 1])} if each else row[middle],
             *row[own.stop:]] for row, place, each in zip(table['rows'], places.tolist(), known)]
    note = ('The box spans the quartiles' + ', the line the least and largest values' * (count > 3)
            + ', on a logarithmic scale' * log + '.')
    group = heads[start].rpartition(', ')[0]
    return {**table, 'rows': rows, 'note': f'{note} {table["note"]}',
            'heads': [*heads[:start], f'{group}, median' if group else heads[middle],
                      *heads[own.stop:]]}
