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
"""Filters without phase: Butterworth both ways, five-point smoothing, central differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import Array, readonly_view
from robot_identification.dynamics.regressor import default_backend
from robot_identification.errors import SignalError
from robot_identification.scratch import blocks, open_to_writing, release, scratch_array, walk
from scipy import signal

ORDER = 4
STENCIL_HALF = 4
"""Samples on either side that a central difference needs."""

_BLOCK = 4096
_FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
_SECOND = np.array(
    [-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])


def butterworth_gain(frequency: ArrayLike, cutoff: float, order: int = ORDER) -> Array:
    """
    Return the gain of the filter run both ways: 1 / (1 + (f / fc)^(2 order)), 1/2 at fc.

    Parameters
    ----------
    frequency
        [Hz]
    cutoff
        fc [Hz]
    order
        Order of the filter that is run both ways.

    """
    ratio = np.asarray(frequency, dtype=float) / cutoff
    return np.asarray(1.0 / (1.0 + ratio ** (2 * order)))


def settling_time(cutoff: float) -> float:
    """
    Return the time [s] after which the ends no longer reach into `zero_phase_lowpass`.

    The slowest poles of the fourth-order filter decay by exp(-2.4) in 1 / cutoff; in 1.75 / cutoff
    what the continuation at the ends got wrong has fallen to 2 %.
    """
    return 1.75 / cutoff


def zero_phase_lowpass(x: ArrayLike, cutoff: ArrayLike, rate: float, order: int = ORDER) -> Array:
    """
    Low-pass the columns with a Butterworth filter run forwards and backwards.

    Parameters
    ----------
    x
        (N, c) at a uniform rate.
    cutoff
        Cut-off [Hz] of all columns or (c,) of each; infinite leaves a column as it is.
    rate
        [Hz]
    order
        Order of the filter; both ways double it, and the gain at the cut-off is 1/2.

    Raises
    ------
    SignalError
        A cut-off that is not between zero and half the rate, or too few samples.

    """
    x = np.asarray(x, dtype=float)
    cutoffs = np.broadcast_to(np.asarray(cutoff, dtype=float), x.shape[1:])
    filters: list[tuple[Array, int] | None] = []
    for fc in cutoffs:
        if fc == np.inf:
            filters.append(None)
            continue
        if not 0 < fc < rate / 2:
            raise SignalError(
                f'a cut-off of {fc:.4g} Hz is not below half the rate of {rate:.4g} Hz; take a '
                'lower one, or inf for no filter')
        settle = int(np.ceil(settling_time(fc) * rate))
        if len(x) <= settle:
            raise SignalError(
                f'{len(x) / rate:.3g} s are too short for a cut-off of {fc:.4g} Hz: more than '
                f'{settle / rate:.3g} s are needed')
        pad = min(len(x) - 1, 3 * settle + 9)  # odd continuation, in which the start settles
        filters.append((signal.butter(order, fc, fs=rate, output='sos'), pad))
    out = scratch_array(x.shape)
    filter_both_ways(filters, x, out)
    return out


def filter_both_ways(filters: Sequence[tuple[Array, int] | None], x: Array, out: Array) -> None:
    """
    Filter the columns of x (N, c) forwards and backwards into out, as `signal.sosfiltfilt`.

    A filter is its sections and the samples by which it continues a column; None leaves one as it
    is. Filters hand their states from piece to piece, so that nothing of the signals' length is in
    memory, and no digit differs. `out` may be x.
    """
    used = [(j, *each) for j, each in enumerate(filters) if each is not None]
    if not used:
        np.copyto(out, x)
        return
    count = len(used[0][1])
    sections, states = np.zeros((count, 5, x.shape[1])), np.zeros((count, 2, x.shape[1]))
    sections[:, 0] = 1.0    # one that changes nothing
    starts, after = {}, {}
    for j, sos, pad in used:
        sections[:, :3, j], sections[:, 3:, j] = sos[:, :3], sos[:, 4:]
        before, after[j] = 2 * x[0, j] - x[pad:0:-1, j], 2 * x[-1, j] - x[-2:-pad - 2:-1, j]
        starts[j] = signal.sosfilt_zi(sos)
        states[:, :, j] = signal.sosfilt(sos, before, zi=starts[j] * before[0])[1]
    advance = _advance()
    for rows in walk(len(x), x, out):
        open_to_writing(out[rows])
        advance(sections, readonly_view(x[rows]), states, 1, out[rows])
    for j, sos, _ in used:
        behind = signal.sosfilt(sos, after[j], zi=states[:, :, j])[0]
        states[:, :, j] = signal.sosfilt(sos, behind[::-1], zi=starts[j] * behind[-1])[1]
    for rows in reversed(blocks(len(x))):
        open_to_writing(out[rows])
        advance(sections, readonly_view(out[rows]), states, -1, out[rows])
        release(out)


def _advance() -> Callable[[Array, Array, Array, int, Array], None]:
    """Return what filters rows into others and brings the states on: compiled, or SciPy's."""
    if default_backend() != 'numba':
        return _advance_columns
    from robot_identification.signals.filter_kernels import filter_rows
    return filter_rows


