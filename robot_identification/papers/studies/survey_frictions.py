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

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Excitation, Requirements
from robot_identification.papers.studies.er16 import REVERSAL
from robot_identification.papers.studies.linear_algebra import SearchComparison
from robot_identification.papers.studies.study import Plot, StudyOptions, Table
from robot_identification.papers.studies.verdict import evaluate_claim
from robot_identification.regression import build_regression, Regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate

FRICTIONS = ('coulomb_viscous', 'cube_root', 'load_dependent', 'stribeck', 'bompos', 'sech_tanh')
SHOWN = 2
"""Joint whose torque is plotted."""


def compare_frictions(seeds: range, budget: int,
                      options: StudyOptions) -> SearchComparison:
    """
    Fit six friction models with a particle filter, as in the paper, and by least squares.

    Parameters
    ----------
    seeds
        Seeds of the arms, their noise and the searches; the first is also that of the motions.
    budget
        Evaluations of the particle filter.
    options
        Progress and distribution of the seeds.

    """
    arm = load_arm('er20_c10')
    motions = [design(arm, kind='ffs', period=10.0, harmonics=h, starts=1, seed=seeds.start + k,
                      requirements=Requirements()) for k, h in enumerate((5, 3))]
    rows_of: dict[str, list[list[float]]] = {friction: [] for friction in FRICTIONS}
    lines: list[tuple[str, Array, Array]] = []
    for done, (check, results) in enumerate(options.map_items(
            _of_seed, seeds, args=(arm, motions, budget)), start=1):
        options.progress('friction models', done / len(seeds))
        for friction, (_, row) in results.items():
            rows_of[friction].append(row)
        if done == 1:
            lines.append(('measured', check.t, check.tau[:, SHOWN]))
            lines += [(friction, check.t, check.tau[:, SHOWN] - results[friction][0][:, SHOWN])
                      for friction in ('coulomb_viscous', 'stribeck')]
    values = {friction: np.array(rows) for friction, rows in rows_of.items()}
    table = Table(
        f'Torque errors of six friction models on another motion [N m], median of {len(seeds)} '
        f'arms', ('friction', 'particle filter, mean', 'particle filter, deviation',
                  'least squares, mean', 'least squares, deviation', 'near reversals',
                  'elsewhere'),
        tuple((friction, *(float(x) for x in np.median(rows, axis=0)))
              for friction, rows in values.items()),
        note=f'The simulated arms have Stribeck friction (excess 50 %), a controller, encoders '
        f'and a delay. The particle filter searches ranges around the least-squares values. The '
        f"load of load_dependent is the URDF's rigid-body torque. Last columns: RMS error of "
        f'least squares relative to the rated torque, near reversals (below {REVERSAL:g} rad/s) '
        f'and elsewhere.')
    claims = [evaluate_claim(f'the static LuGre (Stribeck) curve fits better than {other}',
                             values['stribeck'][:, 1], values[other][:, 1],
                             'standard deviation of the torque error [N m] with the particle '
                             'filter, as in the paper, by arm',
                             paired=True) for other in FRICTIONS if other != 'stribeck']
    claims.append(evaluate_claim(
        'nonlinear (Stribeck) friction has smaller errors near reversals than '
        'linear friction', values['stribeck'][:, 4],
        values['coulomb_viscous'][:, 4],
        'RMS error of least squares near reversals relative to the rated torque, by arm',
        paired=True))
    return SearchComparison(
        (table,), tuple(claims),
        (Plot(f'Torque of joint {SHOWN + 1} on another motion, least squares', 'time [s]',
              'torque [N m]', tuple(lines)),))


def _of_seed(seed: int, arm: Arm, motions: Sequence[Excitation],
             budget: int) -> tuple[Samples, dict[str, tuple[Array, list[float]]]]:
    """Return validation samples of one arm, and errors and table entries by friction model."""
    plant = Plant(arm, PlantOptions(seed=seed, rate=100.0, stribeck_ratio=1.5,
                                    friction_compensation=0.9))
    rng = np.random.default_rng(seed)
    fit, check = (process(simulate(plant, m, rng=rng).recording, arm,
                          decimation_cutoff=np.inf) for m in motions)
    slow = np.abs(check.v) < REVERSAL
    results = {}
    for friction in FRICTIONS:
        regression, other = (_regression(arm, s, friction) for s in (fit, check))
        filtered = get_estimator('particle_filter', bounds='estimate', objective='mean_deviation',
                                 budget=budget, seed=seed).fit(regression)
        square = get_estimator('wls').fit(regression)
        figures: list[float] = []
        for estimate in (filtered, square):
            errors = other.of(estimate.base).residuals(estimate.values)
            figures += [float(errors.mean()), float(errors.std())]
        relative = errors / plant.truth.rated_torque
        results[friction] = errors, [*figures, *(float(np.sqrt(np.mean(relative[mask] ** 2)))
                                                 for mask in (slow, ~slow))]
    return check, results


def _regression(arm: Arm, samples: Samples, friction: str) -> Regression:
    loads: list[Array] | None = None
    if friction == 'load_dependent':
        loads = [inverse_dynamics(arm, samples.q, samples.v, samples.a)]
    return build_regression(arm, [samples], friction, loads=loads)
