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
"""Descriptions of arms for simulators with ros2_control, by the rules of these."""

from xml.etree import ElementTree

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.inertia_check import last_joint_reach
from robot_identification.arm.urdf import MOVING, parse_urdf
from robot_identification.files import shared_folder
from robot_identification.ros.controllers_file import (
    smallest_inertia,
    UPDATE_RATE,
    urdf_friction,
)

CLEARANCE = 0.5
"""Height of the lowest point that an arm can reach over Gazebo's ground [m]; designs have no
floor."""
VELOCITY_FACTOR = 2.0
"""Velocity limits in Gazebo over those of the arm. DART keeps a joint on a limit that it reached
until its torque changes sign. A reference that jumps because /clock lagged makes a joint exceed
its limit for a moment (1.3 times was seen); the node ends a motion at 1.8 times the limit."""
POSITION_MARGIN = {'revolute': 0.1, 'prismatic': 0.02}
"""Position limits in Gazebo beyond those of the arm [rad or m]; DART pushes a joint off them."""
_ROOT_MASS, _ROOT_INERTIA = 1.0, 0.01    # [kg], [kg m^2] of a fixed base, which does not move
_INSIDE = 0.05    # fraction of its range that a joint starts inside of its limits


def description_xacro(arm: Arm) -> str:
    """
    Return the xacro text that adds ros2_control tags to the URDF of an arm.

    The arm starts at zero, or near the limit next to it. Locked joints are held, joints that
    mimic others have no commands.

    Parameters
    ----------
    arm
        The arm.

    """
    root = parse_urdf(arm.urdf, 'the URDF')
    joints = [joint for joint in root.iterfind('joint') if joint.get('type') in MOVING]
    others = [joint for joint in joints if joint.get('name') not in arm.joint_names]
    held = ' '.join(joint.get('name', '') for joint in others if joint.find('mimic') is None)
    mimic = ' '.join(joint.get('name', '') for joint in others if joint.find('mimic') is not None)
    margin = _INSIDE * np.nan_to_num(arm.limits.upper - arm.limits.lower, posinf=0.0)
    start = np.clip(0.0, arm.limits.lower + margin, arm.limits.upper - margin)
    return f"""<robot name="{arm.name}" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="description" default=""/>
  <xacro:arg name="hardware" default="mock"/>
  <xacro:arg name="command_interface" default="position"/>
  <xacro:arg name="controllers" default=""/>
  <xacro:include filename="$(arg description)"/>
  <xacro:include filename="{shared_folder('urdf') / 'arm.ros2_control.xacro'}"/>
  <xacro:arm_ros2_control
      name="{arm.name}" base_link="{_root_link(root)}"
      joints="{' '.join(arm.joint_names)}"
      initial="{' '.join(f'{value:.4f}' for value in start)}"
      held="{held}" mimic="{mimic}" hardware="$(arg hardware)"
      command_interface="$(arg command_interface)" controllers="$(arg controllers)"/>
</robot>
"""


def adapt_description(urdf: str, arm: Arm, gazebo: bool, base: tuple[float, float]) -> str:
    """
    Return a URDF with ros2_control tags that controller manager and simulator accept.

    Joints that mimic others have no command interface, locked joints start where they are locked,
    and `<safety_controller>`, which ros2_control takes for a soft limiter, is removed. For Gazebo,
    limits are wider, a fixed base has an inertia, and the arm is above the ground.

    Parameters
    ----------
    urdf
        URDF text.
    arm
        The arm.
    gazebo
        Whether the description is for Gazebo.
    base
        Horizontal position of the base in Gazebo's world [m].

    """
    root = ElementTree.fromstring(urdf)
    joints = {joint.get('name'): joint for joint in root.iterfind('joint')}
    for tag in root.iterfind('ros2_control/joint'):
        name = tag.get('name', '')
        joint = joints.get(name)
        if joint is not None and joint.find('mimic') is not None:
            for command in tag.findall('command_interface'):
                tag.remove(command)
        for state in tag.iterfind("state_interface[@name='position']/param"):
            if name in arm.locked:
                state.text = f'{arm.locked[name]:g}'
    for joint in joints.values():
        for limiter in joint.findall('safety_controller'):
            joint.remove(limiter)
    if gazebo:
        _widen_limits(joints, arm)
        _correct_friction(joints, arm)
        _add_root_inertia(root)
        _lift_base(root, last_joint_reach(arm) + CLEARANCE, base)
    return ElementTree.tostring(root, encoding='unicode')


