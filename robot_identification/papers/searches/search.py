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
"""Base class of the searches, with budget, history, progress and stopping."""

from abc import ABC, abstractmethod
from collections.abc import Callable
import time
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, IndexArray
from robot_identification.errors import EstimationError
from robot_identification.papers.searches.bounds import Bounds
from robot_identification.papers.searches.result import (
    BUDGET,
    CONVERGED,
    SearchResult,
    STOPPED,
    TARGET,
)
from robot_identification.registry import Registry

Cost = Callable[[Array], Array]
"""Maps a population (P, d) to its costs (P,)."""
Progress = Callable[[float, float], None]
"""Called with the used fraction of the budget, 0 to 1, and the best cost so far."""


class _Ended(Exception):  # noqa: N818 - not an error: it ends a run from inside an evaluation
    """Signal that a run has ended; `status` is the reason."""

    def __init__(self, status: str) -> None:
        self.status = status
        super().__init__(status)


class SearchRun:
    """
    One run of a search, which evaluates points of the unit cube and keeps the best one.

    Parameters
    ----------
    cost, bounds, budget, rng, start, target, progress, stop
        As for `Search.minimise`.

    """

    def __init__(self, cost: Cost, bounds: Bounds, budget: int, rng: np.random.Generator,
                 start: ArrayLike | None, target: float, *, progress: Progress | None,
                 stop: Callable[[], bool] | None) -> None:
        self.bounds, self.budget, self.rng = bounds, budget, rng
        self.used = 0
        self.best = np.full(bounds.dimension, 0.5)
        self.best_cost = np.inf
        self.history: list[tuple[float, float]] = []
        self.start = None if start is None else bounds.to_unit(start)
        self._cost, self._target = cost, target
        self._progress, self._stop = progress, stop

    @property
    def dimension(self) -> int:
        """Number of parameters d."""
        return self.bounds.dimension

    @property
    def fraction(self) -> float:
        """Used fraction of the budget, 0 to 1."""
        return self.used / self.budget

    def initial(self, size: int) -> Array:
        """Return a uniformly random population (size, d); a given start is its first member."""
        population = self.rng.random((size, self.dimension))
        if self.start is not None:
            population[0] = self.start
        return population

    def evaluate(self, unit: Array) -> Array:
        """
        Return the costs (P,) of points of the unit cube (P, d).

        The cost of points beyond the budget is infinite, and so is a cost of NaN.

        Raises
        ------
        _Ended
            The budget is used up, the target is reached, or the caller stopped the search.

        """
        left = self.budget - self.used
        if left <= 0:
            raise _Ended(BUDGET)
        if self._stop is not None and self._stop():
            raise _Ended(STOPPED)
        costs = np.full(len(unit), np.inf)
        count = min(left, len(unit))
        values = np.asarray(self._cost(self.bounds.from_unit(unit[:count])), dtype=float)
        costs[:count] = np.where(np.isnan(values), np.inf, values)
        self.used += count
        winner = int(np.argmin(costs))
        if costs[winner] < self.best_cost:
            self.best_cost, self.best = float(costs[winner]), unit[winner].copy()
        self.history.append((self.used, self.best_cost))
        if self._progress is not None:
            self._progress(self.fraction, self.best_cost)
        if self.best_cost <= self._target:
            raise _Ended(TARGET)
        if count < len(unit):
            raise _Ended(BUDGET)
        return costs


class Search(ABC):
    """
    Base class of searches for the minimum of a cost within bounds.

    Subclasses implement `_search`, an endless loop over generations in the unit cube. When the
    budget is used up, `run.evaluate` ends the loop by an exception. A search that returns from
    `_search` has converged.

    Attributes
    ----------
    name
        Key in `SEARCHES`.
    summary
        One line for tables.
    eliminates
        Whether the estimator of the search by default searches the friction shapes only.

    """

    name: ClassVar[str]
    summary: ClassVar[str]
    eliminates: ClassVar[bool] = False

    def minimise(
        self,
        cost: Cost,
        bounds: Bounds,
        *,
        budget: int,
        rng: np.random.Generator,
        start: ArrayLike | None = None,
        target: float = -np.inf,
        progress: Progress | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> SearchResult:
        """
        Search for the minimum of a cost within bounds.

        Parameters
        ----------
        cost
            Function from a population (P, d) to its costs (P,).
        bounds
            Bounds of the d parameters.
        budget
            Largest number of evaluations of the cost.
        rng
            Random generator; equal seeds give equal runs.
        start
            Initial guess within the bounds, (d,).
        target
            Cost at or below which the search ends.
        progress
            Called after each generation.
        stop
            Called before each generation; the search ends if it returns True.

        Raises
        ------
        EstimationError
            The budget is not positive, no point has a finite cost, or the start is out of bounds.

        """
        if budget < 1:
            raise EstimationError(f'a search needs a budget of at least one evaluation, '
                                  f'not {budget}')
        began = time.perf_counter()
        run = SearchRun(cost, bounds, budget, rng, start, target,
                        progress=progress, stop=stop)
        status = CONVERGED
        try:
            self._search(run)
        except _Ended as end:
            status = end.status
        if not np.isfinite(run.best_cost):
            raise EstimationError(f'the search {self.name} found no point with finite cost within '
                                  f'{run.used} evaluations; check the data and the bounds')
        return SearchResult(
            self.name, bounds.from_unit(run.best), run.best_cost, run.used,
            np.array(run.history).reshape(-1, 2), status, time.perf_counter() - began)

    @abstractmethod
    def _search(self, run: SearchRun) -> None:
        """Search the unit cube until `run.evaluate` raises, or return when converged."""


def inside(unit: Array) -> Array:
    """Clip points (..., d) to the unit cube."""
    points: Array = np.minimum(np.maximum(unit, 0.0), 1.0)
    return points


def draw_other_members(rng: np.random.Generator, chosen: IndexArray, size: int) -> IndexArray:
    """Return for each chosen index a different random one below `size`, (len(chosen),) int."""
    draw = rng.integers(0, size - 1, len(chosen))
    return draw + (draw >= chosen)


def check_minimum(name: str, value: int, minimum: int) -> int:
    """
    Return a setting of a search if it is at least a minimum.

    Raises
    ------
    EstimationError
        The value is below the minimum.

    """
    if value < minimum:
        raise EstimationError(f'the setting {name} of a search must be at least {minimum}, not '
                              f'{value}')
    return value


SEARCHES: Registry[type[Search]] = Registry('search', {})


def get_search(name: str, **settings: Any) -> Search:
    """
    Return the search with the given name and settings.

    Parameters
    ----------
    name
        Key in `SEARCHES`.
    settings
        Settings of the search, for instance size=25.

    Raises
    ------
    UnknownNameError
        No search has this name; the message lists the known ones.
    ConfigurationError
        The search does not have a setting, or a value has the wrong type.

    Examples
    --------
    >>> search = get_search('pso', size=25)
    >>> result = search.minimise(cost, bounds, budget=10_000, rng=rng)    # doctest: +SKIP

    """
    built: Search = SEARCHES.build(name, settings)
    return built
