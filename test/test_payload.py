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
"""Payload and drive gains: known bodies and gains from recordings with noise."""

import json
import subprocess
import sys

import numpy as np
import pytest
from reporting_results import chain
from robot_identification import IdentifiedModel, inverse_dynamics, Recording
from robot_identification.errors import ConfigurationError, EstimationError
from robot_identification.estimation import identify_gains, identify_payload

BODY = np.array([1.5, 0.06, -0.03, 0.12, 0.02, 0.001, 0.018, -0.004, 0.003, 0.009])
GAINS = np.array([11.0, 7.0, 4.5])


def motion(arm, seed, seconds=12.0):
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, 0.004)
    w = 1.3 * np.arange(1, 5)[:, None, None]
    size = rng.normal(size=(4, 1, arm.n)) * 0.6 / np.arange(1, 5)[:, None, None]
    x = w * t[:, None] + rng.uniform(0, 6, (4, 1, arm.n))
    return t, *((size * y).sum(axis=0) for y in (np.sin(x), w * np.cos(x), -w ** 2 * np.sin(x)))


def torque(arm, q, v, a, body=None):
    inertial = np.array(arm.inertial_parameters) * 1.1
    if body is not None:
        inertial[-1] += body
    return inverse_dynamics(arm, q, v, a, inertial) + 0.5 * np.sign(v) + 0.3 * v + 0.1 * a


def recording(arm, seed, body=None, current=False, noise=0.05):
    t, q, v, a = motion(arm, seed)
    tau = torque(arm, q, v, a, body)
    tau += noise * np.random.default_rng(seed + 100).normal(size=tau.shape)
    if current:
        return Recording(t, q, current=tau / GAINS, joint_names=arm.joint_names, name='c')
    return Recording(t, q, tau, joint_names=arm.joint_names, name='r')


def frozen(arm):
    friction = np.tile([0.5, 0.3, 0.0], (arm.n, 1))
    return IdentifiedModel(arm, arm.inertial_parameters * 1.1, np.full(arm.n, 0.1),
                           'coulomb_viscous', friction)


def test_a_payload_is_found_within_its_covariance_and_is_physical():
    arm = chain(['a', 'b', 'c'])
    found = identify_payload(frozen(arm), recording(arm, 3, BODY), recording(arm, 4))
    assert found.mass == pytest.approx(1.5, rel=0.01)
    np.testing.assert_allclose(found.centre, BODY[1:4] / 1.5, atol=0.003)
    error = np.abs(found.parameters - BODY)
    assert np.all(error < 5 * np.sqrt(np.diag(found.covariance)) + 2e-3)
    assert found.certificate > 0 and found.relative_error < 0.1
    with pytest.raises(EstimationError, match='asks for a payload of'):
        identify_payload(frozen(arm), recording(arm, 3, -0.3 * BODY))


def test_gains_are_found_from_a_known_mass():
    arm = chain(['a', 'b', 'c'])
    unloaded, loaded = recording(arm, 3, current=True), recording(arm, 4, BODY, current=True)
    found = identify_gains(arm, [unloaded], [loaded], 1.5)
    assert np.all(np.abs(found.gains - GAINS) < 4.5 * found.deviations + 1e-3 * GAINS)
    assert np.all(found.deviations < 0.1 * GAINS)
    better = identify_gains(arm, [unloaded], [loaded], 1.5, centre=BODY[1:4] / 1.5)
    np.testing.assert_allclose(better.gains, GAINS, rtol=0.05)
    with pytest.raises(ConfigurationError, match='must be positive'):
        identify_gains(arm, [unloaded], [loaded], 0.0)
    with pytest.raises(ConfigurationError, match='has no motor current'):
        identify_gains(arm, [recording(arm, 1)], [loaded], 1.5)
    with pytest.raises(ConfigurationError, match='linear in its parameters'):
        identify_gains(arm, [unloaded], [loaded], 1.5, friction='stribeck')
    with pytest.raises(EstimationError, match='do not determine the gain'):
        identify_gains(arm, [unloaded], [unloaded], 1e-6)


def test_the_commands(tmp_path):
    arm = chain(['a', 'b', 'c'])
    frozen(arm).save(tmp_path / 'model.yaml')
    recording(arm, 3, BODY).to_csv(tmp_path / 'loaded.csv')
    done = subprocess.run(
        [sys.executable, '-c', 'from robot_identification.cli import main; main()', 'payload',
         str(tmp_path / 'model.yaml'), str(tmp_path / 'loaded.csv'), '--json'],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)['mass'] == pytest.approx(1.5, rel=0.02)
