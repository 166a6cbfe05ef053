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
"""What a simulated arm has in common with Gazebo: effort behind friction, sticking limits."""

import numpy as np
import pytest
from robot_identification import load_arm
from robot_identification.dynamics import inverse_dynamics
from robot_identification.ros.controllers_file import urdf_friction
from robot_identification.ros.gazebo_plant import GazeboPlant
from robot_identification.ros.simulated_description import VELOCITY_FACTOR
from robot_identification.simulation import PlantOptions

STEP = 0.001


@pytest.fixture
def plant():
    arm = load_arm('xarm7')    # its URDF has Coulomb and viscous friction
    return GazeboPlant(arm, PlantOptions(
        step=STEP, rate=1000.0, inertia_error=0.0, delay=0.0,
        rotor_inertia=(0.0,) * len(arm.actuator_names)))


def test_effort_is_the_torque_behind_the_friction_of_the_urdf(plant):
    viscous, coulomb = urdf_friction(plant.arm)
    moved = []
    for k in range(400):
        gravity = plant.rigid_torque(plant.q[None], *np.zeros((2, 1, plant.arm.n)))[0]
        plant.step(gravity + 2 * coulomb + 0.5 * viscous * np.sin(0.02 * k))
        state = plant.last
        if np.all(np.abs(state.v) > 0.02):
            moved.append((state.torque, inverse_dynamics(
                plant.arm, state.q[None], state.v[None], state.a[None])[0]))
            friction = coulomb * np.sign(state.v) + viscous * state.v
            assert np.allclose(state.friction, friction, atol=0.1 * coulomb)
    assert len(moved) > 100
    measured, expected = np.swapaxes(moved, 0, 1)
    assert np.all(np.abs(measured - expected).max(axis=0) < 0.02 * coulomb + 1e-3)


def test_a_joint_stays_at_its_velocity_limit_until_its_torque_changes_sign(plant):
    arm, joint = plant.arm, 6
    limit = VELOCITY_FACTOR * arm.limits.velocity[joint]

    def push(torque, steps):
        for _ in range(steps):
            command = plant.rigid_torque(plant.q[None], *np.zeros((2, 1, arm.n)))[0]
            command[joint] = torque
            plant.step(command)
        return plant.v[joint]

    plant.reset(plant.home)
    assert push(plant.truth.rated_torque[joint], 400) == limit
    assert push(0.01, 50) == limit    # friction alone would brake it within a few milliseconds
    assert push(-0.01, 50) < 0.5 * limit
    plant.reset(plant.home)
    assert push(0.01, 1) < limit
