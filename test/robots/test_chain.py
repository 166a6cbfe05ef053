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
"""Every shipped robot passes the complete workflow in simulation."""

from __future__ import annotations

from contracts import arm_of, CONTRACTS
from motions import excitation_of, SumOfSines
import numpy as np
import pytest
from robot_identification.identification import identify
from robot_identification.simulation import Plant, PlantOptions, simulate


@pytest.mark.parametrize('name', CONTRACTS)
def test_design_simulate_identify(name):
    arm = arm_of(name)
    if name == 'er16':      # it sticks in slow motions, because most of its torque is friction
        training, other = excitation_of('er16_10s', arm), excitation_of('er16_8s', arm)
    else:
        training, other = SumOfSines(arm, 6.0, 3, seed=0), SumOfSines(arm, 6.0, 2, seed=1)
    plant = Plant(arm, PlantOptions(seed=0))
    rng = np.random.default_rng(0)
    recorded = simulate(plant, training, rng=rng, name='training')
    check = simulate(plant, other, rng=rng, name='check')
    result = identify(arm, [recorded.recording], held_out=[check.recording])
    assert result.verdict.passed, result.verdict.reasons
    predicted = result.model.torque(check.q, check.v, check.a)
    assert np.linalg.norm(predicted - check.torque) < 0.10 * np.linalg.norm(check.torque)
    urdf = arm.inertial_parameters    # the plant differs from the URDF
    assert not np.allclose(result.model.inertial, urdf, rtol=0.02)
