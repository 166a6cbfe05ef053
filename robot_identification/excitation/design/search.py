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
"""Many starts, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
import time

import numpy as np
from robot_identification.errors import ExcitationError
from robot_identification.excitation.design.optimisers.minimum import Minimum
from robot_identification.excitation.design.problem import Problem
from robot_identification.parallel import core_count

REPORT_EVERY = 0.2    # [s]


@dataclass(frozen=True)
class SearchProgress:
    """
    How far a search is.

    Parameters
    ----------
    fraction
        Part of the work that is done, 0 to 1 (of the time budget when that ends first).
    best
        Best value of the criterion so far, NaN before the first.
    seconds
        Since the beginning.
    finished, starts
        Starts that are done, and all.

    """

    fraction: float
    best: float
    seconds: float
    finished: int
    starts: int


Report = Callable[[SearchProgress], None]
Optimiser = Callable[..., Minimum]


def search(
    problem: Problem, optimiser: Optimiser, starts: int, seed: int,
    time_budget: float | None = None, good_enough: float | None = None,
    progress: Report | None = None, workers: int | None = None,
) -> list[Minimum]:
    """
    Optimise from several random starts; the kernels release the GIL, so threads suffice.

    Each start draws from its own stream, so the result depends on the seed and not on how many
    cores there are, unless the time budget ends the search.

    Parameters
    ----------
    problem
        What to solve.
    optimiser
        From `OPTIMISERS`.
    starts
        Number of random starts.
    seed
        Seed of the random starts.
    time_budget
        [s]; starts that run are then stopped, and those that wait are not begun (the first one
        always is).
    good_enough
        Value of the criterion at which all starts end.
    progress
        Called a few times a second from this thread; an exception from it ends the search.
    workers
        Threads; one for each core when None.

    Returns
    -------
    list of Minimum
        In the order of the starts; fewer than `starts` when the time ran out.

    Raises
    ------
    ExcitationError
        No start is possible.

    """
    began = time.monotonic()
    stopped = Event()
    state = {number: (np.nan, 0.0) for number in range(starts)}

    better = problem.objective.criterion.better

    def out_of_time() -> bool:
        return time_budget is not None and time.monotonic() - began > time_budget

    def run(number: int) -> Minimum | None:
        if number and (stopped.is_set() or out_of_time()):
            return None

        def stop(best: float, fraction: float) -> bool:
            state[number] = (best, fraction)
            if good_enough is not None and best == best and not better(good_enough, best):
                stopped.set()
            return stopped.is_set() or out_of_time()

        minimum = optimiser(problem, problem.start(np.random.default_rng([seed, number])), stop)
        state[number] = (minimum.value, 1.0)
        return minimum

    def report(done: int) -> None:
        seconds = time.monotonic() - began
        best = _best((value for value, _ in list(state.values())), better)
        fraction = sum(part for _, part in list(state.values())) / starts
        if time_budget is not None:
            fraction = max(fraction, min(1.0, seconds / time_budget) if time_budget > 0 else 1.0)
        if progress is not None:
            progress(SearchProgress(fraction, best, seconds, done, starts))

    with ThreadPoolExecutor(workers or core_count()) as pool:
        futures: list[Future[Minimum | None]] = [pool.submit(run, i) for i in range(starts)]
        pending = set(futures)
        try:
            while pending:
                done, pending = wait(pending, timeout=REPORT_EVERY, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                report(starts - len(pending))
        except BaseException:
            stopped.set()
            for future in futures:
                future.cancel()
            raise
    minima = [minimum for future in futures if (minimum := future.result()) is not None]
    if not minima:
        raise ExcitationError('the search ended before it met a motion; give it more time')
    return minima


def _best(values: Iterable[float], better: Callable[[float, float], bool]) -> float:
    """Return the best of the values that are numbers, NaN where there is none."""
    best = np.nan
    for value in values:
        if np.isnan(best) or better(value, best):
            best = value
    return best
