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
"""Positions of hobby arms that are percentages of a calibrated range, -100 to 100."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array

_FULL = 100.5    # [%] largest magnitude, with a margin for rounding
_COUNTS = 4096    # encoder counts per turn, of Feetech's STS and Dynamixel's X series
_SAME = 0.01    # tolerance of log2 of the ratio of equal steps
_MIN_VALUES = 20    # distinct values from which a step is estimated
_NOISE = 1e-3    # differences below are rounding errors of single precision
_TELEOPERATION = {'observation', 'action', 'leader', 'follower'}


class ServoRange(NamedTuple):
    """
    The scale of positions that are percentages of a calibrated range, or may be.

    Parameters
    ----------
    factors
        Radians per unit, by joint; None if the positions may also be degrees.
    note
        The conclusion for the user, with its uncertainty.

    """

    factors: dict[str, float] | None
    note: str


def servo_range(q: Array, arm: Arm, words: Sequence[str]) -> ServoRange | None:
    """
    Return the scale of positions that look like degrees, None if they are degrees.

    LeRobot writes degrees if configured so, else percentages of the calibrated range. Encoders
    count in equal steps. In degrees all joints have the same step; in percentages the step depends
    on the range, which is computed from it.

    Parameters
    ----------
    q
        Positions as recorded, (N, n).
    arm
        The arm; its limits replace the range of a joint without a visible step.
    words
        Words in the names of the columns, commands included.

    """
    if 'deg' in words or 'degrees' in words or not np.nanmax(np.abs(q), initial=0.0) <= _FULL:
        return None
    steps = np.array([_step(column) for column in q.T])
    seen = steps[np.isfinite(steps)]
    if len(seen) > 1:
        ratio = np.log2(seen / seen[0])
        if np.any(np.abs(ratio - np.round(ratio)) > _SAME):
            return _range_scale(steps, arm)
    if (len(seen) and np.all(_near_power(360 / seen))) or not _TELEOPERATION & set(words):
        return None
    return ServoRange(None, 'positions are taken for degrees; LeRobot writes parts of the '
                      'calibrated range (-100 to 100) where `use_degrees` is not set, and these '
                      'values could be either. If they are parts, give the radians of one part '
                      'of each joint: `units: {q: {JOINT: 0.02, ...}}`')


def _range_scale(steps: Array, arm: Arm) -> ServoRange:
    middle = np.minimum((arm.limits.upper - arm.limits.lower) / 2, np.pi) / 100
    factors = np.where(np.isfinite(steps), 2 * np.pi / _COUNTS / steps, middle)
    guessed = [name for name, step in zip(arm.joint_names, steps) if not np.isfinite(step)]
    return ServoRange(
        dict(zip(arm.joint_names, (float(f'{x:.5g}') for x in factors))),
        'positions are no angles but parts of calibrated ranges (-100 to 100), for their steps '
        f'differ from joint to joint; radians are those of an encoder with {_COUNTS} counts a turn'
        + (f' (of {", ".join(guessed)}: of the range in the URDF)' if guessed else '')
        + '. Zero is the middle of each calibrated range: where the zero of the URDF is another, '
        'give `position: {offset: {JOINT: RADIANS}}`')


def _near_power(counts: Array) -> Array:
    """Return whether counts per turn are a power of two, within the tolerance."""
    bits = np.log2(counts)
    return np.asarray(np.abs(bits - np.round(bits)) < _SAME)


def _step(values: Array) -> float:
    """Return the quantisation step of the values of a column, NaN if there is none."""
    apart = np.diff(np.unique(values[np.isfinite(values)]))
    apart = apart[apart > _NOISE]
    if len(apart) < _MIN_VALUES:
        return float('nan')
    step = float(np.min(apart))
    for multiple in (8, 64):    # refine: over many steps a small error of the step adds up
        near = apart[apart < multiple * step]
        step = float(np.sum(near) / np.sum(np.round(near / step)))
    residuals = np.abs(near - step * np.round(near / step))
    return step if np.mean(residuals) < 0.05 * step else float('nan')
