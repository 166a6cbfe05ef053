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
"""Simulation of an arm that follows a reference motion: recording and true states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.errors import SimulationError
from robot_identification.recording import Recording
from robot_identification.recording.effort import published_effort, published_position
from robot_identification.simulation.plant import Plant, PlantState
from robot_identification.simulation.robot import Reading, Sensors, SimulatedRobot
from scipy.interpolate import CubicHermiteSpline

SETTLING = 0.5  # [s] time at rest before the run-in
RUN_IN = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05)  # [s] candidate durations of the run-in
_LONGEST = 86_400.0    # [s] longest motion: 90 million samples at 1 kHz
Motion = tuple[Array, ...]


@dataclass(frozen=True)
class Reference:
    """
    Reference motion of n joints; time zero is the start of the recording.

    Parameters
    ----------
    evaluate
        Function from times (N,) [s] to positions, velocities and accelerations, (N, n) each.
    duration
        Duration of the motion with all repetitions [s].

    """

    evaluate: Callable[[Array], Motion]
    duration: float

    @classmethod
    def of(cls, motion: Any, arm: Arm, periods: int) -> Reference:
        """
        Return the reference of an excitation, a trajectory or arrays.

        Parameters
        ----------
        motion
            An excitation (with `.trajectory`), a trajectory (with `.period` and `.evaluate(t)`,
            whose first three results are q, v and a), or arrays (t, q, v, a).
        arm
            The simulated arm.
        periods
            Number of repetitions of the motion.

        Raises
        ------
        SimulationError
            The motion has another type or other joints, or is too long.

        """
        names = getattr(motion, 'joint_names', None)
        if names is not None and tuple(names) != arm.joint_names:
            raise SimulationError(
                f'the motion is for the joints {", ".join(names)}, the arm has '
                f'{", ".join(arm.joint_names)}')
        if periods < 1:
            raise SimulationError(f'the motion cannot be executed {periods} times')
        trajectory = getattr(motion, 'trajectory', motion)
        if hasattr(trajectory, 'evaluate') and hasattr(trajectory, 'period'):
            reference = cls(lambda t: tuple(np.asarray(trajectory.evaluate(t)[:3], float)),
                            float(trajectory.period) * periods)
        elif isinstance(motion, (tuple, list)) and len(motion) == 4:
            if periods != 1:
                raise SimulationError('a motion given as arrays is executed once; repeat '
                                      'the arrays themselves')
            reference = _from_arrays(motion)
        else:
            raise SimulationError(
                f'a motion cannot be made of {type(motion).__name__}; give an excitation, a '
                'trajectory with evaluate(t) and period, or arrays (t, q, v, a)')
        if not reference.duration <= _LONGEST:
            raise SimulationError(f'a motion of {reference.duration:g} s is longer than the '
                                  f'{_LONGEST:g} s that are simulated; use fewer periods')
        joints = reference.evaluate(np.zeros(1))[0].shape[1]
        if joints != arm.n:
            raise SimulationError(f'the motion is for {joints} joints, the arm has {arm.n}')
        return reference

    def run_in(self, arm: Arm) -> tuple[Array, Array, Array]:
        """
        Return a run-in from rest to the position, velocity and acceleration at the start.

        Each joint waits and then follows a polynomial whose velocity grows from zero. Its duration
        is the longest of `RUN_IN` that keeps the joint within the position limits.

        Parameters
        ----------
        arm
            The arm with its position limits.

        Returns
        -------
        tuple
            Positions at rest (n,), durations (n,) [s], and coefficients c2 and c3 of the velocity
            c2 s^2 + c3 s^3 after s seconds of run-in, (n, 2).

        Raises
        ------
        SimulationError
            Every run-in to the start of the motion violates a position limit.

        """
        q, v, a = (x[0] for x in self.evaluate(np.zeros(1)))
        lower, upper = arm.limits.lower, arm.limits.upper
        rest, seconds, coefficients = np.array(q), np.zeros(arm.n), np.zeros((arm.n, 2))
        for duration in sorted(RUN_IN):    # the longest one that fits is written last
            c2 = (3 * v - a * duration) / duration ** 2
            c3 = (a * duration - 2 * v) / duration ** 3
            s = np.linspace(0, duration, 51)[:, None]
            path = c2 * s ** 3 / 3 + c3 * s ** 4 / 4
            path += q - path[-1]
            fits = ((path.min(axis=0) >= np.minimum(lower, q) - 1e-9)
                    & (path.max(axis=0) <= np.maximum(upper, q) + 1e-9))
            rest[fits], seconds[fits] = path[0, fits], duration
            coefficients[fits] = np.column_stack([c2, c3])[fits]
        for i in np.flatnonzero(seconds == 0):
            raise SimulationError(
                f'the motion starts at {q[i]:.4g} with {v[i]:.4g} per second at joint '
                f"'{arm.joint_names[i]}', which cannot be reached from rest within the limits "
                f'{lower[i]:.4g} and {upper[i]:.4g}')
        return rest, seconds, coefficients


def run_in_motion(plan: tuple[Array, Array, Array], remaining: Array) -> tuple[Array, Array]:
    """
    Return positions and velocities of the run-in, (N, n) each.

    Parameters
    ----------
    plan
        Result of `Reference.run_in`.
    remaining
        Times until the start of the motion, (N, 1) [s].

    """
    rest, seconds, coefficients = plan
    s = np.maximum(seconds - remaining, 0)
    c2, c3 = coefficients.T
    return rest + c2 * s ** 3 / 3 + c3 * s ** 4 / 4, c2 * s ** 2 + c3 * s ** 3


def _from_arrays(arrays: Any) -> Reference:
    t, q, v, a = (np.asarray(x, dtype=float) for x in arrays)
    if t.ndim != 1 or q.ndim != 2 or not q.shape == v.shape == a.shape == (len(t), q.shape[1]):
        raise SimulationError(f'the arrays must be t (N,) and q, v, a (N, n), not '
                              f'{t.shape}, {q.shape}, {v.shape}, {a.shape}')
    if len(t) < 2 or not np.all(np.diff(t) > 0):
        raise SimulationError('the times of the arrays must increase')
    position, velocity = CubicHermiteSpline(t - t[0], q, v), CubicHermiteSpline(t - t[0], v, a)
    length = float(t[-1] - t[0])
    return Reference(lambda instants: (position(instants), velocity(instants),
                                       velocity(instants, 1)), length + length / (len(t) - 1))


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
        saturated = np.mean(np.abs(states.torque) > plant.truth.rated_torque, axis=0)
    else:
        states, readings = _follow(plant, reference, count, rng)
        saturated = plant.saturated / (count * plant.options.sensor_steps)
    t = readings.t - readings.t[0]
    q_ref, v_ref, _ = reference.evaluate(t)
    effort = published_effort(plant.arm, readings.torque, readings.q)
    q, v = published_position(plant.arm, readings.q, readings.v)
    recording = Recording(t, q, v=v, joint_names=plant.arm.joint_names,
                          name=name, tau=effort.get('tau'), current=effort.get('current'))
    return SimulatedRun(recording, t, states.q, states.v, states.a, states.torque, states.friction,
                        q_ref, v_ref, plant, saturated, int(np.sum(states.at_end_stop)))


def _follow(plant: Plant, reference: Reference, count: int,
            rng: np.random.Generator) -> tuple[PlantState, Reading]:
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
    states = PlantState.stack([robot.move(reference_at) for _ in range(count)])
    robot.sensors.read(PlantState.stack(before))
    return states, robot.sensors.read(states)


def _follow_ideally(plant: Plant, reference: Reference, count: int,
                    rng: np.random.Generator) -> tuple[PlantState, Reading]:
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
    states = PlantState(t, q, v, a, torque, friction, commanded)
    return states, sensors.read(states)
