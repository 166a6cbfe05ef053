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
"""Artificial bee colony."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.papers.searches.search import (
    at_least,
    draw_other_members,
    inside,
    Search,
    SearchRun,
)


class ArtificialBeeColony(Search):
    """
    Employed bees, onlookers and scouts on a set of food sources.

    Every bee tries one coordinate of a source, v_ij = x_ij + phi (x_ij - x_kj), and keeps the
    better point; onlookers choose sources with a probability in proportion to 1 / (1 + F); a
    source that was not improved in `limit` trials is drawn anew. All bees of a kind fly at once,
    so of several onlookers at one source the best counts.

    Parameters
    ----------
    sources
        Food sources; there are as many employed bees and as many onlookers.
    limit
        Trials; sources times dimension when None.

    References
    ----------
    D. Karaboga, B. Basturk, "A powerful and efficient algorithm for numerical function
    optimization: artificial bee colony (ABC) algorithm", J. Global Optimization 39(3), 2007.
    L. Ding, H. Wu, Y. Yao, Y. Yang, "Dynamic model identification for 6-DOF industrial robots",
    J. Robotics, 2015 (its colony settings are lost; these are assumed).

    """

    name = 'abc'
    summary = 'artificial bee colony'

    def __init__(self, sources: int = 25, limit: int | None = None) -> None:
        self.sources, self.limit = at_least('sources', sources, 2), limit

    def _search(self, run: SearchRun) -> None:
        rng, count = run.rng, self.sources
        limit = self.limit or count * run.dimension
        x = run.initial(count)
        costs = run.evaluate(x)
        trials = np.zeros(count, dtype=np.int64)
        every = np.arange(count)
        while True:
            self._fly(run, x, costs, trials, every)
            fitness = 1 / (1 + np.maximum(costs, 0.0))
            total = fitness.sum()
            share = fitness / total if total > 0 else np.full(count, 1 / count)
            self._fly(run, x, costs, trials, rng.choice(count, size=count, p=share))
            worn = np.flatnonzero(trials > limit)
            if len(worn):
                scout = worn[np.argmax(trials[worn])]
                x[scout] = rng.random(run.dimension)
                costs[scout] = run.evaluate(x[scout:scout + 1])[0]
                trials[scout] = 0

    def _fly(self, run: SearchRun, x: Array, costs: Array, trials: NDArray[np.int64],
             chosen: NDArray[np.int64]) -> None:
        """Try one neighbour of each chosen source."""
        rng = run.rng
        partner = draw_other_members(rng, chosen, len(x))
        column = rng.integers(0, run.dimension, len(chosen))
        candidates = x[chosen].copy()
        row = np.arange(len(chosen))
        phi = rng.uniform(-1, 1, len(chosen))
        candidates[row, column] += phi * (candidates[row, column] - x[partner, column])
        candidates = inside(candidates)
        new = run.evaluate(candidates)
        for source in np.unique(chosen):
            bees = np.flatnonzero(chosen == source)
            best = bees[np.argmin(new[bees])]
            if new[best] < costs[source]:
                x[source], costs[source] = candidates[best], new[best]
                trials[source] = 0
            else:
                trials[source] += len(bees)
