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
"""Searches with their settings, and their runs in several draws."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches import Bounds, get_search, SearchResult
from robot_identification.papers.studies.study import Plot

Runs = Mapping[str, Sequence[SearchResult]]
"""Results of repeated searches, by label."""


@dataclass(frozen=True)
class SearchSetup:
    """
    A search with its settings.

    Parameters
    ----------
    label
        Name in tables and plots.
    search
        Name in `SEARCHES`.
    settings
        Settings of the search.
    budget
        Largest number of evaluations of the cost.

    """

    label: str
    search: str
    settings: Mapping[str, Any]
    budget: int


def run_search(setup: SearchSetup, seed: int | Sequence[int], cost: Callable[[Array], Array],
               bounds: Bounds) -> SearchResult:
    """Return the result of one search."""
    return get_search(setup.search, **setup.settings).minimise(
        cost, bounds, budget=setup.budget, rng=np.random.default_rng(seed))


def cost_after(result: SearchResult, evaluations: float) -> float:
    """Return the lowest cost after a number of evaluations."""
    k = int(np.searchsorted(result.history[:, 0], evaluations))
    return float(result.history[k, 1]) if k < len(result.history) else result.cost


def median_run(results: Sequence[SearchResult]) -> SearchResult:
    """Return the run with the median cost (the lower median of an even number)."""
    return sorted(results, key=lambda result: result.cost)[(len(results) - 1) // 2]


def best_run(results: Sequence[SearchResult]) -> SearchResult:
    """Return the run with the lowest cost."""
    return min(results, key=lambda result: result.cost)


def plot_convergence(title: str, y: str, results: Runs) -> Plot:
    """
    Return a log-log plot of cost over evaluations, for the median run of each search.

    Parameters
    ----------
    title, y
        Title of the plot and label of its y axis.
    results
        Runs of each search.

    """
    lines = []
    for label, runs in results.items():
        history = median_run(runs).history
        keep = np.unique(np.geomspace(1, len(history), min(len(history), 300)).astype(int)) - 1
        lines.append((label, history[keep, 0], history[keep, 1]))
    return Plot(title, 'evaluations of the cost', y, tuple(lines), log=True)
