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
"""The motion, and how much of the limits it uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from robot_identification.reporting.figures import (
    axis,
    Figure,
    layout,
    LIMIT,
    PREDICTED,
    trace,
)
from robot_identification.reporting.markup import (
    bar,
    Cell,
    details,
    file_name,
    Html,
    join,
    number,
    percent,
    table,
    tag,
    unit,
)
from robot_identification.reporting.sections.section import card, legend, Section
from robot_identification.reporting.stored_results import StoredResults

QUANTITIES = ('position', 'velocity', 'acceleration')


def motion(results: StoredResults) -> Section:
    """
    Return the excitation, or the recorded motion, against the limits.

    Parameters
    ----------
    results
        What was stored.

    """
    content = results.content['motion']
    cards, figures = [], []
    for j, joint in enumerate(results.joints):
        figure = _figure(results, content, j)
        figures.append(figure)
        cards.append(card(joint, figure.place))
    if content['kind'] == 'designed':
        title, lead = 'Excitation', _designed(content)
    else:
        title = 'Recorded motion and limits'
        lead = join('The motion that was fitted (', tag('b', file_name(content['name'])),
                    '), as processed. The more of its ranges a joint uses, and the more '
                    'differently from the other joints, the better its parameters are '
                    'determined.')
    key = legend(('motion', 'line', 'predicted'), ('limit', 'dash', 'limit'))
    notes = [tag('li', note) for note in content.get('notes', ())]
    body = join(_table(results, content), tag('ul', *notes) if notes else '', details(
        'Show positions, velocities and accelerations', key,
        tag('div', *cards, class_='grid three'), open_=content['kind'] == 'designed'))
    return Section('motion', title, lead, body, tuple(figures), 'Motion')


def _designed(content: Mapping[str, Any]) -> Html:
    shape = content['trajectory']
    return join(f'{shape["kind"].upper()} trajectory with {shape["harmonics"]} harmonics of ',
                number(shape['period']), ' s, designed for the criterion ',
                tag('b', content['criterion']), ' = ', number(content['value']),
                '; condition number ', number(content['condition_number']),
                f' with {content["rank"]} base parameters, found in ',
                number(content['seconds'], 3), f' s with the seed {content["seed"]}: '
                f'{content["status"]}. The shares of the limits below hold at any time, not only '
                'at samples.')


def _table(results: StoredResults, content: Mapping[str, Any]) -> Html:
    limits, rows = content['limits'], []
    units = {quantity: [unit(u) for u in results.units(quantity)] for quantity in QUANTITIES}
    for j, joint in enumerate(results.joints):
        cells: list[Cell | object] = [joint]
        for quantity in QUANTITIES:
            used = content['usage'][quantity][j]
            if quantity == 'position':
                lower, upper = limits['lower'][j], limits['upper'][j]
                limit = join(number(lower, 3), ' \u2026 ', number(upper, 3))
                known = lower is not None and upper is not None
            else:
                limit = join('\u00b1', number(limits[quantity][j], 3))
                known = limits[quantity][j] is not None
            shown = (join(bar(used, tone='bad' if (used or 0) > 1 else 'plain'), percent(used, 3),
                          tag('small', ' of ', limit, f' {units[quantity][j]}'))
                     if known else tag('small', 'no limit known'))
            cells.append(Cell(shown, used))
        rows.append(cells)
    return table(['joint', 'position used', 'velocity used', 'acceleration used'], rows,
                 sortable=True)


def _figure(results: StoredResults, content: Mapping[str, Any], j: int) -> Figure:
    t, *signals = results.arrays[f'motion_{j}']
    t = t - t[0]
    limits = content['limits']
    bounds = [(limits['lower'][j], limits['upper'][j])] + [
        (None if limits[name][j] is None else -limits[name][j], limits[name][j])
        for name in ('velocity', 'acceleration')]
    data: list[dict[str, Any]] = []
    axes = {}
    for k, (quantity, signal, bound) in enumerate(zip(QUANTITIES, signals, bounds)):
        data.append(trace(t, signal, PREDICTED, name=quantity, axis=k + 1))
        data += [trace(t[[0, -1]], np.full(2, limit), LIMIT, name='limit', width=1.2, dash='dash',
                       axis=k + 1, hoverinfo='skip') for limit in bound if limit is not None]
        top = 1 - k * 0.35
        axes[f'yaxis{k + 1 if k else ""}'] = axis(
            f'{"qva"[k]} [{unit(results.units(quantity)[j])}]', domain=[round(top - 0.29, 3), top],
            nticks=4)
    return Figure(f'motion_{j}', data, layout(xaxis=axis('time [s]'), **axes),
                  height=380, link='motion', label='position, velocity, acceleration over time')
