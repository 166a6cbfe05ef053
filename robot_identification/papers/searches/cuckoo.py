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
"""Cuckoo search, and its improvement by chaos and emotion operators."""

from collections.abc import Iterator
from math import gamma, pi, sin

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.papers.searches.search import check_minimum, inside, Search, SearchRun

SMALLEST = 1e-12    # step scale and cost difference that stand for zero in a division


def levy_steps(rng: np.random.Generator, shape: tuple[int, ...], power: float) -> Array:
    """
    Draw steps of Levy flights by Mantegna's method.

    Parameters
    ----------
    rng
        Random generator.
    shape
        Shape of the result.
    power
        Tail exponent lambda, between 1 and 2.

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
    Cuckoo search with Levy flights and abandoned nests.

    Each generation evaluates every nest twice. First each nest x moves by alpha L (x - best),
    where L are Levy-distributed steps. The factor (x - best) is that of Yang and Deb's program and
    is missing in equation (9); it makes the moves smaller as the nests converge. Without it
    (`scaled` is False) the nest moves by alpha L, in fractions of the range. Then each
    coordinate moves with probability `abandon` by alpha r (x_j - x_k), where x_j and x_k are
    random nests and r is a random number from 0 to 1, equation (8).

    Parameters
    ----------
    size
        Number of nests.
    abandon
        Probability Pa that a coordinate of a nest is abandoned.
    alpha
        Scale of the steps.
    power
        Tail exponent lambda of the Levy flights.
    scaled
        Whether the flights are scaled by the distance from the best nest.

    References
    ----------
    X.-S. Yang, S. Deb, "Cuckoo search via Levy flights", NaBIC 2009.
    L. Ding, X. Li, Q. Li, Y. Chao, "Nonlinear friction and dynamical identification for a robot
    manipulator with improved cuckoo search algorithm", J. Robotics, 2018, equations (8) to (10).

    """

    name = 'cs'
    summary = 'cuckoo search: Levy flights and abandoned nests'

    def __init__(self, size: int = 25, abandon: float = 0.4, alpha: float = 0.25,
                 power: float = 1.5, scaled: bool = True) -> None:
        self.size = check_minimum('size', size, 2)
        self.abandon, self.alpha, self.power, self.scaled = abandon, alpha, power, scaled

    def _search(self, run: SearchRun) -> None:
        rng = run.rng
        nests = run.initial(self.size)
        costs = run.evaluate(nests)
        alphas = self._scales(rng)
        while True:
            alpha = next(alphas)
            flight = alpha * levy_steps(rng, nests.shape, self.power)
            if self.scaled:
                flight *= nests - run.best
            self._replace(run, nests, costs, nests + flight, alpha)
            abandoned = rng.random(nests.shape) < self.abandon
            first, second = rng.permutation(self.size), rng.permutation(self.size)
            step = alpha * rng.random((self.size, 1)) * (nests[first] - nests[second])
            self._replace(run, nests, costs, nests + abandoned * step, alpha)

    def _scales(self, rng: np.random.Generator) -> Iterator[float]:
        """Yield the step scale alpha for each generation."""
        while True:
            yield self.alpha

    def _replace(self, run: SearchRun, nests: Array, costs: Array, candidates: Array,
                 alpha: float) -> None:
        candidates = inside(candidates)
        new = run.evaluate(candidates)
        better = self._accept(costs, new, alpha)
        nests[better], costs[better] = candidates[better], new[better]

    def _accept(self, old: Array, new: Array, alpha: float) -> NDArray[np.bool_]:
        """Return which nests (costs `old`) are replaced by candidates (costs `new`), (P,) bool."""
        better: NDArray[np.bool_] = new < old
        return better


class ImprovedCuckooSearch(CuckooSearch):
    """
    Cuckoo search with chaotic step scales and "emotional" acceptance of worse nests.

    The step scale alpha follows the tent map x <- 2 gamma x (x <= 1/2) or 2 gamma (1 - x). A
    candidate whose cost is higher by dF has the emotion e = -k ln(exp(dF) / S0) = k (ln S0 - dF)
    and is accepted if alpha < e. The paper gives k = 1, but neither S0 nor the unit of F. The
    assumptions here are: dF is divided by the cost difference between the old nest and the best
    one, ln S0 is `threshold`, and the best nest is never replaced by a worse one.

    Parameters
    ----------
    size, abandon, power, scaled
        As for `CuckooSearch`.
    gain
        Gain gamma of the tent map.
    threshold
        Logarithm ln S0 of the emotion threshold.

    References
    ----------
    L. Ding, X. Li, Q. Li, Y. Chao, "Nonlinear friction and dynamical identification for a robot
    manipulator with improved cuckoo search algorithm", J. Robotics, 2018, equations (7), (12).

    """

    name = 'ics'
    summary = 'improved cuckoo search: chaotic steps, emotional acceptance'

    def __init__(self, size: int = 25, abandon: float = 0.4, power: float = 1.5,
                 gain: float = 0.6, threshold: float = 0.6, scaled: bool = True) -> None:
        super().__init__(size, abandon, 0.25, power, scaled)
        self.gain, self.threshold = gain, threshold

    def _scales(self, rng: np.random.Generator) -> Iterator[float]:
        x = rng.uniform(0.0, 1.0)
        while True:
            x = 2 * self.gain * (x if x <= 0.5 else 1 - x)
            yield max(x, SMALLEST)

    def _accept(self, old: Array, new: Array, alpha: float) -> NDArray[np.bool_]:
        scale = np.maximum(old - old.min(), SMALLEST * max(abs(float(old.min())), SMALLEST))
        with np.errstate(invalid='ignore'):
            emotion = self.threshold - (new - old) / scale
        accepted: NDArray[np.bool_] = (new < old) | ((alpha < emotion) & (old > old.min()))
        return accepted
