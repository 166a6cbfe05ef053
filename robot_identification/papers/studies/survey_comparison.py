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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.arrays import Array
from robot_identification.excitation import Excitation
from robot_identification.papers.studies import survey_methods
from robot_identification.papers.studies.study import Draw, Part, Table
from robot_identification.papers.studies.survey_definite import tabulate_definite
from robot_identification.papers.studies.survey_parameters import about_centre
from robot_identification.papers.studies.survey_published import (
    compare_inertia,
    GUIDE,
    PUBLISHED_JOINT,
    PUBLISHED_LEVELS,
    PUBLISHED_LINEAR,
    PUBLISHED_NONLINEAR,
    PUBLISHED_STRIBECK_JOINT,
)
from robot_identification.papers.studies.survey_tracking import Tracking
from robot_identification.papers.studies.verdict import Claim, DRAWS, LazyPairs, Pairs
from robot_identification.simulation import PlantOptions

ONLINE = (
    'Kalman',
    survey_methods.PRINTED_EKF,
    survey_methods.STARTED_EKF,
    survey_methods.OUR_EKF,
    survey_methods.PRINTED_FORGETTING,
    survey_methods.OUR_FORGETTING,
)
LINEAR, STRIBECK = 'coulomb_viscous', 'stribeck'
CAD, OTHER = 'inertias of its CAD model', 'inertias up to 20 % from its CAD model'
EQUATIONS = 'equations (15) to (25) as printed; ranges, population sizes and budgets are assumed'
OUR_FILTER = ('the extended Kalman filter of this package (logarithms, limits, increased noise) '
              'has smaller errors of Stribeck friction than (21) as printed')
ONE_BY_ONE = ('evaluation of the population', 'one candidate at a time')
Results = Mapping[str, survey_methods.MethodResult]


@dataclass(frozen=True, eq=False)
class MethodDraw:
    """
    Results of the methods by name.

    `linear` and `stribeck`: arms with the inertias of their CAD model. `changed`: an arm that
    differs from it, with linear friction.
    """

    linear: Results
    stribeck: Results
    changed: Results


def run_methods(draw: Draw, excitation: Excitation, platform: survey_methods.Platform,
                budgets: Mapping[str, int]) -> MethodDraw:
    """
    Return the results of the survey's methods on the arms of a draw.

    Parameters
    ----------
    draw
        Seeds.
    excitation, platform
        Motion, and arm with the inertias of its CAD model.
    budgets
        Evaluations of a search, by friction model.

    """
    other = survey_methods.Platform.build(excitation, draw.arm,
                                          PlantOptions.inertia_error)
    return MethodDraw(
        survey_methods.compare_methods(platform, LINEAR, budgets[LINEAR], draw, (
            *survey_methods.METHODS[LINEAR], *survey_methods.CONSTRAINED)),
        survey_methods.compare_methods(platform, STRIBECK, budgets[STRIBECK], draw),
        survey_methods.compare_methods(
            other,
            LINEAR,
            budgets[LINEAR],
            draw,
            (
                'pseudo-inverse',
                'Kalman',
                survey_methods.PRINTED_FORGETTING,
                *survey_methods.SEARCHED,
                survey_methods.CONSISTENT,
            ),
        ),
    )


def summarise_methods(done: Sequence[MethodDraw], tracking: Tracking) -> Part:
    """
    Return tables of the methods in all draws.

    Parameters
    ----------
    done
        Results of the draws.
    tracking
        Results of the filters on changing friction, for the table of levels.

    """
    linear, stribeck, changed = ([getattr(one, name) for one in done]
                                 for name in ('linear', 'stribeck', 'changed'))
    return Part(
        (*_joints(done[0]), tabulate_definite(linear), _errors('Linear friction', linear, CAD),
         PUBLISHED_LINEAR,
         _errors('Stribeck friction', stribeck, CAD), PUBLISHED_NONLINEAR,
         _errors('Linear friction', changed, OTHER), _levels(linear, stribeck, tracking),
         PUBLISHED_LEVELS, GUIDE))


def _joints(first: MethodDraw) -> tuple[Table, ...]:
    """Return tables of joint 3's parameters by method: in the first draw, and as published."""
    n = load_arm('er20_c10').n
    tables: list[Table] = []
    for friction, results, printed, table_number in (
            (LINEAR, first.linear, PUBLISHED_JOINT, 5),
            (STRIBECK, first.stribeck, PUBLISHED_STRIBECK_JOINT, 6)):
        columns = {method: _joint(outcome.standard, outcome.shape, n)
                   for method, outcome in results.items()}
        truth = next(iter(results.values())).truth
        columns = {'set': _joint(*truth, n), **columns}
        names = [str(row[0]) for row in printed.rows]
        tables += [Table(
            f'Joint 3, {friction} friction, without noise, as in Table {table_number}',
            ('parameter', *columns),
            tuple((name, *values) for name, values in zip(names, zip(*columns.values()))),
            note='First draw. Inertia about the centre of mass. Torques do not determine all of '
                 'these parameters; methods without ranges or prior return those of least '
                 'norm.'), printed]
    return (*tables[:2], compare_inertia(), *tables[2:])


