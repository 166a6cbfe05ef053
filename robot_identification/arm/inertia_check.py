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
"""Inertias of the URDF that no body can have."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from robot_identification.arm.arm import Arm

ROUNDING = 0.01      # of the largest moment: what URDFs of two digits may break a law by
POINT = 1e-4         # [m] radius of gyration below which a body is a point, which turns for free
SMALLEST_REACH = 1.0    # [m] that any arm is believed to have
MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


@dataclass(frozen=True)
class InertiaFault:
    """
    One body whose inertia cannot be believed.

    Parameters
    ----------
    joint
        The joint that carries the body.
    link
        The link of the URDF.
    problem
        What is wrong, with the numbers, as the end of a sentence about the link.
    mass
        [kg]; NaN where it is not a number.
    moments
        Principal moments about the centre of mass, ascending, (3,) [kg m^2]; NaN where they are
        not numbers.

    """

    joint: str
    link: str
    problem: str
    mass: float = float('nan')
    moments: tuple[float, float, float] = (float('nan'),) * 3

    def __str__(self) -> str:
        return f"link '{self.link}' (joint '{self.joint}') {self.problem}"


def check_inertias(arm: Arm) -> tuple[InertiaFault, ...]:
    """
    List the moving links whose inertias no body can have, in the order of the joints.

    Looked at are: values that are no finite numbers, masses that are negative, bodies without
    mass, points (their inertia is zero although their mass is not), principal moments that are
    negative or break the triangle inequality, and bodies far larger than the arm, which is what
    wrong units look like. Links that a fixed joint adds to a body with mass may be empty.

    Parameters
    ----------
    arm
        The arm; the base and what is fixed to it are not looked at.

    Returns
    -------
    tuple of InertiaFault
        Empty when every inertia can be believed.

    """
    root = ElementTree.fromstring(arm.reduced_urdf)
    children = {joint.find('child').get('link', ''): joint  # type: ignore[union-attr]
                for joint in root.findall('joint')}
    reach = _reach(arm)
    faults: dict[str, list[InertiaFault]] = {joint: [] for joint in arm.joint_names}
    for link in root.findall('link'):
        name = link.get('name', '')
        joint = _carrier(name, children, arm.joint_names)
        inertial = link.find('inertial')
        if joint is not None and inertial is not None:
            carried = arm.model.inertias[arm.joint_names.index(joint) + 1].inertia
            fault = _fault_of_link(joint, name, inertial, reach, float(np.abs(carried).max()))
            faults[joint] += [fault] if fault else []
    links = {element.get('name'): name for name, element in children.items()}
    for i, joint in enumerate(arm.joint_names):
        if not faults[joint]:
            fault = _fault_of_body(arm, i, links[joint])
            faults[joint] += [fault] if fault else []
    return tuple(fault for joint in arm.joint_names for fault in faults[joint])


def _carrier(link: str, children: dict[str, ElementTree.Element],
             moving: tuple[str, ...]) -> str | None:
    """Return the moving joint that carries a link, None where it stands still."""
    for _ in range(len(children) + 1):
        joint = children.get(link)
        if joint is None:
            return None
        if joint.get('name') in moving:
            return joint.get('name')
        link = joint.find('parent').get('link', '')  # type: ignore[union-attr]
    return None


def _number(element: ElementTree.Element | None, key: str) -> float:
    try:
        return float('nan' if element is None else element.get(key, 'nan'))
    except ValueError:
        return float('nan')


def _fault_of_link(joint: str, link: str, inertial: ElementTree.Element, reach: float,
                   carried: float) -> InertiaFault | None:
    """Return what is wrong with a link; `carried` is the largest moment of its whole body."""
    element, tensor, origin = (inertial.find(tag) for tag in ('mass', 'inertia', 'origin'))
    mass = _number(element, 'value')
    if not np.isfinite(mass):
        found = 'missing' if element is None else repr(element.get('value', ''))
        return InertiaFault(joint, link, f'has a mass that is no finite number: {found}')
    xx, xy, xz, yy, yz, zz = values = [_number(tensor, key) for key in MOMENTS]
    bad = [key for key, value in zip(MOMENTS, values) if not np.isfinite(value)]
    if bad:
        return InertiaFault(joint, link, f'has moments of inertia that are no finite numbers: '
                                         f'{", ".join(bad)}', mass)
    text = '0 0 0' if origin is None else origin.get('xyz', '0 0 0')
    try:
        distance = float(np.linalg.norm([float(x) for x in text.split()]))
    except ValueError:
        distance = float('nan')
    if not np.isfinite(distance):
        return InertiaFault(joint, link, f'has a centre of mass that is no position: {text!r}',
                            mass)
    low, middle, high = (float(x) for x in np.linalg.eigvalsh(
        [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    problem = _problem(mass, (low, middle, high), distance, reach, carried)
    return InertiaFault(joint, link, problem, mass, (low, middle, high)) if problem else None


def _problem(mass: float, moments: tuple[float, float, float], distance: float, reach: float,
             carried: float) -> str:
    """Return what is wrong with a mass, its principal moments and its centre's distance."""
    low, middle, high = moments
    words = f'{low:.4g}, {middle:.4g} and {high:.4g} kg m^2'
    if mass < 0:
        return f'has a negative mass: {mass:.4g} kg'
    size = np.sqrt(max(abs(low), abs(high)) / mass) if mass > 0 else 0.0
    if size < POINT:
        return ''       # empty or a point: the body that it belongs to is looked at
    allowed = ROUNDING * max(high, carried)
    if low < -allowed:
        return f'has a negative moment of inertia: {words}'
    if low + middle < high - allowed:
        return (f'has moments of inertia that no body has, the largest above the sum of the '
                f'others: {words}')
    if size > reach:
        return (f'has moments of inertia of a body that is {size:.3g} m wide, while the arm '
                f'reaches {reach:.3g} m (are they in kg m^2?): {words}')
    if distance > reach:
        return (f'has its centre of mass {distance:.3g} m from its frame, while the arm reaches '
                f'{reach:.3g} m (is it in metres?)')
    return ''


def _fault_of_body(arm: Arm, index: int, link: str) -> InertiaFault | None:
    """Return what is wrong with the sum of the links that one joint carries."""
    inertia, joint = arm.model.inertias[index + 1], arm.joint_names[index]
    mass = float(inertia.mass)
    if not np.all(np.isfinite(inertia.toDynamicParameters())):
        return InertiaFault(joint, link, 'has an inertia that is no finite number', mass)
    low, middle, high = (float(x) for x in np.linalg.eigvalsh(inertia.inertia))
    if mass == 0:
        problem = 'has no mass'
    elif np.sqrt(max(high, 0.0) / mass) < POINT:
        problem = f'has a mass of {mass:.4g} kg without any moment of inertia'
    else:
        return None
    return InertiaFault(joint, link, problem, mass, (low, middle, high))


def _reach(arm: Arm) -> float:
    """Return the length of all links together, slides pulled out [m]."""
    lengths = [float(np.linalg.norm(placement.translation))
               for placement in list(arm.model.jointPlacements)[1:]]
    frames = [float(np.linalg.norm(frame.placement.translation)) for frame in arm.model.frames
              if frame.parentJoint > 0]
    travel = np.maximum(np.abs(arm.limits.lower), np.abs(arm.limits.upper))
    slides = travel[np.asarray(arm.prismatic, dtype=bool) & np.isfinite(travel)]
    return max(SMALLEST_REACH, sum(lengths) + max(frames, default=0.0) + float(slides.sum()))
