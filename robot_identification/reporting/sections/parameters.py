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
"""Base and standard parameters against the URDF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.reporting.markup import (
    Cell,
    details,
    free_of_dust,
    Html,
    join,
    number,
    numeric,
    percent,
    table,
    tag,
    unit,
)
from robot_identification.reporting.sections.section import legend, Section
from robot_identification.reporting.stored_results import StoredResults
from robot_identification.reporting.strips import strip

LONG = 60
WORDS = {'alone': 'alone', 'combination': 'in combination', 'none': 'not at all'}


def base_parameters(results: StoredResults) -> Section:
    """
    Return the free estimate of the base parameters with confidence intervals.

    Parameters
    ----------
    results
        What was stored.

    """
    content = results.content
    level = f'{100 * content["confidence_level"]:g} %'
    estimate = content['estimate']
    lead = join('Torques depend only on certain combinations of masses, moments and friction; '
                'these base parameters are what data can determine. They are estimated freely, '
                f'here with their {level} confidence interval. The identified model (tick) is the '
                'physical model nearest to them, and predicts all torques of this report.')
    key = legend(('free estimate', 'dot', 'predicted'),
                 (f'{level} interval', 'line thick', 'interval'),
                 ('URDF', 'diamond', 'urdf'), ('identified model', 'tick', 'model'))
    hint = tag('p', 'Every strip has its own scale, zero in the middle. \u03c3 is the standard '
                    'deviation relative to the value: above 30 % a value says little. '
                    'A click on a head sorts.', class_='hint')
    drawn = content.get('bootstrap')
    rows = [_base_row(p, drawn is not None) for p in content['base_parameters']]
    more = [] if drawn is None else [f'{level} interval of the bootstrap', '\u03c3 of it']
    body = join(_state(estimate), tag('p', _bootstrap(drawn)) if drawn else '', key, hint, table(
        ['base parameter', 'value', level + ' interval', '\u03c3', *more, 'URDF', 'model', 'unit',
         'strip'], rows, sortable=True, class_='parameters'))
    return Section('base', 'Base parameters with confidence intervals', lead, body,
                   short='Base parameters')


def _state(estimate: Mapping[str, Any]) -> Html:
    good = estimate['status'] == 'ok'
    return tag('p', tag('b', estimate['estimator'].upper()), ': ', estimate['message'],
               f' ({estimate["rank"]} of {estimate["count"]}; condition number ',
               number(estimate['condition_number'], 3), f'; {estimate["iterations"]} rounds).',
               class_='state good' if good else 'state bad')


def _bootstrap(drawn: Mapping[str, Any]) -> str:
    against = str(drawn['against'])
    return (f'{against[0].upper()}{against[1:]}. Each resample is a fit of as many recordings, '
            'drawn with replacement: its percentiles know how recordings differ.')


def _base_row(p: Mapping[str, Any], drawn: bool) -> list[Cell | object]:
    value, deviation = p['value'], p['std']
    interval = _interval(value, deviation, p['lower'], p['upper'])
    scale = max(abs(value), deviation or 0.0)
    more = _interval(value, *(p[f'bootstrap_{name}'] for name in (
        'std', 'lower', 'upper'))) if drawn else []
    return [Cell(_combination(p), p['label']), numeric(value),
            *interval, *more,
            numeric(free_of_dust(p['urdf'], scale)), numeric(free_of_dust(p['model'], scale)),
            unit(p['unit']),
            Cell(strip(value, p['lower'], p['upper'], p['urdf'], p['model']), interval[-1].sort)]


def _interval(value: float, deviation: float | None, lower: float, upper: float) -> list[Cell]:
    """Return an interval and the deviation relative to the value."""
    determined = deviation is not None
    interval = (join(number(lower), ' \u2026 ', number(upper)) if determined
                else tag('span', 'not determined', class_='bad'))
    relative = abs(deviation / value) if deviation is not None and value else None
    return [Cell(interval, deviation, True), Cell(percent(relative, 2), relative, True)]


def _combination(p: Mapping[str, Any]) -> Html:
    label, combination = p['label'], p['combination']
    if combination == label:
        return tag('b', label)
    if len(combination) > LONG:
        return join(tag('b', label), details('\u2026', tag('code', combination)))
    return join(tag('b', label), tag('small', combination))


def standard_parameters(results: StoredResults) -> Section:
    """
    Return the standard parameters of the consistent model.

    Parameters
    ----------
    results
        What was stored.

    """
    rows, drawn = [], results.content.get('bootstrap')
    for p in results.content['standard_parameters']:
        value, deviation = p['value'], p['std'] or 0.0
        rows.append([
            Cell(join(p['element'], '.', tag('b', p['parameter'])), p['name']), numeric(value),
            numeric(p['std'], 2), *([numeric(p['bootstrap_std'], 2)] if drawn else []),
            numeric(p['urdf']), unit(p['unit']),
            Cell(tag('span', WORDS[p['identifiability']], class_=f'chip {p["identifiability"]}'),
                 p['identifiability']),
            Cell(strip(value, value - 1.96 * deviation, value + 1.96 * deviation, p['urdf']),
                 p['std'])])
    lead = ('The ten inertial parameters of each link about its joint frame, rotor inertias and '
            'friction, as the model and the identified URDF carry them. Torques determine only '
            'some of them alone; the others lean on the URDF, and their intervals hold only as '
            'far as the URDF is trusted.')
    key = legend(('identified model', 'dot', 'predicted'),
                 ('95 % of data and prior together', 'line thick', 'interval'),
                 ('URDF', 'diamond', 'urdf'))
    heads = ['standard parameter', 'value', 'std', *(['std, bootstrap'] if drawn else []), 'URDF',
             'unit', 'torques determine it', 'strip']
    body = join(key, details(f'Show all {len(rows)} parameters',
                             table(heads, rows, sortable=True, class_='parameters')))
    return Section('standard', 'Standard parameters', lead, body, short='Standard parameters')
