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
"""The page of a fleet: robots by verdict, error and drift, with charts over the recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from robot_identification.files import write_text
from robot_identification.fleet.drift import Drift, PAYLOAD
from robot_identification.fleet.robot_result import BROKEN, RobotResult, STATES
from robot_identification.reporting.figure import Curve, Figure, Panel, SERIES
from robot_identification.reporting.pages import render_page

INDEX = 'index.html'
SIGNIFICANT = 3.0
"""Standard deviations from which a change is called drift."""
CHARTS = 200
"""Robots with charts, those with the largest drift: more make the page slow to load."""


def write_fleet_page(results: Sequence[RobotResult], folder: Path,
                     missing: Mapping[str, str] | None = None) -> Path:
    """
    Write the page, and return its path.

    Parameters
    ----------
    results
        Results of the robots.
    folder
        Folder of the robots' folders.
    missing
        Robots that a run did not reach, with the reason for each.

    """
    drift = {each.robot: largest_drift(each.drift) for each in results}
    robots = sorted(results, key=lambda each: (
        STATES.index(each.state), -(each.error or 0.0), -drift[each.robot][0], each.robot))
    broken = [(each.robot, recording) for each in results for recording in each.recordings
              if recording.state == BROKEN]
    drifting = sorted(robots, key=lambda each: -drift[each.robot][0])[:CHARTS]
    charts = [(each.robot, figure, [(curve.name, 'line', curve.colour)
                                    for curve in figure.panels[0].curves])
              for index, each in enumerate(drifting)
              for figure in _drift_figures(index, each.drift)]
    counts = ', '.join(f'{sum(each.state == state for each in robots)} {state}'
                       for state in reversed(STATES))
    write_text(folder / INDEX, render_page(
        'fleet.html', 'robot_identification.fleet', robots=robots, drift=drift, broken=broken,
        charts=charts, counts=counts, missing=missing or {}))
    return folder / INDEX


def largest_drift(drift: Sequence[Drift]) -> tuple[float, str]:
    """Return the largest significant drift in standard deviations and in words; 0 and ''."""
    largest = max(drift, key=lambda each: abs(each.significance), default=None)
    if largest is None or abs(largest.significance) < SIGNIFICANT:
        return 0.0, ''
    change = (f'{largest.change:+.3g} kg' if largest.quantity == PAYLOAD
              else f'{largest.change:+.1%}')
    return (abs(largest.significance),
            f'{largest.quantity} {change} at recording {largest.recording + 1}')


def _drift_figures(index: int, drift: Sequence[Drift]) -> Iterator[Figure]:
    """Yield a chart of friction and one of payload, over two or more recordings."""
    for kind, unit in (('friction', 'of the model'), (PAYLOAD, 'kg')):
        quantities = dict.fromkeys(
            each.quantity for each in drift if (each.quantity == PAYLOAD) == (kind == PAYLOAD))
        curves = []
        for quantity, colour in zip(quantities, SERIES * len(quantities)):
            points = np.array([(each.recording + 1.0, each.value) for each in drift
                               if each.quantity == quantity])
            if len(points) > 1:
                curves.append(Curve(quantity, points[:, 0], points[:, 1], colour))
        if curves:
            yield Figure(f'drift_{index}_{kind}', kind, 'recording',
                         (Panel(f'{kind} [{unit}]', tuple(curves)),), height=220,
                         description=f'{kind} over recordings')
