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
"""How the recordings were processed, and why so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_identification.reporting.markup import (
    details,
    file_name,
    Html,
    join,
    number,
    table,
    tag,
)
from robot_identification.reporting.sections.section import Section
from robot_identification.reporting.stored_results import StoredResults

SUFFIX = '_reason'
UNITS = {'_hz': 'Hz', '_s': 's', '_rad': 'rad'}


def processing(results: StoredResults) -> Section:
    """
    Return every choice of signal processing with its reason, for each recording.

    Parameters
    ----------
    results
        What was stored.

    """
    check = results.content['effort_check']
    parts: list[Html] = []
    for recording in results.content['recordings']:
        title = join('Recording ', tag('b', file_name(recording['name'])))
        body = _table(recording['processing'])
        parts.append(join(tag('h3', title), body) if not parts else details(title, body))
    lead = ('Positions are low-passed without delay and differentiated; torque and regressor are '
            'low-passed together (parallel decimation), so that filtering cannot bias the fit. '
            'What was not given was chosen from the data.')
    return Section('processing', 'How the signals were processed', lead,
                   join(tag('p', 'Check of the effort signal before the fit: ', check['message'],
                            '.'), *parts), short='Processing')


def _table(choices: Mapping[str, Any]) -> Html:
    rows = []
    for key, value in choices.items():
        if key.endswith(SUFFIX) and _owner(key, choices) is not None:
            continue
        name, unit = _name(key)
        if key.endswith(SUFFIX):
            name, value, reason = name[:-len(SUFFIX)], None, str(value)
        else:
            reason = _reason(key, choices)
        shown = join(_shown(value), f' {unit}' if unit else '')
        rows.append([name, join(shown, tag('small', reason)) if reason else shown])
    return table(['choice', 'value, and why'], rows, class_='choices')


def _name(key: str) -> tuple[str, str]:
    for suffix, unit in UNITS.items():
        if key.endswith(suffix):
            return key[:-len(suffix)].replace('_', ' '), unit
    return key.replace('_', ' '), ''


def _stem(key: str) -> str:
    return next((key[:-len(suffix)] for suffix in UNITS if key.endswith(suffix)), key)


def _owner(reason: str, choices: Mapping[str, Any]) -> str | None:
    """Return the choice that a reason explains."""
    stem = reason[:-len(SUFFIX)]
    owners = [key for key in choices if not key.endswith(SUFFIX) and _stem(key) == stem]
    owners += [key for key in choices if not key.endswith(SUFFIX) and key.startswith(stem)]
    return owners[0] if owners else None


def _reason(key: str, choices: Mapping[str, Any]) -> str:
    return ' '.join(str(text) for reason, text in choices.items()
                    if reason.endswith(SUFFIX) and _owner(reason, choices) == key)


def _shown(value: Any) -> Html:
    if isinstance(value, list):
        return join(*(_shown(item) for item in value), separator=', ')
    if isinstance(value, float):
        return number(value, 4)
    return join('none' if value is None else value)
