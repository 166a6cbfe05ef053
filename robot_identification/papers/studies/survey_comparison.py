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
"""Comparison of the methods of the survey (Zhang et al. 2018) over several arms."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.arrays import Array
from robot_identification.excitation import Excitation
from robot_identification.papers.studies.linear_algebra import SearchComparison
from robot_identification.papers.studies.study import StudyOptions, Table
from robot_identification.papers.studies.survey_methods import (
    compare_methods,
    CONSISTENT,
    level,
    LEVELS,
    MethodResult,
    Platform,
    SEARCHED,
)
from robot_identification.papers.studies.survey_parameters import about_centre
from robot_identification.papers.studies.survey_published import (
    GUIDE,
    PUBLISHED_JOINT,
    PUBLISHED_LEVELS,
    PUBLISHED_LINEAR,
    PUBLISHED_NONLINEAR,
    PUBLISHED_STRIBECK_JOINT,
)
from robot_identification.papers.studies.survey_tracking import Tracking
from robot_identification.papers.studies.verdict import Claim, evaluate_claim

ONLINE = ('Kalman', 'extended Kalman', 'exponential forgetting')
LINEAR, STRIBECK = 'coulomb_viscous', 'stribeck'
CAD, OTHER = 'inertias of its CAD model', 'inertias up to 20 % from its CAD model'
Runs = dict[str, list[MethodResult]]
"""Results of each method for each seed."""


def compare_over_seeds(excitation: Excitation, seeds: range, budgets: dict[str, int],
                       tracking: Tracking, options: StudyOptions) -> SearchComparison:
    """
    Run the survey's methods on the arms of all seeds and return tables and claims.

    Parameters
    ----------
    excitation
        Motion of the arms.
    seeds
        Seeds of the arms, the noise and the searches.
    budgets
        Evaluations of a search, by friction model.
    tracking
        Results of the filters on changing friction, for the table of levels.
    options
        Options of the study.

    """
    runs, changed = _runs(excitation, seeds, budgets, options)
    return SearchComparison(
        (*_joints(runs), _errors('Linear friction', runs[LINEAR], CAD), PUBLISHED_LINEAR,
         _errors('Stribeck friction', runs[STRIBECK], CAD), PUBLISHED_NONLINEAR,
         _errors('Linear friction', changed, OTHER), _levels(runs, tracking), PUBLISHED_LEVELS,
         GUIDE), _claims(runs, changed), ())


def _runs(excitation: Excitation, seeds: range, budgets: dict[str, int],
          options: StudyOptions) -> tuple[dict[str, Runs], Runs]:
    """Return results by friction model for arms with CAD inertias, and those for other arms."""
    runs: dict[str, Runs] = {LINEAR: {}, STRIBECK: {}}
    changed: Runs = {}
    cases = [(LINEAR, 0.0), (STRIBECK, 0.0), (LINEAR, 0.2)]
    count = len(seeds) * len(cases)
    for done, (friction, error, outcomes) in enumerate(options.map_items(
            _of_seed, [case for _ in seeds for case in cases],
            [seed for seed in seeds for _ in cases], args=(excitation, budgets)), start=1):
        options.progress(f'{done} of {count} comparisons of methods', done / count)
        for outcome in outcomes:
            (changed if error else runs[friction]).setdefault(outcome.method, []).append(outcome)
    return runs, changed


def _of_seed(case: tuple[str, float], seed: int, excitation: Excitation,
             budgets: dict[str, int]) -> tuple[str, float, list[MethodResult]]:
    """Run the methods on one arm; `case` is its friction model and its inertia error."""
    friction, error = case
    methods = ('pseudo-inverse', *SEARCHED, CONSISTENT) if error else ()
    return *case, compare_methods(Platform.build(excitation, seed, error), friction,
                                  budgets[friction], seed, methods)


def _joints(runs: dict[str, Runs]) -> tuple[Table, ...]:
    """Return tables of joint 3's parameters by method: for the first seed, and as published."""
    n = load_arm('er20_c10').n
    tables: list[Table] = []
    for friction, printed, table_number in ((LINEAR, PUBLISHED_JOINT, 5),
                                            (STRIBECK, PUBLISHED_STRIBECK_JOINT, 6)):
        columns = {method: _joint(outcomes[0].standard, outcomes[0].shape, n)
                   for method, outcomes in runs[friction].items()}
        truth = next(iter(runs[friction].values()))[0].truth
        columns = {'set': _joint(*truth, n), **columns}
        names = [str(row[0]) for row in printed.rows]
        tables += [Table(
            f'Joint 3, {friction} friction, without noise, as in Table {table_number}',
            ('parameter', *columns),
            tuple((name, *values) for name, values in zip(names, zip(*columns.values()))),
            note='Inertia about the centre of mass. Torques do not determine all of these '
                 'parameters; methods without ranges or prior return those of least '
                 'norm.'), printed]
    return tuple(tables)


