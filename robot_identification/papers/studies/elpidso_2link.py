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
"""Study of Yan et al. 2015: ELPIDSO particle swarm on a two-link arm with a payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches import Bounds, get_search, SearchResult
from robot_identification.papers.searches.elpidso import minimise_quadratic
from robot_identification.papers.studies import linear_algebra as solvers
from robot_identification.papers.studies import two_link
from robot_identification.papers.studies.repeat import cost_after, median_run, plot_convergence
from robot_identification.papers.studies.study import (
    Draw,
    LazyResults,
    PAPER,
    Plot,
    StudyOptions,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.verdict import Claim, LazyPairs, Pairs

TRUE = np.array([6.7333, 3.4, 3.0, 0.0])
NAMES = ('alpha', 'beta', 'epsilon', 'eta')
FIT, CHECK = (0.25, 0.5, 1.0, 2.0, 4.0), (5.0, 5.5, 6.0)
SHOWN, SOLVED = 1.0, 'rho = 1'
"""Frequency rho [Hz] for plots, the wide range of eta and the comparison with least squares."""
QUARTILES = (25, 50, 75)
LEAST = 1e-12
"""Smallest relative excess that is distinguished from zero."""
CONVERGENCE = (1e-9, 0.01)
"""Relative excess at which a search counts as converged, and another one."""
COUNTS = (1000, 10_000, 100_000, 300_000)
"""Evaluations at which the convergence is listed."""
COMPARED = ('LS', 'GA', 'SPSO', 'ELPIDSO')
"""Methods of the paper."""
LOUD = 0.1
"""[N m] larger noise of the torques."""
PAPER_RANGE = Bounds(np.zeros(4), np.array([10.0, 5.0, 5.0, 5.0]), NAMES)
WIDE = Bounds(np.array([0.0, 0.0, 0.0, -5.0]), PAPER_RANGE.upper, NAMES)
GAINS: dict[str, tuple[float, ...]] = {
    'ELPIDSO': (1.0, 0.05, 0.1, 1.0), 'ELPIDSO, leaking integral': (1.0, 0.05, 0.1, 0.5),
    'ELPIDSO, no integral': (1.0, 0.0, 0.1, 1.0)}
"""kp, ki at the start, kd, and the fraction of the integral that is kept in each step."""
SEARCHED = {'GA': ('ga', {'size': 20}), 'SPSO': ('spso', {'size': 20}),
            'differential evolution': ('differential_evolution', {}), 'CMA-ES': ('cma_es', {})}

TITLE = ('ELPIDSO against LS, GA and SPSO on a two-link arm',
         'Yan, Lu, Levy, PLoS ONE 10(6), e0129157, 2015')
PUBLISHED = Table(
    'Published finding (the numbers of Tables 3 to 9 are missing in our copy)',
    ('method', 'fitness (3) and error of the torques'),
    (('ELPIDSO', 'best'), ('SPSO', 'second'), ('GA', 'third'),
     ('LS', 'worst, though better than GA and SPSO in alpha, beta and epsilon')), PAPER)


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
    algebra: solvers.Algebra

    def least_squares(self, rho: float) -> Array:
        """Return the unbounded least-squares estimate (4,)."""
        return _least_squares(self.data[rho])

    def values(self, rho: float, method: str) -> Array:
        """Return the parameters (4,) of a method."""
        return self.least_squares(rho) if method == 'LS' else self.results[rho][method].values

    def excess(self, method: str) -> float:
        """Return the geometric mean over the frequencies of the relative excess."""
        return float(np.exp(np.mean([np.log(_excess(self.results[rho][method], self.data[rho]))
                                     for rho in FIT])))

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
        return np.array([np.abs(data.rows @ self.values(rho, method) - data.clean).reshape(
            -1, 2).sum(axis=0) for data in (self.data[check] for check in CHECK)])

    def prediction(self, method: str) -> float:
        """Return the geometric mean over the frequencies of E_a, summed over joints [N m]."""
        return float(np.exp(np.mean([np.log(self.accumulated(rho, method).sum())
                                     for rho in FIT])))


def elpidso_2link(options: StudyOptions) -> StudyResult:
    """
    Compare least squares, GA, SPSO, ELPIDSO, differential evolution and CMA-ES.

    Parameters
    ----------
    options
        Options of the study. `quick`: two draws of 3000 evaluations.

    References
    ----------
    D. Yan, Y. Lu, D. Levy, "Parameter identification of robot manipulators: a heuristic particle
    swarm search approach", PLoS ONE 10(6), 2015.

    """
    budget = 3000 if options.quick else 300_000
    draws = options.draws()
    done, claims = options.collect(_make_draw, _claims, draws[0], budget, options.quick)
    title, reference = TITLE
    if not done:
        return StudyResult('elpidso_2link', title, reference, {'seed': options.seed}, (), (),
                           claims, ())
    algebra = solvers.tables_and_plots(done[0].algebra)
    return StudyResult(
        name='elpidso_2link',
        title=title,
        reference=reference,
        settings={
            'draws': len(draws),
            'evaluations': budget,
            'population': 20,
            'seed': options.seed,
            **two_link.SETTINGS,
        },
        assumptions=(
            'the arm and its torques are printed, so a draw is noise and starts',
            'the arm starts horizontal and at rest; 10 s at 100 Hz (missing in our copy)',
            f'white noise of {two_link.NOISE:g} N m on the measured torques; states are exact',
            'm1 = 1, l1 = 1, lc1 = 0.5, I1 = 1/12, me = 3, lce = 1, Ie = 0.4, which give the '
            "paper's lambda",
            'joints turn without end stops',
            'PID gains kp = 1, ki = 0.05 (1 - t), kd = 0.1 without a leak of the integral; '
            'velocity and position bounds and initial velocities of ELPIDSO, operators of GA and '
            'constants of SPSO (see their classes)',
            'mutations count as evaluations, so ELPIDSO runs a few generations less than 15 000',
        ),
        tables=(
            *(_frequency(done, rho, budget) for rho in FIT),
            _accumulated(done),
            _convergence(done),
            _torque_errors(done),
            _wide(done[0]),
            _relative(done),
            PUBLISHED,
            *algebra[0],
        ),
        claims=claims,
        plots=(
            *(plot_convergence(
                f'Fitness of the median run, rho = {rho:g}', 'fitness (3) [(N m)^2]',
                {method: [one.results[rho][method] for one in done]
                 for method in done[0].results[rho]})
              for rho in (SHOWN, *(rho for rho in FIT if rho != SHOWN))),
            *(_torque_plot(done[0], rho, joint) for rho in CHECK for joint in (0, 1)),
            *algebra[1],
        ),
        quick=options.quick,
    )


def _make_draw(draw: Draw, first: Draw, budget: int, quick: bool) -> TwoLinkDraw:
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
        return _excess(_search(method, hanging, PAPER_RANGE, budget, [draw.start]), hanging)

    def cost(method: str) -> float:
        loud = special[two_link.HORIZONTAL, LOUD]
        return (float(loud(_least_squares(loud)[None])[0]) if method == 'LS' else
                _search(method, loud, PAPER_RANGE, budget, [draw.start]).cost)

    def compare(name: str, table: bool, evaluations: int) -> tuple[solvers.SolverComparison]:
        one = data[SHOWN]
        return (solvers.compare_solver(
            f'{name}, 4 unknowns', 'bounded least squares', one, PAPER_RANGE,
            lambda: one.optimum(PAPER_RANGE), draw, table=table, budget=evaluations),)

    return TwoLinkDraw(
        data, {rho: search(rho) for rho in FIT},
        LazyResults(('GA', 'SPSO', 'ELPIDSO'), excess), LazyResults(('ELPIDSO', 'LS'), cost),
        LazyResults(methods if draw == first else (), lambda method: _search(
            method, data[SHOWN], WIDE, budget, [draw.start])),
        solvers.lazy_algebra((SOLVED,), compare, table=draw == first, quick=quick))


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


def _excess(result: SearchResult, data: two_link.TwoLinkData) -> float:
    return max(result.cost / data.optimum(PAPER_RANGE).cost - 1, LEAST)


def _frequency(done: Sequence[TwoLinkDraw], rho: float, budget: int) -> Table:
    """Return the table of one frequency, as Tables 3 to 7 of the paper."""
    squares = [one.least_squares(rho) for one in done]
    rows: list[tuple[str | float, ...]] = [(
        'LS', *_floats(np.mean(squares, axis=0)),
        float(np.mean([one.data[rho](x[None])[0] for one, x in zip(done, squares)])),
        *('-',) * 7)]
    for method in done[0].results[rho]:
        results = [one.results[rho][method] for one in done]
        costs = np.array([r.cost for r in results])
        excess = [_excess(r, one.data[rho]) for r, one in zip(results, done)]
        rows.append((method, *_floats(np.mean([r.values for r in results], axis=0)),
                     float(costs.mean()), float(costs.std()),
                     *_floats(np.percentile(excess, (0, *QUARTILES, 100))),
                     float(np.median([r.evaluations for r in results]))))
    return Table(
        f'rho = {rho:g}: {len(done)} draws, at most {budget} evaluations', (
            'method', *NAMES, 'fitness (3)', 'deviation', 'least excess', 'lower quartile',
            'median excess', 'upper quartile', 'largest excess', 'median evaluations'),
        tuple(rows), note='True values: 6.7333, 3.4, 3, 0. Parameters and fitness are means over '
        'the draws; deviation is the standard deviation of the fitness, as in the paper. Excess: '
        'relative difference of the fitness from the optimum within the bounds; quartiles are '
        'shown because its distribution has a heavy tail. Searches end within a relative 1e-9 of '
        'the optimum. ELPIDSO is as printed; a leaking integral is halved in each step.')


def _accumulated(done: Sequence[TwoLinkDraw]) -> Table:
    """Return the accumulated errors (30) for each rho, as Table 8 of the paper."""
    rows: list[tuple[str | float, ...]] = [(f'{rho:g}', method, *_floats(np.mean(
        [one.accumulated(rho, method).ravel() for one in done], axis=0)))
            for rho in FIT for method in ('LS', *done[0].results[rho])]
    return Table(
        'Accumulated torque error E_a (30) [N m] on other frequencies, as in Table 8',
        ('identified at rho', 'method', *(f'rho {rho:g}, joint {j}' for rho in CHECK
                                          for j in (1, 2))), tuple(rows),
        note=f'Means over {len(done)} draws (30 runs in the paper, whose numbers are missing in '
             f'our copy). Sums over {len(done[0].data[CHECK[0]].t)} samples; reference: torque '
             f'without noise.')


def _relative(done: Sequence[TwoLinkDraw]) -> Table:
    """Return accumulated relative errors (31) at frequencies that were not fitted."""
    size = np.array([np.abs(done[0].data[rho].clean).reshape(-1, 2).sum(axis=0) for rho in CHECK])
    rows: list[tuple[str | float, ...]] = [
        (method, *_floats((np.mean([one.accumulated(rho, method) for one in done for rho in FIT],
                                   axis=0) / size).ravel()))
        for method in ('LS', *done[0].results[SHOWN])]
    return Table('Accumulated relative torque error (31) on other frequencies', (
        'method', *(f'rho {rho:g}, joint {j}' for rho in CHECK for j in (1, 2))), tuple(rows),
        note='Reference: torque without noise and without its known part. Means over the draws '
        'and the fitted frequencies.')


def _convergence(done: Sequence[TwoLinkDraw]) -> Table:
    """Return the fitness of the median run after several numbers of evaluations (Figure 4)."""
    rows: list[tuple[str | float, ...]] = []
    for rho in FIT:
        runs = {method: median_run([one.results[rho][method] for one in done])
                for method in done[0].results[rho]}
        rows += [(f'{rho:g}', method, *(cost_after(run, count) for count in COUNTS))
                 for method, run in runs.items()]
        rows.append((f'{rho:g}', 'LS', *('-',) * (len(COUNTS) - 1), float(np.median(
            [one.data[rho](one.least_squares(rho)[None])[0] for one in done]))))
    return Table(
        'Convergence: fitness (3) [(N m)^2] of the median run, as in Figure 4',
        ('rho', 'method', *(f'after {count} evaluations' for count in COUNTS)), tuple(rows),
        note='The figure is missing in our copy; its text says that the fitness of LS is the '
             'worst and that ELPIDSO has improved a lot over SPSO. LS minimises (3) without '
             'bounds, so in no draw a search ends below it. With an even number of draws, the '
             'median run is the lower one of the middle two, and LS the mean of both.')


def _torque_errors(done: Sequence[TwoLinkDraw]) -> Table:
    """Return the torque errors at frequencies that were not fitted (Figures 5 to 7)."""
    rows: list[tuple[str | float, ...]] = []
    for rho in CHECK:
        for method in ('LS', *done[0].results[SHOWN]):
            errors = np.abs([(one.data[rho].rows @ one.values(SHOWN, method)
                              - one.data[rho].clean).reshape(-1, 2) for one in done])
            rows.append((f'{rho:g}', method, *_floats(np.median(
                np.percentile(errors, (50, 100), axis=1), axis=1).T.ravel())))
    return Table(
        'Torque errors over time [N m], as in Figures 5 to 7', (
            'rho', 'method', *(f'joint {joint}, {kind}' for joint in (1, 2)
                               for kind in ('median', 'largest'))), tuple(rows),
        note=f'Median and largest absolute error over the time of one run, medians over '
             f'{len(done)} draws, identified at rho = {SHOWN:g}; reference: torque without '
             f'noise. The figures are missing in our copy; the paper says that ELPIDSO has the '
             f'smallest errors.')


def _wide(one: TwoLinkDraw) -> Table:
    square = one.least_squares(SHOWN)
    rows: list[tuple[str | float, ...]] = [
        ('LS', *_floats(square), float(one.data[SHOWN](square[None])[0]))]
    rows += [(method, *_floats(result.values), result.cost) for method, result in one.wide.items()]
    return Table(
        'rho = 1, eta searched in [-5, 5]', ('method', *NAMES, 'fitness (3)'), tuple(rows),
        note='First draw. In the paper the true eta = 0 is a bound, so clipping to the bounds '
        'already finds it.')


def _claims(done: Sequence[TwoLinkDraw]) -> tuple[Claim, ...]:
    def pairs(index: Callable[[TwoLinkDraw, str], float], low: str, high: str) -> Pairs:
        return LazyPairs(done, lambda one: (index(one, low), index(one, high)))

    def with_leaks(index: Callable[[TwoLinkDraw, str], float], low: str,
                   high: str) -> dict[tuple[str, str], Pairs]:
        return {('integral of the PID', leak.split(', ')[1]): pairs(
            index, *(leak if method == 'ELPIDSO' else method for method in (low, high)))
            for leak in list(GAINS)[1:]}

    def hanging(low: str, high: str) -> dict[tuple[str, str], Pairs]:
        return {('start of the arm', 'hanging, rho = 1'): LazyPairs(
            done, lambda one: (one.hanging[low], one.hanging[high]))}

    def count(excess: float) -> Callable[[TwoLinkDraw, str], float]:
        return lambda one, method: one.evaluations(method, excess)

    literal = 'PID without leak, Algorithm 1 line by line'
    excess = 'relative excess over the optimum, geometric mean over the five rho'
    error = 'E_a (30) [N m] at rho 5, 5.5 and 6, geometric mean over the five fitted rho'
    exact, target = CONVERGENCE
    return (
        Claim('ELPIDSO ends at a lower fitness than SPSO',
              pairs(TwoLinkDraw.excess, 'ELPIDSO', 'SPSO'), excess, literal=literal,
              variants={**with_leaks(TwoLinkDraw.excess, 'ELPIDSO', 'SPSO'),
                        **hanging('ELPIDSO', 'SPSO')}),
        Claim('SPSO ends at a lower fitness than GA', pairs(TwoLinkDraw.excess, 'SPSO', 'GA'),
              excess, literal='SPSO and GA of 20; their constants are missing in our copy',
              variants=hanging('SPSO', 'GA')),
        Claim('ELPIDSO needs fewer evaluations than SPSO',
              pairs(count(exact), 'ELPIDSO', 'SPSO'),
              'mean evaluations until within 1e-9 of the optimum, or in all', literal=literal,
              variants={('what counts as converged', f'within {target:.0%}'): pairs(
                  count(target), 'ELPIDSO', 'SPSO'),
                  **with_leaks(count(exact), 'ELPIDSO', 'SPSO')}),
        Claim('LS has a worse fitness than ELPIDSO',
              LazyPairs(done, lambda one: (float(np.mean([
                  one.results[rho]['ELPIDSO'].cost / one.data[rho](
                      one.least_squares(rho)[None])[0] for rho in FIT])), 1.0)),
              'fitness relative to LS, which minimises the convex quadratic (3) exactly, so no '
              'search can reach a lower fitness', literal=f'{literal}; LS by the pseudo-inverse',
              variants={('noise of the torques', f'{LOUD:g} N m, rho = 1'): LazyPairs(
                  done, lambda one: (one.loud['ELPIDSO'], one.loud['LS']))}),
        *(Claim(f'ELPIDSO predicts other frequencies better than {other}',
                pairs(TwoLinkDraw.prediction, 'ELPIDSO', other), error, literal=literal,
                variants=with_leaks(TwoLinkDraw.prediction, 'ELPIDSO', other))
          for other in ('SPSO', 'LS')),
        Claim('CMA-ES (package cma) ends at a lower fitness than ELPIDSO',
              pairs(TwoLinkDraw.excess, 'CMA-ES', 'ELPIDSO'), excess, ours=True, literal=literal,
              variants=with_leaks(TwoLinkDraw.excess, 'CMA-ES', 'ELPIDSO')),
        *solvers.solver_claims(done, SOLVED, linear=True))


def _torque_plot(one: TwoLinkDraw, rho: float, joint: int) -> Plot:
    """Return measured and predicted torques of a joint, as Figures 5 to 7 of the paper."""
    check = one.data[rho]
    torques = {'measured': check.target, **{method: check.rows @ one.values(SHOWN, method)
                                            for method in COMPARED}}
    return Plot(f'Torques at rho = {rho:g}, joint {joint + 1}, without the known part',
                'time [s]', 'torque [N m]', tuple(
                    (name, check.t, torque.reshape(-1, 2)[:, joint])
                    for name, torque in torques.items()))


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(float(x) for x in values)
