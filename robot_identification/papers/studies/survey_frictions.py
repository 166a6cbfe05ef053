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

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Requirements
from robot_identification.papers.studies.er16 import REVERSAL
from robot_identification.papers.studies.study import Draw, Part, Plot, Table
from robot_identification.papers.studies.survey_published import PUBLISHED_FRICTIONS
from robot_identification.papers.studies.verdict import Claim
from robot_identification.regression import build_regression, Regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate

FRICTIONS = ('coulomb_viscous', 'cube_root', 'load_dependent', 'stribeck', 'bompos', 'sech_tanh')
SHOWN = 2
"""Joint whose torque is plotted."""


@dataclass(frozen=True, eq=False)
class FrictionDraw:
    """
    Torque errors of the friction models on another motion.

    `rows`: mean and standard deviation with the particle filter and with least squares, then RMS
    near reversals and elsewhere. `more`: standard deviation with more evaluations.
    """

    rows: Mapping[str, tuple[float, ...]]
    more: Mapping[str, float]
    plot: Plot


def fit_frictions(draw: Draw, budgets: tuple[int, int]) -> FrictionDraw:
    """
    Fit six friction models with a particle filter, as in the paper, and by least squares.

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
    rows, more = {}, {}
    lines = [('measured', check.t, check.tau[:, SHOWN])]
    for friction in FRICTIONS:
        regression, other = (_regression(arm, s, friction) for s in (fit, check))

        def errors_of(estimator: str, regression: Regression = regression,
                      other: Regression = other, **settings: object) -> Array:
            estimate = get_estimator(estimator, **settings).fit(regression)
            errors: Array = other.of(estimate.base).residuals(estimate.values)
            return errors

        filtered, longer = (errors_of(
            'particle_filter', bounds='estimate', objective='mean_deviation', budget=budget,
            seed=draw.start) for budget in budgets)
        square = errors_of('wls')
        relative = square / plant.truth.rated_torque
        rows[friction] = (
            float(filtered.mean()), float(filtered.std()), float(square.mean()),
            float(square.std()), *(float(np.sqrt(np.mean(relative[mask] ** 2)))
                                   for mask in (slow, ~slow)))
        more[friction] = float(longer.std())
        if friction in ('coulomb_viscous', 'stribeck'):
            lines.append((friction, check.t, check.tau[:, SHOWN] - square[:, SHOWN]))
    return FrictionDraw(rows, more, Plot(
        f'Torque of joint {SHOWN + 1} on another motion, least squares', 'time [s]',
        'torque [N m]', tuple(lines)))


def summarise_frictions(done: Sequence[FrictionDraw], budgets: tuple[int, int]) -> Part:
    """
    Return the table and the claims on the friction models in all draws.

    Parameters
    ----------
    done
        Errors of the draws.
    budgets
        As for `fit_frictions`.

    """
    table = Table(
        f'Torque errors of six friction models on another motion [N m], median of {len(done)} '
        f'draws', ('friction', 'particle filter, mean', 'particle filter, deviation',
                   f'deviation with {budgets[1]} evaluations', 'least squares, mean',
                   'least squares, deviation', 'near reversals', 'elsewhere'),
        tuple((friction, *middle[:2], float(np.median([one.more[friction] for one in done])),
               *middle[2:]) for friction, middle in (
                   (friction, [float(x) for x in np.median(
                       [one.rows[friction] for one in done], axis=0)]) for friction in FRICTIONS)),
        note=f'The simulated arms have Stribeck friction (excess 50 %), a controller, encoders '
        f'and a delay. The particle filter searches ranges around the least-squares values with '
        f"{budgets[0]} evaluations. The load of load_dependent is the URDF's rigid-body torque. "
        f'Last columns: RMS error of least squares relative to the rated torque, near reversals '
        f'(below {REVERSAL:g} rad/s) and elsewhere.')

    def column(friction: str, k: int) -> list[float]:
        return [one.rows[friction][k] for one in done]

    def more(friction: str) -> list[float]:
        return [one.more[friction] for one in done]

    effort = 'evaluations of the particle filter'
    claims = [Claim(
        f'the static LuGre (Stribeck) curve fits better than {other}',
        list(zip(column('stribeck', 1), column(other, 1))),
        'standard deviation of the torque error [N m] with the particle filter, as in the paper',
        literal=f'particle filter with {budgets[0]} evaluations; 30 minutes in the paper',
        variants={(effort, str(budgets[1])): list(zip(more('stribeck'), more(other))),
                  (effort, 'to the optimum (least squares)'): list(zip(
                      column('stribeck', 3), column(other, 3)))})
              for other in FRICTIONS if other != 'stribeck']
    claims.append(Claim(
        'nonlinear (Stribeck) friction has smaller errors near reversals than linear friction',
        list(zip(column('stribeck', 4), column('coulomb_viscous', 4))),
        'RMS error near reversals relative to the rated torque',
        literal='least squares, because the paper states no method'))
    return Part((table, PUBLISHED_FRICTIONS), tuple(claims), (done[0].plot,))


def _regression(arm: Arm, samples: Samples, friction: str) -> Regression:
    loads: list[Array] | None = None
    if friction == 'load_dependent':
        loads = [inverse_dynamics(arm, samples.q, samples.v, samples.a)]
    return build_regression(arm, [samples], friction, loads=loads)
