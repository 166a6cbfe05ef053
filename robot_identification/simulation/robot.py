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
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ConfigurationError
from robot_identification.simulation.kernels import joint_command
from robot_identification.simulation.plant import Plant, PlantState
from robot_identification.simulation.sensors import Reading, Sensors

LATENCY = 0.8  # [rad] phase lag by latency at crossover up to which the loop is stable
REVERSAL = 0.02  # [rad/s or m/s] width of the smoothed sign of the compensated friction


class JointController:
    """
    PD on the joints, shaped by the URDF's mass matrix, with compensation of gravity and friction.

    The mass matrix gives each joint the same bandwidth in every posture; with constant gains the
    lightest posture of aligned joints would dictate the gains of all. What is compensated is
    nominal: gravity of the URDF, and a part of the Coulomb friction that follows the reference.

    Parameters
    ----------
    arm
        The arm as the URDF says it is; its gravity torque is wrong by what the plant differs.
    rotor_inertia
        Rotor inertias of the m elements of the transmission, (m,) [kg m^2 or kg].
    friction
        Coulomb friction of the elements that is compensated, (m,) [N m or N].
    bandwidth
        Natural frequency of the loops [Hz].
    damping
        Their damping ratio.

    """

    def __init__(self, arm: Arm, rotor_inertia: Array, friction: Array, bandwidth: float,
                 damping: float) -> None:
        self.bandwidth, self.damping = bandwidth, damping
        self._omega = 2 * np.pi * bandwidth
        self._model, self._data = arm.model, arm.model.createData()
        self._transmission = np.array(arm.transmission)
        self._rotors = self._transmission.T @ np.diag(rotor_inertia) @ self._transmission
        self._friction = read_only(friction)

    @classmethod
    def tuned(cls, plant: Plant) -> JointController:
        """
        Tune to a plant, as a maker tunes the drives on the arm itself.

        Rotors and friction are the plant's, links and gravity the URDF's.

        Parameters
        ----------
        plant
            The plant, whose options say bandwidth, damping and compensation.

        Raises
        ------
        ConfigurationError
            The bandwidth is more than the latency of actuators and sampling allows.

        """
        options = plant.options
        latency = options.delay + 0.5 / options.control_rate
        fastest = LATENCY / (2 * options.damping * latency * 2 * np.pi)
        if options.bandwidth > fastest:
            raise ConfigurationError(
                f'plant option `bandwidth` is {options.bandwidth:g} Hz; with a latency of '
                f'{1e3 * latency:g} ms (delay and half a control period) the arm is stable up to '
                f'{fastest:.3g} Hz')
        return cls(plant.arm, plant.truth.rotor_inertia,
                   options.friction_compensation * plant.truth.friction.coulomb,
                   options.bandwidth, options.damping)

    def gravity(self, q: Array) -> Array:
        """Return the URDF's gravity torque at q, (n,) [N m or N]."""
        torque: Array = pin.computeGeneralizedGravity(self._model, self._data, q)
        return torque.copy()

    def torque(self, q: Array, v: Array, q_ref: Array, v_ref: Array) -> Array:
        """
        Return the command, (n,) [N m or N].

        Parameters
        ----------
        q, v
            State of the arm, (n,).
        q_ref, v_ref
            Where it should be, (n,).

        """
        mass = pin.crba(self._model, self._data, q)  # only its upper triangle counts
        gravity = pin.computeGeneralizedGravity(self._model, self._data, q_ref)
        command: Array = np.empty(len(q))
        joint_command(mass, self._rotors, gravity, self._friction, self._transmission, REVERSAL,
                      self._omega, self.damping, q, v, q_ref, v_ref, command)
        return command


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
        Advance by one sensor period and return the true states at its start.

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
