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
"""Velocities and accelerations from measured positions, by methods with names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import SignalError
from robot_identification.registry import Registry
from robot_identification.signals.filters import (
    central_differences,
    settling_time,
    STENCIL_HALF,
    zero_phase_lowpass,
)


@dataclass(frozen=True)
class DifferentiationOptions:
    """
    Settings of the differentiation methods.

    Parameters
    ----------
    cutoff
        Cut-off of each joint, (n,) [Hz]; infinite for no filter.
    period
        Samples in a period of the motion, None where unknown.
    wrap
        True when the samples are one period of a motion that repeats: filters wrap around.
    keep_edges
        True to return every sample: the positions are continued oddly (mirrored in the end
        point) beyond either end, and the first and last `edge_samples` are less accurate.
    passes
        Passes of five-point smoothing; from the cut-off when None.
    harmonics
        Lines of the Fourier methods; from the cut-off when None.
    basis
        'ffs' or 'mfs', for the Fourier fit.

    """

    cutoff: Array
    period: int | None = None
    wrap: bool = False
    keep_edges: bool = False
    passes: int | None = None
    harmonics: int | None = None
    basis: str = 'ffs'


@dataclass(frozen=True, eq=False)
class DifferentiatedStates:
    """
    Positions, velocities and accelerations of one unbroken run.

    Parameters
    ----------
    q, v, a
        (K, n) [rad or m, per s, per s^2].
    first
        Row of the run that the first of the K belongs to (edges are cut).
    note
        The method in words, for the report.

    """

    q: Array
    v: Array
    a: Array
    first: int
    note: str

    def rows(self, rows: slice) -> DifferentiatedStates:
        """Return the states of some rows."""
        return DifferentiatedStates(self.q[rows], self.v[rows], self.a[rows],
                                    self.first + rows.start, self.note)


@dataclass(frozen=True)
class DifferentiationMethod:
    """
    A member of `METHODS`.

    Parameters
    ----------
    differentiate
        Returns the states of positions (N, n) at a rate [Hz].
    needs_period
        Whether the motion has to repeat, with a known period.

    """

    differentiate: Callable[[Array, float, DifferentiationOptions], DifferentiatedStates]
    needs_period: bool = False


def edge_samples(cutoff: Array, rate: float) -> int:
    """Return how many samples at either end of a run the filter and the differences spoil."""
    finite = cutoff[np.isfinite(cutoff)]
    settle = settling_time(float(finite.min())) * rate if len(finite) else 0.0
    return int(np.ceil(settle)) + STENCIL_HALF


def smooth_and_differentiate(
    q: Array, rate: float, options: DifferentiationOptions, smooth: Callable[[Array], Array],
    edge: int, note: str,
) -> DifferentiatedStates:
    """
    Smooth positions, take central differences, and cut the edges that both spoil.

    Parameters
    ----------
    q
        Positions of one unbroken run, (N, n) [rad or m].
    rate
        [Hz]
    options
        Whether the run wraps around, or keeps its edges.
    smooth
        The zero-phase filter.
    edge
        Samples that it spoils at either end, with those of the differences.
    note
        The method in words.

    Raises
    ------
    SignalError
        The run is shorter than its edges.

    """
    if options.wrap:
        edge *= 2
        q = q[np.arange(-edge, len(q) + edge) % len(q)]
    elif options.keep_edges:
        if len(q) <= edge + 1:
            raise SignalError(
                f'{len(q) / rate:.3g} s are too short for the filter; at least '
                f'{(edge + 2) / rate:.3g} s are needed, or a higher cut-off')
        q = np.concatenate([2 * q[0] - q[edge:0:-1], q, 2 * q[-1] - q[-2:-edge - 2:-1]])
    elif len(q) <= 2 * edge + 1:
        raise SignalError(
            f'{len(q) / rate:.3g} s are too short: the filter spoils {edge / rate:.3g} s at '
            f'either end; at least {(2 * edge + 2) / rate:.3g} s are needed, or a higher '
            'cut-off')
    smoothed = smooth(q)
    v, a = central_differences(smoothed, rate)
    inner = slice(edge - STENCIL_HALF, len(v) - (edge - STENCIL_HALF))
    first = 0 if options.wrap or options.keep_edges else edge
    return DifferentiatedStates(smoothed[edge:len(q) - edge], v[inner], a[inner], first, note)


def _differentiate_filtered(
    q: Array, rate: float, options: DifferentiationOptions
) -> DifferentiatedStates:
    return smooth_and_differentiate(
        q, rate, options, lambda x: zero_phase_lowpass(x, options.cutoff, rate),
        edge_samples(options.cutoff, rate),
        'zero-phase 4th-order Butterworth low-pass of the positions, then eighth-order central '
        'differences')


METHODS: Registry[DifferentiationMethod] = Registry('differentiation method', {
    'butterworth': DifferentiationMethod(_differentiate_filtered)})
"""Methods by name; `robot_identification.papers` adds 'smoothing', 'fourier' and 'spectral'."""
