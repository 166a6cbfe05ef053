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
"""Parameters of the node `simulated_robot` that choose the physics of its arm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rclpy.node import Node
from robot_identification.arm import Arm
from robot_identification.errors import UnknownNameError
from robot_identification.ros.gazebo_plant import GazeboPlant
from robot_identification.ros.nodes.parameters import declare
from robot_identification.simulation import Plant, PlantOptions

PHYSICS: dict[str, dict[str, Any]] = {'drives': {}, 'gazebo': {
    'inertia_error': 0.0, 'coulomb': (0.0, 0.0), 'viscous': (0.0, 0.0), 'stribeck_ratio': 1.0,
    'delay': 0.0, 'encoder_bits': None, 'torque_noise': 0.0, 'torque_signal': 'applied',
    'velocity_signal': 'true', 'step': 0.001, 'friction_compensation': 0.0}}
"""Options of the plant that differ from the default, by value of the parameter `physics`."""


def declare_plant(node: Node, arm: Arm, rate: float) -> Plant:
    """
    Declare the parameters `seed` and `physics`, and return the plant.

    Parameters
    ----------
    node, arm
        The node, and its arm.
    rate
        Rate of the joint states [Hz].

    Raises
    ------
    UnknownNameError
        The parameter `physics` has another value than the keys of `PHYSICS`.
    SimulationError
        As for `Plant`.

    """
    seed = declare(node, 'seed', 0, "seed of the simulated arm's parameters")
    physics = declare(node, 'physics', 'drives', 'drives: rotor inertia, friction, noise and '
                      "delays; gazebo: none of these, efforts behind the URDF's friction, and "
                      'velocity limits that hold a joint, as in Gazebo')
    if physics not in PHYSICS:
        raise UnknownNameError('physics', physics, PHYSICS)
    options = replace(PlantOptions(seed=seed, rate=rate), **PHYSICS[physics])
    if physics == 'gazebo':
        options = replace(options, rotor_inertia=(0.0,) * len(arm.actuator_names))
        return GazeboPlant(arm, options)
    return Plant(arm, options)
