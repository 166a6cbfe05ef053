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

from collections.abc import Sequence

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.papers.studies.linear_algebra import SearchComparison
from robot_identification.papers.studies.study import Plot, StudyOptions, Table
from robot_identification.papers.studies.verdict import judge
from robot_identification.regression import build_regression, Regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate

FRICTIONS = ('coulomb_viscous', 'cube_root', 'load_dependent', 'stribeck', 'bompos', 'sech_tanh')

REVERSAL = 0.05
"""Rows slower than this [rad/s] at a joint are near its reversal."""
SHOWN = 2
"""Joint whose torque is drawn."""


def compare_frictions(seeds: range, budget: int,
                      options: StudyOptions) -> SearchComparison:
    """
    Fit six friction models with a particle filter, as the paper does, and by least squares.

    Parameters
    ----------
    seeds
        Seeds of the arms, their noise and the searches; the first is that of the motions.
    budget
        Evaluations of the particle filter.
    options
        Progress and distribution of the seeds.

    """
    arm = load_arm('er20_c10')
    motions = [design(arm, kind='ffs', period=10.0, harmonics=h, starts=1, seed=seeds.start + k,
                      requirements=Requirements()) for k, h in enumerate((5, 3))]
    found: dict[str, list[list[float]]] = {friction: [] for friction in FRICTIONS}
    lines: list[tuple[str, Array, Array]] = []
    for number, (check, parts) in enumerate(options.map_items(
            _of_seed, seeds, args=(arm, motions, budget)), start=1):
        options.progress('friction models', number / len(seeds))
        for friction, (_, row) in parts.items():
            found[friction].append(row)
        if number == 1:
            lines.append(('measured', check.t, check.tau[:, SHOWN]))
            lines += [(friction, check.t, check.tau[:, SHOWN] - parts[friction][0][:, SHOWN])
                      for friction in ('coulomb_viscous', 'stribeck')]
    values = {friction: np.array(rows) for friction, rows in found.items()}
    table = Table(
        f'Torque errors of six friction models on another motion [N m], median of {len(seeds)} '
        f'arms', ('friction', 'particle filter, mean', 'particle filter, deviation',
                  'least squares, mean', 'least squares, deviation', 'near reversals',
                  'elsewhere'),
        tuple((friction, *(float(x) for x in np.median(rows, axis=0)))
              for friction, rows in values.items()),
        note=f'The plants have Stribeck friction (excess 50 %) behind a controller, encoders and '
        f'delay; particle filter within ranges around the least-squares values. The load of '
        f"load_dependent is the URDF's rigid-body torque. Last columns: RMS error of least "
        f'squares over the rated torque, near reversals (below {REVERSAL:g} rad/s) and elsewhere.')
    claims = [judge(f'the static LuGre (Stribeck) curve fits better than {other}',
                    values['stribeck'][:, 1], values[other][:, 1],
                    'deviation of the particle filter, as in the paper [N m], by arm',
                    paired=True) for other in FRICTIONS if other != 'stribeck']
    claims.append(judge('nonlinear (Stribeck) friction has smaller errors near reversals than '
                        'linear friction', values['stribeck'][:, 4],
                        values['coulomb_viscous'][:, 4],
                        'RMS error of least squares over the rated torque, by arm', paired=True))
    return SearchComparison(
        (table,), tuple(claims),
        (Plot(f'Torque of joint {SHOWN + 1} on another motion, least squares', 'time [s]',
              'torque [N m]', tuple(lines)),))


def _of_seed(seed: int, arm: Arm, motions: Sequence[Excitation],
             budget: int) -> tuple[Samples, dict[str, tuple[Array, list[float]]]]:
    """Return samples of the other motion, and errors of least squares and figures by friction."""
    plant = Plant(arm, PlantOptions(seed=seed, rate=100.0, stribeck_ratio=1.5,
                                    friction_compensation=0.9))
    rng = np.random.default_rng(seed)
    fit, check = (process(simulate(plant, m, rng=rng).recording, arm,
                          decimation_cutoff=np.inf) for m in motions)
    slow = np.abs(check.v) < REVERSAL
    found = {}
    for friction in FRICTIONS:
        regression, other = (_regression(arm, s, friction) for s in (fit, check))
        filtered = get_estimator('particle_filter', bounds='estimate', objective='mean_deviation',
                                 budget=budget, seed=seed).fit(regression)
        square = get_estimator('wls').fit(regression)
        parts: list[float] = []
        for estimate in (filtered, square):
            errors = other.of(estimate.base).residuals(estimate.values)
            parts += [float(errors.mean()), float(errors.std())]
        relative = errors / plant.truth.rated_torque
        found[friction] = errors, [*parts, *(float(np.sqrt(np.mean(relative[mask] ** 2)))
                                             for mask in (slow, ~slow))]
    return check, found


def _regression(arm: Arm, samples: Samples, friction: str) -> Regression:
    loads: list[Array] | None = None
    if friction == 'load_dependent':
        loads = [inverse_dynamics(arm, samples.q, samples.v, samples.a)]
    return build_regression(arm, [samples], friction, loads=loads)
