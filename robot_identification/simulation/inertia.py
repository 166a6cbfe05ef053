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
"""Bodies of the plant: the URDF's inertias folded to one body a joint, and changed feasibly."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from robot_identification.arrays import Array
from robot_identification.errors import SimulationError

MOVING = ('revolute', 'continuous', 'prismatic')
KEPT = ('link', 'joint')
SMALLEST = 1e-12  # [kg m^2] moment of inertia of a body with extent
NOT_PHYSICS = ('visual', 'collision', 'dynamics', 'safety_controller', 'calibration', 'mimic')


def fold_links(root: ElementTree.Element) -> dict[str, tuple[str, Array]]:
    """
    Fold the links of a URDF to one body for each joint that moves.

    The pseudo-inertia of mass density rho is the integral of x x' rho over the body, with
    x = (position, 1): it adds up, and moves to another frame by T J T'.

    Parameters
    ----------
    root
        Root element of the URDF.

    Returns
    -------
    dict
        For each moving joint its child link and the pseudo-inertia (4, 4) of all that is fixed to
        it, in the joint's frame [kg, kg m, kg m^2].

    Raises
    ------
    SimulationError
        A body cannot exist: no mass, no extent, or moments that violate the triangle inequality.

    """
    joints = {_end(joint, 'child'): joint for joint in root.findall('joint')}
    bodies = {joint.get('name', ''): (_end(joint, 'child'), np.zeros((4, 4)))
              for joint in root.findall('joint') if joint.get('type') in MOVING}
    members: dict[str, list[str]] = {name: [] for name in bodies}
    for link in root.findall('link'):
        frame = np.eye(4)
        joint = joints.get(link.get('name', ''))
        while joint is not None and joint.get('type') not in MOVING:
            frame = _frame(joint.find('origin')) @ frame
            joint = joints.get(_end(joint, 'parent'))
        inertial = link.find('inertial')
        if joint is not None and inertial is not None:
            carrier = joint.get('name', '')
            bodies[carrier][1][:] += frame @ _pseudo_inertia(inertial) @ frame.T
            members[carrier].append(link.get('name', ''))
    for name, (link_name, pseudo) in bodies.items():
        _check(name, link_name, members[name], pseudo)
    return bodies


def deformed(pseudo: Array, size: float, rng: np.random.Generator) -> Array:
    """
    Change a body as an affine map of its mass would: the result can exist when the body can.

    Parameters
    ----------
    pseudo
        Pseudo-inertia (4, 4).
    size
        Relative size of the change.
    rng
        Source of the draws.

    References
    ----------
    Wensing, Kim and Slotine (2018), Linear matrix inequalities for physically consistent inertial
    parameter identification, IEEE RA-L 3(1).

    """
    mass, center = pseudo[3, 3], pseudo[:3, 3] / pseudo[3, 3]
    spread = pseudo[:3, :3] / mass - np.outer(center, center)
    extent = np.sqrt(np.trace(spread))
    stretch = rng.uniform(-0.5, 0.5, (3, 3))
    affine = np.eye(4)
    affine[:3, :3] += size * (stretch + stretch.T) / 2
    shift = size * extent * rng.uniform(-1, 1, 3)
    affine[:3, 3] = center + shift - affine[:3, :3] @ center
    return (1 + size * rng.uniform(-1, 1)) * affine @ pseudo @ affine.T


def plant_urdf(root: ElementTree.Element, bodies: dict[str, tuple[str, Array]]) -> str:
    """
    Return a URDF of kinematics and the given bodies alone, for the physics engine.

    Parameters
    ----------
    root
        Root element of the folded URDF; it is changed.
    bodies
        For each moving joint its child link and pseudo-inertia in the joint's frame.

    """
    for element in list(root):
        if element.tag not in KEPT:
            root.remove(element)
            continue
        for child in list(element):
            if child.tag in NOT_PHYSICS or child.tag == 'inertial':
                element.remove(child)
    links = {link.get('name'): link for link in root.findall('link')}
    for link_name, pseudo in bodies.values():
        links[link_name].append(_inertial_element(pseudo))
    engine = ElementTree.SubElement(root, 'mujoco')
    ElementTree.SubElement(engine, 'compiler', strippath='false', discardvisual='true',
                           fusestatic='false', balanceinertia='false', boundmass='0',
                           boundinertia='0')
    return ElementTree.tostring(root, encoding='unicode')


def standard_parameters(pseudo: Array) -> Array:
    """
    Return the ten inertial parameters in Pinocchio's order.

    m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, about the joint frame.
    """
    inertia = np.trace(pseudo[:3, :3]) * np.eye(3) - pseudo[:3, :3]
    order = ([0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2])
    return np.concatenate([[pseudo[3, 3]], pseudo[:3, 3], inertia[order]])


def _check(joint: str, link: str, members: list[str], pseudo: Array) -> None:
    place = f"the link '{link}' behind joint '{joint}'"
    if len(members) > 1 or members not in ([], [link]):
        place += f' (with all that is fixed to it: {", ".join(members)})'
    way_out = ('correct its <inertial> in the URDF, or start from the identified URDF, which is '
               'feasible')
    mass = pseudo[3, 3]
    if not members or not mass > 0:
        raise SimulationError(f'{place} has no mass, so it cannot be simulated; {way_out}')
    center = pseudo[:3, 3] / mass
    spread = np.linalg.eigvalsh(pseudo[:3, :3] - mass * np.outer(center, center))
    moments = np.sort(np.sum(spread) - spread)
    if not np.all(np.isfinite(spread)) or np.max(np.abs(moments)) < SMALLEST:
        raise SimulationError(f'{place} has mass but no rotational inertia, so it cannot be '
                              f'simulated; {way_out}')
    if spread[0] < -1e-9 * spread[-1] or moments[0] < SMALLEST:
        raise SimulationError(
            f'{place} cannot exist: its principal moments of inertia {moments[0]:.3g}, '
            f'{moments[1]:.3g}, {moments[2]:.3g} kg m^2 must be positive, and none may exceed '
            f'the sum of the others, so it cannot be simulated; {way_out}')


def _pseudo_inertia(inertial: ElementTree.Element) -> Array:
    mass_element, moments = inertial.find('mass'), inertial.find('inertia')
    mass = 0.0 if mass_element is None else float(mass_element.get('value', 0))
    value = {} if moments is None else {k: float(x) for k, x in moments.attrib.items()}
    xx, xy, xz, yy, yz, zz = (
        value.get(k, 0.0) for k in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    pseudo = np.zeros((4, 4))
    pseudo[:3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia
    pseudo[3, 3] = mass
    frame = _frame(inertial.find('origin'))
    return frame @ pseudo @ frame.T


def _inertial_element(pseudo: Array) -> ElementTree.Element:
    mass, center = pseudo[3, 3], pseudo[:3, 3] / pseudo[3, 3]
    spread = pseudo[:3, :3] - mass * np.outer(center, center)
    inertia = np.trace(spread) * np.eye(3) - spread
    element = ElementTree.Element('inertial')
    ElementTree.SubElement(element, 'origin', xyz=' '.join(repr(float(x)) for x in center))
    ElementTree.SubElement(element, 'mass', value=repr(float(mass)))
    names = {'ixx': (0, 0), 'ixy': (0, 1), 'ixz': (0, 2), 'iyy': (1, 1), 'iyz': (1, 2),
             'izz': (2, 2)}
    ElementTree.SubElement(element, 'inertia',
                           {name: repr(float(inertia[place])) for name, place in names.items()})
    return element


def _end(joint: ElementTree.Element, tag: str) -> str:
    element = joint.find(tag)
    return '' if element is None else element.get('link', '')


def _frame(origin: ElementTree.Element | None) -> Array:
    frame = np.eye(4)
    if origin is None:
        return frame
    roll, pitch, yaw = _numbers(origin, 'rpy')
    x, y, z = (np.array([np.cos(angle), np.sin(angle)]) for angle in (roll, pitch, yaw))
    frame[:3, :3] = (np.array([[z[0], -z[1], 0], [z[1], z[0], 0], [0, 0, 1]])
                     @ np.array([[y[0], 0, y[1]], [0, 1, 0], [-y[1], 0, y[0]]])
                     @ np.array([[1, 0, 0], [0, x[0], -x[1]], [0, x[1], x[0]]]))
    frame[:3, 3] = _numbers(origin, 'xyz')
    return frame


def _numbers(element: ElementTree.Element, name: str) -> list[float]:
    return [float(x) for x in element.get(name, '0 0 0').split()]
