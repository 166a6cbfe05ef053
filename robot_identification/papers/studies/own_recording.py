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
"""Methods and friction models of Zhang et al. 2018, compared on a recording of the user."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import EstimationError
from robot_identification.estimation import Estimate, get_estimator
from robot_identification.papers.studies.study import Progress, Table
from robot_identification.papers.studies.survey_methods import level, LEVELS
from robot_identification.papers.studies.survey_published import GUIDE
from robot_identification.recording import Recording
from robot_identification.regression import build_regression
from robot_identification.signals import process, Samples

METHODS = {
    'pseudo-inverse': ('ols', 'coulomb_viscous'), 'Kalman': ('kalman', 'coulomb_viscous'),
    'exponential forgetting': ('exponential_forgetting', 'coulomb_viscous'),
    'gradient descent': ('gradient_descent', 'coulomb_viscous'),
    'genetic algorithm': ('ga', 'coulomb_viscous'),
    'particle filter': ('particle_filter', 'coulomb_viscous'),
    'weighted least squares (ours)': ('wls', 'coulomb_viscous'),
    'extended Kalman': ('extended_kalman', 'stribeck'),
    'variable projection (ours)': ('wls', 'stribeck')}
FRICTIONS = ('coulomb_viscous', 'cube_root', 'stribeck', 'bompos', 'sech_tanh')
"""Friction models of Table 12, except load_dependent, which needs the loads of a known model."""
RANDOM = ('gradient_descent', 'ga', 'particle_filter')
"""Estimators with a random seed."""
FITTED = 2 / 3
"""Fraction of the recording that is fitted; the rest is for validation."""
HERE = 'computed from your recording'


def survey_recording(arm: Arm, recording: Recording, seed: int,
                     progress: Progress) -> tuple[Table, ...]:
    """
    Compare the survey's methods and friction models on a recording, and return the tables.

    The first two thirds of the recording are fitted, the rest is for validation. e_T is the mean
    torque error relative to the largest torque of each joint, e_T_Std its standard deviation.
    Delta is the relative change of e_T + e_T_Std due to additional torque noise, as large as the
    residuals of the pseudo-inverse. The survey's parameter errors e_d, e_f and J_e require true
    values and are left out.

    Parameters
    ----------
    arm, recording
        The arm and its recording.
    seed
        Seed of the noise and the searches.
    progress
        Called with the current step and the completed fraction, 0 to 1.

    Raises
    ------
    RobotIdentificationError
        The recording cannot be used; the message says what to do.

    """
    cut = int(FITTED * len(recording))
    fit = process(recording.window(0, cut), arm)
    check = process(recording.window(cut, len(recording)), arm, still_joints=True,
                    decimation_cutoff=fit.decimation_cutoff)
    pseudo = get_estimator('ols').fit(build_regression(arm, [fit]))
    noise = pseudo.residual_rms * np.random.default_rng(seed).standard_normal(fit.tau.shape)
    noisy = dataclasses.replace(fit, tau=fit.tau + noise)
    largest = np.abs(recording.joint_torque(arm)).max(axis=0)
    rows: list[tuple[str | float, ...]] = []
    for k, (name, (estimator, friction)) in enumerate(METHODS.items()):
        progress(name, 0.7 * k / len(METHODS))
        began = time.process_time()
        try:
            estimate = _fit(arm, fit, estimator, friction, seed)
            seconds = time.process_time() - began
            mean, std = _errors(arm, check, friction, estimate, largest)
            with_noise = sum(_errors(arm, check, friction,
                                     _fit(arm, noisy, estimator, friction, seed), largest))
        except EstimationError as error:
            rows.append((name, friction, '-', '-', '-', '-', '-', str(error)))
            continue
        change = with_noise / (mean + std) - 1
        rows.append((name, friction, mean, std, level(mean, LEVELS['e_T']), change,
                     level(change, LEVELS['Delta J_e']),
                     f'{seconds:.3g} s, {level(seconds, LEVELS["seconds"])}; {estimate.status}'))
    methods = Table(
        "The survey's methods on this recording", (
            'method', 'friction', 'e_T', 'e_T_Std', 'level', 'Delta', 'level',
            'solution time, level; status'), tuple(rows), HERE,
        f'e_T: mean torque error of the last third, relative to the largest torque of each joint; '
        f'e_T_Std: its standard deviation; Delta: relative change of their sum due to added '
        f'torque noise. Levels A and B of the survey: e_T below {LEVELS["e_T"][0]:g} and '
        f'{LEVELS["e_T"][1]:g}, Delta below {LEVELS["Delta J_e"][0]:g} and '
        f'{LEVELS["Delta J_e"][1]:g}, solution time below a minute and an hour; otherwise C. '
        f'Parameter errors (e_d, e_f, J_e) require true values, which a recording does not have.')
    return methods, _frictions(arm, fit, check, seed, progress), GUIDE


def _frictions(arm: Arm, fit: Samples, check: Samples, seed: int, progress: Progress) -> Table:
    rows = []
    for k, friction in enumerate(FRICTIONS):
        progress(f'friction {friction}', 0.7 + 0.3 * k / len(FRICTIONS))
        estimate = _fit(arm, fit, 'wls', friction, seed)
        errors = build_regression(arm, [check], friction).of(estimate.base).residuals(
            estimate.values)
        rows.append((friction, float(errors.mean()), float(errors.std())))
    best = min(rows, key=lambda row: row[2])[0]
    return Table(
        'Friction models on this recording, as in Table 12 [N m or N]',
        ('friction', 'mean', 'standard deviation'), tuple(rows), HERE,
        f'Weighted least squares; torque errors of the last third. The survey chooses the '
        f'smallest standard deviation: {best}. `identify --estimator auto` compares more models, '
        f'by cross-validation.')


def _fit(arm: Arm, samples: Samples, estimator: str, friction: str, seed: int) -> Estimate:
    settings = {'seed': seed} if estimator in RANDOM else {}
    return get_estimator(estimator, **settings).fit(build_regression(arm, [samples], friction))


def _errors(arm: Arm, check: Samples, friction: str, estimate: Estimate,
            largest: Array) -> tuple[float, float]:
    """Return e_T and e_T_Std: mean and std of the relative torque error in validation."""
    regression = build_regression(arm, [check], friction).of(estimate.base)
    wrong = np.abs(regression.residuals(estimate.values)) / largest
    return float(wrong.mean()), float(wrong.std())
