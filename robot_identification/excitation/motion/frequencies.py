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
"""Checks of the number of harmonics and of sampling rates, and suggested harmonics."""

from __future__ import annotations

import numpy as np
from robot_identification.errors import ExcitationError
from robot_identification.recording.stamps import FASTEST

RESONANCE_RATIO = 6    # smallest ratio of first resonance to highest frequency of the motion
MIN_HARMONICS, MAX_HARMONICS = 2, 12


def check_harmonics(harmonics: int, duration: float, first_resonance: float | None) -> None:
    """
    Raise an error if the highest frequency is too close to the arm's first resonance.

    Parameters
    ----------
    harmonics
        Number of harmonics of 1 / duration.
    duration
        Duration of a period [s].
    first_resonance
        Lowest resonance of the arm [Hz]; None if unknown.

    Raises
    ------
    ExcitationError
        The highest frequency is above a sixth of the resonance.

    """
    if first_resonance is None:
        return
    max_harmonics = np.floor(duration * first_resonance / RESONANCE_RATIO * (1 + 1e-9))
    if harmonics > max_harmonics:
        raise ExcitationError(
            f'{harmonics} harmonics of a period of {duration:g} s reach '
            f'{harmonics / duration:.3g} Hz, above a sixth of the first resonance of '
            f'{first_resonance:g} Hz; use {max_harmonics:.0f} harmonics or fewer, or a longer '
            f'period')


def check_rate(rate: float, harmonics: int, duration: float) -> None:
    """
    Raise an error if a sampling rate is too low for a motion, or higher than any controller's.

    Parameters
    ----------
    rate
        Rate of the samples [Hz].
    harmonics
        Number of harmonics of 1 / duration.
    duration
        Duration of a period [s].

    Raises
    ------
    ExcitationError
        The rate is above 50 kHz, or below twice the highest frequency.

    """
    if rate > FASTEST:
        raise ExcitationError(f'{rate:g} Hz is above the limit of {FASTEST:g} Hz; use the '
                              'rate of the controller')
    if rate < 2 * harmonics / duration:
        raise ExcitationError(
            f'{rate:g} Hz is too low for a motion of up to {harmonics / duration:.3g} Hz; use at '
            f'least {2 * harmonics / duration:.3g} Hz, preferably that of the '
            f'controller')


def suggest_harmonics(duration: float, upper_frequency: float = 0.5,
                      first_resonance: float | None = None) -> int:
    """
    Return the number of harmonics of 1 / duration below a frequency, at most 12.

    Torques contain products of up to three joint motions and so reach higher frequencies than the
    motion. The motion's highest frequency therefore stays below a sixth of the first resonance.

    Parameters
    ----------
    duration
        Duration of a period [s].
    upper_frequency
        Highest frequency of the motion [Hz].
    first_resonance
        Lowest resonance of the arm [Hz]; it lowers an upper frequency that is too high.

    Raises
    ------
    ExcitationError
        The period is too short for two harmonics below that frequency.

    """
    if first_resonance is not None:
        upper_frequency = min(upper_frequency, first_resonance / RESONANCE_RATIO)
    harmonics = int(min(duration * upper_frequency * (1 + 1e-9), MAX_HARMONICS))
    if harmonics < MIN_HARMONICS:
        raise ExcitationError(
            f'{MIN_HARMONICS} harmonics of a period of {duration:g} s do not stay below '
            f'{upper_frequency:g} Hz; use a period of {MIN_HARMONICS / upper_frequency:.3g} s or '
            f'more, or a higher frequency')
    return harmonics
