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

from __future__ import annotations

import numpy as np
from robot_identification.recording import Recording
from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.checks.residual_regression import VAGUE
from robot_identification.validation.checks.velocity import compare_velocities
from robot_identification.validation.finding import Finding

_NAME = 'time scale'
_TOLERANCE, _CONFIRMED_TOLERANCE = 0.06, 0.25
"""Relative error of gravity without alarm, without and with velocities that confirm the clock."""
_DEVIATIONS = 3.0
_EVEN = 1e-3
"""Standard deviation of the steps over their mean, below which a controller's clock made them."""
_USUAL = 1e-3
"""Relative distance from a usual rate: stamps of real recordings are within 2e-4."""
_MANTISSAS = np.array([1, 1.2, 1.25, 1.5, 1.6, 5 / 3, 1.8, 2, 2.4, 2.5, 3, 3.125, 10 / 3, 3.6, 4,
                       25 / 6, 4.8, 5, 6, 6.25, 7.5, 8, 25 / 3, 9, 10])
"""Mantissas of the rates at which controllers, drivers and buses run."""
_CLOCK_ERROR = 0.02


def check_time_scale(data: CheckInput) -> Finding | None:
    """Estimate the gravity that fits the accelerations, and check the sampling rate."""
    recording, regression = data.recording, data.regression
    if recording is None:
        return None
    confirmed, rate = _velocities_confirm_clock(recording), _unusual_rate(recording)
    gravity = None if regression is None else regression.add_column(regression.gravity)
    if gravity is not None and gravity.std < VAGUE:
        tolerance = _CONFIRMED_TOLERANCE if confirmed else _TOLERANCE
        # gravity g (1 + c) fits: accelerations are too small by 1 + c, the clock by its root
        scale = float(1 / np.sqrt(max(1 + gravity.value, 0.01)))
        alarm = gravity.exceeds(tolerance, _DEVIATIONS)
        sure = gravity.std < 0.05 and abs(gravity.value) < 2 * gravity.std
        if alarm or not rate or confirmed or sure:
            text = (f'accelerations and gravity torques match at {1 + gravity.value:.2f} '
                    f'\u00b1 {gravity.std:.2f} times the gravity of the robot YAML')
            if alarm:
                text += (f', as if the clock of the stamps ran {scale:.2f} times as fast as '
                         f'it should; compare the duration of the recording with that of the '
                         f'commanded motion, and check the gravity')
            return Finding(_NAME, data.name, abs(gravity.value), tolerance, '-', alarm, text)
    if rate and not confirmed:
        return Finding(
            _NAME, data.name, float(recording.rate), _USUAL, 'Hz', True,
            f'the samples are evenly spaced at {rate:.5g} Hz, an unusual rate for a controller; '
            f'compare the duration of the recording with that of the commanded motion, and '
            f'correct the stamps')
    return None


def _velocities_confirm_clock(recording: Recording) -> bool:
    comparison = compare_velocities(recording)
    if comparison is None or not np.any(np.isfinite(comparison.ratio)):
        return False
    return bool(abs(np.nanmedian(comparison.ratio) - 1) < _CLOCK_ERROR)


def _unusual_rate(recording: Recording) -> float:
    """Return the rate [Hz] if it is even and unusual, else 0."""
    steps = np.diff(recording.t)
    mean = float(recording.t[-1] - recording.t[0]) / len(steps)
    if np.std(steps) > _EVEN * mean:
        return 0.0
    rate = 1 / mean
    decade = 10.0 ** np.floor(np.log10(rate))
    usual = bool(np.min(np.abs(rate / decade / _MANTISSAS - 1)) < _USUAL)
    return 0.0 if usual else rate


CHECK = Check(
    _NAME, 'Does the clock of the stamps run at the right rate?',
    f'gravity off by {_TOLERANCE:.0%} plus {_DEVIATIONS:g} standard deviations '
    f'({_CONFIRMED_TOLERANCE:.0%} where recorded velocities confirm the clock), or an even rate '
    'that no usual controller has', RECORDINGS, check_time_scale)