def _joint(standard: Array, shape: Array, n: int) -> tuple[float, ...]:
    """Return the survey's parameters of joint 3 in the order of its tables."""
    link = about_centre(standard[20:30])
    size = (len(standard) - 11 * n) // n
    friction = standard[11 * n + 2 * size:11 * n + 3 * size]
    ordered = (friction[:2] if size == 3 else (friction[0], friction[1], shape[2, 0],
                                               friction[2]))
    return tuple(float(x) for x in (*link, *ordered))


def _errors(title: str, runs: Runs, arm: str) -> Table:
    first = next(iter(runs.values()))
    rows: list[tuple[str | float, ...]] = []
    seconds = float(np.median([o.seconds for o in first]))
    for method, outcomes in runs.items():
        values = [(o.clean.inertial, o.clean.median, o.clean.linear, o.clean.friction,
                   o.clean.torque, o.clean.std, o.clean.total, o.noisy.inertial,
                   o.noisy.friction, o.noisy.torque, o.noisy.total, o.change)
                  for o in outcomes]
        quartiles = np.percentile([o.change for o in outcomes], (25, 75))
        rows.append((method, *(float(x) for x in np.median(values, axis=0)),
                     f'{quartiles[0]:.3g} to {quartiles[1]:.3g}',
                     float(np.median([o.seconds for o in outcomes]) / seconds)))
    return Table(
        f'{title}: parameter errors without and with noise, arm with {arm}, medians of '
        f'{len(first)} seeds', (
            'method', 'e_d', 'median of e_d', 'e_d about the joint', 'e_f', 'e_T', 'e_T_Std',
            'J_e', 'noisy e_d', 'noisy e_f', 'noisy e_T', 'noisy J_e', 'Delta J_e', 'quartiles',
            f'time relative to {next(iter(runs))}'), tuple(rows),
        note='e_d: mean relative error of mass, centre of mass and inertia about it, as in the '
             'paper; "about the joint": the same for m, m c and the inertia about the joint. e_f: '
             'mean relative error of friction. e_T and e_T_Std: mean and standard deviation of '
             'the torque error relative to the rated torque. J_e = e_d + e_f + e_T + e_T_Std; '
             'Delta J_e is its relative change due to noise. Times in the survey: less than 1 s '
             'for the pseudo-inverse, about 30 min for gradient descent and particle filter (more '
             'than 1800 times as long) and more than an hour for the genetic algorithm (more than '
             '3600 times).')


