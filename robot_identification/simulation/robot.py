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
"""A robot: plant, joint controller and sensors on one clock, advanced a reading at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from robot_identification.arrays import Array
from robot_identification.simulation.controller import JointController
from robot_identification.simulation.plant import Plant, PlantState
from robot_identification.simulation.sensors import Reading, Sensors


class SimulatedRobot:
    """
    The closed loop of a plant; a ROS node or `simulate` moves it from reading to reading.

    Parameters
    ----------
    plant
        The arm in the physics engine.
    rng
        Source of the measurement noise.
    controller
        Tuned to the plant when not given.

    """

    def __init__(self, plant: Plant, rng: np.random.Generator,
                 controller: JointController | None = None) -> None:
        self.plant, self.controller = plant, controller or JointController.tuned(plant)
        self.sensors = Sensors(plant, rng)
        self.touched_end_stop = 0  # readings while a joint was at its end stop
        self._command = plant.last.commanded
        self._steps = 0
        self.reset(plant.home)

    @property
    def state(self) -> PlantState:
        """The truth at the instant of the last reading."""
        return self._state

    def reset(self, q: Array) -> None:
        """
        Rest at q.

        Parameters
        ----------
        q
            Positions, (n,) [rad or m].

        """
        self.plant.reset(q)
        self.sensors.start(q, np.zeros(len(q)))
        self._state, self._steps, self.touched_end_stop = self.plant.last, 0, 0

    def advance(self, reference: Callable[[float], tuple[Array, Array]]) -> Reading:
        """
        Move on by one sensor period and return the reading made at its beginning.

        Parameters
        ----------
        reference
            As `move` takes it.

        Raises
        ------
        SimulationError
            The motion has become unstable.

        """
        return self.sensors.read([self.move(reference)])[0]

    def move(self, reference: Callable[[float], tuple[Array, Array]]) -> PlantState:
        """
        Move on by one sensor period and return the truth at its beginning, which nobody reads.

        Parameters
        ----------
        reference
            Maps the time since the reset [s] to q and v, (n,) each; asked at the rate of the
            controller.

        Raises
        ------
        SimulationError
            The motion has become unstable.

        """
        plant, options = self.plant, self.plant.options
        for k in range(options.sensor_steps):
            if self._steps % options.control_steps == 0:
                q_ref, v_ref = reference(plant.t)
                self._command = self.controller.torque(plant.q, plant.v, q_ref, v_ref)
            plant.step(self._command)
            self._steps += 1
            if k == 0:
                self._state = plant.last
                self.touched_end_stop += plant.at_end_stop
        return self._state
