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
"""What a driver itself says that it publishes as effort."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from robot_identification.arm import Arm
from robot_identification.errors import ExecutionError

DRIVERS = {'ur_robot_driver/URPositionHardwareInterface': (
    'use_currents_as_efforts', {'true': 'current', '1': 'current', 'false': 'torque',
                                '0': 'torque'})}
"""
Plugins of ros2_control and the parameter that says what effort is; where a description has it not
(UR's drivers up to Kilted, which publish currents, and PolyScope before 5.23 and 10.11 publishes
them in any case) nothing is said, and gravity at rest decides (`check_effort_at_rest`).

Source: Universal_Robots_ROS2_Driver, pull requests 1551 and 1918,
ur_robot_driver/doc/hardware_interface_parameters.rst.
"""


def check_driver(arm: Arm, description: str) -> str:
    """
    Hold what the robot YAML says of efforts against what the driver is told to publish.

    Parameters
    ----------
    arm
        With what its effort means.
    description
        The URDF that the driver runs with, for instance of the topic robot_description; empty
        where there is none.

    Returns
    -------
    str
        'current' or 'torque', empty where the driver does not say.

    Raises
    ------
    ExecutionError
        'effort_meaning': it is told to publish something else.

    """
    try:
        root = ElementTree.fromstring(description)
    except ElementTree.ParseError:
        return ''
    for hardware in root.iterfind('ros2_control/hardware'):
        plugin = (hardware.findtext('plugin') or '').strip()
        if plugin not in DRIVERS:
            continue
        name, meanings = DRIVERS[plugin]
        given = {item.get('name'): (item.text or '').strip().lower()
                 for item in hardware.iterfind('param')}
        said = meanings.get(given.get(name, ''), '')
        declared = '' if arm.effort is None else arm.effort.quantity
        if said and declared and said != declared:
            raise ExecutionError(
                'effort_meaning', f"the driver '{plugin}' is told to publish a {said} as effort "
                f'({name}: {given[name]}), the robot YAML says {declared}, so the limits would '
                f'not stop the arm: set `effort.quantity: {said}` (and the gains of the drives), '
                f'or change the argument of the driver')
        return said
    return ''
