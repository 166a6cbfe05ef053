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
"""Genetic algorithms for the design of excitations, for comparison with papers."""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from robot_identification.arrays import Array
from robot_identification.excitation.design.optimisers import OPTIMISERS
from robot_identification.excitation.design.problem import Minimum, Problem

POPULATION = 60      # individuals; the papers print no settings, so all of these are assumed
GENERATIONS = 100    # with 60 individuals, 6000 evaluations of the objective
ELITE = 2            # individuals that survive unchanged
TOURNAMENT = 3       # entrants of which the best becomes a parent
CROSSOVER = 0.9      # probability that a child has two parents
PENALTY = 10.0       # cost of violated constraints: this times (1 + largest violation)
BITS = 16            # per coefficient
BLEND = 0.5          # alpha of the blend crossover
MUTATION_STD = 0.1   # of a Gaussian mutation, as a fraction of half the range


class _Genetic(ABC):
    """
    Genetic algorithm with tournament selection, elitism and penalties for constraints.

    Subclasses supply crossover, mutation and a coding. Each coefficient of the motion is searched
    from minus to plus its scale, and the mean position around the middle of the joint range. The
    first population contains the start, which satisfies the constraints.
    """

    def __init__(self, problem: Problem, start: Array, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        self.free = np.flatnonzero(problem.free)
        middle = np.zeros(start.shape)
        middle[0] = (problem.limits.lower + problem.limits.upper) / 2
        self.middle, self.size = middle, problem.scale
        self.best, self.best_value = start, problem.objective.evaluate(start).value
        genes = rng.uniform(-1.0, 1.0, size=(POPULATION, len(self.free)))
        genes *= rng.uniform(0.05, 1.0, size=(POPULATION, 1))
        genes[0] = ((start - middle) / self.size).ravel()[self.free]
        self.members = [self.encode(np.clip(g, -1, 1)) for g in genes]
        self.fitness = np.array([self._rate(member) for member in self.members])

    def encode(self, values: Array) -> Array:
        """Return the genes that encode values from -1 to 1."""
        return values

    def decode(self, genes: Array) -> Array:
        """Return the values from -1 to 1 that genes encode."""
        return genes

    @abstractmethod
    def cross(self, first: Array, second: Array) -> Array:
        """Return a child of two parents."""

    @abstractmethod
    def mutate(self, genes: Array) -> Array:
        """Return a mutated copy of genes."""

    def generation(self) -> None:
        """Compute the next generation: the elite and children of selected parents."""
        order = np.argsort(self.fitness)
        children = [self.members[i] for i in order[:ELITE]]
        fitness = [self.fitness[i] for i in order[:ELITE]]
        while len(children) < POPULATION:
            first, second = (self.members[self._selected()] for _ in range(2))
            child = self.cross(first, second) if self.rng.random() < CROSSOVER else first
            child = self.mutate(child)
            children.append(child)
            fitness.append(self._rate(child))
        self.members, self.fitness = children, np.array(fitness)

    def _selected(self) -> int:
        entries = self.rng.integers(POPULATION, size=TOURNAMENT)
        return int(entries[np.argmin(self.fitness[entries])])

    def _rate(self, member: Array) -> float:
        x = np.where(self.problem.free, self.middle, self.problem.rest)
        x.flat[self.free] += self.size.ravel()[self.free] * self.decode(member)
        at = self.problem.objective.evaluate(x)
        if not np.isfinite(at.merit):
            return float('inf')
        worst = min(float(c.slack(x).min()) for c in self.problem.constraints)
        if worst <= 0:
            return at.merit + PENALTY * (1.0 - worst)
        if np.isnan(self.best_value) or self.problem.objective.criterion.better(
                at.value, self.best_value):
            self.best, self.best_value = x, at.value
        return at.merit


class _Real(_Genetic):
    """Real coding with blend crossover and Gaussian mutation (Eshelman and Schaffer 1993)."""

    def cross(self, first: Array, second: Array) -> Array:
        low, high = np.minimum(first, second), np.maximum(first, second)
        room = BLEND * (high - low)
        return np.clip(self.rng.uniform(low - room, high + room), -1, 1)

    def mutate(self, genes: Array) -> Array:
        chosen = self.rng.random(len(genes)) < 1.0 / len(genes)
        return np.clip(genes + chosen * MUTATION_STD * self.rng.normal(size=len(genes)), -1, 1)


class _Binary(_Genetic):
    """Binary coding with two-point crossover and bit flips (Holland 1975; Goldberg 1989)."""

    def encode(self, values: Array) -> Array:
        levels = np.round((values + 1) / 2 * (2 ** BITS - 1)).astype(np.int64)
        return (levels[:, None] >> np.arange(BITS) & 1).astype(float).ravel()

    def decode(self, genes: Array) -> Array:
        values: Array = genes.reshape(-1, BITS) @ 2.0 ** np.arange(BITS)
        return values / (2 ** BITS - 1) * 2 - 1

    def cross(self, first: Array, second: Array) -> Array:
        low, high = np.sort(self.rng.integers(len(first), size=2))
        child = first.copy()
        child[low:high] = second[low:high]
        return child

    def mutate(self, genes: Array) -> Array:
        flipped = self.rng.random(len(genes)) < 1.0 / len(genes)
        return np.where(flipped, 1.0 - genes, genes)


def _evolve(kind: type[_Genetic], problem: Problem, start: Array,
            stop: Callable[[float, float], bool]) -> Minimum:
    # the start is the seed, so equal starts give equal runs
    rng = np.random.default_rng(np.frombuffer(start.tobytes(), dtype=np.uint32))
    population = kind(problem, start, rng)
    finished = True
    for generation in range(GENERATIONS):
        if stop(population.best_value, generation / GENERATIONS):
            finished = False
            break
        population.generation()
    return Minimum(population.best, population.best_value, finished)


def minimise_by_real_genetic(problem: Problem, start: Array,
                             stop: Callable[[float, float], bool]) -> Minimum:
    """
    Minimise the objective of a design problem by a real-coded genetic algorithm.

    Parameters
    ----------
    problem, start, stop
        As for `minimise_by_barrier`.

    References
    ----------
    L. Eshelman, J. Schaffer, "Real-coded genetic algorithms and interval-schemata", Foundations
    of Genetic Algorithms 2, 1993.

    """
    return _evolve(_Real, problem, start, stop)


def minimise_by_binary_genetic(problem: Problem, start: Array,
                               stop: Callable[[float, float], bool]) -> Minimum:
    """
    Minimise the objective of a design problem by a binary-coded genetic algorithm.

    Parameters
    ----------
    problem, start, stop
        As for `minimise_by_barrier`.

    References
    ----------
    D. Goldberg, "Genetic algorithms in search, optimization, and machine learning", 1989.

    """
    return _evolve(_Binary, problem, start, stop)


OPTIMISERS.register('real_genetic', minimise_by_real_genetic)
OPTIMISERS.register('binary_genetic', minimise_by_binary_genetic)
DESIGN_NAMES = ('real_genetic', 'binary_genetic')
