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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import time
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches import Bounds, get_search, SEARCHES, SearchResult
from robot_identification.papers.searches.objective import Squared
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.projection import minimise_squared, ProjectedObjective
from robot_identification.papers.searches.search_estimate import ABOVE
from robot_identification.papers.studies.repeat import plot_convergence
from robot_identification.papers.studies.study import Draw, LazyResults, Plot, Table
from robot_identification.papers.studies.verdict import Claim, LazyPairs, RELEVANT

NEAR = ABOVE - 1
"""Relative excess over the cost of least squares at which a search counts as converged."""
REPEATS = 3
"""Number of timed runs of the least-squares solver."""
GRADIENT = 'gradient_descent'
"""The only search that is not a population method."""
SLOWEST = 'elpidso'
"""Search that moves one particle at a time, and runs for the tables only."""
FASTER = 10.0
"""Claimed ratio of the time of the fastest population search to that of the solver."""
TABULATED, REPEATED, QUICK = 20_000, 3000, 500
"""Evaluations of a search for the table of the first draw, for the claims, and if quick."""
CLAIMS, TABLE = 'claims', 'table'
AlgebraKey = tuple[str, str]
"""`CLAIMS` or `TABLE`, and the name of the cost."""


@dataclass(frozen=True)
class _Timed:
    """
    Result of a search or solver, with its processor time [s].

    `arrived` is the number of evaluations until convergence; None if it did not converge.
    """

    result: SearchResult
    seconds: float
    arrived: int | None

    @property
    def until(self) -> float:
        """Processor time until convergence, or of the whole search if it did not converge [s]."""
        fraction = 1.0 if self.arrived is None else self.arrived / self.result.evaluations
        return self.seconds * fraction


@dataclass(frozen=True, eq=False)
class SolverComparison:
    """A least-squares solver and the searches on one cost."""

    title: str
    label: str
    budget: int
    best: _Timed
    searches: Mapping[str, _Timed]

    @property
    def costs(self) -> tuple[float, float]:
        """Cost of the solver, and the lowest cost of the searches."""
        return self.best.result.cost, min(t.result.cost for t in self.searches.values())

    @property
    def times(self) -> tuple[float, float]:
        """Processor time [s] of the solver, and of the fastest population search."""
        return self.best.seconds, min(
            timed.until for name, timed in self.searches.items() if name != GRADIENT)


Comparisons = tuple[SolverComparison, ...]
Algebra = Mapping[AlgebraKey, Comparisons]


def lazy_algebra(names: Sequence[str], compare: Callable[[str, bool, int], Any], *, table: bool,
                 quick: bool, shown: Sequence[str] = ()) -> Algebra:
    """
    Return the comparisons of solvers with searches in one draw, computed on first use.

    Parameters
    ----------
    names
        Names of the costs.
    compare
        Function that returns the comparisons for the name of a cost, whether a table shows them,
        and the number of evaluations of a search.
    table
        Whether the tables show this draw.
    quick
        Fewer evaluations.
    shown
        Names of further costs, which are for the tables only and have the evaluations of claims.

    """
    budgets = {CLAIMS: REPEATED, TABLE: TABULATED}
    return LazyResults(
        [*((kind, name) for kind in (CLAIMS, TABLE)[:1 + table] for name in names),
         *((TABLE, name) for name in shown if table)],
        lambda key: compare(key[1], key[0] == TABLE, QUICK if quick else REPEATED
                            if key[1] in shown else budgets[key[0]]))


