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
"""Rigid bodies of a plant: physically consistent random variations of the URDF's bodies."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.inertia_check import ROUNDING
from robot_identification.arrays import Array
from robot_identification.dynamics.inertial import pseudo_inertia
from robot_identification.errors import SimulationError

SMALLEST = 1e-12  # [kg m^2] smallest principal moment; MuJoCo requires positive moments
KEPT = ('link', 'joint')
REMOVED = ('visual', 'collision', 'dynamics', 'safety_controller', 'calibration', 'mimic',
           'inertial')
HINT = ('so it cannot be simulated; design with --guess-inertias, or let `init --repair` replace '
        'the <inertial> of this link, or of a link fixed to it')


def nominal_bodies(arm: Arm) -> Array:
    """
    Return the pseudo-inertias of the bodies of the URDF about the joint frames, (n, 4, 4).

    Parameters
    ----------
    arm
        The arm. A body is a moving link with all links that are fixed to it.

    Raises
    ------
    SimulationError
        A body is not physically consistent: it has no mass, no rotational inertia, or principal
        moments that violate the triangle inequality by more than the rounding that
        `check_inertias` accepts; less is corrected.

    """
    bodies: Array = pseudo_inertia(arm.inertial_parameters)
    links = _child_links(ElementTree.fromstring(arm.reduced_urdf))
    for joint, body in zip(arm.joint_names, bodies):
        label = f"the link '{links[joint]}' behind joint '{joint}'"
        if not body[3, 3] > 0:
            raise SimulationError(f'{label} has no mass, {HINT}')
        mass, center, second_moments = _central_moments(body)
        eigenvalues, axes = np.linalg.eigh(second_moments)
        moments = np.sort(np.sum(eigenvalues) - eigenvalues)
        if -ROUNDING * moments[2] <= eigenvalues[0] < 0:    # two digits in the URDF
            body[:3, :3] = mass * np.outer(center, center) + (
                axes * np.maximum(eigenvalues, SMALLEST)) @ axes.T
        elif not (eigenvalues[0] >= 0 and moments[0] >= SMALLEST):
            raise SimulationError(
                f'{label} is not physical: its principal moments of inertia {moments[0]:.3g}, '
                f'{moments[1]:.3g}, {moments[2]:.3g} kg m^2 must be positive, and none may exceed '
                f'the sum of the others, {HINT}')
    return bodies


def deform_body(pseudo: Array, size: float, rng: np.random.Generator) -> Array:
    """
    Return the pseudo-inertia of a randomly deformed body; it stays physically consistent.

    Parameters
    ----------
    pseudo
        Pseudo-inertia of the body, (4, 4).
    size
        Relative size of the deformation.
    rng
        Random generator.

    References
    ----------
    Wensing, Kim and Slotine (2018), Linear matrix inequalities for physically consistent inertial
    parameter identification, IEEE RA-L 3(1).

    """
    mass, center, second_moments = _central_moments(pseudo)
    extent = np.sqrt(np.trace(second_moments) / mass)
    stretch = rng.uniform(-0.5, 0.5, (3, 3))
    affine = np.eye(4)
    affine[:3, :3] += size * (stretch + stretch.T) / 2
    affine[:3, 3] = center + (size * extent * rng.uniform(-1, 1, 3)) - affine[:3, :3] @ center
    return (1 + size * rng.uniform(-1, 1)) * affine @ pseudo @ affine.T


def make_plant_urdf(arm: Arm, bodies: Array) -> str:
    """
    Return a URDF for MuJoCo with the kinematics of an arm and the given bodies.

    Parameters
    ----------
    arm
        The arm.
    bodies
        Pseudo-inertias of the bodies about the joint frames, (n, 4, 4).

    """
    root = ElementTree.fromstring(arm.reduced_urdf)
    for element in list(root):
        if element.tag not in KEPT:
            root.remove(element)
        for child in [child for child in element if child.tag in REMOVED]:
            element.remove(child)
    links = {link.get('name'): link for link in root.findall('link')}
    carried = _child_links(root)
    for joint, body in zip(arm.joint_names, bodies):
        links[carried[joint]].append(inertial_element(body))
    engine = ElementTree.SubElement(root, 'mujoco')
    ElementTree.SubElement(engine, 'compiler', strippath='false', discardvisual='true',
                           fusestatic='false', balanceinertia='false', boundmass='0',
                           boundinertia='0')
    return ElementTree.tostring(root, encoding='unicode')


def _child_links(root: ElementTree.Element) -> dict[str, str]:
    """Return the child link of every joint of a URDF, by joint name."""
    return {joint.get('name', ''): joint.find('child').get('link', '')  # type: ignore[union-attr]
            for joint in root.findall('joint')}


def _central_moments(pseudo: Array) -> tuple[float, Array, Array]:
    """Return mass, centre of mass (3,) and second moments about that centre (3, 3) [kg m^2]."""
    mass, center = pseudo[3, 3], pseudo[:3, 3] / pseudo[3, 3]
    return mass, center, pseudo[:3, :3] - mass * np.outer(center, center)


def inertial_element(pseudo: Array) -> ElementTree.Element:
    """Return the <inertial> of a link with a pseudo-inertia about its frame, (4, 4)."""
    mass, center, second_moments = _central_moments(pseudo)
    inertia = np.trace(second_moments) * np.eye(3) - second_moments
    element = ElementTree.Element('inertial')
    ElementTree.SubElement(element, 'origin', xyz=' '.join(repr(float(x)) for x in center))
    ElementTree.SubElement(element, 'mass', value=repr(float(mass)))
    ElementTree.SubElement(element, 'inertia', {
        f'i{"xyz"[i]}{"xyz"[k]}': repr(float(inertia[i, k]))
        for i in range(3) for k in range(i, 3)})
    return element
