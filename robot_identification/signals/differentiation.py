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
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import SignalError
from robot_identification.scratch import stacked
from robot_identification.signals.filters import (
    central_differences,
    settling_time,
    smooth_five_point,
    smoothing_passes,
    STENCIL_HALF,
    zero_phase_lowpass,
)
from robot_identification.signals.fourier import differentiate_lines, fit_series

MOST_PASSES = 1000


@dataclass(frozen=True)
class DifferentiationOptions:
    """
    What the methods need to know.

    Parameters
    ----------
    cutoff
        (n,) [Hz]; infinite for no filter.
    period
        Samples in a period of the motion, None where unknown.
    wrap
        True when the samples are one period of a motion that repeats: filters go round.
    keep_edges
        True to give back every sample: the positions are continued oddly (mirrored in the end
        point) beyond either end, and the first and last of `trim` samples are less accurate.
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
class Motion:
    """
    Processed states of one unbroken run.

    Parameters
    ----------
    q, v, a
        (K, n)
    first
        Row of the run that the first of the K stands for (edges are trimmed).
    note
        What was done, in words.

    """

    q: Array
    v: Array
    a: Array
    first: int
    note: str

    def part(self, rows: slice) -> Motion:
        """Return some of the rows."""
        return Motion(self.q[rows], self.v[rows], self.a[rows], self.first + rows.start, self.note)


def trim(cutoff: Array, rate: float) -> int:
    """Return the samples that filter and differences spoil at either end of a run."""
    finite = cutoff[np.isfinite(cutoff)]
    settle = settling_time(float(finite.min())) * rate if len(finite) else 0.0
    return int(np.ceil(settle)) + STENCIL_HALF


def _cut(q: Array, rate: float, edge: int, note: str) -> Motion:
    """Take central differences of filtered positions and drop the spoilt edges."""
    first, second = central_differences(q, rate)
    inner = slice(edge - STENCIL_HALF, len(first) - (edge - STENCIL_HALF))
    return Motion(q[edge:len(q) - edge], first[inner], second[inner], edge, note)


def _continued(
    q: Array, rate: float, options: DifferentiationOptions, edge: int
) -> tuple[Array, int]:
    """Continue the run on either side where its edges are kept; give back the edge to cut."""
    if options.keep_edges and not options.wrap:
        if len(q) <= edge + 1:
            raise SignalError(
                f'{len(q) / rate:.3g} s are too short for the filter; at least '
                f'{(edge + 2) / rate:.3g} s are needed, or a higher cut-off')
        before, after = 2 * q[0] - q[edge:0:-1], 2 * q[-1] - q[-2:-edge - 2:-1]
        return stacked([before, q, after]), edge
    if not options.wrap:
        if len(q) <= 2 * edge + 1:
            raise SignalError(
                f'{len(q) / rate:.3g} s are too short: the filter spoils {edge / rate:.3g} s at '
                f'either end; at least {(2 * edge + 2) / rate:.3g} s are needed, or a higher '
                'cut-off')
        return q, edge
    index = np.arange(-2 * edge, len(q) + 2 * edge) % len(q)
    return q[index], 2 * edge


def _butterworth(q: Array, rate: float, options: DifferentiationOptions) -> Motion:
    padded, edge = _continued(q, rate, options, trim(options.cutoff, rate))
    smooth = zero_phase_lowpass(padded, options.cutoff, rate)
    motion = _cut(smooth, rate, edge,
                  'zero-phase 4th-order Butterworth low-pass of the positions, then '
                  'eighth-order central differences')
    return _unwrapped(motion, options)


def _smoothing(q: Array, rate: float, options: DifferentiationOptions) -> Motion:
    passes = options.passes
    if passes is None:
        finite = options.cutoff[np.isfinite(options.cutoff)]
        passes = smoothing_passes(float(finite.max()), rate) if len(finite) else 1
        if passes > MOST_PASSES:
            raise SignalError(
                f'five-point smoothing needs {passes} passes for a cut-off of {finite.max():.4g} '
                f"Hz at {rate:.4g} Hz; give the passes, or take the method 'butterworth'")
    # The gain of all passes is near exp(-3/35 passes w^4): their reach grows with the fourth root.
    reach = min(2 * passes, 2 + int(np.ceil(6 * (3 * passes / 35) ** 0.25)))
    padded, edge = _continued(q, rate, options, reach + STENCIL_HALF)
    motion = _cut(smooth_five_point(padded, passes), rate, edge,
                  f'five-point cubic smoothing of the positions, {passes} passes, then '
                  'eighth-order central differences')
    return _unwrapped(motion, options)


def _unwrapped(motion: Motion, options: DifferentiationOptions) -> Motion:
    return replace(motion, first=0) if options.wrap or options.keep_edges else motion


def _fourier(q: Array, rate: float, options: DifferentiationOptions) -> Motion:
    period, harmonics = _lines(q, rate, options)
    t = np.arange(len(q)) / rate
    fitted = fit_series(t, q, period / rate, harmonics, options.basis)
    return Motion(*fitted, 0,
                  f'least-squares fit of the positions by {options.basis} with {harmonics} '
                  f'harmonics of {rate / period:.6g} Hz, differentiated analytically')


def _spectral(q: Array, rate: float, options: DifferentiationOptions) -> Motion:
    period, harmonics = _lines(q, rate, options)
    whole = len(q) // period * period
    if not whole:
        raise SignalError(
            f'{len(q) / rate:.4g} s hold no whole period of {period / rate:.6g} s; take the '
            "method 'butterworth'")
    lines = differentiate_lines(q[:whole], rate, period, harmonics)
    return Motion(*lines, 0,
                  f'frequency-domain differentiation of {harmonics} lines, multiples of '
                  f'{rate / period:.6g} Hz, over {whole // period} whole periods')


def _lines(q: Array, rate: float, options: DifferentiationOptions) -> tuple[int, int]:
    if options.period is None:
        raise SignalError('this method needs the period of the motion')
    if options.harmonics is not None:
        return options.period, options.harmonics
    finite = options.cutoff[np.isfinite(options.cutoff)]
    highest = float(finite.max()) if len(finite) else 0.4 * rate
    return options.period, max(1, int(highest * options.period / rate))


Method = Callable[[Array, float, DifferentiationOptions], Motion]

METHODS: dict[str, Method] = {
    'butterworth': _butterworth,
    'smoothing': _smoothing,
    'fourier': _fourier,
    'spectral': _spectral,
}
PERIODIC_METHODS = ('fourier', 'spectral')
