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
"""The index page of a fleet: robots by verdict, error and drift, with charts over recordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.files import write_text
from robot_identification.fleet.database import Database
from robot_identification.fleet.drift import PAYLOAD
from robot_identification.reporting.figures import axis, layout, PlotlyFigure, trace
from robot_identification.reporting.markup import Html, html_page, join, tag, text
from robot_identification.reporting.pages import percent

INDEX = 'index.html'
ORDER = ('broken', 'failed', 'not validated', 'passed')
CERTAIN = 3.0
"""Standard deviations from which a drift counts."""
CHARTS = 200
"""Robots with charts: those of most drift. A page of ten thousand charts helps nobody."""
COLOURS = ('var(--measured)', 'var(--predicted)', 'var(--residual)', 'var(--limit)')


def write_index(database: Database, folder: Path,
                missing: Mapping[str, str] | None = None) -> Path:
    """
    Write the page.

    Parameters
    ----------
    database
        The results.
    folder
        Where the folders of the robots are.
    missing
        Robots that a run did not come to, with a sentence each.

    """
    robots = database.rows('SELECT * FROM latest')
    drifts = database.drift()
    broken = database.rows(
        'SELECT robot, source, r.sentence FROM recording AS r JOIN latest AS i '
        "ON r.identification = i.id WHERE r.state = 'broken' ORDER BY robot, number")
    worst = {row['id']: worst_drift(drifts.get(row['id'], ())) for row in robots}
    robots.sort(key=lambda row: (ORDER.index(row['state']), -(row['error'] or 0.0),
                                 -worst[row['id']][0], row['robot']))
    drifting = sorted(robots, key=lambda row: -worst[row['id']][0])[:CHARTS]
    charts = [(row, figure) for row in drifting
              for figure in _charts(row['id'], drifts.get(row['id'], ()))]
    counts = ', '.join(f'{sum(row["state"] == state for row in robots)} {state}'
                       for state in reversed(ORDER))
    counts += f'; {len(missing)} not done' if missing else ''
    body = join(
        tag('h1', 'Fleet'), tag('p', f'{len(robots)} robots: {counts}.', class_='lead'),
        tag('section', tag('h2', 'Robots that are not done'), tag(
            'p', 'What is shown of them elsewhere is from before they changed. The next run does '
            'them.'), _sentences(missing.items()), id='missing') if missing else '',
        tag('section', _table(robots, worst), id='robots'),
        tag('section', tag('h2', 'Recordings that could not be used'), _sentences(
            (row['robot'], row['source'], row['sentence']) for row in broken),
            id='broken') if broken else '',
        tag('section', tag('h2', 'Drift'), tag(
            'p', 'Friction of each joint relative to that of the model, and a mass at the last '
            'joint, of one recording after the other in the order of the fleet file.'),
            *(join(tag('h3', row['robot'], ', ', 'payload' if figure.name.endswith('payload')
                       else 'friction'), figure.place) for row, figure in charts), id='drift'))
    navigation = join(*(tag('a', name, href=f'#{anchor}') for name, anchor in
                        (('Robots', 'robots'), ('Drift', 'drift'))))
    write_text(folder / INDEX, html_page('Fleet', navigation, body,
                                         (figure for _, figure in charts)))
    return folder / INDEX


def worst_drift(rows: Sequence[Mapping[str, Any]]) -> tuple[float, str]:
    """
    Return the largest drift in standard deviations, 0 where none is certain, and its words.

    Parameters
    ----------
    rows
        Rows of the table `drift`.

    """
    best, words = 0.0, ''
    for row in rows:
        change, spread = row['change'], row['change_deviation']
        if not change or not spread or abs(change) / spread < max(CERTAIN, best):
            continue
        best = abs(change) / spread
        size = (f'{change:+.3g} kg' if row['quantity'] == PAYLOAD else f'{change:+.1%}')
        words = f'{row["quantity"]} {size} at recording {row["recording"] + 1}'
    return best, words


def _table(robots: Sequence[Mapping[str, Any]], worst: Mapping[int, tuple[float, str]]) -> Html:
    rows = []
    for row in robots:
        significance, words = worst[row['id']]
        link = (text(row['robot']) if row['state'] == 'broken' else
                tag('a', row['robot'], href=f'{row["robot"]}/report.html'))
        rows.append(tag(
            'tr', tag('td', link), tag('td', row['arm']), tag('td', row['state']),
            tag('td', percent(row['error'])),
            tag('td', f'{words} ({significance:.0f} deviations)' if words else 'none certain'),
            tag('td', row['sentence'], class_='sentence'),
            tag('td', row['finished'].removesuffix('+00:00').replace('T', ' '))))
    heads = ('robot', 'arm', 'verdict', 'error', 'drift', 'in words', 'identified (UTC)')
    return tag('div', tag('table', tag('thead', tag('tr', *(tag('th', head) for head in heads))),
                          tag('tbody', *rows)), class_='scroll')


def _sentences(rows: Iterable[tuple[str, ...]]) -> Html:
    """Return a table whose last column has sentences."""
    return tag('div', tag('table', tag('tbody', *(
        tag('tr', *(tag('td', name) for name in names), tag('td', sentence, class_='sentence'))
        for *names, sentence in rows))), class_='scroll')


def _charts(number: int, rows: Sequence[Mapping[str, Any]]) -> list[PlotlyFigure]:
    """Return a chart of friction and one of payload; none where there are too few recordings."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        lines.setdefault(row['quantity'], []).append((row['recording'] + 1.0, row['value']))
    figures = []
    for kind, chosen, unit in (('friction', [n for n in lines if n != PAYLOAD], 'of the model'),
                               ('payload', [n for n in lines if n == PAYLOAD], 'kg')):
        data = []
        for k, name in enumerate(chosen):
            x, y = np.array(lines[name]).T
            if len(x) > 1:
                data.append(trace(x, y, COLOURS[k % len(COLOURS)], name=name))
        if data:
            figures.append(PlotlyFigure(
                f'drift_{number}_{kind}', data,
                layout(xaxis=axis('recording'), yaxis=axis(f'{kind} [{unit}]')), height=220,
                label=f'{kind} over recordings'))
    return figures
