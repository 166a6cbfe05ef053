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
"""Errors of each joint as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.reporting.markup import (
    bar,
    Cell,
    correlation,
    details,
    file_name,
    Html,
    join,
    number,
    percent,
    table,
    tag,
)
from robot_identification.reporting.sections.section import Section
from robot_identification.reporting.stored_results import StoredResults

WORDS = {'relative': '\u2713 within', 'rated': '\u2713 small', 'no': '\u2717 too large',
         'rests': 'rests'}


def joint_errors(results: StoredResults) -> Section:
    """
    Return the errors of each joint, held out first, then of the fit.

    Parameters
    ----------
    results
        What was stored.

    """
    content = results.content
    thresholds = content['verdict']['thresholds']
    parts: list[Html] = []
    for kind, evaluations in (('held out', content['verdict']['held_out']),
                              ('fit', content['fit'])):
        for evaluation in evaluations:
            repeat = kind != 'fit' and evaluation['repeat']
            chip = 'repeats the training motion' if repeat else kind
            title = join(tag('b', file_name(evaluation['name'])),
                         tag('span', chip, class_='chip'), ' all joints: ',
                         percent(evaluation['relative_error']))
            body = _table(evaluation, thresholds)
            parts.append(join(tag('h3', title), body) if not parts else details(title, body))
    lead = join('Relative error: size of the residual over size of the torque. Allowed for a '
                'joint: ', percent(thresholds['joint']), ', the line in the bars; a joint whose '
                'RMSE is below ', percent(thresholds['rated']), ' of its rated torque passes as '
                'well, because a joint that carries little measures little but noise. NRMSE: RMSE '
                'over the range of the torque.')
    return Section('errors', 'Errors of each joint', lead, join(*parts), short='Errors')


def _table(evaluation: Mapping[str, Any], thresholds: Mapping[str, float]) -> Html:
    joints = evaluation['joints']
    limit = thresholds['joint']
    scale = max([1.1 * limit, *(e['relative_error'] or 0.0 for e in joints.values())])
    rows = []
    for joint, e in joints.items():
        error = e['relative_error']
        good = e['within'] != 'no'
        shown = join(bar(None if error is None else error / scale, limit / scale,
                         tone='good' if good else 'bad'), percent(error))
        rows.append([
            joint, Cell(shown, error), Cell(join(number(e['rmse'], 3), f' {e["unit"]}'),
                                            e['rmse'], True),
            Cell(percent(e['of_rated'], 2), e['of_rated'], True),
            Cell(correlation(e['correlation']), e['correlation'], True),
            Cell(percent(e['nrmse'], 3), e['nrmse'], True),
            Cell(tag('span', WORDS[e['within']], class_='good' if good else 'bad'), e['within'])])
    heads = ['joint', 'relative error', 'RMSE', 'of rated', 'correlation', 'NRMSE', 'allowed?']
    return table(heads, rows, sortable=True, class_='errors')
