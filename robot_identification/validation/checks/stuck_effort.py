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

import numpy as np
from robot_identification.arrays import Array, column_range
from robot_identification.validation.checks import check
from robot_identification.validation.checks.frozen_position import constant_runs, LONGEST

_COARSE = 10.0
"""Longest duration at one value over the typical one without alarm, for coarsely quantised efforts
and slow buses."""
_DISTANCE = 0.02
"""Fraction of its range of motion that a joint must move during the constant effort; with less it
may rest."""


def measure_stuck_effort(data: check.CheckInput) -> check.Measurement:
    """Find the joint whose effort is constant for the longest time while the joint moves."""
    recording = check.require(data.recording)
    durations, allowed = _constant_durations(recording.t, recording.q, data.recorded_effort)
    j = int(np.argmax(durations / allowed))
    longest, joint = durations[j], recording.joint_names[j]
    return check.Measurement(
        longest, allowed[j], 's',
        f'the effort of {joint} is constant for up to {longest:.3g} s while the joint moves'
        if longest else 'no effort is constant while its joint moves',
        '; its sensor or bus failed meanwhile: leave that time out (--window) or record again',
        joint if longest else '')


def _constant_durations(t: Array, q: Array, effort: Array) -> tuple[Array, Array]:
    """Return the longest times at one unsaturated effort, and their thresholds, (n,) [s]."""
    distance = _DISTANCE * np.diff(column_range(q), axis=0)[0]
    lowest, highest = column_range(effort)
    longest, typical = np.zeros((2, effort.shape[1]))
    for j, x in enumerate(effort.T):
        starts, stops = constant_runs(x)
        durations, level = t[stops] - t[starts], x[starts]
        moved = np.abs(q[stops, j] - q[starts, j]) > distance[j]
        inside = (level > lowest[j]) & (level < highest[j])
        longest[j] = durations[moved & inside].max(initial=0.0)
        # median over the samples of the duration of their run, 0 for a run of one sample
        typical[j] = np.quantile(np.repeat(durations, stops - starts + 1), 0.5,
                                 method='inverted_cdf')
    return longest, np.maximum(LONGEST, _COARSE * typical)


CHECK = check.Check(
    'stuck effort', 'Is an effort constant while its joint moves?',
    f'{LONGEST:g} s at exactly one value, or {_COARSE:g} times the typical duration, over more '
    f'than {_DISTANCE:.0%} of the range of the joint; real and clean simulated arms show none',
    check.RECORDINGS, measure_stuck_effort)
