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
"""The HTML page of a fleet: a table of all robots, and charts of their drift."""

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
"""Smallest change that is reported as drift, in standard deviations."""
CHARTS = 200
"""Largest number of robots with charts, chosen by drift; a page with more loads slowly."""


def write_fleet_page(results: Sequence[RobotResult], folder: Path,
                     missing: Mapping[str, str] | None = None) -> Path:
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
    """
    Return the most significant change in standard deviations, and its description.

    The result is 0 and '' if no change reaches `SIGNIFICANT` standard deviations.
    """
    largest = max(drift, key=lambda each: abs(each.significance), default=None)
    if largest is None or abs(largest.significance) < SIGNIFICANT:
        return 0.0, ''
    change = (f'{largest.change:+.3g} kg' if largest.quantity == PAYLOAD
              else f'{largest.change:+.1%}')
    return (abs(largest.significance),
            f'{largest.quantity} {change} at recording {largest.recording + 1}')


def _drift_figures(index: int, drift: Sequence[Drift]) -> Iterator[Figure]:
    """Yield charts of friction and payload for quantities known in at least two recordings."""
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
