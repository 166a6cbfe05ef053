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

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.estimation.search.search import at_least, inside, Run, Search

PATIENCE = 5
"""Trials without improvement after which a particle learns from elite ones (Algorithm 1)."""


class ElitistPidSwarm(Search):
    """
    ELPIDSO: the attraction of a particle passes through a PID controller.

    v <- w v + c1 r1 PID(exemplar - x) + c2 r2 PID(best - x), where PID(e) is
    kp e + ki sum(e) + kd (e - previous e). Inertia falls from 0.9 to 0.4, c1 from 2 to 0, c2 rises
    from 0 to 2. A particle that did not improve five times gets an exemplar whose coordinates
    come, with probability Pc, from the winners of tournaments between two particles' best
    points. When the best point was improved, one of its coordinates is exchanged for another
    particle's or moved by a Gaussian, and the better point is kept.

    The gains (22) to (24) of the paper are lost. Those here (assumed) are kp = 1, ki = 0.05 (1 -
    t), kd = 0.1: with the loop s^3 + (1 - w + phi kd) s^2 + phi kp s + phi ki the Routh-Hurwitz
    condition (1 - w + phi kd) kp > ki holds at all times. Sums forget by a half a step, without
    which the best points' changes wind them up (assumed). Where the paper writes the exemplar
    over the particle's own best point, whose recorded cost would then be wrong, it is kept beside
    it.

    Parameters
    ----------
    size
        Particles.
    fastest
        Largest velocity as a part of the range.

    References
    ----------
    D. Yan, Y. Lu, D. Levy, "Parameter identification of robot manipulators: a heuristic particle
    swarm search approach", PLoS ONE 10(6), 2015.

    """

    name = 'elpidso'
    summary = 'particle swarm with PID attraction and elitist learning'
    PROPORTIONAL, INTEGRAL, DERIVATIVE, LEAK = 1.0, 0.05, 0.1, 0.5

    def __init__(self, size: int = 20, fastest: float = 0.5) -> None:
        self.size, self.fastest = at_least('size', size, 2), fastest

    def _search(self, run: Run) -> None:
        rng, shape = run.rng, (self.size, run.dimension)
        learning = learning_probabilities(self.size)
        x = run.initial(self.size)
        v = np.zeros(shape)
        own, costs = x.copy(), run.evaluate(x)
        exemplar = own.copy()
        idle = np.zeros(self.size, dtype=int)
        sums, last = np.zeros((2, *shape)), np.zeros((2, *shape))
        while True:
            for i in np.flatnonzero(idle >= PATIENCE):
                exemplar[i] = self._learn(rng, own, costs, int(i), learning[i])
                idle[i] = 0
            errors = np.stack([exemplar - x, run.best - x])
            sums = self.LEAK * sums + errors
            t = run.fraction
            pull = (self.PROPORTIONAL * errors + self.INTEGRAL * (1 - t) * sums
                    + self.DERIVATIVE * (errors - last))
            last = errors
            v = (inertia(1 - t) * v + 2 * (1 - t) * rng.random(shape) * pull[0]
                 + 2 * t * rng.random(shape) * pull[1])
            v = np.minimum(np.maximum(v, -self.fastest), self.fastest)
            moved = inside(x + v)
            v[moved != x + v] = 0.0
            x = moved
            before = run.best_cost
            new = run.evaluate(x)
            better = new < costs
            own[better], costs[better] = x[better], new[better]
            exemplar[better] = x[better]
            idle = np.where(better, 0, idle + 1)
            if run.best_cost < before:
                self._mutate(run, own, costs)

    def _learn(self, rng: np.random.Generator, own: Array, costs: Array, particle: int,
               probability: float) -> Array:
        """Return an exemplar for a particle, (d,)."""
        dimension = own.shape[1]
        first, second = rng.integers(0, self.size, (2, dimension))
        winner = np.where(costs[first] < costs[second], first, second)
        taken: NDArray[np.bool_] = rng.random((dimension,)) < probability
        if not taken.any():
            taken[rng.integers(dimension)] = True
        source = np.where(taken, winner, particle)
        exemplar: Array = own[source, np.arange(dimension)]
        return exemplar

    def _mutate(self, run: Run, own: Array, costs: Array) -> None:
        """Try another value for one coordinate of the best point."""
        rng = run.rng
        leader = int(np.argmin(costs))
        chosen, column = int(rng.integers(self.size)), int(rng.integers(run.dimension))
        trial = run.best.copy()
        if chosen != leader:
            trial[column] = own[chosen, column]
        else:
            sigma = 1.0 - 0.9 * run.fraction
            trial[column] += sigma * rng.standard_normal()
        trial = inside(trial)
        cost = run.evaluate(trial[None])[0]
        if cost < costs[leader]:
            own[leader], costs[leader] = trial, cost


def inertia(factor: float) -> float:
    """Return w = 1 / (1 + 1.5 exp(-2.6 f)) for f from 1 at the start to 0 at the end, (25)."""
    return 1 / (1 + 1.5 * float(np.exp(-2.6 * factor)))


def learning_probabilities(size: int) -> Array:
    """Return Pc of each particle, (size,): 0.05 for the first, 0.5 for the last, (26)."""
    rank = np.arange(size) / (size - 1)
    probabilities: Array = 0.05 + 0.45 * (np.exp(10 * rank) - 1) / (np.exp(10) - 1)
    return probabilities
