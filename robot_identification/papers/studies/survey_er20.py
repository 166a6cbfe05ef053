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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import functools
from typing import Any

from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies import (
    linear_algebra,
    survey_comparison,
    survey_frictions,
    survey_idim,
    survey_tracking,
)
from robot_identification.papers.studies.study import (
    Draw,
    LazyResults,
    StudyOptions,
    StudyResult,
)
from robot_identification.papers.studies.survey_comparison import LINEAR, STRIBECK
from robot_identification.papers.studies.survey_designs import design_motion, tabulate_designs
from robot_identification.papers.studies.survey_methods import Platform
from robot_identification.papers.studies.verdict import Claim
from robot_identification.regression import build_regression

TITLE = ('Calculation methods and friction models on the ER20-C10',
         'Zhang, Wang, Jing, Tan, Science China Information Sciences, 2018')
BUDGETS = {'coulomb_viscous': 20_000, 'stribeck': 4000}
"""Evaluations of a search, by friction model."""
EFFORTS = BUDGETS['stribeck'], 2 * BUDGETS['stribeck']
"""Evaluations of the particle filter in the comparison of friction models."""


@dataclass(frozen=True, eq=False)
class _Done:
    """Parts of one draw by name, and the comparison of searches with least squares."""

    parts: Mapping[str, Any]
    algebra: linear_algebra.Algebra

    @property
    def methods(self) -> survey_comparison.MethodDraw:
        """Results of the survey's methods."""
        return self.parts['methods']

    @property
    def tracking(self) -> survey_tracking.TrackingDraw:
        """Filters on changing friction."""
        return self.parts['tracking']

    @property
    def instruments(self) -> Any:
        """Errors of IDIM-IV."""
        return self.parts['instruments']

    @property
    def frictions(self) -> survey_frictions.FrictionDraw:
        """Errors of the friction models."""
        return self.parts['frictions']


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
    budgets = {LINEAR: 1000, STRIBECK: 500} if options.quick else BUDGETS
    efforts = (500, 1000) if options.quick else EFFORTS
    draws = options.draws()
    done, claims = options.collect(_make_draw, functools.partial(_claims, efforts), draws[0],
                                   budgets, efforts, options.quick)
    if not done:
        return StudyResult(*TITLE, {'seed': options.seed}, claims=claims)
    tracking = survey_tracking.summarise_tracking([one.tracking for one in done])
    parts = (survey_comparison.summarise_methods([one.methods for one in done], tracking),
             tracking.part, survey_idim.summarise_instruments([one.instruments for one in done]),
             survey_frictions.summarise_frictions([one.frictions for one in done], efforts))
    algebra = linear_algebra.tables_and_plots(done[0].algebra)
    return StudyResult(
        *TITLE,
        settings={'draws': len(draws), 'seed': options.seed,
                  'evaluations of a search, linear friction': budgets[LINEAR],
                  'evaluations of a search, Stribeck friction': budgets[STRIBECK],
                  'rate [Hz]': 100.0,
                  'noise of the torques [N m]': '10, 10, 10, 1.78, 1.78, 1.78 (Table 7)'},
        assumptions=_ASSUMPTIONS,
        tables=(tabulate_designs(draws[0], options.quick),
                *(table for part in parts for table in part.tables), *algebra[0]),
        claims=claims, plots=(*(plot for part in parts for plot in part.plots), *algebra[1]))


def _claims(efforts: tuple[int, int], done: Sequence[_Done]) -> tuple[Claim, ...]:
    return (*survey_comparison.method_claims(done), *survey_tracking.tracking_claims(done),
            *survey_idim.instrument_claims(done), *survey_frictions.friction_claims(done, efforts),
            *linear_algebra.solver_claims(done, LINEAR, linear=True))


def _make_draw(draw: Draw, first: Draw, budgets: Mapping[str, int], efforts: tuple[int, int],
               quick: bool) -> _Done:
    """Return the results of a draw, computed on first use; the tables show the draw `first`."""
    motion = functools.cache(lambda: design_motion(draw))
    platform = functools.cache(lambda: Platform.build(motion(), draw.arm, 0.0))
    parts: dict[str, Callable[[], Any]] = {
        'methods': lambda: survey_comparison.run_methods(draw, motion(), platform(), budgets),
        'tracking': lambda: survey_tracking.track_friction(draw, platform(), 1 if quick else 2),
        'instruments': lambda: survey_idim.run_instruments(draw, platform(), 1 if quick else 3),
        'frictions': lambda: survey_frictions.fit_frictions(draw, efforts)}

    def compare(friction: str, table: bool, budget: int) -> linear_algebra.Comparisons:
        problem = SearchProblem(build_regression(
            platform().arm, [platform().noisy(friction, draw.noise)], friction))
        return linear_algebra.compare_with_searches(
            friction, problem, search_bounds(problem), draw, table=table, budget=budget)

    return _Done(LazyResults(parts, lambda name: parts[name]()), linear_algebra.lazy_algebra(
        (LINEAR,), compare, table=draw == first, quick=quick,
        shown=(STRIBECK,)))


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
