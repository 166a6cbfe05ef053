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
"""The HTML page of a fleet: which robots wear, failed or are in order, and their drift."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePath
import re
from typing import Any

import numpy as np
from robot_identification.files import write_text
from robot_identification.fleet.drift import Drift, PAYLOAD
from robot_identification.fleet.robot_result import BROKEN, FITTED, RobotResult
from robot_identification.reporting.figure import Curve, Figure, LIMIT, Panel, SERIES
from robot_identification.reporting.pages import render_page
from scipy.special import ndtri

INDEX = 'index.html'
LEVEL = 0.05
"""Probability that an unchanged fleet shows any drift, over all robots, quantities, recordings."""
BAND = 3.0
"""Half width of the band in the charts [standard deviations of one change]."""
CHARTS = 60
"""Largest number of robots with charts, those that drift first; a page with more loads slowly."""
TICKS = 6
OTHERS = 'var(--muted)'    # curves of joints that do not drift
WEARS, CHANGED = 'wears', 'changed'
ORDER = {BROKEN: 'bad', 'failed': 'bad', WEARS: 'open', CHANGED: 'open', 'doubtful': 'open',
         'not validated': 'open', 'passed': 'good'}
"""Verdicts in the order of the table, and the tones of their chips."""


@dataclass(frozen=True)
class RobotChange:
    """
    Change of one quantity from the first to the last recording of a robot.

    Parameters
    ----------
    quantity
        As in `Drift`.
    value, deviation
        The change and its standard deviation, relative or [kg].
    significance
        Largest change against earlier recordings, in standard deviations; negative for a decrease.

    """

    quantity: str
    value: float
    deviation: float
    significance: float

    @property
    def payload(self) -> bool:
        """Whether the quantity is the payload [kg] instead of a relative friction."""
        return self.quantity == PAYLOAD

    @property
    def name(self) -> str:
        """The quantity in words, such as 'elbow_joint friction'."""
        return self.quantity if self.payload else f'{self.quantity[len("friction of "):]} friction'

    @property
    def text(self) -> str:
        """The change in words, such as 'elbow_joint friction +8 %'."""
        value, unit = (self.value, 'kg') if self.payload else (100 * self.value, '%')
        return f'{self.name} {value:+.2g}\u202f{unit}'.replace('-', '\u2212')


def write_fleet_page(results: Sequence[RobotResult], folder: Path,
                     missing: Mapping[str, str] | None = None, name: str = 'Fleet',
                     tests: int | None = None) -> Path:
    """
    Write the page of a fleet and return its path.

    Parameters
    ----------
    results
        Results of the robots.
    folder
        Output folder of the fleet.
    missing
        Robots that were not identified because the run ended early: name and reason.
    name
        Name of the fleet in the title.
    tests
        Number of changes that were tested; None counts those in the results, which may lack
        quantities that drift less than others of the same robot.

    """
    if tests is None:
        tests = sum(map(count_tests, results))
    limit = float(-ndtri(LEVEL / 2 / max(tests, 1)))    # Bonferroni
    rows = sorted((_row(each, limit) for each in results), key=lambda row: (
        row['rank'], -abs(row['largest']) * row['drifts'], -(row['robot'].error or 0.0),
        row['robot'].robot))
    charted = sorted(enumerate(rows), key=lambda item: -abs(item[1]['largest']))[:CHARTS]
    scales = {payload: _scale(results, payload) for payload in (False, True)}
    charts = [(row, [_chart(index, row, payload, scales[payload]) for payload in scales
                     if any((each.quantity == PAYLOAD) == payload and each.recording > 0
                            for each in row['robot'].drift)]) for index, row in charted]
    write_text(folder / INDEX, render_page(
        'fleet.html', 'robot_identification.fleet', name=name, rows=rows, charts=charts,
        limit=limit, tests=tests, missing=missing or {}, band=BAND, sentence=summarise_fleet(rows),
        words={word: [row for row in rows if row['word'] == word] for word in ORDER},
        extent=max((abs(row['change'].value) + 1.96 * row['change'].deviation for row in rows
                    if row['change'] and not row['change'].payload), default=0.01),
        broken=[(each.robot, PurePath(recording.source).name, _short(recording.sentence))
                for each in results for recording in each.recordings
                if recording.state == BROKEN]))
    return folder / INDEX


def count_tests(robot: RobotResult) -> int:
    """Return the number of changes of a robot that have a standard deviation."""
    return sum(each.change_deviation > 0 for each in robot.drift)


def robot_changes(drift: Sequence[Drift]) -> list[RobotChange]:
    """Return the change of each quantity known in two recordings, most significant first."""
    found = []
    for quantity in dict.fromkeys(each.quantity for each in drift):
        known = [each for each in drift if each.quantity == quantity]
        if len(known) > 1:
            found.append(RobotChange(
                quantity, known[-1].value - known[0].value,
                float(np.hypot(known[0].deviation, known[-1].deviation)),
                max((each.significance for each in known), key=abs)))
    return sorted(found, key=lambda each: -abs(each.significance))


def summarise_fleet(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence on a fleet: who wears, and how many failed or are in order."""
    def count(*words: str) -> int:
        return sum(row['word'] in words for row in rows)

    parts = []
    for word, singular, plural in ((WEARS, 'robot wears', 'robots wear'),
                                   (CHANGED, 'robot changed', 'robots changed')):
        named = [f'{row["robot"].robot}: {row["change"].text}' for row in rows
                 if row['word'] == word]
        if named:
            parts.append(f'{len(named)} {plural if len(named) > 1 else singular} '
                         f'({"; ".join(named[:3])}{"; ..." if len(named) > 3 else ""})')
    for words, text in (((BROKEN, 'failed'), 'failed'), (('doubtful',), 'doubtful'),
                        (('not validated',), 'not validated'), (('passed',), 'in order')):
        if count(*words):
            parts.append(f'{count(*words)} {text}')
    return ', '.join(parts) + '.' if parts else 'No robot was identified.'


