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
"""Where everything comes from."""

from __future__ import annotations

from robot_identification.reporting.markup import Cell, join, number, numeric, table, tag
from robot_identification.reporting.sections.section import Section
from robot_identification.reporting.stored_results import StoredResults


def provenance(results: StoredResults) -> Section:
    """
    Return recordings, fingerprint, versions and files.

    Parameters
    ----------
    results
        What was stored.

    """
    content = results.content
    arm = content['arm']
    recordings = [[r['name'] or 'without a name', 'fit', numeric(r['seconds']),
                   numeric(r['rate_hz']), Cell(str(r['samples']), r['samples'], True)]
                  for r in content['recordings']]
    recordings += [[h['name'] or 'without a name',
                    'repeat of the training motion' if h['repeat'] else 'held out',
                    numeric(h['seconds']), Cell(''), Cell(f'{h["rows"]} rows', h['rows'], True)]
                   for h in content['verdict']['held_out']]
    effort = arm['effort']
    meaning = 'torque at the joints' if effort is None else (
        f'{effort["quantity"]} on the {effort["side"]} side, sign {effort["sign"]:+d}, gravity '
        f'{"compensated" if effort["gravity_compensated"] else "not compensated"}')
    gravity = join(*(number(g) for g in arm['gravity']), separator=', ')
    facts = [('arm', arm['name']), ('URDF, SHA-256', tag('code', arm['urdf_sha256'])),
             ('gravity', join(gravity, ' m/s\u00b2')),
             ('locked joints', ', '.join(arm['locked']) or 'none'), ('effort means', meaning),
             ('written', content['created']),
             ('versions', ', '.join(f'{k} {v}' for k, v in content['software'].items())),
             ('files beside this report', ', '.join(results.files))]
    body = join(table(['recording', 'used for', 'used [s]', 'rate [Hz]', 'samples'], recordings),
                tag('dl', *(join(tag('dt', name), tag('dd', value)) for name, value in facts)))
    lead = 'A figure counts only with the data, the split and the filter named.'
    return Section('provenance', 'Where this comes from', lead, body, short='Provenance')
