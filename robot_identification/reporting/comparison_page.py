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
"""The page of two identifications side by side."""

from __future__ import annotations

import math

from robot_identification.reporting.comparison import Comparison, FrictionChange, LEVEL, TINY
from robot_identification.reporting.figures import (
    axis,
    Figure,
    layout,
    MEASURED,
    PREDICTED,
    trace,
)
from robot_identification.reporting.markup import (
    Cell,
    Html,
    join,
    number,
    percent,
    table,
    tag,
    unit,
)
from robot_identification.reporting.report import html_page
from robot_identification.reporting.sections.section import card, legend, Section


def comparison_page(found: Comparison) -> str:
    """
    Return the page as the text of one HTML file.

    Parameters
    ----------
    found
        What was compared.

    """
    sections = [_parameters(found), _friction(found), _errors(found)]
    links = [tag('a', section.title, href=f'#{section.anchor}') for section in sections]
    return html_page(
        _title(found), join(*links), join(_head(found), *(section.html for section in sections)),
        (figure for section in sections for figure in section.figures))


def sentence(found: Comparison) -> str:
    """Return what changed, in a sentence."""
    if not found.changed:
        return (f'None of {len(found.parameters)} parameters changed significantly: what differs '
                'may be chance.')
    parts = '; '.join(f'{joint}: {", ".join(names)}' for joint, names in found.joints.items())
    return (f'{len(found.changed)} of {len(found.parameters)} parameters changed significantly '
            f'({parts}).')


def _title(found: Comparison) -> str:
    return f'{found.arm}: {found.names[0]} and {found.names[1]}'


def _head(found: Comparison) -> Html:
    notes = tag('ul', *(tag('li', note) for note in found.notes)) if found.notes else ''
    return tag('section', tag('h1', _title(found)),
               tag('p', sentence(found), class_='lead'), notes, id='verdict')


def _parameters(found: Comparison) -> Section:
    rows = []
    for change in found.parameters:
        values = [Cell(join(number(value), tag('small', ' \u00b1 ', number(deviation, 2))),
                       value, True)
                  for value, deviation in zip(change.values, change.deviations)]
        rows.append([change.label, *values, Cell(percent(change.relative), change.relative, True),
                     Cell(number(change.p, 2) if change.p > TINY else f'< {TINY:g}',
                          change.p, True),
                     Cell(tag('span', 'changed' if change.changed else 'may be chance',
                              class_='bad' if change.changed else None), change.p),
                     unit(change.unit)])
    lead = (f'Base parameters of the free estimates with standard deviations. p is the chance of '
            f'so large a difference if nothing had changed, adjusted for {len(found.parameters)} '
            f'parameters (Holm); below {LEVEL:g} it counts as changed.')
    return Section('parameters', 'Parameters', lead, table(
        ['parameter', *found.names, 'change', 'p', '', 'unit'], rows, sortable=True))


def _friction(found: Comparison) -> Section:
    figures = [_figure(f'friction_{k}', change) for k, change in enumerate(found.friction)]
    cards = [card(change.element, figure.place, tag('p', _words(change), class_='hint'))
             for change, figure in zip(found.friction, figures)]
    key = legend((found.names[0], 'line', 'measured'), (found.names[1], 'line', 'predicted'))
    return Section('friction', 'Friction', 'Friction torque over velocity; in words, the mean of '
                   'both directions at a tenth and at half of the common speed.',
                   join(key, tag('div', *cards, class_='grid three')), tuple(figures))


def _words(change: FrictionChange) -> str:
    rate, letter = change.units
    return '; '.join(f'{speed:.2g} {rate}: {before:.3g} \u2192 {after:.3g} {letter}'
                     for speed, before, after in zip(change.speeds, *change.torques))


def _figure(name: str, change: FrictionChange) -> Figure:
    velocity, torque = ('m/s', 'force [N]') if change.linear else ('rad/s', 'torque [N m]')
    lines = [trace(curve[0], curve[1], colour, name=label, width=2)
             for curve, colour, label in zip(change.curves, (MEASURED, PREDICTED),
                                             ('first', 'second'))]
    return Figure(name, lines, layout(xaxis=axis(f'velocity [{velocity}]'),
                                      yaxis=axis(f'friction {torque}')),
                  height=240, label=f'friction of {change.element} in both identifications')


def _errors(found: Comparison) -> Section:
    rows = [[joint, *(Cell(percent(None if math.isnan(error) else error), error, True)
                      for error in pair)] for joint, pair in found.errors.items()]
    return Section('errors', 'Errors', 'Largest relative torque error on motion that was held '
                   'out, of each identification on its own recordings.',
                   table(['joint', *found.names], rows))
