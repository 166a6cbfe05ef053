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
"""Efforts that stay constant while the joint moves."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.checks.frozen_position import constant_runs
from robot_identification.validation.finding import Finding

_NAME = 'stuck effort'
_LONGEST = 0.1
"""[s] Longest constant effort without alarm: on real and clean simulated arms none occurs over
the distance below."""
_COARSE = 10.0
"""Multiple of the typical duration at one value, for efforts in coarse steps or of a slow bus."""
_DISTANCE = 0.02
"""Distance that the joint moves meanwhile, over its range; below it, it may be at rest."""


def check_stuck_effort(data: CheckInput) -> Finding | None:
    """Find the joint whose effort stays constant longest while the joint moves."""
    recording, effort = data.recording, data.recorded_effort
    if recording is None or effort is None:
        return None
    durations, allowed = _constant_durations(recording.t, recording.q, effort)
    j = int(np.argmax(durations / allowed))
    longest, threshold, joint = float(durations[j]), float(allowed[j]), recording.joint_names[j]
    alarm = longest > threshold
    text = (f'the effort of {joint} is constant for up to {longest:.3g} s while the joint moves'
            if longest else 'no effort is constant while its joint moves')
    if alarm:
        text += ('; its sensor or bus failed meanwhile: leave that time out (--window) or record '
                 'again')
    return Finding(_NAME, data.name, longest, threshold, 's', alarm, text,
                   joint if longest else '')


def _constant_durations(t: Array, q: Array, effort: Array) -> tuple[Array, Array]:
    """Return the longest time at one effort, saturation left out, and the threshold, (n,) [s]."""
    distance = _DISTANCE * np.ptp(q, axis=0)
    lowest, highest = effort.min(axis=0), effort.max(axis=0)
    longest, typical = np.zeros((2, effort.shape[1]))
    for j, x in enumerate(effort.T):
        starts, stops = constant_runs(x)
        several = stops > starts
        starts, stops = starts[several], stops[several]
        durations, level = t[stops] - t[starts], x[starts]
        moved = np.abs(q[stops, j] - q[starts, j]) > distance[j]
        inside = (level > lowest[j]) & (level < highest[j])
        longest[j] = durations[moved & inside].max(initial=0.0)
        typical[j] = _median_duration(len(t), durations, stops - starts + 1)
    return longest, np.maximum(_LONGEST, _COARSE * typical)


def _median_duration(count: int, durations: Array, lengths: IndexArray) -> float:
    """
    Return the median over all samples of the duration of the run that each belongs to [s].

    Parameters
    ----------
    count
        Number of all samples; those in no run of two or more have the duration 0.
    durations, lengths
        Duration [s] and number of samples of each run of two or more.

    """
    alone = count - int(lengths.sum())
    if 2 * alone >= count:
        return 0.0
    order = np.argsort(durations)
    return float(durations[order][np.searchsorted(
        alone + np.cumsum(lengths[order]), count / 2)])


CHECK = Check(
    _NAME, 'Is an effort constant while its joint moves?',
    f'{_LONGEST:g} s at exactly one value, or {_COARSE:g} times the typical duration, over more '
    f'than {_DISTANCE:.0%} of the range of the joint; real and clean simulated arms show none',
    RECORDINGS, check_stuck_effort)
