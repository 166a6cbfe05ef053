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
"""How many harmonics a motion has."""

from __future__ import annotations

import numpy as np
from robot_identification.errors import ExcitationError

RESONANCE_RATIO = 6    # of the first resonance to the highest frequency of the motion
FEWEST, MOST = 2, 12
_FASTEST = 50e3    # [Hz] at which controllers are sent samples


def check_harmonics(harmonics: int, duration: float, first_resonance: float | None) -> None:
    """
    Refuse harmonics that come too near to the arm's first resonance.

    Parameters
    ----------
    harmonics
        Of 1 / duration.
    duration
        Duration of a period [s].
    first_resonance
        Lowest resonance of the arm [Hz]; None if unknown.

    Raises
    ------
    ExcitationError
        The highest frequency is above a sixth of the resonance.

    """
    if first_resonance is None or not duration > 0:
        return
    most = np.floor(duration * first_resonance / RESONANCE_RATIO * (1 + 1e-9))
    if harmonics > most:
        raise ExcitationError(
            f'{harmonics} harmonics of a period of {duration:g} s reach '
            f'{harmonics / duration:.3g} Hz, above a sixth of the first resonance of '
            f'{first_resonance:g} Hz; take {most:.0f} harmonics or fewer, or a longer period')


def check_rate(rate: float, harmonics: int, duration: float) -> None:
    """
    Refuse a rate at which samples do not show a motion.

    Parameters
    ----------
    rate
        Rate of the samples [Hz].
    harmonics
        Of 1 / duration.
    duration
        Duration of a period [s].

    Raises
    ------
    ExcitationError
        The rate is not positive, above 50 kHz, or below twice the highest frequency.

    """
    if not (np.isfinite(rate) and rate > 0):
        raise ExcitationError(f'the rate must be positive, not {rate!r} Hz')
    if rate > _FASTEST:
        raise ExcitationError(f'{rate:g} Hz are more than the {_FASTEST:g} Hz at which motions '
                              'are sent; take the rate of the controller')
    if rate < 2 * harmonics / duration:
        raise ExcitationError(
            f'{rate:g} Hz cannot show a motion of up to {harmonics / duration:.3g} Hz; take a '
            f'rate of {2 * harmonics / duration:.3g} Hz at the very least, the rate of the '
            f'controller best')


def suggest_harmonics(duration: float, upper_frequency: float = 0.5,
                      first_resonance: float | None = None) -> int:
    """
    Return how many harmonics of 1 / duration stay below a frequency.

    Torques are made of products of up to three motions, so the motion's highest frequency must
    stay well below the arm's first resonance: below a sixth of it.

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
    if not all(np.isfinite(x) and x > 0 for x in (duration, upper_frequency)):
        raise ExcitationError('the duration and the upper frequency must be positive')
    upper = upper_frequency
    if first_resonance is not None:
        if not first_resonance > 0:
            raise ExcitationError(f'the first resonance must be positive, not {first_resonance!r}')
        upper = min(upper, first_resonance / RESONANCE_RATIO)
    harmonics = int(np.floor(min(duration * upper * (1 + 1e-9), MOST)))
    if harmonics < FEWEST:
        raise ExcitationError(
            f'{FEWEST} harmonics of a period of {duration:g} s do not stay below {upper:g} Hz; '
            f'take a period of {FEWEST / upper:.3g} s or more, or a higher frequency')
    return harmonics
