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
"""Study of Ding et al. 2018: improved cuckoo search on the ER-16 with nonlinear friction."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.searches.objective import MeanAbsolute
from robot_identification.papers.studies.er16 import (
    ASSUMPTIONS,
    CORRELATIONS,
    Experiment,
    ICS,
    OURS,
)
from robot_identification.papers.studies.er16_tables import (
    compare_chains,
    plot_torques,
    tabulate_parameters,
    tabulate_reversals,
)
from robot_identification.papers.studies.linear_algebra import compare_with_searches
from robot_identification.papers.studies.repeat import (
    best_run,
    median_run,
    plot_convergence,
    repeat_searches,
    Runs,
    SearchSetup,
)
from robot_identification.papers.studies.study import (
    PAPER,
    StudyOptions,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.verdict import Claim, evaluate_claim

NEST, ITERATIONS, FRICTION = 25, 200, 'atan'
BEST_OF = 3    # the paper prints the best of this many runs
PUBLISHED = Table(
    'Published results (measured ER-16, not comparable in value)',
    ('method', 'cost (11)', 'correlation 1', 'correlation 2', 'correlation 3'),
    (('PSO', 31.8865, 0.9722, 0.9910, 0.9918), ('CS', 30.2513, 0.9803, 0.9927, 0.9928),
     ('ICS', 29.0753, 0.9907, 0.9950, 0.9967)), PAPER, 'Best of three runs.')
PUBLISHED_PARAMETERS = Table(
    'Published Table 3: parameters found by ICS (another arm and other base parameters)',
    ('parameter', 'value', 'friction parameter', 'joint 1', 'joint 2', 'joint 3'),
    (('Izz1', 51.3846, 'f0 [N m]', 0.7044, 53.2922, -3.4499),
     ('Ixx2', -24.4871, 'fc [N m]', 3.9877, -2.8909, 30.6465),
     ('Ixy2', 1.1452, 'fv [N m s/rad]', 8.0, -70.0174, 4.3297),
     ('Ixz2', -0.3699, 'fa [N m]', 32.3929, 70.0243, -2.7533),
     ('Iyz2', 0.4574, 'fb [s/rad]', 6.9975, 19.7363, 5.0),
     *((name, value, '', '', '', '') for name, value in (
         ('Izz2', 44.5863), ('m2 rx2', 32.1287), ('m2 ry2', 5.4040), ('Ixx3', 3.1263),
         ('Ixy3', 1.9361), ('Ixz3', 0.4849), ('Iyz3', 0.6900), ('Izz3', 11.7725),
         ('m3 rx3', 5.1317), ('m3 ry3', 10.3145)))), PAPER,
    'Viscous and Coulomb friction of joint 2 are negative, so the model generates energy at high '
    'speed. The data cannot separate the atan term from the Coulomb term.')


def ics_er16(options: StudyOptions) -> StudyResult:
    """
    Compare improved cuckoo search (ICS), cuckoo search (CS) and PSO with atan friction.

    Parameters
    ----------
    options
        Options of the study. `quick`: two runs of 20 iterations. `seed`: seed of the arm, and
        first seed of the searches.

    References
    ----------
    L. Ding, X. Li, Q. Li, Y. Chao, "Nonlinear friction and dynamical identification for a robot
    manipulator with improved cuckoo search algorithm", J. Robotics, 2018.

    """
    runs, iterations, budget, arms = (
        (2, 20, 500, 1) if options.quick else (30, ITERATIONS, 20_000, 8))
    options.progress('designing and executing the motion', 0.0)
    experiment = Experiment.build(options.quick, options.seed)
    tables, claims, kept = [], [], {}
    cases = (('our signal chain, wide ranges', OURS, 'urdf'),
             ('our signal chain, narrow ranges', OURS, 'estimate'),
             ("the paper's signal chain, wide ranges", ICS, 'urdf'))
    for index, (label, chain, ranges) in enumerate(cases):
        through = experiment.with_chain(chain)
        problem, bounds = through.problem(FRICTION, ranges)
        cost = MeanAbsolute(problem)
        setups = _setups(iterations)
        results = repeat_searches(
            setups[:4] if index else setups, cost, bounds, runs,
            options.stage(0.05 + 0.2 * index, 0.25 + 0.2 * index, label))
        square = through.least_squares(FRICTION)
        tables += [_costs(results, square, cost, label),
                   _correlations(through, results, square, label)]
        claims += _claims(results, label)
        kept[label] = (problem, results, square)
    problem, results, square = kept[cases[0][0]]
    experiments = experiment.build_arms(options.seed, arms)
    frictions = _frictions(experiments, iterations, options.stage(0.65, 0.7, 'linear friction'))
    chains = compare_chains(experiments, 'ics', FRICTION, options.stage(0.7, 0.8))
    algebra = [compare_with_searches(
        friction, *experiment.problem(friction), budget,
        options.stage(0.8 + 0.1 * k, 0.9 + 0.1 * k, friction))
        for k, friction in enumerate((FRICTION, 'stribeck'))]
    return StudyResult(
        name='ics_er16', title='Improved cuckoo search against CS and PSO on the ER-16',
        reference='Ding, Li, Li, Chao, J. Robotics, 2018',
        settings={'runs': runs, 'iterations': iterations, 'population': NEST,
                  'first seed': options.seed, 'unknowns': problem.dimension,
                  'rows of a joint': len(experiment.fit),
                  'condition number of the excitation':
                      experiment.motions[0].condition_number},
        assumptions=(
            *ASSUMPTIONS, 'S0 and the effect of a positive emotion (see `ImprovedCuckooSearch`)',
            'Levy flights are scaled by the distance from the best nest, as in the program of '
            'Yang and Deb; equation (9) has no such factor',
            "the paper's Table 2 gives alpha = 0.25 for ICS, but alpha of ICS is the chaotic "
            'sequence; here only CS uses 0.25',
            'wide ranges are centred at the URDF, narrow ranges (60 %) at a least-squares '
            'estimate'),
        tables=(tables[0], tables[1], PUBLISHED, *tables[2:], chains[0],
                tabulate_parameters(experiment, FRICTION, {
                    'ICS, best of three': best_run(results['ICS'][:BEST_OF]).values,
                    'variable projection': square}), PUBLISHED_PARAMETERS, frictions[0],
                *(table for comparison in algebra for table in comparison.tables)),
        claims=(*claims, *frictions[1], *chains[1],
                *(claim for comparison in algebra for claim in comparison.claims)),
        plots=(plot_convergence('Cost of the median run, wide ranges', 'cost (11) [N m]', results),
               *plot_torques(experiment, FRICTION, median_run(results['ICS']).values,
                             'median run of ICS'),
               *(p for comparison in algebra for p in comparison.plots)),
        quick=options.quick)


def _setups(iterations: int) -> tuple[SearchSetup, ...]:
    once, twice = NEST * (iterations + 1), NEST * (2 * iterations + 1)
    return (
        SearchSetup('PSO', 'pso', {}, once),
        SearchSetup('CS', 'cs', {}, twice),
        SearchSetup('CS, alpha 0.54', 'cs', {'alpha': 0.54}, twice),
        SearchSetup('ICS', 'ics', {}, twice),
        SearchSetup('PSO, evaluations of CS', 'pso', {}, twice),
        SearchSetup('SPSO', 'spso', {'size': NEST}, twice),
        SearchSetup('differential evolution', 'differential_evolution', {'factor': 1}, twice),
        SearchSetup('CMA-ES', 'cma_es', {}, twice))


def _costs(results: Runs, square: Array, cost: MeanAbsolute, label: str) -> Table:
    ics = [r.cost for r in results['ICS']]
    seconds = float(np.median([r.seconds for r in results['ICS']]))
    rows: list[tuple[str | float, ...]] = []
    for name, runs in results.items():
        costs = [r.cost for r in runs]
        rows.append((name, *(float(x) for x in np.percentile(costs, (0, 25, 50, 75, 100))),
                     min(costs[:BEST_OF]), float(runs[0].evaluations),
                     float(np.median([r.seconds for r in runs])) / seconds,
                     '-' if name == 'ICS' else evaluate_claim('', ics, costs).p))
    rows.append(('variable projection', '-', '-', float(cost(square[None])[0]), *('-',) * 6))
    return Table(f'Cost (11) [N m], {label}', (
        'method', 'least', 'lower quartile', 'median', 'upper quartile', 'largest',
        'best of three', 'evaluations', 'time relative to ICS', 'p against ICS'), tuple(rows),
        note='A generation takes two evaluations for each nest of CS and ICS, and one for each '
             'particle of PSO. p: rank-sum test. Variable projection minimises squared errors, '
             'without bounds on the linear parameters.')


def _correlations(experiment: Experiment, results: Runs, square: Array, label: str) -> Table:
    candidates = {name: best_run(runs[:BEST_OF]).values for name, runs in results.items()}
    candidates['variable projection'] = square
    return Table(f'Correlation of measured and predicted torque, best of three runs, {label}',
                 ('method', *CORRELATIONS),
                 tuple((name, *experiment.correlations(FRICTION, values))
                       for name, values in candidates.items()))


def _claims(results: Runs, label: str) -> list[Claim]:
    costs = {name: [r.cost for r in runs] for name, runs in results.items()}
    unit = 'cost (11) [N m]'
    claims = [
        evaluate_claim(
            f'ICS ends at a lower cost than CS ({label})', costs['ICS'], costs['CS'], unit),
        evaluate_claim(
            f'ICS ends at a lower cost than PSO ({label})', costs['ICS'], costs['PSO'], unit),
        evaluate_claim(
            f'chaos and emotion improve CS, not larger steps: ICS ends at a lower cost than '
            f'CS with alpha = 0.54 ({label})', costs['ICS'],
            costs['CS, alpha 0.54'], unit, ours=True)]
    if 'CMA-ES' in costs:
        claims.append(evaluate_claim(
            f'CMA-ES (package cma) ends at a lower cost than ICS with equally many evaluations '
            f'({label})', costs['CMA-ES'], costs['ICS'], unit, ours=True))
    return claims


def _frictions(experiments: list[Experiment], iterations: int,
               options: StudyOptions) -> tuple[Table, tuple[Claim, ...]]:
    """Compare linear and nonlinear friction near reversals, fitted by ICS and least squares."""
    rows: list[tuple[str | float, ...]] = []
    near: dict[tuple[str, str], list[float]] = {}
    ics = SearchSetup('ICS', 'ics', {}, NEST * (2 * iterations + 1))
    for index, one in enumerate(experiments):
        stage = options.stage(index / len(experiments), (index + 1) / len(experiments))
        rated = one.runs[0].plant.truth.rated_torque
        for friction in ('coulomb_viscous', 'atan', 'stribeck'):
            problem, bounds = one.problem(friction)
            runs = repeat_searches([ics], MeanAbsolute(problem), bounds, BEST_OF, stage)
            for method, values in (('ICS', best_run(runs['ICS']).values),
                                   ('least squares', one.least_squares(friction))):
                for kind, samples in (('fit', one.fit), ('validation', one.check)):
                    errors = one.near_reversals(friction, values, samples)
                    if index == 0:
                        rows.append((friction, method, kind, *errors))
                    if kind == 'fit':
                        near.setdefault((friction, method), []).append(
                            float(np.sqrt(np.mean((np.array(errors[:3]) / rated) ** 2))))
    table = tabulate_reversals('of the first arm', ('friction', 'method', 'data'), rows)
    return table, tuple(evaluate_claim(
        f'atan friction has smaller errors near reversals than linear friction (fitted '
        f'by {method})', near['atan', method], near['coulomb_viscous', method],
        'RMS fit error near reversals relative to the rated torque, by arm', paired=True)
        for method in ('ICS', 'least squares'))
