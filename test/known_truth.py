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
"""Samples with known parameters: sums of sines of an arm with the parameters of its URDF."""

from __future__ import annotations

import numpy as np
from robot_identification import inverse_dynamics, load_arm, Recording
from robot_identification.dynamics import ModelStructure
from robot_identification.signals import Samples


def samples_of(arm, count=3000, rate=200.0, seed=0, cutoff=np.inf, segments=None, noise=0.1):
    rng = np.random.default_rng(seed)
    t = np.arange(count) / rate
    omega, phase = rng.uniform(1, 6, size=(2, arm.n)), rng.uniform(0, 6, size=(2, arm.n))
    angle = omega[:, None] * t[:, None] + phase[:, None]
    q = np.sum(np.sin(angle), axis=0) * 0.4
    v = np.sum(omega[:, None] * np.cos(angle), axis=0) * 0.4
    a = -np.sum(omega[:, None] ** 2 * np.sin(angle), axis=0) * 0.4
    tau = inverse_dynamics(arm, q, v, a) + noise * rng.normal(size=q.shape)
    return Samples(t, q, v, a, tau, rate, arm.joint_names,
                   segments or (slice(0, count),), decimation_cutoff=cutoff)


def friction_samples(arm, name, seed=0, noise=0.02, rate=200.0, seconds=8.0):
    """Return samples of a matched arm with a friction model, and the true parameters."""
    rng = np.random.default_rng(seed)
    structure = ModelStructure.of(arm, name)
    low, high = np.log(np.moveaxis(structure.shape_bounds, -1, 0))
    shape = np.exp(low + rng.uniform(0.4, 0.6, low.shape) * (high - low))
    structure = structure.with_friction_shape(shape)
    t = np.arange(0, seconds, 1 / rate)
    w, phase = np.array([0.75, 2.5, 4.5])[:, None, None], rng.uniform(0, 6, (3, 1, arm.n))
    size = np.array([1.2, 0.5, 0.1])[:, None, None]
    angle = w * t[:, None] + phase
    q, v, a = ((size * x).sum(axis=0) for x in (
        np.sin(angle), w * np.cos(angle), -w ** 2 * np.sin(angle)))
    standard = np.concatenate([arm.inertial_parameters.ravel(),
                               rng.uniform(0.1, 0.3, len(arm.transmission)),
                               rng.uniform(1, 3, structure.count - 11 * arm.n)])
    for place, parameter in enumerate(structure.friction.parameters):
        own = standard[22:].reshape(2, -1)[:, place]
        if parameter.startswith('f1') and name.startswith('bompos'):
            own += 6.0    # friction must dissipate energy
        if parameter.startswith('load'):
            own *= 0.1
    load = (structure.columns(q, v, a, np.zeros_like(q))[..., :10 * arm.n]
            @ standard[:10 * arm.n]) if structure.friction.needs_load else None
    tau = structure.columns(q, v, a, load) @ standard
    noisy = tau + noise * rng.normal(size=tau.shape)
    parts = (slice(0, 900), slice(900, len(t)))
    return Samples(t, q, v, a, noisy, rate, arm.joint_names, parts,
                   decimation_cutoff=40.0), shape, standard, tau, load


def standard_truth(structure, truth):
    standard = np.zeros(structure.count)
    standard[structure.inertial_slice] = truth.inertial.ravel()
    standard[structure.rotor_slice] = truth.rotor_inertia
    friction = np.zeros((len(truth.rotor_inertia), 3))
    friction[:, 0], friction[:, 1] = truth.friction.coulomb, truth.friction.viscous
    standard[structure.friction_slice] = friction.ravel()
    return standard


def two_link_recording(seed, friction=1.0, mass=0.0, count=1500, still=False):
    """Return a motion of the two-link arm at 100 Hz: scaled friction, and a mass at the tip."""
    arm, rng = load_arm('two_link'), np.random.default_rng(seed)
    t = np.arange(count) / 100.0
    omega, phase = rng.uniform(1.0, 5.0, (2, 3, arm.n)), rng.uniform(0.0, 6.0, (2, 3, arm.n))
    if still:
        omega[:, :, -1] = 0.0
    angle = omega[0] * t[:, None, None] + phase[0]
    q = 0.5 * np.sin(angle).sum(axis=1)
    v = 0.5 * (omega[0] * np.cos(angle)).sum(axis=1)
    a = -0.5 * (omega[0] ** 2 * np.sin(angle)).sum(axis=1)
    inertial = np.array(arm.inertial_parameters)
    inertial[-1, 0] += mass
    tau = inverse_dynamics(arm, q, v, a, inertial) + friction * (0.8 * np.sign(v) + 0.3 * v)
    return Recording(t, q + 1e-6 * rng.normal(size=q.shape),
                     tau + 0.02 * rng.normal(size=q.shape), joint_names=arm.joint_names,
                     name=f'seed {seed}')


def held_samples(arm, held, rate=200.0, seconds=16.0):
    """
    Return samples of a motion in which the first joint creeps for a quarter of the time.

    Its torque there contains a static friction `held` [N m]; sliding friction is 2 sgn(v) + v.
    """
    t = np.arange(0.0, seconds, 1 / rate)
    slow = (t > 0.25 * seconds) & (t < 0.5 * seconds)
    phase = np.cumsum(np.where(slow, 1e-3, 1.0)) / rate    # time that stands nearly still
    w = np.array([1.3, 3.1])
    q = 0.6 * np.column_stack([np.sin(w[0] * phase) + np.sin(2.7 * phase),
                               np.sin(w[1] * t) + np.sin(1.1 * t)])
    v = 0.6 * np.column_stack([
        (w[0] * np.cos(w[0] * phase) + 2.7 * np.cos(2.7 * phase)) * np.where(slow, 1e-3, 1.0),
        w[1] * np.cos(w[1] * t) + 1.1 * np.cos(1.1 * t)])
    a = -0.6 * np.column_stack([
        (w[0] ** 2 * np.sin(w[0] * phase) + 2.7 ** 2 * np.sin(2.7 * phase))
        * np.where(slow, 1e-6, 1.0), w[1] ** 2 * np.sin(w[1] * t) + 1.1 ** 2 * np.sin(1.1 * t)])
    tau = inverse_dynamics(arm, q, v, a) + 2 * np.sign(v) + v
    tau[slow, 0] += held - 2 * np.sign(v[slow, 0])
    return Samples(t, q, v, a, tau, rate, arm.joint_names, (slice(0, len(t)),),
                   decimation_cutoff=10.0), slow
