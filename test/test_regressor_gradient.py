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
"""The regressor's reverse-mode derivative compared with finite differences in Pinocchio."""

from __future__ import annotations

from excitation_arms import chain, tree
import numpy as np
import pytest
from robot_identification.arm import load_arm
from robot_identification.dynamics.gradient_kernels import regressor_vjp_rows
from robot_identification.dynamics.kinematics import Kinematics
from robot_identification.dynamics.regressor import joint_torque_regressor

ARMS = {'chain': chain, 'tree': tree, 'panda': lambda: load_arm('panda')}


@pytest.mark.parametrize('name', ARMS)
def test_every_entry_agrees_with_finite_differences(name):
    arm, rng = ARMS[name](), np.random.default_rng(1)
    motion = rng.normal(size=(3, 4, arm.n))
    cotangent = rng.normal(size=(4, arm.n, 10 * arm.n))
    gradients = np.empty_like(motion)
    regressor_vjp_rows(*motion, *Kinematics.of(arm), cotangent, *gradients)
    h = 1e-6
    for quantity in range(3):
        for joint in range(arm.n):
            step = np.zeros_like(motion)
            step[quantity, :, joint] = h
            change = (joint_torque_regressor(arm, *(motion + step), backend='pinocchio')
                      - joint_torque_regressor(arm, *(motion - step), backend='pinocchio'))
            expected = np.einsum('kji,kji->k', cotangent, change) / (2 * h)
            np.testing.assert_allclose(gradients[quantity][:, joint], expected, rtol=1e-6,
                                       atol=1e-6 * np.abs(cotangent).sum() / len(cotangent))
