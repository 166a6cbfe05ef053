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
"""Positions of hobby arms that are no angles: parts of a calibrated range, -100 to 100."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array

_FULL = 100.5    # to which parts of a range go, with a reserve
_COUNTS = 4096    # in a turn of the encoders of Feetech's STS and Dynamixel's X series
_SAME = 0.01    # relative difference of steps that are the same
_FEWEST, _NOISE = 20, 1e-3    # distinct values that show a step, and what single precision leaves
_TELEOPERATION = {'observation', 'action', 'leader', 'follower'}


class ServoRange(NamedTuple):
    """
    What positions of a teleoperation log may be besides degrees.

    Parameters
    ----------
    factors
        From the values to radians, by joint; None where they may be degrees.
    note
        What was concluded, and what cannot be known.

    """

    factors: dict[str, float] | None
    note: str


def servo_range(q: Array, arm: Arm, words: Sequence[str]) -> ServoRange | None:
    """
    Return what else positions may be that look like degrees, None where they are degrees.

    LeRobot writes degrees where it was told to, else parts of the range that was calibrated. An
    encoder counts in equal steps: they are the same for all joints in degrees, and differ with
    the ranges otherwise, which also tells how large these are.

    Parameters
    ----------
    q
        Positions as recorded, (N, n).
    arm
        The arm; its limits stand in for ranges that no step tells.
    words
        What the names of the columns are made of, commands included.

    """
    if 'deg' in words or 'degrees' in words or not np.nanmax(np.abs(q), initial=0.0) <= _FULL:
        return None
    steps = np.array([_step(column) for column in q.T])
    seen = steps[np.isfinite(steps)]
    if len(seen) > 1:
        ratio = np.log2(seen / seen[0])
        if np.any(np.abs(ratio - np.round(ratio)) > _SAME):
            return _parts(steps, arm)
    if (len(seen) and np.all(_near_power(360 / seen))) or not _TELEOPERATION & set(words):
        return None
    return ServoRange(None, 'positions are taken for degrees; LeRobot writes parts of the '
                      'calibrated range (-100 to 100) where `use_degrees` is not set, and these '
                      'values could be either. If they are parts, give the radians of one part '
                      'of each joint: `units: {q: {JOINT: 0.02, ...}}`')


def _parts(steps: Array, arm: Arm) -> ServoRange:
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
    """Return whether numbers of counts are those of encoders: powers of two, or one less."""
    whole = np.log2(counts)
    return np.asarray(np.abs(whole - np.round(whole)) < _SAME)


def _step(values: Array) -> float:
    """Return the step in which the values of a column count, NaN where there is none."""
    apart = np.diff(np.unique(values[np.isfinite(values)]))
    apart = apart[apart > _NOISE]
    if len(apart) < _FEWEST:
        return float('nan')
    step = float(np.min(apart))
    for far in (8, 64):    # times the step: a small error of it adds up over many
        near = apart[apart < far * step]
        step = float(np.sum(near) / np.sum(np.round(near / step)))
    left = np.abs(near - step * np.round(near / step))
    return step if np.mean(left) < 0.05 * step else float('nan')
