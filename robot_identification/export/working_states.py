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
"""States of an ordinary motion of an arm: where a fit has to be good."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.dynamics import IdentifiedModel
from scipy.interpolate import CubicSpline

RATE = 50.0
"""States a second of a training motion [Hz]."""
SAMPLES = 2000
"""States where the model remembers no training motion."""
PERIOD = 10.0
"""Period of the motion that stands in for it [s]."""
SPEED = 0.5
"""Its highest speed, as a part of the limit; where there is none, 1 rad/s or 0.1 m/s counts."""


@dataclass(frozen=True, eq=False)
class WorkingStates:
    """
    States of a motion.

    Parameters
    ----------
    q, v, a
        (N, n) [rad or m, per s, per s^2].
    origin
        Where they come from, for reports.

    """

    q: Array
    v: Array
    a: Array
    origin: str

    def __post_init__(self) -> None:
        for name in ('q', 'v', 'a'):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def working_states(model: IdentifiedModel) -> WorkingStates:
    """
    Return the states of the training motion that a model file remembers, or of one like it.

    Parameters
    ----------
    model
        The identified model.

    """
    parts = []
    for trace in model.information.get('training_motion', []):
        q = np.array(trace['q'], dtype=float)
        if len(q) > 5 and q.ndim == 2 and q.shape[1] == model.arm.n:
            t = np.arange(len(q)) / float(trace['rate'])
            spline = CubicSpline(t, q)
            fine = np.arange(t[1], t[-2], 1 / RATE)
            parts.append(np.stack([spline(fine, order) for order in range(3)]))
    if parts:
        q, v, a = np.concatenate(parts, axis=1)
        return WorkingStates(q, v, a, 'the training motion')
    return _sines(model)


def _sines(model: IdentifiedModel) -> WorkingStates:
    """Return a motion of one sine a joint, frequencies apart, within half of the limits."""
    limits, n = model.arm.limits, model.arm.n
    lower = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
    upper = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
    usual = np.where(model.arm.prismatic, 0.2, 2.0)
    speed = SPEED * np.where(np.isfinite(limits.velocity), limits.velocity, usual)
    omega = 2 * np.pi / PERIOD * np.arange(2, n + 2)
    size = np.minimum(speed / omega, 0.4 * (upper - lower))
    angle = omega * np.linspace(0, PERIOD, SAMPLES, endpoint=False)[:, None] + np.arange(n)
    return WorkingStates((lower + upper) / 2 + size * np.sin(angle), size * omega * np.cos(angle),
                         -size * omega ** 2 * np.sin(angle),
                         f'sines up to {SPEED:.0%} of the speed limits')
