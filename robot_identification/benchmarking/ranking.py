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


def rank_methods(records: Sequence[Mapping[str, Any]],
                 metrics: Sequence[str]) -> list[dict[str, Any]]:
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

    Returns
    -------
    list
        Mappings: `estimator`, its name in tables `method`, `friction` and the `model` that counts;
        `error_ratio`, the geometric mean of the error over that of `REFERENCE` in the same cases,
        NaN if there is none, and `rank`, the mean rank over the cases, where a failure is last;
        the ends `_low` and `_high` of the 95 % intervals of both; `seconds`, the median processor
        time of a fit [s]; `cases`, `failures` and `not_ok`, the numbers of cases, of those without
        a result, and of results that are not 'ok'; `median_` of each metric over the cases; and
        `ratios`, the error ratio of the cases of each data set, as far as it is known.

    """
    from scipy.stats import rankdata

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
    ranks = rankdata(np.where(np.isnan(errors), np.inf, errors), axis=0)    # equals: mean rank
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
        rank = _mean(ranks[i], applies[i], weights).tolist()
        ratio = np.exp(_mean(logs[i], np.isfinite(logs[i]), weights)).tolist()
        rows.append({
            'estimator': entry[0], 'method': entry[0].rpartition(':')[2], 'friction': entry[1],
            'model': entry[2], 'error_ratio': ratio[0], 'error_ratio_low': ratio[1],
            'error_ratio_high': ratio[2], 'rank': rank[0], 'rank_low': rank[1],
            'rank_high': rank[2],
            'seconds': _median([record.get('seconds') for record in own]),
            'cases': int(applies[i].sum()),
            'failures': sum(record['state'] == FAILED for record in own),
            'not_ok': sum(record['state'] == OK and record['status'] != 'ok' for record in own),
            **{f'median_{name.rpartition(":")[2]}': _median(
                [record['metrics'].get(name) for record in own]) for name in metrics},
            'ratios': {name: float(np.exp(np.mean(logs[i, kept]))) for name in names
                       if np.any(kept := (data == name) & np.isfinite(logs[i]))}})
    return sorted(rows, key=lambda row: (
        np.isnan(row['error_ratio']), row['error_ratio'], row['rank']))


def _entry(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return record['estimator'], record['friction'], record['model']


def _case(record: Mapping[str, Any]) -> tuple[str, str, int]:
    return record['data'], record['split'], record['seed']


def _draw_cases(data: NDArray[np.str_], names: Sequence[str], rng: np.random.Generator) -> Array:
    """Return how often each draw contains each case, (draws, cases)."""
    groups = [np.flatnonzero(data == name) for name in names]
    weights = np.zeros((DRAWS, len(data)))
    for draw in weights:
        for k in rng.integers(len(groups), size=len(groups)):
            np.add.at(draw, rng.choice(groups[k], size=len(groups[k])), 1)
    return weights


def _mean(values: Array, used: Array, weights: Array) -> Array:
    """Return the mean of the used values, and the ends of its 95 % interval over the draws."""
    if not np.any(used):
        return np.full(3, np.nan)
    counts = weights @ used
    sums = weights @ np.where(used, values, 0.0)
    drawn = sums[counts > 0] / counts[counts > 0]
    return np.array([np.mean(values[used]), *np.percentile(drawn, (2.5, 97.5))])


def _median(values: Sequence[float | None]) -> float:
    """Return the median of the known values; NaN if none is known."""
    known = [value for value in values if value is not None and np.isfinite(value)]
    return float(np.median(known)) if known else float('nan')
