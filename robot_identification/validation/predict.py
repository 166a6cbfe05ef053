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
"""Predicted torques at the stamps of a recording."""

from __future__ import annotations

import io

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import IdentifiedModel
from robot_identification.recording import Recording
from robot_identification.signals import Samples
from robot_identification.validation.stiction_torque import stiction_torque


def predict(model: IdentifiedModel, recording: Recording, samples: Samples) -> tuple[Array, Array]:
    """
    Predict the torques of a recording at its own stamps.

    At joints at rest static friction is added, see `stiction_torque`. The positions that belong to
    a torque are recorded later by the model's delays.

    Parameters
    ----------
    model
        The identified model.
    recording
        What was recorded.
    samples
        The recording, processed with the edges kept and standstill taken for zero velocity.

    Returns
    -------
    tuple
        Stamps (M,) [s], all but those in gaps, and torques (M, n) [N m or N].

    """
    late = model.delay
    if model.delay_of == 'positions':
        samples, late = samples.moved(late), np.zeros_like(late)
    torque = model.torque(samples.q, samples.v, samples.a) + stiction_torque(model, samples)
    inside = np.zeros(len(recording.t), dtype=bool)
    out = np.full((len(recording.t), torque.shape[1]), np.nan)
    for segment in samples.segments:
        clock = samples.t[segment]
        step = 1 / samples.rate    # the even clock may start or end within a step of the stamps
        rows = (recording.t > clock[0] - step) & (recording.t < clock[-1] + step)
        for j in range(torque.shape[1]):
            out[rows, j] = np.interp(recording.t[rows] + late[j], clock,
                                     torque[segment, j])
        inside |= rows
    return np.array(recording.t[inside]), out[inside]


def prediction_csv(t: Array, torque: Array, joint_names: tuple[str, ...]) -> str:
    """Return a CSV text with the columns t and tau_hat_<joint>."""
    text = io.StringIO()
    header = ','.join(['t', *(f'tau_hat_{joint}' for joint in joint_names)])
    np.savetxt(text, np.column_stack([t, torque]), delimiter=',', header=header, comments='',
               fmt='%.17g')
    return text.getvalue()