def _advance_columns(sections: Array, x: Array, states: Array, step: int, out: Array) -> None:
    """Filter rows as `filter_kernels.filter_rows` does."""
    for j in range(x.shape[1]):
        b, a = sections[:, :3, j], sections[:, 3:, j]
        sos = np.column_stack([b, np.ones(len(b)), a])
        part, states[:, :, j] = signal.sosfilt(sos, x[::step, j], zi=states[:, :, j])
        out[::step, j] = part


def smooth_five_point(x: ArrayLike, passes: int = 1) -> Array:
    """
    Smooth the columns with the five-point cubic, end formulas included, several times.

    Parameters
    ----------
    x
        (N, c) at a uniform rate, N at least 5.
    passes
        How often; the gain of one pass at w radians a sample is (17 + 24 cos w - 6 cos 2w) / 35.

    Raises
    ------
    SignalError
        Fewer than five samples.

    References
    ----------
    Ding, Li et al., improved cuckoo search for the ER-16, equation (15).

    """
    y = np.array(x, dtype=float)
    if len(y) < 5:
        raise SignalError(f'five-point smoothing needs 5 samples, not {len(y)}')
    for _ in range(passes):
        z = y
        y = np.empty_like(z)
        y[2:-2] = (-3 * (z[:-4] + z[4:]) + 12 * (z[1:-3] + z[3:-1]) + 17 * z[2:-2]) / 35
        for end, (z1, z2, z3, z4, z5) in ((0, z[:5]), (-1, z[:-6:-1])):
            y[end] = (69 * z1 + 4 * (z2 + z4) - 6 * z3 - z5) / 70
            y[1 if end == 0 else -2] = (2 * (z1 + z5) + 27 * z2 + 12 * z3 - 8 * z4) / 35
    return y


def smoothing_passes(cutoff: float, rate: float) -> int:
    """Return how many passes of `smooth_five_point` bring the gain at `cutoff` [Hz] to 1/2."""
    w = 2 * np.pi * cutoff / rate
    gain = abs(17 + 24 * np.cos(w) - 6 * np.cos(2 * w)) / 35
    return max(1, int(np.ceil(np.log(0.5) / np.log(gain)))) if gain > 0 else 1


def central_differences(x: ArrayLike, rate: float) -> tuple[Array, Array]:
    """
    Return first and second derivatives by central differences of eighth order.

    With w = 2 pi f / rate the error relative to the derivative is w^8 / 630 for the first and
    w^8 / 3150 for the second: 2e-6 for 7 Hz at 94 Hz, 1 % only at a fifth of the rate, where the
    three-point difference is off by a quarter.

    Parameters
    ----------
    x
        (N, c) at a uniform rate.
    rate
        [Hz]

    Returns
    -------
    first, second
        (N - 8, c): four samples at each end have no central difference.

    Raises
    ------
    SignalError
        Fewer than nine samples.

    """
    x = np.asarray(x, dtype=float)
    if len(x) <= 2 * STENCIL_HALF:
        raise SignalError(
            f'central differences need {2 * STENCIL_HALF + 1} samples, not {len(x)}')
    shape = (len(x) - 2 * STENCIL_HALF, *x.shape[1:])
    first, second = scratch_array(shape), scratch_array(shape)
    compiled = default_backend() == 'numba'
    if compiled:
        from robot_identification.signals.filter_kernels import difference_rows
    for many in walk(len(first), x, first, second):
        for begin in range(many.start, many.stop, _BLOCK):    # what is at work stays in the cache
            end = min(begin + _BLOCK, many.stop)
            near = x[begin:end + 2 * STENCIL_HALF]
            if compiled:
                difference_rows(readonly_view(near), _FIRST, _SECOND, rate, first[begin:end],
                                second[begin:end])
                continue
            for whole, stencil, scale in ((first, _FIRST, rate), (second, _SECOND, rate ** 2)):
                out = np.zeros((end - begin, *shape[1:]))
                for k, c in enumerate(stencil):
                    if c:
                        out += c * near[k:k + len(out)]
                np.multiply(out, scale, out=whole[begin:end])
    return first, second
