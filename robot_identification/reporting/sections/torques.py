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
"""Measured against predicted torque."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.reporting.figures import (
    axis,
    Figure,
    layout,
    MEASURED,
    PREDICTED,
    RESIDUAL,
    trace,
)
from robot_identification.reporting.markup import (
    details,
    file_name,
    Html,
    join,
    number,
    percent,
    tag,
)
from robot_identification.reporting.sections.section import card, legend, Section
from robot_identification.reporting.stored_results import StoredResults


def torques(results: StoredResults) -> Section:
    """
    Return measured and predicted torque of each joint with the residual below.

    Parameters
    ----------
    results
        What was stored.

    """
    held_out, fitted = results.content['verdict']['held_out'], results.content['fit']
    parts: list[Html] = []
    figures: list[Figure] = []
    for kind, evaluations in (('held_out', held_out), ('fit', fitted)):
        for k, evaluation in enumerate(evaluations):
            first = not parts
            grid, drawn = _grid(results, f'{kind}_{k}', evaluation)
            figures += drawn
            title = _title(kind, evaluation)
            parts.append(join(tag('h3', title), grid) if first else details(title, grid))
    if any(not h['repeat'] for h in held_out):
        lead = ('What the sensors measured, what the model says, and the difference, on motion '
                'that was not fitted. A good residual looks like noise; one that follows the '
                'motion is dynamics that the model lacks.')
    else:
        lead = ('What the sensors measured, what the model says, and the difference, on motion '
                'that the model was fitted to: it says little about any other motion.')
    key = legend(('measured', 'line thick', 'measured'), ('predicted', 'line', 'predicted'),
                 ('residual = measured \u2212 predicted', 'area', 'residual'))
    hint = tag('p', 'Drag to zoom, all joints follow; double-click to see everything again.',
               class_='hint screen')
    return Section('torques', 'Measured and predicted torque', lead, join(key, hint, *parts),
                   tuple(figures), 'Torques')


def _title(kind: str, evaluation: Mapping[str, Any]) -> Html:
    name = tag('b', file_name(evaluation['name']))
    if kind == 'fit':
        return join(name, tag('span', 'training motion, fitted', class_='chip'))
    chip = ('repeats the training motion' if evaluation['repeat'] else 'held out')
    return join(name, tag('span', chip, class_='chip'))


def _grid(results: StoredResults, name: str,
          evaluation: Mapping[str, Any]) -> tuple[Html, list[Figure]]:
    cards, figures = [], []
    for j, (joint, unit) in enumerate(zip(results.joints, results.units('torque'))):
        figure = _figure(results, name, j, unit)
        figures.append(figure)
        e = evaluation['joints'][joint]
        note = join('error ', percent(e['relative_error']), ', RMSE ', number(e['rmse'], 3),
                    f' {unit}')
        cards.append(card(joint, figure.place, note=note))
    return tag('div', *cards, class_='grid two'), figures


def _figure(results: StoredResults, name: str, j: int, unit: str) -> Figure:
    t, measured, predicted = results.arrays[f'{name}_joint_{j}']
    t = t - t[0]
    data = [trace(t, measured, MEASURED, name='measured', width=4),
            trace(t, predicted, PREDICTED, name='predicted', width=1.3),
            trace(t, measured - predicted, RESIDUAL, name='residual', width=1, axis=2,
                  fill='tozeroy', fillcolor='var(--residual-fill)')]
    return Figure(
        f'{name}_torque_{j}', data,
        layout(xaxis=axis('time [s]'),
               yaxis=axis(f'torque [{unit}]' if unit == 'N m' else f'force [{unit}]',
                          domain=[0.36, 1]),
               yaxis2=axis(f'residual [{unit}]', domain=[0, 0.27], nticks=4, size=10)),
        height=310, link=name, label='measured and predicted torque over time')
