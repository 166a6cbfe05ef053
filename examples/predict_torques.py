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
"""Torques of an arm, and which of its parameters torques depend on at all."""

import numpy as np
from robot_identification import (
    base_parameters,
    inverse_dynamics,
    joint_torque_regressor,
    load_arm,
)
from robot_identification.dynamics import ModelStructure

arm = load_arm('ur5e')
rng = np.random.default_rng(0)
q, v, a = rng.uniform(-1.0, 1.0, (3, 1000, arm.n))         # (N, n) [rad, rad/s, rad/s^2]

tau = inverse_dynamics(arm, q, v, a)                        # (N, n) [N m]
regressor = joint_torque_regressor(arm, q, v, a)            # (N, n, 10 n)
again = regressor @ arm.inertial_parameters.ravel()
print(f'torques of {arm.name}: up to {np.abs(tau).max(axis=0).round(1)} N m')
print(f'regressor times parameters differs by {np.abs(again - tau).max():.1e} N m')

base = base_parameters(ModelStructure.of(arm, 'coulomb_viscous'))
print(f'{base.rank} base parameters; led by {", ".join(base.labels[:3])}')
