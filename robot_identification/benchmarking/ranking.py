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
"""Ranks of methods, and their errors relative to a reference, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.benchmarking.measure import FAILED, NOT_APPLICABLE, OK
from robot_identification.benchmarking.metrics import RANKED

DRAWS = 4000
"""Bootstrap draws of data sets, and of the cases in each."""
REFERENCE = ('wls', 'coulomb_viscous', 'consistent')
"""Estimator, friction and model to whose errors the others are compared."""


@dataclass(frozen=True)
class RankedMethod:
    """
    Rank and relative error of a method: a row of the table.

    Parameters
    ----------
    estimator, friction, model
        The method, and which of its models counts.
    rank, rank_interval
        Mean rank over the cases, and its 95 % interval. A failure ranks last.
    ratio, ratio_interval
        Geometric mean of the error over that of `REFERENCE` in the same cases, and its 95 %
        interval; NaN if there is none.
    seconds
        Median processor time of a fit [s].
    cases, failures, unconverged
        Numbers of cases, of those without a result, and of results that are not 'ok'.
    metrics
        Median of each metric over the cases.
    ratios
        `ratio` of the cases of each data set, as far as it is known.

    """

    estimator: str
    friction: str
    model: str
    rank: float
    rank_interval: tuple[float, float]
    ratio: float
    ratio_interval: tuple[float, float]
    seconds: float
    cases: int
    failures: int
    unconverged: int
    metrics: Mapping[str, float]
    ratios: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name in tables."""
        return self.estimator.rpartition(':')[2]


def rank_methods(records: Sequence[Mapping[str, Any]],
                 metrics: Sequence[str]) -> list[RankedMethod]:
    """
    Return the rows of the table, the smallest error first.

    Cases of one data set are alike, so intervals come from a nested bootstrap: data sets are drawn
    with replacement, and cases within each. Methods that do not apply to a case are not ranked in
    it; those that apply to none have no row.

    Parameters
    ----------
    records
        Records of a run.
    metrics
        Names of the metrics.

    """
    entries = list(dict.fromkeys(_entry(record) for record in records))
    cases = list(dict.fromkeys(_case(record) for record in records))
    table = {(_entry(record), _case(record)): record for record in records}
    errors = np.full((len(entries), len(cases)), np.nan)
    applies = np.zeros_like(errors, dtype=bool)
    for (entry, case), record in table.items():
        if record['state'] != NOT_APPLICABLE:
            place = entries.index(entry), cases.index(case)
            applies[place] = True
            errors[place] = record['metrics'].get(RANKED, np.nan)
    ranks = np.column_stack([_ranks(column) for column in errors.T])
    data = np.array([case[0] for case in cases])
    names = list(dict.fromkeys(data.tolist()))
    weights = _draw_cases(data, names, np.random.default_rng(0))
    logs = np.log(errors / errors[entries.index(REFERENCE)]) if REFERENCE in entries else (
        np.full_like(errors, np.nan))
    rows = []
    for i, entry in enumerate(entries):
        if not np.any(applies[i]):
            continue
        own = [table[entry, case] for case in cases if (entry, case) in table]
        rank, rank_interval = _mean(ranks[i], applies[i], weights)
        ratio, ratio_interval = _mean(logs[i], np.isfinite(logs[i]), weights)
        rows.append(RankedMethod(
            *entry, rank, rank_interval, float(np.exp(ratio)),
            (float(np.exp(ratio_interval[0])), float(np.exp(ratio_interval[1]))),
            _median([record.get('seconds') for record in own]), int(applies[i].sum()),
            sum(record['state'] == FAILED for record in own),
            sum(record['state'] == OK and record['status'] != 'ok' for record in own),
            {name: _median([record['metrics'].get(name) for record in own])
             for name in metrics},
            {name: float(np.exp(np.mean(logs[i, kept]))) for name in names
             if np.any(kept := (data == name) & np.isfinite(logs[i]))}))
    return sorted(rows, key=lambda row: (np.isnan(row.ratio), row.ratio, row.rank))


def _entry(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return record['estimator'], record['friction'], record['model']


def _case(record: Mapping[str, Any]) -> tuple[str, str, int]:
    return record['data'], record['split'], record['seed']


def _ranks(column: Array) -> Array:
    """Return ranks from 1; equal values share their mean rank, NaN is last."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(np.where(np.isnan(column), np.inf, column)))


def _draw_cases(data: NDArray[np.str_], names: Sequence[str], rng: np.random.Generator) -> Array:
    """Return how often each draw contains each case, (draws, cases)."""
    groups = [np.flatnonzero(data == name) for name in names]
    weights = np.zeros((DRAWS, len(data)))
    for draw in weights:
        for k in rng.integers(len(groups), size=len(groups)):
            np.add.at(draw, rng.choice(groups[k], size=len(groups[k])), 1)
    return weights


def _mean(values: Array, used: Array, weights: Array) -> tuple[float, tuple[float, float]]:
    """Return the mean of the used values, and its 95 % interval over the draws."""
    if not np.any(used):
        return float('nan'), (float('nan'), float('nan'))
    counts = weights @ used
    sums = weights @ np.where(used, values, 0.0)
    drawn = sums[counts > 0] / counts[counts > 0]
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(np.mean(values[used])), (float(low), float(high))


def _median(values: Sequence[float | None]) -> float:
    """Return the median of the known values; NaN if none is known."""
    known = [value for value in values if value is not None and np.isfinite(value)]
    return float(np.median(known)) if known else float('nan')
