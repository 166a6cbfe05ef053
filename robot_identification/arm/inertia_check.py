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
"""Checks the inertias of a URDF for physical plausibility."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from robot_identification.arm.arm import Arm
from robot_identification.arrays import Array

ROUNDING = 0.01
"""Tolerance of the inequalities, relative to the largest moment: URDFs round to two digits."""
POINT = 1e-4
"""[m] radius of gyration below which a body counts as a point mass, which turns for free."""
MIN_REACH = 1.0
"""[m] lower bound of an arm's reach, for the check of the units of its inertias."""
MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


@dataclass(frozen=True)
class InertiaFault:
    """
    An implausible inertia.

    Parameters
    ----------
    joint
        The joint that carries the body.
    link
        The link of the URDF.
    problem
        Predicate of a sentence about the link, with the values: 'has a negative mass: -1 kg'.

    """

    joint: str
    link: str
    problem: str

    def __str__(self) -> str:
        return f"link '{self.link}' (joint '{self.joint}') {self.problem}"


def check_inertias(arm: Arm) -> tuple[InertiaFault, ...]:
    """
    Return the moving links with implausible inertias, in the order of the joints.

    A body must not have a negative mass, no mass, or a mass without rotational inertia. Its
    principal moments must not be negative or violate the triangle inequality. A radius of
    gyration or a centre of mass beyond the arm's reach indicates wrong units. Links that a fixed
    joint adds to a body with mass may be empty. The base and links fixed to it are not checked.

    Returns
    -------
    tuple of InertiaFault
        Empty when all inertias are plausible.

    Examples
    --------
    >>> check_inertias(load_arm('panda'))
    ()

    """
    root = ElementTree.fromstring(arm.reduced_urdf)
    parent_joints = {_linked(joint, 'child'): joint for joint in root.findall('joint')}
    child_links = {joint.get('name'): link for link, joint in parent_joints.items()}
    reach = _reach(arm)
    faults: dict[str, list[InertiaFault]] = {joint: [] for joint in arm.joint_names}
    for link in root.findall('link'):
        name, inertial = link.get('name', ''), link.find('inertial')
        joint = _moving_joint(name, parent_joints, arm.joint_names)
        if joint is not None and inertial is not None and len(inertial):
            body = arm.model.inertias[arm.joint_names.index(joint) + 1]
            problem = _link_problem(inertial, reach, float(np.abs(body.inertia).max()))
            faults[joint] += [InertiaFault(joint, name, problem)] if problem else []
    for i, joint in enumerate(arm.joint_names):
        body = arm.model.inertias[i + 1]
        problem = '' if faults[joint] else _body_problem(float(body.mass), body.inertia)
        faults[joint] += [InertiaFault(joint, child_links[joint], problem)] if problem else []
    return tuple(fault for joint in arm.joint_names for fault in faults[joint])


def _linked(joint: ElementTree.Element, end: str) -> str:
    """Return the name of a joint's parent or child link."""
    return joint.find(end).get('link', '')    # type: ignore[union-attr]


def _moving_joint(link: str, parent_joints: dict[str, ElementTree.Element],
                  moving: tuple[str, ...]) -> str | None:
    """Return the moving joint that carries a link, None for the base."""
    while link in parent_joints:
        joint = parent_joints[link]
        if joint.get('name') in moving:
            return joint.get('name')
        link = _linked(joint, 'parent')
    return None


def _link_problem(inertial: ElementTree.Element, reach: float, body_moment: float) -> str:
    """Return the fault of a link; `body_moment` is the largest moment of its whole body."""
    element, tensor, origin = (inertial.find(tag) for tag in ('mass', 'inertia', 'origin'))
    mass = float(element.get('value', ''))    # type: ignore[union-attr]
    xx, xy, xz, yy, yz, zz = (float(tensor.get(key, ''))    # type: ignore[union-attr]
                              for key in MOMENTS)
    centre = '0 0 0' if origin is None else origin.get('xyz', '0 0 0')
    distance = float(np.linalg.norm([float(x) for x in centre.split()]))
    low, middle, high = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).tolist()
    moments = f'{low:.4g}, {middle:.4g} and {high:.4g} kg m^2'
    if mass < 0:
        return f'has a negative mass: {mass:.4g} kg'
    gyration = np.sqrt(max(abs(low), abs(high)) / mass) if mass > 0 else 0.0
    if gyration < POINT:
        return ''       # empty or a point: `_body_problem` checks the body that it belongs to
    tolerance = ROUNDING * max(high, body_moment)
    if low < -tolerance:
        return f'has a negative moment of inertia: {moments}'
    if low + middle < high - tolerance:
        return (f'has moments of inertia that violate the triangle inequality, the largest above '
                f'the sum of the others: {moments}')
    if gyration > reach:
        return (f'has a radius of gyration of {gyration:.3g} m, while the arm reaches '
                f'{reach:.3g} m (are they in kg m^2?): {moments}')
    if distance > reach:
        return (f'has its centre of mass {distance:.3g} m from its frame, while the arm reaches '
                f'{reach:.3g} m (is it in metres?)')
    return ''


def _body_problem(mass: float, inertia: Array) -> str:
    """Return the fault of the body of all links that one joint carries."""
    if mass == 0:
        return 'has no mass'
    if np.sqrt(max(float(np.linalg.eigvalsh(inertia)[-1]), 0.0) / mass) < POINT:
        return f'has a mass of {mass:.4g} kg without any moment of inertia'
    return ''


def _reach(arm: Arm) -> float:
    """Return the total length of all links with prismatic joints extended, an upper bound [m]."""
    joints = [float(np.linalg.norm(placement.translation))
              for placement in list(arm.model.jointPlacements)[1:]]
    frames = [float(np.linalg.norm(frame.placement.translation)) for frame in arm.model.frames
              if frame.parentJoint > 0]
    travel = np.maximum(np.abs(arm.limits.lower), np.abs(arm.limits.upper))
    slides = travel[np.asarray(arm.prismatic, dtype=bool) & np.isfinite(travel)]
    return max(MIN_REACH, sum(joints) + max(frames, default=0.0) + float(slides.sum()))
