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
"""Cuckoo search, as it is and with the chaos and emotion operators."""

from __future__ import annotations

from collections.abc import Iterator
from math import gamma, pi, sin

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.papers.searches.search import at_least, inside, Search, SearchRun

SMALLEST = 1e-12


def levy_steps(rng: np.random.Generator, shape: tuple[int, ...], power: float) -> Array:
    """
    Draw Levy steps by Mantegna's method.

    Parameters
    ----------
    rng
        Source of the draws.
    shape
        Shape of the result.
    power
        Exponent lambda of the tail, between 1 and 2.

    References
    ----------
    R. N. Mantegna, "Fast, accurate algorithm for numerical simulation of Levy stable stochastic
    processes", Physical Review E 49(5), 1994.

    """
    top = gamma(1 + power) * sin(pi * power / 2)
    bottom = gamma((1 + power) / 2) * power * 2 ** ((power - 1) / 2)
    sigma = (top / bottom) ** (1 / power)
    steps: Array = (sigma * rng.standard_normal(shape)
                    / np.abs(rng.standard_normal(shape)) ** (1 / power))
    return steps


class CuckooSearch(Search):
    """
    Levy flights from every nest, then nests are abandoned with a probability.

    A generation costs two evaluations a nest. A flight is alpha L (x - best), so that it shrinks
    with the population, as Yang and Deb's program has it (assumed; equation (9) prints alpha L);
    abandoning moves a coordinate by alpha r (x_j - x_k) with probability `abandon`, as (8) says.

    Parameters
    ----------
    size
        Nests.
    abandon
        Pa, probability that a coordinate of a nest is discovered.
    alpha
        Scale of the steps.
    power
        Exponent lambda of the Levy flights.

    References
    ----------
    X.-S. Yang, S. Deb, "Cuckoo search via Levy flights", NaBIC 2009.
    L. Ding, X. Li, Q. Li, Y. Chao, "Nonlinear friction and dynamical identification for a robot
    manipulator with improved cuckoo search algorithm", J. Robotics, 2018, equations (8) to (10).

    """

    name = 'cs'
    summary = 'cuckoo search: Levy flights and abandoned nests'

    def __init__(self, size: int = 25, abandon: float = 0.4, alpha: float = 0.25,
                 power: float = 1.5) -> None:
        self.size = at_least('size', size, 2)
        self.abandon, self.alpha, self.power = abandon, alpha, power

    def _search(self, run: SearchRun) -> None:
        rng = run.rng
        nests = run.initial(self.size)
        costs = run.evaluate(nests)
        alphas = self._scales(rng)
        while True:
            alpha = next(alphas)
            flight = alpha * levy_steps(rng, nests.shape, self.power)
            self._replace(run, nests, costs, nests + flight * (nests - run.best), alpha)
            found = rng.random(nests.shape) < self.abandon
            first, second = rng.permutation(self.size), rng.permutation(self.size)
            step = alpha * rng.random((self.size, 1)) * (nests[first] - nests[second])
            self._replace(run, nests, costs, nests + found * step, alpha)

    def _scales(self, rng: np.random.Generator) -> Iterator[float]:
        """Yield the scale of each generation."""
        while True:
            yield self.alpha

    def _replace(self, run: SearchRun, nests: Array, costs: Array, candidates: Array,
                 alpha: float) -> None:
        candidates = inside(candidates)
        new = run.evaluate(candidates)
        better = self._accept(costs, new, alpha)
        nests[better], costs[better] = candidates[better], new[better]

    def _accept(self, old: Array, new: Array, alpha: float) -> NDArray[np.bool_]:
        """Return which nests are replaced, (P,) bool."""
        better: NDArray[np.bool_] = new < old
        return better


class ImprovedCuckooSearch(CuckooSearch):
    """
    Cuckoo search with alpha from a chaotic map and an emotional acceptance of worse nests.

    alpha follows the tent map x <- 2 gamma x (x <= 1/2) or 2 gamma (1 - x). The emotion of a
    cuckoo whose new nest is worse by dF is e = -k ln(exp(dF) / S0) = k (ln S0 - dF); with alpha <
    e it is positive and the worse nest is taken. The paper gives k = 1 and S = exp but neither S0
    nor the unit of F: here dF is relative to the spread between the nest and the best one, ln S0
    is `threshold`, and the best nest is never given up (all assumed).

    Parameters
    ----------
    size, abandon, power
        As for cuckoo search.
    gain
        gamma of the tent map.
    threshold
        ln S0.

    References
    ----------
    L. Ding, X. Li, Q. Li, Y. Chao, "Nonlinear friction and dynamical identification for a robot
    manipulator with improved cuckoo search algorithm", J. Robotics, 2018, equations (7), (12).

    """

    name = 'ics'
    summary = 'improved cuckoo search: chaotic steps, emotional acceptance'

    def __init__(self, size: int = 25, abandon: float = 0.4, power: float = 1.5,
                 gain: float = 0.6, threshold: float = 0.6) -> None:
        super().__init__(size, abandon, 0.25, power)
        self.gain, self.threshold = gain, threshold

    def _scales(self, rng: np.random.Generator) -> Iterator[float]:
        x = rng.uniform(0.0, 1.0)
        while True:
            x = 2 * self.gain * (x if x <= 0.5 else 1 - x)
            yield max(x, SMALLEST)

    def _accept(self, old: Array, new: Array, alpha: float) -> NDArray[np.bool_]:
        spread = np.maximum(old - old.min(), SMALLEST * max(abs(float(old.min())), SMALLEST))
        with np.errstate(invalid='ignore'):
            emotion = self.threshold - (new - old) / spread
        accepted: NDArray[np.bool_] = (new < old) | ((alpha < emotion) & (old > old.min()))
        return accepted
