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

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.studies.verdict import (
    Claim,
    DRAWS,
    judge_claims,
    JudgedClaim,
)

Progress = Callable[[str, float], None]
MapFunction = Callable[..., Iterator[Any]]
"""Function that calls another one for items of sequences: `map_items` or `Tasks.map_items`."""
HERE, PAPER = 'computed here', 'printed in the paper'
QUICK_DRAWS = 2
"""Number of draws of a quick study, which can decide nothing."""
_Key = TypeVar('_Key', bound=Hashable)
_Value = TypeVar('_Value')
RowKey = tuple[int, int]
"""Index of a claim, and of one of its rows: 0, or the number of a variant from 1 on."""


def map_items(function: Callable[..., Any], *sequences: Sequence[Any],
              args: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield function(*items, *args) for the items of the sequences, one after another."""
    return (function(*items, *args) for items in zip(*sequences, strict=True))


class LazyResults(Mapping[_Key, _Value]):
    """
    Results that are computed when they are used first; pickling computes all of them.

    A draw thus computes only what its rows of the claims need.

    Parameters
    ----------
    keys
        Names of the results.
    compute
        Function from a name to its result.

    """

    def __init__(self, keys: Iterable[_Key], compute: Callable[[_Key], _Value]) -> None:
        self._keys, self._compute = tuple(keys), compute
        self._values: dict[_Key, _Value] = {}

    def __getitem__(self, key: _Key) -> _Value:
        """Return a result."""
        if key not in self._values:
            if key not in self._keys:
                raise KeyError(key)
            self._values[key] = self._compute(key)
        return self._values[key]

    def __iter__(self) -> Iterator[_Key]:
        """Iterate over the names."""
        return iter(self._keys)

    def __len__(self) -> int:
        """Return the number of results."""
        return len(self._keys)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the results as a dictionary."""
        return dict, (dict(self),)


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
        Number of draws of all claims; None for those that the claims state.
    tables
        Whether to compute the tables and plots; without them a study computes its claims only.

    """

    quick: bool = False
    seed: int = 0
    progress: Progress = _ignore
    map_items: MapFunction = map_items
    count: int | None = None
    tables: bool = True

    def draws(self, count: int | None = None) -> list[Draw]:
        """Return the seeds of independent draws: `count` of them, or those of the tables."""
        number = self._count(DRAWS) if count is None else count
        return [Draw(*(int(level.generate_state(1)[0]) for level in child.spawn(4)))
                for child in np.random.SeedSequence(self.seed).spawn(number)]

    def _count(self, number: int) -> int:
        """Return the number of draws: that of the options if they state one, else `number`."""
        return self.count or (QUICK_DRAWS if self.quick else number)

    def run_draws(self, function: Callable[..., Any], draws: Sequence[Draw], *sequences:
                  Sequence[Any], args: tuple[Any, ...] = ()) -> list[Any]:
        """Return function(draw, *items, *args) for each draw, with progress reports."""
        results = []
        for result in self.map_items(function, draws, *sequences, args=args):
            results.append(result)
            self.progress(f'{len(results)} of {len(draws)} draws', len(results) / len(draws))
        return results

    def collect(self, make: Callable[..., Any], claim: Callable[[Sequence[Any]], Sequence[Claim]],
                *args: Any) -> tuple[list[Any], tuple[Claim, ...]]:
        """
        Return the results of the first draws, and the claims with their numbers of draws.

        A draw computes only what its rows of the claims need, and what the tables need in the
        first `DRAWS` draws.

        Parameters
        ----------
        make
            Function that returns the result of a draw, `make(draw, *args)`, made of `LazyResults`.
        claim
            Function from the results of draws to the claims, whose pairs are `LazyPairs`.
        args
            Settings of the study.

        Returns
        -------
        tuple
            Results of the first draws, empty without tables; and the claims.

        """
        head = self.draws()
        outline = claim([make(head[0], *args)])
        counts = {(k, index): self._count(each.draws.get(index, DRAWS))
                  for k, each in enumerate(outline) for index in range(len(each.rows))}
        draws = self.draws(max(counts.values()))
        wanted = [[key for key, count in counts.items() if k < count] for k in range(len(draws))]
        complete = [self.tables and k < len(head) for k in range(len(draws))]
        found = self.stage(0.0, 0.9).run_draws(_result_of_draw, draws, wanted, complete,
                                               args=(make, claim, args))
        claims = tuple(each.with_rows([[rows[k, index] for _, rows in found if (k, index) in rows]
                                       for index in range(len(each.rows))])
                       for k, each in enumerate(outline))
        return [result for result, _ in found if result is not None], claims

    def stage(self, start: float, end: float, label: str = '') -> StudyOptions:
        """Return options for one stage, whose progress counts from `start` to `end`."""
        def report(text: str, fraction: float) -> None:
            self.progress(', '.join(filter(None, (label, text))), start + (end - start) * fraction)

        return replace(self, progress=report)


def _result_of_draw(draw: Draw, wanted: Sequence[RowKey], complete: bool,
                    make: Callable[..., Any], claim: Callable[[Sequence[Any]], Sequence[Claim]],
                    args: tuple[Any, ...]) -> tuple[Any, dict[RowKey, tuple[float, float]]]:
    """Return the result of a draw if it is complete, and the pairs of some rows of the claims."""
    result = make(draw, *args)
    claims = claim([result])
    rows = {(k, index): claims[k].rows[index][0] for k, index in wanted}
    return result if complete else None, rows


ITEMS = ('item', 'paper', 'here', 'equal, or why not')
"""Heads of the tables that compare a paper with its study item by item."""


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
    log, log_y
        Whether both axes, or the vertical one alone, are logarithmic.
    page
        Whether the page of the paper shows the plot; it always shows the first one.

    """

    title: str
    x: str
    y: str
    lines: tuple[tuple[str, Array, Array], ...]
    log: bool = False
    log_y: bool = False
    page: bool = False


@dataclass(frozen=True, eq=False)
class Part:
    """Tables and plots of a part of a study."""

    tables: tuple[Table, ...]
    plots: tuple[Plot, ...] = ()


@dataclass(frozen=True, eq=False)
class StudyResult:
    """
    Result of a study.

    Parameters
    ----------
    title, reference
        Title of the study, and reference of its paper.
    settings
        Seeds, numbers of runs and properties of the data.
    assumptions
        Choices made here because the paper does not state them.
    tables, claims, plots
        Results; the claims with the values of all draws.
    name, quick
        Name of the study, and whether it ran with fewer runs and evaluations.
    seconds, processor_seconds
        Wall-clock time and processor time [s].

    """

    title: str
    reference: str
    settings: Mapping[str, Any]
    assumptions: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    plots: tuple[Plot, ...] = ()
    name: str = ''
    quick: bool = False
    seconds: float = 0.0
    processor_seconds: float = 0.0

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
            'assumptions': list(self.assumptions),
            'claims': [verdict.contents() for verdict in self.verdicts],
            'tables': [{'title': t.title, 'source': t.source, 'note': t.note,
                        'heads': list(t.heads), 'rows': [list(row) for row in t.rows]}
                       for t in self.tables],
            'plots': [{'title': p.title, 'x': p.x, 'y': p.y, 'log': p.log, 'log_y': p.log_y,
                       'page': p.page,
                       'lines': [{'name': name, 'x': x, 'y': y} for name, x, y in p.lines]}
                      for p in self.plots]}


def correlations(measured: Array, predicted: Array) -> Array:
    """Return the torque correlation of each joint (n,), equation (17) of the ICS paper."""
    left, right = measured - measured.mean(axis=0), predicted - predicted.mean(axis=0)
    result: Array = (np.sum(left * right, axis=0)
                     / np.sqrt(np.sum(left ** 2, axis=0) * np.sum(right ** 2, axis=0)))
    return result
