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
"""Recorded velocities against the derivative of the positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.recording import Recording
from robot_identification.validation.checks.check import Check, CheckInput, RECORDINGS
from robot_identification.validation.finding import Finding

_NAME = 'velocity'
_RATIO, _MISMATCH, _LAG = 0.03, 0.1, 0.02    # [-], [-], [s]
_WINDOW = 0.2
"""[s] Time over which displacements are compared: long enough to ignore encoder counts."""
_MOVES = 0.02
"""Displacement over the largest of any joint, below which a joint is skipped."""


@dataclass(frozen=True, eq=False)
class VelocityComparison:
    """
    Integrated velocities against displacements, per joint.

    Parameters
    ----------
    ratio
        Velocity over derivative of the position, (n,); NaN for joints that hardly move.
    mismatch
        Residual after ratio and delay are fitted, over the displacement, (n,).
    lag
        Delay of the velocities, (n,) [s]; negative if they lead.

    """

    ratio: Array
    mismatch: Array
    lag: Array


def compare_velocities(recording: Recording) -> VelocityComparison | None:
    """
    Compare the recorded velocities with the positions over windows of time.

    Parameters
    ----------
    recording
        A recording; the result is None if it has no velocities or is too short.

    """
    if recording.v is None:
        return None
    t, q, v = recording.t, recording.q, recording.v
    steps = np.diff(t)
    step = float(np.median(steps))
    window = max(2, round(_WINDOW / step))
    if len(t) < 10 * window:
        return None
    integral = np.zeros(q.shape)
    integral[1:] = np.cumsum((v[1:] + v[:-1]) / 2 * steps[:, None], axis=0)
    starts = np.arange(0, len(t) - window - 1, max(1, window // 4))
    starts = starts[(t[starts + window] - t[starts]) < 1.5 * window * step]    # without gaps
    if len(starts) < 20:
        return None
    moved, integrated, change = (x[starts + window] - x[starts] for x in (q, integral, v))
    size = np.sqrt(np.mean(moved ** 2, axis=0))
    ratio, mismatch, lag = np.full((3, q.shape[1]), np.nan)
    for j in np.flatnonzero(size > _MOVES * size.max()):
        columns = np.column_stack([moved[:, j], change[:, j]])    # of ratio and delay
        fitted = np.linalg.lstsq(columns, integrated[:, j], rcond=None)[0]
        ratio[j], lag[j] = fitted[0], -fitted[1]
        mismatch[j] = np.sqrt(np.mean((integrated[:, j] - columns @ fitted) ** 2)) / size[j]
    return VelocityComparison(ratio, mismatch, lag)


def check_velocity(data: CheckInput) -> Finding | None:
    """Find the joint whose velocities contradict its positions most."""
    comparison = None if data.recording is None else compare_velocities(data.recording)
    if data.recording is None or comparison is None or not np.any(np.isfinite(comparison.ratio)):
        return None
    names = data.recording.joint_names
    ratio, mismatch, lag = (np.nan_to_num(np.abs(x)) for x in (
        comparison.ratio - 1, comparison.mismatch, comparison.lag))
    all_joints = int(np.sum(ratio > _RATIO)) == int(np.sum(np.isfinite(comparison.ratio))) > 1
    figures = {'ratio': (ratio, _RATIO, '-'), 'mismatch': (mismatch, _MISMATCH, '-'),
               'lag': (lag, _LAG, 's')}
    kind = max(figures, key=lambda name: float(figures[name][0].max()) / figures[name][1])
    figure, threshold, unit = figures[kind]
    j = int(np.argmax(figure))
    alarm = bool(figure[j] > threshold)
    if kind == 'ratio':
        text = (f'the velocities of {"all joints" if all_joints else names[j]} are '
                f'{comparison.ratio[j]:.3f} times the derivative of the positions')
        cause = ('the stamps run too fast or too slow, or the unit of the velocities is wrong'
                 if all_joints else
                 'sign, unit or reduction of one of them is wrong, joints are swapped, or the '
                 'velocity is clipped')
    elif kind == 'mismatch':
        text = (f'the velocities of {names[j]} differ from the derivative of its positions by '
                f'{mismatch[j]:.0%} of their size')
        cause = 'joints are swapped, the velocity is clipped, or the encoder froze'
    else:
        text = (f'the velocities of {names[j]} are {1e3 * lag[j]:.0f} ms '
                f'{"behind" if comparison.lag[j] > 0 else "ahead of"} the derivative of its '
                'positions')
        cause = 'the two come from different clocks, or one of them passes a slow filter'
    if alarm:
        text += (f': {cause}; compare both with the commanded motion, and correct the recording '
                 f'(leave the velocities out if only they are wrong)')
    return Finding(_NAME, data.name, float(figure[j]), threshold, unit, alarm, text,
                   '' if all_joints and alarm else names[j])


CHECK = Check(
    _NAME, 'Are the recorded velocities the derivative of the positions?',
    f'a ratio {_RATIO:.0%} off, a mismatch of {_MISMATCH:.0%}, or {1e3 * _LAG:.0f} ms between '
    'them; velocities of the UR10e agree within 0.1 % and 2 ms, differences of encoder counts '
    'within 1 %', RECORDINGS, check_velocity)
