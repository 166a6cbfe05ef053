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
"""What the model is worth at work."""

from __future__ import annotations

from robot_identification.reporting.markup import Cell, join, number, table, tag
from robot_identification.reporting.sections.section import Section
from robot_identification.reporting.stored_results import StoredResults

NAMES = {'without': 'without', 'urdf': "the URDF's", 'identified': "the identified model's"}


def work(results: StoredResults) -> Section | None:
    """
    Return tracking errors and contact forces, where they were measured.

    Parameters
    ----------
    results
        What was stored.

    """
    content = results.content.get('at_work')
    if content is None:
        return None
    rows = []
    for joint, name in zip(results.joints, results.units('position')):
        errors = [content['tracking'][kind][joint] for kind in NAMES]
        rows.append([joint, *(Cell(number(1e3 * x, 3), x, True) for x in errors), f'm{name}'])
    contact = [[NAMES[kind], Cell(number(found['force'], 3), found['force'], True),
                Cell(number(found['alarms']), found['alarms'], True)]
               for kind, found in content['contact'].items()]
    hint = tag('p', f'Median over poses and directions at one false alarm an hour, as the '
               f'residual of {content["seconds"]:.0f} s without contact lets expect; alarms of as '
               f'long a motion without contact.', class_='hint')
    body = join(
        table(['joint', *NAMES.values(), 'unit'], rows,
              sortable=True),
        tag('h3', 'Smallest contact force on the tool'), hint,
        table(['observer with torques of', 'force [N]', 'false alarms'], contact, sortable=False))
    lead = ('Root mean square errors of a fast motion on the simulated arm, under the same soft '
            'PD gains without feed-forward, with the torques of the URDF, and with those of the '
            'identified model.')
    return Section('work', 'The model at work', lead, body, short='At work')
