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
"""What physical consistency costs."""

from __future__ import annotations

from robot_identification.reporting.markup import bar, Cell, join, number, percent, table, tag
from robot_identification.reporting.sections.section import Section
from robot_identification.reporting.stored_results import StoredResults


def feasibility(results: StoredResults) -> Section:
    """
    Return the residuals of the free estimate and of the consistent model side by side.

    Parameters
    ----------
    results
        What was stored.

    """
    consistent = results.content['consistent']
    free, bound = consistent['free_residual_rms'], consistent['residual_rms']
    rows = []
    for joint, unit in zip(results.joints, results.units('torque')):
        top = max(free[joint] or 0.0, bound[joint] or 0.0) or 1.0
        cost = bound[joint] / free[joint] - 1 if free[joint] else None
        rows.append([
            joint,
            Cell(join(bar((free[joint] or 0.0) / top), number(free[joint], 3), f' {unit}'),
                 free[joint]),
            Cell(join(bar((bound[joint] or 0.0) / top), number(bound[joint], 3), f' {unit}'),
                 bound[joint]),
            Cell(join('+' if (cost or 0) > 0 else '', percent(cost, 2)), cost, True)])
    active = consistent['active']
    if active:
        edge = tag('p', 'At the edge of what is physical: ', tag('b', ', '.join(active)),
                   '. There the data ask for something that no matter can do: the motion does not '
                   'determine it well, or an effect is missing in the model.')
    else:
        edge = tag('p', 'No link and no friction parameter is at the edge of what is physical.')
    lead = join('A free fit may find negative masses if that explains noise a little better. The '
                'model may not, and leaves ', percent(consistent['cost'], 2), ' more residual on '
                'the training motion (RMS over all joints, each in units of its noise). Much more '
                'than a few per cent means that the free fit explains noise, or that the model '
                'structure lacks something.')
    return Section('feasibility', 'What being physical costs', lead,
                   join(table(['joint', 'residual of the free estimate (RMS)',
                               'of the identified model', 'cost'], rows, sortable=True), edge),
                   short='Feasibility')
