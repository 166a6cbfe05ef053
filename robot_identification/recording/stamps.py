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
"""Checks of the stamps of a recording: order, repetitions, gaps and unit."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.errors import RecordingError

SHORTEST = 10  # samples
GAP_STEPS = 4.0  # median steps; a longer step is a gap
JUMP = 100  # steps; a stamp that is later belongs to another recording
_OVERLAP = 5  # samples that interleave across a backward step; with more the clock was set back
DISORDER = 0.05  # largest fraction of late or repeated stamps
FASTEST = 50e3  # [Hz] highest rate of a recording; the lowest, 5 Hz, is in UNITS
# unit, median step from which stamps have it (20 kHz to 5 Hz each), and units per second
UNITS = (('nanoseconds', 5e4, 1e9), ('microseconds', 50.0, 1e6), ('milliseconds', 0.2, 1e3))

SHORT = {'nanoseconds': 'ns', 'microseconds': 'us', 'milliseconds': 'ms'}


def ordered(t: Array, label: str) -> tuple[IndexArray | slice, int, int]:
    """
    Return the rows to keep, in the order of time, and the counts of late and repeated stamps.

    Middleware delivers a few messages late or twice: the former are sorted, the latter dropped. A
    recording with more than a fraction `DISORDER` of either is refused.

    Parameters
    ----------
    t
        Stamps, (N,).
    label
        Name of the recording in error messages.

    Returns
    -------
    tuple
        Rows (M,) or, where nothing was wrong, a slice of all; the number of stamps that were out
        of order, and of those that were there repeated.

    Raises
    ------
    RecordingError
        Too few stamps, not seconds, or too much disorder.

    """
    if len(t) < SHORTEST:
        raise RecordingError(f'{label} has {len(t)} samples, at least {SHORTEST} are needed; '
                             f'record a whole motion')
    steps = np.diff(t)
    if np.min(steps) > 0:
        _check_unit(float(np.median(steps)), label)
        return slice(None), 0, 0
    late, forward = int(np.count_nonzero(steps < 0)), steps[steps > 0]
    step = float(np.median(forward)) if len(forward) else 0.0
    if late > DISORDER * len(t) or np.any(steps < -JUMP * max(step, 1e-12)) or (
            _overlap(t) > _OVERLAP):
        first = int(np.argmin(steps))
        raise RecordingError(
            f'{label}: {late} of its stamps go backwards, the worst by {-steps[first]:g} s after '
            f'sample {first}; it seems to hold several recordings or a clock that was set: split '
            f'it there, or use the stamps of the sender')
    rows = np.argsort(t, kind='stable') if late else np.arange(len(t))
    repeated = np.concatenate([[False], np.diff(t[rows]) == 0])
    copies = int(np.count_nonzero(repeated))
    if copies > DISORDER * len(t):
        raise RecordingError(
            f'{label}: {copies} of {len(t)} stamps repeat the one before; the clock of the stamps '
            'is '
            f'coarser than the recording: write stamps with all their digits, or leave repeated '
            f'messages out')
    rows = rows[~repeated]
    _check_unit(float(np.median(np.diff(t[rows]))), label)
    return rows, late, copies


def gaps(t: Array) -> tuple[tuple[float, float], ...]:
    """
    Return the gaps: the stamp before each and its length, both [s].

    Parameters
    ----------
    t
        Increasing stamps, (N,) [s].

    """
    steps = np.diff(t)
    longest = GAP_STEPS * float(np.median(steps))
    wide = np.flatnonzero(steps > longest)
    return tuple((float(t[k]), float(steps[k])) for k in wide)


def _overlap(t: Array) -> int:
    """
    Return the largest number of samples that interleave across a backward step of the clock.

    A late message, or a single stamp in the future, interleaves with one sample. A clock that was
    set back interleaves long stretches, which must not be sorted.
    """
    worst = 0
    for k in np.flatnonzero(np.diff(t) < 0):
        before, behind = t[max(0, k - JUMP):k + 1], t[k + 1:k + 2 + JUMP]
        late = behind < before.max()
        run = len(late) if late.all() else int(np.argmin(late))
        worst = max(worst, min(int(np.sum(before > behind[0])), run))
    return worst


def _check_unit(step: float, label: str) -> None:
    for unit, threshold, factor in UNITS:
        if step >= threshold:
            raise RecordingError(
                f'{label}: the median step of its stamps is {step:g}, which cannot be seconds '
                f'({1 / step:.3g} samples a second); if they are {unit} ({factor / step:.4g} Hz), '
                f'divide them by {factor:g}, or say so in the robot YAML: `recording: {{units: '
                f'{{t: {SHORT[unit]}}}}}`')
    if step < 1 / FASTEST:
        raise RecordingError(
            f'{label}: the median step of its stamps is {step:g} s, that is {1 / step:.3g} '
            'samples a '
            f'second, more than the {FASTEST:g} that an arm is recorded with; stamps must be in '
            f'seconds')
