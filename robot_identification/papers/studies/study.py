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
"""Options and results of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.studies.verdict import Claim, judge_claims, JudgedClaim

Progress = Callable[[str, float], None]
MapFunction = Callable[..., Iterator[Any]]
"""Function that calls another one for items of sequences: `map_items` or `Tasks.map_items`."""
HERE, PAPER = 'computed here', 'printed in the paper'
QUICK_DRAWS = 2
"""Number of draws of a quick study, which can decide nothing."""


def map_items(function: Callable[..., Any], *sequences: Sequence[Any],
              args: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield function(*items, *args) for the items of the sequences, one after another."""
    return (function(*items, *args) for items in zip(*sequences, strict=True))


@dataclass(frozen=True)
class Draw:
    """
    Seeds of one independent draw, spawned by numpy's `SeedSequence` for each level.

    Parameters
    ----------
    arm, design, noise, start
        Seeds of the arm, of its excitation, of the noise of its sensors and of the starts of the
        searches.

    """

    arm: int
    design: int
    noise: int
    start: int

    def starts(self, count: int) -> list[int]:
        """Return the seeds of several starts of searches on the data of this draw."""
        return [int(child.generate_state(1)[0])
                for child in np.random.SeedSequence(self.start).spawn(count)]


def _ignore(text: str, fraction: float) -> None:
    """Ignore a progress report."""


@dataclass(frozen=True, eq=False)
class StudyOptions:
    """
    Options of a study.

    Parameters
    ----------
    quick
        Fewer runs and evaluations, for a test run.
    seed
        Random seed of all draws.
    progress
        Called with a description of the current work and the completed fraction, 0 to 1.
    map_items
        Function that computes the draws, perhaps in parallel; the result is the same.
    count
        Number of draws; None for that of the study.

    """

    quick: bool = False
    seed: int = 0
    progress: Progress = _ignore
    map_items: MapFunction = map_items
    count: int | None = None

    def draws(self, count: int) -> list[Draw]:
        """Return the seeds of independent draws: `count` of them unless the options say so."""
        number = self.count or (QUICK_DRAWS if self.quick else count)
        return [Draw(*(int(level.generate_state(1)[0]) for level in child.spawn(4)))
                for child in np.random.SeedSequence(self.seed).spawn(number)]

    def run_draws(self, function: Callable[..., Any], draws: Sequence[Draw],
                  *args: Any) -> list[Any]:
        """Return function(draw, *args) for each draw, with progress reports."""
        results = []
        for result in self.map_items(function, draws, args=args):
            results.append(result)
            self.progress(f'{len(results)} of {len(draws)} draws', len(results) / len(draws))
        return results

    def stage(self, start: float, end: float, label: str = '') -> StudyOptions:
        """Return options for one stage, whose progress counts from `start` to `end`."""
        def report(text: str, fraction: float) -> None:
            self.progress(', '.join(filter(None, (label, text))), start + (end - start) * fraction)

        return replace(self, progress=report)


@dataclass(frozen=True)
class Table:
    """
    A table of a study.

    Parameters
    ----------
    title
        Title with units.
    heads
        Column headings.
    rows
        Cells of each row, texts or numbers.
    source
        `HERE` or `PAPER`.
    note
        Explanation of the columns.

    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    source: str = HERE
    note: str = ''


@dataclass(frozen=True, eq=False)
class Plot:
    """
    A line chart.

    Parameters
    ----------
    title, x, y
        Title and axis titles with units.
    lines
        Name, x (points,) and y (points,) of each curve.
    log
        Whether both axes are logarithmic.

    """

    title: str
    x: str
    y: str
    lines: tuple[tuple[str, Array, Array], ...]
    log: bool = False


@dataclass(frozen=True, eq=False)
class Part:
    """Tables, claims and plots of a part of a study."""

    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    plots: tuple[Plot, ...] = ()


@dataclass(frozen=True, eq=False)
class StudyResult:
    """
    Result of a study.

    Parameters
    ----------
    name, title, reference
        Name and title of the study, and reference of its paper.
    settings
        Seeds, numbers of runs and properties of the data.
    assumptions
        Choices made here because the paper does not state them.
    tables, claims, plots
        Results; the claims with the values of all draws.
    quick
        Whether the study ran with fewer runs and evaluations.
    seconds, processor_seconds
        Wall-clock time and processor time [s].
    notes
        Remarks at the beginning of the report.

    """

    name: str
    title: str
    reference: str
    settings: Mapping[str, Any]
    assumptions: tuple[str, ...]
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    plots: tuple[Plot, ...]
    quick: bool = False
    seconds: float = 0.0
    processor_seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @cached_property
    def verdicts(self) -> tuple[JudgedClaim, ...]:
        """The claims with their verdicts."""
        return judge_claims(self.claims)

    def contents(self) -> dict[str, Any]:
        """Return the result as a dictionary of plain values."""
        return {
            'study': self.name, 'title': self.title, 'reference': self.reference,
            'quick': self.quick, 'seconds': self.seconds,
            'processor_seconds': self.processor_seconds, 'settings': dict(self.settings),
            'assumptions': list(self.assumptions), 'notes': list(self.notes),
            'claims': [verdict.contents() for verdict in self.verdicts],
            'tables': [{'title': t.title, 'source': t.source, 'note': t.note,
                        'heads': list(t.heads), 'rows': [list(row) for row in t.rows]}
                       for t in self.tables],
            'plots': [{'title': p.title, 'x': p.x, 'y': p.y, 'log': p.log,
                       'lines': [{'name': name, 'x': x, 'y': y} for name, x, y in p.lines]}
                      for p in self.plots]}


def correlations(measured: Array, predicted: Array) -> Array:
    """Return the torque correlation of each joint (n,), equation (17) of the ICS paper."""
    left, right = measured - measured.mean(axis=0), predicted - predicted.mean(axis=0)
    result: Array = (np.sum(left * right, axis=0)
                     / np.sqrt(np.sum(left ** 2, axis=0) * np.sum(right ** 2, axis=0)))
    return result