def _row(robot: RobotResult, limit: float) -> dict[str, Any]:
    """Return a row of the table: verdict, change of the quantity that drifts most, reason."""
    found = robot_changes(robot.drift)
    significant = [each for each in found if abs(each.significance) > limit]
    steady = sorted(found, key=lambda each: each.payload)    # friction first: one scale of strips
    change = next(iter(significant or steady), None)
    word = robot.state
    if significant and change and word not in (BROKEN, 'failed'):
        word = CHANGED if change.payload or change.value < 0 else WEARS
    return {'robot': robot, 'word': word, 'tone': ORDER[word], 'rank': list(ORDER).index(word),
            'change': change, 'drifts': bool(significant),
            'largest': change.significance if change else 0.0,
            'significant': {each.quantity for each in significant},
            'reason': '' if robot.state == 'passed' else _short(robot.sentence)}


def _short(sentence: str) -> str:
    """Return a sentence with file names instead of paths and without the repeated verdict."""
    named = re.sub(r"'[^']*[/\\]([^'/\\]+)'", r"'\1'", sentence)
    return re.sub(r'^(did not pass|no recording can be used): ', '', named)


def _scale(results: Sequence[RobotResult], payload: bool) -> tuple[float, float]:
    """Return lowest and highest change since the first recording in the fleet [%] or [kg]."""
    low, high = 0.0, 0.0
    for robot in results:
        for _, _, values, bars in _series(robot, payload):
            low, high = min(low, values.min(), bars.min()), max(high, values.max(), bars.max())
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _series(robot: RobotResult, payload: bool) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield quantity, recordings, changes since the first one, and their 95 % intervals."""
    factor = 1.0 if payload else 100.0
    for quantity in dict.fromkeys(each.quantity for each in robot.drift
                                  if (each.quantity == PAYLOAD) == payload):
        known = [each for each in robot.drift if each.quantity == quantity]
        values = factor * np.array([each.value - known[0].value for each in known])
        half = 1.96 * factor * np.array([each.deviation for each in known])
        yield (quantity, np.array([each.recording for each in known]), values,
               np.stack([values - half, values + half]))


def _chart(index: int, row: Mapping[str, Any], payload: bool,
           scale: tuple[float, float]) -> Figure:
    """Return a chart of friction or payload over the recordings, on the scale of the fleet."""
    robot, curves, colours = row['robot'], [], iter(SERIES * 9)
    days, names = _times(robot)
    widths = [1.96]
    for quantity, at, values, bars in _series(robot, payload):
        drifts = quantity in row['significant']
        widths.append(float(np.median(bars[1] - bars[0])) / 2)
        curves.append(Curve(quantity.replace('friction of ', ''), days[at], values,
                            next(colours) if drifts or payload else OTHERS,
                            2.2 if drifts else 1.2, bars=bars if drifts or payload else None))
    curves.sort(key=lambda curve: curve.width)
    half = BAND * np.sqrt(2) * float(np.median(widths[1:])) / 1.96
    ends = np.array([days[0], days[-1]])
    curves += [Curve('band', ends, np.full(2, bound), LIMIT, 1.0, dash='4 4', hover=False)
               for bound in (-half, half)]
    kind = PAYLOAD if payload else 'friction'
    label = 'payload [kg]' if payload else 'change of friction [%]'
    return Figure(f'drift_{index}_{kind}', kind, 'recording' if names[0][1] == '1' else 'date',
                  (Panel(label, tuple(curves), limits=scale),), height=250, x_names=names,
                  description=f'change of the {kind} of {robot.robot} since its first recording')


def _times(robot: RobotResult) -> tuple[Any, tuple[tuple[float, str], ...]]:
    """Return positions of the fitted recordings on the x-axis, and the names of some of them."""
    sources = [PurePath(each.source).name for each in robot.recordings if each.state == FITTED]
    count = max([len(sources), *(each.recording + 1 for each in robot.drift)])
    dates = []
    for source in sources:
        found = re.search(r'(\d{4})[-_]?(\d{2})[-_]?(\d{2})', source)
        try:
            dates.append(date.fromisoformat('-'.join(found.groups()) if found else ''))
        except ValueError:    # no date, or none of the calendar
            break
    dated = len(dates) == count and len(set(dates)) > 1
    days = np.array([each.toordinal() for each in dates] if dated else range(1, count + 1), float)
    shown = np.unique(np.linspace(0, count - 1, min(count, TICKS)).astype(int))
    return days, tuple((float(days[k]), f'{dates[k]}' if dated else str(k + 1)) for k in shown)
