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
"""A simulated robot: plant, joint controller and sensors in a closed loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arm import Arm
from robot_identification.arrays import Array, read_only
from robot_identification.errors import ConfigurationError
from robot_identification.simulation.plant import Plant, PlantState
from scipy.linalg.blas import dsymv

LATENCY = 0.8  # [rad] largest phase lag that latency may cause at crossover
REVERSAL = 0.02  # [rad/s or m/s] width of the smoothed sign of the compensated friction
VELOCITY_WINDOW = 0.01  # [s] time between the encoder counts whose difference is the velocity


class JointController:
    """
    PD controller with the mass matrix of the URDF and compensation of gravity and friction.

    The mass matrix gives each joint the same bandwidth in every posture. The controller
    compensates the gravity torque of the URDF and a fraction of the Coulomb friction at the
    reference velocity: with the mass matrix M, rotors R and natural frequency w, the command is

        (M + R) (w^2 (q_ref - q) + 2 d w (v_ref - v)) + gravity + T' (f tanh(T v_ref / r)).

    Parameters
    ----------
    arm
        The arm of the URDF, whose inertias differ from the plant's.
    rotor_inertia
        Rotor inertias of the m actuators (joints and coupled drives), (m,) [kg m^2 or kg].
    friction
        Compensated Coulomb friction f of the actuators, (m,) [N m or N].
    bandwidth
        Natural frequency of the position loops [Hz].
    damping
        Damping ratio d of the position loops.

    """

    def __init__(self, arm: Arm, rotor_inertia: Array, friction: Array, bandwidth: float,
                 damping: float) -> None:
        self.damping = damping
        self._omega = 2 * np.pi * bandwidth
        self._model, self._data = arm.model, arm.model.createData()
        self._transmission = np.array(arm.transmission)
        self._rotors = self._transmission.T @ np.diag(rotor_inertia) @ self._transmission
        self._friction = read_only(friction)

    @classmethod
    def tuned(cls, plant: Plant) -> JointController:
        """
        Return a controller with the rotor inertias and friction of a plant.

        Links and gravity are those of the URDF. Rotor inertias and friction are those of the
        plant, because manufacturers tune a controller on the arm itself.

        Parameters
        ----------
        plant
            The plant, whose options define bandwidth, damping and friction compensation.

        Raises
        ------
        ConfigurationError
            The bandwidth is higher than the latency of actuators and sampling permits.

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

    def torque(self, q: Array, v: Array, q_ref: Array, v_ref: Array) -> Array:
        """
        Return the commanded torque, (n,) [N m or N].

        Parameters
        ----------
        q, v
            Positions and velocities of the arm, (n,).
        q_ref, v_ref
            Positions and velocities of the reference, (n,).

        """
        acceleration = (self._omega ** 2 * (q_ref - q)
                        + 2 * self.damping * self._omega * (v_ref - v))
        mass = pin.crba(self._model, self._data, q)  # only the upper triangle is filled
        gravity = pin.computeGeneralizedGravity(self._model, self._data, q_ref)
        friction = self._friction * np.tanh(self._transmission @ v_ref / REVERSAL)
        return (dsymv(1.0, mass, acceleration) + self._rotors @ acceleration + gravity
                + friction @ self._transmission)


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

    def read(self, states: PlantState) -> Reading:
        """
        Return the readings at N successive instants of the sensors.

        Parameters
        ----------
        states
            True states at these instants; the first follows the last one of the previous call.

        """
        options = self._options
        q = self._encode(states.q)
        path = np.concatenate([self._history, q])
        self._history = path[-self._spacing:]
        v = None
        if options.velocity_signal == 'true':
            v = states.v
        elif options.velocity_signal == 'encoder':
            v = (q - path[:len(q)]) * options.rate / self._spacing
        torque = self.torque_std * self._rng.standard_normal(q.shape) + (
            states.commanded if options.torque_signal == 'commanded' else states.torque)
        return Reading(states.t, q, v, torque)

    def _encode(self, q: Array) -> Array:
        return q if self._options.encoder_bits is None else np.rint(q / self.count) * self.count


class SimulatedRobot:
    """
    Closed loop of a plant, a joint controller and sensors.

    Parameters
    ----------
    plant
        The arm in the physics engine. Its attribute `controller`, if any, is used instead of
        `JointController`.
    rng
        Random generator of the measurement noise.

    """

    def __init__(self, plant: Plant, rng: np.random.Generator) -> None:
        self.plant = plant
        self.controller = getattr(plant, 'controller', JointController).tuned(plant)
        self.sensors = Sensors(plant, rng)
        self.reset(plant.home)

    def reset(self, q: Array) -> None:
        """
        Set the arm to rest at positions q.

        Parameters
        ----------
        q
            Positions, (n,) [rad or m].

        """
        self.plant.reset(q)
        self.sensors.start(q, np.zeros(len(q)))
        self._steps = 0

    def advance(self, reference: Callable[[float], tuple[Array, Array]]) -> Reading:
        """
        Advance by one sensor period and return the reading at the start of the period.

        Parameters
        ----------
        reference
            Reference, as for `move`.

        Raises
        ------
        SimulationError
            The motion has become unstable.

        """
        stacked = self.sensors.read(PlantState.stack([self.move(reference)]))
        return Reading(float(stacked.t[0]), stacked.q[0],
                       None if stacked.v is None else stacked.v[0], stacked.torque[0])

    def move(self, reference: Callable[[float], tuple[Array, Array]]) -> PlantState:
        """
        Advance by one sensor period and return the true state at the start of the period.

        Parameters
        ----------
        reference
            Function from the time since the reset [s] to positions and velocities, (n,) each. It
            is called at the rate of the controller.

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
                state = plant.last
        return state
