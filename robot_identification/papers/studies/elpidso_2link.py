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
"""Study of Yan et al. 2015: ELPIDSO particle swarm on a two-link arm with a payload."""

from collections.abc import Callable, Sequence

import numpy as np
from robot_identification.arrays import Array
from robot_identification.papers.studies import linear_algebra, two_link, two_link_tables
from robot_identification.papers.studies.study import (
    Draw,
    PAPER,
    StudyOptions,
    StudyResult,
    Table,
)
from robot_identification.papers.studies.two_link_draw import (
    CHECK,
    CONVERGENCE,
    FIT,
    GAINS,
    LOUD,
    make_two_link_draw,
    SHOWN,
    SOLVED,
    TwoLinkDraw,
)
from robot_identification.papers.studies.verdict import Claim, DRAWS, LazyPairs, Pairs

RUNS = 30
"""Independent runs whose accumulated errors are listed."""

TITLE = ('ELPIDSO against LS, GA and SPSO on a two-link arm',
         'Yan, Lu, Levy, PLoS ONE 10(6), e0129157, 2015')
PUBLISHED = Table(
    'Published finding (the numbers of Tables 3 to 9 are missing in our copy)',
    ('method', 'fitness (3) and error of the torques'),
    (('ELPIDSO', 'best'), ('SPSO', 'second'), ('GA', 'third'),
     ('LS', 'worst, though better than GA and SPSO in alpha, beta and epsilon')), PAPER)


def elpidso_2link(options: StudyOptions) -> StudyResult:
    """
    Compare least squares, GA, SPSO, ELPIDSO, differential evolution and CMA-ES.

    Parameters
    ----------
    options
        Options of the study. `quick`: two draws of 3000 evaluations.

    References
    ----------
    D. Yan, Y. Lu, D. Levy, "Parameter identification of robot manipulators: a heuristic particle
    swarm search approach", PLoS ONE 10(6), 2015.

    """
    budget = 3000 if options.quick else 300_000
    draws = options.draws()
    done, claims = options.collect(make_two_link_draw, _claims, draws[0], budget, options.quick)
    if not done:
        return StudyResult(*TITLE, {'seed': options.seed}, claims=claims)
    algebra = linear_algebra.tables_and_plots(done[0].algebra)
    further = options.draws(0 if options.quick else RUNS)[len(draws):]
    errors = np.array([*map(two_link_tables.accumulate, done), *options.stage(
        0.9, 1.0, 'further runs').run_draws(_accumulate, further, args=(draws[0], budget))])
    return StudyResult(
        *TITLE,
        settings={
            'draws': len(draws),
            'evaluations': budget,
            'population': 20,
            'seed': options.seed,
            **two_link.SETTINGS,
        },
        assumptions=(
            'the arm and its torques are printed, so a draw is noise and starts',
            'the arm starts horizontal and at rest; 10 s at 100 Hz (missing in our copy)',
            f'white noise of {two_link.NOISE:g} N m on the measured torques; states are exact',
            'm1 = 1, l1 = 1, lc1 = 0.5, I1 = 1/12, me = 3, lce = 1, Ie = 0.4, which give the '
            "paper's lambda",
            'joints turn without end stops',
            'PID gains kp = 1, ki = 0.05 (1 - t), kd = 0.1 without a leak of the integral; '
            'velocity and position bounds and initial velocities of ELPIDSO, operators of GA and '
            'constants of SPSO (see their classes)',
            'mutations count as evaluations, so ELPIDSO runs a few generations less than 15 000',
        ),
        tables=(
            *(two_link_tables.tabulate_frequency(done, (rho,), budget) for rho in FIT),
            two_link_tables.tabulate_frequency(done, FIT, budget),
            two_link_tables.compare_statements(done, errors),
            two_link_tables.tabulate_accumulated(errors),
            two_link_tables.tabulate_convergence(done),
            two_link_tables.tabulate_torque_errors(done),
            two_link_tables.tabulate_wide(done[0]),
            two_link_tables.tabulate_relative(errors),
            PUBLISHED,
            *algebra[0],
        ),
        claims=claims,
        plots=(
            *(two_link_tables.plot_fitness(done, rho)
              for rho in (SHOWN, *(rho for rho in FIT if rho != SHOWN))),
            *(plot(done[0], rho, joint) for rho in CHECK for joint in (0, 1)
              for plot in (two_link_tables.plot_torque, two_link_tables.plot_error)),
            *algebra[1],
        ),
    )


