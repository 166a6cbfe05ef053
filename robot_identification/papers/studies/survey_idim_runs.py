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
"""Identification from noisy positions by the pseudo-inverse and IDIM-IV, on the ER20-C10."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.estimation import get_estimator
from robot_identification.papers.studies.study import Draw, LazyResults
from robot_identification.papers.studies.survey_methods import NOISE, Platform
from robot_identification.papers.studies.survey_parameters import about_centre
from robot_identification.recording import Recording
from robot_identification.regression import build_regression, Regression
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate, SimulatedRun
from robot_identification.simulation.robot import JointController

NOISES = (1e-4, 1e-3)
"""Standard deviations of the noise on positions [rad]; assumed, the available copy lacks them."""
CUTOFFS = {'8 Hz': 8.0, '20 Hz': 20.0, 'none': np.inf}
DECIMATION = 10.0
PLAIN, DECIMATED, IV = 'pseudo-inverse', 'pseudo-inverse, decimated', 'IDIM-IV'
METHODS = {PLAIN: ('ols', np.inf), DECIMATED: ('ols', DECIMATION), IV: ('idim_iv', DECIMATION)}
Key = tuple[float, str, str]
"""Noise [rad], method and filter of a run."""


@dataclass(frozen=True, eq=False)
class InstrumentDraw:
    """Index e_d of the true base parameters, and the errors of each method."""

    floor: float
    errors: Mapping[Key, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class _Reference:
    """Samples without noise and true parameters of an arm, for comparison with estimates."""

    exact: Regression
    standard: Array
    rated: Array

    @classmethod
    def of(cls, plant: Plant, run: SimulatedRun) -> _Reference:
        samples = Samples(t=run.t, q=run.q, v=run.v, a=run.a, tau=run.torque,
                          rate=plant.options.rate, joint_names=plant.arm.joint_names,
                          segments=(slice(0, len(run.t)),))
        regression, truth = build_regression(plant.arm, [samples]), plant.truth
        return cls(regression, truth.standard_parameters(regression.base.structure),
                   truth.rated_torque)

    def errors(self, beta: Array) -> tuple[float, ...]:
        """Return e_d, e_f, e_T, J_e of `MethodErrors`, and the base parameters' relative error."""
        base = self.exact.base
        structure = base.structure
        true = base.project(self.standard)
        values = np.linalg.pinv(base.matrix) @ beta
        wrong = np.abs(values - self.standard)
        friction, inertial = structure.friction_slice, structure.inertial_slice
        used = self.standard[friction] != 0
        links = [about_centre(x[inertial].reshape(-1, 10)) for x in (values, self.standard)]
        e_d = float(np.mean(np.abs(links[0] / links[1] - 1)))
        e_f = float(np.mean(wrong[friction][used] / np.abs(self.standard[friction][used])))
        error = np.abs(self.exact.residuals(beta)) / self.rated
        e_t, std = float(error.mean()), float(error.std())
        return (e_d, e_f, e_t, e_d + e_f + e_t + std,
                float(np.linalg.norm(beta - true) / np.linalg.norm(true)))


def run_instruments(draw: Draw, platform: Platform, rounds: int) -> InstrumentDraw:
    """
    Return errors from noisy positions, filtered or not, of the pseudo-inverse and IDIM-IV.

    Parameters
    ----------
    draw
        Seeds.
    platform
        The arm and its excitation.
    rounds
        Largest number of iterations of IDIM-IV.

    """
    plant = Plant(platform.arm, PlantOptions(
        seed=draw.arm, stribeck_ratio=1.0, delay=0.0, encoder_bits=None, torque_signal='applied',
        velocity_signal='none', friction_compensation=1.0, torque_noise=0.0, rate=100.0))
    run = simulate(plant, platform.excitation, rng=np.random.default_rng(draw.noise))
    reference, law = _Reference.of(plant, run), JointController.tuned(plant)
    settings = {'idim_iv': {'reference': platform.excitation, 'control_law': law,
                            'rounds': rounds}}
    noisy = LazyResults(NOISES, lambda noise: _noisy(
        platform, run, noise, np.random.default_rng(draw.noise)))

    def identify(key: Key) -> tuple[float, ...]:
        noise, method, name = key
        estimator, decimation = METHODS[method]
        regression = build_regression(platform.arm, [process(
            noisy[noise], platform.arm, cutoff=CUTOFFS[name], decimation_cutoff=decimation)])
        estimate = get_estimator(estimator, **settings.get(estimator, {})).fit(regression)
        return reference.errors(estimate.values)

    errors = LazyResults(
        [(noise, method, name) for noise in NOISES for name in CUTOFFS for method in METHODS
         if method != IV or name != '8 Hz'],   # IDIM-IV is meant for little or no filtering
        identify)
    floor = reference.errors(reference.exact.base.project(reference.standard))[0]
    return InstrumentDraw(floor, errors)


def _noisy(platform: Platform, run: SimulatedRun, noise: float,
           rng: np.random.Generator) -> Recording:
    shape = run.q.shape
    return Recording(run.recording.t, run.q + noise * rng.standard_normal(shape),
                     run.torque + NOISE * rng.standard_normal(shape),
                     joint_names=platform.arm.joint_names)
