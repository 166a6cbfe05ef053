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

import numpy as np
from robot_identification.arrays import Array, column_range, IndexArray
from robot_identification.validation.checks import check

LONGEST = 0.1
"""[s] Longest constant position next to fast motion, and longest constant effort of a joint that
moves, without alarm: slow drivers repeat a value for at most 40 ms, and no effort of a real arm or
of a simulated one without faults is constant."""
_FAST = 0.15
"""Smallest speed that counts as fast motion, as a fraction of the joint's highest speed."""
_BESIDE = 0.03
"""[s] Interval before and after the constant position over which the speed is averaged."""


def measure_frozen_position(data: check.CheckInput) -> check.Measurement:
    """Find the joint whose position is constant for the longest time between fast motions."""
    recording = check.require(data.recording)
    # a t^2 / 2: travel of a joint that starts from rest; friction can stop a slower joint at once
    reach = 0.5 * data.arm.limits.acceleration * _BESIDE**2
    durations = _frozen_durations(recording.q, recording.rate,
                                  np.where(np.isfinite(reach), reach, 0.0))
    j = int(np.argmax(durations))
    joint, longest = recording.joint_names[j], durations[j]
    return check.Measurement(
        longest, LONGEST, 's',
        f'the position of {joint} is constant for up to {longest:.3g} s between fast motion'
        if longest else 'no position is constant between fast motion',
        '; no joint stops at once, so the encoder or its bus froze: leave that time out '
        '(--window) or record again', joint if longest else '')


def _frozen_durations(q: Array, rate: float, floor: Array) -> Array:
    """
    Return for each joint the longest time at one position next to fast motion, (n,) [s].

    Parameters
    ----------
    q
        Positions, (N, n) [rad or m].
    rate
        Sampling rate [Hz].
    floor
        The smallest distance within `_BESIDE` that counts as fast, (n,) [rad or m].

    """
    beside, longest = max(2, round(_BESIDE * rate)), np.zeros(q.shape[1])
    if len(q) < 4 * beside:
        return longest
    change = np.zeros((len(q) + beside, q.shape[1]))    # from `beside` samples before, to a sample
    change[beside:len(q)] = np.abs(q[beside:] - q[:-beside])
    fast = np.maximum(_FAST * column_range(change)[1], floor)
    for j in np.flatnonzero(fast):
        starts, stops = constant_runs(q[:, j])
        moving = np.maximum(change[starts, j], change[stops + beside, j]) > fast[j]
        counted = moving & (stops - starts > 2) & (len(starts) > 2)
        longest[j] = (stops - starts)[counted].max(initial=0)
    return longest / rate


def constant_runs(x: Array) -> tuple[IndexArray, IndexArray]:
    """Return the first and the last index of each run of equal values in x (N,)."""
    x = np.ascontiguousarray(x)
    changes = np.flatnonzero(x[1:] != x[:-1])
    return np.append(0, changes + 1), np.append(changes, len(x) - 1)


CHECK = check.Check(
    'encoder', 'Is a position constant while the joint must move?',
    f'{LONGEST:g} s at exactly one position next to motion that is faster than {_FAST:.0%} of '
    f'the highest speed and cannot be reached from rest in {1e3 * _BESIDE:g} ms; drivers repeat a '
    'position for at most 40 ms', check.RECORDINGS, measure_frozen_position)
