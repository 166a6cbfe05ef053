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
"""Sensors of a simulated arm: measured signals from true states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array
from robot_identification.simulation.plant import Plant, PlantState

VELOCITY_WINDOW = 0.01  # [s] time between the encoder counts whose difference is the velocity


@dataclass(frozen=True)
class Reading:
    """
    Published signals at N instants; the arrays of a single reading have no first axis.

    Parameters
    ----------
    t
        Time stamps, (N,) [s].
    q
        Positions, (N, n) [rad or m].
    v
        Velocities, (N, n) [rad/s or m/s]; None if the robot does not publish velocities.
    torque
        Joint torques, (N, n) [N m or N].

    """

    t: Any
    q: Array
    v: Array | None
    torque: Array


class Sensors:
    """
    Encoders and torque measurement of a plant.

    Parameters
    ----------
    plant
        The plant, whose options define the errors of the sensors.
    rng
        Random generator of the noise.

    """

    def __init__(self, plant: Plant, rng: np.random.Generator) -> None:
        self._options, self._rng = plant.options, rng
        limits, bits = plant.arm.limits, plant.options.encoder_bits
        stroke = limits.upper - limits.lower
        span = np.where(plant.arm.prismatic, np.where(np.isfinite(stroke), stroke, 1.0), 2 * np.pi)
        self.count = np.zeros(plant.arm.n) if bits is None else span / 2 ** bits  # [rad or m]
        self.torque_std = plant.options.torque_noise * plant.truth.rated_torque  # [N m or N]
        self._spacing = max(1, int(np.rint(VELOCITY_WINDOW * plant.options.rate)))

    def start(self, q: Array, v: Array) -> None:
        """
        Start the measurement, as if the arm had moved at constant velocity before.

        Parameters
        ----------
        q, v
            Positions and velocities at the start, (n,).

        """
        back = np.arange(self._spacing, 0, -1)[:, None]
        self._history = self._encode(q - v * back / self._options.rate)

    def read(self, states: Sequence[PlantState]) -> Reading:
        """
        Return the readings at N successive instants of the sensors.

        Parameters
        ----------
        states
            True states at these instants; the first follows the last state of the previous call.

        """
        options = self._options
        q = self._encode(np.array([state.q for state in states]))
        path = np.concatenate([self._history, q])
        self._history = path[-self._spacing:]
        v = None
        if options.velocity_signal == 'true':
            v = np.array([state.v for state in states])
        elif options.velocity_signal == 'encoder':
            v = (q - path[:len(q)]) * options.rate / self._spacing
        commanded = options.torque_signal == 'commanded'
        torque = self.torque_std * self._rng.standard_normal(q.shape) + [
            state.commanded if commanded else state.torque for state in states]
        return Reading(np.array([state.t for state in states]), q, v, torque)

    def _encode(self, q: Array) -> Array:
        return q if self._options.encoder_bits is None else np.rint(q / self.count) * self.count
