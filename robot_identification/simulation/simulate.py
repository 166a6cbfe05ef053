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
"""Runs: an arm follows a motion, and what it publishes is recorded beside what is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import Array, read_only
from robot_identification.recording import published_effort, Recording
from robot_identification.recording.effort import published_position
from robot_identification.simulation.plant import Plant, PlantState
from robot_identification.simulation.reference import Reference, run_in_motion
from robot_identification.simulation.robot import SimulatedRobot
from robot_identification.simulation.sensors import Reading, Sensors
from robot_identification.simulation.truth import PlantTruth

SETTLING = 0.5  # [s] at rest before the run-in


@dataclass(frozen=True)
class SimulatedRun:
    """
    What was recorded of a run of N samples, and what was true.

    Parameters
    ----------
    recording
        What the robot published, with efforts and positions as its robot YAML says.
    t
        True instants, (N,) [s].
    q, v, a
        True motion, (N, n).
    torque
        Clean torque that the actuators applied at these instants, (N, n) [N m or N]: rigid-body
        dynamics, rotors and friction explain it.
    friction
        Part of it that friction took, (N, n) [N m or N].
    q_ref, v_ref
        The commanded motion, (N, n).
    plant
        The plant; `plant.truth` holds its parameters, `plant.mass_matrix(q)` its inertia.
    saturated
        Share of the run during which each joint's command was cut to the rated torque, (n,) [-].
    end_stops
        Number of samples at which a joint touched an end stop; zero for a sound run.
    bandwidth
        Bandwidth of the controller [Hz]; infinite for ideal tracking.

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
    bandwidth: float

    def __post_init__(self) -> None:
        for name in ('t', 'q', 'v', 'a', 'torque', 'friction', 'q_ref', 'v_ref', 'saturated'):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def truth(self) -> PlantTruth:
        """Parameters of the plant."""
        return self.plant.truth

    @property
    def tracking_error(self) -> Array:
        """Largest distance from the reference, (n,) [rad or m]."""
        error: Array = np.max(np.abs(self.q - self.q_ref), axis=0)
        return error

    def mass_matrix(self, q: Array) -> Array:
        """Return the plant's inertia matrix with rotors at q, (n, n) or (N, n, n)."""
        return self.plant.mass_matrix(q)


def simulate(plant: Plant, motion: Any, *, rng: np.random.Generator, periods: int = 1,
             name: str = 'simulation') -> SimulatedRun:
    """
    Move a plant along a motion and record it.

    The arm rests, runs in to the start of the motion (neither is recorded), and passes through the
    motion `periods` times.

    Parameters
    ----------
    plant
        The arm in the physics engine; runs of one plant are runs of one arm.
    motion
        An excitation, a trajectory, or arrays (t, q, v, a); see `Reference.of`.
    rng
        Source of the measurement noise.
    periods
        How often the motion is passed through.
    name
        Name of the recording.

    Raises
    ------
    SimulationError
        The motion is for other joints, cannot be reached from rest, or becomes unstable.

    """
    reference = Reference.of(motion, plant.arm, periods)
    if plant.options.tracking == 'ideal':
        states, readings, robot = *_follow_ideally(plant, reference, rng), None
    else:
        robot = SimulatedRobot(plant, rng)
        states, readings = _follow(robot, reference)
    t = np.array([state.t for state in states]) - states[0].t
    q_ref, v_ref, _ = reference.evaluate(t)
    truth = {field: np.array([getattr(state, field) for state in states])
             for field in ('q', 'v', 'a', 'torque', 'friction')}
    return SimulatedRun(
        recording=_recorded(plant, readings, states[0].t, name), t=t, **truth, q_ref=q_ref,
        v_ref=v_ref, plant=plant,
        saturated=(np.mean(np.abs(truth['torque']) > plant.truth.rated_torque, axis=0)
                   if robot is None else plant.saturated / (len(t) * plant.options.sensor_steps)),
        end_stops=0 if robot is None else robot.touched_end_stop,
        bandwidth=np.inf if robot is None else robot.controller.bandwidth)


def _samples(plant: Plant, reference: Reference) -> int:
    """Return how many whole sensor periods the motion lasts."""
    return int(np.floor(reference.duration * plant.options.rate + 1e-3))


def _follow(robot: SimulatedRobot,
            reference: Reference) -> tuple[list[PlantState], list[Reading]]:
    plant, options = robot.plant, robot.plant.options
    count = _samples(plant, reference)
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

    def wanted(t: float) -> tuple[Array, Array]:
        k = round(t * options.control_rate)
        return q_ref[k], v_ref[k]

    robot.reset(plan[0])
    before = [robot.move(wanted) for _ in range(lead)]
    plant.saturated[:], robot.touched_end_stop = 0, 0
    states = [robot.move(wanted) for _ in range(count)]
    return states, robot.sensors.read(before + states)[lead:]


def _follow_ideally(plant: Plant, reference: Reference,
                    rng: np.random.Generator) -> tuple[list[PlantState], list[Reading]]:
    t = np.arange(_samples(plant, reference)) / plant.options.rate
    delayed = t + plant.options.delay  # a drive that is on its reference commands ahead of time
    q, v, a = reference.evaluate(t)
    friction = plant.friction_torque(v)
    torque = plant.rigid_torque(q, v, a) + friction
    commanded = torque
    if plant.options.delay:
        ahead = reference.evaluate(delayed)
        commanded = plant.rigid_torque(*ahead) + plant.friction_torque(ahead[1])
    sensors = Sensors(plant, rng)
    sensors.start(q[0], v[0])
    states = [PlantState(*row) for row in zip(t.tolist(), q, v, a, torque, friction, commanded)]
    return states, sensors.read(states)


def _recorded(plant: Plant, readings: list[Reading], start: float, name: str) -> Recording:
    arm = plant.arm
    q = np.array([reading.q for reading in readings])
    v = None
    if readings[0].v is not None:
        v = np.array([reading.v for reading in readings])
    torque = np.array([reading.torque for reading in readings])
    effort = published_effort(arm, torque, q)
    q, v = published_position(arm, q, v)
    return Recording(np.array([reading.t for reading in readings]) - start, q, v=v,
                     joint_names=arm.joint_names, name=name, tau=effort.get('tau'),
                     current=effort.get('current'))