def _joint(standard: Array, shape: Array, n: int) -> tuple[float, ...]:
    """Return the survey's parameters of joint 3 in the order of its tables."""
    link = about_centre(standard[20:30])
    size = (len(standard) - 11 * n) // n
    friction = standard[11 * n + 2 * size:11 * n + 3 * size]
    ordered = (friction[:2] if size == 3 else (friction[0], friction[1], shape[2, 0],
                                               friction[2]))
    return tuple(float(x) for x in (*link, *ordered))


def _errors(title: str, runs: Sequence[Results], arm: str) -> Table:
    first = next(iter(runs[0]))
    rows: list[tuple[str | float, ...]] = []
    seconds = float(np.median([results[first].seconds for results in runs]))
    for method in runs[0]:
        outcomes = [results[method] for results in runs]
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
        f'{len(runs)} draws', (
            'method', 'e_d', 'median of e_d', 'e_d about the joint', 'e_f', 'e_T', 'e_T_Std',
            'J_e', 'noisy e_d', 'noisy e_f', 'noisy e_T', 'noisy J_e', 'Delta J_e', 'quartiles',
            f'time relative to {first}'), tuple(rows),
        note='e_d: mean relative error of mass, centre of mass and inertia about it, as in the '
             'paper; "about the joint": the same for m, m c and the inertia about the joint. e_f: '
             'mean relative error of friction. e_T and e_T_Std: mean and standard deviation of '
             'the torque error relative to the rated torque. J_e = e_d + e_f + e_T + e_T_Std; '
             'Delta J_e is its relative change due to noise. Times in the survey: less than 1 s '
             'for the pseudo-inverse, about 30 min for gradient descent and particle filter (more '
             'than 1800 times as long) and more than an hour for the genetic algorithm (more than '
             '3600 times).')


def _levels(linear: Sequence[Results], stribeck: Sequence[Results], tracking: Tracking) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for kind, runs in ((LINEAR, linear), (STRIBECK, stribeck)):
        for method in runs[0]:
            outcomes = [results[method] for results in runs]
            middle = {name: float(np.median(values)) for name, values in {
                'e_d': [o.clean.inertial for o in outcomes],
                'e_f': [o.clean.friction for o in outcomes],
                'e_T': [o.clean.torque for o in outcomes],
                'J_e': [o.clean.total for o in outcomes],
                'Delta J_e': [o.change for o in outcomes]}.items()}
            seconds = float(np.median([o.seconds for o in outcomes]))
            rows.append(
                (
                    method,
                    kind,
                    *(
                        survey_methods.level(value, survey_methods.LEVELS[name])
                        for name, value in middle.items()
                    ),
                    tracking.level(method),
                    'online'
                    if method in ONLINE
                    else survey_methods.level(seconds, survey_methods.LEVELS['seconds']),
                )
            )
    return Table('Levels A, B, C as in Table 11', (
        'method', 'friction', 'e_d', 'e_f', 'e_T', 'J_e', 'anti-interference', 'follows changes',
        'solution time'),
        tuple(rows), note="Levels of the medians over the draws, with the bounds of the survey's "
        'Tables 1 to 4; the computers of the survey were slower. Delta J_e is relative to J_e '
        'without noise. A method that is stopped far from its optimum has a large J_e and '
        'therefore looks insensitive to noise; a method that starts near the truth has a small '
        'J_e and looks sensitive. The level depends more on the error without noise than on the '
        'effect of noise. "Follows changes" was tested with linear friction; offline methods do '
        'not follow changes.')


def _extreme(results: Results, methods: Sequence[str], index: str, noisy: bool = False, *,
             largest: bool = False) -> float:
    """Return the smallest or largest error index of several methods."""
    values = [getattr(results[m].noisy if noisy else results[m].clean, index) for m in methods]
    return float(max(values) if largest else min(values))


