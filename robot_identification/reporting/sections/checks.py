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
"""What the checks found, whether it was an alarm or not."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from robot_identification.reporting.markup import Cell, join, number, table, tag
from robot_identification.reporting.sections.section import Section
from robot_identification.reporting.stored_results import StoredResults


def checks(results: StoredResults) -> Section | None:
    """
    Return a table of all checks, with figure, threshold and where the threshold comes from.

    Parameters
    ----------
    results
        What was stored.

    """
    found = results.content['verdict'].get('checks')
    if not found:
        return None
    ordered = sorted(found, key=lambda row: not row['alarm'])
    rows = [[Cell(tag('b', '! ALARM') if row['alarm'] else '\u2713', not row['alarm']),
             tag('span', row['name'], title=row['question']), _subject(row),
             Cell(join(number(row['figure'], 3), '' if row['unit'] == '-' else f" {row['unit']}"),
                  row['figure'], True),
             tag('span', number(row['threshold'], 3), title=row['origin']), row['text']]
            for row in ordered]
    origins = {row['name']: (row['question'], row['origin']) for row in found}
    count = sum(row['alarm'] for row in found)
    said = ('None gives an alarm.' if not count else
            f"{count} give{'s' * (count == 1)} an alarm: read {'it' if count == 1 else 'them'} "
            f'before you use the model, even where the verdict is PASS.')
    lead = join('A small error does not mean that the numbers are right: torques of twice the '
                'size fit as well. So each recording is asked what a careful engineer would ask. ',
                said)
    explained = tag('details', tag('summary', 'What is asked, and where the thresholds come from'),
                    tag('ul', *(tag('li', tag('b', name), f': {question} Threshold: {origin}.')
                                for name, (question, origin) in origins.items())))
    return Section('checks', 'Checks', lead, join(table(
        ['', 'check', 'of', 'figure', 'threshold', 'found'], rows, sortable=True,
        class_='findings'), explained))


def _subject(row: dict[str, Any]) -> str:
    name = PurePath(row['subject']).name if row['subject'] else 'the model'
    return f"{name}, {row['joint']}" if row['joint'] else name
