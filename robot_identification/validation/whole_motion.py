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
"""The error over a whole recording, rests and all."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.validation.held_out import CUTOFF, EDGE
from scipy import signal

_FILLED = 10    # samples of the even clock for each recorded one, from which it is mostly gaps


def whole_motion_error(t: Array, measured: Array, t_predicted: Array, predicted: Array) -> float:
    """
    Return the relative torque error of all joints over all of a motion.

    NaN where it is too short, or nine tenths of it are gaps.

    Both sides are brought to one even clock (the median step, linear), across gaps and rests
    alike, and pass the same zero-phase fourth-order low-pass, half a second cut at either end.

    Parameters
    ----------
    t, measured
        Stamps (N,) [s] and torques (N, n) [N m or N], as recorded.
    t_predicted, predicted
        Stamps (M,) [s] and torques (M, n) [N m or N] of the model.

    """
    step = float(np.median(np.diff(t)))
    first, last = max(t[0], t_predicted[0]), min(t[-1], t_predicted[-1])
    if last - first > _FILLED * len(t) * step:
        return float('nan')
    clock = np.arange(first, last, step)
    edge = int(EDGE / step)
    if len(clock) < 4 * edge + 20:
        return float('nan')
    sides = [np.column_stack([np.interp(clock, stamps, column) for column in torque.T])
             for stamps, torque in ((t, measured), (t_predicted, predicted))]
    if 0.45 / step > CUTOFF:
        sections = signal.butter(4, CUTOFF, fs=1 / step, output='sos')
        sides = [signal.sosfiltfilt(sections, side, axis=0) for side in sides]
    real, model = (side[edge:len(side) - edge] for side in sides)
    size = float(np.linalg.norm(real))
    return float(np.linalg.norm(real - model)) / size if size > 0 else float('inf')
