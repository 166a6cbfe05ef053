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
"""
Differentiation by five-point smoothing, Fourier series and spectral lines, as in the papers.

Importing this module registers the methods in `METHODS` of `signals.differentiation`.
"""

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.errors import SignalError, UnknownNameError
from robot_identification.excitation.motion.fourier import FourierSeries
from robot_identification.excitation.motion.series import DEGREE
from robot_identification.signals import DifferentiationOptions
from robot_identification.signals.differentiation import (
    DifferentiatedStates,
    DifferentiationMethod,
    METHODS,
    smooth_and_differentiate,
)
from robot_identification.signals.filters import STENCIL_HALF

MAX_PASSES = 1000
"""Largest number of passes of five-point smoothing, which limits the computing time."""
BASES = ('ffs', 'mfs')


def series_basis(
    t: ArrayLike, period: float, harmonics: int, basis: str = 'ffs'
) -> tuple[Array, Array, Array]:
    """
    Return the basis functions of a Fourier series and their first two time derivatives.

    Parameters
    ----------
    t
        Times, (N,) [s].
    period
        Period of the series [s].
    harmonics
        Number of harmonics, multiples of 1 / period.
    basis
        'ffs' (finite Fourier series): those of `FourierSeries`. 'mfs' (modified Fourier series)
        adds x, ..., x^5, where x is the time within the period scaled to -1 to 1.

    Returns
    -------
    values, first, second
        (N, 1 + 2 harmonics) or, for 'mfs', (N, 6 + 2 harmonics).

    """
    if basis not in BASES:
        raise UnknownNameError('basis', basis, BASES)
    t = np.asarray(t, dtype=float)
    columns = [FourierSeries(period, harmonics).basis(t, order) for order in range(3)]
    if basis == 'mfs':
        scale = 2 / period
        x = scale * np.mod(t, period) - 1
        powers = np.eye(DEGREE + 1)[:, 1:]
        columns = [np.hstack([each, scale ** order * polyval(x, polyder(powers, order)).T])
                   for order, each in enumerate(columns)]
    values, first, second = columns
    return values, first, second


def fit_series(
    t: ArrayLike, q: ArrayLike, period: float, harmonics: int, basis: str = 'ffs'
) -> tuple[Array, Array, Array]:
    """
    Fit a Fourier series to measured positions by least squares and differentiate it.

    Parameters
    ----------
    t
        Times, (N,) [s]; they need not be uniform.
    q
        Positions, (N, n) [rad or m].
    period, harmonics, basis
        As for `series_basis`.

    Returns
    -------
    q, v, a
        Positions, velocities and accelerations of the fitted series, (N, n) each.

    Raises
    ------
    SignalError
        The recording is shorter than one period, or has fewer than two samples per coefficient.

    """
    t, q = np.asarray(t, dtype=float), np.asarray(q, dtype=float)
    duration = (t[-1] - t[0]) * len(t) / max(len(t) - 1, 1)
    if duration < 0.999 * period:
        raise SignalError(
            f'a Fourier series of period {period:.6g} s cannot be fitted to {duration:.4g} s: '
            "one full period is needed; use the method 'butterworth'")
    count = 1 + 2 * harmonics + (DEGREE if basis == 'mfs' else 0)
    if count > len(t) // 2:
        raise SignalError(
            f'{harmonics} harmonics have {count} coefficients for {len(t)} samples; '
            'lower `harmonics` or the cut-off')
    values, first, second = series_basis(t - t[0], period, harmonics, basis)
    coefficients = np.linalg.lstsq(values, q, rcond=None)[0]
    return values @ coefficients, first @ coefficients, second @ coefficients


def differentiate_lines(
    q: ArrayLike, rate: float, period: int, harmonics: int
) -> tuple[Array, Array, Array]:
    """
    Filter and differentiate periodic positions in the frequency domain.

    The discrete Fourier transform over M full periods keeps only the spectral lines at multiples
    of 1 / period up to `harmonics`. They are multiplied by j w and -w^2 and transformed back. This
    is exact for band-limited periodic motion, but not for modified Fourier series, whose
    polynomial is not band-limited.

    Parameters
    ----------
    q
        Positions, (M period, n) [rad or m].
    rate
        Sampling rate [Hz].
    period
        Number of samples in a period.
    harmonics
        Number of harmonics that are kept.

    Returns
    -------
    q, v, a
        Filtered positions, velocities and accelerations, (M period, n) each.

    Raises
    ------
    SignalError
        The positions do not cover a whole number of periods, or there are at least half as many
        harmonics as samples in a period.

    References
    ----------
    Ding, Li et al., improved cuckoo search for the ER-16, equation (16) and text.

    """
    q = np.asarray(q, dtype=float)
    periods, rest = divmod(len(q), period)
    if rest or not periods:
        raise SignalError(
            f'{len(q)} samples are not a whole number of periods of {period} samples')
    if not 0 < harmonics < period / 2:
        raise SignalError(
            f'{harmonics} harmonics do not fit below half of the {period} samples of a period')
    spectrum = np.fft.rfft(q, axis=0)
    lines = periods * np.arange(harmonics + 1)
    kept = np.zeros_like(spectrum)
    kept[lines] = spectrum[lines]
    omega = 2 * np.pi * np.fft.rfftfreq(len(q), 1 / rate)[:, None]
    return (np.fft.irfft(kept, len(q), axis=0),
            np.fft.irfft(1j * omega * kept, len(q), axis=0),
            np.fft.irfft(-omega ** 2 * kept, len(q), axis=0))