def _levels(runs: dict[str, Runs], tracking: Tracking) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for kind, by_method in runs.items():
        for method, outcomes in by_method.items():
            middle = {name: float(np.median(values)) for name, values in {
                'e_d': [o.clean.inertial for o in outcomes],
                'e_f': [o.clean.friction for o in outcomes],
                'e_T': [o.clean.torque for o in outcomes],
                'J_e': [o.clean.total for o in outcomes],
                'Delta J_e': [o.change for o in outcomes]}.items()}
            seconds = float(np.median([o.seconds for o in outcomes]))
            rows.append((method, kind,
                         *(level(value, LEVELS[name]) for name, value in middle.items()),
                         tracking.level(method),
                         'online' if method in ONLINE else level(seconds, LEVELS['seconds'])))
    return Table('Levels A, B, C as in Table 11', (
        'method', 'friction', 'e_d', 'e_f', 'e_T', 'J_e', 'anti-interference', 'follows changes',
        'solution time'),
        tuple(rows), note="Levels of the medians over the seeds, with the bounds of the survey's "
        'Tables 1 to 4; the computers of the survey were slower. Delta J_e is relative to J_e '
        'without noise. A method that is stopped far from its optimum has a large J_e and '
        'therefore looks insensitive to noise; a method that starts near the truth has a small '
        'J_e and looks sensitive. The level depends more on the error without noise than on the '
        'effect of noise. "Follows changes" was tested with linear friction; offline methods do '
        'not follow changes.')


def _claims(runs: dict[str, Runs], changed: Runs) -> tuple[Claim, ...]:
    linear, stribeck = runs[LINEAR], runs[STRIBECK]
    free = ('pseudo-inverse', 'Kalman', 'exponential forgetting')

    def errors(by_method: Runs, methods: tuple[str, ...], name: str) -> Array:
        return np.array([[getattr(o.clean, name) for o in by_method[m]] for m in methods])

    searched = tuple(SEARCHED)
    claims = [
        evaluate_claim(
            'methods with parameter ranges have smaller errors of the inertial parameters than '
            'all methods without', errors(linear, searched, 'inertial').max(axis=0),
            errors(linear, free, 'inertial').min(axis=0), 'e_d, largest of those with ranges '
            'against smallest of those without, by seed', paired=True),
        evaluate_claim(
            'the pseudo-inverse and the filters nevertheless predict torques at level A',
            errors(linear, free, 'torque').max(axis=0), LEVELS['e_T'][0], 'largest e_T'),
        evaluate_claim(
            'friction errors of the searches are larger than those of the pseudo-inverse',
            errors(linear, ('pseudo-inverse',), 'friction')[0],
            errors(linear, searched, 'friction').min(axis=0), 'e_f, by seed', paired=True),
        evaluate_claim(
            'the extended Kalman filter has larger errors of Stribeck friction than the searches',
            np.median(errors(stribeck, searched, 'friction'), axis=0),
            errors(stribeck, ('extended Kalman',), 'friction')[0],
            'e_f without noise, by seed', paired=True),
        evaluate_claim(
            'the extended Kalman filter has larger errors of Stribeck friction than the searches, '
            'with noise',
            np.median([[o.noisy.friction for o in stribeck[m]] for m in searched], axis=0),
            [o.noisy.friction for o in stribeck['extended Kalman']],
            'e_f with the noise of Table 7, by seed', paired=True),
        evaluate_claim('the pseudo-inverse resists noise at level A (Delta J_e below 0.1)',
                       [o.change for o in linear['pseudo-inverse']], 0.1, 'Delta J_e'),
        evaluate_claim(
            'a genetic algorithm takes more than 3600 times as long as the pseudo-inverse',
            3600.0, [a.seconds / b.seconds for a, b in zip(
                linear['genetic algorithm'], linear['pseudo-inverse'])],
            'ratio of processor times; the search is vectorised here'),
        evaluate_claim(
            'on an arm that differs from its CAD model the physically consistent fit has a '
            'smaller e_d than every search', [o.clean.inertial for o in changed[CONSISTENT]],
            errors(changed, searched, 'inertial').min(axis=0), 'e_d, by seed', paired=True,
            ours=True)]
    claims += [evaluate_claim(
        f'the {method} resists noise at level B or better (Delta J_e below 1)',
        [o.change for o in linear[method]], 1.0, 'Delta J_e')
               for method in ('genetic algorithm', 'particle filter')]
    return tuple(claims)
