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
"""Sensors: what a robot publishes of what is true."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import Array
from robot_identification.simulation.plant import Plant, PlantState

VELOCITY_WINDOW = 0.01  # [s] over which encoder counts are differenced


@dataclass(frozen=True)
class Reading:
    """
    One message of a robot.

    Parameters
    ----------
    t
        Stamp [s].
    q
        (n,) [rad or m].
    v
        (n,) [rad/s or m/s], None when the robot does not publish it.
    torque
        At the joints, (n,) [N m or N].

    """

    t: float
    q: Array
    v: Array | None
    torque: Array


class Sensors:
    """
    Encoders and torque measurement of a plant.

    Parameters
    ----------
    plant
        Its options say how well they measure.
    rng
        Source of the noise.

    """

    def __init__(self, plant: Plant, rng: np.random.Generator) -> None:
        self._options, self._rng = plant.options, rng
        limits, bits = plant.arm.limits, plant.options.encoder_bits
        stroke = limits.upper - limits.lower
        span = np.where(plant.arm.prismatic, np.where(np.isfinite(stroke), stroke, 1.0), 2 * np.pi)
        self.count = np.zeros(plant.arm.n) if bits is None else span / 2 ** bits  # [rad or m]
        self.torque_std = plant.options.torque_noise * plant.truth.rated_torque  # [N m or N]
        self._spacing = max(1, int(np.rint(VELOCITY_WINDOW * plant.options.rate)))
        self._history: deque[Array] = deque(maxlen=self._spacing + 1)

    def start(self, q: Array, v: Array) -> None:
        """
        Forget what was read, and suppose that the arm came to q at the velocity v.

        Parameters
        ----------
        q, v
            State, (n,).

        """
        self._history.clear()
        for k in range(self._spacing, 0, -1):
            self._history.append(self._encode(q - v * k / self._options.rate))

    def read(self, state: PlantState) -> Reading:
        """
        Measure.

        Parameters
        ----------
        state
            What is true at the instant of the reading; call it at the rate of the sensors.

        """
        options = self._options
        q = self._encode(state.q)
        self._history.append(q)
        v: Array | None = None
        if options.velocity_signal == 'true':
            v = state.v
        elif options.velocity_signal == 'encoder':
            spacing = len(self._history) - 1
            v = (q - self._history[0]) * options.rate / max(spacing, 1)
        torque = state.commanded if options.torque_signal == 'commanded' else state.torque
        torque = torque + self.torque_std * self._rng.standard_normal(len(torque))
        t = state.t
        if options.stamp_jitter:
            t += float(np.clip(self._rng.normal(), -2, 2)) * options.stamp_jitter
        return Reading(t, q, v, torque)

    def _encode(self, q: Array) -> Array:
        if self._options.encoder_bits is None:
            return q
        return np.rint(q / self.count) * self.count
