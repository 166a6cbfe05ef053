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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from scipy import stats

Progress = Callable[[str, float], None]
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


@dataclass(frozen=True)
class Claim:
    """
    A claim of the paper, or of ours, and what was found here.

    Parameters
    ----------
    text
        The claim.
    holds
        Whether it held here.
    evidence
        The figures.
    ours
        Whether the claim is ours and not the paper's.

    """

    text: str
    holds: bool
    evidence: str
    ours: bool = False


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
    Outcome of a study.

    Parameters
    ----------
    name, title, reference
        Of the study and of its paper.
    settings
        Seeds, repetitions, data.
    assumptions
        What the paper does not say and was chosen here.
    tables, claims, plots
        Results.
    quick
        Whether it was cut short for a test.
    seconds
        That it took.

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
    notes: tuple[str, ...] = field(default_factory=tuple)

    def contents(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            'study': self.name, 'title': self.title, 'reference': self.reference,
            'quick': self.quick, 'seconds': self.seconds, 'settings': dict(self.settings),
            'assumptions': list(self.assumptions), 'notes': list(self.notes),
            'claims': [{'claim': c.text, 'holds': c.holds, 'evidence': c.evidence,
                        'ours': c.ours} for c in self.claims],
            'tables': [{'title': t.title, 'source': t.source, 'note': t.note,
                        'heads': list(t.heads), 'rows': [list(row) for row in t.rows]}
                       for t in self.tables],
            'plots': [{'title': p.title, 'x': p.x, 'y': p.y, 'log': p.log,
                       'lines': [{'name': name, 'x': x, 'y': y} for name, x, y in p.lines]}
                      for p in self.plots]}


def rank_sum(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the p-value of Wilcoxon's rank-sum test that two samples are of one distribution."""
    return float(stats.ranksums(first, second).pvalue)


def correlation(measured: Array, predicted: Array) -> Array:
    """Return the correlation coefficient of each joint, (n,); (17) of the ICS paper."""
    left, right = measured - measured.mean(axis=0), predicted - predicted.mean(axis=0)
    result: Array = (np.sum(left * right, axis=0)
                     / np.sqrt(np.sum(left ** 2, axis=0) * np.sum(right ** 2, axis=0)))
    return result
