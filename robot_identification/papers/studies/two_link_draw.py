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
"""One draw of the study of Yan et al. 2015: data of the two-link arm, and searches."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches import Bounds, get_search, SearchResult
from robot_identification.papers.searches.elpidso import minimise_quadratic
from robot_identification.papers.studies import linear_algebra, two_link
from robot_identification.papers.studies.study import Draw, LazyResults
from robot_identification.papers.studies.verdict import LEAST

TRUE = np.array([6.7333, 3.4, 3.0, 0.0])
NAMES = ('alpha', 'beta', 'epsilon', 'eta')
FIT, CHECK = (0.25, 0.5, 1.0, 2.0, 4.0), (5.0, 5.5, 6.0)    # [Hz] printed frequencies rho
SHOWN, SOLVED = 1.0, 'rho = 1'
"""Frequency rho [Hz] for plots, the wide range of eta and the comparison with least squares."""
CONVERGENCE = (1e-9, 0.01)
"""Relative excess at which a search counts as converged, and another one."""
LOUD = 10 * two_link.NOISE
"""[N m] larger noise of the torques."""
PAPER_RANGE = Bounds(np.zeros(4), np.array([10.0, 5.0, 5.0, 5.0]), NAMES)
WIDE = Bounds(np.array([0.0, 0.0, 0.0, -5.0]), PAPER_RANGE.upper, NAMES)
GAINS: dict[str, tuple[float, ...]] = {
    'ELPIDSO': (1.0, 0.05, 0.1, 1.0), 'ELPIDSO, leaking integral': (1.0, 0.05, 0.1, 0.5),
    'ELPIDSO, no integral': (1.0, 0.0, 0.1, 1.0)}
"""kp, ki at the start, kd, and the fraction of the integral that is kept in each step."""
SEARCHED = {'GA': ('ga', {'size': 20}), 'SPSO': ('spso', {'size': 20}),
            'differential evolution': ('differential_evolution', {}), 'CMA-ES': ('cma_es', {})}


@dataclass(frozen=True, eq=False)
class TwoLinkDraw:
    """
    Results of one draw of noise and starts.

    `data` by frequency; `results` by frequency and method, `hanging` those of the arm that starts
    hanging and `loud` those of the louder noise, at `SHOWN`; `wide` those of the wide range.
    """

    data: Mapping[float, two_link.TwoLinkData]
    results: Mapping[float, Mapping[str, SearchResult]]
    hanging: Mapping[str, float]
    loud: Mapping[str, float]
    wide: Mapping[str, SearchResult]
    algebra: linear_algebra.Algebra

    def least_squares(self, rho: float) -> Array:
        """Return the unbounded least-squares estimate (4,)."""
        return _least_squares(self.data[rho])

    def values(self, rho: float, method: str) -> Array:
        """Return the parameters (4,) of a method."""
        return self.least_squares(rho) if method == 'LS' else self.results[rho][method].values

    def excess(self, method: str) -> float:
        """Return the geometric mean over the frequencies of the relative excess."""
        return float(np.exp(np.mean([np.log(relative_excess(
            self.results[rho][method].cost, self.data[rho])) for rho in FIT])))

    def evaluations(self, method: str, excess: float) -> float:
        """Return the mean evaluations until the cost is near the optimum; all if it never is."""
        counts = []
        for rho in FIT:
            result = self.results[rho][method]
            near = np.flatnonzero(
                result.history[:, 1] <= self.data[rho].optimum(PAPER_RANGE).cost * (1 + excess))
            counts.append(result.history[near[0], 0] if len(near) else result.evaluations)
        return float(np.mean(counts))

    def accumulated(self, rho: float, method: str) -> Array:
        """Return E_a (30) of both joints at the frequencies `CHECK`, (3, 2) [N m]."""
        return np.array([self.torque_errors(rho, method, check).sum(axis=0) for check in CHECK])

    def torque_errors(self, rho: float, method: str, check: float) -> Array:
        """Return the absolute errors of both joints at another frequency, (N, 2) [N m]."""
        data = self.data[check]
        return np.abs(data.rows @ self.values(rho, method) - data.clean).reshape(-1, 2)

    def prediction(self, method: str) -> float:
        """Return the geometric mean over the frequencies of E_a, summed over joints [N m]."""
        return float(np.exp(np.mean([np.log(self.accumulated(rho, method).sum())
                                     for rho in FIT])))


def make_two_link_draw(draw: Draw, first: Draw, budget: int, quick: bool) -> TwoLinkDraw:
    """Return the results of a draw, computed on first use; the tables show the draw `first`."""
    numbers = {rho: k for k, rho in enumerate((*FIT, *CHECK))}
    data = LazyResults(numbers, lambda rho: two_link.add_noise(
        two_link.simulate_two_link(rho), np.random.default_rng([draw.noise, numbers[rho]])))
    methods = (*SEARCHED, *GAINS)

    def search(rho: float) -> Mapping[str, SearchResult]:
        return LazyResults(methods, lambda method: _search(
            method, data[rho], PAPER_RANGE, budget, [draw.start, numbers[rho]]))

    special = LazyResults(
        ((two_link.HANGING, two_link.NOISE), (two_link.HORIZONTAL, LOUD)),
        lambda key: two_link.add_noise(two_link.simulate_two_link(SHOWN, key[0]),
                                       np.random.default_rng(draw.noise), key[1]))

    def excess(method: str) -> float:
        hanging = special[two_link.HANGING, two_link.NOISE]
        return relative_excess(
            _search(method, hanging, PAPER_RANGE, budget, [draw.start]).cost, hanging)

    def cost(method: str) -> float:
        loud = special[two_link.HORIZONTAL, LOUD]
        return (float(loud(_least_squares(loud)[None])[0]) if method == 'LS' else
                _search(method, loud, PAPER_RANGE, budget, [draw.start]).cost)

    def compare(name: str, table: bool, evaluations: int) -> linear_algebra.Comparisons:
        one = data[SHOWN]
        return (linear_algebra.compare_solver(
            f'{name}, 4 unknowns', 'bounded least squares', one, PAPER_RANGE,
            lambda: one.optimum(PAPER_RANGE), draw, table=table, budget=evaluations),)

    return TwoLinkDraw(
        data, {rho: search(rho) for rho in FIT},
        LazyResults(('GA', 'SPSO', 'ELPIDSO'), excess), LazyResults(('ELPIDSO', 'LS'), cost),
        LazyResults(methods if draw == first else (), lambda method: _search(
            method, data[SHOWN], WIDE, budget, [draw.start])),
        linear_algebra.lazy_algebra((SOLVED,), compare, table=draw == first, quick=quick))


def _search(method: str, data: two_link.TwoLinkData, bounds: Bounds, budget: int,
            seed: list[int]) -> SearchResult:
    """Run a search; ELPIDSO, which moves one particle at a time, uses its compiled form."""
    target = data.optimum(bounds).cost * (1 + CONVERGENCE[0]) + 1e-18
    rng = np.random.default_rng(seed)
    if method in GAINS:
        return minimise_quadratic(data.factor / np.sqrt(len(data.t)), bounds, budget, rng,
                                  target=target, gains=GAINS[method])
    name, settings = SEARCHED[method]
    return get_search(name, **settings).minimise(data, bounds, budget=budget, target=target,
                                                 rng=rng)


def _least_squares(data: two_link.TwoLinkData) -> Array:
    return np.asarray(np.linalg.lstsq(data.rows, data.target, rcond=None)[0], dtype=np.float64)


def relative_excess(cost: float, data: two_link.TwoLinkData) -> float:
    """Return the relative difference of a cost from the optimum, at least `LEAST`."""
    return max(cost / data.optimum(PAPER_RANGE).cost - 1, LEAST)
