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
from robot_identification.recording import Recording
from robot_identification.validation import Finding
from robot_identification.validation.checks.case import Case
from robot_identification.validation.checks.check import Check, RECORDINGS

NAME = 'velocity'
RATIO, MISMATCH, LAG = 0.03, 0.1, 0.02    # [-], [-], [s]
WINDOW = 0.2
"""Over which ways are compared [s]: long enough for the counts of an encoder not to matter."""
MOVES = 0.02
"""Part of the largest way of any joint from which a joint is judged."""


@dataclass(frozen=True, eq=False)
class _VelocityRatios:
    """
    Integrated velocities over differences of positions.

    Parameters
    ----------
    ratio
        Ratio for each joint, (n,); NaN for joints that hardly move.
    mismatch
        What is left after ratio and a delay of the velocities, over the way itself, (n,).
    lag
        Delay of the velocities, (n,) [s]; negative where velocities come first.

    """

    ratio: Array
    mismatch: Array
    lag: Array


def velocity_ratios(recording: Recording) -> _VelocityRatios | None:
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
    step = float(np.median(steps))
    reach = max(2, round(WINDOW / step))
    if len(t) < 10 * reach:
        return None
    way = np.zeros(q.shape)
    way[1:] = np.cumsum((v[1:] + v[:-1]) / 2 * steps[:, None], axis=0)
    starts = np.arange(0, len(t) - reach - 1, max(1, reach // 4))
    whole = (t[starts + reach] - t[starts]) < 1.5 * reach * step
    starts = starts[whole]
    if len(starts) < 20:
        return None
    real, claimed, change = (x[starts + reach] - x[starts] for x in (q, way, v))
    size = np.sqrt(np.mean(real ** 2, axis=0))
    ratio, mismatch, lag = np.full((3, q.shape[1]), np.nan)
    for j in np.flatnonzero(size > MOVES * size.max()):
        columns = np.column_stack([real[:, j], change[:, j]])    # of the delay: v over the window
        fitted = np.linalg.lstsq(columns, claimed[:, j], rcond=None)[0]
        ratio[j], lag[j] = fitted[0], -fitted[1]
        mismatch[j] = np.sqrt(np.mean((claimed[:, j] - columns @ fitted) ** 2)) / size[j]
    return _VelocityRatios(ratio, mismatch, lag)


def find(case: Case) -> Finding | None:
    """Name the joint whose velocities contradict its positions most."""
    if case.recording is None:
        return None
    found = velocity_ratios(case.recording)
    if found is None or not np.any(np.isfinite(found.ratio)):
        return None
    names = case.recording.joint_names
    off, loose, late = (np.nan_to_num(np.abs(x)) for x in (
        found.ratio - 1, found.mismatch, found.lag))
    everywhere = int(np.sum(off > RATIO)) == int(np.sum(np.isfinite(found.ratio))) > 1
    sizes = {'ratio': off / RATIO, 'mismatch': loose / MISMATCH, 'lag': late / LAG}
    kind = max(sizes, key=lambda name: float(sizes[name].max()))
    j = int(np.argmax(sizes[kind]))
    alarm = bool(sizes[kind][j] > 1)
    if kind == 'ratio':
        where = 'all joints' if everywhere else names[j]
        text = (f'the velocities of {where} are {found.ratio[j]:.3f} times the derivative of the '
                f'positions')
        cause = ('the stamps run too fast or too slow, or the unit of the velocities is wrong'
                 if everywhere else
                 'sign, unit or reduction of one of them is wrong, joints are swapped, or the '
                 'velocity is clipped')
    elif kind == 'mismatch':
        text = (f'the velocities of {names[j]} differ from the derivative of its positions by '
                f'{loose[j]:.0%} of their size')
        cause = 'joints are swapped, the velocity is clipped, or the encoder stands still'
    else:
        side = 'behind' if found.lag[j] > 0 else 'ahead of'
        text = (f'the velocities of {names[j]} are {1e3 * late[j]:.0f} ms {side} the derivative '
                f'of its positions')
        cause = 'the two come from different clocks, or one of them through a slow filter'
    figure, threshold, unit = {'ratio': (off[j], RATIO, '-'),
                               'mismatch': (loose[j], MISMATCH, '-'),
                               'lag': (late[j], LAG, 's')}[kind]
    if alarm:
        text += (f': {cause}; compare both with the motion that was sent, and mend the recording '
                 f'(leave the velocities out if they alone are wrong)')
    return Finding(NAME, case.name, float(figure), threshold, unit, alarm, text,
                   '' if everywhere and alarm else names[j])


CHECK = Check(
    NAME, 'Are the recorded velocities the derivative of the positions?',
    f'a ratio {RATIO:.0%} off, {MISMATCH:.0%} of the way left over, or {1e3 * LAG:.0f} ms between '
    'them: velocities of the UR10e agree within 0.1 % and 2 ms, differences of encoder counts '
    'within 1 %', RECORDINGS, find)
