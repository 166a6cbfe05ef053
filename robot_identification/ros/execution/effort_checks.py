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
"""Checks that the published effort is the quantity (torque or current) in the robot YAML."""

import xml.etree.ElementTree as ElementTree

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.dynamics import inverse_dynamics
from robot_identification.errors import ExecutionError

DRIVERS = {'ur_robot_driver/URPositionHardwareInterface': (
    'use_currents_as_efforts', {'true': 'current', '1': 'current', 'false': 'torque',
                                '0': 'torque'})}
"""
For each ros2_control plugin, the parameter that selects the published effort, and its values.

UR's drivers up to Kilted do not have this parameter and publish currents. Robots with PolyScope
before 5.23 or 10.11 publish currents whatever the parameter says. Both cases are only detected by
`check_effort_at_rest`.

Source: Universal_Robots_ROS2_Driver, pull requests 1551 and 1918,
ur_robot_driver/doc/hardware_interface_parameters.rst.
"""
VISIBLE = 0.08      # a joint is compared if gravity exceeds this fraction of its torque limit
MIN_RATIO, MAX_RATIO = 0.3, 3.0     # range of effort / gravity that a tool and friction explain
MAX_RATIO_COMPENSATED = 1.7         # upper limit for efforts from which the driver removes gravity


def check_driver_effort(arm: Arm, description: str) -> str:
    """
    Check that the driver publishes the effort quantity declared in the robot YAML.

    Parameters
    ----------
    arm
        The arm, with its declared effort.
    description
        URDF that the running driver publishes on robot_description; empty if it publishes none.

    Returns
    -------
    str
        Quantity that the driver publishes, 'current' or 'torque'; empty if the URDF does not
        state it.

    Raises
    ------
    ExecutionError
        'effort_meaning': the driver publishes another quantity than the declared one.

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
        parameters = {item.get('name'): (item.text or '').strip().lower()
                      for item in hardware.iterfind('param')}
        published = meanings.get(parameters.get(name, ''), '')
        declared = '' if arm.effort is None else arm.effort.quantity
        if published and declared and published != declared:
            raise ExecutionError(
                'effort_meaning', f"the driver '{plugin}' publishes a {published} as effort "
                f'({name}: {parameters[name]}), but the robot YAML declares a {declared}, so that '
                f'the effort limits would not stop the arm: set `effort.quantity: {published}` '
                f'(and the gains of the drives), or change the argument of the driver')
        return published
    return ''


def check_effort_at_rest(arm: Arm, torque: Array, q: Array) -> None:
    """
    Check that the measured torques of an arm at rest match the gravity torques of the URDF.

    A current that is taken for a torque is too small by a factor of about ten. A motor torque that
    is taken for a joint torque is too small by the gear ratio. In both cases a limit in N m would
    never stop the arm. Differences that a tool, a payload or friction can explain are accepted.
    Nothing is checked if the gravity torques of all joints are too small for a comparison.

    Parameters
    ----------
    arm
        The arm, with its declared effort.
    torque
        Joint torques computed from the efforts as the robot YAML declares them, (n,) [N m or N].
    q
        Position at rest, (n,) [rad or m].

    Raises
    ------
    ExecutionError
        'effort_meaning': the published effort is not the declared quantity.

    """
    zero = np.zeros((1, arm.n))
    gravity = inverse_dynamics(arm, q[None], zero, zero)[0]
    limit = np.where(np.isfinite(arm.limits.torque), arm.limits.torque, np.inf)
    loaded = (np.abs(gravity) > VISIBLE * limit) & (np.abs(gravity) > 0.3 * np.abs(gravity).max())
    if not np.any(loaded):
        return
    ratio = float(torque[loaded] @ gravity[loaded] / (gravity[loaded] @ gravity[loaded]))
    compensated = arm.effort is not None and arm.effort.gravity_compensated
    if MIN_RATIO < ratio < (MAX_RATIO_COMPENSATED if compensated else MAX_RATIO):
        return
    if ratio < -MIN_RATIO:
        hint = 'its sign is inverted (effort.sign)'
    elif ratio <= MIN_RATIO:
        hint = ('it is a current or a motor torque (effort.quantity, effort.side, gains), or the '
                'driver has subtracted gravity (effort.gravity_compensated)')
    elif compensated:
        hint = 'the driver has not subtracted gravity (effort.gravity_compensated: false)'
    else:
        hint = 'its unit, gain or gear ratio is wrong'
    j = int(np.argmax(np.abs(gravity) * loaded))
    raise ExecutionError(
        'effort_meaning',
        f'at rest the effort is {ratio:.2f} times the gravity torque of the URDF (joint '
        f"'{arm.joint_names[j]}': {torque[j]:.3g} of {gravity[j]:.3g} N m), so it is not the "
        f'quantity that the robot YAML declares, and its limits would not stop the arm: {hint}')
