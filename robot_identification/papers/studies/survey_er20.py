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
"""Study of Zhang et al. 2018: calculation methods and friction models on the ER20-C10."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies.linear_algebra import (
    compare_with_searches,
    SearchComparison,
)
from robot_identification.papers.studies.study import StudyOptions, StudyResult, Table
from robot_identification.papers.studies.survey_comparison import (
    compare_over_seeds,
    LINEAR,
    STRIBECK,
)
from robot_identification.papers.studies.survey_frictions import compare_frictions
from robot_identification.papers.studies.survey_idim import compare_instruments, PUBLISHED_IDIM
from robot_identification.papers.studies.survey_methods import Platform
from robot_identification.papers.studies.survey_published import PUBLISHED_FRICTIONS
from robot_identification.papers.studies.survey_tracking import compare_tracking
from robot_identification.regression import build_regression

PRINTED_CONDITIONS = {LINEAR: 4.6, STRIBECK: 5.7}
SEARCHERS = {'real_genetic': 'genetic', 'barrier': 'gradient'}


def survey_er20(options: StudyOptions) -> StudyResult:
    """
    Compare calculation methods, tracking of changing friction, and friction models.

    Parameters
    ----------
    options
        Options of the study. `quick`: one seed, 1000 evaluations, one period for the tracking.
        `seed`: first seed of arms, noise and searches.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, "Parameter estimation survey for multi-joint robot dynamic
    calibration case study", Science China Information Sciences, 2018.

    """
    quick, seed = options.quick, options.seed
    seeds = range(seed, seed + (1 if quick else 8))
    budgets = {LINEAR: 1000, STRIBECK: 500} if quick else {LINEAR: 40_000, STRIBECK: 8000}
    options.progress('designing the motions', 0.0)
    conditions, excitation = _designs(quick, seed)
    platform = Platform.build(excitation, seed, 0.0)
    tracking = compare_tracking(platform, seeds, 1 if quick else 3, options.stage(0.1, 0.2))
    methods = compare_over_seeds(excitation, seeds, budgets, tracking, options.stage(0.2, 0.7))
    instruments = compare_instruments(platform, seeds, 1 if quick else 4,
                                      options.stage(0.7, 0.8))
    frictions = compare_frictions(seeds, 500 if quick else 4000, options.stage(0.8, 0.9))
    algebra = _algebra(platform, 500 if quick else 10_000, options.stage(0.9, 1.0))
    return StudyResult(
        name='survey_er20', title='Calculation methods and friction models on the ER20-C10',
        reference='Zhang, Wang, Jing, Tan, Science China Information Sciences, 2018',
        settings={'first seed': seed, 'seeds': len(seeds),
                  'evaluations of a search, linear friction': budgets[LINEAR],
                  'evaluations of a search, Stribeck friction': budgets[STRIBECK],
                  'rate [Hz]': 100.0,
                  'noise of the torques [N m]': '10, 10, 10, 1.78, 1.78, 1.78 (Table 7)'},
        assumptions=_ASSUMPTIONS,
        tables=(conditions, *methods.tables, tracking.table, instruments.table, PUBLISHED_IDIM,
                *frictions.tables, PUBLISHED_FRICTIONS, *algebra.tables),
        claims=(*methods.claims, *tracking.claims, *instruments.claims,
                *frictions.claims, *algebra.claims),
        plots=(*tracking.plots, *frictions.plots, *algebra.plots), quick=quick)


_ASSUMPTIONS = (
    'a representative geometry of the ER20-C10; as in the survey, the arm has the inertias of its '
    'CAD model (our URDF), and the search ranges are centred at these; the last table of errors, '
    'IDIM-IV and the friction models use arms with other inertias',
    'states are exact; torques are those of MuJoCo plus the noise of Table 7',
    'ranges of 60 % around the CAD values of mass, centre and inertia about the centre; friction '
    'up to twice its true value; true friction differs from seed to seed',
    'gradient descent starts within 20 % of the true values (section 6.2)',
    'k_e = 1 in the objective (25)', 'rotor inertia is known to be zero, as in the paper',
    'the pseudo-inverse and the filters find parameters of least norm about the joint, which are '
    'then converted; a link with an estimated mass of zero has its centre of mass at its origin; '
    'filters start from zero',
    'e_d divides by true parameters, some of which are near zero, so it depends more on the '
    'smallest parameter of an arm than on the method; its median is also listed',
    'a method follows a change if its RMS error over the last two thirds is at most a fifth of '
    'the change: level A for ramp and parabola, B for a step only, C for neither')


def _designs(quick: bool, seed: int) -> tuple[Table, Excitation]:
    """Return a table of excitations designed by two optimisers, and the best excitation."""
    arm = load_arm('er20_c10')
    rows: list[tuple[str | float, ...]] = []
    best: list[tuple[float, Excitation]] = []
    cases = [('with friction, unit norm in the motion', 'friction', 'motion', ('real_genetic', 1),
              1.0),
             ('with friction, unit norm in the motion', 'friction', 'motion', ('barrier', 4), 1.0),
             ('the same, three times the velocity and acceleration', 'friction', 'motion',
              ('barrier', 1), 3.0),
             ('with friction, unit norm at random states', 'friction', 'unit', ('barrier', 1),
              1.0),
             ('with friction, SI', 'friction', 'none', ('barrier', 1), 1.0),
             ('inertial, unit norm in the motion', 'none', 'motion', ('barrier', 1), 1.0),
             ('inertial, SI', 'none', 'none', ('barrier', 1), 1.0)]
    for label, drives, scaling, (optimiser, starts), factor in cases[1:2] if quick else cases:
        motion = design(arm, kind='ffs', period=10.0, harmonics=5, starts=1 if quick else starts,
                        seed=seed, drives=drives, scaling=scaling, optimiser=optimiser,
                        velocity=factor * np.asarray(arm.limits.velocity),
                        acceleration=factor * np.asarray(arm.limits.acceleration),
                        requirements=Requirements())
        platform = Platform.build(motion, seed, 0.0)
        conditions = [platform.condition(friction) for friction in PRINTED_CONDITIONS]
        rows.append((label, SEARCHERS[optimiser], motion.value, *conditions))
        if label == cases[0][0]:
            best.append((conditions[0], motion))
    rows.append(('printed in the paper', 'genetic', '-', *PRINTED_CONDITIONS.values()))
    return Table(
        'Condition numbers of excitations with five harmonics of 0.1 Hz',
        ('regressor columns in the criterion', 'optimiser', 'minimised criterion',
         'linear friction (7), unit norm', 'Stribeck friction (4), unit norm'), tuple(rows),
        note='The survey does not state how the columns of K are scaled. Columns of unit norm '
             'over the motion give its condition numbers. In SI units the friction columns keep '
             'the condition number high, and columns of unit norm at random states have another '
             'optimum. Last two columns: condition number of all regressor columns except those '
             'of rotor inertia, which the survey takes as known, with unit norm over the motion; '
             'Stribeck friction has its true shape.'), min(best, key=lambda pair: pair[0])[1]


def _algebra(platform: Platform, budget: int, options: StudyOptions) -> SearchComparison:
    """Compare all searches with least squares on noisy samples, for both friction models."""
    def one(friction: str, index: int) -> SearchComparison:
        problem = SearchProblem(build_regression(
            platform.arm, [platform.noisy(friction, options.seed)], friction))
        return compare_with_searches(
            friction, problem, search_bounds(problem), budget,
            options.stage(index / 2, (index + 1) / 2))

    comparisons = [one(friction, k) for k, friction in enumerate((LINEAR, STRIBECK))]
    return SearchComparison(*(
        tuple(x for comparison in comparisons for x in getattr(comparison, name))
        for name in ('tables', 'claims', 'plots')))
