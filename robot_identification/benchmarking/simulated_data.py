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
"""Simulated arms as data sets; their parameters differ from those of their URDFs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
import zlib

import numpy as np
from robot_identification.arm import load_arm
from robot_identification.arrays import Array
from robot_identification.benchmarking.data import BenchmarkCase, BenchmarkData, DATA
from robot_identification.benchmarking.lugre_plant import LuGrePlant
from robot_identification.benchmarking.random_motion import RandomMotion
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
