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
"""Power spectra with low leakage, their bandwidth, and their mean power in octave bands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from robot_identification.arrays import Array
from robot_identification.parallel import core_count
from scipy import fft

BAND = 1.0 / 3.0
"""Width of a band [octaves], wider than the distance of the spectral lines of periodic motion."""
MAIN_LOBE = 3
"""Half width of the main lobe of the window [frequency bins]."""
LONGEST = 2 ** 17
"""Largest number of samples of one transform. The spectra of longer signals are averages over
segments of this length with about 50 % overlap, so that time and memory grow at most linearly.
The resolution is 0.008 Hz at 1 kHz, a thirtieth of the lowest cut-off for such a segment."""


class Spectrum(NamedTuple):
    """
    Power spectra of columns.

    Parameters
    ----------
    frequency
        Frequencies of the bins, (K,) [Hz].
    power
        Mean square of each column in each bin, (K, c).

    """

    frequency: Array
    power: Array

    @classmethod
    def of(cls, x: Array, rate: float) -> Spectrum:
        """
        Return the power spectra of columns, with the window sin^4.

        The power that leaks from a spectral line falls with the tenth power of the distance in
        frequency (30 dB per octave). Even after two differentiations, the leakage of a slow motion
        decreases with frequency and is not mistaken for noise. The sum of the power over all bins
        is the mean square of the columns about their mean, weighted by the window.

        Parameters
        ----------
        x
            Signals at a uniform rate, (N, c). Their means are removed.
        rate
            Sampling rate [Hz].

        """
        count = min(len(x), LONGEST)
        taper = np.sin(np.pi * (np.arange(count) + 0.5) / count) ** 4
        taper /= np.sqrt(np.mean(taper ** 2))
        frequency = np.arange(count // 2 + 1, dtype=np.float64) * float(rate / count)
        power = np.zeros((x.shape[1], len(frequency)))
        pieces = -(-2 * (len(x) - count) // count) + 1
        mean = x[0] + np.mean(x - x[0], axis=0)    # exact for constant columns
        for start in np.linspace(0, len(x) - count, pieces).astype(int):
            tapered = np.ascontiguousarray((x[start:start + count] - mean).T) * taper
            amplitude = fft.rfft(tapered, workers=core_count(), overwrite_x=True)
            power += (amplitude.real ** 2 + amplitude.imag ** 2) * (2 / pieces / count ** 2)
        return cls(frequency, power.T)

    def bandwidth(self) -> Array:
        """Return the frequency below which 99.9 % of each column's power lies, (c,) [Hz]."""
        return np.array([self.frequency[np.searchsorted(np.cumsum(column), 0.999 * column.sum())]
                         for column in self.power.T])

    def grid(self, lowest: float, highest: float, per_octave: int = 12) -> Array:
        """Return frequencies from `lowest` to `highest` with logarithmic spacing [Hz]."""
        lowest = max(lowest, float(self.frequency[1]))
        count = max(2, int(np.ceil(per_octave * np.log2(max(highest / lowest, 1.01)))))
        return np.geomspace(lowest, highest, count)

    def band_power(self, centres: Array, width: float = BAND) -> Array:
        """
        Return the mean power per frequency bin in bands, (number of bands, c).

        Parameters
        ----------
        centres
            Centre frequencies of the bands [Hz].
        width
            Width of a band [octaves]. A band is at least as wide as the main lobe of the window.

        """
        frequency, power = self
        middle = np.searchsorted(frequency, centres)
        low = np.searchsorted(frequency, centres * 2 ** (-width / 2))
        high = np.searchsorted(frequency, centres * 2 ** (width / 2))
        low = np.clip(np.minimum(low, middle - MAIN_LOBE), 1, len(frequency) - 2)
        high = np.clip(np.maximum(high, middle + MAIN_LOBE), 3, len(frequency))
        # A cumulative sum would not do: its rounding error exceeds the small powers.
        return np.array([power[a:max(b, a + 1)].mean(axis=0) for a, b in zip(low, high)])


def power_density(x: Array, rate: float, length: int) -> tuple[Array, Array]:
    """
    Return frequencies (K,) [Hz] and power densities of columns (K, c) by Welch's method.

    As `scipy.signal.welch` by default: Hann windows that overlap by half, without their means.

    Parameters
    ----------
    x
        Signals at a uniform rate, (N, c).
    rate
        Sampling rate [Hz].
    length
        Number of samples of a window.

    """
    window = np.sin(np.pi * np.arange(length) / length)[:, None] ** 2
    segments = [x[start:start + length]
                for start in range(0, len(x) - length + 1, length - length // 2)]
    power = np.mean([np.abs(fft.rfft(window * (segment - segment.mean(axis=0)), axis=0)) ** 2
                     for segment in segments], axis=0) / (rate * np.sum(window ** 2))
    power[1:(length + 1) // 2] *= 2    # the negative frequencies
    return fft.rfftfreq(length, 1 / rate), power
