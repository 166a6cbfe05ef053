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
from pathlib import Path
import time

import numpy as np
from robot_identification.arm import Arm, load_arm
from robot_identification.arrays import Array
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import fit_consistent, get_estimator
from robot_identification.papers.studies.study import Progress, Table
from robot_identification.papers.studies.survey_methods import level, LEVELS
from robot_identification.papers.studies.survey_published import GUIDE
from robot_identification.recording import Recording
from robot_identification.regression import build_regression
from robot_identification.signals import process, Samples
from robot_identification.yaml_file import read_yaml

METHODS = {
    'pseudo-inverse': ('ols', 'coulomb_viscous'), 'Kalman': ('kalman', 'coulomb_viscous'),
    'exponential forgetting': ('exponential_forgetting', 'coulomb_viscous'),
    'gradient descent': ('gradient_descent', 'coulomb_viscous'),
    'genetic algorithm': ('ga', 'coulomb_viscous'),
    'particle filter': ('particle_filter', 'coulomb_viscous'),
    'weighted least squares (ours)': ('wls', 'coulomb_viscous'),
    'weighted least squares, physically consistent (ours)': ('consistent', 'coulomb_viscous'),
    'extended Kalman': ('extended_kalman', 'stribeck'),
    'variable projection (ours)': ('wls', 'stribeck')}
FRICTIONS = ('coulomb_viscous', 'cube_root', 'stribeck', 'bompos', 'sech_tanh')
"""Friction models of Table 12, except load_dependent, which needs the loads of a known model."""
RANDOM = ('gradient_descent', 'ga', 'particle_filter')
"""Estimators with a random seed."""
SPLITS = 3
"""Number of blocks of time, each of which is left out of one fit for validation."""
HERE = 'computed from your recording'


def load_robot_of(robot: str, recording: Path) -> Arm:
    """
    Return the arm of a robot YAML, or the arm of a data set of `benchmark`.

    Parameters
    ----------
    robot
        Name of a shipped robot, robot YAML, or YAML of a data set.
    recording
        Path of the recording, beside which the URDF may be.

    """
    path = Path(robot)
    if path.suffix in ('.yaml', '.yml') and path.is_file():
        content = read_yaml(path, 'robot YAML', ConfigurationError)
        if {'robot', 'splits'} <= set(content):
            beside = path.parent / str(content['robot'])
            return load_arm(beside if beside.is_file() else str(content['robot']),
                            recording.parent)
    return load_arm(robot)