def compare_with_searches(label: str, problem: SearchProblem, bounds: Bounds, draw: Draw, *,
                          table: bool, budget: int) -> Comparisons:
    """
    Minimise the squared cost by least squares and by the searches within the same bounds.

    If the friction has shape parameters, the searches also run on these alone for a table, with
    the linear parameters eliminated.

    Parameters
    ----------
    label
        Name of the friction model, for titles.
    problem, bounds
        Search problem, and bounds of its unknowns.
    draw, table, budget
        As for `compare_solver`.

    """
    cost = Squared(problem)
    full = compare_solver(
        f'{label}: all {problem.dimension} unknowns',
        'bounded least squares' if problem.linear else 'variable projection', cost, bounds,
        lambda: minimise_squared(cost, bounds), draw, table=table, budget=budget)
    if problem.linear or not table:
        return (full,)
    alone = ProjectedObjective(cost, bounds)
    return full, compare_solver(
        f'{label}: the {alone.bounds.dimension} shape parameters alone, with linear parameters '
        f'eliminated', 'variable projection', alone, alone.bounds,
        lambda: minimise_squared(cost, bounds), draw, table=table, budget=budget // 40)


def compare_solver(title: str, label: str, cost: Callable[[Array], Array], bounds: Bounds,
                   solve: Callable[[], SearchResult], draw: Draw, *, table: bool,
                   budget: int) -> SolverComparison:
    """
    Compare a least-squares solver with the searches.

    Parameters
    ----------
    title, label
        Title of the comparison, and name of the solver.
    cost, bounds
        Cost that the searches minimise, and bounds of its parameters.
    solve
        Function that runs the solver and returns its result for the same cost.
    draw
        Seeds; the start of the searches is used.
    table
        Whether the comparison is for a table; otherwise `SLOWEST` does not run.
    budget
        Evaluations of a search.

    """
    busy = []
    for _ in range(REPEATS):
        began = time.process_time()
        exact = solve()
        busy.append(time.process_time() - began)
    best = _Timed(exact, float(np.median(busy)), exact.evaluations)
    cost(bounds.from_unit(np.full((1, bounds.dimension), 0.5)))     # caches the rows
    searches: dict[str, _Timed] = {}
    for name in SEARCHES:
        if name == SLOWEST and not table:
            continue
        began = time.process_time()
        result = get_search(name).minimise(cost, bounds, budget=budget,
                                           rng=np.random.default_rng(draw.start))
        seconds = time.process_time() - began
        near = np.flatnonzero(result.history[:, 1] <= (1 + NEAR) * exact.cost)
        arrived = int(result.history[near[0], 0]) if len(near) else None
        searches[name] = _Timed(result, seconds, arrived)
    return SolverComparison(title, label, budget, best, searches)


def solver_claims(done: Sequence[Any], name: str, *, linear: bool) -> tuple[Claim, ...]:
    """
    Return the claims on a least-squares solver from the draws.

    Parameters
    ----------
    done
        Results of the draws, whose `algebra` are those of `lazy_algebra`.
    name
        Name of the cost.
    linear
        Whether the cost is quadratic in its unknowns.

    """
    def comparison(one: Any) -> SolverComparison:
        found: SolverComparison = one.algebra[CLAIMS, name][0]
        return found

    solver = 'bounded least squares' if linear else 'variable projection'
    claims = [Claim(
        f'{solver} reaches a cost no worse than the searches ({name}, all unknowns)',
        LazyPairs(done, lambda one: comparison(one).costs),
        f'cost; lowest of the searches with {REPEATED} evaluations', 1 / RELEVANT, ours=True)]
    if linear:
        claims.append(Claim(
            f'{solver} is at least ten times faster than the fastest population search ({name}, '
            f'all unknowns)', LazyPairs(done, lambda one: comparison(one).times),
            f'processor time [s]; of a search until it came within {NEAR:.0%}, or of the whole '
            f'search if it did not', FASTER, ours=True))
    return tuple(claims)


def _tabulate(comparison: SolverComparison) -> Table:
    """Return a table of costs and times of the solver and the searches."""
    best, label = comparison.best, comparison.label
    rows: list[tuple[str | float, ...]] = []
    for name, timed in {label: best, **comparison.searches}.items():
        result = timed.result
        slower = timed.until / best.seconds
        arrived: tuple[str | float, ...] = (
            ('-', f'> {slower:.0f}' if slower >= 10 else f'> {slower:.2g}')
            if timed.arrived is None else (float(timed.arrived), slower))
        rows.append((name, result.cost, result.cost / best.result.cost - 1,
                     float(result.evaluations), timed.seconds, *arrived))
    return Table(f'Squared cost within the same bounds, {comparison.title}', (
        'method', 'cost', 'relative excess', 'evaluations', 'processor time [s]',
        f'evaluations to {NEAR:.0%}', f'times slower to {NEAR:.0%}'), tuple(rows),
        note=f'First draw. Relative excess: relative difference of the cost from that of {label}. '
             f'To {NEAR:.0%}: until the excess was at most {NEAR:.0%}; ">": the search ended '
             f'before. The processor time of {label} includes its preparation, the times of the '
             f'searches do not. One run of each search.')


def _plot(comparison: SolverComparison) -> Plot:
    """Return a plot of the squared cost over the evaluations of the searches."""
    plot = plot_convergence(
        f'Squared cost over evaluations, {comparison.title}', 'squared cost [-]',
        {name: [timed.result] for name, timed in comparison.searches.items()})
    last = max(line[1][-1] for line in plot.lines)
    ends = np.array([1.0, last])
    return Plot(plot.title, plot.x, plot.y, (
        (comparison.label, ends, np.full(2, comparison.best.result.cost)), *plot.lines), plot.log)


def tables_and_plots(algebra: Algebra) -> tuple[tuple[Table, ...], tuple[Plot, ...]]:
    """Return the tables and plots of the comparisons that are meant for tables."""
    shown = [each for (kind, _), found in algebra.items() if kind == TABLE for each in found]
    return tuple(map(_tabulate, shown)), tuple(map(_plot, shown))
