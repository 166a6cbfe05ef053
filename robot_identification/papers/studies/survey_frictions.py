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

from collections.abc import Sequence
from typing import Any

import numpy as np
from robot_identification.papers.studies.er16 import REVERSAL
from robot_identification.papers.studies.study import Part, Plot, Table
from robot_identification.papers.studies.survey_friction_fits import (
    FrictionDraw,
    FRICTIONS,
    SHOWN,
)
from robot_identification.papers.studies.survey_published import PUBLISHED_FRICTIONS
from robot_identification.papers.studies.verdict import Claim, DRAWS, LazyPairs, Pairs


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
