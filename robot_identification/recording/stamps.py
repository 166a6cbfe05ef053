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

from collections.abc import Mapping

import numpy as np
from robot_identification.arm.robot_keys import UNITS
from robot_identification.arrays import Array, IndexArray
from robot_identification.errors import RecordingError

SHORTEST = 10  # samples
GAP_STEPS = 4.0  # median steps; a longer step is a gap
SAME = 1e-9  # [s] stamps that differ less count as equal
JUMP = 100  # [steps] maximum delay of a late stamp; a larger one means another recording
_OVERLAP = 5  # maximum of `_overlap` for late stamps; above it the clock was set back
MAX_OFF_GRID = 0.05  # [steps] largest deviation of a stamp from a grid, of cycles from a number
DISORDER = 0.05  # largest fraction of late or repeated stamps
FASTEST = 50e3  # [Hz] highest rate of a recording
# unit, and smallest median step that is taken for it: in seconds, 0.2 would be 5 Hz or less
LIKELY_UNITS = (('ns', 5e4), ('us', 50.0), ('ms', 0.2))


def order_stamps(t: Array, signals: Mapping[str, Array], label: str,
                 ) -> tuple[IndexArray | slice, Array, int, int, tuple[str, ...]]:
    """
    Return the rows to keep in order of time, and their strictly increasing stamps.

    Middleware may deliver messages late or twice. Late samples are sorted, repeated ones dropped.
    A recording in which the fraction of either exceeds `DISORDER` is refused. Repeated stamps of
    different samples are moved if they are those of a clock that races, see `_spread_stamps`.

    Parameters
    ----------
    t
        Stamps, (N,).
    signals
        The recorded signals by name, (N, n) each.
    label
        Name of the recording in messages.

    Returns
    -------
    tuple
        The rows to keep, (M,), or a slice of all rows if the stamps increase; their stamps, (M,);
        the number of late samples; the number of repeated samples; a remark if stamps were moved.

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
        return slice(None), t, 0, 0, ()
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
    again = np.flatnonzero(np.diff(t[rows]) <= SAME) + 1
    problem = f'{label}: {len(again)} of {len(t)} stamps repeat the one before'
    changed = any(np.any(x[rows[again]] != x[rows[again - 1]]) for x in signals.values())
    moved = _spread_stamps(t[rows], signals, rows) if changed else None
    if moved is not None:
        remark = (f'{problem} with other values: the sender (in Gazebo, the controller manager) '
                  'took them from a clock that races with its cycles. They were moved by up to '
                  f'{np.max(moved - t[rows]):.3g} s, so that all samples are one cycle apart')
        return rows, moved, late, 0, (remark,)
    if len(again) > DISORDER * len(t):
        raise RecordingError(problem + (
            ' with other values; the clock of the stamps is coarser than the recording, or that '
            'of the controller manager (/clock of a simulation) stood still: write stamps with '
            'all digits, or slow the simulation down (real_time_factor); do not drop samples'
            if changed else ' with the same values; record the topic once'))
    rows = np.delete(rows, again)
    _check_unit(float(np.median(np.diff(t[rows]))), label)
    return rows, t[rows], late, len(again), ()


def _spread_stamps(t: Array, signals: Mapping[str, Array], rows: IndexArray) -> Array | None:
    """
    Return stamps T[k] = max(T[k-1] + n[k] step, t[k]), (N,) [s]; None unless a clock raced.

    In Gazebo, a controller manager stamps its cycles with the last message on /clock. Such stamps
    are whole numbers of simulation steps. They are late by a few steps, so a repeated stamp is
    followed by a longer step, and the mean step is the cycle. Surplus messages, and stamps rounded
    to more than a cycle do not have this property. A publisher skips cycles on a busy computer:
    n[k] is 1, or the number of cycles that positions and velocities show.

    Parameters
    ----------
    t
        Stamps in increasing order, (N,) [s].
    signals
        The recorded signals by name, (M, n) each.
    rows
        Rows of the signals that belong to the stamps, (N,).

    """
    steps, window = np.diff(t), min(JUMP, len(t) // 2)
    grid = float(np.min(steps[steps > SAME], initial=np.inf))
    step = grid * round(float(np.median(t[window:] - t[:-window])) / window / grid)
    if step <= 0 or np.any(np.abs(steps / grid - np.round(steps / grid)) > MAX_OFF_GRID):
        return None
    ramp = np.append(0.0, np.cumsum(_count_cycles(signals, rows, step))) * step
    moved = np.maximum.accumulate(t - ramp) + ramp
    # at the end, less than half of what repeated stamps lost
    racing = moved[-1] - t[-1] <= step * np.sum(steps <= SAME) / 2
    return moved if racing and np.all(moved - t <= JUMP * step) else None


def _count_cycles(signals: Mapping[str, Array], rows: IndexArray, step: float) -> Array:
    """
    Return the numbers of cycles between samples, (N - 1,), as positions and velocities show them.

    In a simulation, a position advances in each cycle by the velocity at its end times the step.
    With n cycles of constant acceleration between the samples i and i + 1,

        q[i+1] - q[i] = (n (v[i] + v[i+1]) / 2 + (v[i+1] - v[i]) / 2) step,

    so n, in the direction of the mean velocity, is nearly a whole number. If it seldom is, the
    signals are measured, and all numbers are 1.
    """
    cycles = np.ones(len(rows) - 1)
    if {'q', 'v'} <= signals.keys():
        q, v = (signals[name][rows] for name in 'qv')
        mean = (v[1:] + v[:-1]) / 2
        power = np.maximum(np.sum(mean ** 2, axis=1), 1e-20)    # [(rad/s)^2] of rounding errors
        count = np.sum((np.diff(q, axis=0) / step - np.diff(v, axis=0) / 2) * mean, axis=1) / power
        whole = np.abs(count - np.round(count)) <= MAX_OFF_GRID * np.clip(count, 1, 5)
        if np.sum(whole) >= (1 - DISORDER) * len(whole):
            cycles[whole] = np.clip(np.round(count[whole]), 1, JUMP)
    return cycles


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
        run = int(np.argmin(np.append(behind < before.max(), False)))
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
