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

import numpy as np
from robot_identification.arrays import Array
from robot_identification.recording import Recording
from robot_identification.validation.checks import check

_RATIO, _MISMATCH, _LAG = 0.03, 0.1, 0.02    # [-], [-], [s]
_WINDOW = 0.2
"""[s] Time over which displacements are compared, in which an encoder count is negligible."""
_MOVES = 0.02
"""Joints whose displacement is below this fraction of the largest are skipped."""


def compare_velocities(recording: Recording) -> Array | None:
    """
    Compare the recorded velocities with the positions over windows of time.

    Parameters
    ----------
    recording
        The recording.

    Returns
    -------
    ndarray or None
        Three rows, (3, n): the ratio of velocity to derivative of the position, the residual of
        the fit relative to the displacement, and the delay of the velocities [s]. NaN for joints
        that hardly move. None if the recording has no velocities, is too short or does not move.

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
    comparison = np.full((3, q.shape[1]), np.nan)
    for j in np.flatnonzero(size > _MOVES * size.max()):
        columns = np.column_stack([moved[:, j], change[:, j]])    # of ratio and delay
        fitted = np.linalg.lstsq(columns, integrated[:, j], rcond=None)[0]
        mismatch = np.sqrt(np.mean((integrated[:, j] - columns @ fitted) ** 2)) / size[j]
        comparison[:, j] = fitted[0], mismatch, -fitted[1]
    return comparison if np.any(size) else None


def measure_velocity(data: check.CheckInput) -> check.Measurement:
    """Find the joint whose velocities deviate most from the derivative of its positions."""
    recording = check.require(data.recording)
    ratio, mismatch, lag = check.require(compare_velocities(recording))
    figures = np.nan_to_num(np.abs([ratio - 1, mismatch, lag]))
    excess = figures / np.array([[_RATIO], [_MISMATCH], [_LAG]])
    kind, j = np.unravel_index(np.argmax(excess), excess.shape)
    joint = recording.joint_names[j]
    all_joints = int(np.sum(excess[0] > 1)) == int(np.sum(np.isfinite(ratio))) > 1
    text, cause = (
        (f'the velocities of {"all joints" if all_joints else joint} are '
         f'{ratio[j]:.3f} times the derivative of the positions',
         'the stamps run too fast or too slow, or the unit of the velocities is wrong'
         if all_joints else 'sign, unit or reduction of one of them is wrong, joints are swapped, '
         'or the velocity is clipped'),
        (f'the velocities of {joint} differ from the derivative of its positions by '
         f'{figures[1, j]:.0%} of their size',
         'joints are swapped, the velocity is clipped, or the encoder froze'),
        (f'the velocities of {joint} are {1e3 * figures[2, j]:.0f} ms '
         f'{"behind" if lag[j] > 0 else "ahead of"} the derivative of its positions',
         'the two come from different clocks, or one of them passes a slow filter'))[kind]
    alarm = bool(excess[kind, j] > 1)
    return check.Measurement(
        figures[kind, j], (_RATIO, _MISMATCH, _LAG)[kind], ('-', '-', 's')[kind], text,
        f': {cause}; compare both with the commanded motion, and correct the recording (leave the '
        'velocities out if only they are wrong)', '' if all_joints and alarm else joint, alarm)


CHECK = check.Check(
    'velocity', 'Are the recorded velocities the derivative of the positions?',
    f'a ratio {_RATIO:.0%} off, a mismatch of {_MISMATCH:.0%}, or {1e3 * _LAG:.0f} ms between '
    'them; velocities of the UR10e agree within 0.1 % and 2 ms, differences of encoder counts '
    'within 1 %', check.RECORDINGS, measure_velocity)
