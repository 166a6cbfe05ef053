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
"""Power spectra that leak little, and their level over fractions of an octave."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.parallel import core_count
from scipy import fft

BAND = 1.0 / 3.0
"""Width of a band [octaves]: wide enough to span gaps between the lines of a periodic motion."""
MAIN_LOBE = 3.0
"""Half width of the window's main lobe, in lines."""
LONGEST = 2 ** 17
"""Samples of one spectrum; those of longer signals are means over pieces that overlap by half.
Lines are then 0.008 Hz apart at 1 kHz, a thirtieth of the lowest cut-off of a piece as long as
that, and neither time nor memory of a transform grows faster than the signal."""


def power_spectrum(x: ArrayLike, rate: float) -> tuple[Array, Array]:
    """
    Return the frequencies and the power of the columns, tapered by the fourth power of a cosine.

    The taper's leakage falls with the tenth power of the distance (30 dB an octave in
    amplitude), so even after two differentiations the leakage of a slow motion keeps falling and
    cannot be taken for noise. The sum of the power over all lines is the mean square of the
    tapered columns.

    Parameters
    ----------
    x
        (N, c) at a uniform rate; means are removed.
    rate
        [Hz]

    Returns
    -------
    frequency
        (K,) [Hz]
    power
        (K, c) mean square in each line.

    """
    x = np.asarray(x, dtype=float)
    count = min(len(x), LONGEST)
    taper = np.sin(np.pi * (np.arange(count) + 0.5) / count) ** 4
    taper /= np.sqrt(np.mean(taper ** 2))
    frequency = np.arange(count // 2 + 1, dtype=np.float64) * float(rate / count)
    power = np.zeros((x.shape[1], len(frequency)))
    pieces = 1 if len(x) == count else -(-2 * (len(x) - count) // count) + 1
    starts = np.linspace(0, len(x) - count, pieces).astype(int)
    mean = x[0] + np.mean(x - x[0], axis=0)    # that of a constant to the last digit
    for start in starts:
        tapered = np.ascontiguousarray((x[start:start + count] - mean).T)
        tapered *= taper
        amplitude = fft.rfft(tapered, workers=core_count(), overwrite_x=True)
        here = amplitude.real ** 2
        here += amplitude.imag ** 2
        here *= 2 / pieces / count ** 2
        power += here
    return frequency, power.T


def occupied_bandwidth(frequency: Array, power: Array, share: float = 0.999) -> Array:
    """Return below which frequency that share of each column's power is, (c,) [Hz]."""
    return np.array([frequency[np.searchsorted(np.cumsum(column), share * column.sum())]
                     for column in power.T])


def band_grid(frequency: Array, lowest: float, highest: float, per_octave: int = 12) -> Array:
    """Return centres [Hz], evenly spaced in octaves, from `lowest` to `highest` inclusive."""
    lowest = max(lowest, float(frequency[1]))
    count = max(2, int(np.ceil(per_octave * np.log2(max(highest / lowest, 1.01)))))
    return np.geomspace(lowest, highest, count)


def band_power(frequency: Array, power: Array, centres: Array, width: float = BAND) -> Array:
    """
    Return the mean power of a line in bands round centres, (len(centres), c).

    Parameters
    ----------
    frequency, power
        From `power_spectrum`.
    centres
        [Hz]
    width
        [octaves]; a band spans at least the main lobe of the window.

    """
    half = int(MAIN_LOBE)
    middle = np.searchsorted(frequency, centres)
    low = np.minimum(np.searchsorted(frequency, centres * 2 ** (-width / 2)), middle - half)
    high = np.maximum(np.searchsorted(frequency, centres * 2 ** (width / 2)), middle + half)
    low, high = np.clip(low, 1, len(frequency) - 2), np.clip(high, 3, len(frequency))
    high = np.maximum(high, low + 1)
    # Not by differences of a cumulative sum: the tails are far below its last digit.
    return np.array([power[a:b].mean(axis=0) for a, b in zip(low, high, strict=True)])
