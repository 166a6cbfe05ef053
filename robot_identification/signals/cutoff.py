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
"""Cut-off of the position filter, chosen from the measured positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, read_only
from robot_identification.errors import SignalError
from robot_identification.signals.filters import butterworth_gain
from robot_identification.signals.spectrum import (
    band_grid,
    band_power,
    occupied_bandwidth,
    power_spectrum,
)

HIGHEST = 0.4
"""Highest cut-off, over the rate (0.8 of the Nyquist frequency)."""
SAMPLES_A_CYCLE = 8.0
"""Samples that a cycle of the fastest motion must have."""
LONGEST_SETTLING = 0.05
"""Longest share of a segment that the filter may contaminate at either end."""
MARGIN = 2.0
"""Cut-off over the frequency of least acceleration error: bias costs more than noise."""
_RISE = 10.0


@dataclass(frozen=True, eq=False)
class PositionCutoff:
    """
    What the spectra of the positions say, each (n,).

    Parameters
    ----------
    cutoff
        Cut-off of the zero-phase filter for each joint [Hz].
    floor
        Where noise takes over in the acceleration [Hz]; the highest cut-off if nowhere.
    content
        Frequency below which 99.9 % of the position's power is [Hz].

    """

    cutoff: Array
    floor: Array
    content: Array


def position_cutoff(q: ArrayLike, rate: float, names: tuple[str, ...] = ()) -> PositionCutoff:
    """
    Choose the cut-off that makes the expected squared error of the acceleration least.

    A joint is driven by bounded torques, so the power of its acceleration does not rise with
    frequency over an octave or more; the power of differentiated sensor noise does (white noise:
    12 dB an octave). Going down from the highest frequency, all is noise until the least
    acceleration power before the first rise of more than 10 dB: the noise floor. Below, the
    noise is taken to be white at the level found there, and the rest is motion. A filter of gain
    H then loses (1 - H)^2 of the motion's power and lets H^2 of the noise's through, and at one
    frequency their sum is least. For motion that falls steeply this is where motion and noise
    are equal (signal to noise about 1: the Wiener filter's gain there is 1/2, as is the
    zero-phase Butterworth's); for lines far above the noise it is higher, so that they are not
    attenuated. The cut-off is `MARGIN` times that: what the filter takes from the positions is
    missing in the regressor but not in the torque, a bias, while noise that it lets through is
    taken off both sides by the parallel decimation. Without noise the answer is the highest
    cut-off allowed, `HIGHEST` times the rate.

    Parameters
    ----------
    q
        (N, n) [rad or m] at a uniform rate.
    rate
        [Hz]
    names
        Joint names, for the error.

    Raises
    ------
    SignalError
        The rate is too low for the motion.

    """
    q = np.asarray(q, dtype=float)
    frequency, power = power_spectrum(q, rate)
    moving = occupied_bandwidth(frequency, power)
    for j, highest in enumerate(moving):
        if highest > rate / SAMPLES_A_CYCLE:
            name = names[j] if names else str(j)
            raise SignalError(
                f"joint '{name}' moves at up to {highest:.3g} Hz, too fast for a rate of "
                f'{rate:.4g} Hz; record at {SAMPLES_A_CYCLE * highest:.4g} Hz or more')
    lowest = min(1.5 / (LONGEST_SETTLING * len(q) / rate), HIGHEST * rate)
    grid = band_grid(frequency, lowest, HIGHEST * rate)
    level = band_power(frequency, power, grid)
    floor = np.array([_floor(column) for column in (level * grid[:, None] ** 4).T])
    # The error is summed over narrow bins, so that long recordings cost no memory.
    top = float(frequency[-1])
    edges = np.unique(np.searchsorted(frequency, 0.999 * band_grid(frequency, 0.0, top, 48)))
    centres = np.sqrt(frequency[edges] * np.append(frequency[edges[1:]], top))
    gain = np.array([butterworth_gain(centres, fc) for fc in grid])  # (grid, bins)
    cutoff, fourth = np.full(q.shape[1], grid[-1]), np.square(np.square(frequency))
    for j, k in enumerate(floor):
        if k == len(grid) - 1:
            continue  # acceleration falls up to the top: no noise was seen
        below = np.minimum(level[k, j], power[:, j])
        noise = np.where(frequency < grid[k], below, power[:, j]) * fourth
        motion = np.add.reduceat(power[:, j] * fourth - noise, edges)
        noise = np.add.reduceat(noise, edges)
        best = grid[np.argmin((1 - gain) ** 2 @ motion + gain ** 2 @ noise)]
        cutoff[j] = min(MARGIN * best, grid[-1])
    return PositionCutoff(read_only(cutoff), read_only(grid[floor]), read_only(moving))


def _floor(acceleration: Array) -> int:
    """Return the index of the least power, from the top down to the first rise of 10 dB."""
    best = len(acceleration) - 1
    for k in range(len(acceleration) - 1, -1, -1):
        if acceleration[k] < acceleration[best]:
            best = k
        elif acceleration[k] > _RISE * acceleration[best]:
            break
    return best
