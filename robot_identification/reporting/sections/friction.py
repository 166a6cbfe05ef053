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
"""Friction curves with the data behind them, and what drives add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from robot_identification.reporting.figures import (
    axis,
    Figure,
    layout,
    LIMIT,
    MEASURED,
    PREDICTED,
    rounded,
    trace,
)
from robot_identification.reporting.markup import Cell, Html, join, number, table, tag, unit
from robot_identification.reporting.sections.section import card, legend, Section
from robot_identification.reporting.stored_results import StoredResults


def friction(results: StoredResults) -> Section:
    """
    Return the friction curve of each joint and coupled drive, and their parameters.

    Parameters
    ----------
    results
        What was stored.

    """
    content = results.content['friction']
    cards, figures = [], []
    for e, (element, values) in enumerate(content['elements'].items()):
        figure = _figure(results, e, values['rotor_inertia']['unit'] == 'kg')
        figures.append(figure)
        cards.append(card(element, figure.place))
    key = legend(('model', 'line', 'predicted'), ('data: median and quartiles in bins of velocity',
                 'dot', 'limit'), ('data: single samples', 'dot faint', 'measured'))
    lead = join('Friction model ', tag('b', content['model']), ': ',
                tag('code', content['formula']), '. The data are the measured torque minus '
                'everything in the model but this friction, unfiltered; where their medians leave '
                'the line, the friction model is too simple or another part of the model is '
                'wrong.')
    body = join(key, tag('div', *cards, class_='grid three'), tag('h3', 'Friction and rotors'),
                tag('p', 'Rotor inertia is what the motor adds behind its gear. \u00b1 is the '
                         'standard deviation of data and prior together.', class_='hint'),
                _table(content, results.content['consistent']['active']))
    return Section('friction', 'Friction and drives', lead, body, tuple(figures), 'Friction')


def _figure(results: StoredResults, e: int, linear: bool) -> Figure:
    curve, data, bins = (results.arrays[f'friction_{e}_{part}']
                         for part in ('curve', 'data', 'bins'))
    points = trace(data[0], data[1], MEASURED, name='sample')
    points |= {'mode': 'markers', 'marker': {'color': MEASURED, 'size': 3, 'opacity': 0.35},
               'hoverinfo': 'skip'}
    middle = trace(bins[0], bins[1], LIMIT, name='median of the data')
    middle |= {'mode': 'markers',
               'marker': {'color': 'var(--card)', 'size': 7,
                          'line': {'color': LIMIT, 'width': 2}},
               'error_y': {'color': LIMIT, 'thickness': 1.4,
                           'array': rounded(bins[3] - bins[1]),
                           'arrayminus': rounded(bins[1] - bins[2])}}
    velocity, torque = ('m/s', 'force [N]') if linear else ('rad/s', 'torque [N m]')
    return Figure(
        f'friction_{e}', [points, trace(curve[0], curve[1], PREDICTED, name='model', width=2.5),
                          middle],
        layout(xaxis=axis(f'velocity [{velocity}]'),
               yaxis=axis(f'friction {torque}', range=_range(curve[1], data[1], bins))),
        height=260, label='friction torque over velocity')


def _range(curve: np.ndarray, data: np.ndarray, bins: np.ndarray) -> list[float]:
    """Return a range that a few wild samples do not blow up."""
    values = np.concatenate([curve, np.percentile(data, [1, 99]), bins[2:].ravel()])
    low, high = float(values.min()), float(values.max())
    room = 0.06 * (high - low) or 1.0
    return [round(low - room, 6), round(high + room, 6)]


def _table(content: Mapping[str, Any], active: Sequence[str]) -> Html:
    elements = content['elements']
    names = list(dict.fromkeys(name for values in elements.values()
                               for name in values['parameters']))
    rows = []
    for element, values in elements.items():
        rotor = values['rotor_inertia']
        cells: list[Cell | object] = [element]
        cells += [_cell(values['parameters'][name], f'{element}.{name}' in active)
                  if name in values['parameters'] else '\u2013' for name in names]
        cells.append(_cell(rotor, f'{element}.rotor_inertia' in active))
        cells.append(Cell(number(rotor['nominal']), rotor['nominal'], True))
        rows.append(cells)
    return table(['joint or drive', *names, 'rotor inertia', 'robot file says'], rows,
                 sortable=True)


def _cell(entry: Mapping[str, Any], bound: bool) -> Cell:
    if bound:
        return Cell(join('\u2248\u20090', tag('small', ' at its bound')), entry['value'], True)
    shown = join(number(entry['value']), tag('small', ' \u00b1 ', number(entry['std'], 2)),
                 tag('small', f' {unit(entry["unit"])}'))
    return Cell(shown, entry['value'], True)
