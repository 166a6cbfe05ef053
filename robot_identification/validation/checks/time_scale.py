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
"""The clock: gravity is free of time, inertia goes with its square."""

from __future__ import annotations

import numpy as np
from robot_identification.recording import Recording
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS
from robot_identification.validation.checks.evidence import VAGUE

NAME = 'time scale'
TOLERANCE, TRUSTED_TOLERANCE = 0.06, 0.25
DEVIATIONS = 3.0
EVEN = 1e-3
"""Deviation of steps from their mean, over it, below which the clock of a controller made them."""
ROUND = 1e-3
"""Relative distance from a usual rate: stamps of the recordings at hand are within 2e-4."""
MANTISSAS = np.array([1, 1.2, 1.25, 1.5, 1.6, 5 / 3, 1.8, 2, 2.4, 2.5, 3, 3.125, 10 / 3, 3.6, 4,
                      25 / 6, 4.8, 5, 6, 6.25, 7.5, 8, 25 / 3, 9, 10])
"""First digits of rates at which controllers, drivers and buses run."""
NEAR_CLOCK = 0.02


def find(case: Case) -> Finding | None:
    """Fit the gravity that the accelerations ask for, and look at the rate."""
    recording, evidence = case.recording, case.evidence
    if recording is None:
        return None
    trusted = _velocity_agrees(recording)
    rate = _odd_rate(recording)
    effect = None if evidence is None else evidence.effect(evidence.gravity)
    if effect is not None and effect.deviation < VAGUE:
        tolerance = TRUSTED_TOLERANCE if trusted else TOLERANCE
        # gravity g (1 + c) fits: accelerations are too small by 1 + c, the clock by its root
        scale = float(1 / np.sqrt(max(1 + effect.value, 0.01)))
        alarm = effect.beyond(tolerance, DEVIATIONS)
        sure = effect.deviation < 0.05 and abs(effect.value) < 2 * effect.deviation
        if alarm or not rate or trusted or sure:
            text = (f'accelerations and gravity torques belong together at {1 + effect.value:.2f} '
                    f'\u00b1 {effect.deviation:.2f} times the gravity of the robot YAML')
            if alarm:
                text += (f', as if the clock of the stamps ran {scale:.2f} times as fast as it '
                         f'should; compare the length of the recording with that of the motion '
                         f'that was sent, and check the gravity')
            return Finding(NAME, case.name, abs(effect.value), tolerance, '-', alarm, text)
    if rate and not trusted:
        return Finding(
            NAME, case.name, float(recording.rate), ROUND, 'Hz', True,
            f'the samples come very evenly at {rate:.5g} Hz, at which hardly any controller runs; '
            f'compare the length of the recording with that of the motion that was sent, and '
            f'mend the stamps')
    return None


def _velocity_agrees(recording: Recording) -> bool:
    from robot_identification.validation.checks.velocity import velocity_ratios
    ratios = velocity_ratios(recording)
    if ratios is None or not np.any(np.isfinite(ratios.ratio)):
        return False
    return bool(abs(np.nanmedian(ratios.ratio) - 1) < NEAR_CLOCK)


def _odd_rate(recording: Recording) -> float:
    """Return the rate [Hz] where it is even and unusual; else 0."""
    steps = np.diff(recording.t)
    mean = float(recording.t[-1] - recording.t[0]) / len(steps)
    if np.std(steps) > EVEN * mean:
        return 0.0
    rate = 1 / mean
    decade = 10.0 ** np.floor(np.log10(rate))
    usual = bool(np.min(np.abs(rate / decade / MANTISSAS - 1)) < ROUND)
    return 0.0 if usual else rate


CHECK = Check(
    NAME, 'Does the clock of the stamps run as fast as the one on the wall?',
    f'gravity beyond {TOLERANCE:.0%} and {DEVIATIONS:g} standard deviations more '
    f'({TRUSTED_TOLERANCE:.0%} where recorded velocities agree with the clock), or an even rate '
    'that no usual controller has', RECORDINGS, find)
