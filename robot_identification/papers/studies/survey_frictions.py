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
"""Table 12 of Zhang et al. 2018: six friction models, fitted to arms with Stribeck friction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Requirements
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies.er16 import REVERSAL
from robot_identification.papers.studies.study import Draw, LazyResults, Part, Plot, Table
from robot_identification.papers.studies.survey_published import PUBLISHED_FRICTIONS
from robot_identification.papers.studies.verdict import Claim, DRAWS, LazyPairs, Pairs
from robot_identification.regression import build_regression, Regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate

FRICTIONS = ('coulomb_viscous', 'cube_root', 'load_dependent', 'stribeck', 'bompos', 'sech_tanh')
MEASURED = 'measured'
SHOWN = 2
"""Joint whose torque is plotted."""


@dataclass(frozen=True, eq=False)
class FrictionDraw:
    """
    Torque errors of the friction models on another motion.

    `filtered`: mean and standard deviation with the particle filter, by friction and evaluations.
    `square`: the same with least squares, then RMS near reversals and elsewhere. `torques`:
    measured torques of joint `SHOWN` and those of two models, over the time.
    """

    filtered: Mapping[tuple[str, int], tuple[float, float]]
    square: Mapping[str, tuple[float, ...]]
    torques: Mapping[str, tuple[Array, Array]]


def fit_frictions(draw: Draw, budgets: tuple[int, int]) -> FrictionDraw:
    """
    Return fits of six friction models with a particle filter, as in the paper, and least squares.

    Parameters
    ----------
    draw
        Seeds.
    budgets
        Evaluations of the particle filter, and a larger number.

    """
    arm = load_arm('er20_c10')
    motions = [design(arm, kind='ffs', period=10.0, harmonics=h, starts=1, seed=draw.design + k,
                      requirements=Requirements()) for k, h in enumerate((5, 3))]
    plant = Plant(arm, PlantOptions(seed=draw.arm, rate=100.0, stribeck_ratio=1.5,
                                    friction_compensation=0.9))
    rng = np.random.default_rng(draw.noise)
    fit, check = (process(simulate(plant, m, rng=rng).recording, arm,
                          decimation_cutoff=np.inf) for m in motions)
    slow = np.abs(check.v) < REVERSAL
    regressions = LazyResults(FRICTIONS, lambda friction: [
        _regression(arm, samples, friction) for samples in (fit, check)])

    ranges = LazyResults(FRICTIONS, lambda friction: search_bounds(
        SearchProblem(regressions[friction][0]), 'estimate'))

    def errors_of(friction: str, estimator: str, **settings: object) -> Array:
        regression, other = regressions[friction]
        estimate = get_estimator(estimator, **settings).fit(regression)
        errors: Array = other.of(estimate.base).residuals(estimate.values)
        return errors

    squares = LazyResults(FRICTIONS, lambda friction: errors_of(friction, 'wls'))

    def filtered(key: tuple[str, int]) -> tuple[float, float]:
        errors = errors_of(
            key[0], 'particle_filter', bounds=ranges[key[0]], objective='mean_deviation',
            budget=key[1], seed=draw.start)
        return float(errors.mean()), float(errors.std())

    def square(friction: str) -> tuple[float, ...]:
        errors = squares[friction]
        relative = errors / plant.truth.rated_torque
        return (float(errors.mean()), float(errors.std()), *(
            float(np.sqrt(np.mean(relative[mask] ** 2))) for mask in (slow, ~slow)))

    def torques(label: str) -> tuple[Array, Array]:
        measured = check.tau[:, SHOWN]
        return check.t, measured if label == MEASURED else measured - squares[label][:, SHOWN]

    return FrictionDraw(
        LazyResults([(friction, budget) for friction in FRICTIONS for budget in budgets],
                    filtered), LazyResults(FRICTIONS, square),
        LazyResults((MEASURED, 'coulomb_viscous', 'stribeck'), torques))


def _regression(arm: Arm, samples: Samples, friction: str) -> Regression:
    loads: list[Array] | None = None
    if friction == 'load_dependent':
        loads = [inverse_dynamics(arm, samples.q, samples.v, samples.a)]
    return build_regression(arm, [samples], friction, loads=loads)


def summarise_frictions(done: Sequence[FrictionDraw], budgets: tuple[int, int]) -> Part:
    """
    Return the table and the plot of the friction models in all draws.

    Parameters
    ----------
    done
        Errors of the draws.
    budgets
        As for `fit_frictions`.

    """
    rows: list[tuple[str | float, ...]] = []
    for friction in FRICTIONS:
        few, more = (np.median([one.filtered[friction, budget] for one in done], axis=0)
                     for budget in budgets)
        square = np.median([one.square[friction] for one in done], axis=0)
        rows.append((friction, *(float(x) for x in (*few, more[1], *square))))
    table = Table(
        f'Torque errors of six friction models on another motion [N m], median of {len(done)} '
        f'draws', ('friction', 'particle filter, mean', 'particle filter, deviation',
                   f'deviation with {budgets[1]} evaluations', 'least squares, mean',
                   'least squares, deviation', 'near reversals', 'elsewhere'), tuple(rows),
        note=f'The simulated arms have Stribeck friction (excess 50 %), a controller, encoders '
        f'and a delay. The particle filter searches ranges around the least-squares values with '
        f"{budgets[0]} evaluations. The load of load_dependent is the URDF's rigid-body torque. "
        f'Last columns: RMS error of least squares relative to the rated torque, near reversals '
        f'(below {REVERSAL:g} rad/s) and elsewhere.')
    plot = Plot(f'Torque of joint {SHOWN + 1} on another motion, least squares', 'time [s]',
                'torque [N m]', tuple((label, *curve) for label, curve in done[0].torques.items()))
    return Part((table, PUBLISHED_FRICTIONS), (plot,))


def friction_claims(done: Sequence[Any], budgets: tuple[int, int]) -> tuple[Claim, ...]:
    """
    Return the claims on the friction models.

    Parameters
    ----------
    done
        Draws with a `FrictionDraw` as `frictions`.
    budgets
        As for `fit_frictions`.

    """
    def filtered(other: str, budget: int) -> Pairs:
        return LazyPairs(done, lambda one: (one.frictions.filtered['stribeck', budget][1],
                                            one.frictions.filtered[other, budget][1]))

    def square(other: str, k: int) -> Pairs:
        return LazyPairs(done, lambda one: (one.frictions.square['stribeck'][k],
                                            one.frictions.square[other][k]))

    effort, (few, more) = 'evaluations of the particle filter', budgets
    curves = [Claim(
        f'the static LuGre (Stribeck) curve fits better than {other}', filtered(other, few),
        'standard deviation of the torque error [N m] with the particle filter, as in the paper',
        literal=f'particle filter with {few} evaluations; 30 minutes in the paper',
        variants={(effort, str(more)): filtered(other, more),
                  (effort, 'to the optimum (least squares)'): square(other, 1)},
        draws={0: 2 * DRAWS if other == 'sech_tanh' else DRAWS})
              for other in FRICTIONS if other != 'stribeck']
    return (*curves, Claim(
        'nonlinear (Stribeck) friction has smaller errors near reversals than linear friction',
        square('coulomb_viscous', 2), 'RMS error near reversals relative to the rated torque',
        literal='least squares, because the paper states no method'))
