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
"""Positions that freeze while the joint moves."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.finding import Finding

_NAME = 'encoder'
_LONGEST = 0.1
"""[s] Longest constant position beside fast motion: slow drivers repeat a position for at most
40 ms."""
_FAST = 0.15
"""Speed before or after the constant position, as a fraction of the highest."""
_BESIDE = 0.03
"""[s] Time over which that speed is taken."""


def check_frozen_position(data: CheckInput) -> Finding | None:
    """Find the joint whose position stays constant longest between fast motion."""
    recording = data.recording
    if recording is None:
        return None
    rate = recording.rate
    # a / 2 t^2: reach of a joint that starts from rest; friction may stop what is slower
    reach = 0.5 * data.arm.limits.acceleration * _BESIDE**2
    durations = _frozen_durations(recording.q, rate, np.where(np.isfinite(reach), reach, 0.0))
    j = int(np.argmax(durations))
    joint, longest = recording.joint_names[j], float(durations[j])
    alarm = longest > _LONGEST
    text = (f'the position of {joint} is constant for up to {longest:.3g} s between fast motion'
            if longest else 'no position is constant between fast motion')
    if alarm:
        text += ('; no joint stops at once, so the encoder or its bus froze: leave that time out '
                 '(--window) or record again')
    return Finding(_NAME, data.name, longest, _LONGEST, 's', alarm, text,
                   joint if longest else '')


def _frozen_durations(q: Array, rate: float, floor: Array) -> Array:
    """
    Return the longest time at one position beside fast motion, (n,) [s].

    Parameters
    ----------
    q
        (N, n) [rad or m].
    rate
        [Hz]
    floor
        The smallest distance within `_BESIDE` that counts as fast, (n,) [rad or m].

    """
    beside, longest = max(2, round(_BESIDE * rate)), np.zeros(q.shape[1])
    if len(q) < 4 * beside:
        return longest
    fast = np.maximum(_FAST * np.max(np.abs(q[beside:] - q[:-beside]), axis=0), floor)
    count = np.zeros(q.shape[1], dtype=int)
    for j, x in enumerate(q.T):
        starts, stops = constant_runs(x)
        count[j] = len(starts)
        long = stops - starts > 2
        starts, stops = starts[long], stops[long]
        before = np.where(starts >= beside, np.abs(x[starts] - x[starts - beside]), 0.0)
        after = np.abs(x[np.minimum(stops + beside, len(q) - 1)] - x[stops])
        after[stops + beside >= len(q)] = 0.0
        lengths = (stops - starts)[np.maximum(before, after) > fast[j]]
        longest[j] = lengths.max(initial=0)
    return np.where((count < 3) | (fast == 0), 0.0, longest / rate)


def constant_runs(x: Array) -> tuple[IndexArray, IndexArray]:
    """Return the first and the last samples of the runs of equal values in x (N,)."""
    changes = np.flatnonzero(x[1:] != x[:-1])
    return np.append(0, changes + 1), np.append(changes, len(x) - 1)


CHECK = Check(
    _NAME, 'Is a position constant while the joint must move?',
    f'{_LONGEST:g} s at exactly one position beside a speed of {_FAST:.0%} of the highest that '
    f'cannot be reached from rest in {1e3 * _BESIDE:g} ms; drivers repeat a position for at most '
    '40 ms', RECORDINGS, check_frozen_position)
