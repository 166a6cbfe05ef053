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
"""Springs and counterbalances: geometry, identification, files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.arm.balancers import CoilSpring, GasSpring, TorsionSpring
from robot_identification.arm.robot_file import arm_from_mapping, arm_to_mapping
from robot_identification.dynamics import base_parameters, IdentifiedModel, ModelStructure
from robot_identification.dynamics.model_file import load_model
from robot_identification.errors import ConfigurationError
from robot_identification.estimation import fit_samples, FitOptions, get_estimator
from robot_identification.signals import Samples

STRUT = {'joint': 'shoulder', 'fixed_radius': 0.8, 'moving_radius': 0.2, 'angle': 0.3}
GAS = {'area': 1.7e-3, 'pressure': 1.6e7, 'volume': 9.6e-4, 'length_at_pressure': 0.6}
SPRINGS = (CoilSpring(name='coil', free_length=0.5, **STRUT),
           GasSpring(name='gas', **GAS, **STRUT),
           GasSpring(name='push', pulls=False, **{**GAS, 'length_at_pressure': 1.0}, **STRUT),
           TorsionSpring(name='torsion', joint='shoulder', rest=0.2))


def energy(spring, q):
    """Return the energy of a spring of unit strength [J] as a function of its length."""
    if isinstance(spring, TorsionSpring):
        return (q - spring.rest) ** 2 / 2
    length = spring.length(q)
    if isinstance(spring, CoilSpring):
        return (length - spring.free_length) ** 2 / 2
    sign = 1.0 if spring.pulls else -1.0
    volume = spring.volume - sign * spring.area * (length - spring.length_at_pressure)
    return -spring.pressure * spring.volume * np.log(volume)    # isothermal compression


@pytest.mark.parametrize('spring', SPRINGS, ids=lambda s: s.name)
def test_column_is_the_gradient_of_the_stored_energy(spring):
    q, step = np.linspace(-2.5, 2.5, 41), 1e-5
    slope = (energy(spring, q + step) - energy(spring, q - step)) / (2 * step)
    assert np.allclose(spring.column(q), slope, rtol=1e-6, atol=1e-6 * np.abs(slope).max())


def arm_with(**springs):
    arm = load_arm('two_link')
    content = {**arm_to_mapping(arm), 'balancers': springs}
    return arm_from_mapping(content, folder=Path(), label='the robot YAML')


def coil(arm=None, **changes):
    joint = (arm or load_arm('two_link')).joint_names[0]
    return {'kind': 'coil_spring', 'joint': joint, 'fixed_radius': 0.4, 'moving_radius': 0.15,
            'free_length': 0.2, 'stiffness': 'estimate', **changes}


def samples_of(model, rng, noise):
    t = np.arange(0, 20, 0.01)
    phases, speeds = rng.uniform(0, 2 * np.pi, (3, 2)), np.array([0.9, 1.7, 2.6])[:, None] * 1.0
    swing = np.array([0.8, 0.5, 0.3])[:, None]
    angle = speeds[..., None] * t + phases[..., None]                     # (3, 2, N)
    q, v, a = (np.sum(swing[..., None] * x, axis=0).T for x in (
        np.sin(angle), speeds[..., None] * np.cos(angle), -speeds[..., None] ** 2 * np.sin(angle)))
    tau = model.torque(q, v, a) + noise * rng.normal(size=q.shape)
    return Samples(t, q, v, a, tau, 100.0, model.arm.joint_names, (slice(0, len(t)),))


def truth(arm, strengths):
    drives = len(arm.transmission)
    return IdentifiedModel(arm, arm.inertial_parameters, np.full(drives, 0.01),
                           'coulomb_viscous', np.tile([0.5, 0.3, 0.1], (drives, 1)),
                           balancers=np.array(strengths))


def test_stiffness_is_recovered_within_its_interval():
    arm = arm_with(spring=coil())
    misses = []
    for seed in range(20):
        samples = samples_of(truth(arm, [800.0]), np.random.default_rng(seed), 0.05)
        fit = fit_samples(arm, [samples], FitOptions(get_estimator('wls')))
        estimate = fit.estimate
        place = estimate.base.labels.index('spring.stiffness')
        misses.append((estimate.values[place] - 800.0)
                      / np.sqrt(estimate.covariance[place, place]))
        assert abs(fit.consistent.balancers[0] - 800.0) < 80.0
    assert np.sum(np.abs(misses) > 1.96) <= 4    # expected: 1; more than 4 has probability 0.003
    assert 0.3 < np.mean(np.square(misses)) < 2.2


def test_known_spring_is_no_unknown_and_still_predicts():
    known, plain = arm_with(spring=coil(stiffness=800.0)), load_arm('two_link')
    assert ModelStructure.of(known).count == ModelStructure.of(plain).count
    samples = samples_of(truth(known, [800.0]), np.random.default_rng(0), 0.05)
    fit = fit_samples(known, [samples], FitOptions(get_estimator('wls')))
    model = fit.model({})
    assert np.allclose(model.torque(samples.q, samples.v, samples.a), samples.tau,
                       atol=0.02 * np.abs(samples.tau).max())
    without = replace(known, balancers=())
    blind = fit_samples(without, [samples], FitOptions(get_estimator('wls')))
    assert blind.estimate.residual_rms[0] > 20 * fit.estimate.residual_rms[0]


def test_columns_times_parameters_are_the_torque():
    arm = arm_with(spring=coil(), other=coil(stiffness=300.0, angle=1.0))
    structure, rng = ModelStructure.of(arm), np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 30, 2))
    standard = rng.normal(size=structure.count)
    total = structure.columns(q, v, a) @ standard + structure.known_torque(q)
    assert np.allclose(total, structure.torque(q, v, a, standard))
    base = base_parameters(structure)
    kept = structure.columns(q, v, a)[..., base.columns] @ base.project(standard)
    assert np.allclose(kept + structure.known_torque(q), total, atol=1e-9)


def test_model_file_keeps_the_springs(tmp_path):
    arm = arm_with(spring=coil(), gas={
        'kind': 'gas_spring', 'scale': 'estimate', **GAS, **STRUT, 'joint': load_arm(
            'two_link').joint_names[1]})
    model = truth(arm, [812.5, 0.95])
    model.save(tmp_path / 'model.yaml')
    again = load_model(tmp_path / 'model.yaml')
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 2))
    assert again.arm.balancers == arm.balancers
    assert np.array_equal(again.torque(q, v, a), model.torque(q, v, a))


@pytest.mark.parametrize('changes, said', [
    ({'kind': 'rubber'}, "kind must be one of 'torsion_spring', 'coil_spring', 'gas_spring'"),
    ({'joint': 'nose'}, "there is no joint 'nose'"),
    ({'stiffness': -3.0}, 'stiffness must be a number of at least 0, not -3.0'),
    ({'stiffness': 'guess'}, "stiffness must be 'estimate' or a number of .* not 'guess'"),
    ({'fixed_radius': 0.0}, 'fixed_radius must be a positive number'),
    ({'length': 1.0}, "unknown key 'length'"),
    ({'angle': float('nan')}, 'angle must be'),
])
def test_bad_springs_are_named(changes, said):
    with pytest.raises(ConfigurationError, match=said):
        arm_with(spring=coil(**changes))


def test_gas_without_volume_is_refused():
    with pytest.raises(ConfigurationError, match='no volume left'):
        GasSpring(name='gas', **{**GAS, 'volume': 1e-5}, **STRUT)
