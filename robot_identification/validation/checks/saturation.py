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
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS

NAME = 'saturation'
SHARE = 0.002
"""Part of the samples that lie on a plateau; a peak of a smooth torque has far fewer."""
FEWEST = 8
FLAT = 2e-4
"""Height of a plateau over the range of the effort."""
ENOUGH = 4 * round(1 / FLAT)
"""Samples that show whether the effort is coarser than that."""
NEIGHBOURS = 16
"""The band under the plateau that it is compared with, in heights: under the peak of a parabola
there are four times as many samples as on it."""
PILED = 0.6
"""Part of the samples of the band that lie on the plateau."""
MOVING = 0.05
"""Speed over the highest, below which a joint may rest at a constant effort."""


def find(case: Case) -> Finding | None:
    """Name the joint that is longest at its largest or smallest effort."""
    recording, effort = case.recording, case.recorded_effort
    if recording is None or effort is None:
        return None
    shares = _plateaus(effort[1:-1], _moving(recording.t, recording.q))
    j = int(np.argmax(shares))
    joint, alarm = recording.joint_names[j], bool(shares[j] > SHARE)
    text = f'the effort of {joint} is at a plateau for {shares[j]:.1%} of the motion'
    if alarm:
        text += ('; beyond it the torque is not known, and the fit is biased: run the motion '
                 'slower, or raise the limit of the drive or the range of the measurement')
    return Finding(NAME, case.name, float(shares[j]), SHARE, '-', alarm, text, joint)


def _moving(t: Array, q: Array) -> NDArray[np.bool_]:
    """Return at which samples some joint moves, the first and the last left out, (N - 2,)."""
    speed = np.abs(q[2:] - q[:-2]) / (t[2:, None] - t[:-2, None])
    return np.asarray(np.any(speed > MOVING * speed.max(axis=0), axis=1))


def _plateaus(effort: Array, moving: NDArray[np.bool_]) -> Array:
    """Return the fraction of the moving samples that lie on a plateau at either end, (n,)."""
    effort = effort[moving]
    if len(effort) < 4 * FEWEST:
        return np.zeros(effort.shape[1])
    lowest, highest = effort.min(axis=0), effort.max(axis=0)
    span = highest - lowest
    height = FLAT * span
    for j in np.flatnonzero(span > 0):
        # half the median step between m values is less than span / (m - 1): few need all be sorted
        if len(np.unique(effort[:ENOUGH, j])) <= 1 + 1 / FLAT:
            height[j] = max(height[j], 0.5 * float(np.median(np.diff(np.unique(effort[:, j])))))
    fraction = np.zeros(len(span))
    for depth in (highest - effort, effort - lowest):
        on = np.count_nonzero(depth <= height, axis=0)
        near = np.count_nonzero(depth <= NEIGHBOURS * height, axis=0)
        flat = (on >= FEWEST) & (on > PILED * near) & (span > 0)
        fraction += np.where(flat, on / len(effort), 0.0)
    return fraction


CHECK = Check(
    NAME, 'Does the effort stay at its largest value?',
    f'more than {SHARE:.1%} of the motion at one extreme value, and {PILED:.0%} of the samples '
    'near it: a smooth peak has a quarter', RECORDINGS, find)
