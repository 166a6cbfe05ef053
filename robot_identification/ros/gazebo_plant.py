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
"""An arm that moves as in Gazebo with DART: friction before the efforts, sticking limits."""

from dataclasses import replace

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.ros.controllers_file import urdf_friction
from robot_identification.ros.simulated_description import VELOCITY_FACTOR
from robot_identification.simulation import Plant, PlantOptions
from robot_identification.simulation.plant import PlantState
from robot_identification.simulation.truth import PlantFriction


class GazeboPlant(Plant):
    """
    A simulated arm with the friction of its URDF, whose efforts and limits are those of Gazebo.

    - The measured effort is the torque behind the friction in the URDF's `<dynamics>`.
    - The drives are stronger than the rated torque by this friction, as in the description that
      the launch file writes for Gazebo.
    - A joint that reaches its velocity limit, which that description widens, keeps this velocity
      until its torque changes sign, as with DART.

    Parameters
    ----------
    arm
        The arm.
    options
        Options of the plant; its friction is replaced.

    Raises
    ------
    SimulationError
        As for `Plant`.

    """

    def __init__(self, arm: Arm, options: PlantOptions | None = None) -> None:
        super().__init__(arm, options)
        viscous, coulomb = urdf_friction(arm)
        drives = np.zeros(len(self.truth.rotor_inertia) - arm.n)    # coupled drives have none
        dry = np.append(coulomb, drives)
        self._model.dof_damping[self._dof] = viscous.reshape(
            self._model.dof_damping[self._dof].shape)
        limit = self.truth.rated_velocity
        self.truth = replace(
            self.truth, friction=PlantFriction(dry, dry, np.append(viscous, drives), 1.0),
            rated_torque=self.truth.rated_torque + coulomb + viscous * limit)
        self._largest = VELOCITY_FACTOR * limit

    @property
    def last(self) -> PlantState:
        """True state at the start of the last step; the torque is that behind the friction."""
        state = super().last
        return replace(state, torque=state.torque - state.friction)

    def reset(self, q: Array, v: Array | None = None, torque: Array | None = None) -> None:
        """Set the state of the arm and the time to zero; see `Plant.reset`."""
        self._held = np.zeros(self.arm.n)    # directions of joints that a velocity limit holds
        super().reset(q, v, torque)

    def step(self, command: Array) -> None:
        """Advance by one physics step; see `Plant.step`."""
        super().step(command)
        v = self.v
        reached = np.where(np.abs(v) >= self._largest, np.sign(v), self._held)
        self._held = np.where(reached * self._applied > 0, reached, 0.0)
        self._qvel[self._dof] = np.where(self._held != 0, self._held * self._largest, v)
