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

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import Array, column_range
from robot_identification.validation.checks import check

_FRACTION = 0.002
"""Fraction of the samples on a plateau without alarm; a peak of a smooth torque has far fewer."""
_FEWEST = 8
_HEIGHT = 2e-4
"""Height of a plateau over the range of the effort."""
_BAND = 16
"""Height of the band around a plateau, in heights of the plateau. At the peak of a parabola, the
band contains four times as many samples as the plateau."""
_PILED = 0.6
"""Fraction of the samples in the band that must lie on the plateau."""
_MOVING = 0.05
"""Fraction of the highest speed below which a joint may rest at a constant effort."""


def measure_saturation(data: check.CheckInput) -> check.Measurement:
    """Find the joint that spends the largest fraction of the motion at an extreme effort."""
    recording, effort = check.require(data.recording), data.recorded_effort
    fractions = _plateau_fractions(effort[1:-1], _moving(recording.t, recording.q))
    j = int(np.argmax(fractions))
    joint = recording.joint_names[j]
    return check.Measurement(
        fractions[j], _FRACTION, '-',
        f'the effort of {joint} is at a plateau for {fractions[j]:.1%} of the motion',
        '; the true torque beyond the plateau is unknown and the fit is biased: run the motion '
        'slower, or raise the limit of the drive or the range of the sensor', joint)


def _moving(t: Array, q: Array) -> NDArray[np.bool_]:
    """Return the samples at which some joint moves, first and last sample left out, (N - 2,)."""
    speed = np.abs((q[2:] - q[:-2]) / (t[2:, None] - t[:-2, None]))
    return np.asarray(np.any(speed > _MOVING * column_range(speed)[1], axis=1))


def _plateau_fractions(effort: Array, moving: NDArray[np.bool_]) -> Array:
    """Return the fraction of the moving samples on a plateau at either extreme, (n,)."""
    if not np.all(moving):
        effort = effort[moving]
    if len(effort) < 4 * _FEWEST:
        return np.zeros(effort.shape[1])
    lowest, highest = column_range(effort)
    span = highest - lowest
    height = _HEIGHT * span
    for j in np.flatnonzero(span > 0):
        # half the step of a coarsely quantised effort; otherwise that step is far smaller
        height[j] = max(height[j], 0.5 * float(np.median(np.diff(np.unique(effort[:, j])))))
    fractions, band = np.zeros(len(span)), _BAND * height
    for extreme in (highest, lowest):
        depth = np.abs(effort - extreme)
        on, near = (np.sum(depth <= limit, axis=0) for limit in (height, band))
        flat = (on >= _FEWEST) & (on > _PILED * near) & (span > 0)
        fractions += np.where(flat, on / len(effort), 0.0)
    return fractions


CHECK = check.Check(
    'saturation', 'Does the effort stay at its largest value?',
    f'more than {_FRACTION:.1%} of the motion at one extreme value, with {_PILED:.0%} of the '
    'samples near it; a smooth peak has a quarter', check.RECORDINGS, measure_saturation)
