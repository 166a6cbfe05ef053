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
"""The verdict, first and large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from robot_identification.reporting.markup import (
    bar,
    file_name,
    Html,
    join,
    number,
    percent,
    tag,
)
from robot_identification.reporting.stored_results import StoredResults

BADGES = {'passed': ('PASS', '\u2713', 'pass'), 'failed': ('FAIL', '\u2717', 'fail'),
          'not validated': ('NOT VALIDATED', '?', 'open')}


def hero(results: StoredResults) -> Html:
    """
    Return the head of the report: pass or fail, in words and in figures.

    Parameters
    ----------
    results
        What was stored.

    """
    content = results.content
    verdict = content['verdict']
    status = verdict.get('status', 'passed' if verdict['passed'] else 'failed')
    word, mark, tone = BADGES[status]
    sentences = [_sentence(h, verdict['thresholds']) for h in verdict['held_out']]
    if not sentences:
        sentences = [tag('p', 'No held-out recording was given, so nobody knows how the model '
                              'does on a motion that it was not fitted to.')]
    names = [h['name'] for h in (*verdict['held_out'], *content['fit'])]
    reasons = _list('Why it fails' if status == 'failed' else 'What is missing',
                    _short(verdict['reasons'], names), 'reasons')
    notes = _list('Also worth knowing', _short(verdict['notes'], names), 'notes')
    steps = _list('What next', list(content.get('next_steps', [])), 'notes')
    badge = tag('div', tag('span', mark, class_='mark'), tag('span', word), class_='badge')
    return tag('header',
               tag('div', badge,
                   tag('div', tag('h1', f'Dynamic model of {content["arm"]["name"]}'),
                       *sentences, class_='claim'), class_='headline'),
               reasons, _tiles(results), steps, notes, class_=f'hero {tone}', id='verdict')


def _sentence(held_out: Mapping[str, Any], thresholds: Mapping[str, float]) -> Html:
    error = held_out['relative_error']
    filtered = ('both unfiltered' if held_out['cutoff_hz'] is None else
                join('both low-passed at ', number(held_out['cutoff_hz'], 3), ' Hz'))
    if held_out['repeat']:
        start = join('On ', tag('strong', file_name(held_out['name'])), ', which ',
                     tag('strong', 'repeats the training motion'), ' (',
                     percent(held_out['repeated'], 3), ' of it) and so validates nothing, ')
    else:
        start = join('Held out was ', tag('strong', file_name(held_out['name'])),
                     ', which the fit has not seen: there ')
    limit = thresholds['overall']
    scale = max(1.3 * limit, error or 0.0)
    good = error is not None and error <= limit
    tone = '' if held_out['repeat'] else ' good' if good else ' bad'
    return tag('div', tag('p', start, 'the predicted torques miss the measured ones by ',
                          _whole(held_out), tag('strong', percent(error), class_='big' + tone),
                          ' of their size while the arm moves (RMS over all joints, ', filtered,
                          '). Allowed: ', percent(limit), '.'),
               bar(None if error is None else error / scale, limit / scale,
                   tone='good' if good else 'bad'))


def _whole(held_out: Mapping[str, Any]) -> Html:
    error = held_out.get('whole_relative_error')
    if error is None:
        return Html('')
    return join(tag('strong', percent(error)),
                ' over the whole recording, rests and gaps included, and by ')


def _short(sentences: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return sentences with the last parts of paths only."""
    for name in names:
        sentences = [s.replace(f"'{name}'", f"'{PurePath(name).name}'") for s in sentences]
    return list(sentences)


def _list(title: str, items: list[str], class_: str) -> Html:
    if not items:
        return Html('')
    return tag('div', tag('h3', title), tag('ul', *(tag('li', item) for item in items)),
               class_=class_)


def _tiles(results: StoredResults) -> Html:
    content = results.content
    estimate, consistent = content['estimate'], content['consistent']
    tiles: list[tuple[str, object, object]] = []
    held_out = content['verdict']['held_out']
    if held_out:
        joint, worst = max(held_out[0]['joints'].items(),
                           key=lambda item: item[1]['relative_error'] or 0.0)
        motion = 'on the repeat' if held_out[0]['repeat'] else 'held out'
        tiles.append((f'largest error of a joint, {motion}', percent(worst['relative_error']),
                      joint))
    for fit in content['fit'][:1]:
        tiles.append(('error on the motion it was fitted to', percent(fit['relative_error']),
                      file_name(fit['name'])))
    tiles += [
        ('base parameters determined', f'{estimate["rank"]} of {estimate["count"]}',
         f'{estimate["estimator"].upper()}, {content["friction"]["model"]}'),
        ('condition number of the regressor', number(estimate['condition_number'], 3),
         'small is good: noise is not amplified'),
        ('what being physical costs', percent(consistent['cost'], 2), 'more residual in the fit')]
    physical = all((x or 0.0) > 0 for x in consistent['certificate'].values())
    tiles.append(('physically consistent', 'yes' if physical else 'no',
                  'every link could be built of matter'))
    return tag('div', *(tag('div', tag('span', label, class_='label'),
                            tag('span', value, class_='value'), tag('span', note, class_='sub'),
                            class_='tile') for label, value, note in tiles), class_='tiles')
