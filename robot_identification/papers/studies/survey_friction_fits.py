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
"""Fits of six friction models to arms with Stribeck friction, for the survey's Table 12."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.estimation import get_estimator
from robot_identification.excitation import design, Requirements
from robot_identification.papers.searches.problem import SearchProblem
from robot_identification.papers.searches.ranges import search_bounds
from robot_identification.papers.studies.er16 import REVERSAL
from robot_identification.papers.studies.study import Draw, LazyResults
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
