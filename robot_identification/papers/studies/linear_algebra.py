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
"""Every search against linear algebra: one squared cost, one box, cost and time."""

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
from robot_identification.papers.studies.verdict import Claim, judge

NEAR = 0.01
"""A search has arrived when its cost is this part above that of linear algebra."""
REPEATS, FEWER = 10, 2
"""Runs of the solver, whose processor time is printed as a distribution; and in a quick study."""
GRADIENT = 'gradient_descent'
"""The one search that is no population method."""
ROUNDING = 1e-9
FASTER = 10.0


@dataclass(frozen=True, eq=False)
class SearchComparison:
    """Tables, claims of ours, and the convergence of the searches."""

    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    plots: tuple[Plot, ...]


@dataclass(frozen=True)
class _Timed:
    """A result, its processor time [s] in the median and by repeat, and when it was near."""

    result: SearchResult
    repeats: tuple[float, ...]
    arrived: int | None

    @property
    def seconds(self) -> float:
        """Median processor time [s]."""
        return float(np.median(self.repeats))

    @property
    def until(self) -> float:
        """Processor time until it arrived, or until it ended without [s]."""
        part = 1.0 if self.arrived is None else self.arrived / self.result.evaluations
        return self.seconds * part


def compare_with_searches(friction: str, problem: SearchProblem, bounds: Bounds, budget: int,
                          options: StudyOptions) -> SearchComparison:
    """
    Minimise the squared cost by linear algebra and by every search, within the same bounds.

    Where the friction has shape numbers, the searches also run over these alone.

    Parameters
    ----------
    friction
        Name of the friction model, for titles.
    problem, bounds
        The unknowns and their box.
    budget
        Evaluations of a search over all unknowns.
    options
        Options of the study. `quick`: fewer repetitions of the solver. `seed`: of the searches.

    """
    cost = Squared(problem)
    whole = compare_solver(
        f'{friction}: all {problem.dimension} unknowns',
        'bounded least squares' if problem.linear else 'variable projection', cost, bounds,
        lambda: minimise_squared(cost, bounds), budget,
        options.stage(0.0, 1.0 if problem.linear else 0.7))
    if problem.linear:
        return whole
    alone = ProjectedObjective(cost, bounds)
    few = compare_solver(
        f'{friction}: the {alone.bounds.dimension} shape numbers alone, the linear parameters '
        f'eliminated', 'variable projection', alone, alone.bounds,
        lambda: minimise_squared(cost, bounds), budget // 40,
        options.stage(0.7, 1.0),
        ' Here the searches are given the other half of variable projection: the best linear '
        'parameters within their bounds.')
    return SearchComparison(whole.tables + few.tables, whole.claims + few.claims[:1],
                            whole.plots)


def compare_solver(title: str, label: str, cost: Callable[[Array], Array], bounds: Bounds,
                   solve: Callable[[], SearchResult], budget: int, options: StudyOptions,
                   note: str = '') -> SearchComparison:
    """
    Compare a solver of linear algebra with every search.

    Parameters
    ----------
    title, label
        What is compared, and the name of the solver.
    cost, bounds
        What the searches minimise, and where.
    solve
        The solver; its evaluations and cost must be those of the same cost.
    budget
        Evaluations of a search.
    options
        Options of the study. `quick`: fewer repetitions of the solver. `seed`: of the searches.
    note
        Added to the note of the table.

    """
    busy = []
    for _ in range(FEWER if options.quick else REPEATS):
        began = time.process_time()
        exact = solve()
        busy.append(time.process_time() - began)
    best = _Timed(exact, tuple(busy), exact.evaluations)
    cost(bounds.from_unit(np.full((1, bounds.dimension), 0.5)))     # rows are made once
    found: dict[str, _Timed] = {}
    names = list(SEARCHES)
    completed = options.map_items(_search, names, args=(cost, bounds, budget, options.seed))
    for k, (name, (result, seconds)) in enumerate(zip(names, completed), start=1):
        options.progress(f'squared cost, {name}', k / len(names))
        near = np.flatnonzero(result.history[:, 1] <= (1 + NEAR) * exact.cost)
        arrived = int(result.history[near[0], 0]) if len(near) else None
        found[name] = _Timed(result, (seconds,), arrived)
    return SearchComparison(
        (_table(title, label, best, found, note),), _claims(title, label, best, found),
        (_plot(title, label, best, found),))


def _search(name: str, cost: Callable[[Array], Array], bounds: Bounds, budget: int,
            seed: int) -> tuple[SearchResult, float]:
    """Return what a search finds, and its processor time [s]."""
    began = time.process_time()
    result = get_search(name).minimise(cost, bounds, budget=budget,
                                       rng=np.random.default_rng(seed))
    return result, time.process_time() - began


def _table(title: str, label: str, best: _Timed, found: Mapping[str, _Timed],
           note: str) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for name, timed in {label: best, **found}.items():
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
        note=f'Relative excess: over the cost of {label}. To {NEAR:.0%}: until the excess was at '
             f'most {NEAR:.0%}; ">": the search ended before. Times are of the processor, and '
             f'that of {label} contains its preparation, that of the searches does not. One run '
             f'of each search.' + note)


def _claims(title: str, label: str, best: _Timed,
            found: Mapping[str, _Timed]) -> tuple[Claim, ...]:
    lowest = min(found, key=lambda name: found[name].result.cost)
    fastest = min((name for name in found if name != GRADIENT),
                  key=lambda name: found[name].until)
    timed = found[fastest]
    reached = 'came within' if timed.arrived is not None else 'ended without coming within'
    busy = 1e3 * np.percentile(best.repeats, (0, 25, 50, 75, 100))
    return (
        judge(f'{label} reaches a cost no worse than the searches ({title})',
              best.result.cost * (1 - ROUNDING), [t.result.cost for t in found.values()],
              f'the lowest of {len(found)} searches is {lowest}, '
              f'{found[lowest].result.cost / best.result.cost - 1:.2g} above', ours=True),
        judge(f'{label} is at least ten times faster than the fastest population search '
              f'({title})', FASTER * np.array(best.repeats), timed.until,
              f'processor times [s], ten times those of {len(best.repeats)} repeats (least, '
              f'quartiles, most of one: {", ".join(f"{b:.3g}" for b in busy)} ms) against one '
              f'run of {fastest}, which {reached} {NEAR:.0%}: a factor of '
              f'{timed.until / best.seconds:.3g}', ours=True))


def _plot(title: str, label: str, best: _Timed, found: Mapping[str, _Timed]) -> Plot:
    plot = plot_convergence(f'Squared cost over evaluations, {title}', 'squared cost [-]',
                            {name: [timed.result] for name, timed in found.items()})
    last = max(line[1][-1] for line in plot.lines)
    ends = np.array([1.0, last])
    return Plot(plot.title, plot.x, plot.y,
                ((label, ends, np.full(2, best.result.cost)), *plot.lines), plot.log)
