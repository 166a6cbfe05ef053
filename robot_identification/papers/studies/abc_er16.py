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
"""Ding 2015: artificial bee colony on the ER-16 with linear friction."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation import get_estimator
from robot_identification.estimation.search import SearchResult
from robot_identification.estimation.search.objective import MeanAbsolute
from robot_identification.papers.studies.er16 import (
    ASSUMPTIONS,
    er16_experiment,
    Experiment,
    REVERSAL,
)
from robot_identification.papers.studies.linear_algebra import compare_with_searches
from robot_identification.papers.studies.repeat import best_run, Contestant, convergence, repeat
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

PUBLISHED = Table(
    'Published results (measured ER-16, not comparable in value)',
    ('method', 'cost (9)', *(f'{kind} {j}' for kind in ('fit', 'validation') for j in (1, 2, 3))),
    (('ABC', 0.3182, 0.9533, 0.9856, 0.9801, 0.9272, 0.9534, 0.9606),), PAPER)


def abc_er16(quick: bool, seed: int, progress: Progress) -> StudyResult:
    """
    Identify base and linear friction parameters with a bee colony and compare it with others.

    Parameters
    ----------
    quick
        Two runs of 2000 evaluations.
    seed
        Of the arm, and the first of the searches.
    progress
        Called with what is done and the part of it.

    References
    ----------
    L. Ding, H. Wu, Y. Yao, Y. Yang, "Dynamic model identification for 6-DOF industrial robots",
    J. Robotics, 2015.

    """
    runs, budget = (2, 2000) if quick else (10, 20_000)
    progress('designing and executing the motion', 0.0)
    experiment = er16_experiment(quick, seed)
    problem, bounds = experiment.problem('coulomb_viscous')
    cost = MeanAbsolute(problem)
    results: dict[str, list[SearchResult]] = {}
    contestants = [Contestant(label, search, {}, budget) for label, search in (
        ('ABC', 'abc'), ('GA', 'ga'), ('GA, binary', 'binary_ga'), ('PSO', 'pso'),
        ('SPSO', 'spso'), ('differential evolution', 'differential_evolution'),
        ('CMA-ES', 'cma_es'))]
    for k, contestant in enumerate(contestants):
        progress(f'{contestant.label}, {runs} runs', 0.1 + 0.8 * k / len(contestants))
        results[contestant.label] = repeat(contestant, cost, bounds, runs, seed)
    square = get_estimator('wls').fit(problem.regression).values
    table = _table(experiment, results, square, cost)
    algebra = compare_with_searches('coulomb_viscous', problem, bounds, budget, seed,
                                    lambda text, part: progress(text, 0.9 + 0.1 * part))
    return StudyResult(
        name='abc_er16', title='Artificial bee colony on the ER-16, linear friction',
        reference='Ding, Wu, Yao, Yang, J. Robotics, 2015',
        settings={'runs': runs, 'evaluations': budget, 'first seed': seed,
                  'unknowns': problem.dimension, 'samples': len(experiment.fit),
                  'sampling [Hz]': experiment.fit.rate,
                  'condition number of the excitation': experiment.condition},
        assumptions=(*ASSUMPTIONS, '25 food sources, limit = sources times unknowns',
                     'joint weights of one in the cost',
                     'every tenth of the samples at 1 kHz enters the cost'),
        tables=(table, PUBLISHED, _reversals(experiment, results, square), *algebra.tables),
        claims=(*_claims(results, table, cost, square), *algebra.claims),
        plots=(convergence('Cost of the median run', 'cost (9) [N m]', results),
               *_torques(experiment, best_run(results['ABC']).values), *algebra.plots),
        quick=quick)


def _table(experiment: Experiment, results: Mapping[str, list[SearchResult]], square: Array,
           cost: MeanAbsolute) -> Table:
    abc = [r.cost for r in results['ABC']]
    rows: list[tuple[str | float, ...]] = []
    for label, runs in results.items():
        costs = [r.cost for r in runs]
        rows.append((label, float(np.median(costs)), min(costs),
                     *_correlations(experiment, best_run(runs).values),
                     '-' if label == 'ABC' else rank_sum(abc, costs)))
    rows.append(('WLS', float(cost(square[None])[0]), '-',
                 *_correlations(experiment, square), '-'))
    return Table('Cost (9) and correlations of the best run', (
        'method', 'median cost [N m]', 'best cost [N m]',
        *(f'{kind} {j}' for kind in ('fit', 'validation') for j in (1, 2, 3)), 'p against ABC'),
        tuple(rows), note='p is of the rank-sum test. Validation: a three-harmonic motion.')


def _reversals(experiment: Experiment, results: Mapping[str, list[SearchResult]],
               square: Array) -> Table:
    found = {'ABC': best_run(results['ABC']).values, 'WLS': square}
    return Table(
        f'RMS torque error [N m] of the validation near reversals (below {REVERSAL:g} rad/s) and '
        f'elsewhere', ('method', *(f'near, joint {j}' for j in (1, 2, 3)),
                       *(f'elsewhere, joint {j}' for j in (1, 2, 3))),
        tuple((label, *experiment.near_reversals('coulomb_viscous', values, experiment.check))
              for label, values in found.items()),
        note='The paper notes errors at velocity reversals; with linear friction they remain.')


def _correlations(experiment: Experiment, values: Array) -> tuple[float, ...]:
    parts = [correlation(s.tau, experiment.prediction('coulomb_viscous', values, s))
             for s in (experiment.fit, experiment.check)]
    return tuple(float(x) for part in parts for x in part)


def _claims(results: Mapping[str, list[SearchResult]], table: Table, cost: MeanAbsolute,
            square: Array) -> tuple[Claim, ...]:
    median = {label: float(np.median([r.cost for r in runs])) for label, runs in results.items()}
    ours = table.rows[0]
    worst = min(float(x) for x in ours[6:9])
    least = float(cost(square[None])[0])
    return (
        Claim('ABC identifies a model that predicts a motion that was not fitted (correlations '
              'above '
              '0.92, as published)', worst > 0.92, f'smallest validation correlation {worst:.4f}'),
        Claim('ABC performs better than DE, PSO and GA (the paper cites this of other problems)',
              median['ABC'] < min(median[k] for k in ('GA', 'PSO', 'differential evolution')),
              'median cost: ' + ', '.join(f'{k} {v:.4g}' for k, v in median.items())),
        Claim("least squares does no worse than the bee colony on the colony's own cost",
              least <= median['ABC'], f'cost (9) of WLS, in milliseconds and without bounds: '
              f'{least:.4g}; median of ABC {median["ABC"]:.4g}', ours=True))


def _torques(experiment: Experiment, values: Array) -> tuple[Plot, ...]:
    predicted = experiment.prediction('coulomb_viscous', values, experiment.check)
    t = experiment.check.t
    return tuple(Plot(f'Validation torque of joint {j + 1}, best run of ABC', 'time [s]',
                      'torque [N m]', (('measured', t, experiment.check.tau[:, j]),
                                       ('predicted', t, predicted[:, j]))) for j in range(3))