def _accumulate(draw: Draw, first: Draw, budget: int) -> Array:
    """Return the accumulated errors of a draw that no other table shows."""
    return two_link_tables.accumulate(make_two_link_draw(draw, first, budget, False))


def _claims(done: Sequence[TwoLinkDraw]) -> tuple[Claim, ...]:
    def pairs(index: Callable[[TwoLinkDraw, str], float], low: str, high: str) -> Pairs:
        return LazyPairs(done, lambda one: (index(one, low), index(one, high)))

    def with_leaks(index: Callable[[TwoLinkDraw, str], float], low: str,
                   high: str) -> dict[tuple[str, str], Pairs]:
        return {('integral of the PID', leak.split(', ')[1]): pairs(
            index, *(leak if method == 'ELPIDSO' else method for method in (low, high)))
            for leak in list(GAINS)[1:]}

    def hanging(low: str, high: str) -> dict[tuple[str, str], Pairs]:
        return {('start of the arm', 'hanging, rho = 1'): LazyPairs(
            done, lambda one: (one.hanging[low], one.hanging[high]))}

    def count(excess: float) -> Callable[[TwoLinkDraw, str], float]:
        return lambda one, method: one.evaluations(method, excess)

    literal = 'PID without leak, Algorithm 1 line by line'
    excess = 'relative excess over the optimum, geometric mean over the five rho'
    error = 'E_a (30) [N m] at rho 5, 5.5 and 6, geometric mean over the five fitted rho'
    exact, target = CONVERGENCE
    return (
        Claim('ELPIDSO ends at a lower fitness than SPSO',
              pairs(TwoLinkDraw.excess, 'ELPIDSO', 'SPSO'), excess, literal=literal,
              variants={**with_leaks(TwoLinkDraw.excess, 'ELPIDSO', 'SPSO'),
                        **hanging('ELPIDSO', 'SPSO')}),
        Claim('SPSO ends at a lower fitness than GA', pairs(TwoLinkDraw.excess, 'SPSO', 'GA'),
              excess, literal='SPSO and GA of 20; their constants are missing in our copy',
              variants=hanging('SPSO', 'GA'), draws={1: 4 * DRAWS}),
        Claim('ELPIDSO needs fewer evaluations than SPSO',
              pairs(count(exact), 'ELPIDSO', 'SPSO'),
              'mean evaluations until within 1e-9 of the optimum, or in all', literal=literal,
              variants={('what counts as converged', f'within {target:.0%}'): pairs(
                  count(target), 'ELPIDSO', 'SPSO'),
                  **with_leaks(count(exact), 'ELPIDSO', 'SPSO')}),
        Claim('LS has a worse fitness than ELPIDSO',
              LazyPairs(done, lambda one: (float(np.mean([
                  one.results[rho]['ELPIDSO'].cost / one.data[rho](
                      one.least_squares(rho)[None])[0] for rho in FIT])), 1.0)),
              'fitness relative to LS, which minimises the convex quadratic (3) exactly, so no '
              'search can reach a lower fitness', literal=f'{literal}; LS by the pseudo-inverse',
              variants={('noise of the torques', f'{LOUD:g} N m, rho = 1'): LazyPairs(
                  done, lambda one: (one.loud['ELPIDSO'], one.loud['LS']))}),
        *(Claim(f'ELPIDSO predicts other frequencies better than {other}',
                pairs(TwoLinkDraw.prediction, 'ELPIDSO', other), error, literal=literal,
                variants=with_leaks(TwoLinkDraw.prediction, 'ELPIDSO', other))
          for other in ('SPSO', 'LS')),
        Claim('CMA-ES (package cma) ends at a lower fitness than ELPIDSO',
              pairs(TwoLinkDraw.excess, 'CMA-ES', 'ELPIDSO'), excess, ours=True, literal=literal,
              variants=with_leaks(TwoLinkDraw.excess, 'CMA-ES', 'ELPIDSO')),
        *linear_algebra.solver_claims(done, SOLVED, linear=True))
