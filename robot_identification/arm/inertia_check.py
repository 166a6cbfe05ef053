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

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from robot_identification.arm.arm import Arm
from robot_identification.arrays import Array

ROUNDING = 0.01
"""[-] Tolerance of the inequalities, relative to the largest moment: some URDFs have only two
significant digits."""
POINT = 1e-4
"""[m] Radius of gyration below which a body counts as a point mass without inertia. No link of an
arm is so small."""
MIN_REACH = 1.0
"""[m] Lower bound of the reach in the check of units, so that links of tiny arms are not rejected;
inertias in wrong units exceed it anyway."""
MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


@dataclass(frozen=True)
class InertiaFault:
    """
    Implausible inertia of a link.

    Parameters
    ----------
    joint
        The joint that carries the body.
    link
        The link of the URDF.
    problem
        The fault, as the predicate of a sentence: 'has a negative mass: -1 kg'.

    """

    joint: str
    link: str
    problem: str

    def __str__(self) -> str:
        return f"link '{self.link}' (joint '{self.joint}') {self.problem}"


def check_inertias(arm: Arm) -> tuple[InertiaFault, ...]:
    """
    Return the moving links with implausible inertias, in the order of the joints.

    A link must not have a negative mass. Its principal moments must not be negative or violate the
    triangle inequality. A radius of gyration or a centre of mass beyond the arm's reach indicates
    wrong units. The body that a joint moves (its link and all links fixed to it) must have mass
    and rotational inertia; a single link of it may have none. The base and links fixed to it are
    not checked.

    Returns
    -------
    tuple of InertiaFault
        Empty when all inertias are plausible.

    Examples
    --------
    >>> check_inertias(load_arm('panda'))
    ()

    """
    root, frames, reach = ElementTree.fromstring(arm.reduced_urdf), arm.model.frames, _reach(arm)
    faults: dict[str, list[InertiaFault]] = {joint: [] for joint in arm.joint_names}
    for link in root.findall('link'):
        name, inertial = link.get('name', ''), link.find('inertial')
        i = frames[arm.model.getFrameId(name, pin.FrameType.BODY)].parentJoint - 1
        if i >= 0 and inertial is not None and len(inertial):
            joint, body = arm.joint_names[i], arm.model.inertias[i + 1]
            problem = _link_problem(inertial, reach, float(np.abs(body.inertia).max()))
            faults[joint] += [InertiaFault(joint, name, problem)] if problem else []
    for joint, name, body in zip(arm.joint_names, arm.link_names, list(arm.model.inertias)[1:]):
        problem = '' if faults[joint] else _body_problem(float(body.mass), body.inertia)
        faults[joint] += [InertiaFault(joint, name, problem)] if problem else []
    return tuple(fault for joint in arm.joint_names for fault in faults[joint])


def _link_problem(inertial: ElementTree.Element, reach: float, body_moment: float) -> str:
    """Return the fault of a link's inertia, or ''; `body_moment` is its body's largest moment."""
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
        return ''       # no mass or a point mass: `_body_problem` checks the whole body
    tolerance = ROUNDING * max(high, body_moment)
    if low < -tolerance:
        return f'has a negative moment of inertia: {moments}'
    if low + middle < high - tolerance:
        return (f'has moments of inertia that violate the triangle inequality, the largest above '
                f'the sum of the others: {moments}')
    if gyration > reach / 2 and high > ROUNDING * body_moment:
        return (f'has a radius of gyration of {gyration:.3g} m, while the arm reaches '
                f'{reach:.3g} m (are they in kg m^2?): {moments}')
    if distance > reach:
        return (f'has its centre of mass {distance:.3g} m from its frame, while the arm reaches '
                f'{reach:.3g} m (is it in metres?)')
    return ''


def _body_problem(mass: float, inertia: Array) -> str:
    """Return the fault of the body that a joint moves, or ''."""
    if mass == 0:
        return 'has no mass'
    if np.sqrt(max(float(np.linalg.eigvalsh(inertia)[-1]), 0.0) / mass) < POINT:
        return f'has a mass of {mass:.4g} kg without any moment of inertia'
    return ''


def _reach(arm: Arm) -> float:
    """Return an upper bound of the reach: the sum of all link lengths and strokes [m]."""
    frames = [float(np.linalg.norm(frame.placement.translation)) for frame in arm.model.frames
              if frame.parentJoint > 0]
    return max(MIN_REACH, last_joint_reach(arm) + max(frames, default=0.0))


def last_joint_reach(arm: Arm) -> float:
    """Return an upper bound of the distance of the last joint from the base [m]."""
    joints = [float(np.linalg.norm(placement.translation))
              for placement in list(arm.model.jointPlacements)[1:]]
    travel = np.maximum(np.abs(arm.limits.lower), np.abs(arm.limits.upper))
    slides = travel[np.asarray(arm.prismatic, dtype=bool) & np.isfinite(travel)]
    return sum(joints) + float(slides.sum())
