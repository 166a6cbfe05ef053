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
"""Data sets of simulated arms, among them one with LuGre friction that shares no code."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
import zlib

import numpy as np
import pinocchio as pin
from robot_identification import Arm, Recording
from robot_identification.arm import load_arm
from robot_identification.arrays import Array
from robot_identification.benchmarking.data import BenchmarkCase, BenchmarkData, DATA
from robot_identification.dynamics import ModelStructure
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.simulation.robot import JointController

PERIOD = 8.0
"""[s] period of the fitted and of the held-out motion."""
EXACT_RATE = 250.0
"""[Hz] rate of the exact samples that are predicted."""


def exact_samples(fitted: Samples, states: Sequence[Array], torque: Array) -> Samples:
    """
    Return samples of exact states and torques, decimated as the fitted recording.

    Parameters
    ----------
    fitted
        Samples of the fitted recording.
    states
        Positions, velocities and accelerations, (N, n) each, at `EXACT_RATE`.
    torque
        Torques without noise, (N, n) [N m or N].

    """
    q, v, a = states
    return Samples(t=np.arange(len(q)) / EXACT_RATE, q=q, v=v, a=a, tau=torque, rate=EXACT_RATE,
                   joint_names=fitted.joint_names, segments=(slice(0, len(q)),),
                   decimation_cutoff=fitted.decimation_cutoff)


@dataclass
class _SimulatedData(BenchmarkData):
    """A data set of a shipped robot, which is simulated."""

    name: str
    summary: str
    robot: str

    def splits(self) -> Sequence[str]:
        """Return the only split: another motion is predicted."""
        return ['other motion']


@dataclass
class SimulatedArm(_SimulatedData):
    """
    An arm in MuJoCo, whose inertias, friction, motions and noise are drawn for each seed.

    Parameters
    ----------
    name, summary
        As for `BenchmarkData`.
    robot
        Name of a shipped robot.
    options
        Fields of `PlantOptions` that differ from the defaults: 20 % other inertias, Stribeck
        friction, delay, encoder counts, torque noise, and a joint controller that moves the arm.
    exact
        Whether Coulomb and viscous friction describe the arm exactly (`PlantOptions.matched`).

    """

    options: Mapping[str, Any]
    exact: bool = False

    def load(self, split: str, seed: int) -> BenchmarkCase:
        """Return the case of a seed: two periods are fitted, another motion is predicted."""
        arm = load_arm(self.robot)
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        kind = PlantOptions.matched if self.exact else PlantOptions
        plant = Plant(arm, kind(seed=int(rng.integers(2**31)), **self.options))
        motion, other = RandomMotion(arm, PERIOD, rng), RandomMotion(arm, PERIOD, rng)
        run = simulate(plant, motion, rng=rng, periods=2)
        fitted = process(run.recording, arm)
        t = np.arange(0, PERIOD, 1 / EXACT_RATE)
        states = other.evaluate(t)
        torque = plant.rigid_torque(*states) + plant.friction_torque(states[1])
        truth = {'coulomb_viscous': plant.truth.standard_parameters(
            ModelStructure.of(arm, 'coulomb_viscous'))} if self.exact else {}
        return BenchmarkCase(
            arm, (fitted,), exact_samples(fitted, states, torque), motion,
            None if plant.options.tracking == 'ideal' else JointController.tuned(plant), truth)


class LuGreArm(_SimulatedData):
    """
    An arm with LuGre friction, load-dependent friction and gain errors, see `LuGrePlant`.

    Parameters
    ----------
    name, summary
        As for `BenchmarkData`.
    robot
        Name of a shipped robot.

    """

    def splits(self) -> Sequence[str]:
        """Return the splits: another excitation, or motions from pose to pose with pauses."""
        return ['other motion', 'task with pauses']

    def load(self, split: str, seed: int) -> BenchmarkCase:
        """Return the case of a split and a seed; its torques contain the sensors' gain errors."""
        arm = load_arm(self.robot)
        plant = LuGrePlant(arm, seed)
        fitted = process(plant.excite(2 * PERIOD, 'fitted'), arm)
        t = np.arange(0, PERIOD, 1 / EXACT_RATE)
        q, v, a = RandomMotion(arm, PERIOD, np.random.default_rng([seed, 7])).evaluate(t)
        if split == 'task with pauses':
            times, *moves = plant.task(PERIOD)
            q, v, a = (np.column_stack([np.interp(t, times, c) for c in x.T]) for x in moves)
        torque = plant.gains * plant.torque(q, v, a, rate=EXACT_RATE)
        return BenchmarkCase(arm, (fitted,), exact_samples(fitted, (q, v, a), torque))


