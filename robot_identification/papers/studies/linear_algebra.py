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
"""Comparison of all searches with least squares for the same squared cost and bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import time

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches import Bounds, get_search, SEARCHES, SearchResult
from robot_identification.papers.searches.objective import Squared
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.projection import minimise_squared, ProjectedObjective
from robot_identification.papers.studies.repeat import plot_convergence
from robot_identification.papers.studies.study import Plot, StudyOptions, Table
from robot_identification.papers.studies.verdict import Claim, evaluate_claim

NEAR = 0.01
"""Relative excess over the cost of least squares at which a search counts as converged."""
REPEATS, FEWER = 10, 2
"""Number of timed runs of the least-squares solver, in a full and in a quick study."""
GRADIENT = 'gradient_descent'
"""The only search that is not a population method."""
ROUNDING = 1e-9
"""Relative tolerance when costs are compared."""
FASTER = 10.0
"""Claimed ratio of the time of the fastest population search to that of the solver."""


@dataclass(frozen=True, eq=False)
class SearchComparison:
    """Tables, claims and plots of a comparison."""

    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    plots: tuple[Plot, ...]


@dataclass(frozen=True)
class _Timed:
    """
    Result of a search or solver, with the processor times of its runs [s].

    `arrived` is the number of evaluations until convergence; None if it did not converge.
    """

    result: SearchResult
    repeats: tuple[float, ...]
    arrived: int | None

    @property
    def seconds(self) -> float:
        """Median processor time [s]."""
        return float(np.median(self.repeats))

    @property
    def until(self) -> float:
        """Processor time until convergence, or of the whole search if it did not converge [s]."""
        fraction = 1.0 if self.arrived is None else self.arrived / self.result.evaluations
        return self.seconds * fraction


def compare_with_searches(friction: str, problem: SearchProblem, bounds: Bounds, budget: int,
                          options: StudyOptions) -> SearchComparison:
    """
    Minimise the squared cost by least squares and by every search within the same bounds.

    If the friction has shape parameters, the searches also run on these alone, with the linear
    parameters eliminated.

    Parameters
    ----------
    friction
        Name of the friction model, for titles.
    problem, bounds
        Search problem, and bounds of its unknowns.
    budget
        Evaluations of a search over all unknowns.
    options
        Options of the study. `quick`: fewer repetitions of the solver. `seed`: seed of searches.

    """
    cost = Squared(problem)
    full = compare_solver(
        f'{friction}: all {problem.dimension} unknowns',
        'bounded least squares' if problem.linear else 'variable projection', cost, bounds,
        lambda: minimise_squared(cost, bounds), budget,
        options.stage(0.0, 1.0 if problem.linear else 0.7))
    if problem.linear:
        return full
    alone = ProjectedObjective(cost, bounds)
    few = compare_solver(
        f'{friction}: the {alone.bounds.dimension} shape parameters alone, with linear parameters '
        f'eliminated', 'variable projection', alone, alone.bounds,
        lambda: minimise_squared(cost, bounds), budget // 40,
        options.stage(0.7, 1.0),
        ' The searches vary the shape parameters only; for each shape the optimal linear '
        'parameters within their bounds are computed, as in variable projection.')
    return SearchComparison(full.tables + few.tables, full.claims + few.claims[:1],
                            full.plots)


def compare_solver(title: str, label: str, cost: Callable[[Array], Array], bounds: Bounds,
                   solve: Callable[[], SearchResult], budget: int, options: StudyOptions,
                   note: str = '') -> SearchComparison:
    """
    Compare a least-squares solver with every search.

    Parameters
    ----------
    title, label
        Title of the comparison, and name of the solver.
    cost, bounds
        Cost that the searches minimise, and bounds of its parameters.
    solve
        Function that runs the solver and returns its result for the same cost.
    budget
        Evaluations of a search.
    options
        Options of the study. `quick`: fewer repetitions of the solver. `seed`: seed of searches.
    note
        Text that is added to the note of the table.

    """
    busy = []
    for _ in range(FEWER if options.quick else REPEATS):
        began = time.process_time()
        exact = solve()
        busy.append(time.process_time() - began)
    best = _Timed(exact, tuple(busy), exact.evaluations)
    cost(bounds.from_unit(np.full((1, bounds.dimension), 0.5)))     # caches the rows
    searches: dict[str, _Timed] = {}
    names = list(SEARCHES)
    completed = options.map_items(_search, names, args=(cost, bounds, budget, options.seed))
    for k, (name, (result, seconds)) in enumerate(zip(names, completed), start=1):
        options.progress(f'squared cost, {name}', k / len(names))
        near = np.flatnonzero(result.history[:, 1] <= (1 + NEAR) * exact.cost)
        arrived = int(result.history[near[0], 0]) if len(near) else None
        searches[name] = _Timed(result, (seconds,), arrived)
    return SearchComparison(
        (_table(title, label, best, searches, note),), _claims(title, label, best, searches),
        (_plot(title, label, best, searches),))


def _search(name: str, cost: Callable[[Array], Array], bounds: Bounds, budget: int,
            seed: int) -> tuple[SearchResult, float]:
    """Return the result of a search, and its processor time [s]."""
    began = time.process_time()
    result = get_search(name).minimise(cost, bounds, budget=budget,
                                       rng=np.random.default_rng(seed))
    return result, time.process_time() - began


def _table(title: str, label: str, best: _Timed, searches: Mapping[str, _Timed],
           note: str) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for name, timed in {label: best, **searches}.items():
        result = timed.result
        slower = timed.until / best.seconds
        arrived: tuple[str | float, ...] = (
            ('-', f'> {slower:.0f}' if slower >= 10 else f'> {slower:.2g}')
            if timed.arrived is None else (float(timed.arrived), slower))
        rows.append((name, result.cost, result.cost / best.result.cost - 1,
                     float(result.evaluations), timed.seconds, *arrived))
    return Table(f'Squared cost within the same bounds, {title}', (
        'method', 'cost', 'relative excess', 'evaluations', 'processor time [s]',
        f'evaluations to {NEAR:.0%}', f'times slower to {NEAR:.0%}'), tuple(rows),
        note=f'Relative excess: relative difference of the cost from that of {label}. To '
             f'{NEAR:.0%}: until the excess was at most {NEAR:.0%}; ">": the search ended before. '
             f'The processor time of {label} includes its preparation, the times of the searches '
             f'do not. One run of each search.' + note)


def _claims(title: str, label: str, best: _Timed,
            searches: Mapping[str, _Timed]) -> tuple[Claim, ...]:
    lowest = min(searches, key=lambda name: searches[name].result.cost)
    fastest = min((name for name in searches if name != GRADIENT),
                  key=lambda name: searches[name].until)
    timed = searches[fastest]
    reached = 'came within' if timed.arrived is not None else 'ended without coming within'
    busy = 1e3 * np.percentile(best.repeats, (0, 25, 50, 75, 100))
    return (
        evaluate_claim(
            f'{label} reaches a cost no worse than the searches ({title})',
            best.result.cost * (1 - ROUNDING), [t.result.cost for t in searches.values()],
            f'best of {len(searches)} searches: {lowest}, with a relative excess of '
            f'{searches[lowest].result.cost / best.result.cost - 1:.2g}', ours=True),
        evaluate_claim(
            f'{label} is at least ten times faster than the fastest population search '
            f'({title})', FASTER * np.array(best.repeats), timed.until,
            f'processor times [s]: ten times that of {len(best.repeats)} runs of {label} '
            f'(minimum, quartiles and maximum of one run: {", ".join(f"{b:.3g}" for b in busy)} '
            f'ms) against one run of {fastest}, which {reached} {NEAR:.0%}; ratio '
            f'{timed.until / best.seconds:.3g}', ours=True))


def _plot(title: str, label: str, best: _Timed, searches: Mapping[str, _Timed]) -> Plot:
    plot = plot_convergence(f'Squared cost over evaluations, {title}', 'squared cost [-]',
                            {name: [timed.result] for name, timed in searches.items()})
    last = max(line[1][-1] for line in plot.lines)
    ends = np.array([1.0, last])
    return Plot(plot.title, plot.x, plot.y,
                ((label, ends, np.full(2, best.result.cost)), *plot.lines), plot.log)
