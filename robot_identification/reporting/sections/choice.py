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
"""How friction model and estimator were chosen."""

from __future__ import annotations

from robot_identification.reporting.markup import Cell, join, number, percent, table, tag
from robot_identification.reporting.sections.section import Section
from robot_identification.reporting.stored_results import StoredResults

MEANING = {
    'torques': 'By how much the measured positions lag the torque of a joint: its torque is moved '
               'against the positions of all joints.',
    'positions': 'By how much the measured position of a joint lags the torques: its position is '
                 'moved against the torques of all joints.'}


def choice(results: StoredResults) -> Section | None:
    """
    Return the table of what cross-validation tried, and the delays that were estimated.

    Parameters
    ----------
    results
        What was stored.

    """
    content, delay = results.content.get('choice'), results.content.get('delay')
    if content is None and delay is None:
        return None
    parts = []
    if content is not None:
        rows = []
        for trial in content['trials']:
            cells: list[Cell | object] = [
                trial['friction'], trial['estimator'], _whose(trial['delay']),
                Cell(percent(trial['error'], 2), trial['error'], True),
                Cell(join(percent(trial['excess'], 2), ' \u00b1 ',
                          percent(trial['standard_error'], 2)), trial['excess'], True),
                Cell(number(trial['parameters']), trial['parameters'], True),
                tag('b', 'chosen') if trial['chosen'] else trial['note']]
            rows.append(cells)
        parts.append(table(['friction', 'estimator', 'delays', 'error on left-out blocks',
                            'above the best', 'numbers per joint', ''], rows, sortable=True))
    if delay is not None:
        rows = [[joint, *(Cell(number(1e3 * delay[kind][joint], 3), delay[kind][joint], True)
                          for kind in ('values', 'std'))] for joint in results.joints]
        parts += [tag('h3', 'Delays'),
                  tag('p', MEANING[delay.get('of', 'torques')], class_='hint'),
                  table(['joint', 'delay [ms]', '\u00b1 [ms]'], rows, sortable=True)]
    lead = ('Delays between torque and position were estimated together with the model.'
            if content is None else
            join('Cross-validation on ', content['blocks'], ': each combination is fitted without '
                 'a block and predicts it. The one with the fewest numbers is taken whose error '
                 'is as good as the best, step by step: friction terms, joint by joint, then '
                 'delays, then the estimator.'))
    return Section('choice', 'What was tried', lead, join(*parts), short='Choice')


def _whose(delay: bool | str) -> str:
    """Return whose delays a trial had; results of older versions say only whether."""
    return delay if isinstance(delay, str) and delay else 'torques' if delay else 'none'
