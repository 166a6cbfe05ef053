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
"""What friction holds while a joint rests, as a prediction says it."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import Array
from robot_identification.dynamics import FRICTION_TERMS, IdentifiedModel
from robot_identification.signals import Samples

PART = 0.5
"""Part of the friction of creeping that is held: what relaxes it leaves between all and nothing.
Measured at rests of a UR10e, a TX40 and a KR300: 0.5 to 1.4 (docs/real_arms.md)."""
TRAVEL, SLIDE = 1e-4, 1e-5
"""Half the travel after which friction has changed over: turning [rad], sliding [m]."""
CREEP, SLIDING_CREEP = 1e-2, 1e-3
"""Speed at which friction is taken to creep [rad/s, m/s]."""


def stiction_torque(model: IdentifiedModel, samples: Samples) -> Array:
    """
    Return what friction adds to the torques of joints at rest, (N, n) [N m or N].

    A joint that came to rest is held by friction in the direction of its last travel, even of the
    few tenths of a milliradian by which it creeps back after an overshoot: the state z of an
    elasto-plastic contact (the term `slip`), whose least travel is known well enough for all
    arms. How much is held lies between nothing and the friction of creeping, whatever motion
    before the rest says, so the middle is the prediction with the least error. Before a joint has
    moved nothing is known of it, and z is zero. Terms that remember say their part themselves.

    Parameters
    ----------
    model
        The identified model.
    samples
        Positions, with zero velocity where joints rest.

    """
    structure, arm = model.structure, model.arm
    speed, place = samples.v @ arm.transmission.T, samples.q @ arm.transmission.T
    rest = speed == 0
    if not rest.any():
        return np.zeros_like(samples.q)
    slip = FRICTION_TERMS['slip']
    travel = np.where(structure.slides, SLIDE, TRAVEL)
    z = np.stack([slip.state(column, np.array([delta]))
                  for column, delta in zip(place.T, travel)], axis=1)
    load = (model.transmitted_torque(samples.q, samples.v, samples.a)
            if structure.friction.needs_load else None)
    states = model.states(samples.q)
    creep = np.where(structure.slides, SLIDING_CREEP, CREEP) * np.sign(z)
    columns = (structure.element_friction(place, creep, load, states)
               - structure.element_friction(place, np.zeros_like(creep), load, states))
    held = PART * np.abs(z) * np.einsum('nek,ek->ne', columns, model.friction_parameters)
    torque: Array = np.where(rest, held, 0.0) @ arm.transmission
    return torque
