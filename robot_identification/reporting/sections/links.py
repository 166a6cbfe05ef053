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
"""Mass, centre of mass and inertia of each link, with the certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.reporting.markup import (
    Cell,
    free_of_dust,
    Html,
    join,
    number,
    table,
    tag,
)
from robot_identification.reporting.sections.section import Section
from robot_identification.reporting.stored_results import StoredResults

MOMENTS = ('Ixx', 'Iyy', 'Izz', 'Ixy', 'Ixz', 'Iyz')


def links(results: StoredResults) -> Section:
    """
    Return what each link is like, beside what the URDF says.

    Parameters
    ----------
    results
        What was stored.

    """
    rows = []
    for link in results.content['links']:
        now, before = link['identified'], link['urdf']
        rows.append([Cell(tag('b', link['joint']), link['joint']),
                     *_cells(now, before),
                     _pair(link['certificate'], link['urdf_certificate'],
                           class_='good' if (link['certificate'] or 0) > 0 else 'bad')])
    heads = ['link of joint', _head('mass', 'kg'), *(_head(f'c{x}', 'm') for x in 'xyz'),
             *(_head(name, 'kg m\u00b2') for name in MOMENTS), _head('\u03bb min', '> 0')]
    lead = ('Identified above, URDF below in grey. Centres of mass in the joint frame, inertias '
            'about the centre of mass, with everything fixed to the link. A link is physical when '
            'the smallest eigenvalue \u03bb min of its pseudo-inertia is positive: then some '
            'distribution of positive mass has exactly these values.')
    return Section('links', 'Links: mass, centre of mass, inertia', lead,
                   table(heads, rows, class_='links'), short='Links')


def _head(name: str, unit: str) -> Html:
    return join(name, ' ', tag('small', f'[{unit}]'))


def _cells(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[Cell]:
    cells = [_pair(now['mass'], before['mass'])]
    for axis in range(3):
        cells.append(_pair(now['com'] and now['com'][axis], before['com'] and before['com'][axis]))
    moments = [_moments(body) for body in (now, before)]
    return cells + [_pair(*pair) for pair in zip(*moments)]


def _moments(body: Mapping[str, Any]) -> list[float | None]:
    inertia = body['inertia']
    if inertia is None:
        return [None] * len(MOMENTS)
    scale = max(abs(x) for x in inertia.values())
    return [free_of_dust(inertia[name], scale) for name in MOMENTS]


def _pair(value: float | None, urdf: float | None, class_: str | None = None) -> Cell:
    shown = join(tag('span', number(value, 3), class_=class_),
                 tag('span', number(urdf, 3), class_='before'))
    return Cell(shown, value, True)
