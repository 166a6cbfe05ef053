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
"""Artificial bee colony (ABC)."""

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.papers.searches.search import (
    check_minimum,
    draw_other_members,
    inside,
    Search,
    SearchRun,
)


class ArtificialBeeColony(Search):
    """
    Artificial bee colony with employed bees, onlookers and scouts.

    Each bee changes one coordinate of a food source, v_ij = x_ij + phi (x_ij - x_kj) with a random
    source k and phi in -1 to 1, and keeps the better point. Onlookers choose sources with
    probabilities proportional to 1 / (1 + cost). A source without improvement in more than `limit`
    trials is replaced by a random point (scout). Employed bees are evaluated as one population,
    and so are onlookers; if several onlookers visit one source, only the best of them is compared
    with it.

    Parameters
    ----------
    sources
        Number of food sources, of employed bees and of onlookers.
    limit
        Number of trials without improvement before a source is abandoned. None: sources times
        dimension.
    initial
        Number of random points of which the best become the food sources, step 2 of Ding et al.
        None: as many as sources, as in Karaboga and Basturk.

    References
    ----------
    D. Karaboga, B. Basturk, "A powerful and efficient algorithm for numerical function
    optimization: artificial bee colony (ABC) algorithm", J. Global Optimization 39(3), 2007.
    L. Ding, H. Wu, Y. Yao, Y. Yang, "Dynamic model identification for 6-DOF industrial robots",
    J. Robotics, 2015 (the available copy lacks its colony settings; these are assumed).

    """

    name = 'abc'
    summary = 'artificial bee colony'

    def __init__(self, sources: int = 25, limit: int | None = None,
                 initial: int | None = None) -> None:
        self.sources, self.limit = check_minimum('sources', sources, 2), limit
        self.initial = check_minimum('initial', initial or sources, sources)

    def _search(self, run: SearchRun) -> None:
        rng, count = run.rng, self.sources
        limit = self.limit or count * run.dimension
        x = run.initial(self.initial)
        costs = run.evaluate(x)
        best = np.sort(np.argsort(costs, kind='stable')[:count])
        x, costs = x[best], costs[best]
        trials = np.zeros(count, dtype=np.int64)
        every = np.arange(count)
        while True:
            self._fly(run, x, costs, trials, every)
            fitness = 1 / (1 + np.maximum(costs, 0.0))
            total = fitness.sum()
            probability = fitness / total if total > 0 else np.full(count, 1 / count)
            self._fly(run, x, costs, trials, rng.choice(count, size=count, p=probability))
            worn = np.flatnonzero(trials > limit)
            if len(worn):
                scout = worn[np.argmax(trials[worn])]
                x[scout] = rng.random(run.dimension)
                costs[scout] = run.evaluate(x[scout:scout + 1])[0]
                trials[scout] = 0

    def _fly(self, run: SearchRun, x: Array, costs: Array, trials: NDArray[np.int64],
             chosen: NDArray[np.int64]) -> None:
        """Evaluate one neighbour of each chosen source and keep those that are better."""
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