_LARGE_NOISE = {'torque_noise': 0.03, 'encoder_bits': 13}
for _data in (
        partial(SimulatedArm, 'two_link', 'two joints, exactly described, 1 % noise', 'two_link',
                {}, True),
        partial(SimulatedArm, 'ur10e_exact', 'six joints, exactly described, 1 % noise', 'ur10e',
                {}, True),
        partial(SimulatedArm, 'ur10e_quiet', 'six joints, Stribeck and delay, 0.2 % noise',
                'ur10e', {'torque_noise': 0.002}),
        partial(SimulatedArm, 'ur10e_noisy', 'six joints, Stribeck and delay, 3 % noise, coarse '
                'encoders', 'ur10e', _LARGE_NOISE),
        partial(SimulatedArm, 'panda_mujoco', 'seven joints, Stribeck and delay, 1 % noise',
                'panda', {}),
        partial(LuGreArm, 'ur10e_lugre', 'six joints, LuGre friction, load, gain errors',
                'ur10e'),
        partial(LuGreArm, 'panda_lugre', 'seven joints, LuGre friction, load, gain errors',
                'panda')):
    DATA.register(_data.args[0], _data)


RATE = 500.0    # [Hz]
GAIN = 0.02     # standard deviation of the sensors' gains
DAY = 0.15      # relative change of friction on another day
CORRELATED = 0.2    # [s] time constant of the correlated noise
SPEED = 0.5     # largest speed of tasks as a fraction of the limits


class LuGrePlant:
    """
    A simulated arm whose parameters are drawn from the name of the robot and a seed.

    Parameters
    ----------
    arm
        The arm of the URDF.
    seed
        Seed of the drawn numbers.

    """

    def __init__(self, arm: Arm, seed: int) -> None:
        self.arm = arm
        rng = self.rng = np.random.default_rng([seed, zlib.crc32(arm.name.encode()), 33])
        self.model = arm.model.copy()
        for j in range(1, self.model.njoints):
            body = self.model.inertias[j]
            factor = 1 + 0.1 * rng.uniform(-1, 1)
            self.model.inertias[j] = pin.Inertia(body.mass * factor, body.lever,
                                                 body.inertia * factor)
        self.model.armature = np.zeros(arm.n)
        self.data = self.model.createData()
        self.limit = np.where(np.isfinite(arm.limits.torque), arm.limits.torque, 50.0)
        self.coulomb = self.limit * rng.uniform(0.02, 0.04, arm.n)
        self._static = self.coulomb * rng.uniform(1.1, 1.4, arm.n)
        self._fall = rng.uniform(0.03, 0.08, arm.n)     # [rad/s] Stribeck velocity
        self._viscous = self.coulomb * rng.uniform(0.3, 0.8, arm.n)
        self._load = rng.uniform(0.0, 0.04, arm.n)
        self._presliding = rng.uniform(0.5e-3, 2e-3, arm.n)    # [rad]
        self.gains = 1 + GAIN * rng.normal(size=arm.n)
        self.noise = self.limit * rng.uniform(1e-3, 3e-3, arm.n)
        self.delay = rng.uniform(0.003, 0.008)

    def excite(self, seconds: float, name: str, day: float = 1.0) -> Recording:
        """Return a recording of a motion that excites all parameters."""
        t = np.arange(0, seconds, 1 / RATE)
        return self.record(t, *RandomMotion(self.arm, seconds, self.rng, wobble=True).evaluate(t),
                           name=name, day=day)

    def task(self, seconds: float) -> tuple[Array, Array, Array, Array]:
        """Return t (N,), q, v and a (N, n) of motions with least jerk, and pauses of 0.3-2 s."""
        pieces = [np.concatenate(part) for part in zip(*self._moves(seconds))]
        q, v, a = (part[:round(seconds * RATE)] for part in pieces)
        return np.arange(len(q)) / RATE, q, v, a

    def _moves(self, seconds: float) -> Iterator[tuple[Array, Array, Array]]:
        rng, limits = self.rng, self.arm.limits
        lower = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
        upper = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
        middle, half = (lower + upper) / 2, np.minimum((upper - lower) / 2, 1.5) * 0.6
        here, passed = middle + half * rng.uniform(-1, 1, self.arm.n), 0.0
        while passed < seconds:
            way = middle + half * rng.uniform(-1, 1, self.arm.n) - here
            way[rng.uniform(size=self.arm.n) < 0.3] = 0.0    # joints that wait
            velocity = np.where(np.isfinite(limits.velocity), limits.velocity, 2.0)
            duration = max(1.875 * float(np.max(np.abs(way) / velocity)) / SPEED, 0.6)
            yield least_jerk(here, way, duration)
            here = here + way
            still = np.zeros((round(rng.uniform(0.3, 2.0) * RATE), self.arm.n))
            yield here + still, still, still
            passed += duration + len(still) / RATE

    def record(self, t: Array, q: Array, v: Array, a: Array, *, name: str,
               day: float | Array = 1.0, push: Array | None = None) -> Recording:
        """
        Return the recording of a motion by the simulated sensors.

        Parameters
        ----------
        t, q, v, a
            Stamps (N,) [s], positions, velocities and accelerations, (N, n).
        name
            Name of the recording.
        day
            Factor of the friction, of all joints or of each one, (n,).
        push
            External torques, (N, n) [N m or N].

        """
        torque = self.torque(q, v, a, day) - (0.0 if push is None else push)
        late = np.column_stack([np.interp(t - self.delay, t, column) for column in torque.T])
        white = self.rng.normal(size=late.shape)
        keep = np.exp(-1 / RATE / CORRELATED)
        slow, level = np.zeros_like(late), self.rng.normal(size=self.arm.n)
        for k, draw in enumerate(self.rng.normal(size=late.shape)):
            level = keep * level + np.sqrt(1 - keep**2) * draw
            slow[k] = level
        measured = self.gains * late + self.noise * (white + slow)
        return Recording(t, q + 1e-5 * self.rng.normal(size=q.shape), measured,
                         joint_names=self.arm.joint_names, name=name)

    def torque(self, q: Array, v: Array, a: Array, day: float | Array = 1.0,
               rate: float = RATE) -> Array:
        """Return the torques of bodies and friction at samples of a rate, (N, n) [N m or N]."""
        rigid, level = self.friction(q, v, a, day)
        stiffness = self.coulomb / self._presliding
        steady = level * np.sign(v)
        fade = np.exp(-np.abs(v) * stiffness / level / rate)
        friction, state = np.empty_like(v), np.zeros(self.arm.n)
        for k in range(len(v)):
            state = steady[k] + (state - steady[k]) * fade[k]
            friction[k] = state
        return rigid + friction + day * self._viscous * v

    def friction(self, q: Array, v: Array, a: Array, day: float | Array) -> tuple[Array, Array]:
        """Return rigid-body torques and breakaway friction torques, (N, n) each [N m or N]."""
        rigid = np.array([pin.rnea(self.model, self.data, *row) for row in zip(q, v, a)])
        return rigid, day * (self.coulomb + (self._static - self.coulomb)
                             * np.exp(-(v / self._fall) ** 2) + self._load * np.abs(rigid))


