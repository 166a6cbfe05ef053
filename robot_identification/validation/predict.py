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
"""Predicted torques at the stamps of a recording, with the static friction of resting joints."""

from __future__ import annotations

import io

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import FRICTION_TERMS, IdentifiedModel
from robot_identification.recording import Recording
from robot_identification.signals import Samples

_HELD_FRACTION = 0.5
"""Fraction of the friction at creeping speed that a resting joint holds: relaxation leaves between
none and all of it. Measured at rests of a UR10e, a TX40 and a KR300: 0.5 to 1.4
(docs/real_arms.md)."""
_TRAVEL, _SLIDE = 1e-4, 1e-5
"""Half the travel over which static friction reverses: revolute [rad], prismatic [m]."""
_CREEP, _SLIDING_CREEP = 1e-2, 1e-3
"""Creeping speed [rad/s, m/s]."""


def predict(model: IdentifiedModel, recording: Recording, samples: Samples) -> tuple[Array, Array]:
    """
    Return the predicted torques of a recording at its own stamps.

    At resting joints static friction is added, see `stiction_torque`. The positions that belong to
    a torque are recorded later by the model's delays.

    Parameters
    ----------
    model
        The identified model.
    recording
        The recording.
    samples
        The recording, processed with its edges kept and standstill set to zero velocity.

    Returns
    -------
    tuple
        Stamps (M,) [s], all but those in gaps (of a piece: those of its core), and torques (M, n)
        [N m or N].

    """
    delay = model.delay
    if model.delay_of == 'positions':
        samples, delay = samples.moved(delay), np.zeros_like(delay)
    torque = model.torque(samples.q, samples.v, samples.a) + stiction_torque(model, samples)
    inside = np.zeros(len(recording.t), dtype=bool)
    out = np.full((len(recording.t), torque.shape[1]), np.nan)
    for segment in samples.segments:
        clock = samples.t[segment]
        step = 1 / samples.rate    # the even clock may start or end within a step of the stamps
        rows = (recording.t > clock[0] - step) & (recording.t < clock[-1] + step)
        for j in range(torque.shape[1]):
            out[rows, j] = np.interp(recording.t[rows] + delay[j], clock, torque[segment, j])
        inside |= rows
    if recording.core is not None:
        inside[:recording.core.start] = inside[recording.core.stop:] = False
    return np.array(recording.t[inside]), out[inside]


def stiction_torque(model: IdentifiedModel, samples: Samples) -> Array:
    """
    Return the static friction of resting joints, (N, n) [N m or N]; 0 for those that move.

    Static friction holds a joint against the direction of its last travel, even of the few tenths
    of a milliradian by which it creeps back after an overshoot. The direction is the state z of an
    elasto-plastic contact (the friction term `slip`), with a travel that suits all arms tested.
    The held torque lies between zero and the friction at creeping speed, and the motion before
    does not determine it, so the prediction is the middle. Before a joint has moved, z is zero.
    Friction terms with a state of their own predict their part themselves.

    Parameters
    ----------
    model
        The identified model.
    samples
        Processed recording, with zero velocity where joints rest.

    """
    structure, arm = model.structure, model.arm
    v, q = samples.v @ arm.transmission.T, samples.q @ arm.transmission.T    # of the actuators
    rest = v == 0
    if not rest.any():
        return np.zeros_like(samples.q)
    slip = FRICTION_TERMS['slip']
    travel = np.where(structure.slides, _SLIDE, _TRAVEL)
    z = np.stack([slip.state(column, np.array([delta]))
                  for column, delta in zip(q.T, travel)], axis=1)
    load = (model.transmitted_torque(samples.q, samples.v, samples.a)
            if structure.friction.needs_load else None)
    states = model.states(samples.q)
    creep = np.where(structure.slides, _SLIDING_CREEP, _CREEP) * np.sign(z)
    columns = (structure.element_friction(q, creep, load, states)
               - structure.element_friction(q, np.zeros_like(creep), load, states))
    held = _HELD_FRACTION * np.abs(z) * np.einsum('nek,ek->ne', columns,
                                                  model.friction_parameters)
    torque: Array = np.where(rest, held, 0.0) @ arm.transmission
    return torque


def prediction_csv(t: Array, torque: Array, joint_names: tuple[str, ...]) -> str:
    """Return predicted torques (N, n) at stamps t (N,) as CSV: t, tau_hat_<joint>, ..."""
    text = io.StringIO()
    header = ','.join(['t', *(f'tau_hat_{joint}' for joint in joint_names)])
    np.savetxt(text, np.column_stack([t, torque]), delimiter=',', header=header, comments='',
               fmt='%.17g')
    return text.getvalue()
