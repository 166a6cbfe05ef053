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
from robot_identification.arrays import Array, IndexArray
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS
from robot_identification.validation.checks.encoder import constant_runs

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
    longest, most = _held(recording.t, recording.q, effort)
    j = int(np.argmax(longest / most))
    length, allowed, joint = float(longest[j]), float(most[j]), recording.joint_names[j]
    alarm = length > allowed
    text = (f'the effort of {joint} stays the same for up to {length:.3g} s while the joint moves'
            if length else 'no effort stays the same while its joint moves')
    if alarm:
        text += ('; its sensor or bus was lost meanwhile: leave that time out (--window) or '
                 'record again')
    return Finding(_NAME, case.name, length, allowed, 's', alarm, text, joint if length else '')


def _held(t: Array, q: Array, effort: Array) -> tuple[Array, Array]:
    """Return the longest stay at one effort, extremes aside (saturation), and what is allowed."""
    way = _WAY * np.ptp(q, axis=0)
    lowest, highest = effort.min(axis=0), effort.max(axis=0)
    longest, typical = np.zeros((2, effort.shape[1]))
    for j, x in enumerate(effort.T):
        starts, stops = constant_runs(x)
        several = stops > starts
        starts, stops = starts[several], stops[several]
        lengths, level = t[stops] - t[starts], x[starts]
        moved = np.abs(q[stops, j] - q[starts, j]) > way[j]
        inside = (level > lowest[j]) & (level < highest[j])
        longest[j] = lengths[moved & inside].max(initial=0.0)
        typical[j] = _typical(len(t), lengths, stops - starts + 1)
    return longest, np.maximum(_LONGEST, _COARSE * typical)


def _typical(count: int, lengths: Array, shares: IndexArray) -> float:
    """Return the stay of half of so many samples, of stays of at least two; 0 where it is one."""
    alone = count - int(shares.sum())
    if 2 * alone >= count:
        return 0.0
    order = np.argsort(lengths)
    return float(lengths[order][np.searchsorted(alone + np.cumsum(shares[order]), count / 2)])


CHECK = Check(
    _NAME, 'Does an effort stay the same while its joint moves?',
    f'{_LONGEST:g} s at exactly one value, or {_COARSE:g} times the typical stay, over more than '
    f'{_WAY:.0%} of the way of the joint: on real and clean simulated arms at hand there is none',
    RECORDINGS, _find)
