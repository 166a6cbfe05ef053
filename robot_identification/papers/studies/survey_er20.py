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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies import (
    linear_algebra as solvers,
)
from robot_identification.papers.studies import (
    survey_comparison as comparison,
)
from robot_identification.papers.studies import (
    survey_frictions as frictions,
)
from robot_identification.papers.studies import (
    survey_idim as idim,
)
from robot_identification.papers.studies import (
    survey_tracking as following,
)
from robot_identification.papers.studies.study import (
    Draw,
    StudyOptions,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.survey_methods import Platform
from robot_identification.regression import build_regression

DRAWS = 14
BUDGETS = {'coulomb_viscous': 20_000, 'stribeck': 4000}
"""Evaluations of a search, by friction model."""
EFFORTS = (4000, 8000)
"""Evaluations of the particle filter in the comparison of friction models."""
PRINTED_CONDITIONS = {comparison.LINEAR: 4.6, comparison.STRIBECK: 5.7}
SEARCHERS = {'real_genetic': 'genetic', 'barrier': 'gradient'}


@dataclass(frozen=True, eq=False)
class _Done:
    """Results of one draw."""

    methods: comparison.MethodDraw
    tracking: following.TrackingDraw
    instruments: idim.InstrumentDraw
    frictions: frictions.FrictionDraw
    algebra: tuple[solvers.SolverComparison, ...]


def survey_er20(options: StudyOptions) -> StudyResult:
    """
    Compare calculation methods, tracking of changing friction, and friction models.

    Parameters
    ----------
    options
        Options of the study. `quick`: two draws, 1000 evaluations, one period for the tracking.

    References
    ----------
    S. Zhang, S. Wang, F. Jing, M. Tan, "Parameter estimation survey for multi-joint robot dynamic
    calibration case study", Science China Information Sciences, 2018.

    """
    budgets = {comparison.LINEAR: 1000, comparison.STRIBECK: 500} if options.quick else BUDGETS
    efforts = (500, 1000) if options.quick else EFFORTS
    draws = options.draws(DRAWS)
    done: list[_Done] = options.run_draws(_run_draw, draws, draws, budgets, efforts, options.quick)
    first = done[0]
    tracking = following.summarise_tracking([one.tracking for one in done])
    parts = (comparison.summarise_methods([one.methods for one in done], tracking), tracking.part,
             idim.summarise_instruments([one.instruments for one in done]),
             frictions.summarise_frictions([one.frictions for one in done], efforts))
    return StudyResult(
        name='survey_er20', title='Calculation methods and friction models on the ER20-C10',
        reference='Zhang, Wang, Jing, Tan, Science China Information Sciences, 2018',
        settings={'draws': len(draws), 'seed': options.seed,
                  'evaluations of a search, linear friction': budgets[comparison.LINEAR],
                  'evaluations of a search, Stribeck friction': budgets[comparison.STRIBECK],
                  'rate [Hz]': 100.0,
                  'noise of the torques [N m]': '10, 10, 10, 1.78, 1.78, 1.78 (Table 7)'},
        assumptions=_ASSUMPTIONS,
        tables=(_designs(draws[0], options.quick), *(table for part in parts
                                                     for table in part.tables),
                *(solvers.tabulate_solver(one) for one in first.algebra)),
        claims=(*(claim for part in parts for claim in part.claims),
                *solvers.solver_claims([one.algebra[0] for one in done])),
        plots=(*(plot for part in parts for plot in part.plots),
               *(solvers.plot_solver(one) for one in first.algebra)), quick=options.quick)


def _run_draw(draw: Draw, draws: Sequence[Draw], budgets: Mapping[str, int],
              efforts: tuple[int, int], quick: bool) -> _Done:
    """Run all parts of the study on one draw."""
    motion = _design(draw, 'friction', 'motion', 'barrier', 1, 1.0)
    platform = Platform.build(motion, draw.arm, 0.0)
    algebra = _algebra(platform, comparison.LINEAR, draw, solvers.budget_of(draw, draws, quick))
    if draw == draws[0]:
        algebra += _algebra(
            platform, comparison.STRIBECK, draw, solvers.QUICK if quick else solvers.REPEATED
        )
    return _Done(comparison.run_methods(draw, motion, platform, budgets),
                 following.track_friction(draw, platform, 1 if quick else 2),
                 idim.run_instruments(draw, platform, 1 if quick else 3),
                 frictions.fit_frictions(draw, efforts), algebra)


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


def _design(draw: Draw, drives: str, scaling: str, optimiser: str, starts: int,
            factor: float) -> Excitation:
    """Return an excitation; velocities and accelerations may be `factor` times the limits."""
    arm = load_arm('er20_c10')
    return design(arm, kind='ffs', period=10.0, harmonics=5, starts=starts, seed=draw.design,
                  drives=drives, scaling=scaling, optimiser=optimiser,
                  velocity=factor * np.asarray(arm.limits.velocity),
                  acceleration=factor * np.asarray(arm.limits.acceleration),
                  requirements=Requirements())


def _designs(draw: Draw, quick: bool) -> Table:
    """Return a table of excitations designed by two optimisers."""
    rows: list[tuple[str | float, ...]] = []
    cases: list[tuple[str, str, str, str, int, float]] = [
             ('with friction, unit norm in the motion', 'friction', 'motion', 'real_genetic', 1,
              1.0),
             ('with friction, unit norm in the motion', 'friction', 'motion', 'barrier', 4, 1.0),
             ('the same, three times the velocity and acceleration', 'friction', 'motion',
              'barrier', 1, 3.0),
             ('with friction, unit norm at random states', 'friction', 'unit', 'barrier', 1,
              1.0),
             ('with friction, SI', 'friction', 'none', 'barrier', 1, 1.0),
             ('inertial, unit norm in the motion', 'none', 'motion', 'barrier', 1, 1.0),
             ('inertial, SI', 'none', 'none', 'barrier', 1, 1.0)]
    for label, drives, scaling, optimiser, starts, factor in cases[2:4] if quick else cases:
        motion = _design(draw, drives, scaling, optimiser, starts, factor)
        platform = Platform.build(motion, draw.arm, 0.0)
        rows.append((label, SEARCHERS[optimiser], float(motion.value or 0), *(
            platform.condition(friction) for friction in PRINTED_CONDITIONS)))
    rows.append(('printed in the paper', 'genetic', '-', *PRINTED_CONDITIONS.values()))
    return Table(
        'Condition numbers of excitations with five harmonics of 0.1 Hz',
        ('regressor columns in the criterion', 'optimiser', 'minimised criterion',
         'linear friction (7), unit norm', 'Stribeck friction (4), unit norm'), tuple(rows),
        note='First draw. The survey does not state how the columns of K are scaled. Columns of '
             'unit norm over the motion give its condition numbers. In SI units the friction '
             'columns keep the condition number high, and columns of unit norm at random states '
             'have another optimum. Last two columns: condition number of all regressor columns '
             'except those of rotor inertia, which the survey takes as known, with unit norm over '
             'the motion; Stribeck friction has its true shape.')


def _algebra(platform: Platform, friction: str, draw: Draw,
             budget: int) -> tuple[solvers.SolverComparison, ...]:
    """Compare all searches with least squares on noisy samples."""
    problem = SearchProblem(build_regression(
        platform.arm, [platform.noisy(friction, draw.noise)], friction))
    return solvers.compare_with_searches(friction, problem, search_bounds(problem), budget, draw)
