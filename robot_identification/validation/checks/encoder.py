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
"""Positions that stop while the joint moves."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array, IndexArray
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS

NAME = 'encoder'
LONGEST = 0.1
"""Longest time at one and the same position while the joint is fast before or after [s]: slow
drivers repeat a position over 40 ms at most."""
FAST = 0.15
"""Speed before or after, over the highest."""
ASIDE = 0.03
"""Over which that speed is taken [s]."""


def find(case: Case) -> Finding | None:
    """Name the joint whose position stays longest where it cannot."""
    recording = case.recording
    if recording is None:
        return None
    rate = recording.rate
    # a / 2 t^2: as far as a joint gets from rest in that time; friction may stop what is slower
    reach = 0.5 * case.arm.limits.acceleration * ASIDE**2
    held = _held(recording.q, rate, np.where(np.isfinite(reach), reach, 0.0))
    j = int(np.argmax(held))
    joint, longest = recording.joint_names[j], float(held[j])
    alarm = longest > LONGEST
    text = (f'the position of {joint} stands still for up to {longest:.3g} s between fast motion'
            if longest else 'no position stands still between fast motion')
    if alarm:
        text += ('; a joint cannot stop at once: the encoder or its bus stuck, leave that time '
                 'out (--window) or record again')
    return Finding(NAME, case.name, longest, LONGEST, 's', alarm, text, joint if longest else '')


def _held(q: Array, rate: float, floor: Array) -> Array:
    """
    Return the longest time at one position with more than a way beside it, (n,) [s].

    Parameters
    ----------
    q
        (N, n) [rad or m].
    rate
        [Hz]
    floor
        The least way, (n,) [rad or m].

    """
    aside, longest = max(2, round(ASIDE * rate)), np.zeros(q.shape[1])
    if len(q) < 4 * aside:
        return longest
    fast = np.maximum(FAST * np.max(np.abs(q[aside:] - q[:-aside]), axis=0), floor)
    count = np.zeros(q.shape[1], dtype=int)
    for j, x in enumerate(q.T):
        starts, stops = constant_runs(x)
        count[j] = len(starts)
        long = stops - starts > 2
        starts, stops = starts[long], stops[long]
        before = np.where(starts >= aside, np.abs(x[starts] - x[starts - aside]), 0.0)
        after = np.abs(x[np.minimum(stops + aside, len(q) - 1)] - x[stops])
        after[stops + aside >= len(q)] = 0.0
        lengths = (stops - starts)[np.maximum(before, after) > fast[j]]
        longest[j] = lengths.max(initial=0)
    return np.where((count < 3) | (fast == 0), 0.0, longest / rate)


def constant_runs(x: Array) -> tuple[IndexArray, IndexArray]:
    """Return the first and the last samples of the runs of equal values in x (N,)."""
    changes = np.flatnonzero(x[1:] != x[:-1])
    return np.append(0, changes + 1), np.append(changes, len(x) - 1)


CHECK = Check(
    NAME, 'Does a position stand still while the joint must move?',
    f'{LONGEST:g} s at exactly one position beside a speed of {FAST:.0%} of the highest that it '
    f'cannot reach from rest in {1e3 * ASIDE:g} ms: drivers repeat a position over 40 '
    'ms at most', RECORDINGS, find)
