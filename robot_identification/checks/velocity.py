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
"""Recorded velocities against the way that the positions go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.checks.case import Case
from robot_identification.checks.check import Check, RECORDINGS
from robot_identification.recording import Recording
from robot_identification.validation import Finding

NAME = 'velocity'
RATIO, MISMATCH = 0.03, 0.1
WINDOW = 0.2
"""Over which ways are compared [s]: long enough for the counts of an encoder not to matter."""
MOVES = 0.02
"""Part of the largest way of any joint from which a joint is judged."""


@dataclass(frozen=True, eq=False)
class VelocityRatios:
    """
    Integrated velocities over differences of positions.

    Parameters
    ----------
    ratio
        Of each joint, (n,); NaN for joints that hardly move.
    mismatch
        What is left after ratio and a delay of the velocities, over the way itself, (n,).

    """

    ratio: Array
    mismatch: Array


def velocity_ratios(recording: Recording) -> VelocityRatios | None:
    """
    Compare the recorded velocities with the positions over windows of time.

    Parameters
    ----------
    recording
        A recording; None is returned where it has no velocities, or is too short.

    """
    if recording.v is None:
        return None
    t, q, v = recording.t, recording.q, recording.v
    steps = np.diff(t)
    reach = max(2, round(WINDOW / float(np.median(steps))))
    if len(t) < 10 * reach:
        return None
    way = np.vstack([np.zeros(q.shape[1]),
                     np.cumsum((v[1:] + v[:-1]) / 2 * steps[:, None], axis=0)])
    starts = np.arange(0, len(t) - reach - 1, max(1, reach // 4))
    whole = (t[starts + reach] - t[starts]) < 1.5 * reach * float(np.median(steps))
    starts = starts[whole]
    if len(starts) < 20:
        return None
    real, claimed = (x[starts + reach] - x[starts] for x in (q, way))
    change = v[starts + reach] - v[starts]    # of the way, by the delay of the velocities
    size = np.sqrt(np.mean(real ** 2, axis=0))
    ratio, mismatch = np.full(q.shape[1], np.nan), np.full(q.shape[1], np.nan)
    for j in np.flatnonzero(size > MOVES * size.max()):
        columns = np.column_stack([real[:, j], change[:, j]])
        fitted = np.linalg.lstsq(columns, claimed[:, j], rcond=None)[0]
        ratio[j] = fitted[0]
        mismatch[j] = np.sqrt(np.mean((claimed[:, j] - columns @ fitted) ** 2)) / size[j]
    return VelocityRatios(ratio, mismatch)


def find(case: Case) -> Finding | None:
    """Name the joint whose velocities contradict its positions most."""
    if case.recording is None:
        return None
    found = velocity_ratios(case.recording)
    if found is None or not np.any(np.isfinite(found.ratio)):
        return None
    names = case.recording.joint_names
    off = np.nan_to_num(np.abs(found.ratio - 1))
    loose = np.nan_to_num(found.mismatch)
    by_ratio = off.max() / RATIO >= loose.max() / MISMATCH
    j = int(np.argmax(off if by_ratio else loose))
    alarm = bool(off.max() > RATIO or loose.max() > MISMATCH)
    everywhere = int(np.sum(off > RATIO)) == int(np.sum(np.isfinite(found.ratio))) > 1
    if by_ratio:
        where = 'all joints' if alarm and everywhere else names[j]
        text = (f'the velocities of {where} are {found.ratio[j]:.3f} times the derivative of the '
                f'positions')
        cause = ('the stamps run too fast or too slow, or the unit of the velocities is wrong'
                 if everywhere else
                 'sign, unit or reduction of one of them is wrong, joints are swapped, or the '
                 'velocity is clipped')
        figure, threshold = float(off[j]), RATIO
    else:
        text = (f'the velocities of {names[j]} differ from the derivative of its positions by '
                f'{loose[j]:.0%} of their size')
        cause = 'joints are swapped, the velocity is clipped, or the encoder stands still'
        figure, threshold = float(loose[j]), MISMATCH
    if alarm:
        text += (f': {cause}; compare both with the motion that was sent, and mend the recording '
                 f'(leave the velocities out if they alone are wrong)')
    return Finding(NAME, case.name, figure, threshold, '-', alarm, text,
                   '' if everywhere and alarm else names[j])


CHECK = Check(
    NAME, 'Are the recorded velocities the derivative of the positions?',
    f'a ratio {RATIO:.0%} off, or {MISMATCH:.0%} of the way left over: velocities of the UR10e '
    'agree within 0.1 %, differences of encoder counts within 1 %', RECORDINGS, find)
