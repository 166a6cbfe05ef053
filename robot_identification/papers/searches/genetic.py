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
"""Genetic algorithms with real and with binary coding."""

from abc import abstractmethod

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError
from robot_identification.papers.searches.search import check_minimum, inside, Search, SearchRun


class Genetic(Search):
    """
    Genetic algorithm with tournament selection and elitism.

    Subclasses supply the coding, crossover and mutation.

    Parameters
    ----------
    size
        Number of individuals, even.
    crossover
        Probability of a crossover for each pair of parents.
    elite
        Number of best individuals that survive unchanged.

    """

    def __init__(self, size: int = 50, crossover: float = 0.9, elite: int = 2) -> None:
        if size % 2 or not 0 <= elite < size:
            raise EstimationError(f'a genetic algorithm needs an even number of individuals and '
                                  f'fewer elite ones, not {size} and {elite}')
        self.size, self.crossover, self.elite = check_minimum('size', size, 2), crossover, elite

    def _search(self, run: SearchRun) -> None:
        genes = self._encode(run.initial(self.size))
        costs = run.evaluate(self._decode(genes))
        while True:
            best = np.argsort(costs)[:self.elite]
            kept, kept_costs = genes[best].copy(), costs[best].copy()
            pairs = run.rng.integers(0, self.size, (self.size, 2))
            winners = np.where(costs[pairs[:, 0]] <= costs[pairs[:, 1]], pairs[:, 0], pairs[:, 1])
            children = self._vary(run, genes[winners])
            genes, costs = children, run.evaluate(self._decode(children))
            worst = np.argsort(costs)[self.size - self.elite:]
            genes[worst], costs[worst] = kept, kept_costs

    def _encode(self, unit: Array) -> Array:
        """Return the genes of points of the unit cube."""
        return unit

    def _decode(self, genes: Array) -> Array:
        """Return the points of the unit cube that genes encode."""
        return genes

    @abstractmethod
    def _vary(self, run: SearchRun, parents: Array) -> Array:
        """Return the children of parents by crossover and mutation, of the same shape."""


class RealGenetic(Genetic):
    """
    Genetic algorithm with real coding, blend crossover (BLX-0.3) and Gaussian mutation.

    The standard deviation of mutations falls from a tenth to a ten-thousandth of the range.

    Parameters
    ----------
    size, crossover, elite
        As for `Genetic`.

    References
    ----------
    L. J. Eshelman, J. D. Schaffer, "Real-coded genetic algorithms and interval-schemata", FOGA 2,
    1993. The survey of Zhang, Wang, Jing and Tan (2018) states no operators; these are assumed.

    """

    name = 'ga'
    summary = 'genetic algorithm, real coding'
    BLEND = 0.3

    def _vary(self, run: SearchRun, parents: Array) -> Array:
        rng = run.rng
        first, second = parents[::2], parents[1::2]
        weight = rng.uniform(-self.BLEND, 1 + self.BLEND, (2, *first.shape))
        crossed = rng.random((len(first), 1)) < self.crossover
        weight = np.where(crossed, weight, [[[1.0]], [[0.0]]])
        children = np.empty_like(parents)
        children[::2] = weight[0] * first + (1 - weight[0]) * second
        children[1::2] = weight[1] * first + (1 - weight[1]) * second
        sigma = 0.1 * 10 ** (-3 * run.fraction)
        mutated = rng.random(children.shape) < max(1 / run.dimension, 0.02)
        return inside(children + mutated * sigma * rng.standard_normal(children.shape))


class BinaryGenetic(Genetic):
    """
    Genetic algorithm with binary (Gray) coding, two-point crossover and bit flips.

    Parameters
    ----------
    size, crossover, elite
        As for `Genetic`.
    bits
        Number of bits per parameter; the resolution is 1 / 2^bits of its range.

    References
    ----------
    J. H. Holland, "Adaptation in natural and artificial systems", 1975; W. Wu, S. Zhu, X. Wang,
    H. Liu, Int. J. Advanced Robotic Systems 9, 2012, use binary coding to design excitations.

    """

    name = 'binary_ga'
    summary = 'genetic algorithm, binary (Gray) coding'

    def __init__(self, size: int = 50, crossover: float = 0.9, elite: int = 2,
                 bits: int = 16) -> None:
        super().__init__(size, crossover, elite)
        if not 1 <= bits <= 48:
            raise EstimationError(f'binary coding takes 1 to 48 bits per parameter, not {bits}')
        self.bits = bits

    def _encode(self, unit: Array) -> Array:
        integers = np.rint(unit * (2 ** self.bits - 1)).astype(np.int64)
        gray = integers ^ (integers >> 1)
        genes = (gray[..., None] >> np.arange(self.bits)) & 1
        return genes.reshape(len(unit), -1)

    def _decode(self, genes: Array) -> Array:
        bits = genes.reshape(len(genes), -1, self.bits)[..., ::-1]
        plain = np.bitwise_xor.accumulate(bits, axis=-1)[..., ::-1]
        integers = plain @ (2.0 ** np.arange(self.bits))
        unit: Array = integers / (2.0 ** self.bits - 1)
        return unit

    def _vary(self, run: SearchRun, parents: Array) -> Array:
        rng, length = run.rng, parents.shape[1]
        first, second = parents[::2], parents[1::2]
        cuts = np.sort(rng.integers(0, length + 1, (len(first), 2)), axis=1)
        column = np.arange(length)
        swap = (column >= cuts[:, :1]) & (column < cuts[:, 1:])
        swap &= rng.random((len(first), 1)) < self.crossover
        children = np.empty_like(parents)
        children[::2] = np.where(swap, second, first)
        children[1::2] = np.where(swap, first, second)
        return children ^ (rng.random(children.shape) < 1 / length)
