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
"""The batched regressor and inverse dynamics compared with Pinocchio."""

from __future__ import annotations

from excitation_arms import chain, tree
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification import Arm, inverse_dynamics, joint_torque_regressor
from robot_identification.arm.packages import example_folder
from robot_identification.errors import ConfigurationError, UnknownNameError
from simulation_arms import example, MIXED

EXTRA = ('kinova_description/robots/kinova.urdf', 'so_arm_description/urdf/so101.urdf',
         'double_pendulum_description/urdf/double_pendulum_continuous.urdf',
         'tiago_description/robots/tiago_no_hand.urdf')
ARMS = {
    'chain': chain, 'tree': tree, 'mixed': lambda: Arm.from_urdf(MIXED, gravity=(1.0, -5.0, 3.0)),
    **{name: (lambda name=name: example(name))
       for name in ('panda', 'ur5', 'ur10', 'xarm7', 'z1')},
    **{path: (lambda path=path: Arm.from_urdf(example_folder() / path)) for path in EXTRA}}


@pytest.fixture(params=sorted(ARMS), scope='module')
def arm(request):
    return ARMS[request.param]()


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), speed=st.floats(0.0, 20.0))
def test_agrees_with_pinocchio(arm, seed, speed):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, size=(3, arm.n))
    v, a = speed * rng.normal(size=(2, 3, arm.n))
    ours = joint_torque_regressor(arm, q, v, a)
    theirs = joint_torque_regressor(arm, q, v, a, backend='pinocchio')
    assert np.abs(ours - theirs).max() <= 1e-9 * np.abs(theirs).max()
    parameters = rng.normal(size=(arm.n, 10))
    torque = inverse_dynamics(arm, q, v, a, parameters)
    assert np.allclose(ours @ parameters.ravel(), torque, rtol=1e-9,
                       atol=1e-9 * np.abs(torque).max())


def test_times_parameters_is_inverse_dynamics(arm):
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 1200, arm.n))    # enough for more than one thread
    data = arm.model.createData()
    expected = np.array([pin.rnea(arm.model, data, *state) for state in zip(q, v, a)])
    size = np.abs(expected).max()
    found = joint_torque_regressor(arm, q, v, a) @ arm.inertial_parameters.ravel()
    assert np.abs(found - expected).max() < 1e-9 * size
    assert np.abs(inverse_dynamics(arm, q, v, a) - expected).max() < 1e-9 * size


@pytest.mark.parametrize('backend', ['numba', 'pinocchio'])
def test_columns_of_the_last_links_alone(arm, backend):
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 20, arm.n))
    whole = joint_torque_regressor(arm, q, v, a, backend=backend)
    for first in {0, arm.n // 2, arm.n - 1}:
        part = joint_torque_regressor(arm, q, v, a, backend=backend, first_link=first)
        np.testing.assert_array_equal(part, whole[:, :, 10 * first:])
    with pytest.raises(ConfigurationError, match='first_link must be 0 to'):
        joint_torque_regressor(arm, q, v, a, first_link=arm.n)


def test_out_is_written_over_and_returned():
    arm = chain()
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 3))
    out = np.full((5, 3, 30), 7.0)
    assert joint_torque_regressor(arm, q, v, a, out=out) is out
    assert np.array_equal(out, joint_torque_regressor(arm, q, v, a))


def test_wrong_shapes_and_names():
    arm = chain()
    q = np.zeros((5, 3))
    with pytest.raises(ConfigurationError, match=r'v must have shape \(N, 3\)'):
        joint_torque_regressor(arm, q, q[:, :2], q)
    with pytest.raises(ConfigurationError, match='as many rows'):
        joint_torque_regressor(arm, q, q, q[:4])
    with pytest.raises(ConfigurationError, match='out must be'):
        joint_torque_regressor(arm, q, q, q, out=np.zeros((5, 30, 3)))
    with pytest.raises(ConfigurationError, match=r'shape \(3, 10\)'):
        inverse_dynamics(arm, q, q, q, np.zeros(30))
    with pytest.raises(UnknownNameError, match='choose from: numba, pinocchio'):
        joint_torque_regressor(arm, q, q, q, backend='cuda')