def least_jerk(start: Array, way: Array, duration: float) -> tuple[Array, Array, Array]:
    """Return positions and derivatives of a motion from rest to rest, (N, n) each, at `RATE`."""
    s = np.arange(0, duration, 1 / RATE)[:, None] / duration
    return (start + way * (10 * s**3 - 15 * s**4 + 6 * s**5),
            way / duration * (30 * s**2 - 60 * s**3 + 30 * s**4),
            way / duration**2 * (60 * s - 180 * s**2 + 120 * s**3))


HARMONICS, PART = 4, 0.6
"""Harmonics of a motion, and the fraction of the limits that it uses (assumed)."""


class RandomMotion:
    """
    A random Fourier series that uses a fraction of the limits of motion.

    Parameters
    ----------
    arm, period
        The arm, and the period of the series [s].
    rng
        Source of the random numbers.
    wobble
        Whether the arm deviates from the series as with a servo: by some thousandths of its range,
        at frequencies of its own.

    """

    def __init__(self, arm: Arm, period: float, rng: np.random.Generator,
                 wobble: bool = False) -> None:
        self.period, self.joint_names = period, arm.joint_names
        limits = arm.limits
        lower = np.maximum(np.nan_to_num(limits.lower, neginf=-np.pi), -np.pi)
        upper = np.minimum(np.nan_to_num(limits.upper, posinf=np.pi), np.pi)
        self._frequency = 2 * np.pi / period * np.arange(1, HARMONICS + 1)[:, None]
        self._size = rng.normal(size=(HARMONICS, arm.n)) / np.sqrt(
            np.arange(1, HARMONICS + 1))[:, None]
        self._phase = rng.uniform(0, 2 * np.pi, (HARMONICS, arm.n))
        self._middle = np.zeros(arm.n)
        q, v, a = self.evaluate(np.linspace(0, period, 500))
        fastest = np.where(np.isfinite(limits.acceleration), limits.acceleration, 10.0)
        speed = np.where(np.isfinite(limits.velocity), limits.velocity, 2.0)
        span = np.ptp(q, axis=0)
        factor = PART * np.minimum.reduce([
            (upper - lower) / span, speed / np.abs(v).max(axis=0),
            fastest / np.abs(a).max(axis=0)])
        self._size = self._size * factor
        if wobble:
            size = 0.002 * factor * span * rng.normal(size=(3, arm.n))
            self._size = np.concatenate([self._size, size])
            self._frequency = np.concatenate([self._frequency,
                                              rng.uniform(1.0, 12.0, 3)[:, None]])
            self._phase = np.concatenate([self._phase, rng.uniform(0, 2 * np.pi, (3, arm.n))])
        slack = (upper - lower - factor * span) / 2
        self._middle = ((lower + upper) / 2 - factor * (q.max(axis=0) + q.min(axis=0)) / 2
                        + rng.uniform(-0.8, 0.8, arm.n) * slack)

    def evaluate(self, t: Array, derivatives: int = 2) -> tuple[Array, ...]:
        """Return positions and derivatives at times, (N, n) each."""
        angle = self._frequency[:, :, None] * np.asarray(t) + self._phase[:, :, None]
        return tuple(
            np.einsum('hn,hnt->tn', self._size * self._frequency ** order,
                      np.sin(angle + order * np.pi / 2)) + (self._middle if order == 0 else 0.0)
            for order in range(derivatives + 1))
