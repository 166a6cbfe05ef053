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

from collections.abc import Sequence
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
        self.start(plant.q, plant.v)

    def start(self, q: Array, v: Array) -> None:
        """
        Forget what was read, and suppose that the arm came to q at the velocity v.

        Parameters
        ----------
        q, v
            State, (n,).

        """
        back = np.arange(self._spacing, 0, -1)[:, None]
        self._history = self._encode(q - v * back / self._options.rate)

    def read(self, states: Sequence[PlantState]) -> list[Reading]:
        """
        Measure at successive instants; every instant of the sensors' rate must be read, in order.

        Parameters
        ----------
        states
            What is true at the instants.

        """
        options, n = self._options, len(self.count)
        q = self._encode(np.array([state.q for state in states]))
        path = np.concatenate([self._history, q])
        self._history = path[-self._spacing:]
        v: Sequence[Array | None] = [None] * len(states)
        if options.velocity_signal == 'true':
            v = [state.v for state in states]
        elif options.velocity_signal == 'encoder':
            v = list((q - path[:len(q)]) * options.rate / self._spacing)
        commanded = options.torque_signal == 'commanded'
        noise = self._rng.standard_normal((len(states), n + (options.stamp_jitter > 0)))
        torque = self.torque_std * noise[:, :n] + [
            state.commanded if commanded else state.torque for state in states]
        t = np.array([state.t for state in states])
        if options.stamp_jitter:
            t += np.clip(noise[:, n], -2, 2) * options.stamp_jitter
        return [Reading(*row) for row in zip(t.tolist(), q, v, torque)]

    def _encode(self, q: Array) -> Array:
        if self._options.encoder_bits is None:
            return q
        return np.rint(q / self.count) * self.count