def smooth_five_point(x: ArrayLike, passes: int = 1) -> Array:
    """
    Smooth the columns of x repeatedly by a five-point cubic, (N, c).

    One-sided formulas are used at the ends. The gain of one pass at an angular frequency of w
    radians per sample is (17 + 24 cos w - 6 cos 2w) / 35.

    Parameters
    ----------
    x
        Signals at a uniform rate, (N, c), N >= 5.
    passes
        Number of passes.

    Raises
    ------
    SignalError
        There are fewer than five samples.

    References
    ----------
    Ding, Li et al., improved cuckoo search for the ER-16, equation (15).

    """
    from scipy.signal import savgol_filter  # slow to import

    y = np.array(x, dtype=float)
    if len(y) < 5:
        raise SignalError(f'five-point smoothing needs 5 samples, not {len(y)}')
    for _ in range(passes):
        y = savgol_filter(y, window_length=5, polyorder=3, axis=0)
    return y


def smoothing_passes(cutoff: float, rate: float) -> int:
    """Return the number of smoothing passes with a total gain of at most 1/2 at `cutoff` [Hz]."""
    w = 2 * np.pi * cutoff / rate
    gain = abs(17 + 24 * np.cos(w) - 6 * np.cos(2 * w)) / 35
    return max(1, int(np.ceil(np.log(0.5) / np.log(gain)))) if gain > 0 else 1


def differentiate_smoothed(
    q: Array, rate: float, options: DifferentiationOptions
) -> DifferentiatedStates:
    """Smooth positions (N, n) by the five-point cubic and take central differences."""
    passes = options.passes
    if passes is None:
        finite = options.cutoff[np.isfinite(options.cutoff)]
        passes = smoothing_passes(float(finite.max()), rate) if len(finite) else 1
        if passes > MAX_PASSES:
            raise SignalError(
                f'five-point smoothing needs {passes} passes for a cut-off of {finite.max():.4g} '
                f"Hz at {rate:.4g} Hz; set the passes, or use the method 'butterworth'")
    # The gain of all passes is about exp(-3/35 passes w^4), so the length of the impulse response
    # is proportional to the fourth root of the number of passes.
    reach = min(2 * passes, 2 + int(np.ceil(6 * (3 * passes / 35) ** 0.25)))
    count = passes
    return smooth_and_differentiate(
        q, rate, options, lambda x: smooth_five_point(x, count), reach + STENCIL_HALF,
        f'five-point cubic smoothing of the positions, {passes} passes, then eighth-order '
        'central differences')


def differentiate_series(
    q: Array, rate: float, options: DifferentiationOptions
) -> DifferentiatedStates:
    """Differentiate positions (N, n) by a least-squares fit of a Fourier series."""
    period, harmonics = _lines(q, rate, options)
    t = np.arange(len(q)) / rate
    fitted = fit_series(t, q, period / rate, harmonics, options.basis)
    return DifferentiatedStates(
        *fitted, 0, f'least-squares fit of the positions by {options.basis} with {harmonics} '
        f'harmonics of {rate / period:.6g} Hz, differentiated analytically')


def differentiate_spectrum(
    q: Array, rate: float, options: DifferentiationOptions
) -> DifferentiatedStates:
    """Differentiate positions (N, n) by their spectral lines over full periods."""
    period, harmonics = _lines(q, rate, options)
    used = len(q) // period * period
    if not used:
        raise SignalError(
            f'{len(q) / rate:.4g} s are shorter than one period of {period / rate:.6g} s; use the '
            "method 'butterworth'")
    lines = differentiate_lines(q[:used], rate, period, harmonics)
    return DifferentiatedStates(
        *lines, 0, f'frequency-domain differentiation of {harmonics} lines, multiples of '
        f'{rate / period:.6g} Hz, over {used // period} whole periods')


def _lines(q: Array, rate: float, options: DifferentiationOptions) -> tuple[int, int]:
    if options.period is None:
        raise SignalError('this method needs the period of the motion')
    if options.harmonics is not None:
        return options.period, options.harmonics
    finite = options.cutoff[np.isfinite(options.cutoff)]
    highest = float(finite.max()) if len(finite) else 0.4 * rate
    return options.period, max(1, int(highest * options.period / rate))


for _name, _function, _needs_period in (('smoothing', differentiate_smoothed, False),
                                        ('fourier', differentiate_series, True),
                                        ('spectral', differentiate_spectrum, True)):
    METHODS.register(_name, DifferentiationMethod(_function, _needs_period))
