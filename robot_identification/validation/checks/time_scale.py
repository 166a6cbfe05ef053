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
"""Clock rate of the stamps: gravity torque does not depend on it, inertial torque does."""

import numpy as np
from robot_identification.recording import Recording
from robot_identification.regression.blocked_regression import DEVIATIONS
from robot_identification.validation.checks import check
from robot_identification.validation.checks.residual_regression import VAGUE
from robot_identification.validation.checks.velocity import compare_velocities

_TOLERANCE, _CONFIRMED_TOLERANCE = 0.06, 0.25
"""Relative error of gravity without alarm, without and with velocities that confirm the clock."""
_EVEN = 1e-3
"""Largest standard deviation of the time steps, over their mean, for a controller's clock."""
_USUAL = 1e-3
"""Relative distance from a usual rate: stamps of real recordings are within 2e-4."""
_MANTISSAS = np.array([1, 1.2, 1.25, 1.5, 1.6, 5 / 3, 1.8, 2, 2.4, 2.5, 3, 3.125, 10 / 3, 3.6, 4,
                       25 / 6, 4.8, 5, 6, 6.25, 7.5, 8, 25 / 3, 9, 10])
"""Mantissas of the rates at which controllers, drivers and buses run."""
_CLOCK_ERROR = 0.02


def measure_time_scale(data: check.CheckInput) -> check.Measurement | None:
    """Estimate the gravity that fits the accelerations, and check the sampling rate."""
    recording = check.require(data.recording)
    velocities = compare_velocities(recording)
    confirmed = velocities is not None and bool(
        abs(np.nanmedian(velocities[0]) - 1) < _CLOCK_ERROR)
    rate = 0.0 if confirmed else _unusual_rate(recording)
    try:
        gravity = data.regression.add_column(data.regression.gravity)
    except check.NotApplicableError:
        gravity = None
    if gravity is not None and gravity.std < VAGUE:
        tolerance = _CONFIRMED_TOLERANCE if confirmed else _TOLERANCE
        # gravity g (1 + c) fits: the accelerations are 1 + c times too large, so the clock runs
        # 1 / sqrt(1 + c) times as fast as it should
        scale = float(1 / np.sqrt(max(1 + gravity.value, 0.01)))
        alarm = gravity.exceeds(tolerance)
        sure = gravity.std < 0.05 and abs(gravity.value) < 2 * gravity.std
        if alarm or not rate or sure:
            return check.Measurement(
                abs(gravity.value), tolerance, '-',
                f'gravity from the accelerations is {1 + gravity.value:.2f} \u00b1 '
                f'{gravity.std:.2f} times the configured one',
                f', as if the clock of the stamps ran {scale:.2f} times as fast as it should; '
                'compare the duration of the recording with that of the commanded motion, and '
                'check the gravity', alarm=alarm)
    if not rate:
        return None
    return check.Measurement(
        recording.rate, _USUAL, 'Hz',
        f'the samples are evenly spaced at {rate:.5g} Hz, an unusual rate for a controller; '
        'compare the duration of the recording with that of the commanded motion, and correct '
        'the stamps', alarm=True)


def _unusual_rate(recording: Recording) -> float:
    """Return the sampling rate [Hz] if it is constant and unusual, else 0."""
    steps = np.diff(recording.t)
    mean = float(recording.t[-1] - recording.t[0]) / len(steps)
    if np.std(steps) > _EVEN * mean:
        return 0.0
    rate = 1 / mean
    decade = 10.0 ** np.floor(np.log10(rate))
    return 0.0 if np.min(np.abs(rate / decade / _MANTISSAS - 1)) < _USUAL else rate


CHECK = check.Check(
    'time scale', 'Does the clock of the stamps run at the right rate?',
    f'gravity off by {_TOLERANCE:.0%} plus {DEVIATIONS:g} standard deviations '
    f'({_CONFIRMED_TOLERANCE:.0%} where recorded velocities confirm the clock), or an even rate '
    'that no usual controller has', check.RECORDINGS, measure_time_scale)
