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
"""Detection of hobby-servo positions in percent of a calibrated range, -100 to 100."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array

_FULL = 100.5    # [%] largest percentage, with a margin for rounding
_COUNTS = 4096    # encoder counts per turn: Feetech STS and Dynamixel X series
_SAME = 0.01    # tolerance of log2 of the ratio of two equal steps
_MIN_VALUES = 20    # minimum number of distinct values to estimate a step
_NOISE = 1e-3    # smaller differences are rounding errors of single precision
_TELEOPERATION = {'observation', 'action', 'leader', 'follower'}


def servo_range(q: Array, arm: Arm, name_words: Sequence[str]
                ) -> tuple[dict[str, float] | None, str]:
    """
    Return the scale of positions that are either degrees or percentages of a calibrated range.

    LeRobot writes percentages unless it is configured to write degrees. The encoder counts of all
    joints are equal angles. In degrees, all joints therefore have the same quantisation step. In
    percentages, the step differs between the joints, and the calibrated range of a joint follows
    from its step.

    Parameters
    ----------
    q
        Positions as recorded, (N, n).
    arm
        The arm. Its limits are the range of a joint whose step cannot be estimated.
    name_words
        Words in the names of the position and command columns.

    Returns
    -------
    tuple
        Radians per percent by joint, or None if the positions are degrees or undecided; and a note
        for the user on the conclusion, '' for degrees.

    """
    if {'deg', 'degrees'} & set(name_words) or not np.nanmax(np.abs(q), initial=0.0) <= _FULL:
        return None, ''
    steps = np.array([_step(column) for column in q.T])
    visible = steps[np.isfinite(steps)]
    if not np.all(_near_power(visible / visible[:1])):
        middle = np.minimum((arm.limits.upper - arm.limits.lower) / 2, np.pi) / 100
        factors = np.where(np.isfinite(steps), 2 * np.pi / _COUNTS / steps, middle)
        guessed = [name for name, step in zip(arm.joint_names, steps) if not np.isfinite(step)]
        return dict(zip(arm.joint_names, (float(f'{x:.5g}') for x in factors))), (
            'positions are not angles but percentages of calibrated ranges (-100 to 100), because '
            'their steps differ between the joints; radians per percent are computed for an '
            f'encoder with {_COUNTS} counts per turn'
            + (f' (for {", ".join(guessed)}: from the range in the URDF)' if guessed else '')
            + '. Zero is the middle of each calibrated range: if the URDF has another zero, give '
            '`position: {offset: {JOINT: RADIANS}}`')
    counted = len(visible) and np.all(_near_power(360 / visible))
    if counted or not _TELEOPERATION & set(name_words):
        return None, ''
    return None, (
        'positions are read as degrees, but could be either: without `use_degrees`, LeRobot '
        'writes percentages of the calibrated range (-100 to 100). If they are percentages, give '
        'the radians per percent of each joint: `units: {q: {JOINT: 0.02, ...}}`')


def _near_power(ratios: Array) -> Array:
    """Return a mask of the ratios that are powers of two, within a tolerance."""
    bits = np.log2(ratios)
    return np.asarray(np.abs(bits - np.round(bits)) < _SAME)


def _step(values: Array) -> float:
    """Return the quantisation step of the values of a column; NaN if none is found."""
    apart = np.diff(np.unique(values[np.isfinite(values)]))
    apart = apart[apart > _NOISE]
    if len(apart) < _MIN_VALUES:
        return float('nan')
    step = float(np.min(apart))
    for multiple in (8, 64):    # refine: larger differences determine the step better
        near = apart[apart < multiple * step]
        step = float(np.sum(near) / np.sum(np.round(near / step)))
    residuals = np.abs(near - step * np.round(near / step))
    return step if np.mean(residuals) < 0.05 * step else float('nan')
