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
"""What every study returns: tables, claims and plots, with where they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.studies.verdict import Claim

Progress = Callable[[str, float], None]
MapFunction = Callable[..., Iterator[Any]]
"""Calls of a function over sequences: `map_items`, or that of the tasks of a cluster."""
HERE, PAPER = 'computed here', 'printed in the paper'


@dataclass(frozen=True)
class Table:
    """
    A table.

    Parameters
    ----------
    title
        What it shows.
    heads
        Column heads.
    rows
        Texts and numbers.
    source
        `HERE` or `PAPER`.
    note
        What has to be known to read it.

    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    source: str = HERE
    note: str = ''


@dataclass(frozen=True, eq=False)
class Plot:
    """
    Lines over a common axis.

    Parameters
    ----------
    title, x, y
        Title and axis titles with units.
    lines
        Name, x (points,) and y (points,) of each.
    log
        Whether y is logarithmic.

    """

    title: str
    x: str
    y: str
    lines: tuple[tuple[str, Array, Array], ...]
    log: bool = False


@dataclass(frozen=True, eq=False)
class StudyResult:
    """
    MethodResult of a study.

    Parameters
    ----------
    name, title, reference
        Name and title of the study, and reference of its paper.
    settings
        Seeds, repetitions, data.
    assumptions
        What the paper does not say and was chosen here.
    tables, claims, plots
        Results.
    quick
        Whether it was cut short for a test.
    seconds, processor_seconds
        Time that it took by the clock, and processor time.

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
    notes: tuple[str, ...] = field(default_factory=tuple)

    def contents(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            'study': self.name, 'title': self.title, 'reference': self.reference,
            'quick': self.quick, 'seconds': self.seconds,
            'processor_seconds': self.processor_seconds, 'settings': dict(self.settings),
            'assumptions': list(self.assumptions), 'notes': list(self.notes),
            'claims': [{'claim': c.text, 'verdict': c.verdict, 'evidence': c.evidence,
                        'effect': c.effect, 'p': c.p, 'n': list(c.n), 'ours': c.ours}
                       for c in self.claims],
            'tables': [{'title': t.title, 'source': t.source, 'note': t.note,
                        'heads': list(t.heads), 'rows': [list(row) for row in t.rows]}
                       for t in self.tables],
            'plots': [{'title': p.title, 'x': p.x, 'y': p.y, 'log': p.log,
                       'lines': [{'name': name, 'x': x, 'y': y} for name, x, y in p.lines]}
                      for p in self.plots]}


def map_items(function: Callable[..., Any], *sequences: Sequence[Any],
              args: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield function(*items, *args) of the items of sequences, one after the other."""
    return (function(*items, *args) for items in zip(*sequences, strict=True))


def part_of(progress: Progress, first: float, last: float, label: str = '') -> Progress:
    """Return the progress of what is from one part of the whole to another."""
    def tell(text: str, part: float) -> None:
        progress(', '.join(filter(None, (label, text))), first + (last - first) * part)
    return tell


def correlations(measured: Array, predicted: Array) -> Array:
    """Return the correlation coefficient of each joint, (n,); (17) of the ICS paper."""
    left, right = measured - measured.mean(axis=0), predicted - predicted.mean(axis=0)
    result: Array = (np.sum(left * right, axis=0)
                     / np.sqrt(np.sum(left ** 2, axis=0) * np.sum(right ** 2, axis=0)))
    return result
