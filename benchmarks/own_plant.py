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
"""
An arm that shares no code with the package: Pinocchio's dynamics, and friction of its own.

Bodies are drawn around those of the URDF, friction has a Stribeck curve and grows with the load,
efforts have noise and a delay, encoders have counts, and the arm deviates from the commanded
motion as a servo does.
"""

from __future__ import annotations

from dataclasses import dataclass
import zlib

import numpy as np
import pinocchio as pin
from robot_identification import Arm, Recording
from robot_identification.arrays import Array
from robot_identification.benchmarking.simulated_data import RandomMotion

RATE = 250.0    # [Hz]
COUNT = 2 * np.pi / 2 ** 18    # [rad]


@dataclass(frozen=True)
class Truth:
    """Stamps (N,) [s], positions, velocities, accelerations and torques without noise, (N, n)."""

    t: Array
    q: Array
    v: Array
    a: Array
    torque: Array


class OwnPlant:
    """The arm; every number is drawn from the robot's name and the seed."""

    def __init__(self, arm: Arm, seed: int) -> None:
        self.arm = arm
        rng = self._rng = np.random.default_rng([seed, zlib.crc32(arm.name.encode())])
        self._model = arm.model.copy()
        for j in range(1, self._model.njoints):
            body = self._model.inertias[j]
            length = np.linalg.norm(body.lever) + 0.01
            self._model.inertias[j] = pin.Inertia(
                body.mass * np.exp(0.15 * rng.normal()),
                body.lever + 0.1 * length * rng.normal(size=3),
                body.inertia * np.exp(0.2 * rng.normal()) + 1e-3 * body.mass * length * np.eye(3))
        self._model.armature = np.zeros(arm.n)
        self._data = self._model.createData()
        size = np.sqrt(np.mean(self._rigid(*RandomMotion(arm, 10.0, rng, wobble=True).evaluate(
            np.arange(0, 10, 0.1))) ** 2, axis=0))
        size = np.maximum(size, 0.03 * size.max())
        speed = np.where(np.isfinite(arm.limits.velocity), arm.limits.velocity, 2.0)
        self._coulomb = size * rng.uniform(0.05, 0.2, arm.n)
        self._asymmetry = 1 + 0.1 * rng.normal(size=arm.n)
        self._viscous = size * rng.uniform(0.05, 0.2, arm.n) / speed
        self._stribeck = self._coulomb * rng.uniform(0.1, 0.4, arm.n)
        self._fall = speed * rng.uniform(0.01, 0.04, arm.n)
        self._load = rng.uniform(0.0, 0.01, arm.n)
        self.noise = size * rng.uniform(0.005, 0.02, arm.n)
        self.delay = rng.uniform(0.0, 0.004)

    def move(self, seconds: float) -> Truth:
        """Return a new random motion with its true torques."""
        t = np.arange(0, seconds, 1 / RATE)
        q, v, a = RandomMotion(self.arm, seconds, self._rng, wobble=True).evaluate(t)
        return Truth(t, q, v, a, self.torque(q, v, a))

    def record(self, truth: Truth, name: str) -> Recording:
        """Return what sensors make of a motion."""
        late = np.column_stack([np.interp(truth.t - self.delay, truth.t, column)
                                for column in truth.torque.T])
        v = truth.v + 1e-3 * np.abs(truth.v).max(axis=0) * self._rng.normal(size=truth.v.shape)
        return Recording(truth.t, np.rint(truth.q / COUNT) * COUNT,
                         late + self.noise * self._rng.normal(size=late.shape),
                         joint_names=self.arm.joint_names, v=v, name=name)

    def torque(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torques of bodies and friction, (N, n) [N m or N]."""
        rigid = self._rigid(q, v, a)
        level = self._coulomb + self._stribeck * np.exp(-(v / self._fall) ** 2) \
            + self._load * np.abs(rigid)
        level = level * np.where(v > 0, self._asymmetry, 2 - self._asymmetry)
        return rigid + level * np.tanh(v / (0.05 * self._fall)) + self._viscous * v

    def _rigid(self, q: Array, v: Array, a: Array) -> Array:
        return np.array([pin.rnea(self._model, self._data, *row) for row in zip(q, v, a)])
