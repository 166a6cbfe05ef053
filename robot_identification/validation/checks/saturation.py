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
"""Plateaus of the effort: a drive at its limit, or a clipped signal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array
from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.finding import Finding

_NAME = 'saturation'
_FRACTION = 0.002
"""Fraction of the samples on a plateau without alarm; a peak of a smooth torque has far fewer."""
_FEWEST = 8
_HEIGHT = 2e-4
"""Height of a plateau over the range of the effort."""
_ENOUGH = 4 * round(1 / _HEIGHT)
"""Number of samples that shows whether the effort is coarser than that."""
_BAND = 16
"""Height of the band that a plateau is compared with, in heights of the plateau: below the peak of
a parabola it has four times as many samples as the top."""
_PILED = 0.6
"""Fraction of the samples of the band that lie on the plateau."""
_MOVING = 0.05
"""Speed over the highest, below which a joint may rest at a constant effort."""


def check_saturation(data: CheckInput) -> Finding | None:
    """Find the joint that spends the largest fraction of the motion at an extreme effort."""
    recording, effort = data.recording, data.recorded_effort
    if recording is None or effort is None:
        return None
    fractions = _plateau_fractions(effort[1:-1], _moving(recording.t, recording.q))
    j = int(np.argmax(fractions))
    joint, alarm = recording.joint_names[j], bool(fractions[j] > _FRACTION)
    text = f'the effort of {joint} is at a plateau for {fractions[j]:.1%} of the motion'
    if alarm:
        text += ('; the true torque beyond the plateau is unknown and the fit is biased: run the '
                 'motion slower, or raise the limit of the drive or the range of the sensor')
    return Finding(_NAME, data.name, float(fractions[j]), _FRACTION, '-', alarm, text, joint)


def _moving(t: Array, q: Array) -> NDArray[np.bool_]:
    """Return the samples at which some joint moves, first and last sample left out, (N - 2,)."""
    speed = np.abs(q[2:] - q[:-2]) / (t[2:, None] - t[:-2, None])
    return np.asarray(np.any(speed > _MOVING * speed.max(axis=0), axis=1))


def _plateau_fractions(effort: Array, moving: NDArray[np.bool_]) -> Array:
    """Return the fraction of the moving samples on a plateau at either extreme, (n,)."""
    effort = effort[moving]
    if len(effort) < 4 * _FEWEST:
        return np.zeros(effort.shape[1])
    lowest, highest = effort.min(axis=0), effort.max(axis=0)
    span = highest - lowest
    height = _HEIGHT * span
    for j in np.flatnonzero(span > 0):
        # half the median step between m values is less than span / (m - 1): few need all sorted
        if len(np.unique(effort[:_ENOUGH, j])) <= 1 + 1 / _HEIGHT:
            height[j] = max(height[j], 0.5 * float(np.median(np.diff(np.unique(effort[:, j])))))
    fractions = np.zeros(len(span))
    for depth in (highest - effort, effort - lowest):
        on = np.count_nonzero(depth <= height, axis=0)
        near = np.count_nonzero(depth <= _BAND * height, axis=0)
        flat = (on >= _FEWEST) & (on > _PILED * near) & (span > 0)
        fractions += np.where(flat, on / len(effort), 0.0)
    return fractions


CHECK = Check(
    _NAME, 'Does the effort stay at its largest value?',
    f'more than {_FRACTION:.1%} of the motion at one extreme value, with {_PILED:.0%} of the '
    'samples near it; a smooth peak has a quarter', RECORDINGS, check_saturation)
