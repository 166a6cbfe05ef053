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
"""A simulated arm whose joints have PID controllers of their own, as the arms of the papers."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.arrays import Array
from robot_identification.simulation import Plant

BANDWIDTH = 5.0
"""[Hz] assumed natural frequency of the loops; the papers print no gains."""
INTEGRAL = 0.2
"""Integral gain relative to J w^3; a loop is stable below 2 (assumed)."""
ASSUMPTION = (f"decentralised PID: J (w^2 e + 2 w e' + {INTEGRAL:g} w^3 integral of e) with the "
              f'inertia J of the joint at home and w of {BANDWIDTH:g} Hz; the papers print no '
              f'gains')


class DecentralisedPid:
    """
    PID controllers of the joints, tau = J (w^2 e + 2 w e' + 0.2 w^3 integral of e).

    J is the inertia of the joint in the middle of its limits, from the URDF with the rotors. The
    integrals start with the gravity torque, as when the arm has been at rest. The controller knows
    nothing of coupling, gravity and friction.

    Parameters
    ----------
    plant
        The arm.

    """

    def __init__(self, plant: Plant) -> None:
        arm = plant.arm
        self._model, self._data = arm.model, arm.model.createData()
        transmission = np.array(arm.transmission)
        mass = np.triu(pin.crba(self._model, self._data, plant.home)).diagonal()
        self._inertia = mass + np.diag(
            transmission.T @ np.diag(plant.truth.rotor_inertia) @ transmission)
        self._period = 1 / plant.options.control_rate
        self._integral: Array | None = None

    @classmethod
    def tuned(cls, plant: Plant) -> DecentralisedPid:
        """Return the controllers of a plant."""
        return cls(plant)

    def torque(self, q: Array, v: Array, q_ref: Array, v_ref: Array) -> Array:
        """Return the commands of the joints for a state and its reference, (n,) [N m or N]."""
        w, error = 2 * np.pi * BANDWIDTH, q_ref - q
        if self._integral is None:
            self._integral = np.array(pin.computeGeneralizedGravity(self._model, self._data, q))
        self._integral += INTEGRAL * w ** 3 * self._inertia * error * self._period
        torque: Array = self._integral + self._inertia * (w ** 2 * error + 2 * w * (v_ref - v))
        return torque


class PidPlant(Plant):
    """A simulated arm with the controllers of `DecentralisedPid`."""

    controller = DecentralisedPid