def method_claims(done: Sequence[Any]) -> tuple[Claim, ...]:
    """Return the claims on the methods, from draws with results of `run_methods` as `methods`."""
    free = ('pseudo-inverse', 'Kalman', survey_methods.PRINTED_FORGETTING)
    searched, accurate = tuple(survey_methods.SEARCHED), survey_methods.LEVELS['e_T'][0]

    def inertial(kind: str) -> Pairs:
        return LazyPairs(done, lambda one: (
            _extreme(getattr(one.methods, kind), searched, 'inertial', largest=True),
            _extreme(getattr(one.methods, kind), free, 'inertial')))

    def torque(noisy: bool) -> Pairs:
        return LazyPairs(done, lambda one: (
            _extreme(one.methods.linear, free, 'torque', noisy, largest=True), accurate))

    def friction(noisy: bool) -> Pairs:
        return LazyPairs(done, lambda one: (
            _extreme(one.methods.linear, ('pseudo-inverse',), 'friction', noisy),
            _extreme(one.methods.linear, searched, 'friction', noisy)))

    def stribeck(method: str, noisy: bool) -> Pairs:
        return LazyPairs(done, lambda one: (
            float(np.median([_extreme(one.methods.stribeck, (m,), 'friction', noisy)
                             for m in searched])),
            _extreme(one.methods.stribeck, (method,), 'friction', noisy)))

    def filters(noisy: bool) -> Pairs:
        return LazyPairs(done, lambda one: (
            _extreme(one.methods.stribeck, (survey_methods.OUR_EKF,), 'friction', noisy),
            _extreme(one.methods.stribeck, (survey_methods.PRINTED_EKF,), 'friction', noisy)))

    printed = f'(21) as printed; v_s starts at {survey_methods.VELOCITY:g} rad/s (assumed)'
    return (
        Claim('methods with parameter ranges have smaller errors of the inertial parameters than '
              'all methods without', inertial('linear'),
              'e_d, largest of those with ranges against smallest of those without',
              literal=EQUATIONS, variants={('inertias of the arm', OTHER): inertial('changed')}),
        Claim('the pseudo-inverse and the filters nevertheless predict torques at level A',
              torque(False), 'largest e_T', 1.0, literal=EQUATIONS,
              variants={('noise of the torques', 'Table 7'): torque(True)}),
        Claim('friction errors of the searches are larger than those of the pseudo-inverse',
              friction(False), 'e_f', literal=EQUATIONS,
              variants={('noise of the torques', 'Table 7'): friction(True)}),
        *(Claim('the extended Kalman filter has larger errors of Stribeck friction than the '
                f'searches{", with noise" * noisy}', stribeck(survey_methods.PRINTED_EKF, noisy),
                'e_f; median of the searches', literal=printed, variants={
                    ('start of the Stribeck velocity', 'its true value'): stribeck(
                        survey_methods.STARTED_EKF, noisy)})
          for noisy in (False, True)),
        *_noise_and_time(done),
        Claim('on an arm that differs from its CAD model the physically consistent fit has a '
              'smaller e_d than every search',
              LazyPairs(done, lambda one: (
                  _extreme(one.methods.changed, (survey_methods.CONSISTENT,), 'inertial'),
                  _extreme(one.methods.changed, searched, 'inertial'))), 'e_d', ours=True,
              draws={0: 4 * DRAWS}),
        Claim(OUR_FILTER, filters(False), 'e_f', ours=True, literal=printed,
              variants={('noise of the torques', 'Table 7'): filters(True)}))


def _noise_and_time(done: Sequence[Any]) -> tuple[Claim, ...]:
    def change(method: str, bound: float, kind: str = 'linear') -> Pairs:
        return LazyPairs(done, lambda one: (1 + getattr(one.methods, kind)[method].change,
                                            1 + bound))

    def times(field: str) -> Pairs:
        return LazyPairs(done, lambda one: (
            one.methods.linear['pseudo-inverse'].seconds,
            getattr(one.methods.linear['genetic algorithm'], field)))

    first, second = survey_methods.LEVELS['Delta J_e']
    return (
        *(Claim(f'the {method} resists noise at level {level} (Delta J_e below {bound:g})',
                change(method, bound), '1 + Delta J_e', 1.0, literal=EQUATIONS,
                variants={('inertias of the arm', OTHER): change(method, bound, 'changed')},
                draws={0: draws})
          for method, level, bound, draws in (
              ('pseudo-inverse', 'A', first, 4 * DRAWS),
              ('genetic algorithm', 'B or better', second, DRAWS),
              ('particle filter', 'B or better', second, DRAWS))),
        Claim('a genetic algorithm takes more than 3600 times as long as the pseudo-inverse',
              times('seconds'), 'processor time [s]; the search evaluates its population at once',
              3600.0, literal=EQUATIONS, variants={ONE_BY_ONE: times('single')}))
