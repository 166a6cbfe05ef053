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
from robot_identification.arm.recording_block import UNITS
from robot_identification.arrays import Array, IndexArray
from robot_identification.errors import RecordingError

SHORTEST = 10  # samples
GAP_STEPS = 4.0  # median steps; a longer step is a gap
SAME = 1e-9  # [s] stamps that differ less count as equal
JUMP = 100  # [steps] maximum delay of a late stamp; a larger one means another recording
_OVERLAP = 5  # maximum of `_overlap` for late stamps; above it the clock was set back
DISORDER = 0.05  # largest fraction of late or repeated stamps
FASTEST = 50e3  # [Hz] highest rate of a recording
# unit, and smallest median step that is taken for it: in seconds, 0.2 would be 5 Hz or less
LIKELY_UNITS = (('ns', 5e4), ('us', 50.0), ('ms', 0.2))


def order_stamps(t: Array, label: str) -> tuple[IndexArray | slice, int, int]:
    """
    Return the rows to keep in order of time, and the numbers of late and of repeated stamps.

    Middleware may deliver messages late or twice. Late samples are sorted, repeated ones dropped.
    A recording in which the fraction of either exceeds `DISORDER` is refused.

    Parameters
    ----------
    t
        Stamps, (N,).
    label
        Name of the recording in error messages.

    Returns
    -------
    tuple
        The rows to keep, (M,), or a slice of all rows if the stamps increase; the number of late
        stamps; the number of repeated stamps.

    Raises
    ------
    RecordingError
        There are too few stamps, too many are late or repeated, or they are not in seconds.

    """
    if len(t) < SHORTEST:
        raise RecordingError(f'{label} has {len(t)} samples; at least {SHORTEST} are needed; '
                             'record a complete motion')
    steps = np.diff(t)
    if np.min(steps) > SAME:
        _check_unit(float(np.median(steps)), label)
        return slice(None), 0, 0
    late, forward = int(np.count_nonzero(steps < 0)), steps[steps > 0]
    step = float(np.median(forward)) if len(forward) else 0.0
    if late > DISORDER * len(t) or np.any(steps < -JUMP * max(step, 1e-12)) or (
            _overlap(t) > _OVERLAP):
        first = int(np.argmin(steps))
        raise RecordingError(
            f'{label}: {late} of its stamps go backwards, the worst by {-steps[first]:g} s after '
            f'sample {first}; it contains several recordings, or the clock was set: split '
            f'it there, or use the stamps of the sender')
    rows = np.argsort(t, kind='stable')
    rows = rows[np.diff(t[rows], prepend=-np.inf) > SAME]
    copies = len(t) - len(rows)
    if copies > DISORDER * len(t):
        raise RecordingError(
            f'{label}: {copies} of {len(t)} stamps repeat the one before; the clock of the stamps '
            'is coarser than the recording: write stamps with all their digits, or leave repeated '
            'messages out')
    _check_unit(float(np.median(np.diff(t[rows]))), label)
    return rows, late, copies


def _overlap(t: Array) -> int:
    """
    Return how many samples before and after a backward step of the stamps interleave at most.

    At a backward step, some stamps before it are larger than the next one, and some after it are
    smaller than the largest so far. The smaller of these two counts is 1 for a late message or a
    single stamp in the future. It is large if the clock was set back; sorting would then mix two
    motions.
    """
    worst = 0
    for k in np.flatnonzero(np.diff(t) < 0):
        before, behind = t[max(0, k - JUMP):k + 1], t[k + 1:k + 2 + JUMP]
        late = behind < before.max()
        run = len(late) if late.all() else int(np.argmin(late))
        worst = max(worst, min(int(np.sum(before > behind[0])), run))
    return worst


def _check_unit(step: float, label: str) -> None:
    """Raise an error if the median step of the stamps cannot be in seconds."""
    for unit, threshold in LIKELY_UNITS:
        if step >= threshold:
            raise RecordingError(
                f'{label}: the median step of its stamps is {step:g}, which cannot be seconds '
                f'({1 / step:.3g} samples a second); if they are in {unit} '
                f'({1 / (step * UNITS["t"][unit]):.4g} Hz), set '
                f'`recording: {{units: {{t: {unit}}}}}` in the robot YAML, or convert them')
    if step < 1 / FASTEST:
        raise RecordingError(
            f'{label}: the median step of its stamps is {step:g} s, that is {1 / step:.3g} '
            f'samples a second; more than {FASTEST:g} are implausible, and stamps '
            'must be in seconds')
