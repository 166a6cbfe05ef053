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
"""Samples of arms that a model describes exactly, for the coverage of intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.benchmarking.random_motion import RandomMotion
from robot_identification.dynamics import ModelStructure
from robot_identification.recording import Recording
from robot_identification.signals import process, Samples
from robot_identification.simulation import Plant, PlantOptions, simulate
from robot_identification.simulation.robot import JointController

RATE, SECONDS = 200.0, 8.0
NOISE = 0.05
"""[N m] white noise of the torques."""
POSITION_NOISE = 1e-3
"""[rad] white noise of the positions, for estimators that simulate the closed loop."""


def open_loop_samples(arm: Arm, friction: str, seed: int) -> tuple[Samples, Array, Array]:
    """
    Return samples of exact states with noisy torques, true parameters and friction shapes.

    Parameters
    ----------
    arm, friction
        The arm, and the friction model that describes it exactly.
    seed
        Seed of parameters, motion and noise.

    Returns
    -------
    tuple
        Samples, standard parameters (count,) and nonlinear friction parameters (m, s).

    """
    rng = np.random.default_rng(seed)
    structure = ModelStructure.of(arm, friction)
    low, high = np.log(np.moveaxis(structure.shape_bounds, -1, 0))
    shape = np.exp(low + rng.uniform(0.3, 0.7, low.shape) * (high - low))
    structure = structure.with_friction_shape(shape)
    t = np.arange(0, 2 * SECONDS, 1 / RATE)
    q, v, a = RandomMotion(arm, SECONDS, rng).evaluate(t)
    standard = np.zeros(structure.count)
    inertial = np.array(arm.inertial_parameters)
    standard[structure.inertial_slice] = (inertial * rng.uniform(0.9, 1.1)).ravel()
    standard[structure.rotor_slice] = rng.uniform(0.1, 0.3, len(arm.transmission))
    sizes = rng.uniform(1.0, 3.0, (len(arm.transmission), len(structure.friction.parameters)))
    for place, parameter in enumerate(structure.friction.parameters):
        if parameter.startswith('f1') and friction.startswith('bompos'):
            sizes[:, place] += 6.0    # friction must dissipate energy
    standard[structure.friction_slice] = sizes.ravel()
    torque = structure.columns(q, v, a, None) @ standard
    noisy = torque + NOISE * rng.normal(size=torque.shape)
    return (Samples(t, q, v, a, noisy, RATE, arm.joint_names, (slice(0, len(t)),),
                    decimation_cutoff=40.0, noise=np.full(arm.n, NOISE ** 2)), standard, shape)


def closed_loop_samples(arm: Arm, seed: int) -> tuple[Samples, Array, Array, dict[str, Any]]:
    """
    Return samples with noisy positions under a known controller, the truth and settings.

    Parameters
    ----------
    arm
        The arm, which has Coulomb and viscous friction.
    seed
        Seed of parameters, motion and noise.

    Returns
    -------
    tuple
        As `open_loop_samples`, and the settings `reference` and `control_law`.

    """
    rng = np.random.default_rng(seed)
    plant = Plant(arm, PlantOptions(
        seed=seed, stribeck_ratio=1.0, delay=0.0, encoder_bits=None, torque_signal='applied',
        velocity_signal='none', friction_compensation=1.0, rate=500.0))
    motion = RandomMotion(arm, 4.0, rng)
    run = simulate(plant, motion, rng=rng).recording
    noisy = Recording(run.t, run.q + POSITION_NOISE * rng.normal(size=run.q.shape), run.tau,
                      joint_names=arm.joint_names)
    samples = process(noisy, arm, cutoff=100.0, decimation_cutoff=10.0)
    settings = {'reference': motion, 'control_law': JointController.tuned(plant)}
    standard = plant.truth.standard_parameters(ModelStructure.of(arm, 'coulomb_viscous'))
    return samples, standard, np.zeros((arm.n, 0)), settings
