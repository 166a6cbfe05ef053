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
"""Ding and Li: improved cuckoo search against CS and PSO, nonlinear friction, ER-16."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation import get_estimator
from robot_identification.estimation.search import SearchResult
from robot_identification.estimation.search.objective import MeanAbsolute
from robot_identification.estimation.search.problem import SearchProblem
from robot_identification.papers.studies.er16 import (
    ASSUMPTIONS,
    er16_experiment,
    Experiment,
    REVERSAL,
)
from robot_identification.papers.studies.linear_algebra import compare_with_searches, Comparison
from robot_identification.papers.studies.repeat import (
    best_run,
    Contestant,
    convergence,
    median_run,
    repeat,
)
from robot_identification.papers.studies.study import (
    Claim,
    correlation,
    PAPER,
    Plot,
    Progress,
    rank_sum,
    StudyResult,
    Table,
)

NEST, ITERATIONS = 25, 200
Results = Mapping[str, list[SearchResult]]


def ics_er16(quick: bool, seed: int, progress: Progress) -> StudyResult:
    """
    Repeat the comparison of ICS, CS and PSO on the cost (11) with atan friction.

    Parameters
    ----------
    quick
        Three runs of 20 iterations.
    seed
        Of the arm, and the first of the searches.
    progress
        Called with what is done and the part of it.

    References
    ----------
    L. Ding, X. Li, Q. Li, Y. Chao, "Nonlinear friction and dynamical identification for a robot
    manipulator with improved cuckoo search algorithm", J. Robotics, 2018.

    """
    runs, iterations, budget = (3, 20, 500) if quick else (30, ITERATIONS, 20_000)
    progress('designing and executing the motion', 0.0)
    experiment = er16_experiment(quick, seed)
    problem, bounds = experiment.problem('atan')
    cost = MeanAbsolute(problem)
    results: dict[str, list[SearchResult]] = {}
    contestants = _contestants(iterations)
    for k, contestant in enumerate(contestants):
        progress(f'{contestant.label}, {runs} runs', 0.1 + 0.6 * k / len(contestants))
        results[contestant.label] = repeat(contestant, cost, bounds, runs, seed)
    progress('linear friction', 0.7)
    frictions = _frictions(experiment, iterations, min(runs, 3), seed)
    square = _least_squares(problem)
    algebra = [_algebra(experiment, friction, budget, seed, k, progress)
               for k, friction in enumerate(('atan', 'stribeck'))]
    return StudyResult(
        name='ics_er16', title='Improved cuckoo search against CS and PSO on the ER-16',
        reference='Ding, Li, Li, Chao, J. Robotics, 2018',
        settings={'runs': runs, 'iterations': iterations, 'population': NEST, 'first seed': seed,
                  'unknowns': problem.dimension, 'samples': len(experiment.fit),
                  'sampling [Hz]': experiment.fit.rate,
                  'condition number of the excitation': experiment.condition},
        assumptions=(*ASSUMPTIONS, 'S0 and the effect of a positive emotion (see the search ics)',
                     'every tenth of the samples at 1 kHz enters the cost'),
        tables=(_costs(results, square, cost), _correlations(experiment, results, square),
                PUBLISHED, frictions[0], *(table for part in algebra for table in part.tables)),
        claims=(*_claims(results), *frictions[1],
                *(claim for part in algebra for claim in part.claims)),
        plots=(convergence('Cost of the median run', 'cost (11) [N m]', results),
               *_torques(experiment, results), *(p for part in algebra for p in part.plots)),
        quick=quick)


def _algebra(experiment: Experiment, friction: str, budget: int, seed: int, number: int,
             progress: Progress) -> Comparison:
    return compare_with_searches(
        friction, *experiment.problem(friction), budget, seed,
        lambda text, part: progress(f'{friction}, {text}', 0.8 + 0.1 * (number + part)))


def _contestants(iterations: int) -> tuple[Contestant, ...]:
    once, twice = NEST * (iterations + 1), NEST * (2 * iterations + 1)
    return (
        Contestant('PSO', 'pso', {}, once),
        Contestant('PSO, evaluations of CS', 'pso', {}, twice),
        Contestant('CS', 'cs', {}, twice),
        Contestant('CS, alpha 0.54', 'cs', {'alpha': 0.54}, twice),
        Contestant('ICS', 'ics', {}, twice),
        Contestant('SPSO', 'spso', {'size': NEST}, twice),
        Contestant('differential evolution', 'differential_evolution', {'factor': 1}, twice),
        Contestant('CMA-ES', 'cma_es', {}, twice))


PUBLISHED = Table(
    'Published results (measured ER-16, not comparable in value)',
    ('method', 'cost (11)', 'correlation 1', 'correlation 2', 'correlation 3'),
    (('PSO', 31.8865, 0.9722, 0.9910, 0.9918), ('CS', 30.2513, 0.9803, 0.9927, 0.9928),
     ('ICS', 29.0753, 0.9907, 0.9950, 0.9967)), PAPER, 'Best of three runs.')


def _least_squares(problem: SearchProblem) -> Array:
    estimate = get_estimator('ols').fit(problem.regression)
    return np.append(estimate.values, np.log(estimate.base.structure.shape.ravel()))


def _costs(results: Results, square: Array, cost: MeanAbsolute) -> Table:
    ics = [r.cost for r in results['ICS']]
    rows: list[tuple[str | float, ...]] = []
    for label, runs in results.items():
        costs = [r.cost for r in runs]
        rows.append((label, float(np.median(costs)), min(costs), min(costs[:3]),
                     float(np.std(costs)),
                     float(runs[0].evaluations), float(np.mean([r.seconds for r in runs])),
                     '-' if label == 'ICS' else rank_sum(ics, costs)))
    rows.append(('variable projection, OLS', float(cost(square[None])[0]), '-', '-', '-', '-', '-',
                 '-'))
    return Table('Cost (11) [N m]', (
        'method', 'median', 'best', 'best of three', 'deviation', 'evaluations', 'seconds a run',
        'p against ICS'), tuple(rows), note='A generation of CS and ICS costs two evaluations a '
                                            'nest, '
        'one of PSO one a particle; p is of the rank-sum test. Variable projection minimises '
        'squares '
        'without bounds on the linear parameters.')


def _correlations(experiment: Experiment, results: Results, square: Array) -> Table:
    rows: list[tuple[str | float, ...]] = []
    candidates = {label: best_run(runs[:3]).values for label, runs in results.items()}
    candidates['variable projection, OLS'] = square
    for label, values in candidates.items():
        parts = [correlation(s.tau, experiment.prediction('atan', values, s))
                 for s in (experiment.fit, experiment.check)]
        rows.append((label, *(float(x) for part in parts for x in part)))
    return Table('Correlation of measured and predicted torque, best of three runs',
                 ('method', *(f'{kind} {j}' for kind in ('fit', 'validation') for j in (1, 2, 3))),
                 tuple(rows))


def _claims(results: Results) -> tuple[Claim, ...]:
    median = {label: float(np.median([r.cost for r in runs])) for label, runs in results.items()}

    def against(other: str) -> str:
        p = rank_sum([r.cost for r in results['ICS']], [r.cost for r in results[other]])
        return f'median {median["ICS"]:.4g} against {median[other]:.4g} of {other}, p = {p:.2g}'

    control = 'CS, alpha 0.54'
    return (
        Claim('ICS reaches a lower cost than CS', median['ICS'] < median['CS'], against('CS')),
        Claim('ICS reaches a lower cost than PSO', median['ICS'] < median['PSO'],
              f'{against("PSO")}; {against("PSO, evaluations of CS")}'),
        Claim('it is chaos and emotion that improve CS, not the larger steps: ICS is below CS '
              'with a constant alpha of 0.54', median['ICS'] < median[control], against(control),
              ours=True),
        Claim('CMA-ES, from a library, reaches a lower cost (11) than ICS with as many '
              'evaluations', median['CMA-ES'] < median['ICS'],
              '; '.join(f'{k} {median[k]:.4g}' for k in ('ICS', 'SPSO', 'differential evolution',
                                                         'CMA-ES')), ours=True))


def _frictions(experiment: Experiment, iterations: int, runs: int,
               seed: int) -> tuple[Table, tuple[Claim, ...]]:
    """Compare linear and nonlinear friction near reversals, found by ICS and by least squares."""
    rows: list[tuple[str | float, ...]] = []
    near: dict[tuple[str, str], Array] = {}
    ics = Contestant('ICS', 'ics', {}, NEST * (2 * iterations + 1))
    for friction in ('coulomb_viscous', 'atan', 'stribeck'):
        problem, bounds = experiment.problem(friction)
        found = {'ICS': best_run(repeat(ics, MeanAbsolute(problem), bounds, runs, seed)).values,
                 'least squares': _least_squares(problem)}
        for method, values in found.items():
            for kind, samples in (('fit', experiment.fit), ('validation', experiment.check)):
                errors = experiment.near_reversals(friction, values, samples)
                rows.append((friction, method, kind, *errors))
                if kind == 'fit':
                    near[friction, method] = np.array(errors[:3])
    columns = ('friction', 'method', 'data', *(f'near, joint {j}' for j in (1, 2, 3)),
               *(f'elsewhere, joint {j}' for j in (1, 2, 3)))
    table = Table(f'RMS torque error [N m] near reversals (below {REVERSAL:g} rad/s) and '
                  f'elsewhere', columns, tuple(rows))
    return table, tuple(Claim(
        f'atan friction has smaller errors near reversals than linear friction ({method})',
        bool(np.all(near['atan', method] < near['coulomb_viscous', method])),
        'joints 1 to 3: ' + ', '.join(
            f'{b:.3g} against {a:.3g} N m' for a, b in zip(near['coulomb_viscous', method],
                                                           near['atan', method])))
        for method in ('ICS', 'least squares'))


def _torques(experiment: Experiment, results: Results) -> tuple[Plot, ...]:
    values = median_run(results['ICS']).values
    predicted = experiment.prediction('atan', values, experiment.check)
    t = experiment.check.t
    return tuple(Plot(f'Validation torque of joint {j + 1}, median run of ICS', 'time [s]',
                      'torque [N m]', (('measured', t, experiment.check.tau[:, j]),
                                       ('predicted', t, predicted[:, j]))) for j in range(3))
