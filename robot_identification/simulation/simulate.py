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
"""Simulation of an arm that follows a motion: recording and true states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.recording import Recording
from robot_identification.recording.effort import published_effort, published_position
from robot_identification.simulation.plant import Plant, PlantState
from robot_identification.simulation.reference import Reference, run_in_motion
from robot_identification.simulation.robot import SimulatedRobot
from robot_identification.simulation.sensors import Reading, Sensors

SETTLING = 0.5  # [s] time at rest before the run-in


@dataclass(frozen=True)
class SimulatedRun(ReadOnlyArrays):
    """
    Recording of a simulated run with N samples, and the true states.

    Parameters
    ----------
    recording
        Published signals, with efforts and positions as the robot YAML declares them.
    t
        True times of the samples, (N,) [s].
    q, v, a
        True positions, velocities and accelerations, (N, n).
    torque
        Torque without noise that the actuators applied, (N, n) [N m or N]: the sum of rigid-body
        dynamics, rotors and friction.
    friction
        Friction torque, (N, n) [N m or N].
    q_ref, v_ref
        Positions and velocities of the reference, (N, n).
    plant
        The plant; `plant.truth` has the true parameters, `plant.mass_matrix(q)` is the inertia.
    saturated
        Fraction of the run in which the command of each joint exceeded the rated torque, (n,).
    end_stops
        Number of samples at which a joint touched an end stop.

    """

    recording: Recording
    t: Array
    q: Array
    v: Array
    a: Array
    torque: Array
    friction: Array
    q_ref: Array
    v_ref: Array
    plant: Plant
    saturated: Array
    end_stops: int

    @property
    def tracking_error(self) -> Array:
        """Largest absolute position error of each joint, (n,) [rad or m]."""
        return np.max(np.abs(self.q - self.q_ref), axis=0)


def simulate(plant: Plant, motion: Any, *, rng: np.random.Generator, periods: int = 1,
             name: str = 'simulation') -> SimulatedRun:
    """
    Return the recording of a plant that moves along a motion.

    The arm starts at rest and moves to the start of the motion, which is not recorded. The motion
    is then repeated `periods` times.

    Parameters
    ----------
    plant
        The simulated arm; several runs of one plant are runs of the same arm.
    motion
        An excitation, a trajectory, or arrays (t, q, v, a); see `Reference.of`.
    rng
        Random generator of the measurement noise.
    periods
        Number of repetitions of the motion.
    name
        Name of the recording.

    Raises
    ------
    SimulationError
        The motion has other joints, cannot be reached from rest, or becomes unstable.

    Examples
    --------
    >>> plant = Plant(load_arm('panda'), PlantOptions(seed=3))    # doctest: +SKIP
    >>> run = simulate(plant, excitation, rng=np.random.default_rng(0))    # doctest: +SKIP
    >>> result = identify(plant.arm, [run.recording])    # doctest: +SKIP

    """
    reference = Reference.of(motion, plant.arm, periods)
    count = int(np.floor(reference.duration * plant.options.rate + 1e-3))    # sensor periods
    if plant.options.tracking == 'ideal':
        states, readings = _follow_ideally(plant, reference, count, rng)
        saturated = np.mean([np.abs(state.torque) > plant.truth.rated_torque
                             for state in states], axis=0)
    else:
        states, readings = _follow(plant, reference, count, rng)
        saturated = plant.saturated / (len(states) * plant.options.sensor_steps)
    t = readings.t - readings.t[0]
    q_ref, v_ref, _ = reference.evaluate(t)
    truth = {field: np.array([getattr(state, field) for state in states])
             for field in ('q', 'v', 'a', 'torque', 'friction')}
    effort = published_effort(plant.arm, readings.torque, readings.q)
    q, v = published_position(plant.arm, readings.q, readings.v)
    recording = Recording(t, q, v=v, joint_names=plant.arm.joint_names,
                          name=name, tau=effort.get('tau'), current=effort.get('current'))
    return SimulatedRun(recording=recording, t=t, **truth, q_ref=q_ref, v_ref=v_ref, plant=plant,
                        saturated=saturated, end_stops=sum(state.at_end_stop for state in states))


def _follow(plant: Plant, reference: Reference, count: int,
            rng: np.random.Generator) -> tuple[list[PlantState], Reading]:
    """Return states and readings of an arm that its controller moves along the reference."""
    robot, options = SimulatedRobot(plant, rng), plant.options
    plan = reference.run_in(plant.arm)
    lead = int(np.ceil((SETTLING + np.max(plan[1])) * options.rate))
    while lead * options.sensor_steps % options.control_steps:  # start on a tick of the controller
        lead += 1
    start = lead * options.sensor_steps * options.step
    ahead = int(np.rint(start * options.control_rate))    # ticks of the controller
    ticks = np.arange(int(np.ceil(count / options.rate * options.control_rate)) + 1)
    q_ref, v_ref = (np.concatenate(parts) for parts in zip(
        run_in_motion(plan, start - np.arange(ahead)[:, None] / options.control_rate),
        reference.evaluate(ticks / options.control_rate)))

    def reference_at(t: float) -> tuple[Array, Array]:
        k = round(t * options.control_rate)
        return q_ref[k], v_ref[k]

    robot.reset(plan[0])
    before = [robot.move(reference_at) for _ in range(lead)]
    plant.saturated[:] = 0
    states = [robot.move(reference_at) for _ in range(count)]
    robot.sensors.read(before)
    return states, robot.sensors.read(states)


def _follow_ideally(plant: Plant, reference: Reference, count: int,
                    rng: np.random.Generator) -> tuple[list[PlantState], Reading]:
    """Return states and readings of an arm that is exactly on its reference."""
    t = np.arange(count) / plant.options.rate
    q, v, a = reference.evaluate(t)
    friction = plant.friction_torque(v)
    torque = plant.rigid_torque(q, v, a) + friction
    commanded = torque
    if plant.options.delay:
        # the torque commanded at t acts after the delay
        ahead = reference.evaluate(t + plant.options.delay)
        commanded = plant.rigid_torque(*ahead) + plant.friction_torque(ahead[1])
    sensors = Sensors(plant, rng)
    sensors.start(q[0], v[0])
    states = [PlantState(*row) for row in zip(t.tolist(), q, v, a, torque, friction, commanded)]
    return states, sensors.read(states)
