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
"""Particle swarm with PID-controlled attraction and elitist learning (ELPIDSO)."""

import time
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import MissingDependencyError
from robot_identification.papers.searches.bounds import Bounds
from robot_identification.papers.searches.result import BUDGET, SearchResult, TARGET
from robot_identification.papers.searches.search import check_minimum, Search, SearchRun

GAINS = (1.0, 0.05, 0.1, 0.5)
"""Assumed kp, initial ki, kd and kept fraction of the integrals, instead of (22) to (24)."""


class ElitistPidSwarm(Search):
    """
    ELPIDSO, Algorithm 1 of the paper as printed.

    The particles move one after another; each uses the current global best point. PID controllers
    attract a particle to its local best point and to the global best point. A particle that failed
    five times learns: each coordinate of its local best point is replaced with probability Pc by
    that of another particle, the winner of a tournament between two. As printed, the local best
    point then still has its old recorded cost. After a particle has improved the global best
    point, a mutation of that point is tried: one coordinate is replaced by that of another
    particle or moved by a Gaussian step. The better point is kept.

    Formulas that the available copy of the paper lacks are assumed as follows. The gains (22) to
    (24) are kp = 1, ki = 0.05 (1 - t), kd = 0.1. For these the Routh-Hurwitz condition
    (1 - w + phi kd) kp > ki of the loop s^3 + (1 - w + phi kd) s^2 + phi kp s + phi ki always
    holds. The integrals are halved in each step to avoid windup when the best points change; the
    paper mentions no such leak.
    Velocities start at zero and are limited to half the range. A particle that reaches a
    bound stops there. The number of generations is the budget divided by the size, as in the paper
    (15 000 and 300 000). Mutations count as evaluations, unlike in the paper, so the last
    generation may be incomplete.

    Parameters
    ----------
    size
        Number of particles.
    gains
        kp, ki at the start, kd, and the fraction of the integrals that is kept in each step; 1 for
        integrals without leak.

    References
    ----------
    D. Yan, Y. Lu, D. Levy, "Parameter identification of robot manipulators: a heuristic particle
    swarm search approach", PLoS ONE 10(6), 2015.

    """

    name = 'elpidso'
    summary = 'particle swarm with PID attraction and elitist learning'

    def __init__(self, size: int = 20, gains: tuple[float, ...] = GAINS) -> None:
        self.size, self.gains = check_minimum('size', size, 2), gains

    def _search(self, run: SearchRun) -> None:
        kernels = _kernels()
        size, dimension, rng = self.size, run.dimension, run.rng
        learning, gains = learning_probabilities(size), np.array(self.gains)
        x = run.initial(size)
        v, own, costs = np.zeros_like(x), x.copy(), run.evaluate(x)
        source = np.repeat(np.arange(size), dimension).reshape(size, dimension)
        idle = np.zeros(size, dtype=np.int64)
        sums, last = np.zeros((2, size, dimension)), np.zeros((2, size, dimension))
        best, best_cost = run.best.copy(), run.best_cost
        generations = max(1, run.budget // size)
        for generation in range(1, generations + 1):
            t = generation / generations
            for i in range(size):
                kernels.move(i, t, x, v, own, costs, source, idle, best, sums, last, learning,
                             gains, rng)
                kernels.keep(i, run.evaluate(x[i:i + 1])[0], x, own, costs, idle)
                if costs[i] < best_cost:
                    best, best_cost = own[i].copy(), costs[i]
                    trial = kernels.mutant(i, t, own, best, rng)
                    cost = run.evaluate(trial[None])[0]
                    if not best_cost < cost:
                        best, best_cost = trial, cost


def minimise_quadratic(factor: Array, bounds: Bounds, budget: int, rng: np.random.Generator,
                       size: int = 20, *, target: float = -np.inf,
                       gains: tuple[float, ...] = GAINS) -> SearchResult:
    """
    Minimise |factor [values; -1]|^2 by compiled ELPIDSO, with the steps of `ElitistPidSwarm`.

    Parameters
    ----------
    factor
        R factor with the right-hand side as its last column, (rows, d + 1).
    bounds, budget, rng, target
        As for `Search.minimise`.
    size, gains
        As for `ElitistPidSwarm`.

    Raises
    ------
    MissingDependencyError
        numba is not installed.

    """
    began = time.perf_counter()
    generations = max(1, budget // size)
    best, cost, used, history = _kernels().minimise(
        np.ascontiguousarray(factor), bounds.lower, bounds.upper - bounds.lower,
        rng.random((size, bounds.dimension)), learning_probabilities(size), np.array(gains),
        generations, budget, target, rng)
    evaluations = np.linspace(size, used, len(history))
    return SearchResult('elpidso', bounds.from_unit(best), float(cost), int(used),
                        np.column_stack([evaluations, history]),
                        TARGET if cost <= target else BUDGET, time.perf_counter() - began)


def learning_probabilities(size: int) -> Array:
    """Return the probabilities Pc of learning, (size,), from 0.05 to 0.5, equation (26)."""
    rank = np.arange(size) / (size - 1)
    probabilities: Array = 0.05 + 0.45 * (np.exp(10 * rank) - 1) / (np.exp(10) - 1)
    return probabilities


def _kernels() -> Any:
    try:
        from robot_identification.papers.searches import elpidso_kernels
    except ImportError as error:
        raise MissingDependencyError('numba', 'the search elpidso') from error
    return elpidso_kernels