def survey_recording(arm: Arm, recording: Recording, seed: int,
                     progress: Progress) -> tuple[Table, ...]:
    """
    Compare the survey's methods and friction models on a recording, and return the tables.

    Each third of the recording is left out of one fit for validation. e_T is the mean torque error
    relative to the largest torque of each joint, e_T_Std its standard deviation.
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
    splits = [_Split.of(arm, recording, k, seed) for k in range(SPLITS)]
    rows: list[tuple[str | float, ...]] = []
    for k, (name, (estimator, friction)) in enumerate(METHODS.items()):
        progress(name, 0.7 * k / len(METHODS))
        try:
            found = [split.judge(estimator, friction, seed) for split in splits]
        except EstimationError as error:
            rows.append((name, friction, '-', '-', '-', '-', '-', '-', str(error)))
            continue
        values = np.array([one[:4] for one in found])
        mean, std, change, seconds = (float(x) for x in np.median(values, axis=0))
        statuses = ', '.join(dict.fromkeys(one[4] for one in found))
        rows.append((name, friction, mean, f'{values[:, 0].min():.3g} to {values[:, 0].max():.3g}',
                     std, level(mean, LEVELS['e_T']), change, level(change, LEVELS['Delta J_e']),
                     f'{seconds:.3g} s, {level(seconds, LEVELS["seconds"])}; {statuses}'))
    methods = Table(
        "The survey's methods on this recording", (
            'method', 'friction', 'e_T', 'least to largest', 'e_T_Std', 'level', 'Delta', 'level',
            'solution time, level; status'), tuple(rows), HERE,
        f'Medians of {SPLITS} fits, each of which leaves out one third of the recording. e_T: '
        f'mean torque error of that third, relative to the largest torque of each joint; e_T_Std: '
        f'its standard deviation; Delta: relative change of their sum due to added torque noise. '
        f'Levels A and B of the survey: e_T below {LEVELS["e_T"][0]:g} and '
        f'{LEVELS["e_T"][1]:g}, Delta below {LEVELS["Delta J_e"][0]:g} and '
        f'{LEVELS["Delta J_e"][1]:g}, solution time below a minute and an hour; otherwise C. '
        f'Parameter errors (e_d, e_f, J_e) require true values, which a recording does not have.')
    return methods, _frictions(splits, seed, progress), GUIDE


@dataclasses.dataclass(frozen=True, eq=False)
class _Split:
    """
    A recording without one block of time, and this block.

    `fit` and `noisy` are the fitted samples without and with added torque noise, `check` those of
    the block, and `largest` the largest torque of each joint (n,) [N m or N].
    """

    arm: Arm
    fit: tuple[Samples, ...]
    noisy: tuple[Samples, ...]
    check: Samples
    largest: Array

    @classmethod
    def of(cls, arm: Arm, recording: Recording, k: int, seed: int) -> _Split:
        """Return the recording without its k-th block."""
        count = len(recording)
        low, high = (int(i * count / SPLITS) for i in (k, k + 1))
        fit: list[Samples] = []
        for start, end in ((0, low), (high, count)):
            if start < end:
                options = {'decimation_cutoff': fit[0].decimation_cutoff} if fit else {}
                fit.append(process(recording.window(start, end), arm, **options))
        check = process(recording.window(low, high), arm,
                        decimation_cutoff=fit[0].decimation_cutoff)
        pseudo, rng = get_estimator('ols').fit(build_regression(arm, fit)), np.random.default_rng(
            seed)
        noisy = tuple(dataclasses.replace(samples, tau=samples.tau + pseudo.residual_rms
                                          * rng.standard_normal(samples.tau.shape))
                      for samples in fit)
        return cls(arm, tuple(fit), noisy, check, np.abs(recording.joint_torque(arm)).max(axis=0))

    def judge(self, estimator: str, friction: str,
              seed: int) -> tuple[float, float, float, float, str]:
        """Return e_T, e_T_Std, Delta, processor time [s] and status of an estimator."""
        began = time.process_time()
        errors, status = self.errors(estimator, friction, seed)
        seconds = time.process_time() - began
        sizes = [np.abs(each) / self.largest for each in (
            errors, self.errors(estimator, friction, seed, noisy=True)[0])]
        clean, noisy = (float(size.mean() + size.std()) for size in sizes)
        return float(sizes[0].mean()), float(sizes[0].std()), noisy / clean - 1, seconds, status

    def errors(self, estimator: str, friction: str, seed: int, *,
               noisy: bool = False) -> tuple[Array, str]:
        """Return the torque errors of the block (N, n) [N m or N], and the status of the fit."""
        regression = build_regression(self.arm, self.noisy if noisy else self.fit, friction)
        settings = {'seed': seed} if estimator in RANDOM else {}
        estimate = get_estimator('wls' if estimator == 'consistent' else estimator,
                                 **settings).fit(regression)
        values, base = estimate.values, estimate.base
        if estimator == 'consistent':
            values = base.project(fit_consistent(regression.of(base), estimate).values)
        check = build_regression(self.arm, [self.check], friction).of(base)
        return check.residuals(values), estimate.status


def _frictions(splits: list[_Split], seed: int, progress: Progress) -> Table:
    rows = []
    for k, friction in enumerate(FRICTIONS):
        progress(f'friction {friction}', 0.7 + 0.3 * k / len(FRICTIONS))
        errors = [split.errors('wls', friction, seed)[0] for split in splits]
        rows.append((friction, float(np.median([each.mean() for each in errors])),
                     float(np.median([each.std() for each in errors]))))
    best = min(rows, key=lambda row: row[2])[0]
    return Table(
        'Friction models on this recording, as in Table 12 [N m or N]',
        ('friction', 'mean', 'standard deviation'), tuple(rows), HERE,
        f'Weighted least squares; torque errors of the third that is left out, medians of '
        f'{SPLITS} fits. The survey chooses the smallest standard deviation: {best}. '
        f'`identify --estimator auto` compares more models, '
        f'by cross-validation.')