def _root_link(root: ElementTree.Element) -> str:
    """Return the name of the root link of a URDF."""
    children = {child.get('link') for child in root.iterfind('joint/child')}
    return next(link.get('name', '') for link in root.iterfind('link')
                if link.get('name') not in children)


def _widen_limits(joints: dict[str | None, ElementTree.Element], arm: Arm) -> None:
    """
    Widen the limits of the joints of an arm; values in the robot YAML replace the URDF's.

    The drive must overcome friction besides the torque of a design: Gazebo's effort lies behind
    the friction in `<dynamics>`.
    """
    limits = arm.limits
    viscous, coulomb = urdf_friction(arm)
    friction = coulomb + viscous * np.where(np.isfinite(limits.velocity), limits.velocity, 0.0)
    for k, name in enumerate(arm.joint_names):
        limit, kind = joints[name].find('limit'), joints[name].get('type', '')
        if limit is None:
            limit = ElementTree.SubElement(joints[name], 'limit')
        limit.set('velocity', f'{VELOCITY_FACTOR * limits.velocity[k]:.6g}')
        if np.isfinite(limits.torque[k]):
            limit.set('effort', f'{limits.torque[k] + friction[k]:.6g}')
        if kind in POSITION_MARGIN:
            limit.set('lower', f'{limits.lower[k] - POSITION_MARGIN[kind]:.6g}')
            limit.set('upper', f'{limits.upper[k] + POSITION_MARGIN[kind]:.6g}')


def _correct_friction(joints: dict[str | None, ElementTree.Element], arm: Arm) -> None:
    """
    Reduce Coulomb friction by the factor by which DART exaggerates it beside viscous friction.

    DART integrates viscous friction b implicitly, with the inertia I + dt b, but divides the
    impulse of Coulomb friction by I: it acts 1 + dt b / I times as strong as stated, 16 times in
    joint 7 of an xarm7, whose drive cannot overcome it. I is the smallest inertia: friction is
    never exaggerated.
    """
    viscous, coulomb = urdf_friction(arm)
    if not np.any(viscous * coulomb):
        return
    factor = 1 / (1 + viscous / UPDATE_RATE / smallest_inertia(arm))
    for name, friction in zip(arm.joint_names, factor * coulomb):
        dynamics = joints[name].find('dynamics')
        if dynamics is not None:
            dynamics.set('friction', f'{friction:.4g}')


def _add_root_inertia(root: ElementTree.Element) -> None:
    """Give an inertia to links fixed to the world; sdformat drops one without, and the arm."""
    fixed = {child.get('link') for joint in _fixed_to_world(root)
             if (child := joint.find('child')) is not None}
    for link in root.iterfind('link'):
        mass = link.find('inertial/mass')
        if link.get('name') not in fixed or (
                mass is not None and float(mass.get('value', 0.0)) > 0):
            continue
        for empty in link.findall('inertial'):
            link.remove(empty)
        inertial = ElementTree.SubElement(link, 'inertial')
        ElementTree.SubElement(inertial, 'mass', value=f'{_ROOT_MASS:g}')
        ElementTree.SubElement(inertial, 'inertia', {
            name: f'{_ROOT_INERTIA if name[1] == name[2] else 0:g}'
            for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')})


def _fixed_to_world(root: ElementTree.Element) -> list[ElementTree.Element]:
    """Return the joints whose parent is the link `world`."""
    return [joint for joint in root.iterfind('joint')
            if joint.find("parent[@link='world']") is not None]


def _lift_base(root: ElementTree.Element, height: float, base: tuple[float, float]) -> None:
    """Move what is fixed to the world to a horizontal position and to a smallest height."""
    for joint in _fixed_to_world(root):
        origin = joint.find('origin')
        if origin is None:
            origin = ElementTree.SubElement(joint, 'origin', xyz='0 0 0', rpy='0 0 0')
        x, y, z = map(float, origin.get('xyz', '0 0 0').split())
        origin.set('xyz', f'{x + base[0]:g} {y + base[1]:g} {max(z, height):g}')
