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
"""Data with known truth for searches and filters: MuJoCo torques plus a friction model."""

import dataclasses
from functools import cache

from motions import excitation_of
import numpy as np
from robot_identification.arm import load_arm
from robot_identification.dynamics import base_parameters, ModelStructure
from robot_identification.dynamics.friction import FrictionInput
from robot_identification.regression import build_regression
from robot_identification.signals import Samples
from robot_identification.simulation import Plant, PlantOptions

NOISE = np.array([2.0, 3.0, 1.5])
SHAPES = {'atan': [8.0], 'stribeck': [0.15], 'bompos': [0.2, 4.0], 'sech_tanh': [6.0, 60.0]}
PARAMETERS = {'coulomb_viscous': [40.0, 25.0, 2.0], 'atan': [20.0, 25.0, 18.0, 2.0],
              'stribeck': [40.0, 60.0, 25.0, 2.0], 'bompos': [60.0, 25.0, 12.0, 25.0, 2.0],
              'sech_tanh': [40.0, 25.0, 25.0, 2.0], 'cube_root': [30.0, 25.0, 12.0, 2.0]}


@cache
def motion():
    arm = load_arm('er16')
    plant = Plant(arm, PlantOptions.matched(seed=3))
    t, q, v, a = excitation_of('er16_10s', arm).sample(100.0, 2)
    return arm, plant, t, q, v, a, plant.rigid_torque(q, v, a)


@cache
def truth(friction):
    """Return the arm, its base parameters with the true shape, and their true values."""
    arm, plant, *_ = motion()
    structure = ModelStructure.of(arm, friction)
    if structure.friction.nonlinear:
        structure = structure.with_friction_shape(np.tile(SHAPES[friction], (arm.n, 1)))
    base = base_parameters(structure)
    standard = np.concatenate([plant.truth.inertial.ravel(), plant.truth.rotor_inertia,
                               np.tile(PARAMETERS[friction], arm.n)])
    return arm, base, base.project(standard)


def friction_torque(friction, v):
    _, base, _ = truth(friction)
    structure = base.structure
    return np.column_stack([
        structure.friction.torque(FrictionInput(v[:, j]), PARAMETERS[friction], structure.shape[j])
        for j in range(v.shape[1])])


def samples(friction, seed=0, noise=1.0):
    arm, _, t, q, v, a, rigid = motion()
    tau = rigid + friction_torque(friction, v)
    tau = tau + noise * NOISE * np.random.default_rng(seed).standard_normal(tau.shape)
    return Samples(t=t, q=q, v=v, a=a, tau=tau, rate=100.0, joint_names=arm.joint_names,
                   segments=(slice(0, len(t)),))


def regression(friction, seed=0, noise=1.0):
    return build_regression(motion()[0], [samples(friction, seed, noise)], friction)


def sparse_regression(friction, seed=0):
    """Return the regression of every fourth sample, for methods with ten thousand evaluations."""
    whole = samples(friction, seed)
    fewer = {name: getattr(whole, name)[::4] for name in ('t', 'q', 'v', 'a', 'tau')}
    return build_regression(motion()[0], [dataclasses.replace(
        whole, **fewer, rate=25.0, segments=(slice(0, len(fewer['t'])),))], friction)


def friction_error(estimate, friction):
    """Return each joint's largest friction error, relative to its largest friction."""
    structure, base = estimate.base.structure, estimate.base
    place = [base.labels.index(f'{joint}.{parameter}') for joint in structure.arm.joint_names
             for parameter in structure.friction.parameters]
    parameters = estimate.values[place].reshape(structure.arm.n, -1)
    v = motion()[4]
    curve = np.column_stack([
        structure.friction.torque(FrictionInput(v[:, j]), parameters[j], structure.shape[j])
        for j in range(structure.arm.n)])
    true = friction_torque(friction, v)
    return np.sqrt(np.mean((curve - true) ** 2, axis=0)) / np.abs(true).max(axis=0)
