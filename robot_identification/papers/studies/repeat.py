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
"""Repeated runs of searches on one cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches import Bounds, get_search, SearchResult
from robot_identification.papers.studies.study import MapFunction, Plot


@dataclass(frozen=True)
class Contestant:
    """
    A search with its settings.

    Parameters
    ----------
    label
        In tables.
    search
        Name in `SEARCHES`.
    settings
        Settings of the search.
    budget
        Evaluations.

    """

    label: str
    search: str
    settings: Mapping[str, Any]
    budget: int


def repeat(contestants: Sequence[Contestant], cost: Callable[[Array], Array], bounds: Bounds,
           runs: int, seed: int, map_items: MapFunction,
           tell: Callable[[str, float], None] | None = None, *, target: float = -np.inf,
           run: Callable[..., SearchResult] | None = None) -> dict[str, list[SearchResult]]:
    """
    Run searches with seeds seed, seed + 1, ..., and return what each found, by label.

    Parameters
    ----------
    contestants
        The searches.
    cost, bounds, target
        As for `Search.minimise`.
    runs
        How often.
    seed
        The first seed.
    map_items
        `study.map_items`, or that of a cluster.
    tell
        Called with what was done and the part of it.
    run
        A run: run(contestant, seed, cost, bounds, target); `run_search` when None.

    """
    labels = [contestant.label for contestant in contestants for _ in range(runs)]
    results: dict[str, list[SearchResult]] = {label: [] for label in labels}
    found = map_items(run or run_search, [c for c in contestants for _ in range(runs)],
                      [seed + k for _ in contestants for k in range(runs)],
                      args=(cost, bounds, target))
    for number, (label, result) in enumerate(zip(labels, found), start=1):
        results[label].append(result)
        if tell is not None:
            tell(f'{label}, {runs} runs', number / len(labels))
    return results


def run_search(contestant: Contestant, seed: int, cost: Callable[[Array], Array], bounds: Bounds,
               target: float) -> SearchResult:
    """Return one run of a search, see `repeat`."""
    return get_search(contestant.search, **contestant.settings).minimise(
        cost, bounds, budget=contestant.budget, target=target, rng=np.random.default_rng(seed))


def median_run(results: list[SearchResult]) -> SearchResult:
    """Return the run whose cost is the (lower) median."""
    return sorted(results, key=lambda result: result.cost)[(len(results) - 1) // 2]


def best_run(results: list[SearchResult]) -> SearchResult:
    """Return the run of lowest cost."""
    return min(results, key=lambda result: result.cost)


def convergence(title: str, y: str, results: Mapping[str, list[SearchResult]],
                log: bool = True) -> Plot:
    """
    Return the cost of the median run of each search over its evaluations.

    Parameters
    ----------
    title, y
        Title of the plot and label of its y axis.
    results
        Runs of each search.
    log
        Whether the cost is drawn logarithmically.

    """
    lines = []
    for label, runs in results.items():
        history = median_run(runs).history
        keep = np.unique(np.geomspace(1, len(history), min(len(history), 300)).astype(int)) - 1
        lines.append((label, history[keep, 0], history[keep, 1]))
    return Plot(title, 'evaluations of the cost', y, tuple(lines), log)
