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
"""Efforts that stop while the joint moves."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import _column, Array
from robot_identification.checks.case import Case
from robot_identification.checks.check import Check, RECORDINGS
from robot_identification.checks.encoder import _stays
from robot_identification.validation import Finding

_NAME = 'stuck effort'
_LONGEST = 0.1
"""Longest time at one and the same effort [s]: on the recordings of real arms at hand and on clean
simulated ones no effort stays the same over the way below."""
_COARSE = 10.0
"""Times the typical stay at one value, which an effort in coarse steps or of a slow bus has."""
_WAY = 0.02
"""Way of the joint meanwhile over its range, below which it may rest at a constant effort."""


def _find(case: Case) -> Finding | None:
    """Name the joint whose effort stays longest where its joint moves."""
    recording, effort = case.recording, case.recorded_effort
    if recording is None or effort is None:
        return None
    held = [_held(recording.t, _column(recording.q, k), _column(effort, k))
            for k in range(effort.shape[1])]
    j = int(np.argmax([length / allowed for length, allowed in held]))
    (length, allowed), joint = held[j], recording.joint_names[j]
    alarm = length > allowed
    text = (f'the effort of {joint} stays the same for up to {length:.3g} s while the joint moves'
            if length else 'no effort stays the same while its joint moves')
    if alarm:
        text += ('; its sensor or bus was lost meanwhile: leave that time out (--window) or '
                 'record again')
    return Finding(_NAME, case.name, length, allowed, 's', alarm, text, joint if length else '')


def _held(t: Array, q: Array, effort: Array) -> tuple[float, float]:
    """Return the longest stay at one effort, extremes aside (saturation), and what is allowed."""
    starts, stops = _stays(effort)
    several = stops > starts
    starts, stops = starts[several], stops[several]
    lengths = t[stops] - t[starts]
    shares = stops - starts + 1
    alone = len(effort) - int(shares.sum())    # samples whose stay has no length
    typical = 0.0
    if 2 * alone < len(effort):    # of half of all samples
        order = np.argsort(lengths)
        half = np.searchsorted(alone + np.cumsum(shares[order]), len(effort) / 2)
        typical = float(lengths[order][half])
    judged = np.abs(q[stops] - q[starts]) > _WAY * np.ptp(q)
    judged &= (effort[starts] > effort.min()) & (effort[starts] < effort.max())
    longest = float(lengths[judged].max()) if np.any(judged) else 0.0
    return longest, max(_LONGEST, _COARSE * typical)


CHECK = Check(
    _NAME, 'Does an effort stay the same while its joint moves?',
    f'{_LONGEST:g} s at exactly one value, or {_COARSE:g} times the typical stay, over more than '
    f'{_WAY:.0%} of the way of the joint: on real and clean simulated arms at hand there is none',
    RECORDINGS, _find)
