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
"""Zhang 2018: calculation methods and friction models on the ER20-C10."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation.search.problem import SearchProblem
from robot_identification.estimation.search.ranges import search_bounds
from robot_identification.papers.studies.linear_algebra import compare_with_searches, Comparison
from robot_identification.papers.studies.study import (
    Claim,
    PAPER,
    Progress,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.survey_frictions import compare_frictions
from robot_identification.papers.studies.survey_idim import compare_instruments, PUBLISHED_IDIM
from robot_identification.papers.studies.survey_methods import (
    compare_methods,
    level,
    LEVELS,
    Outcome,
    Platform,
)
from robot_identification.papers.studies.survey_tracking import follow, Tracking
from robot_identification.regression import build_regression

PUBLISHED_LINEAR = Table(
    'Published Table 8, linear friction (other inertias, not comparable in value)',
    ('method', 'e_d', 'e_f', 'J_e', 'J_e with noise', 'Delta J_e'),
    (('pseudo-inverse', 279.8642, 0.0, 279.8642, 289.3216, 0.0338),
     ('Kalman', 256.6049, 0.0135, 256.6191, 261.2945, 0.0182),
     ('exponential forgetting', 255.1294, 0.0080, 255.1380, 260.1460, 0.0196),
     ('gradient descent', 0.3839, 0.0032, 0.3879, 1.0610, 1.7352),
     ('genetic algorithm', 0.8657, 0.0061, 0.8736, 1.1951, 0.3680),
     ('particle filter', 0.6336, 0.0185, 0.6532, 1.1225, 0.7184)), PAPER)
PUBLISHED_NONLINEAR = Table(
    'Published Table 9, Stribeck friction (other inertias, not comparable in value)',
    ('method', 'e_d', 'e_f', 'J_e', 'J_e with noise', 'Delta J_e'),
    (('extended Kalman', 71.7454, 3.0663, 74.8180, 122.4827, 0.6371),
     ('exponential forgetting', 72.6643, 3.4116, 76.0820, 129.1102, 0.6970),
     ('gradient descent', 0.2243, 0.0681, 0.2956, 0.9737, 2.2936),
     ('genetic algorithm', 0.8152, 0.0376, 0.8541, 1.0343, 0.2110),
     ('particle filter', 0.7340, 0.0182, 0.7530, 1.0135, 0.3459)), PAPER)
PUBLISHED_JOINT = Table(
    'Published Table 5: joint 3, linear friction, without noise (another arm)',
    ('parameter', 'set', 'pseudo-inverse', 'Kalman', 'exponential forgetting', 'gradient descent',
     'genetic algorithm', 'particle filter'),
    (('mass [kg]', 25.6083, 17.7803, 17.7782, 17.7793, 24.5913, 24.5699, 24.5250),
     ('centre x [m]', 0.0938, -0.1811, -0.1807, -0.1809, 0.0672, 0.0994, 0.1208),
     ('centre y [m]', 0.1383, -0.1121, -0.1140, -0.1132, 0.1107, 0.1657, 0.1384),
     ('centre z [m]', 0.1164, 0.0085, 0.0082, 0.0083, 0.0970, 0.1159, 0.1148),
     ('I_xx [kg m^2]', 0.1706, 3.3342, 3.3206, 3.3262, 0.1287, 0.1783, 0.2189),
     ('I_xy [kg m^2]', -0.1498, 0.5166, 0.5146, 0.5151, -0.2175, -0.1258, -0.1829),
     ('I_yy [kg m^2]', 0.3493, -3.5211, -3.5359, -3.5298, 0.4161, 0.2925, 0.4160),
     ('I_xz [kg m^2]', 0.2140, 0.6943, 0.6915, 0.6928, 0.1790, 0.1615, 0.2486),
     ('I_yz [kg m^2]', -0.1320, -0.2403, -0.2808, -0.2641, -0.1994, -0.0933, -0.1646),
     ('I_zz [kg m^2]', 0.2363, -0.3693, -0.3691, -0.3693, 0.3062, 0.3046, 0.3063),
     ('F_c [N m]', 50.0, 50.0, 49.7802, 49.8704, 50.2227, 50.2716, 50.4040),
     ('F_v [N m s/rad]', 40.0, 40.0, 40.0250, 40.0161, 39.7539, 39.6028, 39.8216)), PAPER)
ONLINE = ('Kalman', 'extended Kalman', 'exponential forgetting')
PUBLISHED_LEVELS = Table(
    'Published Table 11',
    ('method', 'e_d', 'e_f', 'e_T', 'J_e', 'anti-interference', 'follows changes',
     'solution time'),
    (('pseudo-inverse', 'C', 'A', 'A', 'C', 'A', 'C', 'A, offline'),
     ('Kalman', 'C', 'A', 'A', 'C', 'A', 'B', 'online'),
     ('extended Kalman', 'C', 'B', 'A', 'C', 'B', 'B', 'online'),
     ('exponential forgetting', 'C', 'B', 'A', 'C', 'B', 'A', 'online'),
     ('gradient descent', 'B', 'A', 'A', 'A', 'C', 'C', 'B, offline'),
     ('genetic algorithm', 'B', 'A', 'A', 'A', 'B', 'C', 'C, offline'),
     ('particle filter', 'B', 'A', 'A', 'A', 'B', 'C', 'B, offline')), PAPER,
    'Means over linear and Stribeck friction. IDIM-IV is not among them.')
PUBLISHED_FRICTIONS = Table(
    'Published Table 12: torque errors on the real ER20-C10 [N m]',
    ('friction', 'equation', 'mean', 'standard deviation'),
    (('coulomb_viscous', '(7)', 0.4478, 44.7068), ('cube_root', '(8)', 0.0469, 30.8389),
     ('load_dependent', '(9)', 0.4509, 44.417), ('stribeck', '(4)', 0.4085, 19.1073),
     ('bompos', '(5)', 2.7903, 51.8087), ('sech_tanh', '(6)', 1.2232, 25.5865)), PAPER)


def survey_er20(quick: bool, seed: int, progress: Progress) -> StudyResult:
    """
    Compare calculation methods, the following of changing friction, and friction models.

    Parameters
    ----------
    quick
        1000 evaluations, one period for the following.
    seed
        Of the design, the arm, noise and searches.
    progress
        Called with what is done and the part of it.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, "Parameter estimation survey for multi-joint robot dynamic
    calibration case study", Science China Information Sciences, 2018.

    """
    progress('designing the motion', 0.0)
    platform = Platform.build(quick, seed)
    budget = 1_000 if quick else 40_000
    linear = compare_methods(platform, 'coulomb_viscous', budget, seed,
                             lambda text, part: progress(text, 0.05 + 0.35 * part))
    nonlinear = compare_methods(platform, 'stribeck', budget, seed,
                                lambda text, part: progress(text, 0.4 + 0.35 * part))
    progress('following a changing friction', 0.75)
    tracking = follow(platform, seed, periods=1 if quick else 6)
    instruments = compare_instruments(platform, seed, 1 if quick else 8,
                                      lambda text, part: progress(text, 0.78 + 0.07 * part))
    algebra = _algebra(platform, seed, 1500 if quick else 40_000,
                       lambda text, part: progress(text, 0.85 + 0.1 * part))
    progress('friction models', 0.95)
    frictions = compare_frictions(quick, seed, 500 if quick else 20_000)
    return StudyResult(
        name='survey_er20', title='Calculation methods and friction models on the ER20-C10',
        reference='Zhang, Wang, Jing, Tan, Science China Information Sciences, 2018',
        settings={'seed': seed, 'evaluations of a search': budget,
                  'evaluations of CMA-ES': budget // 4, 'rate [Hz]': 100.0,
                  'noise of the torques [N m]': '10, 10, 10, 1.78, 1.78, 1.78 (Table 7)',
                  'condition number, linear friction, columns of unit norm':
                      platform.condition('coulomb_viscous'),
                  'condition number, Stribeck friction, columns of unit norm':
                      platform.condition('stribeck'),
                  'condition numbers of the paper': '4.6 and 5.7'},
        assumptions=(
            'a representative geometry of the ER20-C10; the true inertias differ from its URDF by '
            'up to 20 %', 'states are exact and torques those of MuJoCo on the motion, plus the '
                          'noise of '
            'Table 7', 'ranges of 60 % around the URDF values; friction up to twice its true '
                       'value',
            'gradient descent starts within 20 % of the true values (text 6.2)',
            'k_e = 1 in the objective (25)', 'rotor inertia is known to be zero, as in the paper',
            'pseudo-inverse and filters: standard parameters of least norm for their base '
            'parameters; the filters start from zero, as recursive least squares does',
            'a method follows a change when its RMS error over the last two thirds is at most a '
            'fifth of the change: level A for a slope, B for a step only, C for neither'),
        tables=(_joint(platform, linear), PUBLISHED_JOINT,
                _errors('Linear friction', linear), PUBLISHED_LINEAR,
                _errors('Stribeck friction', nonlinear), PUBLISHED_NONLINEAR,
                _levels(linear, nonlinear, tracking), PUBLISHED_LEVELS, tracking.table,
                instruments.table, PUBLISHED_IDIM, *frictions.tables, PUBLISHED_FRICTIONS,
                *algebra.tables),
        claims=(*_claims(linear, nonlinear), *tracking.claims, *instruments.claims,
                *frictions.claims, *algebra.claims),
        plots=(*tracking.plots, *frictions.plots, *algebra.plots), quick=quick)


def _algebra(platform: Platform, seed: int, budget: int, progress: Progress) -> Comparison:
    """Compare all searches with linear algebra on the noisy samples, linear and Stribeck."""
    def one(friction: str, number: int) -> Comparison:
        problem = SearchProblem(build_regression(
            platform.arm, [platform.noisy(friction, seed)], friction))
        return compare_with_searches(
            friction, problem, search_bounds(problem), budget, seed,
            lambda text, part: progress(text, (number + part) / 2))

    parts = [one(friction, k) for k, friction in enumerate(('coulomb_viscous', 'stribeck'))]
    return Comparison(*(tuple(x for part in parts for x in getattr(part, name))
                        for name in ('tables', 'claims', 'plots')))


def _joint(platform: Platform, outcomes: list[Outcome]) -> Table:
    """Return what each method finds for joint 3."""
    def column(standard: Array) -> tuple[float, ...]:
        link = standard[20:30]
        first = len(standard) - 3 * platform.arm.n + 3 * 2
        return tuple(float(x) for x in (link[0], *(link[1:4] / link[0]), *link[4:10],
                                        *standard[first:first + 2]))

    columns = [column(platform.truth('coulomb_viscous')[0]),
               *(column(o.standard) for o in outcomes)]
    names = [str(row[0]) for row in PUBLISHED_JOINT.rows]
    return Table('Joint 3, linear friction, without noise, as in Table 5',
                 ('parameter', 'set', *(o.method for o in outcomes)),
                 tuple((name, *values) for name, values in zip(names, zip(*columns))),
                 note='Inertia about the joint frame. Torques do not tell all of these apart: '
                 'what has no ranges and no prior returns those of least norm.')


def _errors(title: str, outcomes: list[Outcome]) -> Table:
    rows = tuple((
        o.method, o.clean.inertial, o.clean.median, o.clean.friction, o.clean.torque,
        o.clean.spread,
        o.clean.total, o.noisy.inertial, o.noisy.friction, o.noisy.torque, o.noisy.total,
        o.noisy.total / o.clean.total - 1, o.seconds) for o in outcomes)
    return Table(f'{title}: parameter errors without and with noise', (
        'method', 'e_d', 'median of e_d', 'e_f', 'e_T', 'e_T_Std', 'J_e', 'noisy e_d', 'noisy e_f',
        'noisy e_T', 'noisy J_e', 'Delta J_e', 'processor time [s]'), rows,
        note='e_d and e_f are mean relative errors of all standard inertial and friction '
             'parameters; '
        'parameters near zero dominate e_d, so its median is given too.')


def _levels(linear: list[Outcome], nonlinear: list[Outcome], tracking: Tracking) -> Table:
    rows = []
    for kind, outcomes in (('linear', linear), ('Stribeck', nonlinear)):
        for o in outcomes:
            rows.append((o.method, kind, *(
                level(value, LEVELS[name]) for name, value in (
                    ('e_d', o.clean.inertial), ('e_f', o.clean.friction), ('e_T', o.clean.torque),
                    ('J_e', o.clean.total), ('Delta J_e', o.noisy.total / o.clean.total - 1))),
                tracking.level(o.method),
                'online' if o.method in ONLINE else level(o.seconds, LEVELS['seconds'])))
    return Table('Levels A, B, C as in Table 11', (
        'method', 'friction', 'e_d', 'e_f', 'e_T', 'J_e', 'anti-interference', 'follows changes',
        'solution time'),
        tuple(rows), note="Bounds of the survey's Tables 1 to 4; its computers were slower. "
        'Following was tried with linear friction; offline methods do not follow.')


def _claims(linear: list[Outcome], nonlinear: list[Outcome]) -> tuple[Claim, ...]:
    by_name = {o.method: o for o in linear}
    bounded = [by_name[name] for name in ('gradient descent', 'genetic algorithm',
                                          'particle filter')]
    free = [by_name[name] for name in ('pseudo-inverse', 'Kalman', 'exponential forgetting')]
    ekf = {o.method: o for o in nonlinear}['extended Kalman']
    quiet = max(o.clean.torque for o in free)
    return (
        Claim('methods with parameter ranges have far smaller errors of the inertial parameters',
              max(o.clean.inertial for o in bounded) < min(o.clean.inertial for o in free),
              'e_d: ' + ', '.join(f'{o.method} {o.clean.inertial:.3g}'
                                  for o in (*bounded, *free))),
        Claim('pseudo-inverse and filters predict torques at level A all the same', quiet < 0.01,
              f'largest e_T {quiet:.2g}'),
        Claim('friction errors of the searches are larger than those of the pseudo-inverse',
              min(o.clean.friction for o in bounded) > by_name['pseudo-inverse'].clean.friction,
              'e_f: ' + ', '.join(f'{o.method} {o.clean.friction:.2g}'
                                  for o in (*bounded, by_name['pseudo-inverse']))),
        Claim('the extended Kalman filter finds Stribeck friction worse than the searches do',
              ekf.clean.friction > np.median([o.clean.friction for o in nonlinear
                                              if o.method in {b.method for b in bounded}]),
              f'e_f {ekf.clean.friction:.3g}; ' + ', '.join(
                  f'{o.method} {o.clean.friction:.3g}' for o in nonlinear if o is not ekf)),
        Claim('a genetic algorithm needs more than an hour', by_name['genetic algorithm'].seconds
              > 3600, f'{by_name["genetic algorithm"].seconds:.1f} s here, vectorised'))
