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
"""Table 12 of the survey: six friction models on an arm that has none of them exactly."""

from __future__ import annotations

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Requirements
from robot_identification.papers.studies.linear_algebra import Comparison
from robot_identification.papers.studies.study import Claim, Plot, Table
from robot_identification.regression import build_regression, Regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate

FRICTIONS = ('coulomb_viscous', 'cube_root', 'load_dependent', 'stribeck', 'bompos', 'sech_tanh')

REVERSAL = 0.05
"""Rows slower than this [rad/s] at a joint are near its reversal."""
SHOWN = 2
"""Joint whose torque is drawn."""


def compare_frictions(quick: bool, seed: int, budget: int) -> Comparison:
    """
    Fit six friction models with a particle filter, as the paper does, and by least squares.

    Parameters
    ----------
    quick
        A shorter design.
    seed
        Of the design, the arm and the searches.
    budget
        Evaluations of the particle filter.

    """
    arm = load_arm('er20_c10')
    motions = [design(arm, kind='ffs', period=10.0, harmonics=h, starts=1, seed=seed + k,
                      requirements=Requirements(),
                      time_budget=1.0 if quick else 20.0) for k, h in enumerate((5, 3))]
    plant = Plant(arm, PlantOptions(seed=seed, rate=100.0, stribeck_ratio=1.5,
                                    friction_compensation=0.9))
    rng = np.random.default_rng(seed)
    fit, check = (process(simulate(plant, m, rng=rng).recording, arm,
                          decimation_cutoff=np.inf) for m in motions)
    rows: list[tuple[str | float, ...]] = []
    reversals: list[tuple[str | float, ...]] = []
    lines = [('measured', check.t, check.tau[:, SHOWN])]
    spreads: dict[str, float] = {}
    slow = np.abs(check.v) < REVERSAL
    for friction in FRICTIONS:
        regression, other = (_regression(arm, s, friction) for s in (fit, check))
        filtered = get_estimator('particle_filter', bounds='estimate', objective='mean_deviation',
                                 budget=budget, seed=seed).fit(regression)
        square = get_estimator('wls').fit(regression)
        parts: list[float] = []
        for estimate in (filtered, square):
            errors = other.of(estimate.base).residuals(estimate.values)
            parts += [float(errors.mean()), float(errors.std())]
        spreads[friction] = parts[3]
        rows.append((friction, *parts))
        relative = errors / plant.truth.rated_torque
        reversals.append((friction, *(float(np.sqrt(np.mean(relative[mask] ** 2)))
                                      for mask in (slow, ~slow))))
        if friction in ('coulomb_viscous', 'stribeck'):
            lines.append((friction, check.t, check.tau[:, SHOWN] - errors[:, SHOWN]))
    best = min(spreads, key=lambda name: spreads[name])
    table = Table('Torque errors of six friction models on another motion [N m]', (
        'friction', 'particle filter, mean', 'particle filter, deviation',
        'least squares, mean', 'least squares, deviation'), tuple(rows),
        note='The plant has Stribeck friction (excess 50 %) behind a controller, encoders and '
        'delay; particle filter within ranges around the least-squares values. The load of '
        'load_dependent '
        "is the URDF's rigid-body torque.")
    near = {str(row[0]): float(row[1]) for row in reversals}
    best_near = min(near, key=lambda name: near[name])
    return Comparison(
        (table, Table(
            f'Least squares near reversals (below {REVERSAL:g} rad/s) and elsewhere: RMS torque '
            f'error over the rated torque', ('friction', 'near reversals', 'elsewhere'),
            tuple(reversals), note='All joints, the other motion.')),
        (Claim('the static LuGre (Stribeck) curve fits best', best == 'stribeck',
               'deviations of least squares: '
               + ', '.join(f'{k} {v:.4g}' for k, v in spreads.items())),
         Claim('nonlinear friction has smaller errors near reversals than linear friction',
               near['stribeck'] < near['coulomb_viscous'],
               f'Stribeck {near["stribeck"]:.3g} against {near["coulomb_viscous"]:.3g} of the '
               f'rated torque; the smallest is {near[best_near]:.3g} of {best_near}')),
        (Plot(f'Torque of joint {SHOWN + 1} on another motion, least squares', 'time [s]',
              'torque [N m]', tuple(lines)),))


def _regression(arm: Arm, samples: Samples, friction: str) -> Regression:
    loads: list[Array] | None = None
    if friction == 'load_dependent':
        loads = [inverse_dynamics(arm, samples.q, samples.v, samples.a)]
    return build_regression(arm, [samples], friction, loads=loads)
