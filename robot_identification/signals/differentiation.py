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
"""Differentiation of measured positions by a method that is chosen by name."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import SignalError
from robot_identification.registry import Registry
from robot_identification.signals import filters


@dataclass(frozen=True)
class DifferentiationOptions:
    """
    Settings of the differentiation methods.

    Parameters
    ----------
    cutoff
        Cut-off of the position filter of each joint, (n,) [Hz]; infinite for no filter.
    period
        Number of samples per period of the motion; None if unknown.
    wrap
        Whether the samples are exactly one period of the motion, and filters wrap around its ends.
    keep_edges
        Whether all samples are returned. The positions are then extended by odd reflection at both
        ends, and the first and last `edge_samples` are less accurate.
    passes
        Number of passes of five-point smoothing; derived from the cut-off if None.
    harmonics
        Number of harmonics of the Fourier methods; derived from the cut-off if None.
    basis
        Basis of the method 'fourier': 'ffs' for the finite Fourier series or 'mfs' for the
        modified one.

    """

    cutoff: Array
    period: int | None = None
    wrap: bool = False
    keep_edges: bool = False
    passes: int | None = None
    harmonics: int | None = None
    basis: str = 'ffs'

    def edge_samples(self, rate: float) -> int:
        """Return how many samples at each end of a run are distorted by filter and differences."""
        finite = self.cutoff[np.isfinite(self.cutoff)]
        settle = filters.settling_time(float(finite.min())) * rate if len(finite) else 0.0
        return int(np.ceil(settle)) + filters.STENCIL_HALF


@dataclass(frozen=True, eq=False)
class DifferentiatedStates:
    """
    Positions and their derivatives in one run without gaps.

    Parameters
    ----------
    q, v, a
        Positions, velocities and accelerations, (K, n) [rad or m, per s, per s^2].
    first
        Index of the first of the K samples in the run; larger than 0 if edges were removed.
    note
        Description of the method for the report.

    """

    q: Array
    v: Array
    a: Array
    first: int
    note: str


@dataclass(frozen=True)
class DifferentiationMethod:
    """
    A differentiation method, a member of `METHODS`.

    Parameters
    ----------
    differentiate
        Function that returns the states for positions, (N, n), their rate [Hz] and options.
    needs_period
        Whether the motion must be periodic, with a known period.

    """

    differentiate: Callable[[Array, float, DifferentiationOptions], DifferentiatedStates]
    needs_period: bool = False


def smooth_and_differentiate(
    q: Array, rate: float, options: DifferentiationOptions, smooth: Callable[[Array], Array],
    edge: int, note: str,
) -> DifferentiatedStates:
    """
    Return smoothed positions and their central differences, without the distorted edges.

    Parameters
    ----------
    q
        Positions of one run without gaps, (N, n) [rad or m].
    rate
        Sampling rate [Hz].
    options
        Options of which `wrap` and `keep_edges` are used.
    smooth
        Function that applies a zero-phase filter to positions.
    edge
        Number of samples at each end that filter and differences distort.
    note
        Description of the method for the report.

    Raises
    ------
    SignalError
        The run is shorter than its edges.

    """
    if options.wrap:
        edge *= 2
        q = q[np.arange(-edge, len(q) + edge) % len(q)]
    else:
        needed = (edge if options.keep_edges else 2 * edge) + 2
        if len(q) < needed:
            raise SignalError(
                f'{len(q) / rate:.3g} s are too short: the filter distorts {edge / rate:.3g} s at '
                f'either end; at least {needed / rate:.3g} s are needed, or a higher cut-off')
        q = filters.extend_ends(q, edge) if options.keep_edges else q
    smoothed = smooth(q)
    v, a = filters.central_differences(smoothed, rate)
    inner = slice(edge - filters.STENCIL_HALF, len(v) - (edge - filters.STENCIL_HALF))
    first = 0 if options.wrap or options.keep_edges else edge
    return DifferentiatedStates(smoothed[edge:len(q) - edge], v[inner], a[inner], first, note)


def _differentiate_filtered(
    q: Array, rate: float, options: DifferentiationOptions
) -> DifferentiatedStates:
    """Return the states after a zero-phase Butterworth low-pass of the positions."""
    return smooth_and_differentiate(
        q, rate, options, lambda x: filters.zero_phase_lowpass(x, options.cutoff, rate),
        options.edge_samples(rate),
        'zero-phase 4th-order Butterworth low-pass of the positions, then eighth-order central '
        'differences')


METHODS: Registry[DifferentiationMethod] = Registry('differentiation method', {
    'butterworth': DifferentiationMethod(_differentiate_filtered)})
"""Methods by name; `robot_identification.papers` adds 'smoothing', 'fourier' and 'spectral'."""
