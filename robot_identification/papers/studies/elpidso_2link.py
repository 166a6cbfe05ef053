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
"""Yan 2015: particle swarm with PID and elitist learning on a two-link arm with a payload."""

from __future__ import annotations

from dataclasses import dataclass
import time

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.files import shared_folder
from robot_identification.papers.searches import Bounds, SearchResult
from robot_identification.papers.searches.bounded import Box
from robot_identification.papers.searches.elpidso import ElitistPidSwarm, minimise_quadratic
from robot_identification.papers.searches.result import CONVERGED
from robot_identification.papers.studies.linear_algebra import against_searches
from robot_identification.papers.studies.repeat import Contestant, convergence, repeat, run_search
from robot_identification.papers.studies.study import (
    MapFunction,
    PAPER,
    part_of,
    Plot,
    Progress,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.verdict import Claim, judge
from robot_identification.simulation import Plant, PlantOptions

TRUE = np.array([6.7333, 3.4, 3.0, 0.0])
NAMES = ('alpha', 'beta', 'epsilon', 'eta')
FIT, CHECK = (0.25, 0.5, 1.0, 2.0, 4.0), (5.0, 5.5, 6.0)
LENGTH, LEVER, GRAVITY = 1.0, 0.5, 9.81
E1 = 1.0 * LENGTH * LEVER - 1 / 12 - 1.0 * LEVER ** 2
E2 = GRAVITY / LENGTH
DURATION, RATE, NOISE = 10.0, 100.0, 0.01
RUNS = 10
SHOWN = 1.0
"""rho of the plots, of the wide range of eta and of the comparison with linear algebra."""
QUARTILES = (25, 50, 75)

PUBLISHED = Table(
    'Published finding (the numbers of its Tables 3 to 9 are lost)',
    ('method', 'fitness (3) and error of the torques'),
    (('ELPIDSO', 'best'), ('SPSO', 'second'), ('GA', 'third'),
     ('LS', 'worst, though better than GA and SPSO in alpha, beta and epsilon')), PAPER)


@dataclass(frozen=True, eq=False)
class _Data:
    """Rows of the affine model, its clean and noisy torques, with its triangular factor."""

    t: Array
    rows: Array
    clean: Array
    target: Array
    factor: Array

    def __call__(self, population: Array) -> Array:
        """Return the mean squared torque error (3), (P,)."""
        values = np.column_stack([population, -np.ones(len(population))])
        cost: Array = np.sum((values @ self.factor.T) ** 2, axis=1) / len(self.t)
        return cost


def elpidso_2link(quick: bool, seed: int, progress: Progress,
                  map_items: MapFunction) -> StudyResult:
    """
    Compare LS, GA, SPSO and ELPIDSO, as the paper does, and differential evolution and CMA-ES.

    Parameters
    ----------
    quick
        Two runs of 3000 evaluations.
    seed
        The first seed.
    progress
        Called with what is done and the part of it.
    map_items
        `study.map_items`, or that of a cluster.

    References
    ----------
    D. Yan, Y. Lu, D. Levy, "Parameter identification of robot manipulators: a heuristic particle
    swarm search approach", PLoS ONE 10(6), 2015.

    """
    runs, budget = (2, 3000) if quick else (RUNS, 300_000)
    rng = np.random.default_rng(seed)
    data = {rho: _simulate(rho, rng) for rho in (*FIT, *CHECK)}
    ranges = {'paper': Bounds(np.zeros(4), np.array([10.0, 5.0, 5.0, 5.0]), NAMES),
              'wide': Bounds(np.array([0.0, 0.0, 0.0, -5.0]), np.array([10.0, 5.0, 5.0, 5.0]),
                             NAMES)}
    results: dict[str, dict[float, dict[str, list[SearchResult]]]] = {}
    for number, (kind, bounds) in enumerate(ranges.items()):
        rhos = FIT if kind == 'paper' else (SHOWN,)
        results[kind] = {}
        for k, rho in enumerate(rhos):
            first, last = ((number + part / len(rhos)) / 2 for part in (k, k + 1))
            results[kind][rho] = repeat(
                _contestants(budget), data[rho], bounds, runs, seed, map_items,
                part_of(progress, first, last, f'eta range {kind}, rho {rho:g}'),
                target=_optimum(data[rho], bounds) * (1 + 1e-9) + 1e-18, run=_run)
    least: dict[float, Array] = {
        rho: np.asarray(np.linalg.lstsq(data[rho].rows, data[rho].target, rcond=None)[0],
                        dtype=np.float64) for rho in FIT}
    return _report(data, ranges, results, least, runs, budget, quick, seed, progress, map_items)


def _contestants(budget: int) -> tuple[Contestant, ...]:
    return (
        Contestant('GA', 'ga', {'size': 20}, budget),
        Contestant('SPSO', 'spso', {'size': 20}, budget),
        Contestant('ELPIDSO', 'elpidso', {'size': 20}, budget),
        Contestant('differential evolution', 'differential_evolution', {}, budget),
        Contestant('CMA-ES', 'cma_es', {}, budget))


def _run(contestant: Contestant, seed: int, data: _Data, bounds: Bounds,
         target: float) -> SearchResult:
    """Run a search; ELPIDSO, whose particles move one after another, in its compiled form."""
    if contestant.search == ElitistPidSwarm.name:
        return minimise_quadratic(data.factor / np.sqrt(len(data.t)), bounds, contestant.budget,
                                  np.random.default_rng(seed), target=target)
    return run_search(contestant, seed, data, bounds, target)


def _simulate(rho: float, rng: np.random.Generator) -> _Data:
    """Let the arm swing under the paper's torques, from level and at rest."""
    options = PlantOptions(
        inertia_error=0.0, coulomb=(0.0, 0.0), viscous=(0.0, 0.0), rotor_inertia=(0.0, 0.0),
        stribeck_ratio=1.0, delay=0.0, encoder_bits=None, step=0.0005)
    plant = Plant(Arm.from_urdf(shared_folder('urdf') / 'two_link.urdf'), options)
    plant.reset(np.zeros(2), torque=np.zeros(2))
    every = round(1 / (RATE * options.step))
    states = []
    for k in range(round(DURATION / options.step)):
        phase = 2 * rho * np.pi * k * options.step
        plant.step(0.1 * np.array([np.sin(phase), np.cos(phase)]))
        if k % every == 0:
            states.append(plant.last)
    q, v, a, torque = (np.array([getattr(state, name) for state in states])
                       for name in ('q', 'v', 'a', 'torque'))
    rows = _regressor(q, v, a).reshape(-1, 4)
    known = np.column_stack([E1 * E2 * np.cos(q[:, 0]), np.zeros(len(q))]).ravel()
    clean = torque.ravel() - known
    target = clean + NOISE * rng.standard_normal(clean.shape)
    factor = np.linalg.qr(np.column_stack([rows, target]))[1]
    return _Data(np.array([state.t for state in states]), rows, clean, target, factor)


def _regressor(q: Array, v: Array, a: Array) -> Array:
    """Return Y (N, 2, 4) of Slotine and Li's arm."""
    c2, s2 = np.cos(q[:, 1]), np.sin(q[:, 1])
    c1, c12, s12 = np.cos(q[:, 0]), np.cos(q.sum(axis=1)), np.sin(q.sum(axis=1))
    v1, v2, a1, a2 = v[:, 0], v[:, 1], a[:, 0], a[:, 1]
    swirl = 2 * v1 * v2 + v2 ** 2
    first = [a1 + E2 * c1, a2 - E2 * c1,
             2 * c2 * a1 + c2 * a2 - s2 * swirl + E2 * c12,
             2 * s2 * a1 + s2 * a2 + c2 * swirl + E2 * s12]
    second = [np.zeros_like(a1), a1 + a2, c2 * a1 + s2 * v1 ** 2 + E2 * c12,
              s2 * a1 - c2 * v1 ** 2 + E2 * s12]
    return np.stack([np.stack(first, axis=-1), np.stack(second, axis=-1)], axis=1)


def _bounded(data: _Data, bounds: Bounds) -> SearchResult:
    """Return bounded least squares, which is exact."""
    began = time.perf_counter()
    values = Box(bounds.lower, bounds.upper).solve(data.factor[:, :4], data.factor[:, 4])
    cost = float(data(values[None])[0])
    return SearchResult('bounded least squares', values, cost, 1, np.array([[1.0, cost]]),
                        CONVERGED, time.perf_counter() - began)


def _optimum(data: _Data, bounds: Bounds) -> float:
    return _bounded(data, bounds).cost


def _report(data: dict[float, _Data], ranges: dict[str, Bounds],
            results: dict[str, dict[float, dict[str, list[SearchResult]]]],
            least: dict[float, Array], runs: int, budget: int, quick: bool,
            seed: int, progress: Progress, map_items: MapFunction) -> StudyResult:
    paper = results['paper']
    labels = tuple(paper[FIT[0]])
    tables = []
    for rho in FIT:
        optimum = _optimum(data[rho], ranges['paper'])
        least_cost = float(data[rho](least[rho][None])[0])
        rows: list[tuple[str | float, ...]] = [(
            'LS', *_floats(least[rho]), least_cost, *('-',) * 8)]
        for label in labels:
            found = paper[rho][label]
            costs = np.array([r.cost for r in found])
            against = judge('', [r.cost for r in paper[rho]['ELPIDSO']], costs)
            rows.append((label, *_floats(np.mean([r.values for r in found], axis=0)),
                         float(costs.mean()), float(costs.std()),
                         *_floats(np.percentile(costs / optimum - 1, (0, *QUARTILES, 100))),
                         float(np.median([r.evaluations for r in found])),
                         '-' if label == 'ELPIDSO' else against.p))
        tables.append(Table(
            f'rho = {rho:g}: {runs} runs of at most {budget} evaluations', (
                'method', *NAMES, 'fitness (3)', 'deviation', 'least excess', 'lower quartile',
                'median excess', 'upper quartile', 'largest excess', 'median evaluations',
                'p against ELPIDSO'),
            tuple(rows), note='True values 6.7333, 3.4, 3, 0. Parameters and fitness: means, and '
            'deviation of the fitness, as the paper prints them. Excess: of the fitness over the '
            'optimum within the bounds, relative; its distribution has a heavy tail, so a mean '
            'says little. Searches end when they are within 1e-9 of the optimum. p: rank-sum '
            'test.'))
    wide = results['wide'][SHOWN]
    bare: list[tuple[str | float, ...]] = [
        ('LS', *_floats(least[SHOWN]), float(data[SHOWN](least[SHOWN][None])[0]))]
    for label, found in wide.items():
        bare.append((label, *_floats(np.mean([r.values for r in found], axis=0)),
                     float(np.mean([r.cost for r in found]))))
    tables.append(Table(
        'rho = 1, eta searched in [-5, 5]', ('method', *NAMES, 'fitness (3)'),
        tuple(bare),
        note='In the paper the true eta = 0 lies on its bound, which clipping finds for free.'))
    tables += [_validation(data, paper, least, labels), PUBLISHED]
    one = data[SHOWN]
    algebra = against_searches(
        f'rho = {SHOWN:g}, 4 unknowns', 'bounded least squares', one, ranges['paper'],
        lambda: _bounded(one, ranges['paper']), 1000 if quick else 20_000, seed,
        part_of(progress, 0.95, 1.0), map_items, quick=quick)
    return StudyResult(
        name='elpidso_2link', title='ELPIDSO against LS, GA and SPSO on a two-link arm',
        reference='Yan, Lu, Levy, PLoS ONE 10(6), e0129157, 2015',
        settings={'runs': runs, 'evaluations': budget, 'population': 20,
                  'first seed': seed, 'rate [Hz]': RATE, 'duration [s]': DURATION,
                  'torque noise, standard deviation [N m]': NOISE},
        assumptions=(
            'start level and at rest, 10 s at 100 Hz (lost in the paper)',
            'white noise of 0.01 N m on the measured torques; states are exact',
            'm1 = 1, l1 = 1, lc1 = 0.5, I1 = 1/12, me = 3, lce = 1, Ie = 0.4, which give the '
            "paper's lambda", 'joints turn without end stops',
            'PID gains, bounds of velocity and position, first velocities of ELPIDSO; GA '
            'operators and SPSO constants (see the searches)',
            'evaluations of mutations count, so ELPIDSO makes a few generations less than 15 000'),
        tables=(*tables, *algebra.tables),
        claims=(*_claims(data, ranges, paper, least, labels), *algebra.claims),
        plots=(convergence('Fitness of the median run, rho = 1', 'fitness (3) [(N m)^2]',
                           paper[SHOWN]), _torque_plot(data, paper), *algebra.plots), quick=quick)


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


def _validation(data: dict[float, _Data], paper: dict[float, dict[str, list[SearchResult]]],
                least: dict[float, Array], labels: tuple[str, ...]) -> Table:
    """Return accumulated relative errors (31) on the frequencies that were not fitted."""
    rows = []
    for label in ('LS', *labels):
        values = np.mean([least[rho] if label == 'LS' else
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
                 tuple(rows), note='Against the clean torque less its known part, with the mean '
                 'of the parameters over rho (assumed).')


def _claims(data: dict[float, _Data], ranges: dict[str, Bounds],
            paper: dict[float, dict[str, list[SearchResult]]], least: dict[float, Array],
            labels: tuple[str, ...]) -> tuple[Claim, ...]:
    claims = []
    for rho in FIT:
        optimum = _optimum(data[rho], ranges['paper'])
        excess = {label: [r.cost / optimum - 1 for r in paper[rho][label]] for label in labels}
        claims += [judge(f'{better} ends at a lower fitness than {worse}, rho = {rho:g}',
                         excess[better], excess[worse], 'relative excess over the optimum')
                   for better, worse in (('ELPIDSO', 'SPSO'), ('SPSO', 'GA'))]
        claims.append(judge(
            f'CMA-ES, from a library, ends at a lower fitness than ELPIDSO, rho = {rho:g}',
            excess['CMA-ES'], excess['ELPIDSO'], 'relative excess over the optimum', ours=True))
    work = {label: [r.evaluations for rho in FIT for r in paper[rho][label]] for label in labels}
    ratios = [r.cost / float(data[rho](least[rho][None])[0])
              for rho in FIT for r in paper[rho]['ELPIDSO']]
    return (
        *claims,
        judge('ELPIDSO needs fewer evaluations than SPSO', work['ELPIDSO'], work['SPSO'],
              'until within 1e-9 of the optimum, or to the end'),
        judge('LS has a worse fitness than ELPIDSO', ratios, 1.0,
              'fitness of ELPIDSO over that of LS, which minimises the convex quadratic (3) '
              'exactly: without bounds no search can be below it'))


def _torque_plot(data: dict[float, _Data],
                 paper: dict[float, dict[str, list[SearchResult]]]) -> Plot:
    check = data[CHECK[0]]
    best = paper[SHOWN]['ELPIDSO'][0].values
    predicted = (check.rows @ best).reshape(-1, 2)
    lines = (('measured, joint 1', check.t, check.target.reshape(-1, 2)[:, 0]),
             ('ELPIDSO, joint 1', check.t, predicted[:, 0]),
             ('measured, joint 2', check.t, check.target.reshape(-1, 2)[:, 1]),
             ('ELPIDSO, joint 2', check.t, predicted[:, 1]))
    return Plot(f'Torques at rho = {CHECK[0]:g}, less the known part', 'time [s]',
                'torque [N m]', lines)
