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
"""Particle swarm with a PID controller and elitist learning."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import MissingDependencyError
from robot_identification.papers.searches.bounds import Bounds
from robot_identification.papers.searches.result import BUDGET, SearchResult, TARGET
from robot_identification.papers.searches.search import at_least, Search, SearchRun


class ElitistPidSwarm(Search):
    """
    ELPIDSO, Algorithm 1 of the paper as it is printed.

    The particles move one after another, and each sees the global best point that the one before
    it has set. The attraction of a particle passes through a PID controller. A particle that
    failed five times takes coordinates of its local best point, each with probability Pc, from
    winners of tournaments between two particles; as printed, this exemplar takes the place of its
    local best point, whose recorded cost stays. A particle that improves the global best point
    exchanges one coordinate of it for another particle's, or moves it by a Gaussian step, and the
    better point is kept.

    What the text lost (assumed): the gains (22) to (24) are kp = 1, ki = 0.05 (1 - t), kd = 0.1,
    for which the Routh-Hurwitz condition (1 - w + phi kd) kp > ki of the loop s^3 + (1 - w +
    phi kd) s^2 + phi kp s + phi ki holds at all times; sums forget by a half a step, without which
    the best points' changes wind them up; velocities begin at zero and are at most half the
    range; a particle that meets a bound stops there. The number of generations is the budget over
    the size, as in the paper (15 000 and 300 000); the mutations, which the paper does not count,
    count, so the last generation may be cut.

    Parameters
    ----------
    size
        Particles.

    References
    ----------
    D. Yan, Y. Lu, D. Levy, "Parameter identification of robot manipulators: a heuristic particle
    swarm search approach", PLoS ONE 10(6), 2015.

    """

    name = 'elpidso'
    summary = 'particle swarm with PID attraction and elitist learning'

    def __init__(self, size: int = 20) -> None:
        self.size = at_least('size', size, 2)

    def _search(self, run: SearchRun) -> None:
        kernels = _kernels()
        size, dimension, rng = self.size, run.dimension, run.rng
        learning = learning_probabilities(size)
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
                             rng)
                kernels.keep(i, run.evaluate(x[i:i + 1])[0], x, own, costs, idle)
                if costs[i] < best_cost:
                    best, best_cost = own[i].copy(), costs[i]
                    trial = kernels.mutant(i, t, own, best, rng)
                    cost = run.evaluate(trial[None])[0]
                    if not best_cost < cost:
                        best, best_cost = trial, cost


def minimise_quadratic(factor: Array, bounds: Bounds, budget: int, rng: np.random.Generator,
                       size: int = 20, target: float = -np.inf) -> SearchResult:
    """
    Run ELPIDSO on the cost |factor [values; -1]|^2, wholly compiled: the same steps and draws.

    Parameters
    ----------
    factor
        (rows, d + 1).
    bounds, budget, rng, target
        As for `Search.minimise`.
    size
        Particles.

    Raises
    ------
    MissingDependencyError
        numba is not installed.

    """
    began = time.perf_counter()
    generations = max(1, budget // size)
    best, cost, used, history = _kernels().minimise(
        np.ascontiguousarray(factor), bounds.lower, bounds.upper - bounds.lower,
        rng.random((size, bounds.dimension)), learning_probabilities(size), generations, budget,
        target, rng)
    evaluations = np.linspace(size, used, len(history))
    return SearchResult('elpidso', bounds.from_unit(best), float(cost), int(used),
                        np.column_stack([evaluations, history]),
                        TARGET if cost <= target else BUDGET, time.perf_counter() - began)


def learning_probabilities(size: int) -> Array:
    """Return Pc of each particle, (size,): 0.05 for the first, 0.5 for the last, (26)."""
    rank = np.arange(size) / (size - 1)
    probabilities: Array = 0.05 + 0.45 * (np.exp(10 * rank) - 1) / (np.exp(10) - 1)
    return probabilities


def _kernels() -> Any:
    try:
        from robot_identification.papers.searches import elpidso_kernels
    except ImportError as error:
        raise MissingDependencyError('numba', 'the search elpidso') from error
    return elpidso_kernels
