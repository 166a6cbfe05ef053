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
"""Periodic motion as a Fourier series: least-squares fit, and differentiation of its lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array
from robot_identification.errors import SignalError, UnknownNameError

BASES = ('ffs', 'mfs')
_QUINTIC = 5


def series_basis(
    t: ArrayLike, period: float, harmonics: int, basis: str = 'ffs'
) -> tuple[Array, Array, Array]:
    """
    Return the basis and its first two derivatives.

    Parameters
    ----------
    t
        (N,) [s]
    period
        [s]
    harmonics
        Highest multiple of 1 / period.
    basis
        'ffs': 1, sin k w t, cos k w t; 'mfs' adds t, ..., t^5 within the period (t modulo the
        period, scaled to [-1, 1]).

    Returns
    -------
    values, first, second
        (N, 1 + 2 harmonics) or, for 'mfs', (N, 6 + 2 harmonics).

    """
    if basis not in BASES:
        raise UnknownNameError('basis', basis, BASES)
    t = np.asarray(t, dtype=float)
    omega = 2 * np.pi / period * np.arange(1, harmonics + 1)
    angle = t[:, None] * omega
    sin, cos = np.sin(angle), np.cos(angle)
    one, none = np.ones((len(t), 1)), np.zeros((len(t), 1))
    values = np.hstack([one, sin, cos])
    first = np.hstack([none, omega * cos, -omega * sin])
    second = np.hstack([none, -omega ** 2 * sin, -omega ** 2 * cos])
    if basis == 'mfs':
        scale = 2 / period
        x = scale * np.mod(t, period) - 1
        powers = np.arange(1, _QUINTIC + 1)
        poly = x[:, None] ** powers
        dpoly = powers * x[:, None] ** (powers - 1) * scale
        ddpoly = powers * (powers - 1) * x[:, None] ** np.maximum(powers - 2, 0) * scale ** 2
        values = np.hstack([values, poly])
        first, second = np.hstack([first, dpoly]), np.hstack([second, ddpoly])
    return values, first, second


def fit_series(
    t: ArrayLike, q: ArrayLike, period: float, harmonics: int, basis: str = 'ffs'
) -> tuple[Array, Array, Array]:
    """
    Fit measured positions by least squares and differentiate the fit.

    Parameters
    ----------
    t
        (N,) [s]; need not be uniform.
    q
        (N, n) [rad or m]
    period, harmonics, basis
        See `series_basis`.

    Returns
    -------
    q, v, a
        (N, n) of the fitted series.

    Raises
    ------
    SignalError
        Less than one period, or fewer samples than coefficients.

    """
    t, q = np.asarray(t, dtype=float), np.asarray(q, dtype=float)
    duration = (t[-1] - t[0]) * len(t) / max(len(t) - 1, 1)
    if duration < 0.999 * period:
        raise SignalError(
            f'a Fourier series of period {period:.6g} s cannot be fitted to {duration:.4g} s: '
            "one whole period is needed; take the method 'butterworth'")
    count = 1 + 2 * harmonics + (_QUINTIC if basis == 'mfs' else 0)
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
    Differentiate periodic positions in the frequency domain.

    The excited lines of the discrete Fourier transform over whole periods are kept (the
    multiples of 1 / period up to `harmonics`), multiplied by j w and -w^2, and transformed back.
    Exact for band-limited periodic motion; not for MFS, whose quintic is not band-limited.

    Parameters
    ----------
    q
        (M period, n) [rad or m]
    rate
        [Hz]
    period
        Samples in a period.
    harmonics
        Highest line kept.

    Returns
    -------
    q, v, a
        (M period, n)

    Raises
    ------
    SignalError
        Not a whole number of periods, or more harmonics than half the samples of a period.

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
