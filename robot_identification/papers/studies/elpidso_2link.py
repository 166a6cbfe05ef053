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

import time

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches import Bounds, SearchResult
from robot_identification.papers.searches.bounded import Box
from robot_identification.papers.searches.elpidso import ElitistPidSwarm, minimise_quadratic
from robot_identification.papers.searches.result import CONVERGED
from robot_identification.papers.studies.linear_algebra import compare_solver
from robot_identification.papers.studies.repeat import (
    plot_convergence,
    repeat_searches,
    run_search,
    SearchSetup,
)
from robot_identification.papers.studies.study import (
    PAPER,
    Plot,
    StudyOptions,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.two_link import (
    SETTINGS,
    simulate_two_link,
    TwoLinkData,
)
from robot_identification.papers.studies.verdict import Claim, evaluate_claim

TRUE = np.array([6.7333, 3.4, 3.0, 0.0])
NAMES = ('alpha', 'beta', 'epsilon', 'eta')
FIT, CHECK = (0.25, 0.5, 1.0, 2.0, 4.0), (5.0, 5.5, 6.0)
RUNS = 10
SHOWN = 1.0
"""Frequency rho [Hz] for plots, the wide range of eta and the comparison with least squares."""
QUARTILES = (25, 50, 75)

PUBLISHED = Table(
    'Published finding (the numbers of Tables 3 to 9 are missing in our copy)',
    ('method', 'fitness (3) and error of the torques'),
    (('ELPIDSO', 'best'), ('SPSO', 'second'), ('GA', 'third'),
     ('LS', 'worst, though better than GA and SPSO in alpha, beta and epsilon')), PAPER)


def elpidso_2link(options: StudyOptions) -> StudyResult:
    """
    Compare least squares, GA, SPSO, ELPIDSO, differential evolution and CMA-ES.

    Parameters
    ----------
    options
        Options of the study. `quick`: two runs of 3000 evaluations. `seed`: first seed.

    References
    ----------
    D. Yan, Y. Lu, D. Levy, "Parameter identification of robot manipulators: a heuristic particle
    swarm search approach", PLoS ONE 10(6), 2015.

    """
    runs, budget = (2, 3000) if options.quick else (RUNS, 300_000)
    rng = np.random.default_rng(options.seed)
    data = {rho: simulate_two_link(rho, rng) for rho in (*FIT, *CHECK)}
    ranges = {'paper': Bounds(np.zeros(4), np.array([10.0, 5.0, 5.0, 5.0]), NAMES),
              'wide': Bounds(np.array([0.0, 0.0, 0.0, -5.0]), np.array([10.0, 5.0, 5.0, 5.0]),
                             NAMES)}
    results: dict[str, dict[float, dict[str, list[SearchResult]]]] = {}
    for index, (kind, bounds) in enumerate(ranges.items()):
        rhos = FIT if kind == 'paper' else (SHOWN,)
        results[kind] = {}
        for k, rho in enumerate(rhos):
            first, last = ((index + step / len(rhos)) / 2 for step in (k, k + 1))
            results[kind][rho] = repeat_searches(
                _setups(budget), data[rho], bounds, runs,
                options.stage(first, last, f'eta range {kind}, rho {rho:g}'),
                target=_optimum(data[rho], bounds) * (1 + 1e-9) + 1e-18, run=_run)
    least_squares: dict[float, Array] = {
        rho: np.asarray(np.linalg.lstsq(data[rho].rows, data[rho].target, rcond=None)[0],
                        dtype=np.float64) for rho in FIT}
    return _report(data, ranges, results, least_squares, runs, budget, options)


def _setups(budget: int) -> tuple[SearchSetup, ...]:
    return (
        SearchSetup('GA', 'ga', {'size': 20}, budget),
        SearchSetup('SPSO', 'spso', {'size': 20}, budget),
        SearchSetup('ELPIDSO', 'elpidso', {'size': 20}, budget),
        SearchSetup('differential evolution', 'differential_evolution', {}, budget),
        SearchSetup('CMA-ES', 'cma_es', {}, budget))


def _run(setup: SearchSetup, seed: int, data: TwoLinkData, bounds: Bounds,
         target: float) -> SearchResult:
    """Run a search; ELPIDSO, which moves one particle at a time, uses its compiled form."""
    if setup.search == ElitistPidSwarm.name:
        return minimise_quadratic(data.factor / np.sqrt(len(data.t)), bounds, setup.budget,
                                  np.random.default_rng(seed), target=target)
    return run_search(setup, seed, data, bounds, target)


def _bounded(data: TwoLinkData, bounds: Bounds) -> SearchResult:
    """Compute the exact optimum within the bounds by bounded least squares."""
    began = time.perf_counter()
    values = Box(bounds.lower, bounds.upper).solve(data.factor[:, :4], data.factor[:, 4])
    cost = float(data(values[None])[0])
    return SearchResult('bounded least squares', values, cost, 1, np.array([[1.0, cost]]),
                        CONVERGED, time.perf_counter() - began)


def _optimum(data: TwoLinkData, bounds: Bounds) -> float:
    return _bounded(data, bounds).cost


def _report(data: dict[float, TwoLinkData], ranges: dict[str, Bounds],
            results: dict[str, dict[float, dict[str, list[SearchResult]]]],
            least_squares: dict[float, Array], runs: int, budget: int,
            options: StudyOptions) -> StudyResult:
    paper = results['paper']
    labels = tuple(paper[FIT[0]])
    tables = []
    for rho in FIT:
        optimum = _optimum(data[rho], ranges['paper'])
        least_cost = float(data[rho](least_squares[rho][None])[0])
        rows: list[tuple[str | float, ...]] = [(
            'LS', *_floats(least_squares[rho]), least_cost, *('-',) * 8)]
        for label in labels:
            of_label = paper[rho][label]
            costs = np.array([r.cost for r in of_label])
            against = evaluate_claim('', [r.cost for r in paper[rho]['ELPIDSO']], costs)
            rows.append((label, *_floats(np.mean([r.values for r in of_label], axis=0)),
                         float(costs.mean()), float(costs.std()),
                         *_floats(np.percentile(costs / optimum - 1, (0, *QUARTILES, 100))),
                         float(np.median([r.evaluations for r in of_label])),
                         '-' if label == 'ELPIDSO' else against.p))
        tables.append(Table(
            f'rho = {rho:g}: {runs} runs of at most {budget} evaluations', (
                'method', *NAMES, 'fitness (3)', 'deviation', 'least excess', 'lower quartile',
                'median excess', 'upper quartile', 'largest excess', 'median evaluations',
                'p against ELPIDSO'),
            tuple(rows), note='True values: 6.7333, 3.4, 3, 0. Parameters and fitness are means '
            'over the runs; deviation is the standard deviation of the fitness, as in the paper. '
            'Excess: relative difference of the fitness from the optimum within the bounds; '
            'quartiles are shown because its distribution has a heavy tail. Searches end within '
            'a relative 1e-9 of the optimum. p: rank-sum test.'))
    wide = results['wide'][SHOWN]
    bare: list[tuple[str | float, ...]] = [
        ('LS', *_floats(least_squares[SHOWN]), float(data[SHOWN](least_squares[SHOWN][None])[0]))]
    for label, of_label in wide.items():
        bare.append((label, *_floats(np.mean([r.values for r in of_label], axis=0)),
                     float(np.mean([r.cost for r in of_label]))))
    tables.append(Table(
        'rho = 1, eta searched in [-5, 5]', ('method', *NAMES, 'fitness (3)'),
        tuple(bare),
        note='In the paper the true eta = 0 is a bound, so clipping to the bounds already finds '
             'it.'))
    tables += [_validation(data, paper, least_squares, labels), PUBLISHED]
    one = data[SHOWN]
    algebra = compare_solver(
        f'rho = {SHOWN:g}, 4 unknowns', 'bounded least squares', one, ranges['paper'],
        lambda: _bounded(one, ranges['paper']), 1000 if options.quick else 20_000,
        options.stage(0.95, 1.0))
    return StudyResult(
        name='elpidso_2link', title='ELPIDSO against LS, GA and SPSO on a two-link arm',
        reference='Yan, Lu, Levy, PLoS ONE 10(6), e0129157, 2015',
        settings={'runs': runs, 'evaluations': budget, 'population': 20,
                  'first seed': options.seed, **SETTINGS},
        assumptions=(
            'the arm starts horizontal and at rest; 10 s at 100 Hz (missing in our copy)',
            'white noise of 0.01 N m on the measured torques; states are exact',
            'm1 = 1, l1 = 1, lc1 = 0.5, I1 = 1/12, me = 3, lce = 1, Ie = 0.4, which give the '
            "paper's lambda", 'joints turn without end stops',
            'PID gains, velocity and position bounds and initial velocities of ELPIDSO, operators '
            'of GA and constants of SPSO (see their classes)',
            'mutations count as evaluations, so ELPIDSO runs a few generations less than 15 000'),
        tables=(*tables, *algebra.tables),
        claims=(*_claims(data, ranges, paper, least_squares, labels), *algebra.claims),
        plots=(plot_convergence('Fitness of the median run, rho = 1', 'fitness (3) [(N m)^2]',
                                paper[SHOWN]), _torque_plot(data, paper), *algebra.plots),
        quick=options.quick)


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


def _validation(data: dict[float, TwoLinkData], paper: dict[float, dict[str, list[SearchResult]]],
                least_squares: dict[float, Array], labels: tuple[str, ...]) -> Table:
    """Return a table of accumulated relative errors (31) at frequencies that were not fitted."""
    rows = []
    for label in ('LS', *labels):
        values = np.mean([least_squares[rho] if label == 'LS' else
                          np.mean([r.values for r in paper[rho][label]], axis=0)
                          for rho in FIT], axis=0)
        row: list[str | float] = [label]
        for rho in CHECK:
            error = np.abs(data[rho].rows @ values - data[rho].clean).reshape(-1, 2)
            size = np.abs(data[rho].clean).reshape(-1, 2)
            row += _floats(error.sum(axis=0) / size.sum(axis=0))
        rows.append(tuple(row))
    heads = tuple(f'rho {rho:g}, joint {j}' for rho in CHECK for j in (1, 2))
    return Table('Accumulated relative torque error on other frequencies', ('method', *heads),
                 tuple(rows), note='Reference: torque without noise and without its known part. '
                 'Parameters: mean over rho (assumed).')


def _claims(data: dict[float, TwoLinkData], ranges: dict[str, Bounds],
            paper: dict[float, dict[str, list[SearchResult]]], least_squares: dict[float, Array],
            labels: tuple[str, ...]) -> tuple[Claim, ...]:
    claims = []
    for rho in FIT:
        optimum = _optimum(data[rho], ranges['paper'])
        excess = {label: [r.cost / optimum - 1 for r in paper[rho][label]] for label in labels}
        claims += [evaluate_claim(
            f'{better} ends at a lower fitness than {worse}, rho = {rho:g}',
            excess[better], excess[worse], 'relative excess over the optimum')
                   for better, worse in (('ELPIDSO', 'SPSO'), ('SPSO', 'GA'))]
        claims.append(evaluate_claim(
            f'CMA-ES (package cma) ends at a lower fitness than ELPIDSO, rho = {rho:g}',
            excess['CMA-ES'], excess['ELPIDSO'], 'relative excess over the optimum', ours=True))
    work = {label: [r.evaluations for rho in FIT for r in paper[rho][label]] for label in labels}
    ratios = [r.cost / float(data[rho](least_squares[rho][None])[0])
              for rho in FIT for r in paper[rho]['ELPIDSO']]
    return (
        *claims,
        evaluate_claim('ELPIDSO needs fewer evaluations than SPSO', work['ELPIDSO'], work['SPSO'],
                       'evaluations until within 1e-9 of the optimum, or in all'),
        evaluate_claim(
            'LS has a worse fitness than ELPIDSO', ratios, 1.0,
            'fitness of ELPIDSO relative to LS, which minimises the convex quadratic (3) '
            'exactly, so no search can reach a lower fitness'))


def _torque_plot(data: dict[float, TwoLinkData],
                 paper: dict[float, dict[str, list[SearchResult]]]) -> Plot:
    check = data[CHECK[0]]
    best = paper[SHOWN]['ELPIDSO'][0].values
    predicted = (check.rows @ best).reshape(-1, 2)
    lines = (('measured, joint 1', check.t, check.target.reshape(-1, 2)[:, 0]),
             ('ELPIDSO, joint 1', check.t, predicted[:, 0]),
             ('measured, joint 2', check.t, check.target.reshape(-1, 2)[:, 1]),
             ('ELPIDSO, joint 2', check.t, predicted[:, 1]))
    return Plot(f'Torques at rho = {CHECK[0]:g} without the known part', 'time [s]',
                'torque [N m]', lines)
