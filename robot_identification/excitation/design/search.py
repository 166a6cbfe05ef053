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
"""Optimisation from several random starts in parallel."""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
import time

import numpy as np
from robot_identification.excitation.design.optimisers import OPTIMISERS
from robot_identification.excitation.design.options import DesignOptions
from robot_identification.excitation.design.problem import ATTEMPTS, Minimum, Problem
from robot_identification.parallel import core_count

REPORT_EVERY = 0.2    # [s] between calls of `progress`


@dataclass(frozen=True)
class SearchProgress:
    """
    Progress of a search from several random starts.

    Parameters
    ----------
    fraction
        Finished fraction of the work, or of the time budget if that is larger, 0 to 1.
    best
        Best value of the criterion so far, NaN before the first.
    seconds
        Time since the start of the search.
    finished, starts
        Numbers of finished starts and of all starts.

    """

    fraction: float
    best: float
    seconds: float
    finished: int
    starts: int


Report = Callable[[SearchProgress], None]


def search(problem: Problem, options: DesignOptions, time_budget: float | None = None,
           progress: Report | None = None) -> list[Minimum]:
    """
    Return the minima from several random starts, which run in threads.

    Each start has its own random stream, so the result does not depend on the number of cores,
    unless the time budget ends the search. The kernels release the GIL.

    Parameters
    ----------
    problem
        The problem.
    options
        Optimiser, number and seed of the starts, value that is good enough, number of threads.
    time_budget
        Time after which running optimisations are stopped and waiting starts are skipped [s]; the
        first start is never skipped.
    progress
        Called a few times a second from the calling thread; if it raises an exception, the search
        ends.

    Returns
    -------
    list of Minimum
        Results in the order of the starts; fewer than the starts if the time ran out.

    Raises
    ------
    ExcitationError
        No random start respects the constraints, or none excites all base parameters.

    """
    start_time = time.monotonic()
    stopped = Event()
    starts, good_enough = options.starts, options.good_enough
    state = dict.fromkeys(range(starts), (np.nan, 0.0))
    better = problem.objective.criterion.better

    def out_of_time() -> bool:
        return time_budget is not None and time.monotonic() - start_time > time_budget

    def run(index: int) -> Minimum | None:
        if index and (stopped.is_set() or out_of_time()):
            return None

        def stop(best: float, fraction: float) -> bool:
            state[index] = (best, fraction)
            if good_enough is not None and best == best and not better(good_enough, best):
                stopped.set()
            return stopped.is_set() or out_of_time()

        minimum = _minimise(problem, OPTIMISERS[options.optimiser],
                            np.random.default_rng([options.seed, index]), stop)
        state[index] = (minimum.value, 1.0)
        return minimum

    def report(done: int) -> None:
        seconds = time.monotonic() - start_time
        values, fractions = np.array(list(state.values())).T
        fraction = float(fractions.mean())
        if time_budget is not None:
            fraction = max(fraction, min(1.0, seconds / time_budget) if time_budget > 0 else 1.0)
        if progress is not None:
            best = np.fmax if problem.objective.criterion.larger_is_better else np.fmin
            progress(SearchProgress(fraction, float(best.reduce(values)), seconds, done, starts))

    with ThreadPoolExecutor(options.workers or core_count()) as pool:
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
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [minimum for future in futures if (minimum := future.result()) is not None]


def _minimise(problem: Problem, optimiser: Callable[..., Minimum], rng: np.random.Generator,
              stop: Callable[[float, float], bool]) -> Minimum:
    """Return the minimum from the first random start that excites all base parameters."""
    for _ in range(ATTEMPTS - 1):
        start = problem.start(rng)
        if np.isfinite(problem.objective.evaluate(start).merit):
            return optimiser(problem, start, stop)
    return optimiser(problem, problem.start(rng), stop)
