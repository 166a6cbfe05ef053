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
"""Zero-phase low-pass filters, and spectra of signals."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.errors import SignalError
from robot_identification.parallel import core_count
from scipy import fft, ndimage
from scipy.linalg.lapack import dtbtrs

ORDER = 4    # of the Butterworth low-pass, in each direction
_FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
_SECOND = np.array(
    [-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
STENCIL_HALF = len(_FIRST) // 2
"""Number of samples on either side that a central difference depends on."""


def butterworth_gain(frequency: Array, cutoff: float) -> Array:
    """
    Return the gain of `zero_phase_lowpass`, 1 / (1 + (f / fc)^8), which is 1/2 at fc.

    Parameters
    ----------
    frequency
        Frequencies f [Hz].
    cutoff
        Cut-off fc [Hz].

    """
    return 1.0 / (1.0 + (frequency / cutoff) ** (2 * ORDER))


def settling_time(cutoff: float) -> float:
    """
    Return the duration of the transient of `zero_phase_lowpass` at either end [s].

    The slowest poles of the fourth-order filter decay by exp(-2.4) within 1 / cutoff. Within
    1.75 / cutoff, the error due to the extrapolation at the ends decays to 2 %.
    """
    return 1.75 / cutoff


def zero_phase_lowpass(x: ArrayLike, cutoff: ArrayLike, rate: float) -> Array:
    """
    Return columns filtered by a fourth-order Butterworth low-pass, forwards and backwards.

    Parameters
    ----------
    x
        Signals at a uniform rate, (N, c).
    cutoff
        Cut-off of all columns or of each, (c,) [Hz], at which the gain is 1/2; infinite for no
        filter.
    rate
        Sampling rate [Hz].

    Raises
    ------
    SignalError
        A cut-off is not between zero and half the rate, or there are too few samples.

    Examples
    --------
    >>> smooth = zero_phase_lowpass(q, cutoff=8.0, rate=500.0)    # (N, n)    # doctest: +SKIP

    """
    x = np.asarray(x, dtype=float)
    out = np.array(x)
    for j, fc in enumerate(np.broadcast_to(np.asarray(cutoff, dtype=float), x.shape[1:])):
        if fc == np.inf:
            continue
        if not 0 < fc < rate / 2:
            raise SignalError(
                f'a cut-off of {fc:.4g} Hz is not below half the rate of {rate:.4g} Hz; use a '
                'lower one, or inf for no filter')
        settle = int(np.ceil(settling_time(fc) * rate))
        if len(x) <= settle:
            raise SignalError(
                f'{len(x) / rate:.3g} s are too short for a cut-off of {fc:.4g} Hz: more than '
                f'{settle / rate:.3g} s are needed')
        pad = min(len(x) - 1, 3 * settle + 9)    # odd extension, where transients decay
        out[:, j] = filter_both_ways(lowpass_sections(fc, rate), x[:, j], pad)
    return out


def filter_both_ways(sections: Array, x: Array, pad: int = 0) -> Array:
    """
    Return signals filtered forwards and backwards by a filter of gain 1 at zero frequency.

    As `scipy.signal.sosfiltfilt`, with a tenth of its rounding error; `scipy.signal` takes half
    a second to import.

    Parameters
    ----------
    sections
        Second-order sections b0, b1, b2, 1, a1, a2 of the filter, (k, 6).
    x
        Signals at a uniform rate, (N, ...).
    pad
        Number of samples by which either end is extended by its point reflection; 0 for three
        times the number of taps.

    """
    pad = min(pad or 3 * (2 * len(sections) + 1), len(x) - 1)
    y = extend_ends(x.reshape(len(x), -1), pad).T
    bands = np.empty((3, y.shape[1]), order='F')
    for _ in range(2):
        first = y[:, :1]    # the filter starts at rest there
        y = y - first
        for b0, b1, b2, *a in sections:    # a lower triangular system with these three diagonals
            inputs = b0 * y
            inputs[:, 1:] += b1 * y[:, :-1]
            inputs[:, 2:] += b2 * y[:, :-2]
            bands.T[:] = a
            y = dtbtrs(bands, inputs.T, uplo='L', diag='U', overwrite_b=True)[0].T
        y = (y + first)[:, ::-1]
    return np.ascontiguousarray(y[:, pad:y.shape[1] - pad].T).reshape(x.shape)


def extend_ends(x: Array, count: int) -> Array:
    """Return signals (N, c) extended by `count` samples of their point reflection at both ends."""
    return np.concatenate([2 * x[0] - x[count:0:-1], x, 2 * x[-1] - x[-2:-count - 2:-1]])


@lru_cache
def lowpass_sections(cutoff: float, rate: float) -> Array:
    """
    Return the second-order sections of the fourth-order Butterworth low-pass, (2, 6).

    Parameters
    ----------
    cutoff
        Cut-off [Hz], at which the gain of forward and backward filtering is 1/2.
    rate
        Sampling rate [Hz].

    """
    w = np.tan(np.pi * cutoff / rate)    # analog cut-off of the bilinear transformation
    damping = 2 * np.sin(np.pi / (2 * ORDER) * np.array([1, 3]))    # 1 / Q of the pairs of poles
    scale = 1 + damping * w + w ** 2
    return np.column_stack([np.outer(w ** 2 / scale, [1, 2, 1]), scale / scale,
                            2 * (w ** 2 - 1) / scale, 1 - 2 * damping * w / scale])


def central_differences(x: Array, rate: float) -> tuple[Array, Array]:
    """
    Return first and second derivatives by central differences of eighth order.

    For a sine of frequency f, the relative error is w^8 / 630 for the first and w^8 / 3150 for the
    second derivative, with w = 2 pi f / rate. The error of the first derivative is 4e-6 for 7 Hz
    at a rate of 94 Hz. It reaches 1 % at a fifth of the rate, where that of the three-point
    difference is 24 %.

    Parameters
    ----------
    x
        Signals at a uniform rate, (N, c).
    rate
        Sampling rate [Hz].

    Returns
    -------
    first, second
        Derivatives, (N - 8, c) each; the four samples at each end have none.

    """
    inner = slice(STENCIL_HALF, len(x) - STENCIL_HALF)
    return (ndimage.correlate1d(x, _FIRST * rate, axis=0)[inner],
            ndimage.correlate1d(x, _SECOND * rate ** 2, axis=0)[inner])


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
